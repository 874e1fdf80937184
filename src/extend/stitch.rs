//! Two sides become a block (lastz-semantics 5.5).

use super::side::Side;
use crate::alignment::{Anchor, Block, EditScript};
use crate::post::rescore::trim_end_gaps;
use crate::scoring::Scoring;
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
    let mut block = Block {
        target_start: anchor.target as usize + 1 - left.rows as usize,
        query_start: anchor.query as usize + 1 - left.columns as usize,
        script: EditScript::from_iter(runs),
        score: left.score + right.score,
    };
    if block.script.is_empty() {
        return None;
    }
    trim_end_gaps(&mut block, &target.bases, &query.bases, scoring);
    Some(block)
}
