//! `--inner`: a second, more sensitive search between and beside the blocks (lastz-semantics 6.4).
//!
//! ```text
//!   \ block B                        W = 20,000
//!    \                               between:  from the end of B to the start of A, both corner bases included
//!     +-------+                      beside:   W/2 before a block that follows none,
//!     | fill  |                                W/2 after a block that none follows
//!     +-------+
//!              \ block A
//! ```
//! This file decides which rectangles are searched, and in which order; the search itself is the caller's.

use rayon::prelude::*;

use crate::alignment::Block;
use crate::error::Result;
use crate::sequence::SequenceSet;
use std::ops::Range;

/// Farthest that two blocks may lie apart to count as neighbours.
const WINDOW: i64 = 20_000;

/// A part of the target against a part of the query, in array positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// Target positions.
    pub target: Range<usize>,
    /// Query positions.
    pub query: Range<usize>,
}

impl Rectangle {
    /// The parts of the rectangle that LASTZ searches where it spans several sequences, in its order: the first target
    /// sequence against the first query sequence, the last against the last, all inner ones against each other. Without
    /// a separator in the way that is the rectangle itself.
    fn within_sequences(&self, target: &SequenceSet, query: &SequenceSet) -> Vec<Rectangle> {
        let (targets, queries) = (parts(&self.target, target), parts(&self.query, query));
        let (Some(first), Some(last)) = (targets.first().zip(queries.first()), targets.last().zip(queries.last()))
        else {
            return Vec::new();
        };
        let mut pairs = vec![first];
        if targets.len() > 1 || queries.len() > 1 {
            pairs.push(last);
        }
        if targets.len() > 2 || queries.len() > 2 {
            for t in inner(&targets) {
                pairs.extend(inner(&queries).iter().map(|q| (t, q)));
            }
        }
        pairs.into_iter().map(|(t, q)| Rectangle { target: t.clone(), query: q.clone() }).collect()
    }
}

/// All but the first and the last part; the first one if there is none between.
fn inner(parts: &[Range<usize>]) -> &[Range<usize>] {
    if parts.len() > 2 { &parts[1..parts.len() - 1] } else { &parts[..1] }
}

/// The sequences that a range touches. One of which it holds the last base only, at its start, does not count.
fn parts(range: &Range<usize>, set: &SequenceSet) -> Vec<Range<usize>> {
    if !set.is_partitioned {
        return vec![range.clone()];
    }
    let first = set.partitions.partition_point(|p| p.range.end <= range.start + 1);
    let touched = set.partitions[first..].iter().take_while(|p| p.range.start < range.end);
    touched
        .map(|p| p.range.start.max(range.start)..p.range.end.min(range.end))
        .filter(|part| !part.is_empty())
        .collect()
}

/// An earlier block whose end may still be followed.
struct Active {
    /// Last target and query position.
    end: (i64, i64),
    /// Whether no block follows it so far.
    is_right_end: bool,
}

/// Fills the gaps between blocks sorted by target start (6.1) and returns all blocks, outer and new, in LASTZ's order.
/// `fill` searches one rectangle, which lies in one target and one query sequence, and returns its blocks sorted by 6.1;
/// rectangles are searched in parallel.
pub fn interpolate(
    blocks: Vec<Block>,
    target: &SequenceSet,
    query: &SequenceSet,
    fill: impl Fn(&Rectangle) -> Result<Vec<Block>> + Sync + Send,
) -> Result<Vec<Block>> {
    let parts: Vec<Rectangle> = rectangles(&blocks, target.len(), query.len())
        .iter()
        .flat_map(|rectangle| rectangle.within_sequences(target, query))
        // LASTZ skips rectangles with a single base on either side.
        .filter(|part| part.target.len() > 1 && part.query.len() > 1)
        .collect();
    let fills: Vec<Vec<Block>> = parts.par_iter().map(fill).collect::<Result<_>>()?;
    // Stable: outer blocks come first on equal starts, then the blocks of the newest fill.
    let mut all: Vec<Block> = blocks.into_iter().chain(fills.into_iter().rev().flatten()).collect();
    all.sort_by_key(|block| block.target_start);
    Ok(all)
}

