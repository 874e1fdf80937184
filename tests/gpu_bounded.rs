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
use fastz::sequence::{Partition, SEPARATOR, SequenceSet};
use gpu_support::{SplitMix64, both_sides, gpu_or_skip};

/// Copies of one family of repeats in both arrays: extensions run into each other's blocks all the time. With `is_multiple`
/// the query holds three sequences, and copies lie beside their ends.
fn repeats(rng: &mut SplitMix64, is_multiple: bool) -> (SequenceSet, SequenceSet, Vec<Anchor>) {
    let family = rng.bases(180);
    let (mut target, mut query) = (Vec::new(), Vec::new());
    let (mut in_target, mut in_query) = (Vec::new(), Vec::new());
    for copy in 0..5 {
        in_target.push(target.len());
        target.extend(rng.mutated(&family, 12));
        let spacer = rng.below(90);
        target.extend(rng.bases(spacer));
        if is_multiple && copy % 2 == 0 {
            query.push(SEPARATOR);
            let spacer = rng.below(90);
            query.extend(rng.bases(spacer));
        }
        in_query.push(query.len());
        query.extend(rng.mutated(&family, 12));
        let spacer = rng.below(90);
        query.extend(rng.bases(spacer));
    }
    if is_multiple {
        query.push(SEPARATOR);
    }
    let mut anchors = Vec::new();
    for &t in &in_target {
        for &q in &in_query {
            let shift = 20 + rng.below(100);
            anchors.push(Anchor { target: (t + shift) as u32, query: (q + shift) as u32, hsp_score: 0 });
        }
    }
    anchors.retain(|a| (a.target as usize) < target.len());
    anchors.retain(|a| query.get(a.query as usize).is_some_and(|&base| base != SEPARATOR));
    // So that some have earlier blocks on both sides.
    for ix in (1..anchors.len()).rev() {
        anchors.swap(ix, rng.below(ix + 1));
    }
    let query = if is_multiple { partitioned(&query) } else { SequenceSet::single("q", &query) };
    (SequenceSet::single("t", &target), query, anchors)
}

/// The sequences between the separators.
fn partitioned(bases: &[u8]) -> SequenceSet {
    let separators: Vec<usize> = (0..bases.len()).filter(|&ix| bases[ix] == SEPARATOR).collect();
    let ranges = separators.windows(2).map(|pair| pair[0] + 1..pair[1]);
    let partitions = ranges.map(|range| Partition { range, ..Partition::default() }).collect();
    SequenceSet { partitions, is_partitioned: true, ..SequenceSet::single("q", bases) }
}

/// Extends anchors one by one under the blocks accepted before; every bounded run is repeated on the GPU. It may leave
/// those to the CPU that reach the end of a query sequence, where a block in another one may confine them.
fn check(test: &str, variant: Variant, is_multiple: bool, seed: u64) {
    let Some(gpu) = gpu_or_skip(test) else { return };
    let scoring = Scoring { gap_open: 300, gap_extend: 40, ..Scoring::default() };
    let options = GappedOptions { y_drop: 3000, ..GappedOptions::default() };
    let mut extender = GpuExtender::with_variant(gpu, variant, &scoring, &options).unwrap();
    let mut rng = SplitMix64(seed);
    let (target, query, anchors) = repeats(&mut rng, is_multiple);
    let unit = extender.load(&target, &query).unwrap();
    let ydrop = Ydrop::new(&scoring, &options).scalar();
    let mut workspace = Workspace::default();
    let accepted = AcceptedBlocks::default();
    let (mut compared, mut differ_from_unbounded, mut at_end, mut left) = (0, 0, 0, 0);
    for anchor in anchors {
        if accepted.covers(&anchor) {
            continue;
        }
        let runs = both_sides(anchor.target as usize, anchor.query as usize);
        let problem = |run: &OneSided| SideProblem { target: &target, query: &query, anchor, direction: run.direction };
        let mut run_cpu = |run: &OneSided, accepted: Option<&AcceptedBlocks>| {
            let bounds =
                accepted.and_then(|accepted| accepted.side_bounds(&anchor, run.direction, &accepted.confiners()));
            ydrop.run(&problem(run), bounds, &mut workspace)
        };
        let expected: Vec<Side> = runs.iter().map(|run| run_cpu(run, Some(&accepted))).collect();
        differ_from_unbounded += runs.iter().zip(&expected).filter(|(run, e)| run_cpu(run, None) != **e).count();
        let confiners = accepted.confiners();
        let bounded: Vec<BoundedRun> = match accepted.is_empty() {
            true => Vec::new(),
            false => runs.iter().map(|&run| BoundedRun { run, likely_rows: 100, confiners: &confiners }).collect(),
        };
        let inspected = extender.inspect_bounded(&unit, &bounded, &accepted).unwrap();
        let found = bounded.iter().map(|bounded| bounded.run).zip(&inspected);
        let pairs: Vec<(OneSided, &Inspected)> =
            found.clone().filter_map(|(run, inspected)| Some((run, inspected.as_ref()?))).collect();
        let mut scripts = extender.execute(&unit, &pairs).unwrap().into_iter();
        for ((run, inspected), expected) in found.zip(&expected) {
            let what = format!("{variant}, seed {seed}: {run:?} with {} blocks", accepted.len());
            let (_, columns) = problem(&run).extent();
            let is_at_end = expected.windows.hulls.iter().any(|hull| hull.1 as usize > columns);
            let Some(inspected) = inspected else {
                assert!(is_multiple && is_at_end, "{what}: left to the CPU");
                left += 1;
                continue;
            };
            let script = scripts.next().flatten().unwrap();
            assert_eq!(&Side { script, ..inspected.side.clone() }, expected, "{what}");
            compared += 1;
            at_end += usize::from(is_at_end);
        }
        let block = stitch(&anchor, &expected[0], &expected[1], &target, &query, &scoring);
        if let Some(block) = block.filter(|block| block.score >= 2000) {
            accepted.push(&block);
        }
    }
    let tally = format!("seed {seed}: {compared}, {differ_from_unbounded}, {at_end}, {left}");
    assert!(compared > 10 && differ_from_unbounded > 2 && at_end > 2, "{tally}");
    assert!((left > 2) == is_multiple && extender.counts().out_of_range == left, "{tally}");
}

#[test]
fn bounds_and_masks_of_accepted_blocks() {
    let test = "bounds_and_masks_of_accepted_blocks";
    for seed in 0..6 {
        let Some(gpu) = gpu_or_skip(test) else { return };
        check(test, gpu.variant(512), false, seed);
    }
}

#[test]
fn bounds_and_masks_in_the_workgroup_variant() {
    check("bounds_and_masks_in_the_workgroup_variant", Variant::workgroup(32, 16), false, 20);
}

// LASTZ counts cells past the end of a query sequence where a block in another confines the run; the kernel does not.
#[test]
fn blocks_in_other_query_sequences() {
    let test = "blocks_in_other_query_sequences";
    for seed in 30..33 {
        let Some(gpu) = gpu_or_skip(test) else { return };
        check(test, gpu.variant(512), true, seed);
        check(test, Variant::workgroup(32, 16), true, seed);
    }
}
