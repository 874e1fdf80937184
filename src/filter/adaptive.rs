//! Adaptive HSP threshold, `--hspthresh=top<n>` (lastz-semantics 3.6): keep the best HSPs that cover n bases.
//!
//! One [`AdaptiveTable`] serves both strands of a query. Until the kept lengths reach n it is a plain list; then it is
//! sorted and becomes a binary min-heap on the score. Ties at the root leave together or not at all. The order of the
//! array is the order of the output, so the heap steps below are LASTZ's, move for move.

use crate::alignment::Hsp;
use crate::options::HspThreshold;
use crate::sequence::SequenceSet;
use std::collections::HashMap;

/// A kept HSP and the strand of the query that it was found on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrandHsp {
    /// The HSP.
    pub hsp: Hsp,
    /// Whether it was found on the second, reverse-complemented strand.
    pub is_minus: bool,
}

/// The best HSPs so far.
#[derive(Clone, Debug)]
pub struct AdaptiveTable {
    limit: u64,
    entries: Vec<StrandHsp>,
    covered: u64,
    /// Score below which an extension is of no use.
    low: i32,
    /// Summed lengths per score, kept once the table is a heap. In a min-heap the entries that tie with the root are
    /// connected to it, so this is the length of LASTZ's sub-heap of ties without walking it at every insertion.
    length_of_score: HashMap<i32, u64>,
}

impl AdaptiveTable {
    /// A table that keeps HSPs covering `limit` bases; 0 keeps all.
    pub fn new(limit: u64) -> Self {
        AdaptiveTable { limit, entries: Vec::new(), covered: 0, low: 0, length_of_score: HashMap::new() }
    }

    /// The table that an adaptive threshold asks for; `None` for a fixed score.
    pub fn for_threshold(threshold: HspThreshold, target: &SequenceSet) -> Option<Self> {
        match threshold {
            HspThreshold::Score(_) => None,
            HspThreshold::TopBases(bases) => Some(Self::new(bases)),
            HspThreshold::TopPercent(percent) => {
                Some(Self::new((percent / 100.0 * target.counted_len() as f64 + 0.5).trunc() as u64))
            }
        }
    }

    /// Whether the entropy factor has to be applied to a raw score before the HSP is offered. There is no ceiling of
    /// 3K here, and the first HSP is never adjusted.
    pub fn wants_entropy(&self, raw_score: i32) -> bool {
        raw_score > 0 && !self.entries.is_empty() && raw_score >= self.low
    }

    /// Offers the result of an extension, whatever its score.
    pub fn offer(&mut self, hsp: Hsp, is_minus: bool) {
        let is_full = self.limit > 0 && self.covered >= self.limit;
        if is_full && !self.entries.is_empty() && hsp.score < self.low {
            return;
        }
        self.entries.push(StrandHsp { hsp, is_minus });
        self.covered += u64::from(hsp.len);
        if self.entries.len() == 1 || hsp.score < self.low {
            self.low = hsp.score;
        }
        if self.limit == 0 || self.covered < self.limit {
            return;
        }
        if is_full {
            *self.length_of_score.entry(hsp.score).or_default() += u64::from(hsp.len);
            self.sift_up(self.entries.len() - 1);
        } else {
            self.become_heap();
        }
        self.drop_low_ties();
    }

    fn become_heap(&mut self) {
        self.entries
            .sort_unstable_by_key(|e| (e.hsp.score, e.hsp.len, e.hsp.query_start, e.hsp.target_start, e.is_minus));
        self.length_of_score.clear();
        for entry in &self.entries {
            *self.length_of_score.entry(entry.hsp.score).or_default() += u64::from(entry.hsp.len);
        }
    }

    /// Removes the lowest score, all its ties together, while the rest still covers the limit.
    fn drop_low_ties(&mut self) {
        let mut has_removed = false;
        while let Some(root) = self.entries.first() {
            let score = root.hsp.score;
            if self.covered - self.length_of_score[&score] < self.limit {
                break;
            }
            while self.entries.first().is_some_and(|e| e.hsp.score == score) {
                self.remove_root();
            }
            self.length_of_score.remove(&score);
            has_removed = true;
        }
        if has_removed {
            self.low = self.entries.first().map_or(self.low, |root| root.hsp.score);
        }
    }

