//! The relaxed GPU kernels against their CPU twin: score, end and script of every run are equal.

mod gpu_support;

use fastz::cpu::Ydrop;
use fastz::cpu::ydrop::SideProblem;
use fastz::extend::Side;
use fastz::gpu::variant::Variant;
use fastz::gpu::{GpuCounts, InspectedRelaxed, OneSided, RelaxedExtender};
use fastz::options::{Contract, GappedOptions};
use fastz::scoring::Scoring;
use fastz::sequence::{Partition, SequenceSet};
use gpu_support::{SplitMix64, both_sides, gpu_or_skip, patchwork_pair, runs_at};

struct Setting {
    scoring: Scoring,
    options: GappedOptions,
}

fn setting(gap_open: i32, gap_extend: i32, y_drop: i32) -> Setting {
    let scoring = Scoring { gap_open, gap_extend, ..Scoring::default() };
    Setting { scoring, options: GappedOptions { y_drop, contract: Contract::Relaxed, ..GappedOptions::default() } }
}

/// What the tests change about an extender.
type Tuning = dyn Fn(&mut RelaxedExtender);

/// Compares all runs. Returns the counts, or `None` without a GPU.
fn compare_tuned(
    what: &str,
    variant: Option<Variant>,
    setting: &Setting,
    (target, query): (&SequenceSet, &SequenceSet),
    runs: &[OneSided],
    tune: &Tuning,
) -> Option<GpuCounts> {
    let gpu = gpu_or_skip(what)?;
    let Setting { scoring, options } = setting;
    let variant = variant.unwrap_or_else(|| Variant::for_stripes(gpu.capabilities()));
    let mut extender = RelaxedExtender::with_variant(gpu, variant, scoring, options).unwrap();
    tune(&mut extender);
    let unit = extender.load(target, query).unwrap();
    let inspected = extender.inspect(&unit, runs).unwrap();
    let done: Vec<(OneSided, &InspectedRelaxed)> =
        runs.iter().zip(&inspected).filter_map(|(&run, found)| Some((run, found.as_ref()?))).collect();
    let scripts = extender.execute(&unit, &done).unwrap();
    let (ydrop, mut workspace) = (Ydrop::new(scoring, options), Default::default());
    for ((run, found), script) in done.iter().zip(scripts) {
        let problem = SideProblem { target, query, anchor: run.anchor, direction: run.direction };
        let expected = Side { cells: 0, ..ydrop.run_relaxed(&problem, &mut workspace) };
        let found = Side { script: script.unwrap(), ..found.side.clone() };
        assert_eq!(found, expected, "{what}, {variant}: {run:?} of {:?}", problem.extent());
    }
    Some(extender.counts())
}

fn compare(
    what: &str,
    variant: Option<Variant>,
    setting: &Setting,
    pair: (&SequenceSet, &SequenceSet),
    runs: &[OneSided],
) -> Option<GpuCounts> {
    compare_tuned(what, variant, setting, pair, runs, &|_| {})
}

fn sets(target: &[u8], query: &[u8]) -> (SequenceSet, SequenceSet) {
    (SequenceSet::single("t", target), SequenceSet::single("q", query))
}

fn check_homologous(what: &str, variant: Option<Variant>, setting: &Setting, seeds: std::ops::Range<u64>) {
    check_homologous_tuned(what, variant, setting, seeds, &|_| {});
}

/// Returns the counts of each seed.
fn check_homologous_tuned(
    what: &str,
    variant: Option<Variant>,
    setting: &Setting,
    seeds: std::ops::Range<u64>,
    tune: &Tuning,
) -> Vec<GpuCounts> {
    let mut all = Vec::new();
    for seed in seeds {
        let mut rng = SplitMix64(seed);
        let (target, query, mut anchors) = patchwork_pair(&mut rng, 6, 700);
        for _ in 0..6 {
            anchors.push((rng.below(target.len()), rng.below(query.len())));
        }
        let (target, query) = sets(&target, &query);
        let runs = runs_at(&anchors);
        let what = format!("{what}, seed {seed}");
        let Some(counts) = compare_tuned(&what, variant, setting, (&target, &query), &runs, tune) else { break };
        assert_eq!((counts.too_wide, counts.out_of_range), (0, 0), "{what}: all runs on the GPU");
        assert!(counts.executed.iter().sum::<u64>() > 0, "{what}: {counts:?}");
        all.push(counts);
    }
    all
}

#[test]
fn default_scores() {
    check_homologous("default_scores", None, &setting(400, 30, 9400), 0..4);
}

#[test]
fn steep_gaps_small_drop_and_free_openings() {
    check_homologous("steep_gaps_small_drop", None, &setting(400, 100, 1500), 10..14);
    check_homologous("free_openings", None, &setting(0, 120, 1200), 20..23);
}

