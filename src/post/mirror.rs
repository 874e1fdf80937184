//! `--self`: the search looks at one side of the diagonal only; mirror images are added here (lastz-semantics 6.7).
//!
//! Same strand: the image swaps target and query. Other strand: it also turns both around, so a position p of one
//! sequence becomes (length of that sequence) - p, and a block may meet its own image on the anti-diagonal.

use super::rescore::score_of;
use crate::alignment::{Block, EditOp, EditScript, Hsp};
use crate::scoring::Scoring;
use crate::sequence::{Partition, SequenceSet};

/// A self comparison on one strand: `query` holds the same sequences as `target`, reverse-complemented on `-`.
#[derive(Clone, Copy, Debug)]
pub struct SelfPair<'a> {
    /// The target.
    pub target: &'a SequenceSet,
    /// The query on the searched strand.
    pub query: &'a SequenceSet,
}

impl SelfPair<'_> {
    fn is_opposite(&self) -> bool {
        self.target.is_reversed != self.query.is_reversed
    }

    /// The sequences that a block joins, as partitions of the target and of the query.
    fn partitions(&self, target_start: usize, query_start: usize) -> (&Partition, &Partition) {
        (self.target.partition_at(target_start), self.query.partition_at(query_start))
    }

    /// Start of the image of `target_start.. + target_len` against `query_start.. + query_len`: (target, query).
    fn image_start(&self, target: (usize, usize), query: (usize, usize)) -> (usize, usize) {
        let ((target_start, target_len), (query_start, query_len)) = (target, query);
        if !self.is_opposite() {
            return (query_start, target_start);
        }
        // Both sets have the same layout: a partition's range is the same in either.
        let (of_target, of_query) = self.partitions(target_start, query_start);
        let turn = |p: &Partition, start: usize, len: usize| p.range.start + p.range.end - start - len;
        (turn(of_query, query_start, query_len), turn(of_target, target_start, target_len))
    }

    /// The mirror image of an HSP, which LASTZ prints right after it; `None` if it is the HSP itself.
    ///
    /// With `[multiple]` on the other strand LASTZ mirrors an HSP at the ends of the whole array, which gives wrong
    /// sequences or the error `lookup_partition could not locate position`. This gives the true image.
    pub fn mirror_hsp(&self, hsp: &Hsp) -> Option<Hsp> {
        let len = hsp.len as usize;
        let (target, query) = self.image_start((hsp.target_start as usize, len), (hsp.query_start as usize, len));
        let image = Hsp { target_start: target as u32, query_start: query as u32, ..*hsp };
        (!self.is_opposite() || image != *hsp).then_some(image)
    }

    /// Blocks of one strand, then their images in the same order. On the other strand blocks that lie on the wrong
    /// side are dropped, and those that meet the anti-diagonal are cut there and completed by their own image.
    pub fn mirror_blocks(&self, blocks: Vec<Block>, scoring: &Scoring) -> Vec<Block> {
        let mut images = Vec::with_capacity(blocks.len());
        let mut kept = Vec::with_capacity(2 * blocks.len());
        for block in blocks {
            if !self.is_opposite() {
                images.push(self.mirror_block(&block));
                kept.push(block);
                continue;
            }
            match self.side_of_anti_diagonal(&block) {
                AntiDiagonal::Beyond => {}
                AntiDiagonal::Before => {
                    images.push(self.mirror_block(&block));
                    kept.push(block);
                }
                AntiDiagonal::Meets => kept.push(self.complete(block, scoring)),
            }
        }
        kept.append(&mut images);
        kept
    }

    fn mirror_block(&self, block: &Block) -> Block {
        let (target_start, query_start) = self.image_start(
            (block.target_start, block.script.target_len()),
            (block.query_start, block.script.query_len()),
        );
        let runs = block.script.runs().iter().map(|&(op, len)| (swapped(op), len));
        let script = if self.is_opposite() { runs.rev().collect() } else { runs.collect() };
        Block { target_start, query_start, script, score: block.score }
    }

    /// Local positions on the target's strand: (target start, image of the query start).
    fn plus_positions(&self, target_position: usize, query_position: usize, block: &Block) -> (i64, i64) {
        let (of_target, of_query) = self.partitions(block.target_start, block.query_start);
        let x = target_position - of_target.range.start;
        let y = of_query.range.end - query_position;
        (x as i64, y as i64)
    }

    fn side_of_anti_diagonal(&self, block: &Block) -> AntiDiagonal {
        let sequences = (self.target.partition_ix(block.target_start), self.query.partition_ix(block.query_start));
        if sequences.0 != sequences.1 {
            // Different sequences have no anti-diagonal: the search takes each pair once, lower target first.
            return AntiDiagonal::Before;
        }
        let (x, y) = self.plus_positions(block.target_start, block.query_start, block);
        let (x_end, y_end) = self.plus_positions(block.target_range().end, block.query_range().end, block);
        if x >= y {
            AntiDiagonal::Beyond
        } else if x_end < y_end {
            AntiDiagonal::Before
        } else {
            AntiDiagonal::Meets
        }
    }

    /// Cuts a block at the anti-diagonal and appends the image of what is left. Where it is cut behind a gap, LASTZ now
    /// and then prolongs that gap instead of turning it around, and then pairs bases that have nothing in common; this
    /// gives the true image.
    fn complete(&self, block: Block, scoring: &Scoring) -> Block {
        let (mut x, mut y) = self.plus_positions(block.target_start, block.query_start, &block);
        let mut half: Vec<(EditOp, u32)> = Vec::new();
        for &(op, len) in block.script.runs() {
            if x >= y {
                break;
            }
            // Pairs close in by two, gaps by one.
            let columns = match op {
                EditOp::Pair => ((y - x + 1) / 2).min(i64::from(len)),
                _ => (y - x).min(i64::from(len)),
            };
            match op {
                EditOp::Pair => (x, y) = (x + columns, y - columns),
                EditOp::Deletion => x += columns,
                EditOp::Insertion => y -= columns,
            }
            half.push((op, columns as u32));
        }
        let mut image: Vec<(EditOp, u32)> = half.iter().rev().map(|&(op, len)| (swapped(op), len)).collect();
        if x == y + 1 {
            // The middle column is its own image.
            image.iter_mut().take(1).for_each(|(_, len)| *len -= 1);
        }
        let is_whole_run = x == y && !half.is_empty() && half.last() == block.script.runs().get(half.len() - 1);
        let mut script: EditScript = half.into_iter().collect();
        for (i, (op, len)) in image.into_iter().enumerate() {
            // Quirk: a run that ends at the anti-diagonal, without a middle column, and its image stay two runs: 5M5M.
            match i == 0 && is_whole_run {
                true => script.push_apart(op, len),
                false => script.push(op, len),
            }
        }
        let score =
            score_of(&script, &self.target.bases, &self.query.bases, block.target_start, block.query_start, scoring);
        Block { script, score, ..block }
    }
}

