//! The seam between the stages of a strand and an engine that finds the HSPs of many strands at once, such as a GPU.

use super::SearchCounts;
use crate::alignment::Hsp;
use crate::error::Result;
use crate::seed::WordTable;
use crate::sequence::SequenceSet;

/// What an [`HspFinder`] found.
#[derive(Clone, Debug, Default)]
pub struct FoundHsps {
    /// Of each strand, what [`HspSearch::find`](super::HspSearch::find) gives, in the same order; `None` if the CPU has to
    /// find them.
    pub hsps: Vec<Option<Vec<Hsp>>>,
    /// Counts of all strands that were searched.
    pub counts: SearchCounts,
}

/// Finds the HSPs of query strands, off the CPU.
pub trait HspFinder: Send + Sync {
    /// Gets ready for searches with the words of `target`, while queries are read. To be called before the first search;
    /// calling it again does nothing.
    fn prepare(&self, target: &SequenceSet, table: &WordTable) {
        let _ = (target, table);
    }

    /// Whether a search would begin at once. Otherwise the CPU may take strands that it is through with before.
    fn is_ready(&self) -> bool {
        true
    }

    /// Searches strands of queries with the words of `target`, the one that the finder was made or prepared for; waits
    /// until it is ready.
    ///
    /// # Errors
    /// If the device failed and the CPU may not step in.
    fn find_many(&self, target: &SequenceSet, strands: &[&SequenceSet]) -> Result<FoundHsps>;

    /// Strands that are searched at the same time, where there are so many.
    fn n_devices(&self) -> usize {
        1
    }
}
