//! Checks the relaxed GPU kernels against their CPU twin, then measures them, with all of the paper's optimisations and
//! without one of them at a time. Prints one TSV line per measurement.
//!
//! ```text
//! cargo bench --bench relaxed -- [device=auto|gpu:<n>|<name>] [runs=200000] [check=400] [repeats=5]
//! ```
//! Times are the best of the repeats: clocks take a while to rise. `useful` cells are those that LASTZ itself evaluates
//! (lastz-semantics 5.3, 5.10), as the exact inspector counts them on a sample of the same runs; `computed` are all that
//! the relaxed inspector touches. Every path is executed, unless it is eager.

mod arguments;
#[path = "../tests/gpu_support/mod.rs"]
mod gpu_support;

use std::time::Instant;

use fastz::cpu::Ydrop;
use fastz::cpu::ydrop::SideProblem;
use fastz::extend::Side;
use fastz::gpu::variant::Variant;
use fastz::gpu::{Gpu, GpuExtender, InspectedRelaxed, OneSided, RelaxedExtender, Switches};
use fastz::options::GappedOptions;
use fastz::scoring::Scoring;
use fastz::sequence::SequenceSet;
use gpu_support::{SplitMix64, both_sides, homologous_pair};

fn main() {
    let number = |name: &str, default: usize| arguments::number(name).unwrap_or(default);
    let gpu = arguments::open_gpu();
    let bench = Bench { gpu, scoring: Scoring::default(), options: GappedOptions::default() };
    let forms = forms(Variant::for_stripes(bench.gpu.capabilities()));
    let workloads = [bench.random(number("runs", 200_000)), bench.homologous(number("runs", 200_000) / 20)];
    println!("what\twork\tvariant\truns\tuseful Gcells\tdevice s\tuseful GCUPS\tcomputed GCUPS\twall s\truns/s\teager");
    for form in forms {
        let mut extender = bench.extender(&form);
        bench.check(&form, &mut extender, number("check", 400));
        let repeats = number("repeats", 5).max(1);
        workloads.iter().for_each(|workload| measure(&form, &mut extender, workload, repeats));
    }
}

/// A form of the kernels and of their host, as it is or without one of the paper's optimisations.
struct Form {
    what: &'static str,
    variant: Variant,
    switches: Switches,
    /// Most runs of a batch, if that is not left to the budget.
    batch: Option<usize>,
}

/// Those that a device can run.
fn forms(variant: Variant) -> Vec<Form> {
    let form = |what, variant| Form { what, variant, switches: Switches::default(), batch: None };
    let all_on = Switches::default();
    let mut forms = vec![
        form("as it is", variant),
        form("R = 4", Variant { stripe_rows: 4, ..variant }),
        form("R = 1", Variant { stripe_rows: 1, ..variant }),
        form("no cyclic buffers", Variant { has_cyclic_buffers: false, ..variant }),
        form("R = 1, no cyclic buffers", Variant { stripe_rows: 1, has_cyclic_buffers: false, ..variant }),
        form("no eager traceback", Variant { has_eager_tile: false, ..variant }),
        Form { switches: Switches { trims: false, ..all_on }, ..form("not trimmed", variant) },
        Form { switches: Switches { bins: false, ..all_on }, ..form("no bins", variant) },
        Form { batch: Some(RelaxedExtender::RESIDENT_RUNS as usize), ..form("one batch at a time", variant) },
    ];
    forms.retain(|form| form.variant.is_relaxed());
    forms
}

/// Runs between two sequences.
struct Workload {
    name: &'static str,
    target: SequenceSet,
    query: SequenceSet,
    runs: Vec<OneSided>,
    useful_cells: f64,
}

struct Bench {
    gpu: Gpu,
    scoring: Scoring,
    options: GappedOptions,
}

impl Bench {
    fn extender(&self, form: &Form) -> RelaxedExtender {
        let start = Instant::now();
        let extender = RelaxedExtender::with_variant(self.gpu.clone(), form.variant, &self.scoring, &self.options);
        let mut extender = extender.unwrap_or_else(|error| panic!("{error}"));
        *extender.switches_mut() = form.switches;
        let tasks = &mut extender.budget_mut().tasks;
        *tasks = form.batch.unwrap_or(*tasks);
        println!("# {}: kernels compiled in {:.2} s", form.what, start.elapsed().as_secs_f64());
        extender
    }

    fn check(&self, form: &Form, extender: &mut RelaxedExtender, n: usize) {
        let mut rng = SplitMix64(1);
        let (target, query, mut runs) = homologous_pair(&mut rng, 120_000, n / 4);
        for _ in 0..n / 4 {
            runs.extend(both_sides(rng.below(target.len()), rng.below(query.len())));
        }
        let unit = extender.load(&target, &query).unwrap();
        let inspected = extender.inspect(&unit, &runs).unwrap_or_else(|error| panic!("{error}"));
        let done = done(&runs, &inspected);
        let scripts = extender.execute(&unit, &done).unwrap_or_else(|error| panic!("{error}"));
        let (ydrop, mut workspace) = (Ydrop::new(&self.scoring, &self.options), Default::default());
        for ((run, found), script) in done.iter().zip(scripts) {
            let problem = SideProblem { target: &target, query: &query, anchor: run.anchor, direction: run.direction };
            let expected = Side { cells: 0, ..ydrop.run_relaxed(&problem, &mut workspace) };
            assert_eq!(Side { script: script.unwrap(), ..found.side.clone() }, expected, "{}: {run:?}", form.what);
        }
        println!("# {}: {} of {} runs equal the CPU's, the rest left to it", form.what, done.len(), runs.len());
    }

