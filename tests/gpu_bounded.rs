//! Runs that accepted blocks confine: the GPU kernels against the CPU oracle.

mod gpu_support;

use fastz::alignment::Anchor;
use fastz::cpu::Ydrop;
use fastz::cpu::ydrop::{SideProblem, Workspace};
use fastz::extend::bounds::AcceptedBlocks;
use fastz::extend::side::Side;
use fastz::extend::stitch::stitch;
use fastz::gpu::variant::Variant;
use fastz::gpu::{BoundedRun, GpuExtender, Inspected, OneSided};
use fastz::options::GappedOptions;
use fastz::scoring::Scoring;
use fastz::sequence::SequenceSet;
use gpu_support::{SplitMix64, both_sides, gpu_or_skip};

/// Copies of one family of repeats in both sequences: extensions run into each other's blocks all the time.
fn repeats(rng: &mut SplitMix64) -> (SequenceSet, SequenceSet, Vec<Anchor>) {
    let family = rng.bases(180);
    let (mut target, mut query) = (Vec::new(), Vec::new());
    let (mut in_target, mut in_query) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        in_target.push(target.len());
        target.extend(rng.mutated(&family, 12));
        let spacer = rng.below(90);
        target.extend(rng.bases(spacer));
        in_query.push(query.len());
        query.extend(rng.mutated(&family, 12));
        let spacer = rng.below(90);
        query.extend(rng.bases(spacer));
    }
    let mut anchors = Vec::new();
    for &t in &in_target {
        for &q in &in_query {
            let shift = 20 + rng.below(100);
            anchors.push(Anchor { target: (t + shift) as u32, query: (q + shift) as u32, hsp_score: 0 });
        }
    }
    anchors.retain(|a| (a.target as usize) < target.len() && (a.query as usize) < query.len());
    (SequenceSet::single("t", &target), SequenceSet::single("q", &query), anchors)
}

/// Extends anchors one by one under the blocks accepted before; every bounded run is repeated on the GPU.
fn check(test: &str, variant: Variant, seed: u64) {
    let Some(gpu) = gpu_or_skip(test) else { return };
    let scoring = Scoring { gap_open: 300, gap_extend: 40, ..Scoring::default() };
    let options = GappedOptions { y_drop: 3000, ..GappedOptions::default() };
    let mut extender = GpuExtender::with_variant(gpu, variant, &scoring, &options).unwrap();
    let mut rng = SplitMix64(seed);
    let (target, query, anchors) = repeats(&mut rng);
    let unit = extender.load(&target, &query).unwrap();
    let ydrop = Ydrop::new(&scoring, &options).scalar();
    let mut workspace = Workspace::default();
    let accepted = AcceptedBlocks::default();
    let (mut compared, mut differ_from_unbounded) = (0, 0);
    for anchor in anchors {
        if accepted.covers(&anchor) {
            continue;
        }
        let runs = both_sides(anchor.target as usize, anchor.query as usize);
        let mut run_cpu = |run: &OneSided, accepted: Option<&AcceptedBlocks>| {
            let problem = SideProblem { target: &target, query: &query, anchor, direction: run.direction };
            let bounds =
                accepted.and_then(|accepted| accepted.side_bounds(&anchor, run.direction, &accepted.confiners()));
            ydrop.run(&problem, bounds, &mut workspace)
        };
        let expected: Vec<Side> = runs.iter().map(|run| run_cpu(run, Some(&accepted))).collect();
        differ_from_unbounded += runs.iter().zip(&expected).filter(|(run, e)| run_cpu(run, None) != **e).count();
        let confiners = accepted.confiners();
        let bounded: Vec<BoundedRun> = match accepted.is_empty() {
            true => Vec::new(),
            false => runs.iter().map(|&run| BoundedRun { run, likely_rows: 100, confiners: &confiners }).collect(),
        };
        let inspected = extender.inspect_bounded(&unit, &bounded, &accepted).unwrap();
        let pairs: Vec<(OneSided, &Inspected)> = bounded
            .iter()
            .zip(&inspected)
            .map(|(bounded, inspected)| (bounded.run, inspected.as_ref().expect("the ring is wide enough")))
            .collect();
        let scripts = extender.execute(&unit, &pairs).unwrap();
        for (((run, inspected), script), expected) in pairs.iter().zip(scripts).zip(&expected) {
            let found = Side { script: script.unwrap(), ..inspected.side.clone() };
            assert_eq!(&found, expected, "{variant}, seed {seed}: {run:?} with {} blocks", accepted.len());
            compared += 1;
        }
        let block = stitch(&anchor, &expected[0], &expected[1], &target, &query, &scoring);
        if let Some(block) = block.filter(|block| block.score >= 2000) {
            accepted.push(&block);
        }
    }
    assert!(compared > 10 && differ_from_unbounded > 2, "seed {seed}: {compared}, {differ_from_unbounded}");
}

#[test]
fn bounds_and_masks_of_accepted_blocks() {
    let test = "bounds_and_masks_of_accepted_blocks";
    for seed in 0..6 {
        let Some(gpu) = gpu_or_skip(test) else { return };
        check(test, gpu.variant(512), seed);
    }
}

#[test]
fn bounds_and_masks_in_the_workgroup_variant() {
    check("bounds_and_masks_in_the_workgroup_variant", Variant::workgroup(32, 16), 20);
}
