//! The alignment of a sequence with itself (lastz-semantics 4.4): forced before all others, and dropped on request.

use super::rescore::score_of;
use crate::alignment::{Block, EditScript};
use crate::scoring::Scoring;
use crate::sequence::{Partition, SequenceSet};

/// Blocks of identical sequences, accepted before any anchor because LASTZ would find them anyhow and much later.
/// Their score is raised to `threshold` if it is lower; the case of their letters does not count, while the gapped matrix
/// may tell n from N and x from X. Empty if the sequences differ or lie on different strands.
pub fn identical_blocks(target: &SequenceSet, query: &SequenceSet, threshold: i64, scoring: &Scoring) -> Vec<Block> {
    if target.is_reversed != query.is_reversed {
        return Vec::new();
    }
    let is_equal = |&(t, q): &(&Partition, &Partition)| {
        !t.is_empty() && target.bases[t.range.clone()].eq_ignore_ascii_case(&query.bases[q.range.clone()])
    };
    let mut pairs = target.partitions.iter().zip(&query.partitions);
    let equal: Vec<(&Partition, &Partition)> = match (target.is_partitioned, query.is_partitioned) {
        (true, true) => {
            let is_same = target.partitions.len() == query.partitions.len() && pairs.clone().all(|p| is_equal(&p));
            if is_same { pairs.collect() } else { Vec::new() }
        }
        (true, false) => {
            let of_query = query.partitions.first();
            let pairs = target.partitions.iter().flat_map(|t| of_query.map(|q| (t, q)));
            pairs.filter(is_equal).take(1).collect()
        }
        (false, false) => pairs.next().filter(is_equal).into_iter().collect(),
        (false, true) => Vec::new(),
    };
    let block_of = |(t, q): (&Partition, &Partition)| {
        let script = EditScript::pairs(t.len() as u32);
        let upper = |set: &SequenceSet, part: &Partition| set.bases[part.range.clone()].to_ascii_uppercase();
        let own = score_of(&script, &upper(target, t), &upper(query, q), 0, 0, scoring);
        Block { target_start: t.range.start, query_start: q.range.start, script, score: own.max(threshold) }
    };
    equal.into_iter().map(block_of).collect()
}

/// `--notrivial` (implied by `--self`): drops the forced blocks, or, if a side is partitioned and none was forced, any
/// gap-free block over the whole of two sequences of equal name and, on the strand that is searched, equal text.
pub fn drop_trivial(blocks: &mut Vec<Block>, forced: &[Block], target: &SequenceSet, query: &SequenceSet) {
    if !forced.is_empty() {
        let is_forced = |b: &Block| {
            let same = |f: &&Block| f.target_start == b.target_start && f.query_start == b.query_start;
            forced.iter().find(same).is_some_and(|f| f.script == b.script && f.score == b.score)
        };
        blocks.retain(|block| !is_forced(block));
    } else if target.is_partitioned || query.is_partitioned {
        blocks.retain(|block| !is_same_sequence(block, target, query));
    }
}

fn is_same_sequence(block: &Block, target: &SequenceSet, query: &SequenceSet) -> bool {
    let t = target.partition_at(block.target_start);
    let q = query.partition_at(block.query_start);
    block.script.runs().len() == 1
        && (block.target_range(), block.query_range()) == (t.range.clone(), q.range.clone())
        && t.full_len == q.full_len
        && trivial_name(t, target) == trivial_name(q, query)
        && target.bases[t.range.clone()] == query.bases[q.range.clone()]
}

/// LASTZ compares short names on a partitioned side and whole headers on the other.
fn trivial_name<'a>(partition: &'a Partition, set: &SequenceSet) -> &'a [u8] {
    if set.is_partitioned { &partition.name } else { &partition.header }
}
