//! What a run did: counts per stage, and seconds, for `--report`.

use crate::extend::GappedCounts;
use crate::filter::SearchCounts;

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Counts {
    /// Seeding and gap-free filter.
    pub search: SearchCounts,
    /// Gapped extension.
    pub gapped: GappedCounts,
    /// Blocks that the second search between blocks found (`--inner`).
    pub inner_blocks: u64,
    /// Blocks given to the output.
    pub output_blocks: u64,
}
