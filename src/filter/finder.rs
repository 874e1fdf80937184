//! The seam between the stages of a strand and an engine that finds all HSPs of a strand at once, such as a GPU.

use super::SearchCounts;
use crate::alignment::Hsp;
use crate::error::Result;
use crate::sequence::SequenceSet;

/// Finds the HSPs of query strands, off the CPU.
pub trait HspFinder: Send + Sync {
    /// What [`HspSearch::find`](super::HspSearch::find) gives, in the same order; `None` if the CPU has to do it.
    ///
    /// # Errors
    /// If the device failed and the CPU may not step in.
    fn find(&self, query: &SequenceSet, is_same_strand: bool) -> Result<Option<(Vec<Hsp>, SearchCounts)>>;
}

impl<F: HspFinder> HspFinder for std::sync::Arc<F> {
    fn find(&self, query: &SequenceSet, is_same_strand: bool) -> Result<Option<(Vec<Hsp>, SearchCounts)>> {
        (**self).find(query, is_same_strand)
    }
}
