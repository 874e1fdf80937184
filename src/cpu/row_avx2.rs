//! One row of the sweep, sixteen columns at a time (AVX2): the very keep set, links and peak of the scalar row.
//!
//! Values are 16-bit, relative to `zero`, which follows the peak: a kept cell lies at most Y below it. The insertions of
//! a row are a max-plus prefix scan. It needs O >= 0: then a cell that I beats has no opening worth taking, so the
//! candidates `P - OE where P >= D` do not depend on I. Dead cells need not cut the scan either: what passes through
//! one stays below the threshold. Masked cells do cut it, so a row is evaluated in the segments between them.
//!
//! The pairs' scores come from a profile: for each class of target base, the scores of the window's columns.

use std::arch::x86_64::*;

use super::traceback::{DELETION_EXTENDS, FROM_DELETION, FROM_INSERTION, INSERTION_EXTENDS};
use super::ydrop::{DEAD, Peak, RowKernel, RowResult, RowTask, SideProblem, Ydrop};
use crate::extend::relaxed::{PRUNE_ROWS, STRIPE_ROWS};

/// Columns per vector.
const LANES: usize = 16;
/// Room left of the first column, and right of the last one for whole vectors.
const PAD: usize = 2 * LANES;
/// The value of a dead cell; saturating arithmetic keeps it below every threshold.
const DEAD16: i16 = i16::MIN;
/// `zero` is moved up when the peak is this far above it.
const REBASE: i64 = 4000;

/// C of the row above and D entering the current row, for the columns from `base` on, at index `c - base + PAD`.
#[derive(Default)]
pub struct Avx2Row {
    base: usize,
    /// Columns whose profile is filled in end here.
    filled: usize,
    /// Score that 0 stands for.
    zero: i64,
    above: Vec<i16>,
    current: Vec<i16>,
    deletion: Vec<i16>,
    /// Per class of target base, the scores against the columns' bases.
    profile: Vec<Vec<i16>>,
}

/// What evaluating a segment needs and changes besides the cells.
struct Segment {
    from: usize,
    to: usize,
    class: u8,
    /// I entering `from`, then I entering `to`.
    insertion: i16,
    /// Best score so far, relative, and its column if this row set it.
    best: i16,
    best_column: Option<usize>,
    kept: Option<(usize, usize)>,
    /// Cells below this die, relative; `None`: those more than Y below the best.
    floor: Option<i16>,
}

impl Segment {
    fn threshold(&self, y_drop: i16) -> i16 {
        self.floor.unwrap_or(self.best - y_drop)
    }
}

#[derive(Clone, Copy)]
struct Costs {
    gap_first: i16,
    gap_extend: i16,
    y_drop: i16,
}

impl Avx2Row {
    /// Whether this processor and these scores fit.
    pub fn can_run(ydrop: &Ydrop) -> bool {
        is_x86_feature_detected!("avx2")
            && ydrop.gap_open >= 0
            && (0..=1000).contains(&ydrop.gap_extend)
            && ydrop.gap_first() <= 8000
            && ydrop.y_drop <= 20_000
            && (0..=2000).contains(&ydrop.classes.max_score())
    }

    /// The same for the relaxed contract: 16 bits hold what a stripe can gain, and the floor of its rows.
    pub fn can_run_relaxed(ydrop: &Ydrop) -> bool {
        let max_score = i64::from(ydrop.classes.max_score());
        let highest = REBASE + STRIPE_ROWS as i64 * max_score;
        let deepest = ydrop.y_drop + PRUNE_ROWS as i64 * max_score + ydrop.gap_open;
        Self::can_run(ydrop) && highest.max(deepest) <= 32_000
    }

    fn index(&self, c: usize) -> usize {
        c + PAD - self.base
    }

    fn relative(&self, score: i64) -> i16 {
        (score.max(DEAD / 2) - self.zero).clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16
    }

    /// Moves `zero` up to the peak.
    fn rebase(&mut self, by: i64, lo: usize, hi: usize) {
        let range = self.index(lo) - 1..self.index(hi);
        let by16 = by as i16;
        for value in self.current[range.clone()].iter_mut().chain(&mut self.deletion[range]) {
            *value = value.saturating_sub(by16);
        }
        self.zero += by;
    }

