//! Checks the relaxed GPU kernels against their CPU twin, then measures them. Prints one TSV line per measurement.
//!
//! ```text
//! cargo bench --bench relaxed -- [device=auto|gpu:<n>|<name>] [runs=200000] [check=400]
//! ```
//! `useful` cells are those that LASTZ itself evaluates (lastz-semantics 5.3, 5.10), as the exact inspector counts them on
//! a sample of the same runs; `computed` are all that the relaxed inspector touches.

#[path = "../tests/gpu_support/mod.rs"]
mod gpu_support;

use std::time::Instant;

use fastz::cpu::Ydrop;
use fastz::cpu::ydrop::SideProblem;
use fastz::extend::Side;
use fastz::gpu::variant::Variant;
use fastz::gpu::{AdapterChoice, Gpu, GpuExtender, InspectedRelaxed, OneSided, RelaxedExtender};
use fastz::options::GappedOptions;
use fastz::scoring::Scoring;
use fastz::sequence::SequenceSet;
use gpu_support::{SplitMix64, both_sides, homologous_pair};

fn main() {
    let setting = |name: &str| {
        let prefix = format!("{name}=");
        std::env::args().find_map(|arg| arg.strip_prefix(&prefix).map(str::to_string))
    };
    let number = |name: &str, default: usize| setting(name).map_or(default, |n| n.parse().expect("a number"));
    let device = setting("device").unwrap_or_else(|| "auto".to_string());
    let choice = AdapterChoice::from_option(&device).expect("a GPU, not cpu");
    let gpu = Gpu::open(&choice).unwrap_or_else(|error| panic!("{error}"));
    println!("# {}", gpu.name());
    let bench = Bench { gpu, scoring: Scoring::default(), options: GappedOptions::default() };
    let chosen = Variant::for_stripes(bench.gpu.capabilities());
    bench.check(chosen, number("check", 400));
    println!("what\tvariant\truns\tuseful Gcells\tdevice s\tuseful GCUPS\tcomputed GCUPS\twall s\truns/s\teager");
    for stripe_rows in [chosen.stripe_rows, 4, 1] {
        bench.random(Variant { stripe_rows, ..chosen }, number("runs", 200_000));
    }
    bench.homologous(chosen, number("runs", 200_000) / 20);
}

struct Bench {
    gpu: Gpu,
    scoring: Scoring,
    options: GappedOptions,
}

impl Bench {
    fn extender(&self, variant: Variant) -> RelaxedExtender {
        let start = Instant::now();
        let extender = RelaxedExtender::with_variant(self.gpu.clone(), variant, &self.scoring, &self.options);
        let extender = extender.unwrap_or_else(|error| panic!("{error}"));
        println!("# {}: kernels compiled in {:.2} s", shape(variant), start.elapsed().as_secs_f64());
        extender
    }

    fn check(&self, variant: Variant, n: usize) {
        let mut extender = self.extender(variant);
        let mut rng = SplitMix64(1);
        let (target, query, mut runs) = homologous_pair(&mut rng, 120_000, n / 4);
        for _ in 0..n / 4 {
            runs.extend(both_sides(rng.below(target.len()), rng.below(query.len())));
        }
        let unit = extender.load(&target, &query).unwrap();
        let inspected = extender.inspect(&unit, &runs).unwrap_or_else(|error| panic!("{error}"));
        let done: Vec<(OneSided, &InspectedRelaxed)> =
            runs.iter().zip(&inspected).filter_map(|(&run, found)| Some((run, found.as_ref()?))).collect();
        let scripts = extender.execute(&unit, &done).unwrap_or_else(|error| panic!("{error}"));
        let (ydrop, mut workspace) = (Ydrop::new(&self.scoring, &self.options), Default::default());
        for ((run, found), script) in done.iter().zip(scripts) {
            let problem = SideProblem { target: &target, query: &query, anchor: run.anchor, direction: run.direction };
            let expected = Side { cells: 0, ..ydrop.run_relaxed(&problem, &mut workspace) };
            assert_eq!(Side { script: script.unwrap(), ..found.side.clone() }, expected, "{variant}: {run:?}");
        }
        println!("# {}: {} of {} runs equal the CPU's, the rest left to it", shape(variant), done.len(), runs.len());
    }

