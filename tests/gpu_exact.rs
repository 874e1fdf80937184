//! The exact GPU kernels against the CPU oracle: score, end, cells, windows and script of every run are equal.

mod gpu_support;

use fastz::cpu::Ydrop;
use fastz::extend::Side;
use fastz::gpu::variant::Variant;
use fastz::gpu::{GpuExtender, OneSided};
use fastz::options::GappedOptions;
use fastz::scoring::Scoring;
use fastz::sequence::{Partition, SequenceSet};
use gpu_support::{SplitMix64, assert_same, both_sides, cpu_sides, gpu_or_skip, gpu_sides, patchwork_pair, runs_at};

/// A score set with a small y-drop, so that narrow rings hold most windows.
struct Setting {
    scoring: Scoring,
    options: GappedOptions,
}

fn setting(gap_open: i32, gap_extend: i32, y_drop: i32) -> Setting {
    let scoring = Scoring { gap_open, gap_extend, ..Scoring::default() };
    Setting { scoring, options: GappedOptions { y_drop, ..GappedOptions::default() } }
}

/// Compares all runs; returns how many the GPU left to the CPU.
fn compare(
    what: &str,
    variant: Option<Variant>,
    setting: &Setting,
    (target, query): (&SequenceSet, &SequenceSet),
    runs: &[OneSided],
) -> Option<usize> {
    let gpu = gpu_or_skip(what)?;
    let Setting { scoring, options } = setting;
    assert_eq!(GpuExtender::reason_against(scoring, options), None);
    let variant = variant.unwrap_or_else(|| gpu.variant(fastz::gpu::extender::likely_window(scoring, options.y_drop)));
    let mut extender = GpuExtender::with_variant(gpu, variant, scoring, options).unwrap();
    let found = gpu_sides(&mut extender, target, query, runs);
    let expected = cpu_sides(&Ydrop::new(scoring, options).scalar(), target, query, runs);
    Some(assert_same(&format!("{what}, {variant}"), runs, &found, &expected))
}

fn subgroup_of(test: &str) -> Option<u32> {
    gpu_or_skip(test)?.capabilities().fixed_subgroup
}

fn check_homologous(what: &str, variant: Option<Variant>, setting: &Setting, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut rng = SplitMix64(seed);
        let (target, query, mut anchors) = patchwork_pair(&mut rng, 6, 320);
        for _ in 0..6 {
            anchors.push((rng.below(target.len()), rng.below(query.len())));
        }
        let (target, query) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
        let runs = runs_at(&anchors);
        let Some(left) = compare(&format!("{what}, seed {seed}"), variant, setting, (&target, &query), &runs) else {
            return;
        };
        assert!(left < runs.len() / 2, "{what}, seed {seed}: {left} of {} runs left to the CPU", runs.len());
    }
}

#[test]
fn default_scores() {
    check_homologous("default_scores", None, &setting(400, 30, 9400), 0..3);
}

#[test]
fn steep_gaps_and_small_drop() {
    check_homologous("steep_gaps_and_small_drop", None, &setting(400, 100, 2500), 10..12);
}

#[test]
fn gap_open_of_zero() {
    check_homologous("gap_open_of_zero", None, &setting(0, 120, 2000), 20..22);
}

#[test]
fn subgroup_variant() {
    if let Some(lanes) = subgroup_of("subgroup_variant") {
        let variant = Variant::subgroup(lanes, 256 / lanes.max(8));
        check_homologous("subgroup_variant", Some(variant), &setting(200, 60, 3000), 30..33);
    }
}

#[test]
fn workgroup_variant() {
    let variant = Variant::workgroup(32, 8);
    check_homologous("workgroup_variant", Some(variant), &setting(200, 60, 3000), 30..31);
}

#[test]
fn too_narrow_a_ring_is_noticed() {
    let variant = Variant::workgroup(8, 8);
    let mut rng = SplitMix64(40);
    let bases = rng.bases(400);
    let set = SequenceSet::single("s", &bases);
    let setting = setting(200, 10, 3000);
    let runs = runs_at(&[(200, 200), (395, 5), (100, 300)]);
    if let Some(left) = compare("too_narrow_a_ring_is_noticed", Some(variant), &setting, (&set, &set), &runs) {
        assert!(left > 0);
    }
}

#[test]
fn edges_of_sequences() {
    let mut rng = SplitMix64(50);
    let shared = rng.bases(150);
    let (target, query) = (SequenceSet::single("t", &shared), SequenceSet::single("q", &shared[..149]));
    let anchors = [(0, 0), (149, 148), (0, 148), (149, 0), (1, 1), (15, 15), (16, 16), (17, 17), (148, 147)];
    compare("edges_of_sequences", None, &setting(400, 30, 9400), (&target, &query), &runs_at(&anchors));
}