    fn sift_up(&mut self, mut at: usize) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.entries[at].hsp.score >= self.entries[parent].hsp.score {
                break;
            }
            self.entries.swap(at, parent);
            at = parent;
        }
    }

    fn remove_root(&mut self) {
        self.covered -= u64::from(self.entries[0].hsp.len);
        let last = self.entries.pop().expect("a root");
        if self.entries.is_empty() {
            return;
        }
        let score = |ix: usize| self.entries.get(ix).map(|e: &StrandHsp| e.hsp.score);
        let mut at = 0;
        // The path of the hole is found first, since `score` borrows the entries.
        let mut path = Vec::with_capacity(32);
        while let Some(left) = score(2 * at + 1) {
            let child = if score(2 * at + 2).is_some_and(|right| right < left) { 2 * at + 2 } else { 2 * at + 1 };
            if Some(last.hsp.score) <= score(child) {
                break;
            }
            path.push(child);
            at = child;
        }
        let mut hole = 0;
        for child in path {
            self.entries[hole] = self.entries[child];
            hole = child;
        }
        self.entries[hole] = last;
    }

    /// What is kept, in array order.
    pub fn entries(&self) -> &[StrandHsp] {
        &self.entries
    }

    /// What is kept of one strand, in array order. LASTZ prints and extends the minus strand first.
    pub fn strand(&self, is_minus: bool) -> Vec<Hsp> {
        self.entries.iter().filter(|e| e.is_minus == is_minus).map(|e| e.hsp).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hsp(score: i32, len: u32, query_start: u32) -> Hsp {
        Hsp { target_start: 10, query_start, len, score }
    }

    fn table(limit: u64, offers: &[(i32, u32)]) -> AdaptiveTable {
        let mut table = AdaptiveTable::new(limit);
        for (i, &(score, len)) in offers.iter().enumerate() {
            table.offer(hsp(score, len, i as u32), false);
        }
        table
    }

    fn scores(table: &AdaptiveTable) -> Vec<i32> {
        table.entries().iter().map(|e| e.hsp.score).collect()
    }

    #[test]
    fn below_the_limit_the_order_is_that_of_discovery() {
        let table = table(100, &[(50, 10), (-3, 10), (70, 10)]);
        assert_eq!(scores(&table), [50, -3, 70]);
    }

    #[test]
    fn no_limit_keeps_all_in_order() {
        assert_eq!(scores(&table(0, &[(50, 10), (3, 10), (70, 10), (3, 10)])), [50, 3, 70, 3]);
    }

    #[test]
    fn ties_leave_together_or_stay() {
        // Without both 5s only 20 bases are left: they stay, although one of them could go.
        let list = [(5, 10), (5, 10), (9, 10), (8, 10)];
        assert_eq!(scores(&table(30, &list)), [5, 5, 9, 8]);
        // One more good one, and both leave at once.
        assert_eq!(scores(&table(30, &[&list[..], &[(7, 10)]].concat())), [7, 8, 9]);
    }

    #[test]
    fn full_table_ignores_lower_scores_and_takes_equal_ones() {
        let mut table = table(20, &[(5, 10), (6, 10)]);
        table.offer(hsp(4, 1000, 9), false);
        assert_eq!(scores(&table), [5, 6]);
        table.offer(hsp(5, 1, 9), true);
        assert_eq!(scores(&table), [5, 6, 5]);
    }

    #[test]
    fn percentage_is_rounded_to_the_nearest_base() {
        let mut target = SequenceSet::single("t", &[b'A'; 1005]);
        let limit =
            |target: &SequenceSet| AdaptiveTable::for_threshold(HspThreshold::TopPercent(30.0), target).unwrap().limit;
        assert_eq!(limit(&target), 302);
        target.is_partitioned = true;
        assert_eq!(limit(&target), 301);
        assert!(AdaptiveTable::for_threshold(HspThreshold::Score(3000), &target).is_none());
    }

    #[test]
    fn heap_order_holds_after_many_removals() {
        let mut state = 7u64;
        let mut table = AdaptiveTable::new(500);
        for i in 0..5000u32 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            table.offer(hsp((state >> 33) as i32 % 40, 1 + (state >> 50) as u32 % 20, i), i % 3 == 0);
            let entries = table.entries();
            let covered: u64 = entries.iter().map(|e| u64::from(e.hsp.len)).sum();
            assert_eq!(covered, table.covered);
            if covered >= 500 {
                for child in 1..entries.len() {
                    assert!(entries[(child - 1) / 2].hsp.score <= entries[child].hsp.score);
                }
                let low = entries[0].hsp.score;
                let ties: u64 = entries.iter().filter(|e| e.hsp.score == low).map(|e| u64::from(e.hsp.len)).sum();
                assert_eq!(ties, table.length_of_score[&low]);
            }
        }
    }
}
