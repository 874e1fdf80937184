//! One row of the sweep, a vector of columns at a time: the very keep set, links and peak of the scalar row.
//!
//! Values are 16-bit, relative to `zero`, which follows the peak: a kept cell lies at most Y below it. The insertions of
//! a row are a max-plus prefix scan. It needs O >= 0: then a cell that I beats has no opening worth taking, so the
//! candidates `P - OE where P >= D` do not depend on I. Dead cells need not cut the scan either: what passes through
//! one stays below the threshold. Masked cells do cut it, so a row is evaluated in the segments between them.
//!
//! The pairs' scores come from a profile: for each class of target base, the scores of the window's columns.

use super::lanes::{DEAD16, Lanes, LinkMasks, MOST_LANES};
use super::traceback::{Links, put_links};
use super::ydrop::{DEAD, Peak, RowKernel, RowResult, RowTask, SideProblem, Ydrop};
use crate::extend::relaxed::{PRUNE_ROWS, STRIPE_ROWS};

/// Room left of the first column, and right of the last one for whole vectors.
const PAD: usize = 2 * MOST_LANES;
/// Scores below what Y allows are as good as any such score, and must fit.
const LEAST_SCORE: i32 = -30_000;
/// Columns whose profile is filled in at once.
const FILLED_AHEAD: usize = 64;
/// `zero` is moved up when the peak is this far above it.
const REBASE: i64 = 4000;

/// The instructions a row is evaluated with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx512Vbmi,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Instructions {
    /// All that this processor has, the best one last.
    pub fn available() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            let avx512 = is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl");
            let all = [
                (is_x86_feature_detected!("avx2"), Instructions::Avx2),
                (avx512, Instructions::Avx512),
                (avx512 && is_x86_feature_detected!("avx512vbmi"), Instructions::Avx512Vbmi),
            ];
            all.into_iter().filter(|(has, _)| *has).map(|(_, instructions)| instructions).collect()
        }
        #[cfg(target_arch = "aarch64")]
        return vec![Instructions::Neon];
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        return Vec::new();
    }
}

/// C of the row above and D entering the current row, for the columns from `base` on, at index `c - base + PAD`.
#[derive(Default)]
pub struct VectorRow {
    base: usize,
    /// Columns whose profile is filled in end here. There is room for all of them.
    filled: usize,
    /// The last column of the run.
    columns: usize,
    /// Score that 0 stands for.
    zero: i64,
    above: Vec<i16>,
    current: Vec<i16>,
    deletion: Vec<i16>,
    /// Per class of target base, the scores against the columns' bases.
    profile: Vec<Vec<i16>>,
    /// Classes of the columns that are being filled in.
    classes: Vec<u8>,
}

/// What evaluating a segment needs and changes besides the cells.
struct Segment {
    /// The column of the first link.
    links_from: usize,
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
    #[inline(always)]
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

/// What stays the same over a segment, and what passes from vector to vector.
struct Sweep<'a, L: Lanes> {
    /// The cells and profile from the column left of the segment on: column `c` lies at `c - from + 1`.
    above: &'a [i16],
    profile: &'a [i16],
    deletion: &'a mut [i16],
    current: &'a mut [i16],
    costs: Costs,
    first: L::Scores,
    extend: L::Scores,
    extend_all: L::Scores,
    ramp: L::Scores,
    ramp_before: L::Scores,
    /// I entering the next vector less E.
    carry: L::Scores,
    best: L::Scores,
    threshold: L::Scores,
    /// The first kept column, and the last vector with kept ones: its column and lanes.
    first_kept: usize,
    last_kept: (usize, u32),
}

impl VectorRow {
    /// Whether these scores fit.
    pub fn can_run(ydrop: &Ydrop) -> bool {
        ydrop.gap_open >= 0
            && (0..=700).contains(&ydrop.gap_extend)
            && ydrop.gap_first() <= 8000
            && ydrop.y_drop <= 20_000
            && (0..=2000).contains(&ydrop.classes.max_score())
    }

    /// The same for the relaxed contract: 16 bits hold what a stripe can gain, and the floor of its rows.
    pub fn can_run_relaxed(ydrop: &Ydrop) -> bool {
        let max_score = i64::from(ydrop.classes.max_score());
        let highest = REBASE + STRIPE_ROWS as i64 * max_score;
        let deepest = ydrop.y_drop + PRUNE_ROWS as i64 * max_score + ydrop.gap_open;
        let most_raised = highest + (MOST_LANES as i64 - 1) * ydrop.gap_extend;
        Self::can_run(ydrop) && most_raised.max(deepest) <= 32_000
    }

    fn index(&self, c: usize) -> usize {
        c + PAD - self.base
    }

    fn relative(&self, score: i64) -> i16 {
        (score.max(DEAD / 2) - self.zero).clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16
    }