#[test]
fn workgroup_variants_and_other_lanes() {
    let setting = setting(200, 60, 3000);
    let of_rows = |lanes, stripe_rows| Some(Variant { stripe_rows, ..Variant::workgroup(lanes, 8) });
    check_homologous("workgroup of 32 x 8", of_rows(32, 8), &setting, 30..31);
    check_homologous("workgroup of 64 x 4", of_rows(64, 4), &setting, 31..32);
    check_homologous("workgroup of 8 x 8", of_rows(8, 8), &setting, 32..33);
    check_homologous("workgroup of 256 x 1", of_rows(256, 1), &setting, 33..34);
}

#[test]
fn subgroups_with_other_rows() {
    let test = "subgroups_with_other_rows";
    let Some(lanes) = gpu_or_skip(test).and_then(|gpu| gpu.capabilities().fixed_subgroup) else { return };
    for (stripe_rows, seed) in [(1, 40), (4, 41), (8, 42)] {
        let variant = Variant { stripe_rows, ..Variant::subgroup(lanes, 8) };
        // Stripes hold the eager tile.
        if variant.is_relaxed() {
            check_homologous(test, Some(variant), &setting(200, 60, 3000), seed..seed + 1);
        }
    }
}

/// The form that the adapter gets.
fn usual_variant(what: &str) -> Option<Variant> {
    gpu_or_skip(what).map(|gpu| Variant::for_stripes(gpu.capabilities()))
}

#[test]
fn the_papers_optimisations_change_nothing() {
    let what = "the_papers_optimisations_change_nothing";
    let Some(usual) = usual_variant(what) else { return };
    let setting = setting(400, 30, 3000);
    let with = |variant, tune: &Tuning| check_homologous_tuned(what, Some(variant), &setting, 45..47, tune);
    let total = |counts: &[GpuCounts], of: fn(&GpuCounts) -> u64| counts.iter().map(of).sum::<u64>();
    let executed = |counts: &GpuCounts| counts.executed.iter().sum::<u64>();
    let all = with(usual, &|_| {});

    let no_tile = with(Variant { has_eager_tile: false, ..usual }, &|_| {});
    assert!(total(&no_tile, executed) > total(&all, executed), "{no_tile:?}");
    assert!(total(&no_tile, |counts| counts.eager) < total(&all, |counts| counts.eager), "{no_tile:?}");

    with(Variant { has_cyclic_buffers: false, ..usual }, &|_| {});
    with(Variant { has_cyclic_buffers: false, ..Variant::workgroup(32, 8) }, &|_| {});
    with(Variant { has_cyclic_buffers: false, stripe_rows: 1, ..Variant::workgroup(32, 8) }, &|_| {});
    with(usual, &|extender| extender.switches_mut().bins = false);
    with(usual, &|extender| extender.switches_mut().trims = false);

    let one_at_a_time = with(usual, &|extender| extender.budget_mut().tasks = 5);
    assert!(total(&one_at_a_time, |counts| counts.dispatches) > total(&all, |counts| counts.dispatches));
}

#[test]
fn edges_of_sequences_and_sequences_shorter_than_a_stripe() {
    let mut rng = SplitMix64(50);
    let shared = rng.bases(150);
    let (target, query) = sets(&shared, &shared[..149]);
    let anchors = [(0, 0), (149, 148), (0, 148), (149, 0), (1, 1), (15, 15), (16, 16), (17, 17), (148, 147)];
    compare("edges_of_sequences", None, &setting(400, 30, 9400), (&target, &query), &runs_at(&anchors));
}

#[test]
fn ends_at_the_edges_of_the_eager_tile_and_of_size_classes() {
    let what = "ends_at_the_edges_of_the_eager_tile_and_of_size_classes";
    let mut rng = SplitMix64(55);
    for (len, eager, class) in [
        (15, 1, None),
        (16, 1, None),
        (17, 0, Some(0)),
        (255, 0, Some(0)),
        (256, 0, Some(0)),
        (257, 0, Some(0)),
        (511, 0, Some(0)),
        (512, 0, Some(0)),
        (513, 0, Some(1)),
    ] {
        let shared = rng.bases(len);
        // Nothing matches beyond the shared piece.
        let target = [b"A".as_slice(), &shared, &[b'A'; 300]].concat();
        let query = [b"A".as_slice(), &shared, &[b'C'; 300]].concat();
        let (target, query) = sets(&target, &query);
        let run = both_sides(0, 0)[1];
        let Some(counts) = compare(what, None, &setting(400, 30, 9400), (&target, &query), &[run]) else { return };
        let mut executed = [0; 8];
        class.into_iter().for_each(|class: usize| executed[class] = 1);
        assert_eq!((counts.eager, counts.executed), (eager, executed), "a path of {len} pairs");
    }
}

