//! `--filter=[T,]M`: hits with too few matches or too many transversions are not extended (lastz-semantics 2.5).

use crate::options::SeedHitFilter;
use crate::seed::SeedHit;
use crate::seed::layout::WordLayout;
use crate::seed::packed::PackedBases;

/// The filter on the matches of a hit.
pub(super) struct HitFilter<'a> {
    target: &'a PackedBases,
    query: &'a PackedBases,
    window_len: usize,
    /// Places that count.
    mask: u64,
    filter: &'a SeedHitFilter,
}

impl<'a> HitFilter<'a> {
    pub fn new(
        filter: &'a SeedHitFilter,
        layout: &WordLayout,
        target: &'a PackedBases,
        query: &'a PackedBases,
    ) -> HitFilter<'a> {
        let mask = if filter.cares_only { layout.care_mask } else { layout.window_mask };
        HitFilter { target, query, window_len: layout.len, mask, filter }
    }

    /// Whether the hit is to be extended.
    pub fn passes(&self, hit: SeedHit) -> bool {
        let target = self.target.at(hit.target_end as usize - self.window_len);
        let query = self.query.at(hit.query_end as usize - self.window_len);
        let transversions = (target.class ^ query.class) & self.mask;
        let mismatches = (target.transition ^ query.transition) & self.mask | transversions;
        self.mask.count_ones() - mismatches.count_ones() >= self.filter.min_matches
            && self.filter.max_transversions.is_none_or(|max| transversions.count_ones() <= max)
    }
}
