//! Anchors in LASTZ's order, without those that a screen dropped for good.
//!
//! A screen bounds the score of both sides of an anchor from above, whatever accepted blocks, masks and pruning do to
//! them (its recurrence is monotone, LASTZ's is not). An anchor whose bounds sum up to less than L is **dropped**: LASTZ
//! extends it, rejects its block and keeps no trace of it (lastz-semantics 5.8). One case needs care: a block that begins
//! or ends with a gap loses the gap and is scored anew (5.5), which can lift it above the sum of its sides. A side ends
//! in a diagonal cell or in its corner, so that happens only if a side is **empty**, and an anchor may be dropped only if
//! no side can be.
//!
//! *A side is not empty* if, for some k, its pairs (1,1) .. (j,j) sum up to s_j >= -Y for all j < k and to s_k >= 0, and
//! the cells (1,1) .. (k,k) are neither masked nor outside the bounds nor first in the window of their row. Proof: while
//! the best is 0 nothing at or above -Y is pruned, so C(j,j) >= s_j by induction, and P(k,k) >= s_k >= 0. If (k,k) is a
//! diagonal cell it reaches the best and the end moves there. If not, a gap enters it with more than P >= 0; a gap opens
//! from a diagonal cell, or from a cell of row 0 or of a prolongation, which is an insertion itself; so some diagonal
//! cell had paid for it with a value above 0, and the end moved there.
//!
//! Such a k is looked for among the first [`REACH`] pairs of both sides; a seed hit has it within a few. Bounds and masks
//! are positions of accepted blocks, or at most [`MARGIN`] columns or rows off (11a). So a dropped anchor **comes back**,
//! to be extended like any other, when a block is accepted ahead of it that has a point within `REACH + MARGIN` rows and
//! columns.

use rayon::prelude::*;

use super::bulk::{BulkExtender, BulkUnit};
use super::side::Direction;
use crate::alignment::{Anchor, Block, EditOp};
use crate::cpu::ydrop::SideProblem;
use crate::error::Result;
use crate::scoring::Matrix;
use crate::sequence::SequenceSet;

/// Pairs of a side within which it must prove that it is not empty.
const REACH: usize = 32;
/// Covers LASTZ's off-by-one habits, as in the test whether a block touches what an extension explored.
const MARGIN: i64 = 4;
/// How near a block brings a dropped anchor back, in rows and columns.
const NEAR: i64 = REACH as i64 + MARGIN;

/// A dropped anchor.
#[derive(Clone, Copy, Debug)]
struct Dropped {
    target: u32,
    query: u32,
    ix: u32,
}

/// The anchors of a unit in LASTZ's order, some of them dropped.
#[derive(Clone, Debug)]
pub(super) struct AnchorQueue<'a> {
    anchors: &'a [Anchor],
    /// One bit per anchor: whether it is to be extended.
    open: Vec<u64>,
    n_dropped: usize,
    /// By target position; those that came back stay listed.
    dropped: Vec<Dropped>,
}

impl<'a> AnchorQueue<'a> {
    /// A queue that nothing is dropped from.
    pub fn new(anchors: &'a [Anchor]) -> Self {
        let open = vec![u64::MAX; anchors.len().div_ceil(64)];
        AnchorQueue { anchors, open, n_dropped: 0, dropped: Vec::new() }
    }

    /// Drops the anchors at these places, which must have [two sides](has_two_sides).
    pub fn drop_all(&mut self, places: impl Iterator<Item = usize>) {
        for ix in places {
            self.open[ix / 64] &= !(1 << (ix % 64));
            let Anchor { target, query, .. } = self.anchors[ix];
            self.dropped.push(Dropped { target, query, ix: ix as u32 });
            self.n_dropped += 1;
        }
        self.dropped.par_sort_unstable_by_key(|dropped| dropped.target);
    }

