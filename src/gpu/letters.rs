//! Sequences and scores for the kernels: 4-bit letter classes, packed profiles, and the full table.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::layout::{N_CLASSES, N_PLAIN_CLASSES, SCORE_LIMIT};
use crate::scoring::{Matrix, ScoreClasses};

/// Bases of padding before and after a sequence: lanes load whole blocks of columns.
pub const PADDING: usize = 512;
/// Bases that a thread takes at a time, whole words of them.
const PER_TASK: usize = 1 << 18;

/// Twin of `Scores` in `shaders/common/letters.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Scores {
    /// Per target class: its scores against the plain classes, four i8.
    pub profiles: [u32; N_CLASSES],
    /// Score of (target class, query class) at 16 * target + query.
    pub table: [i32; N_CLASSES * N_CLASSES],
}

/// How bytes become letter classes on the device.
#[derive(Clone, Debug)]
pub struct Letters {
    class_from_byte: [u8; 256],
    scores: Scores,
    bounds_scores: bool,
}

impl Letters {
    /// Classes for the bytes that `sequences` use; the reason if 4 bits or 32-bit scores cannot hold them.
    pub fn new(matrix: &Matrix, sequences: &[&[u8]]) -> Result<Letters, String> {
        let classes = ScoreClasses::new(matrix);
        let note = |bases: &[u8]| {
            let mut is_used = [false; 256];
            bases.iter().for_each(|&base| is_used[base as usize] = true);
            is_used
        };
        let either = |one: [bool; 256], other: [bool; 256]| std::array::from_fn(|byte| one[byte] || other[byte]);
        let parts = sequences.par_iter().flat_map(|sequence| sequence.par_chunks(PER_TASK));
        let is_used: [bool; 256] = parts.map(note).reduce(|| [false; 256], either);
        let plain = b"ACGT".map(|base| classes.class(base));
        let packs = plain.iter().all(|&t| plain.iter().all(|&q| i8::try_from(classes.score(t, q)).is_ok()));
        let are_distinct = (1..4).all(|i| !plain[..i].contains(&plain[i]));
        // From device class to class; unused places keep class 0.
        let first_odd = N_PLAIN_CLASSES as usize;
        let mut chosen: Vec<u8> = if packs && are_distinct { plain.to_vec() } else { vec![0; first_odd] };
        let has_plain = packs && are_distinct;
        let mut class_from_byte = [first_odd as u8; 256];
        for byte in (0..=255u8).filter(|&byte| is_used[byte as usize]) {
            let class = classes.class(byte);
            let known = chosen.iter().enumerate().position(|(ix, &c)| c == class && (has_plain || ix >= first_odd));
            class_from_byte[byte as usize] = known.unwrap_or_else(|| {
                chosen.push(class);
                chosen.len() - 1
            }) as u8;
        }
        if chosen.len() > N_CLASSES {
            return Err(format!("{} kinds of letters score differently; the GPU takes {N_CLASSES}", chosen.len()));
        }
        let mut scores = Scores::zeroed();
        let mut bounds_scores = has_plain;
        for (t, &target) in chosen.iter().enumerate() {
            for (q, &query) in chosen.iter().enumerate() {
                let score = classes.score(target, query).clamp(crate::scoring::SEPARATOR_SCORE, i32::MAX);
                // No run crosses a separator, so its score is never read.
                let is_separator = score == crate::scoring::SEPARATOR_SCORE;
                if !is_separator && score.abs() > SCORE_LIMIT {
                    return Err(format!("the score {score} is too large for the GPU"));
                }
                scores.table[t * N_CLASSES + q] = if is_separator { -SCORE_LIMIT } else { score };
                if q < first_odd {
                    // In the profile of an odd class, the least bound that a byte can hold.
                    scores.profiles[t] |= u32::from(score.clamp(-128, 127) as i8 as u8) << (8 * q);
                    bounds_scores &= score <= 127;
                } else {
                    bounds_scores &= score <= 0;
                }
            }
        }
        Ok(Letters { class_from_byte, scores, bounds_scores })
    }

    /// The scores as the kernels take them.
    pub fn scores(&self) -> &Scores {
        &self.scores
    }

    /// Whether the profiles bound all scores from above, with 0 for odd columns: the screen needs that.
    pub fn bounds_scores(&self) -> bool {
        self.bounds_scores
    }

    /// Eight classes per word, low bits first, between [`PADDING`] on both sides.
    pub fn pack(&self, bases: &[u8]) -> Vec<u32> {
        let mut words = vec![0; (bases.len() + 2 * PADDING).div_ceil(8)];
        let pack_some = |(words, bases): (&mut [u32], &[u8])| {
            for (word, eight) in words.iter_mut().zip(bases.chunks(8)) {
                *word = eight
                    .iter()
                    .rev()
                    .fold(0, |word, &base| word << 4 | u32::from(self.class_from_byte[base as usize]));
            }
        };
        words[PADDING / 8..].par_chunks_mut(PER_TASK / 8).zip(bases.par_chunks(PER_TASK)).for_each(pack_some);
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::Scoring;

    #[test]
    fn plain_letters_get_packed_profiles_and_odd_ones_the_table() {
        let bases = b"ACGTacgtNNX";
        let letters = Letters::new(&Scoring::default().gapped, &[bases]).unwrap();
        let words = letters.pack(bases);
        let class = |i: usize| ((words[(PADDING + i) / 8] >> (4 * (i % 8))) & 15) as usize;
        assert_eq!((0..8).map(class).collect::<Vec<_>>(), [0, 1, 2, 3, 0, 1, 2, 3]);
        assert!(class(8) >= 4 && class(8) == class(9) && class(10) != class(8));
        assert_eq!(letters.scores.profiles[0].to_le_bytes().map(|b| i32::from(b as i8)), [91, -114, -31, -123]);
        assert_eq!(letters.scores.table[16 * class(8)], -100);
        assert_eq!(letters.scores.table[class(10)], -1000);
    }

    #[test]
    fn long_sequences_are_packed_like_short_ones() {
        let bases: Vec<u8> = (0..2 * PER_TASK + 13).map(|i| b"ACGTN"[(i * i + i / 7) % 5]).collect();
        let letters = Letters::new(&Scoring::default().gapped, &[b"ACG", &bases]).unwrap();
        let words = letters.pack(&bases);
        let is_same = |(i, &base): (usize, &u8)| {
            (words[(PADDING + i) / 8] >> (4 * (i % 8))) & 15 == u32::from(letters.class_from_byte[base as usize])
        };
        assert!(bases.iter().enumerate().all(is_same));
    }

    #[test]
    fn scores_beyond_a_byte_make_every_letter_odd() {
        let scoring = Scoring::from_acgt(&[[200; 4]; 4], -100, -1000, 400, 30);
        let letters = Letters::new(&scoring.gapped, &[b"ACGT"]).unwrap();
        assert!(letters.class_from_byte[b'A' as usize] >= 4);
        assert_eq!(letters.scores.table[16 * 4 + 4], 200);
    }
}