enum AntiDiagonal {
    Before,
    Meets,
    Beyond,
}

/// A gap in one sequence is a gap in the other of the image.
fn swapped(op: EditOp) -> EditOp {
    match op {
        EditOp::Pair => EditOp::Pair,
        EditOp::Insertion => EditOp::Deletion,
        EditOp::Deletion => EditOp::Insertion,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use EditOp::{Deletion, Insertion, Pair};

    fn sets(bases: &[u8]) -> (SequenceSet, SequenceSet) {
        let target = SequenceSet::single("s", bases);
        let query = target.reverse_complement();
        (target, query)
    }

    #[test]
    fn same_strand_image_swaps_the_sides() {
        let (target, _) = sets(&[b'A'; 50]);
        let pair = SelfPair { target: &target, query: &target };
        let block = Block {
            target_start: 3,
            query_start: 20,
            script: [(Pair, 2), (Deletion, 1), (Pair, 1)].into_iter().collect(),
            score: 9,
        };
        let image = Block {
            target_start: 20,
            query_start: 3,
            script: [(Pair, 2), (Insertion, 1), (Pair, 1)].into_iter().collect(),
            score: 9,
        };
        assert_eq!(pair.mirror_blocks(vec![block.clone()], &Scoring::default()), [block, image]);
    }

    #[test]
    fn palindromic_hsp_is_its_own_image() {
        let (target, query) = sets(b"TTACGTAA");
        let pair = SelfPair { target: &target, query: &query };
        assert_eq!(pair.mirror_hsp(&Hsp { target_start: 2, query_start: 2, len: 4, score: 7 }), None);
        let off = Hsp { target_start: 0, query_start: 1, len: 3, score: 7 };
        assert_eq!(pair.mirror_hsp(&off), Some(Hsp { target_start: 4, query_start: 5, ..off }));
    }

    #[test]
    fn only_a_middle_column_joins_a_whole_run_to_its_image() {
        // LASTZ's CIGARs: "4 M 4 M" on an even palindrome, "M 7" where the fourth column is its own image.
        for (bases, runs) in [(&b"ACGGCCGT"[..], &[(Pair, 4), (Pair, 4)][..]), (b"ACGGCGT", &[(Pair, 7)])] {
            let (target, query) = sets(bases);
            let script = [(Pair, 4), (Deletion, 1), (Pair, 1)].into_iter().collect();
            let found = Block { target_start: 0, query_start: 0, script, score: 1 };
            let pair = SelfPair { target: &target, query: &query };
            let completed = pair.mirror_blocks(vec![found], &Scoring::default());
            assert_eq!(completed[0].script.runs(), runs);
        }
    }

    #[test]
    fn a_palindrome_is_cut_and_completed() {
        // Hairpin ACGGCA TT TGCCGT: a block of the whole against its complement, found with a loose end.
        let (target, query) = sets(b"ACGGCAATTGCCGT");
        let pair = SelfPair { target: &target, query: &query };
        let whole = Block { target_start: 0, query_start: 0, script: EditScript::pairs(14), score: 1 };
        let found = Block { script: EditScript::pairs(11), ..whole.clone() };
        let completed = pair.mirror_blocks(vec![found], &Scoring::default());
        assert_eq!(completed.len(), 1);
        assert_eq!(completed[0].script, whole.script);
        assert_eq!(completed[0].score, 6 * 91 + 8 * 100, "ACGGCAATTGCCGT equals its complement");
    }
}