    /// Fills the profile for columns up to `hi` (exclusive) and some more; drops what lies left of `lo - 1` to have room.
    #[cold]
    fn fill(&mut self, ydrop: &Ydrop, problem: &SideProblem, lo: usize, hi: usize) {
        let end = (hi + FILLED_AHEAD).min(self.columns + 1).max(hi);
        if self.index(end) + PAD > self.current.len() {
            let base = lo.saturating_sub(1).max(self.base);
            let obsolete = base - self.base;
            let live = obsolete + PAD..(self.filled + PAD).saturating_sub(self.base).max(obsolete + PAD);
            self.base = base;
            let len = self.current.len().max((2 * (self.index(end) + PAD)).max(8192));
            for values in [&mut self.current, &mut self.deletion].into_iter().chain(&mut self.profile) {
                if obsolete > 0 {
                    values.copy_within(live.clone(), PAD);
                }
                values.resize(len, DEAD16);
            }
            self.above.resize(len, DEAD16);
        }
        let class = |c: usize| if c == 0 { 0 } else { ydrop.classes.class(problem.query_base(c)) };
        self.classes.clear();
        self.classes.extend((self.filled..end).map(class));
        let columns = self.index(self.filled)..self.index(end);
        for (target_class, profile) in self.profile.iter_mut().enumerate() {
            for (score, &query_class) in profile[columns.clone()].iter_mut().zip(&self.classes) {
                *score = ydrop.classes.score(target_class as u8, query_class).max(LEAST_SCORE) as i16;
            }
        }
        self.filled = end;
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

    /// Evaluates the cells of a segment without masked columns.
    ///
    /// # Safety
    /// The caller enables the instructions of `L`.
    #[inline(always)]
    unsafe fn evaluate_segment<L: Lanes>(&mut self, costs: Costs, segment: &mut Segment, links: &mut [Links]) {
        unsafe {
            let cells = self.index(segment.from) - 1..self.index(segment.to) + L::LANES;
            let mut sweep = Sweep::<L> {
                above: &self.above[cells.clone()],
                profile: &self.profile[segment.class as usize][cells.clone()],
                deletion: &mut self.deletion[cells.clone()],
                current: &mut self.current[cells],
                costs,
                first: L::splat(costs.gap_first),
                extend: L::splat(costs.gap_extend),
                extend_all: L::splat(costs.gap_extend * L::LANES as i16),
                ramp: L::ramp(costs.gap_extend),
                ramp_before: L::sub(L::ramp(costs.gap_extend), L::splat(costs.gap_extend)),
                carry: L::splat(segment.insertion.saturating_sub(costs.gap_extend)),
                best: L::splat(segment.best),
                threshold: L::splat(segment.threshold(costs.y_drop)),
                first_kept: usize::MAX,
                last_kept: (0, 0),
            };
            let mut c = segment.from;
            while c + L::LANES <= segment.to {
                sweep.evaluate::<false>(segment, c, links);
                c += L::LANES;
            }
            if c < segment.to {
                sweep.evaluate::<true>(segment, c, links);
            } else {
                let mut carry = [0; MOST_LANES];
                L::store(&mut carry, 0, sweep.carry);
                segment.insertion = if carry[0] == DEAD16 { DEAD16 } else { carry[0] + costs.gap_extend };
            }
            if let (column, lanes @ 1..) = sweep.last_kept {
                let first = segment.kept.map_or(sweep.first_kept, |(first, _)| first);
                segment.kept = Some((first, column + lanes.ilog2() as usize));
            }
        }
    }
}

impl<L: Lanes> Sweep<'_, L> {
    /// Evaluates the columns from `c` on; `PARTIAL`: those before the segment's end, which is nearer than a vector.
    ///
    /// # Safety
    /// The caller enables the instructions of `L`.
    #[inline(always)]
    unsafe fn evaluate<const PARTIAL: bool>(&mut self, segment: &mut Segment, c: usize, links: &mut [Links]) {
        unsafe {
            let at = c - segment.from + 1;
            let y_drop = self.costs.y_drop;
            let dead = L::splat(DEAD16);
            let pair = L::add(L::load(self.above, at - 1), L::load(self.profile, at));
            let deletion = L::load(self.deletion, at);
            let deletion_wins = L::greater(deletion, pair);
            let opened = L::sub(pair, self.first);

            // I entering each column: from the openings to its left, or from before the vector. Raised by E times the
            // lane, what goes on stays as it is.
            let raised = L::select(deletion_wins, dead, L::add(opened, self.ramp));
            let openings = L::prefix_max(raised);
            let entering = L::max(L::shift_in_dead(openings), self.carry);
            let insertion = L::sub(entering, self.ramp_before);
            self.carry = L::sub(L::max(L::broadcast_last(openings), self.carry), self.extend_all);

            let is_gap = L::or(deletion_wins, L::greater(insertion, pair));
            let score = L::max(pair, L::max(deletion, insertion));
            let outside = L::from_lane(if PARTIAL { segment.to - c } else { L::LANES });

            let below_peak = L::or(is_gap, L::greater(self.best, pair));
            let below_peak = if PARTIAL { L::or(below_peak, outside) } else { below_peak };
            let mut threshold = self.threshold;
            let mut reaching = L::bits(L::not(below_peak));
            if reaching != 0 {
                // In row order: a new best counts from the next cell on.
                let mut pairs = [0; MOST_LANES];
                L::store(&mut pairs, 0, pair);
                while reaching != 0 {
                    let lane = reaching.trailing_zeros() as usize;
                    reaching &= reaching - 1;
                    if pairs[lane] >= segment.best {
                        segment.best = pairs[lane];
                        segment.best_column = Some(c + lane);
                        self.threshold = L::splat(segment.threshold(y_drop));
                        threshold = L::select(L::from_lane(lane + 1), self.threshold, threshold);
                    }
                }
                self.best = L::splat(segment.best);
            }
            let pruned = L::greater(threshold, score);
            let pruned = if PARTIAL { L::or(pruned, outside) } else { pruned };

            // Opening is for diagonal cells only; on ties the extension is recorded.
            let extended = L::sub(deletion, self.extend);
            let leaving = L::select(is_gap, extended, L::max(extended, opened));
            let leaving = L::select(pruned, dead, leaving);
            let leaving = if PARTIAL { L::select(outside, deletion, leaving) } else { leaving };
            L::store(self.deletion, at, leaving);
            L::store(self.current, at, L::select(pruned, dead, score));

            let masks = LinkMasks {
                is_gap,
                from_insertion: L::greater(insertion, deletion),
                opens_insertion: L::and_not(L::greater(raised, entering), is_gap),
                opens_deletion: L::and_not(L::greater(opened, extended), is_gap),
            };
            put_links(links, c - segment.links_from, L::LANES, L::links(masks));

            let kept = L::bits(L::not(pruned));
            if kept != 0 {
                self.first_kept = self.first_kept.min(c + kept.trailing_zeros() as usize);
                self.last_kept = (c, kept);
            }
            if PARTIAL {
                let mut insertions = [0; MOST_LANES];
                L::store(&mut insertions, 0, insertion);
                segment.insertion = insertions[segment.to - c];
            }
        }
    }
}