#[test]
fn tiles_that_paths_leave_and_enter_through_gaps() {
    let mut rng = SplitMix64(57);
    let mut anchors = Vec::new();
    let (mut target, mut query) = (Vec::new(), Vec::new());
    for case in 0..60 {
        anchors.push((target.len(), query.len()));
        let shared = rng.bases(8 + case % 12);
        let mut copy = shared.clone();
        let at = 2 + rng.below(5);
        let n_stray = 1 + rng.below(4);
        let stray = rng.bases(n_stray);
        match case % 2 {
            0 => drop(copy.splice(at..at, stray)),
            _ => drop(copy.drain(at..at + stray.len().min(3))),
        }
        target.extend(shared);
        query.extend(copy);
        target.extend(vec![b'A'; 40]);
        query.extend(vec![b'C'; 40]);
    }
    let (target, query) = sets(&target, &query);
    let mut setting = setting(20, 10, 300);
    setting.scoring = Scoring { gap_open: 20, gap_extend: 10, ..Scoring::default() };
    let counts = compare("tiles", None, &setting, (&target, &query), &runs_at(&anchors));
    assert!(counts.is_none_or(|counts| counts.eager > 40 && counts.executed[0] > 5), "{counts:?}");
}

#[test]
fn stripes_exactly_filled() {
    let mut rng = SplitMix64(58);
    for len in [8, 64, 255, 256, 257, 512, 513, 768] {
        let shared = rng.bases(len);
        let copy = rng.mutated(&shared, 30);
        let (target, query) = sets(&shared, &copy);
        let last = (len - 1, copy.len() - 1);
        compare("stripes_exactly_filled", None, &setting(400, 30, 2000), (&target, &query), &runs_at(&[(0, 0), last]));
    }
}

