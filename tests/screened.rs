//! Anchors that a screen drops leave no trace: blocks are the same with and without it, whatever comes near them.

mod gpu_support;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fastz::alignment::{Anchor, Block};
use fastz::anchor::sort_anchors;
use fastz::cpu::Ydrop;
use fastz::cpu::ydrop::SideProblem;
use fastz::error::Result;
use fastz::extend::{BulkExtender, BulkUnit, Direction, GappedResult, GappedStage, Side};
use fastz::gpu::{GpuBulk, OnFault};
use fastz::options::{Contract, GappedOptions};
use fastz::scoring::Scoring;
use fastz::sequence::SequenceSet;
use gpu_support::{SplitMix64, gpu_or_skip};

/// Screens by the standard recurrence, cell by cell, and leaves everything else to the CPU.
struct PlainScreen<'a> {
    scoring: &'a Scoring,
    y_drop: i64,
    hopeless: AtomicU64,
}

impl BulkExtender for PlainScreen<'_> {
    fn least_anchors(&self) -> usize {
        usize::MAX
    }

    fn least_screened(&self) -> usize {
        1
    }

    fn shares_anchors(&self) -> bool {
        true
    }

    fn open<'a>(&'a self, target: &'a SequenceSet, query: &'a SequenceSet) -> Result<Option<Box<dyn BulkUnit + 'a>>> {
        Ok(Some(Box::new(PlainUnit { screen: self, target, query })))
    }
}

struct PlainUnit<'a> {
    screen: &'a PlainScreen<'a>,
    target: &'a SequenceSet,
    query: &'a SequenceSet,
}

impl BulkUnit for PlainUnit<'_> {
    fn extend(
        &mut self,
        anchors: &[Anchor],
        _: &(dyn Fn(&Side, &Side) -> bool + Sync),
    ) -> Result<Vec<Option<(Side, Side)>>> {
        Ok(vec![None; anchors.len()])
    }

    fn screen(&mut self, anchors: &[Anchor], goal: i64) -> Result<Vec<bool>> {
        let is_hopeless = |anchor: &Anchor| {
            let sides = [Direction::Left, Direction::Right].map(|direction| self.bound(anchor, direction));
            sides.iter().sum::<i64>() < goal
        };
        let hopeless: Vec<bool> = anchors.iter().map(is_hopeless).collect();
        self.screen.hopeless.fetch_add(hopeless.iter().filter(|&&hopeless| hopeless).count() as u64, Relaxed);
        Ok(hopeless)
    }
}

impl PlainUnit<'_> {
    /// Best of all cells that lie at -Y or above on some way to them; a gap may open anywhere.
    fn bound(&self, anchor: &Anchor, direction: Direction) -> i64 {
        const DEAD: i64 = i64::MIN / 4;
        let PlainScreen { scoring, y_drop, .. } = self.screen;
        let (first, next) = (i64::from(scoring.gap_open + scoring.gap_extend), i64::from(scoring.gap_extend));
        let side = SideProblem { target: self.target, query: self.query, anchor: *anchor, direction };
        let (rows, columns) = side.extent();
        let live = |value: i64| if value < -y_drop { DEAD } else { value };
        let row0 = |c: usize| if c == 0 { 0 } else { -first - (c as i64 - 1) * next };
        let mut above: Vec<i64> = (0..=columns).map(|c| live(row0(c))).collect();
        let mut deletions = vec![DEAD; columns + 1];
        let mut best = 0;
        for row in 1..=rows {
            let mut insertion = DEAD;
            let mut diagonal = DEAD;
            for c in 0..=columns {
                deletions[c] = (deletions[c] - next).max(above[c] - first);
                let pair = match c {
                    0 => DEAD,
                    _ => diagonal + i64::from(scoring.gapped.get(side.target_base(row), side.query_base(c))),
                };
                diagonal = above[c];
                above[c] = live(pair.max(deletions[c]).max(insertion));
                insertion = (insertion - next).max(above[c] - first);
                best = best.max(above[c]);
            }
            if above.iter().all(|&value| value == DEAD) {
                break;
            }
        }
        best
    }
}

/// Copies of a family of repeats on both sides, and anchors on two matching pairs: on the copies, beside them, anywhere.
fn case(rng: &mut SplitMix64) -> (SequenceSet, SequenceSet, Vec<Anchor>) {
    let family = rng.bases(90);
    let (mut target, mut query) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        for set in [&mut target, &mut query] {
            set.extend(rng.mutated(&family, 10));
            let spacer = rng.below(50);
            set.extend(rng.bases(spacer));
        }
    }
    let mut anchors: Vec<Anchor> = Vec::new();
    for t in 1..target.len() - 1 {
        for q in 1..query.len() - 1 {
            let matches = (-1..=1i64).filter(|d| target[(t as i64 + d) as usize] == query[(q as i64 + d) as usize]);
            let n = matches.count();
            if n == 3 && rng.below(40) == 0 || n == 2 && rng.below(400) == 0 {
                anchors.push(Anchor { target: t as u32, query: q as u32, hsp_score: rng.below(300) as i32 });
            }
        }
    }
    sort_anchors(&mut anchors);
    (SequenceSet::single("t", &target), SequenceSet::single("q", &query), anchors)
}