/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn evaluate_avx2(row: &mut VectorRow, costs: Costs, segment: &mut Segment, links: &mut [Links]) {
    unsafe { row.evaluate_segment::<super::lanes::avx2::Avx2>(costs, segment, links) }
}

/// # Safety
/// The processor has AVX-512 with its BW and VL parts.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,bmi1,lzcnt")]
unsafe fn evaluate_avx512(row: &mut VectorRow, costs: Costs, segment: &mut Segment, links: &mut [Links]) {
    unsafe { row.evaluate_segment::<super::lanes::avx512::Avx512<false>>(costs, segment, links) }
}

/// # Safety
/// The processor has AVX-512 with its BW, VL and VBMI parts.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi,bmi1,lzcnt")]
unsafe fn evaluate_avx512_vbmi(row: &mut VectorRow, costs: Costs, segment: &mut Segment, links: &mut [Links]) {
    unsafe { row.evaluate_segment::<super::lanes::avx512::Avx512<true>>(costs, segment, links) }
}

impl RowKernel for VectorRow {
    fn start(&mut self, ydrop: &Ydrop, columns: usize) {
        (self.base, self.filled, self.zero, self.columns) = (0, 0, 0, columns);
        self.profile.resize(ydrop.classes.count(), vec![DEAD16; self.current.len()]);
    }

    #[inline]
    fn make_room(&mut self, ydrop: &Ydrop, problem: &SideProblem, lo: usize, hi: usize) {
        if hi > self.filled {
            self.fill(ydrop, problem, lo, hi);
        }
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
        links: &mut [Links],
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
            links_from: task.lo,
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
            let instructions = ydrop.instructions.expect("chosen with this row");
            // SAFETY: the processor has them: they are one of `Instructions::available`.
            unsafe {
                match instructions {
                    #[cfg(target_arch = "x86_64")]
                    Instructions::Avx2 => evaluate_avx2(self, costs, &mut segment, links),
                    #[cfg(target_arch = "x86_64")]
                    Instructions::Avx512 => evaluate_avx512(self, costs, &mut segment, links),
                    #[cfg(target_arch = "x86_64")]
                    Instructions::Avx512Vbmi => evaluate_avx512_vbmi(self, costs, &mut segment, links),
                    #[cfg(target_arch = "aarch64")]
                    Instructions::Neon => self.evaluate_segment::<super::lanes::neon::Neon>(costs, &mut segment, links),
                }
            }
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
