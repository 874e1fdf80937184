//! Byte classes: bytes that score alike in every pair share a class, so that kernels work with small tables.

use super::Matrix;

/// Classes of bytes under one matrix, and the scores between classes.
#[derive(Clone, Debug)]
pub struct ScoreClasses {
    class_from_byte: [u8; 256],
    representatives: Vec<u8>,
    scores: Vec<i32>,
}

impl ScoreClasses {
    /// Groups the 256 bytes by equal rows and columns of `matrix`.
    pub fn new(matrix: &Matrix) -> Self {
        let mut class_from_byte = [0; 256];
        let mut representatives: Vec<u8> = Vec::new();
        for byte in 0..=255u8 {
            let alike = |&other: &u8| {
                matrix.row(byte) == matrix.row(other) && (0..=255).all(|t| matrix.get(t, byte) == matrix.get(t, other))
            };
            let class = representatives.iter().position(alike).unwrap_or_else(|| {
                representatives.push(byte);
                representatives.len() - 1
            });
            class_from_byte[byte as usize] = class as u8;
        }
        let scores =
            representatives.iter().flat_map(|&t| representatives.iter().map(move |&q| matrix.get(t, q))).collect();
        ScoreClasses { class_from_byte, representatives, scores }
    }

    /// Number of classes.
    pub fn count(&self) -> usize {
        self.representatives.len()
    }

    /// Class of a byte.
    #[inline]
    pub fn class(&self, byte: u8) -> u8 {
        self.class_from_byte[byte as usize]
    }

    /// Class of every byte.
    pub fn class_from_byte(&self) -> &[u8; 256] {
        &self.class_from_byte
    }

    /// Score of a target class against a query class.
    #[inline]
    pub fn score(&self, target_class: u8, query_class: u8) -> i32 {
        self.scores[target_class as usize * self.representatives.len() + query_class as usize]
    }

    /// Highest score of any pair.
    pub fn max_score(&self) -> i32 {
        self.scores.iter().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::Scoring;

    #[test]
    fn default_gapped_matrix_has_classes_for_acgt_x_separator_and_the_rest() {
        let scoring = Scoring::default();
        let classes = ScoreClasses::new(&scoring.gapped);
        assert_eq!(classes.count(), 7);
        for (t, q) in (0..=255u8).flat_map(|t| (0..=255u8).map(move |q| (t, q))) {
            assert_eq!(classes.score(classes.class(t), classes.class(q)), scoring.gapped.get(t, q));
        }
    }
}