    /// Evaluates the cells of a segment without masked columns; `links` starts at its first column.
    #[target_feature(enable = "avx2")]
    fn evaluate_segment(&mut self, costs: Costs, segment: &mut Segment, links: &mut [u8]) {
        let dead = _mm256_set1_epi16(DEAD16);
        let ones = _mm256_set1_epi16(-1);
        let lanes = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let extend = _mm256_set1_epi16(costs.gap_extend);
        let extend_2 = _mm256_slli_epi16(extend, 1);
        let extend_4 = _mm256_slli_epi16(extend, 2);
        let extend_16 = _mm256_slli_epi16(extend, 4);
        let first = _mm256_set1_epi16(costs.gap_first);
        let ramp = _mm256_mullo_epi16(lanes, extend);
        // For the upper half: distance to the last lane of the lower half.
        let half_ramp = _mm256_max_epi16(_mm256_sub_epi16(lanes, set1(7)), _mm256_setzero_si256());
        let half_ramp = _mm256_mullo_epi16(half_ramp, extend);
        let last_word = _mm256_set1_epi16(0x0f0e);
        let top_word = _mm256_set1_epi16(0x0706);

        let profile = &self.profile[segment.class as usize];
        let mut carry = set1(segment.insertion);
        let mut best = set1(segment.best);
        let mut threshold = set1(segment.threshold(costs.y_drop));
        let mut c = segment.from;
        while c < segment.to {
            let at = c + PAD - self.base;
            let width = (segment.to - c).min(LANES);
            let outside = _mm256_cmpgt_epi16(lanes, set1(width as i16 - 1));

            let pair = _mm256_adds_epi16(load(&self.above, at - 1), load(profile, at));
            let deletion = load(&self.deletion, at);
            let deletion_wins = _mm256_cmpgt_epi16(deletion, pair);
            let opened = _mm256_subs_epi16(pair, first);

            // I entering each column: a max-plus prefix scan of the openings to its left.
            let z = _mm256_blendv_epi8(opened, dead, deletion_wins);
            let z = _mm256_max_epi16(z, _mm256_subs_epi16(_mm256_alignr_epi8::<14>(z, dead), extend));
            let z = _mm256_max_epi16(z, _mm256_subs_epi16(_mm256_alignr_epi8::<12>(z, dead), extend_2));
            let z = _mm256_max_epi16(z, _mm256_subs_epi16(_mm256_alignr_epi8::<8>(z, dead), extend_4));
            let below = _mm256_permute2x128_si256::<0x02>(z, dead);
            let z = _mm256_max_epi16(z, _mm256_subs_epi16(_mm256_shuffle_epi8(below, last_word), half_ramp));
            let below = _mm256_permute2x128_si256::<0x02>(z, dead);
            let exclusive = _mm256_alignr_epi8::<14>(z, below);
            let insertion = _mm256_max_epi16(exclusive, _mm256_subs_epi16(carry, ramp));
            let total = _mm256_shuffle_epi8(_mm256_permute4x64_epi64::<0xff>(z), top_word);
            let carried = _mm256_max_epi16(total, _mm256_subs_epi16(carry, extend_16));

            let insertion_wins = _mm256_cmpgt_epi16(insertion, pair);
            let is_gap = _mm256_or_si256(deletion_wins, insertion_wins);
            let score = _mm256_max_epi16(pair, _mm256_max_epi16(deletion, insertion));

            let below_peak = _mm256_or_si256(_mm256_or_si256(is_gap, outside), _mm256_cmpgt_epi16(best, pair));
            if _mm256_movemask_epi8(below_peak) != -1 {
                let (thresholds, new_best) = raise_peak(pair, below_peak, segment, costs.y_drop, c);
                threshold = thresholds;
                best = new_best;
            }
            let pruned = _mm256_or_si256(_mm256_cmpgt_epi16(threshold, score), outside);
            threshold = set1(segment.threshold(costs.y_drop));

            // Opening is for diagonal cells only; on ties the extension is recorded.
            let opened = _mm256_blendv_epi8(opened, dead, is_gap);
            let extended = _mm256_subs_epi16(deletion, extend);
            let leaving = _mm256_max_epi16(extended, opened);
            let leaving = _mm256_blendv_epi8(leaving, dead, pruned);
            let leaving = _mm256_blendv_epi8(leaving, deletion, outside);
            store(&mut self.deletion, at, leaving);
            store(&mut self.current, at, _mm256_blendv_epi8(score, dead, pruned));

            let deletion_opens = _mm256_cmpgt_epi16(opened, extended);
            let insertion_opens = _mm256_cmpgt_epi16(opened, _mm256_subs_epi16(insertion, extend));
            let source = _mm256_blendv_epi8(
                set1(i16::from(FROM_DELETION)),
                set1(i16::from(FROM_INSERTION)),
                _mm256_cmpgt_epi16(insertion, deletion),
            );
            let link = _mm256_or_si256(
                _mm256_and_si256(is_gap, source),
                _mm256_or_si256(
                    _mm256_andnot_si256(deletion_opens, set1(i16::from(DELETION_EXTENDS))),
                    _mm256_andnot_si256(insertion_opens, set1(i16::from(INSERTION_EXTENDS))),
                ),
            );
            store_bytes(links, c - segment.from, link);

            let kept = narrow_mask(_mm256_xor_si256(pruned, ones));
            if kept != 0 {
                let last = c + 31 - kept.leading_zeros() as usize;
                let first = segment.kept.map_or(c + kept.trailing_zeros() as usize, |(first, _)| first);
                segment.kept = Some((first, last));
            }
            if width < LANES {
                segment.insertion = to_array(insertion)[width];
                return;
            }
            carry = carried;
            c += LANES;
        }
        segment.insertion = to_array(carry)[0];
    }
}

