//! Back-end filters: identity, coverage, continuity and counts (lastz-semantics 6.2).

use super::rescore::ColumnCounts;
use crate::alignment::Block;
use crate::options::{BlockFilters, MatchCount, RatioRange};
use crate::sequence::SequenceSet;

/// Which filters apply to what is filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FilterStage {
    /// Gapped blocks: all filters.
    #[default]
    Gapped,
    /// Gapped blocks with `--anyornone` or `--limitperquery`: as `Gapped`, but a least share of matches (`n%`) is not
    /// looked at.
    GappedUntilEnough,
    /// HSPs (`--nogapped`): continuity and the gap counts are ignored.
    GapFree,
    /// HSPs that LASTZ prints as it finds them: no masking, no chain, no merging, no segments, fixed threshold, no
    /// per-query limit. As `GapFree`, but a least share of matches (`n%`) that stands alone is not looked at.
    GapFreeAtOnce,
    /// HSPs with `--anyornone` or `--limitperquery`: as `GapFree`, but LASTZ compares the mismatches with the least
    /// number of matches (0 if that is not set).
    GapFreeUntilEnough,
}

/// Drops what fails a filter; the order stays.
pub fn retain(
    blocks: &mut Vec<Block>,
    filters: &BlockFilters,
    stage: FilterStage,
    target: &SequenceSet,
    query: &SequenceSet,
) {
    if is_active(filters, stage) {
        blocks.retain(|block| passes(block, filters, stage, target, query));
    }
}

/// Whether a range is looked at: not if it goes from 0 to 100 %.
fn narrows(range: RatioRange) -> bool {
    range.min > 0.0 || range.max < 1.0
}

/// Whether any filter is looked at. Ranges of 0 to 100 % are off.
fn is_active(filters: &BlockFilters, stage: FilterStage) -> bool {
    let is_lone_share = matches!(filters.min_matches, Some(MatchCount::OfQuery(_)))
        && !filters.identity.is_some_and(narrows)
        && !filters.coverage.is_some_and(narrows)
        && !filters.continuity.is_some_and(narrows)
        && filters.max_mismatches.is_none()
        && filters.max_gaps.is_none()
        && filters.max_gap_columns.is_none();
    *filters != BlockFilters::default() && !(stage == FilterStage::GapFreeAtOnce && is_lone_share)
}

/// Whether a block passes all filters.
pub fn passes(
    block: &Block,
    filters: &BlockFilters,
    stage: FilterStage,
    target: &SequenceSet,
    query: &SequenceSet,
) -> bool {
    if !is_active(filters, stage) {
        return true;
    }
    let counts = ColumnCounts::of(block, &target.bases, &query.bases);
    let has_identity = |range| !narrows(range) || is_within(range, counts.matches, counts.acgt_pairs);
    let has_coverage = |range| {
        let (covered, len) = coverage(block, &counts, target, query);
        is_within(range, covered, len)
    };
    if !filters.identity.is_none_or(has_identity) || !filters.coverage.is_none_or(has_coverage) {
        return false;
    }
    let least_matches = filters.min_matches.and_then(|least| match least {
        MatchCount::Count(count) => Some(count),
        MatchCount::OfQuery(_) if stage == FilterStage::GappedUntilEnough => None,
        // Of all sequences that were read as one (`[multiple]`), with what subranges leave out.
        MatchCount::OfQuery(share) => {
            let query_len: usize = query.partitions.iter().map(|partition| partition.full_len).sum();
            Some((share * query_len as f64).ceil() as u64)
        }
    });
    if counts.matches < least_matches.unwrap_or(0) {
        return false;
    }
    let most_mismatches = match stage {
        FilterStage::GapFreeUntilEnough => filters.max_mismatches.map(|_| least_matches.unwrap_or(0)),
        _ => filters.max_mismatches,
    };
    // Without a pair of two bases there is no identity to go by: LASTZ drops the block.
    if most_mismatches.is_some_and(|most| counts.acgt_pairs == 0 || counts.mismatches() > most) {
        return false;
    }
    !matches!(stage, FilterStage::Gapped | FilterStage::GappedUntilEnough)
        || (filters.continuity.is_none_or(|range| is_within(range, counts.pairs, counts.columns()))
            && filters.max_gaps.is_none_or(|most| counts.gaps <= most)
            && filters.max_gap_columns.is_none_or(|most| counts.gap_columns() <= most))
}

/// Numerator and denominator of the coverage: bases of the block in the shorter sequence (equal: the query) and that
/// sequence's full length (lastz-semantics 7.1).
pub fn coverage(block: &Block, counts: &ColumnCounts, target: &SequenceSet, query: &SequenceSet) -> (u64, u64) {
    let target_len = target.partition_at(block.target_start).full_len as u64;
    let query_len = query.partition_at(block.query_start).full_len as u64;
    if target_len < query_len {
        (counts.pairs + counts.deleted, target_len)
    } else {
        (counts.pairs + counts.inserted, query_len)
    }
}