    /// All anchors, dropped or not.
    pub fn anchors(&self) -> &'a [Anchor] {
        self.anchors
    }

    /// Anchors that are dropped and did not come back.
    pub fn n_dropped(&self) -> usize {
        self.n_dropped
    }

    /// Anchors that are not dropped.
    pub fn n_open(&self) -> usize {
        self.anchors.len() - self.n_dropped
    }

    /// Place of the first anchor at or after `from` that is not dropped.
    pub fn next(&self, from: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = *self.open.get(word)? & (u64::MAX << (from % 64));
        while bits == 0 {
            word += 1;
            bits = *self.open.get(word)?;
        }
        Some(64 * word + bits.trailing_zeros() as usize).filter(|&ix| ix < self.anchors.len())
    }

    /// The anchors at or after `from` that are not dropped, with their places.
    pub fn iter_from(&self, from: usize) -> impl Iterator<Item = (usize, &'a Anchor)> {
        std::iter::successors(self.next(from), |&ix| self.next(ix + 1)).map(|ix| (ix, &self.anchors[ix]))
    }

    /// Takes note of an accepted block: dropped anchors at or after `from` that are near it come back. Returns their
    /// places.
    pub fn accept(&mut self, block: &Block, from: usize) -> Vec<usize> {
        let mut back = Vec::new();
        if self.n_dropped == 0 {
            return back;
        }
        let step = (EditOp::Pair, 1);
        let runs = block.script.runs().iter().copied();
        let (mut row, mut column) = (block.target_start as i64 - 1, block.query_start as i64 - 1);
        // One more diagonal step at both ends: bounds go on for a row where a block ends.
        for (op, len) in std::iter::once(step).chain(runs).chain([step]) {
            let (rows, columns) = match op {
                EditOp::Pair => (i64::from(len), i64::from(len)),
                EditOp::Insertion => (0, i64::from(len)),
                EditOp::Deletion => (i64::from(len), 0),
            };
            let end = (row + rows, column + columns);
            self.revive((row, column), end, op == EditOp::Pair, from, &mut back);
            (row, column) = end;
        }
        back
    }

    /// Brings back what is near a straight part of a path.
    fn revive(&mut self, start: (i64, i64), end: (i64, i64), is_diagonal: bool, from: usize, back: &mut Vec<usize>) {
        let begin = self.dropped.partition_point(|dropped| i64::from(dropped.target) < start.0 - NEAR);
        let rows = self.dropped[begin..].iter().take_while(|dropped| i64::from(dropped.target) <= end.0 + NEAR);
        for &Dropped { target, query, ix } in rows {
            let (row, column) = (i64::from(target) - start.0, i64::from(query) - start.1);
            // Both coordinates within NEAR of one point: at most twice that off its diagonal.
            let is_near = match is_diagonal {
                true => (row - column).abs() <= 2 * NEAR,
                false => (-NEAR..=end.1 - start.1 + NEAR).contains(&column),
            };
            let (word, bit) = (ix as usize / 64, 1u64 << (ix % 64));
            if is_near && ix as usize >= from && self.open[word] & bit == 0 {
                self.open[word] |= bit;
                self.n_dropped -= 1;
                back.push(ix as usize);
            }
        }
    }
}

/// What decides which anchors of a unit can become blocks.
pub(super) struct ScreenTask<'a> {
    pub target: &'a SequenceSet,
    pub query: &'a SequenceSet,
    pub matrix: &'a Matrix,
    pub y_drop: i64,
    /// L: least score of a block.
    pub threshold: i64,
    /// Whether rejected blocks count too (`--allgappedbounds`).
    pub all_bounds: bool,
    pub bulk: Option<&'a dyn BulkExtender>,
    /// Of the anchors that a screen leaves, one in so many is extended in the end: what it leaves lies in alignments,
    /// and most of that will be covered.
    pub left_per_extended: usize,
}

impl<'a> ScreenTask<'a> {
    /// Drops the anchors that cannot become blocks, if there are enough of them to make that worth while. Opens the unit
    /// on the device for the rest, likewise.
    pub fn run<'q>(&self, anchors: &'q [Anchor]) -> Result<(AnchorQueue<'q>, Option<Box<dyn BulkUnit + 'a>>)> {
        let mut queue = AnchorQueue::new(anchors);
        let Some(bulk) = self.bulk else { return Ok((queue, None)) };
        // An HSP that reaches the threshold makes its anchor pass.
        let is_doubtful = |&ix: &usize| {
            i64::from(anchors[ix].hsp_score) < self.threshold
                && has_two_sides(self.target, self.query, self.matrix, self.y_drop, &anchors[ix])
        };
        let doubtful: Vec<usize> = match self.all_bounds || anchors.len() < bulk.least_screened() {
            true => Vec::new(),
            false => (0..anchors.len()).into_par_iter().filter(is_doubtful).collect(),
        };
        let is_worth_while = doubtful.len() >= bulk.least_screened().max(1);
        if !is_worth_while && anchors.len() < bulk.least_anchors() {
            return Ok((queue, None));
        }
        let Some(mut unit) = bulk.open(self.target, self.query)? else { return Ok((queue, None)) };
        if is_worth_while {
            let positions: Vec<Anchor> = doubtful.iter().map(|&ix| anchors[ix]).collect();
            let hopeless = unit.screen(&positions, self.threshold)?;
            queue.drop_all(doubtful.into_iter().zip(hopeless).filter(|&(_, hopeless)| hopeless).map(|(ix, _)| ix));
        }
        let share = if is_worth_while { self.left_per_extended } else { 1 };
        let is_bulk = queue.n_open() / share >= bulk.least_anchors();
        Ok((queue, is_bulk.then_some(unit)))
    }
}