/// The slow path of a vector in which some diagonal cell reaches the peak: thresholds lane by lane, in row order.
#[target_feature(enable = "avx2")]
fn raise_peak(pair: __m256i, below_peak: __m256i, segment: &mut Segment, y_drop: i16, c: usize) -> (__m256i, __m256i) {
    let (pairs, below) = (to_array(pair), to_array(below_peak));
    let mut thresholds = [0; LANES];
    for lane in 0..LANES {
        thresholds[lane] = segment.threshold(y_drop);
        if below[lane] == 0 && pairs[lane] >= segment.best {
            segment.best = pairs[lane];
            segment.best_column = Some(c + lane);
        }
    }
    (load(&thresholds, 0), set1(segment.best))
}

#[inline]
#[target_feature(enable = "avx2")]
fn set1(value: i16) -> __m256i {
    _mm256_set1_epi16(value)
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(values: &[i16], at: usize) -> __m256i {
    let lanes: &[i16; LANES] = values[at..at + LANES].try_into().expect("as many as lanes");
    // SAFETY: `lanes` is 32 readable bytes, and the load asks for no alignment.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(values: &mut [i16], at: usize, vector: __m256i) {
    let lanes: &mut [i16; LANES] = (&mut values[at..at + LANES]).try_into().expect("as many as lanes");
    // SAFETY: `lanes` is 32 writable bytes, and the store asks for no alignment.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), vector) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn to_array(vector: __m256i) -> [i16; LANES] {
    let mut lanes = [0; LANES];
    store(&mut lanes, 0, vector);
    lanes
}

/// Stores the low byte of each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn store_bytes(bytes: &mut [u8], at: usize, vector: __m256i) {
    let packed = _mm256_permute4x64_epi64::<0b1000>(_mm256_packus_epi16(vector, vector));
    let lanes: &mut [u8; LANES] = (&mut bytes[at..at + LANES]).try_into().expect("as many as lanes");
    // SAFETY: `lanes` is 16 writable bytes, and the store asks for no alignment.
    unsafe { _mm_storeu_si128(lanes.as_mut_ptr().cast(), _mm256_castsi256_si128(packed)) }
}