/// The rectangles to fill, in LASTZ's order, sequences not considered.
fn rectangles(blocks: &[Block], target_len: usize, query_len: usize) -> Vec<Rectangle> {
    let mut walk = Walk { active: Vec::new(), rectangles: Vec::new(), lens: (target_len as i64, query_len as i64) };
    for block in blocks.iter().filter(|block| !block.script.is_empty()) {
        walk.step(block);
    }
    walk.retire(i64::MAX);
    walk.rectangles
}

struct Walk {
    /// Newest last; LASTZ's list runs from the newest on.
    active: Vec<Active>,
    rectangles: Vec<Rectangle>,
    lens: (i64, i64),
}

impl Walk {
    fn step(&mut self, block: &Block) {
        let start = (block.target_start as i64, block.query_start as i64);
        let end = (block.target_range().end as i64 - 1, block.query_range().end as i64 - 1);
        self.retire(start.0 - WINDOW);
        let (overlaps, is_right_end) = self.overlap(start, end);
        if !overlaps {
            self.fill_before(start);
        }
        self.active.push(Active { end, is_right_end });
    }

    /// Whether an earlier block lies beside this one (then nothing is filled before it), and whether this block can
    /// still be a right end.
    fn overlap(&mut self, start: (i64, i64), end: (i64, i64)) -> (bool, bool) {
        let diagonal = |(t, q): (i64, i64)| t - q;
        let mut overlaps = false;
        for earlier in self.active.iter_mut().rev() {
            let is_near = (diagonal(earlier.end) - diagonal(start)).abs() <= WINDOW;
            if !is_near || (earlier.end.0 < start.0 && earlier.end.1 < start.1) {
                continue;
            }
            overlaps = true;
            if earlier.end.0 < end.0 && earlier.end.1 < end.1 {
                earlier.is_right_end = false;
            } else {
                return (true, false);
            }
        }
        (overlaps, true)
    }

    fn fill_before(&mut self, start: (i64, i64)) {
        let mut nearest: Option<(i64, (i64, i64))> = None;
        let mut has_candidate = false;
        for earlier in self.active.iter_mut().rev() {
            let end = earlier.end;
            if end.0 < start.0 && end.1 < start.1 && start.1 < end.1 + WINDOW {
                has_candidate = true;
                let distance = start.0 - end.0 + start.1 - end.1;
                if earlier.is_right_end && nearest.is_none_or(|(least, _)| distance < least) {
                    nearest = Some((distance, end));
                }
                earlier.is_right_end = false;
            }
        }
        if let Some((_, end)) = nearest {
            self.push(end, start);
        } else if !has_candidate {
            let before = |position: i64| (position - WINDOW / 2).max(0);
            self.push((before(start.0), before(start.1)), start);
        }
    }

    /// Takes blocks off the active list that end before `from`; behind those that nothing followed comes a fill.
    fn retire(&mut self, from: i64) {
        let mut kept = Vec::with_capacity(self.active.len());
        for earlier in std::mem::take(&mut self.active).into_iter().rev() {
            if earlier.end.0 >= from {
                kept.push(earlier);
            } else if earlier.is_right_end {
                let after = |position: i64, len: i64| (position + WINDOW / 2).min(len - 1);
                let corner = (after(earlier.end.0, self.lens.0), after(earlier.end.1, self.lens.1));
                self.push(earlier.end, corner);
            }
        }
        kept.reverse();
        self.active = kept;
    }

