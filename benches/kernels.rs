//! Checks the GPU kernels against the CPU oracle, then measures them. Prints one TSV line per measurement.
//!
//! ```text
//! cargo bench --bench kernels -- [device=auto|gpu:<n>|<name>] [runs=200000] [check=400] [repeats=5]
//!     [only=inspect|screen|homologous] [variants=3]
//! ```
//! Times are the best of the repeats, with the rate of the median beside: clocks take a while to rise. `useful` cells are
//! those that LASTZ itself evaluates (lastz-semantics 5.3, 5.10).

mod arguments;
#[path = "../tests/gpu_support/mod.rs"]
mod gpu_support;

use std::time::{Duration, Instant};

use fastz::alignment::Anchor;
use fastz::cpu::Ydrop;
use fastz::extend::side::Side;
use fastz::gpu::screen::Screened;
use fastz::gpu::variant::Variant;
use fastz::gpu::{Gpu, GpuExtender, Inspected, OneSided, Switches, devices};
use fastz::options::GappedOptions;
use fastz::scoring::Scoring;
use fastz::sequence::SequenceSet;
use gpu_support::{SplitMix64, assert_same, both_sides, cpu_sides, gpu_sides, homologous_pair};

fn main() {
    let number = |name: &str, default: usize| arguments::number(name).unwrap_or(default);
    print!("{}", devices::describe());
    let gpu = arguments::open_gpu();
    let (scoring, options) = (Scoring::default(), GappedOptions::default());
    let bench = Bench { gpu, scoring, options, repeats: number("repeats", 5).max(1) };
    let mut variants = bench.variants();
    variants.truncate(number("variants", variants.len()));
    for &variant in &variants {
        bench.check(variant, number("check", 400));
    }
    println!("kernel\tvariant\truns\tuseful Gcells\tdevice s\tuseful GCUPS\tmedian\twall s\truns/s\tleft or kept");
    let only = arguments::setting("only");
    let wants = |part: &str| only.as_deref().is_none_or(|only| only == part);
    for &variant in variants.iter().filter(|_| wants("inspect")) {
        bench.random_inspection(variant, number("runs", 200_000));
    }
    // One row per lane is the paper's layout. SwiftShader's compiler does not finish on 16 rows.
    for stripe_rows in [16, 8, 4, 2, 1] {
        if wants("screen") && (stripe_rows == 8 || !bench.gpu.capabilities().is_software) {
            let variant = Variant { stripe_rows, ..variants[0] };
            bench.check_screen(variant, number("check", 400));
            bench.screen(variant, number("runs", 200_000) / 2);
        }
    }
    for &variant in variants.iter().filter(|_| wants("homologous")) {
        bench.homologous(variant, number("runs", 200_000) / 20);
    }
}

/// Homologous pieces far from each other, and both sides of an anchor in each. The screen prunes at -Y whatever the
/// score: with pieces of higher score, or nearer to each other, its windows outgrow its memory and nothing is bounded.
fn islands(rng: &mut SplitMix64, n_anchors: usize) -> (SequenceSet, SequenceSet, Vec<OneSided>) {
    let (mut target, mut query, mut runs) = (rng.bases(3000), rng.bases(3000), Vec::new());
    for _ in 0..n_anchors {
        let len = 100 + rng.below(1400);
        let piece = rng.bases(len);
        let copy = rng.mutated(&piece, 6);
        let within = rng.below(piece.len().min(copy.len()));
        runs.extend(both_sides(target.len() + within, query.len() + within));
        for (sequence, part) in [(&mut target, &piece), (&mut query, &copy)] {
            sequence.extend(part);
            sequence.extend(rng.bases(6000));
        }
    }
    (SequenceSet::single("t", &target), SequenceSet::single("q", &query), runs)
}

struct Bench {
    gpu: Gpu,
    scoring: Scoring,
    options: GappedOptions,
    repeats: usize,
}

/// Seconds that one repeat took: on the device as the host sees it, and in all.
#[derive(Clone, Copy)]
struct Timing {
    busy: f64,
    wall: f64,
}

impl Bench {
    /// The form that this adapter gets, and others that it can run.
    fn variants(&self) -> Vec<Variant> {
        let chosen = self.gpu.variant(fastz::gpu::extender::likely_window(&self.scoring, self.options.y_drop));
        let mut variants = vec![chosen];
        if let Some(lanes @ 32..) = self.gpu.capabilities().fixed_subgroup {
            variants.push(Variant::subgroup(lanes, 1024 / lanes));
        }
        variants.push(Variant::workgroup(64, 16));
        variants.dedup();
        variants
    }