    /// Unrelated sequence everywhere: what a filterless seed set mostly holds.
    fn random(&self, variant: Variant, n: usize) {
        let mut rng = SplitMix64(2);
        let (target, query) = (rng.bases(1 << 22), rng.bases(1 << 22));
        let (target, query) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
        let runs: Vec<OneSided> =
            (0..n / 2).flat_map(|_| both_sides(rng.below(target.len()), rng.below(query.len()))).collect();
        self.inspect(&mut self.extender(variant), "inspect random", &target, &query, &runs);
    }

    /// Homologous sequence: runs are long and nearly every row moves the best on.
    fn homologous(&self, variant: Variant, n: usize) {
        let mut extender = self.extender(variant);
        let mut rng = SplitMix64(3);
        let (target, query, runs) = homologous_pair(&mut rng, 4_000_000, n / 2);
        let (inspected, cells) = self.inspect(&mut extender, "inspect homologous", &target, &query, &runs);
        let done: Vec<(OneSided, &InspectedRelaxed)> =
            runs.iter().zip(&inspected).filter_map(|(&run, found)| Some((run, found.as_ref()?))).collect();
        let unit = extender.load(&target, &query).unwrap();
        let before = extender.counts();
        let start = Instant::now();
        extender.execute(&unit, &done).unwrap_or_else(|error| panic!("{error}"));
        let (wall, busy) = (start.elapsed().as_secs_f64(), (extender.counts().busy - before.busy).as_secs_f64());
        println!("execute homologous\t{}\t{}\t\t{busy:.4}\t\t\t{wall:.4}", shape(variant), done.len());
        println!("# {cells:.3e} useful cells inspected; executed by size class: {:?}", extender.counts().executed);
    }

    /// Returns what was found and the useful cells.
    fn inspect(
        &self,
        extender: &mut RelaxedExtender,
        what: &str,
        target: &SequenceSet,
        query: &SequenceSet,
        runs: &[OneSided],
    ) -> (Vec<Option<InspectedRelaxed>>, f64) {
        let unit = extender.load(target, query).unwrap();
        // The first batches warm the device up and find the length of a dispatch.
        extender.inspect(&unit, &runs[..runs.len().min(40_000)]).unwrap_or_else(|error| panic!("{error}"));
        let before = extender.counts();
        let start = Instant::now();
        let found = extender.inspect(&unit, runs).unwrap_or_else(|error| panic!("{error}"));
        let wall = start.elapsed().as_secs_f64();
        let after = extender.counts();
        let busy = (after.busy - before.busy).as_secs_f64();
        let computed = (after.computed_cells - before.computed_cells) as f64;
        let cells = self.useful_cells(target, query, runs);
        println!(
            "{what}\t{}\t{}\t{:.3}\t{busy:.4}\t{:.1}\t{:.1}\t{wall:.4}\t{:.0}\t{}",
            shape(*extender.variant()),
            runs.len(),
            cells / 1e9,
            cells / 1e9 / busy,
            computed / 1e9 / busy,
            runs.len() as f64 / wall,
            after.eager - before.eager
        );
        (found, cells)
    }

    fn useful_cells(&self, target: &SequenceSet, query: &SequenceSet, runs: &[OneSided]) -> f64 {
        let mut exact =
            GpuExtender::new(self.gpu.clone(), &self.scoring, &self.options).unwrap_or_else(|error| panic!("{error}"));
        let unit = exact.load(target, query).unwrap();
        let sample = &runs[..runs.len().min(20_000)];
        let sides = exact.inspect(&unit, sample).unwrap_or_else(|error| panic!("{error}"));
        let cells: u64 = sides.iter().flatten().map(|inspected| inspected.side.cells).sum();
        cells as f64 / sample.len() as f64 * runs.len() as f64
    }
}

fn shape(variant: Variant) -> String {
    format!("{:?} of {} lanes x {} rows", variant.exchange, variant.lanes, variant.stripe_rows)
}
