//! What is done in the order of the output: limits that warn, counts, and the output itself.

use super::Sink;
use crate::error::Result;
use crate::output::StrandView;
use crate::post::limits::{DepthLimit, HspLimit, QueryHspCount, StrandHspCount, cut_to_room};
use crate::report::Counts;
use crate::sequence::SequenceSet;
use crate::strand::StrandBlocks;

/// Limits and counts of a run.
#[derive(Clone)]
pub(super) struct Settlement {
    pub hsp_limit: Option<HspLimit>,
    pub depth_limit: Option<DepthLimit>,
    /// Whether the HSP limit counts HSPs or runs of pairs as they are printed.
    pub counts_runs: bool,
    pub counts: Counts,
}

impl Settlement {
    /// Warnings of `--queryhsplimit`; false if the query is to be dropped.
    pub fn settle_hsp_limit(
        &mut self,
        query: &SequenceSet,
        other: Option<&SequenceSet>,
        found: &[(bool, StrandHspCount)],
        sink: &mut dyn Sink,
    ) -> bool {
        let Some(limit) = &mut self.hsp_limit else { return true };
        let mut so_far = QueryHspCount::default();
        for &(is_other, count) in found {
            let strand = if is_other { other } else { None }.unwrap_or(query);
            limit.add_strand(&mut so_far, count, strand, &mut |message| sink.warn(message));
        }
        limit.keeps(so_far)
    }

    /// How much `--queryhsplimit` lets a query print: LASTZ counts as it prints, runs of pairs or else the lists of
    /// blocks of a strand. What it does not print is masked like the rest.
    pub fn room(&self) -> Option<u64> {
        self.hsp_limit.as_ref().map(HspLimit::most_kept)
    }

    /// Warnings and output of a strand, within [`room`](Self::room).
    pub fn settle(
        &mut self,
        view: &StrandView,
        found: &mut StrandBlocks,
        room: Option<&mut u64>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        self.counts.gapped += found.gapped;
        self.counts.seconds += found.seconds;
        self.counts.inner_blocks += found.inner_blocks;
        found.truncations.iter().for_each(|truncation| sink.truncated(truncation));
        if let (Some(limit), Some(depth)) = (&mut self.depth_limit, found.depth)
            && !limit.keeps(depth, view.query, &mut |message| sink.warn(message))
        {
            found.blocks.clear();
        }
        let within_room = match room {
            _ if found.unprinted => Some(Vec::new()),
            Some(room) if self.counts_runs => Some(cut_to_room(&found.blocks, room)),
            Some(0) => Some(Vec::new()),
            Some(room) => {
                *room -= u64::from(!found.blocks.is_empty());
                None
            }
            None => None,
        };
        let blocks = within_room.as_ref().unwrap_or(&found.blocks);
        self.counts.output_blocks += blocks.len() as u64;
        sink.strand(view, blocks)
    }
}