fn run(
    (target, query): (&SequenceSet, &SequenceSet),
    (scoring, options): (&Scoring, &GappedOptions),
    threshold: i64,
    anchors: &[Anchor],
    bulk: Option<&dyn BulkExtender>,
) -> GappedResult {
    let ydrop = Ydrop::new(scoring, options);
    let stage = GappedStage {
        target,
        query,
        scoring,
        ydrop: &ydrop,
        threshold,
        all_bounds: options.all_bounds,
        look_ahead: None,
        bulk,
        progress: &|_, _| {},
    };
    let mut goes_on = |_: &Block| ControlFlow::Continue(());
    match options.contract {
        Contract::Exact => stage.run(anchors, Vec::new(), &mut goes_on),
        Contract::Relaxed => stage.run_relaxed(anchors, Vec::new(), &mut goes_on),
    }
    .unwrap()
}

#[test]
fn dropped_anchors_leave_no_trace() {
    let (mut screened, mut hopeless, mut blocks) = (0, 0, 0);
    for seed in 30..70 {
        let mut rng = SplitMix64(seed);
        let (target, query, anchors) = case(&mut rng);
        let mut pick = |values: &[i32]| values[rng.below(values.len())];
        let scoring = Scoring { gap_open: pick(&[0, 100, 400]), gap_extend: pick(&[5, 30, 90]), ..Scoring::default() };
        let options = GappedOptions { y_drop: pick(&[300, 1000, 3000, 9400]), ..GappedOptions::default() };
        let threshold = i64::from(pick(&[800, 1500, 2500]));
        let sets = (&target, &query);
        let plain = run(sets, (&scoring, &options), threshold, &anchors, None);
        let screen = PlainScreen { scoring: &scoring, y_drop: options.y_drop.into(), hopeless: AtomicU64::default() };
        let with_screen = run(sets, (&scoring, &options), threshold, &anchors, Some(&screen));
        assert_eq!(plain.blocks, with_screen.blocks, "seed {seed}");
        screened += with_screen.counts.screened;
        hopeless += screen.hopeless.load(Relaxed);
        blocks += plain.counts.blocks;
        let all = GappedOptions { all_bounds: true, ..options };
        let result = run(sets, (&scoring, &all), threshold, &anchors, Some(&screen));
        assert_eq!(result.counts.screened, 0, "seed {seed}: with all bounds every block counts");
    }
    assert!(screened > 100 && hopeless > screened && blocks > 50, "{screened} of {hopeless} dropped, {blocks} blocks");
}

#[test]
fn the_screen_on_a_gpu_leaves_no_trace() {
    let test = "the_screen_on_a_gpu_leaves_no_trace";
    let Some(gpu) = gpu_or_skip(test) else { return };
    let (scoring, options) = (Scoring::default(), GappedOptions::default());
    let bulk = GpuBulk::new(gpu, &scoring, &options, OnFault::Fail).in_large_waves();
    let mut screened = 0;
    for seed in 100..103 {
        let (target, query, anchors) = case(&mut SplitMix64(seed));
        let plain = run((&target, &query), (&scoring, &options), 3000, &anchors, None);
        let with_screen = run((&target, &query), (&scoring, &options), 3000, &anchors, Some(&bulk));
        assert_eq!(plain.blocks, with_screen.blocks, "seed {seed}");
        screened += with_screen.counts.screened;
    }
    assert!(screened > 0);
}

/// Paths of the relaxed contract may go below -Y between two prunings, and come back: stretches of mismatches do that.
#[test]
fn anchors_dropped_from_the_relaxed_contract_leave_no_trace() {
    let test = "anchors_dropped_from_the_relaxed_contract_leave_no_trace";
    let (mut screened, mut blocks) = (0, 0);
    for seed in 200..206 {
        let Some(gpu) = gpu_or_skip(test) else { return };
        let mut rng = SplitMix64(seed);
        let mut pick = |values: &[i32]| values[rng.below(values.len())];
        let scoring = Scoring { gap_extend: pick(&[30, 90]), ..Scoring::default() };
        let options =
            GappedOptions { y_drop: pick(&[200, 300]), contract: Contract::Relaxed, ..GappedOptions::default() };
        let threshold = i64::from(pick(&[500, 800]));
        let (target, query, anchors) = case(&mut rng);
        let sets = (&target, &query);
        let plain = run(sets, (&scoring, &options), threshold, &anchors, None);
        let bulk = GpuBulk::new(gpu, &scoring, &options, OnFault::Fail);
        let with_screen = run(sets, (&scoring, &options), threshold, &anchors, Some(&bulk));
        assert_eq!(plain.blocks, with_screen.blocks, "seed {seed}");
        screened += with_screen.counts.screened;
        blocks += plain.counts.blocks;
    }
    assert!(screened > 20 && blocks > 5, "{screened} dropped, {blocks} blocks");
}
