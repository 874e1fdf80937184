//! From HSPs to anchors: the point where gapped extension starts, and the order in which anchors are taken.
//!
//! ```text
//! HSP of up to 31 pairs    the middle pair, floor(n / 2)
//! longer                   ....[========31========]....   the middle of the best window (leftmost on ties)
//! ```

use crate::alignment::{Anchor, Hsp};
use crate::scoring::Matrix;
use crate::sequence::SEPARATOR;
use rayon::prelude::*;

/// Pairs of the window whose middle becomes the anchor.
pub const PEAK_WINDOW: usize = 31;

/// The anchor of one HSP (lastz-semantics 4.1), `None` if that is no pair of bases: the HSP has none and stands at the end
/// of a sequence, or it spans two sequences, as twins of hits can, and its middle lies between them. `matrix` is
/// the unmasked one, [`crate::scoring::Scoring::gapped`].
pub fn anchor_of(hsp: &Hsp, target: &[u8], query: &[u8], matrix: &Matrix) -> Option<Anchor> {
    let offset = peak_offset(
        &target[hsp.target_start as usize..hsp.target_end() as usize],
        &query[hsp.query_start as usize..hsp.query_end() as usize],
        matrix,
    ) as u32;
    let anchor = Anchor { target: hsp.target_start + offset, query: hsp.query_start + offset, hsp_score: hsp.score };
    let is_base = |bases: &[u8], at: u32| bases.get(at as usize).is_some_and(|&base| base != SEPARATOR);
    (is_base(target, anchor.target) && is_base(query, anchor.query)).then_some(anchor)
}

/// Offset of the peak in a segment pair.
fn peak_offset(target: &[u8], query: &[u8], matrix: &Matrix) -> usize {
    let len = target.len();
    if len <= PEAK_WINDOW {
        return len / 2;
    }
    let score = |i: usize| i64::from(matrix.get(target[i], query[i]));
    let mut sum: i64 = (0..PEAK_WINDOW).map(score).sum();
    let (mut best, mut best_start) = (sum, 0);
    for start in 1..=len - PEAK_WINDOW {
        sum += score(start + PEAK_WINDOW - 1) - score(start - 1);
        if sum > best {
            (best, best_start) = (sum, start);
        }
    }
    best_start + PEAK_WINDOW / 2
}

/// Anchors of all HSPs, in the order in which LASTZ takes them.
pub fn anchors(hsps: &[Hsp], target: &[u8], query: &[u8], matrix: &Matrix) -> Vec<Anchor> {
    let mut anchors: Vec<Anchor> = hsps.par_iter().filter_map(|hsp| anchor_of(hsp, target, query, matrix)).collect();
    sort_anchors(&mut anchors);
    anchors
}

/// Best score first; ties by query position, then by target position (lastz-semantics 4.2).
pub fn sort_anchors(anchors: &mut [Anchor]) {
    anchors.par_sort_unstable_by_key(|a| (std::cmp::Reverse(a.hsp_score), a.query, a.target));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::Scoring;

    fn peak(target: &[u8], query: &[u8]) -> usize {
        peak_offset(target, query, &Scoring::default().gapped)
    }

    /// As twins of hits can span two sequences.
    #[test]
    fn a_middle_between_two_sequences_is_no_anchor() {
        let target = b"\0ACGT\0ACGT\0";
        let hsp = |target_start, len| Hsp { target_start, query_start: 0, len, score: 1 };
        let matrix = &Scoring::default().gapped;
        let anchor_of = |hsp: Hsp| anchor_of(&hsp, target, b"ACGTACGTA", matrix).map(|anchor| anchor.target);
        assert_eq!(anchor_of(hsp(1, 9)), None);
        assert_eq!(anchor_of(hsp(2, 8)), Some(6));
        assert_eq!(anchor_of(hsp(10, 0)), None);
    }

    #[test]
    fn up_to_31_pairs_the_middle_is_taken() {
        assert_eq!(peak(b"A", b"A"), 0);
        assert_eq!(peak(b"AC", b"AC"), 1);
        // 31 pairs: the middle even though the left half is all mismatches.
        let target = [b'A'; 31];
        let mut query = [b'A'; 31];
        query[..15].fill(b'C');
        assert_eq!(peak(&target, &query), 15);
    }

    #[test]
    fn longer_segments_take_the_leftmost_best_window() {
        assert_eq!(peak(&[b'A'; 100], &[b'A'; 100]), 15, "ties go left");
        let target = [b'A'; 100];
        let mut query = [b'A'; 100];
        query[3] = b'C';
        assert_eq!(peak(&target, &query), 4 + 15);
        query[90] = b'G';
        query[50] = b'G';
        assert_eq!(peak(&target, &query), 4 + 15);
        query[20] = b'C';
        assert_eq!(peak(&target, &query), 51 + 15, "51..82 is the first window without a mismatch");
    }

    #[test]
    fn soft_masked_pairs_count_fully() {
        let target = [b"acgt".repeat(10), b"CCCCCCCCCC".to_vec()].concat();
        let query = target.to_ascii_uppercase();
        assert_eq!(peak(&target, &query), peak(&query, &query));
        // Windows 17.. and 19.. both hold 20 pairs of C or G.
        assert_eq!(peak(&query, &query), 17 + 15);
    }

    #[test]
    fn order_is_score_then_query_then_target() {
        let anchor = |hsp_score, query, target| Anchor { target, query, hsp_score };
        let mut list = vec![anchor(5, 1, 9), anchor(7, 9, 1), anchor(5, 1, 2), anchor(5, 0, 99), anchor(-1, 0, 0)];
        sort_anchors(&mut list);
        assert_eq!(list, [anchor(7, 9, 1), anchor(5, 0, 99), anchor(5, 1, 2), anchor(5, 1, 9), anchor(-1, 0, 0)]);
    }
}