    fn extender(&self, variant: Variant) -> GpuExtender {
        let start = Instant::now();
        let extender = GpuExtender::with_variant(self.gpu.clone(), variant, &self.scoring, &self.options);
        let extender = extender.unwrap_or_else(|error| panic!("{error}"));
        println!("# {variant}: kernels compiled in {:.2} s", start.elapsed().as_secs_f64());
        extender
    }

    fn check(&self, variant: Variant, n: usize) {
        let mut extender = self.extender(variant);
        let mut rng = SplitMix64(1);
        let (target, query, mut runs) = homologous_pair(&mut rng, 120_000, n / 4);
        for _ in 0..n / 4 {
            runs.extend(both_sides(rng.below(target.len()), rng.below(query.len())));
        }
        let found = gpu_sides(&mut extender, &target, &query, &runs);
        let expected = cpu_sides(&Ydrop::new(&self.scoring, &self.options), &target, &query, &runs);
        let left = assert_same(&variant.to_string(), &runs, &found, &expected);
        println!("# {variant}: {} runs equal the CPU's, {left} left to the CPU", runs.len() - left);
    }

    /// Bounds of runs over several stripes, which no goal ends early, against the CPU's scores.
    fn check_screen(&self, variant: Variant, n: usize) {
        let extender = self.extender(variant);
        let mut screen = extender.screen().unwrap_or_else(|error| panic!("{error}"));
        let mut rng = SplitMix64(5);
        let (target, query, runs) = islands(&mut rng, n / 2);
        let unit = extender.load(&target, &query).unwrap();
        let anchors: Vec<Anchor> = runs.iter().step_by(2).map(|run| run.anchor).collect();
        let screened = screen.run(&unit, &anchors, 1 << 28).unwrap_or_else(|error| panic!("{error}"));
        let sides = cpu_sides(&Ydrop::new(&self.scoring, &self.options), &target, &query, &runs);
        let (mut longest, mut excess, mut n_bounds) = (0, 0, 0);
        for (screened, sides) in screened.iter().zip(sides.chunks(2)) {
            let Screened::Dropped { left, right } = *screened else { continue };
            for (bound, side) in [(left, &sides[0]), (right, &sides[1])] {
                assert!(i64::from(bound) >= side.score, "{variant}: {bound} for {side:?}");
                longest = longest.max(side.rows);
                excess += i64::from(bound) - side.score;
                n_bounds += 1;
            }
        }
        let mean = excess / i64::max(n_bounds, 1);
        println!(
            "# screen R={}: {n_bounds} of {} sides bounded, up to {longest} rows, {mean} too high on average",
            variant.stripe_rows,
            runs.len()
        );
        assert!(longest > variant.lanes * variant.stripe_rows, "no run over two stripes was bounded");
    }

    /// Unrelated sequence everywhere: what a filterless seed set mostly holds.
    fn random_inspection(&self, variant: Variant, n: usize) {
        let mut extender = self.extender(variant);
        let mut rng = SplitMix64(2);
        let (target, query) = (rng.bases(1 << 22), rng.bases(1 << 22));
        let (target, query) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
        let runs: Vec<OneSided> =
            (0..n / 2).flat_map(|_| both_sides(rng.below(target.len()), rng.below(query.len()))).collect();
        self.inspect(&mut extender, "inspect random", &target, &query, &runs);
    }

    /// The screen on unrelated sequence, at seeds of two matching pairs.
    fn screen(&self, variant: Variant, n: usize) {
        let mut extender = self.extender(variant);
        let mut rng = SplitMix64(4);
        let (target, query) = (rng.bases(1 << 22), rng.bases(1 << 22));
        let mut anchors = Vec::with_capacity(n);
        while anchors.len() < n {
            let (t, q) = (rng.below(target.len() - 1), rng.below(query.len() - 1));
            if target[t..t + 2] == query[q..q + 2] {
                anchors.push(Anchor { target: t as u32, query: q as u32, hsp_score: 0 });
            }
        }
        let (target, query) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
        let unit = extender.load(&target, &query).unwrap();
        let mut screen = extender.screen().unwrap_or_else(|error| panic!("{error}"));
        screen.run(&unit, &anchors[..n.min(2000)], 3000).unwrap_or_else(|error| panic!("{error}"));
        let (screened, timings) = self.timed(
            &mut screen,
            |screen| screen.busy(),
            |screen| screen.run(&unit, &anchors, 3000).unwrap_or_else(|error| panic!("{error}")),
        );
        // Useful cells, from the exact sweep of a sample.
        let sample: Vec<OneSided> = anchors[..n.min(20_000)]
            .iter()
            .flat_map(|anchor| both_sides(anchor.target as usize, anchor.query as usize))
            .collect();
        let sides = extender.inspect(&unit, &sample).unwrap_or_else(|error| panic!("{error}"));
        for (pair, screened) in sides.chunks(2).zip(&screened) {
            if let ([Some(l), Some(r)], Screened::Dropped { left, right }) = (pair, screened) {
                let holds = l.side.score <= i64::from(*left) && r.side.score <= i64::from(*right);
                assert!(holds, "{l:?} {r:?} {screened:?}");
            }
        }
        let cells: u64 = sides.iter().flatten().map(|inspected| inspected.side.cells).sum();
        let cells = cells as f64 / sample.len() as f64 * (2 * n) as f64;
        let kept = screened.iter().filter(|screened| **screened == Screened::Kept).count();
        self.report(&format!("screen R={}", variant.stripe_rows), variant, 2 * n, cells, &timings, kept);
    }