    /// Unrelated sequence everywhere: what a filterless seed set mostly holds.
    fn random(&self, n: usize) -> Workload {
        let mut rng = SplitMix64(2);
        let (target, query) = (rng.bases(1 << 22), rng.bases(1 << 22));
        let (target, query) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
        let runs = (0..n / 2).flat_map(|_| both_sides(rng.below(target.len()), rng.below(query.len()))).collect();
        self.workload("random", target, query, runs)
    }

    /// Homologous sequence: runs are long and nearly every row moves the best on.
    fn homologous(&self, n: usize) -> Workload {
        let (target, query, runs) = homologous_pair(&mut SplitMix64(3), 4_000_000, n / 2);
        self.workload("homologous", target, query, runs)
    }

    fn workload(&self, name: &'static str, target: SequenceSet, query: SequenceSet, runs: Vec<OneSided>) -> Workload {
        let mut exact =
            GpuExtender::new(self.gpu.clone(), &self.scoring, &self.options).unwrap_or_else(|error| panic!("{error}"));
        let unit = exact.load(&target, &query).unwrap();
        let sample = &runs[..runs.len().min(20_000)];
        let sides = exact.inspect(&unit, sample).unwrap_or_else(|error| panic!("{error}"));
        let cells: u64 = sides.iter().flatten().map(|inspected| inspected.side.cells).sum();
        let useful_cells = cells as f64 / sample.len() as f64 * runs.len() as f64;
        drop(unit);
        Workload { name, target, query, runs, useful_cells }
    }
}

/// The runs that were not left to the CPU.
fn done<'a>(runs: &[OneSided], inspected: &'a [Option<InspectedRelaxed>]) -> Vec<(OneSided, &'a InspectedRelaxed)> {
    runs.iter().zip(inspected).filter_map(|(&run, found)| Some((run, found.as_ref()?))).collect()
}

/// Inspects and executes all runs. Prints a line for each.
fn measure(form: &Form, extender: &mut RelaxedExtender, workload: &Workload, repeats: usize) {
    let Workload { name, target, query, runs, useful_cells } = workload;
    let cells = useful_cells / 1e9;
    let unit = extender.load(target, query).unwrap();
    // The first batches find the length of a dispatch.
    extender.inspect(&unit, &runs[..runs.len().min(40_000)]).unwrap_or_else(|error| panic!("{error}"));
    let before = extender.counts();
    let (inspected, busy, wall) =
        best_of(repeats, extender, |extender| extender.inspect(&unit, runs).unwrap_or_else(|error| panic!("{error}")));
    let after = extender.counts();
    let computed = (after.computed_cells - before.computed_cells) as f64 / 1e9 / repeats as f64;
    let label = |work: &str| format!("{}\t{work} {name}\t{}", form.what, shape(form.variant));
    println!(
        "{}\t{}\t{cells:.3}\t{busy:.4}\t{:.1}\t{:.1}\t{wall:.4}\t{:.0}\t{}",
        label("inspect"),
        runs.len(),
        cells / busy,
        computed / busy,
        runs.len() as f64 / wall,
        (after.eager - before.eager) / repeats as u64
    );
    let done = done(runs, &inspected);
    let (_, busy, wall) =
        best_of(repeats, extender, |extender| extender.execute(&unit, &done).unwrap_or_else(|error| panic!("{error}")));
    let rate = done.len() as f64 / wall;
    println!("{}\t{}\t\t{busy:.4}\t\t\t{wall:.4}\t{rate:.0}\t", label("execute"), done.len());
}

/// The answer of the last repeat, and the least seconds on the device and in all.
fn best_of<T>(
    repeats: usize,
    extender: &mut RelaxedExtender,
    work: impl Fn(&mut RelaxedExtender) -> T,
) -> (T, f64, f64) {
    let mut once = || {
        let (before, start) = (extender.counts().busy, Instant::now());
        let answer = work(extender);
        (answer, (extender.counts().busy - before).as_secs_f64(), start.elapsed().as_secs_f64())
    };
    let first = once();
    (1..repeats).fold(first, |(_, busy, wall), _| {
        let (answer, its_busy, its_wall) = once();
        (answer, busy.min(its_busy), wall.min(its_wall))
    })
}

fn shape(variant: Variant) -> String {
    format!("{:?} of {} lanes x {} rows", variant.exchange, variant.lanes, variant.stripe_rows)
}