/// One bit per lane of a mask of whole lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn narrow_mask(mask: __m256i) -> u32 {
    let packed = _mm256_permute4x64_epi64::<0b1000>(_mm256_packs_epi16(mask, mask));
    _mm_movemask_epi8(_mm256_castsi256_si128(packed)) as u32
}

impl RowKernel for Avx2Row {
    fn start(&mut self, ydrop: &Ydrop, _: usize) {
        (self.base, self.filled, self.zero) = (0, 0, 0);
        self.profile.resize(ydrop.classes.count(), Vec::new());
    }

    fn make_room(&mut self, ydrop: &Ydrop, problem: &SideProblem, lo: usize, hi: usize) {
        if self.index(hi) + PAD > self.current.len() {
            let base = lo.saturating_sub(1).max(self.base);
            let obsolete = base - self.base;
            let live = obsolete + PAD..(self.filled + PAD).saturating_sub(self.base).max(obsolete + PAD);
            self.base = base;
            let len = self.current.len().max((2 * (self.index(hi) + PAD)).max(8192));
            for values in [&mut self.current, &mut self.deletion].into_iter().chain(&mut self.profile) {
                if obsolete > 0 {
                    values.copy_within(live.clone(), PAD);
                }
                values.resize(len, DEAD16);
            }
            self.above.resize(len, DEAD16);
        }
        // Scores below what Y allows are as good as any such score, and must fit.
        let floor = -30_000;
        for c in self.filled..hi {
            let at = self.index(c);
            let query_class = if c == 0 { 0 } else { ydrop.classes.class(problem.query_base(c)) };
            for (target_class, profile) in self.profile.iter_mut().enumerate() {
                profile[at] = ydrop.classes.score(target_class as u8, query_class).max(floor) as i16;
            }
        }
        self.filled = self.filled.max(hi);
    }

    fn put(&mut self, c: usize, score: i64, deletion: i64) {
        let at = self.index(c);
        self.current[at] = self.relative(score);
        self.deletion[at] = self.relative(deletion);
    }

    fn evaluate(
        &mut self,
        ydrop: &Ydrop,
        problem: &SideProblem,
        task: &RowTask,
        peak: &mut Peak,
        links: &mut [u8],
    ) -> RowResult {
        // Where the floor stays for a stripe, `zero` does.
        let may_rebase = task.floor.is_none() || (task.row - 1).is_multiple_of(STRIPE_ROWS);
        if may_rebase && peak.score - self.zero > REBASE {
            self.rebase(peak.score - self.zero, task.lo, task.hi);
        }
        std::mem::swap(&mut self.above, &mut self.current);
        // The first column of the window has neither P nor I (5.3).
        let before_window = self.index(task.lo) - 1;
        self.above[before_window] = DEAD16;
        let costs = Costs {
            gap_first: ydrop.gap_first() as i16,
            gap_extend: ydrop.gap_extend as i16,
            y_drop: ydrop.y_drop as i16,
        };
        let mut segment = Segment {
            from: task.lo,
            to: task.lo,
            class: ydrop.classes.class(problem.target_base(task.row)),
            insertion: DEAD16,
            best: (peak.score - self.zero) as i16,
            best_column: None,
            kept: None,
            floor: task.floor.map(|floor| self.relative(floor)),
        };
        for &end in task.masked.iter().chain([&task.hi]) {
            segment.to = end;
            let links = &mut links[segment.from - task.lo..];
            // SAFETY: `can_run` found AVX2.
            unsafe { self.evaluate_segment(costs, &mut segment, links) };
            if end < task.hi {
                let at = self.index(end);
                (self.current[at], self.deletion[at]) = (DEAD16, DEAD16);
                segment.insertion = DEAD16;
            }
            segment.from = end + 1;
        }
        if let Some(column) = segment.best_column {
            *peak = Peak { score: self.zero + i64::from(segment.best), row: task.row, column };
        }
        let insertion = match segment.insertion {
            DEAD16 => DEAD,
            value => self.zero + i64::from(value),
        };
        RowResult { kept: segment.kept, insertion }
    }

    fn score(&self, c: usize) -> i64 {
        match self.current[self.index(c)] {
            DEAD16 => DEAD,
            value => self.zero + i64::from(value),
        }
    }
}
