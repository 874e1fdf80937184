//! Two sides become a block (lastz-semantics 5.5).

use super::side::Side;
use crate::alignment::{Anchor, Block, EditOp, EditScript};
use crate::scoring::{Scoring, WORST_SCORE};
use crate::sequence::SequenceSet;

/// Joins the two sides of an anchor. `None` if neither side has a column.
///
/// Gaps at the ends are cut off, and then the block is scored anew; otherwise its score is the sum of both sides, so a
/// gap that crosses the anchor pays for two openings. A block of gaps only is empty and has the worst score.
pub fn stitch(
    anchor: &Anchor,
    left: &Side,
    right: &Side,
    target: &SequenceSet,
    query: &SequenceSet,
    scoring: &Scoring,
) -> Option<Block> {
    let runs = left.script.runs().iter().rev().chain(right.script.runs()).copied();
    let block = Block {
        target_start: anchor.target as usize + 1 - left.rows as usize,
        query_start: anchor.query as usize + 1 - left.columns as usize,
        script: EditScript::from_iter(runs),
        score: left.score + right.score,
    };
    if block.script.is_empty() {
        return None;
    }
    Some(trim_end_gaps(block, target, query, scoring))
}

fn trim_end_gaps(block: Block, target: &SequenceSet, query: &SequenceSet, scoring: &Scoring) -> Block {
    let runs = block.script.runs();
    let is_pair = |run: &(EditOp, u32)| run.0 == EditOp::Pair;
    let Some(first) = runs.iter().position(is_pair) else {
        return Block { script: EditScript::default(), score: i64::from(WORST_SCORE), ..block };
    };
    let last = runs.iter().rposition(is_pair).unwrap_or(first);
    if first == 0 && last + 1 == runs.len() {
        return block;
    }
    let leading: EditScript = runs[..first].iter().copied().collect();
    let mut trimmed = Block {
        target_start: block.target_start + leading.target_len(),
        query_start: block.query_start + leading.query_len(),
        script: runs[first..=last].iter().copied().collect(),
        score: 0,
    };
    trimmed.score = rescore(&trimmed, target, query, scoring);
    trimmed
}

/// The score of a block from scratch: pairs by the gapped matrix, each gap run open and extend.
pub fn rescore(block: &Block, target: &SequenceSet, query: &SequenceSet, scoring: &Scoring) -> i64 {
    let (mut t, mut q) = (block.target_start, block.query_start);
    let mut score = 0;
    for &(op, len) in block.script.runs() {
        let columns = len as usize;
        match op {
            EditOp::Pair => {
                let pairs = target.bases[t..t + columns].iter().zip(&query.bases[q..q + columns]);
                score += pairs.map(|(&t, &q)| i64::from(scoring.gapped.get(t, q))).sum::<i64>();
                (t, q) = (t + columns, q + columns);
            }
            EditOp::Insertion => {
                score -= scoring.gap_cost(len);
                q += columns;
            }
            EditOp::Deletion => {
                score -= scoring.gap_cost(len);
                t += columns;
            }
        }
    }
    score
}