/// A percentage of the command line as a [`RatioRange`] bound: LASTZ reads and divides it in single precision.
pub fn ratio_of_percent(percent: f64) -> f32 {
    percent as f32 / 100.0
}

/// LASTZ compares in single precision, so a ratio on the border falls as its rounding falls.
fn is_within(range: RatioRange, numerator: u64, denominator: u64) -> bool {
    let (part, whole) = (numerator as f32, denominator as f32);
    denominator > 0 && part >= whole * range.min && part <= whole * range.max
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::{EditOp, EditScript};

    fn check(filters: BlockFilters, stage: FilterStage) -> bool {
        let target = SequenceSet::single("t", b"ACGTACGTAC");
        let query = SequenceSet::single("q", b"ACGTTTACGAACCCCC");
        let script: EditScript = [(EditOp::Pair, 4), (EditOp::Insertion, 2), (EditOp::Pair, 5)].into_iter().collect();
        // 4 + 4 matches, 1 mismatch, 9 of 10 target bases, 9 of 11 columns.
        let block = Block { target_start: 0, query_start: 0, script, score: 0 };
        passes(&block, &filters, stage, &target, &query)
    }

    fn range(min: f32, max: f32) -> Option<RatioRange> {
        Some(RatioRange { min, max })
    }

    #[test]
    fn each_filter_has_its_border_inside() {
        let none = BlockFilters::default();
        let gapped = |filters| check(filters, FilterStage::Gapped);
        assert!(gapped(none));
        assert!(gapped(BlockFilters { identity: range(0.88, 0.89), ..none }));
        assert!(!gapped(BlockFilters { identity: range(0.89, 1.0), ..none }));
        assert!(!gapped(BlockFilters { identity: range(0.0, 0.88), ..none }));
        assert!(gapped(BlockFilters { coverage: range(0.9, 0.9), ..none }));
        assert!(!gapped(BlockFilters { coverage: range(0.91, 1.0), ..none }));
        assert!(gapped(BlockFilters { continuity: range(0.8, 0.82), ..none }));
        assert!(!gapped(BlockFilters { continuity: range(0.82, 1.0), ..none }));
        assert!(gapped(BlockFilters { min_matches: Some(MatchCount::Count(8)), ..none }));
        assert!(!gapped(BlockFilters { min_matches: Some(MatchCount::Count(9)), ..none }));
        assert!(gapped(BlockFilters { min_matches: Some(MatchCount::OfQuery(0.5)), ..none }));
        assert!(!gapped(BlockFilters { min_matches: Some(MatchCount::OfQuery(0.51)), ..none }));
        assert!(gapped(BlockFilters { max_mismatches: Some(1), max_gaps: Some(1), max_gap_columns: Some(2), ..none }));
        assert!(!gapped(BlockFilters { max_mismatches: Some(0), ..none }));
        assert!(!gapped(BlockFilters { max_gaps: Some(0), ..none }));
        assert!(!gapped(BlockFilters { max_gap_columns: Some(1), ..none }));
    }

    #[test]
    fn a_lone_share_of_matches_is_ignored_when_hsps_are_printed_at_once() {
        let share = BlockFilters { min_matches: Some(MatchCount::OfQuery(1.0)), ..Default::default() };
        assert!(check(share, FilterStage::GapFreeAtOnce));
        assert!(!check(share, FilterStage::GapFree));
        assert!(check(BlockFilters { identity: range(0.0, 1.0), ..share }, FilterStage::GapFreeAtOnce));
        assert!(!check(BlockFilters { max_gaps: Some(9), ..share }, FilterStage::GapFreeAtOnce));
    }

    #[test]
    fn percentages_are_divided_in_single_precision() {
        // 117 of 122 is 95.90163934 %, more than 95.901639 %, and yet LASTZ drops it at --identity=95.901639.
        assert!(122.0 * ratio_of_percent(95.901639) > 117.0);
    }

    #[test]
    fn gap_free_stage_ignores_gaps_and_swaps_the_mismatch_limit() {
        let gaps = BlockFilters {
            max_gaps: Some(0),
            max_gap_columns: Some(0),
            continuity: range(1.0, 1.0),
            ..Default::default()
        };
        assert!(check(gaps, FilterStage::GapFree));
        let one = BlockFilters { max_mismatches: Some(1), ..Default::default() };
        assert!(check(one, FilterStage::GapFree));
        assert!(!check(one, FilterStage::GapFreeUntilEnough), "the limit in use is 0");
        let strict =
            BlockFilters { max_mismatches: Some(0), min_matches: Some(MatchCount::Count(1)), ..Default::default() };
        assert!(check(strict, FilterStage::GapFreeUntilEnough), "the limit in use is 1");
    }
}
