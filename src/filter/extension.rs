//! One seed hit becomes one gap-free segment: the four ways of lastz-semantics 3.

use std::ops::Range;

use super::entropy::entropy_adjusted;
use super::exact::{Segment, longest_with_mismatches, reach_without_segment};
use super::hit_filter::HitFilter;
use super::xdrop::XDrop;
use crate::options::{GapFreeExtension, HspThreshold};
use crate::seed::SeedHit;
use crate::seed::layout::WordLayout;
use crate::seed::packed::PackedBases;
use crate::{Hsp, Options, SequenceSet};

/// Which segments are reported, and with what score (3.2, 3.3). Both the sequential and the parallel search use it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HspAcceptance {
    /// K, if it is a fixed score.
    threshold: Option<i32>,
    entropy: bool,
}

impl HspAcceptance {
    /// The rule that the options ask for.
    pub fn new(options: &Options) -> Self {
        let GapFreeExtension::XDrop { entropy, .. } = options.gap_free else {
            return HspAcceptance { threshold: None, entropy: false };
        };
        match options.hsp_threshold {
            HspThreshold::Score(threshold) => HspAcceptance { threshold: Some(threshold), entropy },
            HspThreshold::TopBases(_) | HspThreshold::TopPercent(_) => {
                HspAcceptance { threshold: None, entropy: false }
            }
        }
    }

    /// Whether a raw score may pass at all. A cheap test that comes before the segment is known.
    #[inline]
    pub fn may_pass(&self, raw_score: i32) -> bool {
        self.threshold.is_none_or(|threshold| raw_score >= threshold)
    }

    /// The segment with its final score, if it passes. Adaptive thresholds pass everything as it is (3.6).
    pub fn accept(&self, target: &SequenceSet, query: &SequenceSet, mut hsp: Hsp) -> Option<Hsp> {
        let Some(threshold) = self.threshold else {
            return Some(hsp);
        };
        let score = i64::from(hsp.score);
        if self.entropy && score >= i64::from(threshold.max(0)) && score <= 3 * i64::from(threshold) {
            hsp.score = entropy_adjusted(target, query, &hsp);
        }
        (hsp.score >= threshold).then_some(hsp)
    }
}

/// What an extension found and looked at.
pub(super) struct Extension {
    /// The segment, if it passes.
    pub hsp: Option<Hsp>,
    /// Query position up to which the diagonal has been looked at (3.4).
    pub reach: u32,
    /// Pairs looked at.
    pub n_pairs: u64,
}

/// Extends hits of one query strand.
pub(super) struct Extender<'a> {
    target: &'a SequenceSet,
    query: &'a SequenceSet,
    acceptance: HspAcceptance,
    hit_filter: Option<HitFilter<'a>>,
    mode: Mode<'a>,
}

enum Mode<'a> {
    XDrop(XDrop<'a>),
    Matches { max_mismatches: usize, min_len: usize },
    Window,
}

impl<'a> Extender<'a> {
    pub fn new(
        (target, target_set): (&'a PackedBases, &'a SequenceSet),
        (query, query_set): (&'a PackedBases, &'a SequenceSet),
        layout: &WordLayout,
        options: &'a Options,
    ) -> Self {
        let mode = match options.gap_free {
            GapFreeExtension::XDrop { x_drop, .. } => {
                Mode::XDrop(XDrop::new((target, target_set), (query, query_set), &options.scoring.gap_free, x_drop))
            }
            GapFreeExtension::Exact(min_len) => Mode::Matches { max_mismatches: 0, min_len: min_len as usize },
            GapFreeExtension::Mismatch { mismatches, min_len } => {
                Mode::Matches { max_mismatches: mismatches as usize, min_len: min_len as usize }
            }
            GapFreeExtension::None => Mode::Window,
        };
        Extender {
            target: target_set,
            query: query_set,
            acceptance: HspAcceptance::new(options),
            hit_filter: options.seed.hit_filter.as_ref().map(|filter| HitFilter::new(filter, layout, target, query)),
            mode,
        }
    }

    /// Brings what the extension of a hit reads first into the cache.
    #[inline]
    pub fn touch(&self, hit: SeedHit) -> u64 {
        match &self.mode {
            Mode::XDrop(xdrop) => xdrop.touch(hit.target_end as usize),
            Mode::Matches { .. } | Mode::Window => 0,
        }
    }

    /// Whether segments are found by their matches (`--exact`, `--mismatch`).
    pub fn is_by_matches(&self) -> bool {
        matches!(self.mode, Mode::Matches { .. })
    }

    /// Whether hits stay as they are (`--nogfextend`).
    pub fn is_window(&self) -> bool {
        matches!(self.mode, Mode::Window)
    }

    /// Whether `--filter` lets the hit be extended.
    #[inline]
    pub fn wants(&self, hit: SeedHit) -> bool {
        self.hit_filter.as_ref().is_none_or(|filter| filter.passes(hit))
    }

    /// Extends a hit, to the left no further than the query position `left_limit`. `window_len` is the length of the
    /// seed window, or of all from the start of the hit's twin on: what `--exact` and `--mismatch` have to include.
    #[inline]
    pub fn extend(&self, hit: SeedHit, window_len: u32, left_limit: u32) -> Extension {
        let (e1, e2) = (hit.target_end as usize, hit.query_end as usize);
        let window_len = window_len as usize;
        let max_left = e1.min(e2.saturating_sub(left_limit as usize));
        match &self.mode {
            Mode::XDrop(xdrop) => {
                let right = xdrop.right(e1, e2);
                let left = xdrop.left(e1, e2, max_left);
                let score = left.best.wrapping_add(right.best);
                let hsp = if self.acceptance.may_pass(score) {
                    let hsp = segment(hit, e2 - left.best_len..e2 + right.best_len, score);
                    self.acceptance.accept(self.target, self.query, hsp)
                } else {
                    None
                };
                Extension { hsp, reach: (e2 + right.len) as u32, n_pairs: (left.len + right.len) as u64 }
            }
            &Mode::Matches { max_mismatches, min_len } => {
                let sets = (self.target, self.query);
                let found = longest_with_mismatches(sets, hit, window_len, max_left, max_mismatches);
                let Some(Segment { left, right }) = found.filter(|found| found.left + found.right >= min_len) else {
                    let reach = reach_without_segment(sets, hit, window_len, max_mismatches);
                    return Extension { hsp: None, reach: reach as u32, n_pairs: window_len as u64 };
                };
                let len = left + right;
                let hsp = Some(segment(hit, e2 - left..e2 + right, len as i32));
                // With mismatches, the one after the segment has been looked at, too.
                let reach = e2 + right + usize::from(max_mismatches > 0);
                Extension { hsp, reach: reach as u32, n_pairs: len as u64 }
            }
            Mode::Window => {
                let hsp = segment(hit, e2 - window_len..e2, 0);
                Extension { hsp: Some(hsp), reach: hit.query_end, n_pairs: 0 }
            }
        }
    }
}

fn segment(hit: SeedHit, query: Range<usize>, score: i32) -> Hsp {
    let len = query.len() as u32;
    let query_start = query.start as u32;
    // The diagonal is that of the hit: target position minus query position does not change along it.
    Hsp { target_start: hit.target_end.wrapping_sub(hit.query_end).wrapping_add(query_start), query_start, len, score }
}