/// Whether both sides of an anchor hold at least one pair, as long as no accepted block is near: see above.
fn has_two_sides(target: &SequenceSet, query: &SequenceSet, matrix: &Matrix, y_drop: i64, anchor: &Anchor) -> bool {
    [Direction::Left, Direction::Right].into_iter().all(|direction| {
        let side = SideProblem { target, query, anchor: *anchor, direction };
        let (rows, columns) = side.extent();
        let pairs = 1..=rows.min(columns).min(REACH);
        let sums = pairs.scan(0i64, |sum, k| {
            *sum += i64::from(matrix.get(side.target_base(k), side.query_base(k)));
            Some(*sum)
        });
        let mut decisive = sums.skip_while(|&sum| sum < 0 && sum >= -y_drop);
        decisive.next().is_some_and(|sum| sum >= 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::EditScript;
    use crate::scoring::Scoring;

    fn anchor(target: u32, query: u32) -> Anchor {
        Anchor { target, query, hsp_score: 0 }
    }

    fn open(queue: &AnchorQueue) -> Vec<usize> {
        queue.iter_from(0).map(|(ix, _)| ix).collect()
    }

    #[test]
    fn dropped_anchors_are_passed_over_until_a_block_comes_near() {
        let anchors: Vec<Anchor> = (0..200).map(|i| anchor(1000 + 100 * i, 5000 + 100 * (i % 7))).collect();
        let mut queue = AnchorQueue::new(&anchors);
        assert_eq!((queue.n_open(), queue.next(199), queue.next(200)), (200, Some(199), None));
        queue.drop_all((0..200).filter(|i| i % 3 != 0));
        assert_eq!(open(&queue), (0..200).step_by(3).collect::<Vec<_>>());
        // Twenty rows on the diagonal of anchor 4, which begins one past NEAR above it.
        let script = EditScript::from_iter([(EditOp::Pair, 20)]);
        let mut block = Block { target_start: 1402 + NEAR as usize, query_start: 5402, script, score: 3000 };
        block.query_start += NEAR as usize;
        queue.accept(&block, 0);
        assert_eq!(queue.next(4), Some(6), "one row too far, even with the step before the block");
        block.target_start -= 1;
        queue.accept(&block, 5);
        assert_eq!(queue.next(4), Some(6), "its turn is over");
        queue.accept(&block, 4);
        assert_eq!((queue.next(4), queue.n_dropped()), (Some(4), 132));
        queue.accept(&block, 4);
        assert_eq!(queue.n_dropped(), 132);
    }

    #[test]
    fn gaps_bring_back_what_lies_beside_them() {
        let anchors = [anchor(500, 900), anchor(500, 1200), anchor(700, 1060)];
        let mut queue = AnchorQueue::new(&anchors);
        queue.drop_all(0..3);
        let runs = [(EditOp::Pair, 50), (EditOp::Insertion, 400), (EditOp::Pair, 20), (EditOp::Deletion, 350)];
        let script = EditScript::from_iter(runs.into_iter().chain([(EditOp::Pair, 50)]));
        queue.accept(&Block { target_start: 450, query_start: 600, script, score: 3000 }, 0);
        assert_eq!(open(&queue), [0, 2]);
    }

    #[test]
    fn sides_that_may_be_empty_are_told() {
        let matrix = Scoring::default().gapped;
        let told = |target: &[u8], query: &[u8], place: u32, y_drop: i64| {
            let (target, query) = (SequenceSet::single("t", target), SequenceSet::single("q", query));
            has_two_sides(&target, &query, &matrix, y_drop, &anchor(place, place))
        };
        assert!(told(b"ACGTACGTACGT", b"ACGTACGTACGT", 5, 9400));
        // One mismatch on each side of the anchor, made good by two matches.
        assert!(told(b"ACGTAAAACGTA", b"ACGTACCACGTA", 5, 9400));
        assert!(!told(b"ACGTAAAACGTA", b"ACGTACCACGTA", 5, 100), "pruned on the way");
        assert!(!told(b"ACGTAAAAAAAA", b"ACGTACCCCCCC", 5, 9400), "only mismatches");
        assert!(!told(b"ACGTAC", b"ACGTAC", 5, 9400), "nothing right of the anchor");
    }
}
