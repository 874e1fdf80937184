//! What the kernels are told of options, target and strand.

use super::bases::Kinds;
use super::layout::*;
use super::limits::SeedLimits;
use super::words::DeviceWords;
use crate::options::{GapFreeExtension, HspThreshold, SelfComparison};
use crate::seed::WordTable;
use crate::{Options, SequenceSet};

/// What holds for all query strands.
pub(super) fn params_for(
    kinds: &Kinds,
    (target, table): (&SequenceSet, &WordTable),
    words: &DeviceWords,
    options: &Options,
    limits: &SeedLimits,
) -> SeedParams {
    let (seed, layout) = (&options.seed, &table.layout);
    let filter_mask = match &seed.hit_filter {
        Some(filter) if filter.cares_only => layout.care_mask,
        Some(_) => layout.window_mask,
        None => 0,
    };
    let (is_window, x_drop) = match options.gap_free {
        GapFreeExtension::XDrop { x_drop, .. } => (false, x_drop),
        _ => (true, 0),
    };
    let threshold = match options.hsp_threshold {
        HspThreshold::Score(threshold) => threshold,
        _ => i32::MIN,
    };
    SeedParams {
        window_len: layout.len as u32,
        window_mask: layout.window_mask as u32,
        n_groups: words.n_groups,
        bucket_capacity: limits.bucket_capacity,
        overflow_capacity: limits.overflow_capacity,
        frequent_capacity: limits.frequent_capacity,
        frequent_turns: limits.frequent_turns,
        candidate_capacity: limits.candidate_capacity,
        extension_capacity: limits.extension_capacity,
        has_checks: u32::from(layout.resolve_mask != 0 || table.is_stale),
        is_masked_later: u32::from(table.is_stale),
        resolve_mask: layout.resolve_mask as u32,
        transitions: u32::from(seed.transitions),
        filter_mask: filter_mask as u32,
        filter_matches: seed.hit_filter.as_ref().map_or(0, |filter| filter.min_matches),
        filter_transversions: seed.hit_filter.as_ref().and_then(|filter| filter.max_transversions).unwrap_or(u32::MAX),
        diagonal_rule: if is_window && options.gapped.is_none() {
            RULE_OFF
        } else if seed.recover_hits {
            RULE_RECOVER
        } else {
            RULE_HASHED
        },
        is_window: u32::from(is_window),
        x_drop,
        threshold,
        best_limit: kinds.best_limit(),
        target_len: target.len() as u32,
        target_page: limits.page_chunks,
        run_cap: limits.run_cap,
        has_triples: u32::from(kinds.has_triples(x_drop)),
        ..SeedParams::default()
    }
}

impl SeedParams {
    /// The same for a query array that ends at `query_len`; under `--self` it holds one strand.
    pub(super) fn for_strands(
        self,
        options: &Options,
        target: &SequenceSet,
        query_len: u32,
        is_same_strand: bool,
    ) -> SeedParams {
        let self_rule = match (options.self_comparison, is_same_strand) {
            (SelfComparison::No, _) => SELF_NO,
            (_, true) => SELF_SAME_STRAND,
            (_, false) => SELF_OTHER_STRAND,
        };
        let range = target.partitions.first().map_or(0..0, |partition| partition.range.clone());
        SeedParams {
            self_rule,
            self_sum: (range.start + range.end) as u32,
            has_checks: self.has_checks | u32::from(self_rule != SELF_NO),
            query_len,
            ..self
        }
    }
}