    /// Homologous sequence: runs are long and nearly every row moves the best on.
    fn homologous(&self, variant: Variant, n: usize) {
        let mut extender = self.extender(variant);
        let mut rng = SplitMix64(3);
        let (target, query, runs) = homologous_pair(&mut rng, 4_000_000, n / 2);
        let sides = self.inspect(&mut extender, "inspect homologous", &target, &query, &runs);
        let inspected: Vec<(OneSided, &Inspected)> =
            runs.iter().zip(&sides).filter_map(|(&run, side)| Some((run, side.as_ref()?))).collect();
        let unit = extender.load(&target, &query).unwrap();
        // Cells up to the end row, in proportion: the trimmed executor stops there.
        let share = |side: &Side| side.cells as f64 * f64::from(side.rows) / f64::from(side.windows.rows.max(1));
        let cells: f64 = inspected.iter().map(|(_, inspected)| share(&inspected.side)).sum();
        let tasks = extender.budget_mut().tasks;
        let one_batch = GpuExtender::RESIDENT_RUNS as usize;
        for (what, switches, tasks) in [
            ("execute homologous", Switches::default(), tasks),
            ("the same, no bins", Switches { bins: false, ..Switches::default() }, tasks),
            ("the same, not trimmed", Switches { trims: false, ..Switches::default() }, tasks),
            ("the same, one batch at a time", Switches::default(), one_batch),
        ] {
            *extender.switches_mut() = switches;
            extender.budget_mut().tasks = tasks;
            let (scripts, timings) = self.timed(
                &mut extender,
                |extender| extender.counts().busy,
                |extender| extender.execute(&unit, &inspected).unwrap_or_else(|error| panic!("{error}")),
            );
            let left = scripts.iter().filter(|script| script.is_none()).count();
            self.report(what, variant, inspected.len(), cells, &timings, left);
        }
        println!("# executed by size class, in all: {:?}", extender.counts().executed);
    }

    fn inspect(
        &self,
        extender: &mut GpuExtender,
        what: &str,
        target: &SequenceSet,
        query: &SequenceSet,
        runs: &[OneSided],
    ) -> Vec<Option<Inspected>> {
        let unit = extender.load(target, query).unwrap();
        // The first batch warms the device up.
        extender.inspect(&unit, &runs[..runs.len().min(2000)]).unwrap_or_else(|error| panic!("{error}"));
        let (sides, timings) = self.timed(
            extender,
            |extender| extender.counts().busy,
            |extender| extender.inspect(&unit, runs).unwrap_or_else(|error| panic!("{error}")),
        );
        let cells: u64 = sides.iter().flatten().map(|inspected| inspected.side.cells).sum();
        let left = sides.iter().filter(|side| side.is_none()).count();
        self.report(what, *extender.variant(), runs.len(), cells as f64, &timings, left);
        sides
    }

    /// The answer of the last repeat, and the times of all.
    fn timed<D, T>(
        &self,
        device: &mut D,
        busy: impl Fn(&D) -> Duration,
        mut work: impl FnMut(&mut D) -> T,
    ) -> (T, Vec<Timing>) {
        let mut timings = Vec::new();
        loop {
            let (start, busy_before) = (Instant::now(), busy(device));
            let answer = work(device);
            let busy = (busy(device) - busy_before).as_secs_f64();
            timings.push(Timing { busy, wall: start.elapsed().as_secs_f64() });
            if timings.len() == self.repeats {
                return (answer, timings);
            }
        }
    }

    /// One line of the table.
    fn report(&self, what: &str, variant: Variant, runs: usize, cells: f64, timings: &[Timing], left: usize) {
        let mut timings = timings.to_vec();
        timings.sort_by(|a, b| a.busy.total_cmp(&b.busy));
        let (best, median) = (timings[0], timings[timings.len() / 2]);
        println!(
            "{what}\t{variant}\t{runs}\t{:.3}\t{:.4}\t{:.1}\t{:.1}\t{:.4}\t{:.0}\t{left}",
            cells / 1e9,
            best.busy,
            cells / 1e9 / best.busy,
            cells / 1e9 / median.busy,
            best.wall,
            runs as f64 / best.wall
        );
    }
}