#[test]
fn tiny_sequences_all_n_and_ties() {
    let setting = setting(1, 1, 4);
    let scoring =
        Scoring::from_acgt(&[[1, -1, -1, -1], [-1, 1, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 1]], -1, -10, 1, 1);
    let setting = Setting { scoring, ..setting };
    let pairs: [(&[u8], &[u8]); 5] = [
        (b"CGATTTACAGC", b"CGATTACAGG"),
        (b"A", b"A"),
        (b"NNNNNNNNNNNNNNNNNNNN", b"NNNNNNNNNNNNNNNN"),
        (b"ACACACACACACACACACACAC", b"CACACACACACACACACA"),
        (b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", b"AAAAAAAAAAAAAAAAAAAAAAAAA"),
    ];
    for (target, query) in pairs {
        let (target, query) = (SequenceSet::single("t", target), SequenceSet::single("q", query));
        let anchors: Vec<_> = (0..target.len()).flat_map(|t| (0..query.len()).map(move |q| (t, q))).collect();
        compare("tiny_sequences_all_n_and_ties", None, &setting, (&target, &query), &runs_at(&anchors));
    }
}

#[test]
fn scores_beyond_a_byte_and_letters_beyond_acgt() {
    let mut rng = SplitMix64(60);
    let (mut target, mut query, anchors) = patchwork_pair(&mut rng, 6, 320);
    target[50] = b'X';
    query[60] = b'R';
    let scoring = Scoring::from_acgt(
        &[[191, -214, -131, -223], [-214, 200, -225, -131], [-131, -225, 200, -214], [-223, -131, -214, 191]],
        -100,
        -1000,
        800,
        60,
    );
    let setting = Setting { scoring, ..setting(800, 60, 9400) };
    let (target, query) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
    compare("scores_beyond_a_byte", None, &setting, (&target, &query), &runs_at(&anchors));
}

#[test]
fn partitions_end_runs() {
    let mut rng = SplitMix64(70);
    let bases = rng.bases(200);
    let mut joined = vec![0];
    joined.extend(&bases[..90]);
    joined.push(0);
    joined.extend(&bases[90..]);
    joined.push(0);
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
    let test = "runs_go_on_over_many_dispatches_and_small_batches";
    let Some(gpu) = gpu_or_skip(test) else { return };
    let Setting { scoring, options } = setting(400, 60, 4000);
    let mut rng = SplitMix64(80);
    let shared = rng.bases(1500);
    let copy = rng.mutated(&shared, 15);
    let (target, query) = (SequenceSet::single("t", &shared), SequenceSet::single("q", &copy));
    let runs = runs_at(&[(10, 10), (700, 690), (30, 20), (1400, 1390), (500, 800)]);
    let mut extender = GpuExtender::new(gpu, &scoring, &options).unwrap();
    extender.set_row_budget(100);
    extender.budget_mut().tasks = 3;
    extender.budget_mut().hulls = 60;
    extender.budget_mut().link_words = 20_000;
    let found = gpu_sides(&mut extender, &target, &query, &runs);
    let expected = cpu_sides(&Ydrop::new(&scoring, &options).scalar(), &target, &query, &runs);
    assert_same(test, &runs, &found, &expected);
    assert!(extender.counts().dispatches > 10);
}

#[test]
fn runs_are_truncated_where_lastz_truncates_them() {
    let mut rng = SplitMix64(90);
    let shared = rng.bases(900);
    let copy = rng.mutated(&shared, 20);
    let (target, query) = (SequenceSet::single("t", &shared), SequenceSet::single("q", &copy));
    let mut setting = setting(400, 60, 4000);
    setting.options.traceback_bytes = Some(60_000);
    compare(
        "runs_are_truncated_where_lastz_truncates_them",
        None,
        &setting,
        (&target, &query),
        &runs_at(&[(5, 5), (880, 860)]),
    );
}

#[test]
fn anchors_whose_windows_are_wide_get_a_wider_ring() {
    let test = "anchors_whose_windows_are_wide_get_a_wider_ring";
    let Some(gpu) = gpu_or_skip(test) else { return };
    let Setting { scoring, options } = setting(400, 30, 3100);
    let mut rng = SplitMix64(100);
    // A short tandem repeat: every path along it scores, so that windows grow far beyond the likely width.
    let unit: Vec<u8> = rng.bases(23);
    let mut target: Vec<u8> = rng.bases(400);
    target.extend(unit.iter().cycle().take(900));
    let query = rng.mutated(&target, 25);
    let (target, query) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
    let anchors: Vec<_> = (0..12).map(|i| (20 + 95 * i, 15 + 95 * i)).collect();
    let anchors: Vec<fastz::Anchor> = runs_at(&anchors).iter().step_by(2).map(|run| run.anchor).collect();
    let mut extender = GpuExtender::new(gpu, &scoring, &options).unwrap();
    let loaded = extender.load(&target, &query).unwrap();
    let may_pass = |left: &Side, right: &Side| left.score + right.score >= 3000;
    let extended = extender.extend(&loaded, &anchors, &may_pass).unwrap();
    let ydrop = Ydrop::new(&scoring, &options).scalar();
    for (anchor, sides) in anchors.iter().zip(&extended) {
        let Some((left, right)) = sides else { continue };
        let runs = both_sides(anchor.target as usize, anchor.query as usize);
        let mut expected = cpu_sides(&ydrop, &target, &query, &runs);
        if !may_pass(&expected[0], &expected[1]) {
            expected.iter_mut().for_each(|side| side.script = Default::default());
        }
        assert_eq!((left, right), (&expected[0], &expected[1]), "{anchor:?}");
    }
    assert!(extender.counts().widened > 0);
    assert!(extended.iter().flatten().any(|(left, right)| may_pass(left, right)));
}