#[test]
fn tiny_sequences_all_n_and_ties() {
    let mut setting = setting(1, 1, 4);
    setting.scoring =
        Scoring::from_acgt(&[[1, -1, -1, -1], [-1, 1, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 1]], -1, -10, 1, 1);
    let pairs: [(&[u8], &[u8]); 5] = [
        (b"CGATTTACAGC", b"CGATTACAGG"),
        (b"A", b"A"),
        (b"NNNNNNNNNNNNNNNNNNNN", b"NNNNNNNNNNNNNNNN"),
        (b"ACACACACACACACACACACAC", b"CACACACACACACACACA"),
        (b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", b"AAAAAAAAAAAAAAAAAAAAAAAAA"),
    ];
    for (target, query) in pairs {
        let anchors: Vec<_> = (0..target.len()).flat_map(|t| (0..query.len()).map(move |q| (t, q))).collect();
        let (target, query) = sets(target, query);
        compare("tiny_sequences_all_n_and_ties", None, &setting, (&target, &query), &runs_at(&anchors));
    }
}

#[test]
fn scores_beyond_a_byte_and_letters_beyond_acgt() {
    let mut rng = SplitMix64(60);
    let (mut target, mut query, anchors) = patchwork_pair(&mut rng, 6, 700);
    target[50] = b'X';
    query[60] = b'R';
    let (target, query) = sets(&target, &query);
    let runs = runs_at(&anchors);
    compare("letters beyond ACGT", None, &setting(400, 30, 3000), (&target, &query), &runs);
    let mut setting = setting(800, 60, 9400);
    setting.scoring = Scoring::from_acgt(
        &[[191, -214, -131, -223], [-214, 200, -225, -131], [-131, -225, 200, -214], [-223, -131, -214, 191]],
        -100,
        -1000,
        800,
        60,
    );
    compare("scores beyond a byte", None, &setting, (&target, &query), &runs);
}

#[test]
fn partitions_end_runs() {
    let mut rng = SplitMix64(70);
    let bases = rng.bases(200);
    let joined = [&[0], &bases[..90], &[0], &bases[90..], &[0]].concat();
    let mut target = SequenceSet::single("t", &joined);
    target.is_partitioned = true;
    target.partitions =
        vec![Partition { range: 1..91, ..Default::default() }, Partition { range: 92..202, ..Default::default() }];
    let query = SequenceSet::single("q", &bases);
    let anchors = [(50, 49), (92, 90), (150, 148), (1, 0), (90, 89)];
    compare("partitions_end_runs", None, &setting(400, 30, 9400), (&target, &query), &runs_at(&anchors));
}

#[test]
fn runs_go_on_over_many_dispatches_and_small_batches() {
    let what = "runs_go_on_over_many_dispatches_and_small_batches";
    let mut rng = SplitMix64(80);
    let shared = rng.bases(1500);
    let copy = rng.mutated(&shared, 15);
    let (target, query) = sets(&shared, &copy);
    let runs = runs_at(&[(10, 10), (700, 690), (30, 20), (1400, 1390), (500, 800)]);
    let counts = compare_tuned(what, None, &setting(400, 60, 4000), (&target, &query), &runs, &|extender| {
        extender.set_step_budget(100);
        let budget = extender.budget_mut();
        (budget.tasks, budget.hulls, budget.link_words) = (3, 60, 200_000);
    });
    assert!(counts.is_none_or(|counts| counts.dispatches > 10), "{counts:?}");
}

/// A target and a query with the same 30 bases at both ends.
fn with_ends(rng: &mut SplitMix64, target: &[u8], query: &[u8]) -> (SequenceSet, SequenceSet) {
    let (left, right) = (rng.bases(30), rng.bases(30));
    sets(&[&left, target, &right].concat(), &[&left, query, &right].concat())
}

#[test]
fn long_runs_are_executed_in_parts() {
    let what = "long_runs_are_executed_in_parts";
    let mut rng = SplitMix64(85);
    let shared = rng.bases(7000);
    let copy = rng.mutated(&shared, 25);
    let (target, query) = with_ends(&mut rng, &shared, &copy);
    let runs = runs_at(&[(10, 10), (target.len() - 10, query.len() - 10), (3500, 3490)]);
    // Room for all rows that are kept, for some of them, for none.
    let parts = [1 << 16, 2000, 1].map(|kept_rows| {
        compare_tuned(what, None, &setting(400, 30, 5000), (&target, &query), &runs, &move |extender| {
            extender.set_step_budget(500);
            let budget = extender.budget_mut();
            (budget.tasks, budget.kept_rows) = (4, kept_rows);
        })
        .map(|counts| (counts.parts, counts.executed.iter().sum::<u64>()))
    });
    let [Some(all), Some(some), Some(none)] = parts else { return };
    assert!(all.0 > some.0 && some.0 > some.1 && none.0 == none.1, "{parts:?}");
    assert!(all.0 >= all.1 + 8, "{parts:?}");
    let not_trimmed = compare_tuned(what, None, &setting(400, 30, 5000), (&target, &query), &runs, &|extender| {
        extender.switches_mut().trims = false;
    });
    assert!(not_trimmed.is_some_and(|counts| counts.parts >= all.0), "{not_trimmed:?}");
}

#[test]
fn rows_of_another_inspection_are_not_used() {
    let what = "rows_of_another_inspection_are_not_used";
    let Some(gpu) = gpu_or_skip(what) else { return };
    let mut rng = SplitMix64(86);
    let shared = rng.bases(3000);
    let copy = rng.mutated(&shared, 15);
    let (target, query) = with_ends(&mut rng, &shared, &copy);
    let Setting { scoring, options } = setting(400, 60, 3000);
    let mut extender = RelaxedExtender::new(gpu, &scoring, &options).unwrap();
    let unit = extender.load(&target, &query).unwrap();
    let runs = [(10, 10), (target.len() - 10, query.len() - 10)].map(|place| runs_at(&[place]));
    let inspected = runs.each_ref().map(|runs| extender.inspect(&unit, runs).unwrap());
    let scripts = [0, 1].map(|ix| {
        let done: Vec<(OneSided, &InspectedRelaxed)> =
            runs[ix].iter().zip(&inspected[ix]).map(|(&run, found)| (run, found.as_ref().unwrap())).collect();
        extender.execute(&unit, &done).unwrap()
    });
    let (ydrop, mut workspace) = (Ydrop::new(&scoring, &options), Default::default());
    for (run, script) in runs.iter().flatten().zip(scripts.iter().flatten()) {
        let problem = SideProblem { target: &target, query: &query, anchor: run.anchor, direction: run.direction };
        assert_eq!(script.as_ref(), Some(&ydrop.run_relaxed(&problem, &mut workspace).script), "{run:?}");
    }
    let counts = extender.counts();
    assert!(counts.parts > counts.executed.iter().sum(), "the second inspection's rows are used: {counts:?}");
}

#[test]
fn windows_wider_than_the_boundary_are_left_to_the_cpu() {
    let mut rng = SplitMix64(90);
    let shared = rng.bases(6000);
    let (target, query) = sets(&shared[..300], &shared);
    let runs = runs_at(&[(10, 10), (150, 3000), (290, 5900)]);
    let Some(counts) =
        compare("windows_wider_than_the_boundary", None, &setting(400, 1, 9400), (&target, &query), &runs)
    else {
        return;
    };
    assert!(counts.too_wide > 0 && counts.too_wide < runs.len() as u64, "{counts:?}");
}
