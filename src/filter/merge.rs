//! Overlapping HSPs of a diagonal become one (`--recoverseeds`, `--twins`, `--segments`; lastz-semantics 3.7).

use crate::Hsp;

/// Merges overlapping (not merely adjacent) HSPs of each diagonal into their union with the larger score; the result
/// is in the order of diagonals (target - query), then query positions.
pub fn merge_by_diagonal(mut hsps: Vec<Hsp>) -> Vec<Hsp> {
    hsps.sort_by_key(|hsp| (hsp.diagonal(), hsp.query_start));
    let mut merged: Vec<Hsp> = Vec::with_capacity(hsps.len());
    for hsp in hsps {
        match merged.last_mut() {
            Some(last) if last.diagonal() == hsp.diagonal() && hsp.query_start < last.query_end() => {
                last.len = last.query_end().max(hsp.query_end()) - last.query_start;
                last.score = last.score.max(hsp.score);
            }
            _ => merged.push(hsp),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_merges_and_adjacency_does_not() {
        let hsp = |target_start, query_start, len, score| Hsp { target_start, query_start, len, score };
        let merged = merge_by_diagonal(vec![
            hsp(50, 40, 10, 7),
            hsp(15, 5, 10, 9),
            hsp(10, 0, 8, 4),
            hsp(5, 9, 3, 1),
            hsp(25, 15, 2, 2),
        ]);
        assert_eq!(merged, [hsp(5, 9, 3, 1), hsp(10, 0, 15, 9), hsp(25, 15, 2, 2), hsp(50, 40, 10, 7)]);
    }
}
