//! What a run did: counts per stage, and seconds, for `--report`.

use crate::extend::GappedCounts;
use crate::filter::SearchCounts;

/// Seconds per stage. Strands that run side by side are added up, so the sum can be more than the run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Seconds {
    /// Building the word table.
    pub index: f64,
    /// Seeding and gap-free extension.
    pub search: f64,
    /// Anchors, gapped extension and post stages, `inner` included.
    pub extend: f64,
    /// The second search between blocks.
    pub inner: f64,
}

impl std::ops::AddAssign for Seconds {
    fn add_assign(&mut self, other: Self) {
        self.index += other.index;
        self.search += other.search;
        self.extend += other.extend;
        self.inner += other.inner;
    }
}

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
    /// Times.
    pub seconds: Seconds,
}