    /// Both corners belong to the rectangle.
    fn push(&mut self, first: (i64, i64), last: (i64, i64)) {
        let span = |first: i64, last: i64| first as usize..last as usize + 1;
        self.rectangles.push(Rectangle { target: span(first.0, last.0), query: span(first.1, last.1) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::EditScript;
    use crate::sequence::Partition;

    fn block(target_start: usize, query_start: usize, len: u32) -> Block {
        Block { target_start, query_start, script: EditScript::pairs(len), score: 0 }
    }

    fn rectangle(target: Range<usize>, query: Range<usize>) -> Rectangle {
        Rectangle { target, query }
    }

    #[test]
    fn one_block_is_searched_before_and_behind() {
        let found = rectangles(&[block(15_000, 300, 100)], 100_000, 500);
        assert_eq!(found, [rectangle(5_000..15_001, 0..301), rectangle(15_099..25_100, 399..500)]);
    }

    #[test]
    fn the_gap_between_two_blocks_is_filled_once() {
        let found = rectangles(&[block(0, 0, 100), block(1_000, 900, 100)], 1_100, 1_000);
        let expected = [rectangle(0..1, 0..1), rectangle(99..1_001, 99..901), rectangle(1_099..1_100, 999..1_000)];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_overlapping_neighbour_prevents_the_fill_before() {
        // The second starts beside the first and ends beyond it: only the first is filled before, only the second
        // behind.
        let found = rectangles(&[block(1_000, 1_000, 100), block(1_050, 1_060, 100)], 5_000, 5_000);
        assert_eq!(found, [rectangle(0..1_001, 0..1_001), rectangle(1_149..5_000, 1_159..5_000)]);
        // It ends inside the first: the first stays the right end.
        let found = rectangles(&[block(1_000, 1_000, 100), block(1_010, 1_020, 20)], 5_000, 5_000);
        assert_eq!(found, [rectangle(0..1_001, 0..1_001), rectangle(1_099..5_000, 1_099..5_000)]);
    }

    #[test]
    fn the_nearest_open_end_is_taken() {
        let blocks = [block(100, 100, 10), block(200, 150, 10), block(5_000, 5_000, 10)];
        let found = rectangles(&blocks, 9_000, 9_000);
        // The second follows the first; the third follows the second, whose end is open and nearer.
        assert_eq!(found[1], rectangle(109..201, 109..151));
        assert_eq!(found[2], rectangle(209..5_001, 159..5_001));
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn fills_are_merged_by_target_start() {
        let outer = vec![block(1_000, 1_000, 100), block(2_000, 2_000, 100)];
        let set = SequenceSet::single("s", &[b'A'; 5_000]);
        let all = interpolate(outer, &set, &set, |part| {
            Ok(vec![block(1_000, part.query.start, 1), block(1_500, part.query.start, 1)])
        })
        .unwrap();
        let order: Vec<(usize, usize)> = all.iter().map(|b| (b.target_start, b.query_start)).collect();
        let newest_first = [2_099, 1_099, 0];
        let filled = |start: usize| newest_first.map(|query| (start, query));
        let expected = [&[(1_000, 1_000)][..], &filled(1_000), &filled(1_500), &[(2_000, 2_000)]].concat();
        assert_eq!(order, expected);
    }

    #[test]
    fn rectangles_are_split_at_separators() {
        let mut set = SequenceSet::single("t", &[b'A'; 50]);
        set.is_partitioned = true;
        set.partitions =
            [1..10, 11..20, 21..30, 31..49].map(|range| Partition { range, ..Partition::default() }).to_vec();
        let split = |target: Range<usize>, query: Range<usize>| rectangle(target, query).within_sequences(&set, &set);
        assert_eq!(split(3..8, 12..15), [rectangle(3..8, 12..15)]);
        assert_eq!(split(3..15, 12..25), [rectangle(3..10, 12..20), rectangle(11..15, 21..25)]);
        assert_eq!(split(3..8, 3..25), [rectangle(3..8, 3..10), rectangle(3..8, 21..25), rectangle(3..8, 11..20)]);
        assert_eq!(
            split(3..40, 3..40),
            [
                rectangle(3..10, 3..10),
                rectangle(31..40, 31..40),
                rectangle(11..20, 11..20),
                rectangle(11..20, 21..30),
                rectangle(21..30, 11..20),
                rectangle(21..30, 21..30),
            ]
        );
        // The last base of a sequence alone does not make it the first one; the first base alone makes it the last.
        assert_eq!(split(9..12, 5..8), [rectangle(11..12, 5..8)]);
        assert_eq!(split(5..12, 5..8), [rectangle(5..10, 5..8), rectangle(11..12, 5..8)]);
    }
}
