//! `--queryhspbest=n`: the n best HSPs of a query, both strands pooled (lastz-semantics 6.8).

use crate::alignment::Hsp;
use std::cmp::Reverse;

/// HSPs of one query. The minus strand is printed and extended before the plus strand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryHsps {
    /// HSPs of the query as given.
    pub plus: Vec<Hsp>,
    /// HSPs of its reverse complement.
    pub minus: Vec<Hsp>,
}

impl QueryHsps {
    /// The gapped threshold of adaptive HSPs when the user gave none: the lowest kept score, but only if both strands
    /// kept an HSP; otherwise there is no threshold (lastz-semantics 3.6, a quirk that holds for a single searched
    /// strand as well). HSPs that `--queryhspbest` drops do not count.
    pub fn derived_gapped_threshold(&self) -> Option<i32> {
        if self.plus.is_empty() || self.minus.is_empty() {
            return None;
        }
        self.plus.iter().chain(&self.minus).map(|hsp| hsp.score).min()
    }
}

/// Keeps every HSP that scores at least as much as the `best`-th of both strands, in score order; at most `best` HSPs
/// stay as they are. LASTZ does this only when both strands are searched: do not call it for one (a quirk of 6.8).
pub fn keep_best(hsps: QueryHsps, best: u32) -> QueryHsps {
    let best = best as usize;
    if best == 0 || hsps.plus.len() + hsps.minus.len() <= best {
        return hsps;
    }
    let strands = [(hsps.plus, false), (hsps.minus, true)];
    let mut pool: Vec<(Hsp, bool)> =
        strands.into_iter().flat_map(|(list, is_minus)| list.into_iter().map(move |hsp| (hsp, is_minus))).collect();
    pool.sort_unstable_by_key(|&(h, is_minus)| (Reverse(h.score), h.len, h.query_start, h.target_start, is_minus));
    let low = pool[best - 1].0.score;
    let kept = pool.partition_point(|(hsp, _)| hsp.score >= low);
    let mut result = QueryHsps::default();
    for (hsp, is_minus) in pool.into_iter().take(kept) {
        if is_minus { result.minus.push(hsp) } else { result.plus.push(hsp) }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hsp(score: i32, len: u32) -> Hsp {
        Hsp { target_start: 1, query_start: 2, len, score }
    }

    #[test]
    fn derived_threshold_needs_both_strands() {
        let mut hsps = QueryHsps { plus: vec![hsp(5, 10), hsp(6, 10)], minus: Vec::new() };
        assert_eq!(hsps.derived_gapped_threshold(), None);
        hsps.minus.push(hsp(9, 1));
        assert_eq!(hsps.derived_gapped_threshold(), Some(5));
        assert_eq!(keep_best(hsps.clone(), 2).derived_gapped_threshold(), Some(6));
        assert_eq!(keep_best(hsps, 1).derived_gapped_threshold(), None);
    }

    #[test]
    fn few_hsps_keep_their_order() {
        let hsps = QueryHsps { plus: vec![hsp(1, 1), hsp(9, 1)], minus: vec![hsp(5, 1)] };
        assert_eq!(keep_best(hsps.clone(), 3), hsps);
    }

    #[test]
    fn ties_with_the_last_are_kept_and_sorted_by_length() {
        let hsps =
            QueryHsps { plus: vec![hsp(5, 4), hsp(9, 1), hsp(5, 2), hsp(4, 1)], minus: vec![hsp(5, 3), hsp(3, 1)] };
        let kept = QueryHsps { plus: vec![hsp(9, 1), hsp(5, 2), hsp(5, 4)], minus: vec![hsp(5, 3)] };
        assert_eq!(keep_best(hsps, 2), kept);
    }
}
