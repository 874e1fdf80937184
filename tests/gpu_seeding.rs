//! Seeding and the gap-free filter on the GPU against the CPU: the same HSPs in the same order, and the same counts.

mod gpu_support;

use fastz::filter::HspSearch;
use fastz::gpu::seeding::SeedLimits;
use fastz::gpu::{Gpu, GpuError, GpuSeeder};
use fastz::options::{GapFreeExtension, HspThreshold, Options, SeedHitFilter, SelfComparison, Twins, WordCountLimit};
use fastz::scoring::Scoring;
use fastz::seed::{SeedPattern, WordTable};
use fastz::sequence::{Partition, SequenceSet};
use gpu_support::{SplitMix64, whole_gpu_or_skip};

/// Searches on both sides and fails on the first difference. Returns the number of HSPs.
fn compare(
    what: &str,
    gpu: &Gpu,
    (target, query): (&SequenceSet, &SequenceSet),
    options: &Options,
    limits: Option<SeedLimits>,
) -> usize {
    compare_strands(what, gpu, (target, query), options, limits, false)
}

fn compare_strands(
    what: &str,
    gpu: &Gpu,
    (target, query): (&SequenceSet, &SequenceSet),
    options: &Options,
    limits: Option<SeedLimits>,
    is_same_strand: bool,
) -> usize {
    assert_eq!(GpuSeeder::reason_against(options), None, "{what}");
    let table = WordTable::build(target, &options.seed).unwrap();
    let limits = limits.unwrap_or_else(|| SeedLimits::for_device(gpu));
    let mut seeder = GpuSeeder::with_limits(gpu, target, &table, options, limits).unwrap();
    assert_eq!(seeder.reason_against_query(target, query, is_same_strand), None, "{what}");
    let (expected, expected_counts) = HspSearch::new(&table, target, query, options, is_same_strand).find();
    let (found, counts) = seeder.find(target, query, is_same_strand).unwrap();
    for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "{what}: HSP {i}");
    }
    assert_eq!(found.len(), expected.len(), "{what}: number of HSPs");
    assert_eq!(counts, expected_counts, "{what}");
    expected.len()
}

/// Homologous stretches of all lengths among random sequence, with repeats, tandem repeats, N and lower case.
fn related_pair(rng: &mut SplitMix64, pieces: usize) -> (Vec<u8>, Vec<u8>) {
    let (mut target, mut query) = (rng.bases(50), rng.bases(20));
    let repeat = rng.bases(300);
    for piece in 0..pieces {
        let len = 30 + rng.below(1500);
        let mut shared = match piece % 5 {
            0 => rng.mutated(&repeat, 30),
            1 => {
                let unit = 1 + rng.below(9);
                rng.bases(unit).into_iter().cycle().take(40 + len / 8).collect()
            }
            _ => rng.bases(len),
        };
        let at = rng.below(shared.len());
        let end = (at + rng.below(40)).min(shared.len());
        match piece % 4 {
            0 => shared[at..end].fill(b'N'),
            1 => shared[at..end].make_ascii_lowercase(),
            _ => {}
        }
        query.extend(rng.mutated(&shared, 4 + piece % 20));
        target.extend(shared);
        let (gap, other_gap) = (rng.below(300), rng.below(300));
        target.extend(rng.bases(gap));
        query.extend(rng.bases(other_gap));
    }
    (target, query)
}

fn single(bases: &[u8]) -> SequenceSet {
    SequenceSet::single("s", bases)
}

/// Several sequences in one array with separators.
fn partitioned(parts: &[&[u8]]) -> SequenceSet {
    let mut set = SequenceSet { bases: vec![0], is_partitioned: true, ..SequenceSet::single("s", b"") };
    set.partitions.clear();
    for part in parts {
        let range = set.bases.len()..set.bases.len() + part.len();
        set.partitions.push(Partition { range, full_len: part.len(), ..Partition::default() });
        set.bases.extend_from_slice(part);
        set.bases.push(0);
    }
    set
}

fn options(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    change(&mut options);
    options
}

fn set_pattern(options: &mut Options, pattern: &str, transitions: u8) {
    options.seed.pattern = SeedPattern::parse(pattern).unwrap();
    options.seed.transitions = transitions;
}

fn x_drop(x_drop: i32, entropy: bool) -> GapFreeExtension {
    GapFreeExtension::XDrop { x_drop, entropy }
}

/// So small that pieces end everywhere and do not fit at first.
fn tight() -> SeedLimits {
    SeedLimits {
        bucket_capacity: 2,
        overflow_capacity: 40,
        frequent_capacity: 3,
        frequent_groups: 1,
        frequent_turns: 1,
        walk_groups: 3,
        extension_capacity: 100,
        candidate_capacity: 8,
        first_piece: Some(700),
        max_piece: 1500,
        batch: 3,
        run_cap: 20,
        part_windows: u32::MAX,
        page_chunks: u32::MAX,
    }
}

/// The target's word table in parts of so many windows.
fn in_parts(gpu: &Gpu, windows: usize) -> SeedLimits {
    SeedLimits { part_windows: windows as u32, ..SeedLimits::for_device(gpu) }
}

#[test]
fn defaults_on_related_sequences() {
    let Some(gpu) = whole_gpu_or_skip("defaults_on_related_sequences") else { return };
    let mut rng = SplitMix64(1);
    for round in 0..3 {
        let (target, query) = related_pair(&mut rng, 40);
        let (target, query) = (single(&target), single(&query));
        let n = compare(&format!("round {round}"), &gpu, (&target, &query), &Options::default(), None);
        assert!(n > 10, "round {round} has {n} HSPs");
        compare(
            &format!("round {round}, minus"),
            &gpu,
            (&target, &query.reverse_complement()),
            &Options::default(),
            None,
        );
    }
}

#[test]
fn seeds_of_all_kinds() {
    let Some(gpu) = whole_gpu_or_skip("seeds_of_all_kinds") else { return };
    let mut rng = SplitMix64(2);
    let (target, query) = related_pair(&mut rng, 25);
    let (target, query) = (single(&target), single(&query));
    type Change = fn(&mut Options);
    let changes: [(&str, Change); 15] = [
        ("no transition", |o| o.seed.transitions = 0),
        ("two transitions", |o| o.seed.transitions = 2),
        ("14 of 22", |o| set_pattern(o, SeedPattern::FOURTEEN_OF_22, 1)),
        ("match12", |o| set_pattern(o, "111111111111", 0)),
        ("match15, two transitions", |o| set_pattern(o, "111111111111111", 2)),
        ("half14", |o| set_pattern(o, "TTTTTTTTTTTTTT", 0)),
        ("32 places", |o| set_pattern(o, "TTTTTTTTT0T0T0T0T0T0T0T0T0TTTTTT", 0)),
        ("mixed", |o| set_pattern(o, "1T1001100101011T11", 0)),
        ("short words, resolved", |o| o.seed.word_bits = 16),
        ("step", |o| o.seed.step = 7),
        ("filter", |o| {
            o.seed.hit_filter = Some(SeedHitFilter { min_matches: 15, max_transversions: Some(2), cares_only: false })
        }),
        ("filter of cares", |o| {
            o.seed.hit_filter = Some(SeedHitFilter { min_matches: 12, max_transversions: None, cares_only: true })
        }),
        ("word count", |o| o.seed.word_count_limit = Some(WordCountLimit::Count(2))),
        ("recover", |o| o.seed.recover_hits = true),
        ("filter, recover", |o| {
            o.seed.hit_filter = Some(SeedHitFilter { min_matches: 16, max_transversions: Some(1), cares_only: false });
            o.seed.recover_hits = true;
        }),
    ];
    for (what, change) in changes {
        compare(what, &gpu, (&target, &query), &options(change), None);
    }
}

#[test]
fn scores_thresholds_and_x_drops() {
    let Some(gpu) = whole_gpu_or_skip("scores_thresholds_and_x_drops") else { return };
    let mut rng = SplitMix64(3);
    let (target, query) = related_pair(&mut rng, 25);
    let (target, query) = (single(&target), single(&query));
    type Change = fn(&mut Options);
    let changes: [(&str, Change); 9] = [
        ("no entropy", |o| o.gap_free = x_drop(910, false)),
        ("X = 0", |o| o.gap_free = x_drop(0, true)),
        ("X = 100", |o| o.gap_free = x_drop(100, true)),
        ("X = 20000", |o| o.gap_free = x_drop(20_000, true)),
        ("K = 1500", |o| o.hsp_threshold = HspThreshold::Score(1500)),
        ("K = -1", |o| o.hsp_threshold = HspThreshold::Score(-1)),
        ("match scores", |o| {
            o.scoring = Scoring::from_acgt(
                &[[1, -1, -1, -1], [-1, 1, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 1]],
                -1,
                -10,
                4,
                1,
            );
            o.gap_free = x_drop(10, true);
            o.hsp_threshold = HspThreshold::Score(30);
        }),
        ("asymmetric scores", |o| {
            o.scoring = Scoring::from_acgt(
                &[[91, -14, -31, -120], [-114, 800, -125, 5], [-30, -2, 77, -14], [-223, -31, -1, 92]],
                -9,
                -70,
                400,
                30,
            );
        }),
        ("windows", |o| o.gap_free = GapFreeExtension::None),
    ];
    for (what, change) in changes {
        compare(what, &gpu, (&target, &query), &options(change), None);
    }
    let unfiltered = options(|o| {
        o.gap_free = GapFreeExtension::None;
        o.gapped = None;
    });
    compare("all hits", &gpu, (&target, &query), &unfiltered, None);
}

#[test]
fn pieces_that_do_not_fit_are_repeated() {
    let Some(gpu) = whole_gpu_or_skip("pieces_that_do_not_fit_are_repeated") else { return };
    let mut rng = SplitMix64(4);
    let (target, query) = related_pair(&mut rng, 3);
    let (target, query) = (single(&target), single(&query));
    let table = WordTable::build(&target, &Options::default().seed).unwrap();
    let defaults = Options::default();
    let mut seeder = GpuSeeder::with_limits(&gpu, &target, &table, &defaults, tight()).unwrap();
    let (found, _) = seeder.find(&target, &query, false).unwrap();
    assert_eq!(found, HspSearch::new(&table, &target, &query, &defaults, false).find().0);
    assert!(seeder.times().repeated > 0, "{:?}", seeder.times());
    compare("tight", &gpu, (&target, &query), &Options::default(), Some(tight()));
    compare("tight, recover", &gpu, (&target, &query), &options(|o| o.seed.recover_hits = true), Some(tight()));
    compare(
        "tight, windows",
        &gpu,
        (&target, &query),
        &options(|o| o.gap_free = GapFreeExtension::None),
        Some(tight()),
    );
}

#[test]
fn one_word_everywhere_is_cut_down_to_parts_of_lists() {
    let Some(gpu) = whole_gpu_or_skip("one_word_everywhere_is_cut_down_to_parts_of_lists") else { return };
    let (target, query) = (single(&[b'A'; 80]), single(&[b'A'; 20]));
    let limits = SeedLimits { frequent_capacity: 0, overflow_capacity: 4, candidate_capacity: 2, ..tight() };
    // Every hit has a diagonal of its own.
    let sensitive = options(|o| {
        o.hsp_threshold = HspThreshold::Score(500);
        o.gap_free = x_drop(910, false);
    });
    assert!(compare("poly-A", &gpu, (&target, &query), &sensitive, Some(limits)) > 60);
}

#[test]
fn identical_sequences_and_long_runs() {
    let Some(gpu) = whole_gpu_or_skip("identical_sequences_and_long_runs") else { return };
    let mut rng = SplitMix64(5);
    let bases = rng.bases(40_000);
    let (target, query) = (single(&bases), single(&bases));
    assert_eq!(compare("identical", &gpu, (&target, &query), &Options::default(), None), 1);
    let few_slots =
        SeedLimits { bucket_capacity: 4, overflow_capacity: 1 << 16, run_cap: 50, ..SeedLimits::for_device(&gpu) };
    compare("identical, crowded", &gpu, (&target, &query), &Options::default(), Some(few_slots));
    // Two diagonals of the same workgroup are crowded.
    let shifted = single(&[&bases[..20_000], &bases[20_003..]].concat());
    for limits in [few_slots, SeedLimits::for_device(&gpu)] {
        compare("shifted, crowded", &gpu, (&target, &shifted), &Options::default(), Some(limits));
    }
    let close = single(&rng.mutated(&bases, 60));
    compare("close, crowded", &gpu, (&target, &close), &Options::default(), Some(few_slots));
    let recover = options(|o| o.seed.recover_hits = true);
    compare("close, crowded, recover", &gpu, (&target, &close), &recover, Some(few_slots));
}

#[test]
fn distant_diagonals_collide() {
    let Some(gpu) = whole_gpu_or_skip("distant_diagonals_collide") else { return };
    let mut rng = SplitMix64(6);
    // Copies of one stretch at distances of 65536: their diagonals share a residue.
    let shared = rng.bases(400);
    let mut target = rng.bases(3 * 65_536);
    for (i, start) in [100, 65_636, 131_172, 131_872].into_iter().enumerate() {
        target[start..start + 400 - 60 * i].copy_from_slice(&shared[..400 - 60 * i]);
    }
    let mut query = rng.bases(50);
    query.extend(&shared);
    query.extend(rng.bases(30));
    query.extend(&shared[20..300]);
    let (target, query) = (single(&target), single(&query));
    for (what, recover) in [("hashed", false), ("recovered", true)] {
        let options = options(|o| o.seed.recover_hits = recover);
        compare(what, &gpu, (&target, &query), &options, None);
        compare(
            what,
            &gpu,
            (&target, &query),
            &options,
            Some(SeedLimits { run_cap: 45, overflow_capacity: 400, candidate_capacity: 400, ..tight() }),
        );
    }
}

#[test]
fn several_sequences_and_self() {
    let Some(gpu) = whole_gpu_or_skip("several_sequences_and_self") else { return };
    let mut rng = SplitMix64(7);
    let (a, b) = related_pair(&mut rng, 10);
    let (target, query) = (partitioned(&[&a, &b[..b.len() / 2], b"ACGT"]), partitioned(&[&b, &a]));
    compare("several", &gpu, (&target, &query), &Options::default(), None);
    let mirrored = options(|o| o.self_comparison = SelfComparison::Mirrored);
    let whole = single(&[a.clone(), b.clone()].concat());
    assert!(compare_strands("self, plus", &gpu, (&whole, &whole), &mirrored, None, true) > 0);
    compare_strands("self, minus", &gpu, (&whole, &whole.reverse_complement()), &mirrored, None, false);
    compare_strands("self, several", &gpu, (&target, &target), &mirrored, None, true);
    let table = WordTable::build(&target, &mirrored.seed).unwrap();
    let seeder = GpuSeeder::new(&gpu, &target, &table, &mirrored).unwrap();
    assert!(seeder.reason_against_query(&target, &target.reverse_complement(), false).is_some());
}

#[test]
fn many_strands_at_once() {
    let Some(gpu) = whole_gpu_or_skip("many_strands_at_once") else { return };
    let mut rng = SplitMix64(9);
    let (target, query) = related_pair(&mut rng, 20);
    let target = single(&target);
    // Cut in all ways: in the middle of homologies, of no bases, of one window, of whole chunks, and the same part twice.
    let mut cuts = vec![0, 0, 1, 19, 38, 70, 134, 1158];
    while cuts[cuts.len() - 1] + 1500 < query.len() {
        cuts.push(cuts[cuts.len() - 1] + 1 + rng.below(1500));
    }
    let mut parts: Vec<SequenceSet> = cuts.windows(2).map(|ends| single(&query[ends[0]..ends[1]])).collect();
    parts.extend([parts[parts.len() - 1].clone(), partitioned(&[&query[..3000], b"", &query[500..4000]])]);
    let strands: Vec<SequenceSet> =
        parts.iter().flat_map(|part| [part.clone(), part.reverse_complement()]).chain([single(&query)]).collect();
    let few = SeedLimits { first_piece: Some(700), max_piece: 1500, batch: 3, ..SeedLimits::for_device(&gpu) };
    let recover = options(|o| o.seed.recover_hits = true);
    let windows = options(|o| o.gap_free = GapFreeExtension::None);
    for (what, options, limits) in [
        ("hashed", Options::default(), SeedLimits::for_device(&gpu)),
        ("hashed, small pieces", Options::default(), few),
        ("recovered", recover, few),
        ("windows", windows, few),
    ] {
        let table = WordTable::build(&target, &options.seed).unwrap();
        let mut seeder = GpuSeeder::with_limits(&gpu, &target, &table, &options, limits).unwrap();
        let pairs: Vec<(&SequenceSet, bool)> = strands.iter().map(|strand| (strand, false)).collect();
        let (found, counts) = seeder.find_many(&target, &pairs).unwrap();
        let mut expected_counts = fastz::filter::SearchCounts::default();
        let mut n_hsps = 0;
        for (i, (found, strand)) in found.iter().zip(&strands).enumerate() {
            let (expected, expected_of_strand) = HspSearch::new(&table, &target, strand, &options, false).find();
            assert_eq!(found, &expected, "{what}: strand {i}");
            expected_counts += expected_of_strand;
            n_hsps += expected.len();
        }
        assert_eq!((found.len(), counts), (strands.len(), expected_counts), "{what}");
        assert!(n_hsps > 50, "{what}: {n_hsps}");
    }
}

#[test]
fn a_word_in_ten_thousand_places() {
    let Some(gpu) = whole_gpu_or_skip("a_word_in_ten_thousand_places") else { return };
    let mut rng = SplitMix64(10);
    let word = rng.bases(24);
    let scattered = |rng: &mut SplitMix64, copies: usize, gap: usize| {
        let mut bases = Vec::new();
        for _ in 0..copies {
            bases.extend(&word);
            let len = rng.below(gap);
            bases.extend(rng.bases(len));
        }
        bases
    };
    let (target, query) = (scattered(&mut rng, 10_000, 12), scattered(&mut rng, 6, 60));
    // Copies are too short for the default threshold; what lies between them seldom prolongs them.
    let sensitive = options(|o| o.hsp_threshold = HspThreshold::Score(2200));
    let pair = (&single(&target), &single(&query));
    assert!(compare("scattered", &gpu, pair, &sensitive, None) > 10_000);
    // One workgroup for all lists: the piece has to be cut for it. lavapipe would lose hits.
    let few = SeedLimits { frequent_groups: 1, first_piece: Some(500), ..SeedLimits::for_device(&gpu) };
    compare("scattered, few groups", &gpu, pair, &Options::default(), Some(few));
    let tandem = |copies: usize| single(&word.iter().copied().cycle().take(24 * copies).collect::<Vec<u8>>());
    let recover = options(|o| o.seed.recover_hits = true);
    for (what, options) in [("tandem", Options::default()), ("tandem, recover", recover)] {
        assert!(compare(what, &gpu, (&tandem(10_000), &tandem(3)), &options, None) > 0);
    }
}

#[test]
fn near_identical_genomes() {
    let Some(gpu) = whole_gpu_or_skip("near_identical_genomes") else { return };
    let mut rng = SplitMix64(11);
    let target = rng.bases(60_000);
    // A difference in 400 bases, a part that has moved, one that is turned around, one that is there twice.
    let copy = rng.mutated(&target, 400);
    let turned = single(&copy[35_000..45_000]).reverse_complement().bases;
    let query = [&copy[15_000..35_000], &copy[..15_000], &turned, &copy[45_000..], &copy[50_000..54_000]].concat();
    let (target, query) = (single(&target), single(&query));
    for (what, strand) in [("plus", query.clone()), ("minus", query.reverse_complement())] {
        let n = compare(what, &gpu, (&target, &strand), &Options::default(), None);
        assert!(n > 2, "{what}: {n} HSPs");
    }
    let small = SeedLimits { bucket_capacity: 4, run_cap: 60, ..SeedLimits::for_device(&gpu) };
    compare("plus, crowded", &gpu, (&target, &query), &Options::default(), Some(small));
}

#[test]
fn thousands_of_short_sequences() {
    let Some(gpu) = whole_gpu_or_skip("thousands_of_short_sequences") else { return };
    let mut rng = SplitMix64(12);
    let parts: Vec<Vec<u8>> = (0..3000)
        .map(|_| {
            let len = rng.below(160);
            rng.bases(len)
        })
        .collect();
    let queries: Vec<Vec<u8>> = (0..2000)
        .map(|_| {
            let (part, other) = (rng.below(parts.len()), rng.below(parts.len()));
            rng.mutated(&[parts[part].as_slice(), &parts[other]].concat(), 30)
        })
        .collect();
    let slices = |parts: &[Vec<u8>]| partitioned(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let target = slices(&parts);
    assert!(compare("joined queries", &gpu, (&target, &slices(&queries)), &Options::default(), None) > 1000);
    let strands: Vec<SequenceSet> =
        queries.iter().map(|query| single(query)).flat_map(|query| [query.reverse_complement(), query]).collect();
    let pairs: Vec<(&SequenceSet, bool)> = strands.iter().map(|strand| (strand, false)).collect();
    let options = Options::default();
    let table = WordTable::build(&target, &options.seed).unwrap();
    let (found, counts) = GpuSeeder::new(&gpu, &target, &table, &options).unwrap().find_many(&target, &pairs).unwrap();
    let mut expected_counts = fastz::filter::SearchCounts::default();
    for (i, (found, strand)) in found.iter().zip(&strands).enumerate() {
        let (expected, of_strand) = HspSearch::new(&table, &target, strand, &options, false).find();
        assert_eq!(found, &expected, "strand {i}");
        expected_counts += of_strand;
    }
    assert_eq!((found.len(), counts), (strands.len(), expected_counts));
}

#[test]
fn word_tables_in_parts() {
    let Some(gpu) = whole_gpu_or_skip("word_tables_in_parts") else { return };
    let mut rng = SplitMix64(13);
    let (target, query) = related_pair(&mut rng, 15);
    let (target, query) = (single(&target), single(&query));
    let joined = partitioned(&[&target.bases[..5000], b"ACGT", b"", &target.bases[5000..]]);
    type Change = fn(&mut Options);
    let changes: [(&str, Change); 10] = [
        ("default", |_| {}),
        ("no transition", |o| o.seed.transitions = 0),
        ("two transitions", |o| o.seed.transitions = 2),
        ("step", |o| o.seed.step = 5),
        ("word count", |o| o.seed.word_count_limit = Some(WordCountLimit::Count(2))),
        ("short words, resolved", |o| o.seed.word_bits = 16),
        ("recover", |o| o.seed.recover_hits = true),
        ("windows", |o| o.gap_free = GapFreeExtension::None),
        ("filter, recover", |o| {
            o.seed.hit_filter = Some(SeedHitFilter { min_matches: 16, max_transversions: Some(1), cares_only: false });
            o.seed.recover_hits = true;
        }),
        // Seven letters: every word occurs in all parts, most more than once.
        ("frequent words", |o| set_pattern(o, "1111111", 1)),
    ];
    for (i, (what, change)) in changes.into_iter().enumerate() {
        let options = options(change);
        let n = WordTable::build(&target, &options.seed).unwrap().n_windows();
        // Three and some dozens.
        for windows in [n / 2 - i, n / 40] {
            let what = format!("{what}, parts of {windows} of {n} windows");
            let target = if i % 2 == 0 { &target } else { &joined };
            let limits = in_parts(&gpu, windows);
            let found = compare(&what, &gpu, (target, &query), &options, Some(limits));
            assert!(found > 10, "{what}: {found} HSPs");
        }
    }
}

#[test]
fn parts_end_everywhere() {
    let Some(gpu) = whole_gpu_or_skip("parts_end_everywhere") else { return };
    let mut rng = SplitMix64(14);
    let word = rng.bases(30);
    let target = single(&[&word[..], b"N", &word, &word[3..], &word, &rng.bases(9)].concat());
    let query = single(&[&word[1..], &word, &word[..20]].concat());
    // Short words: each part has a bit for all that are possible.
    let options = options(|o| {
        set_pattern(o, "1101000111", 1);
        o.hsp_threshold = HspThreshold::Score(1800);
    });
    let table = WordTable::build(&target, &options.seed).unwrap();
    let n = table.n_windows();
    for windows in [1, 2, 3, 5, 8, 13, 21, 34, 55, n - 1] {
        let limits = in_parts(&gpu, windows);
        let seeder = GpuSeeder::with_limits(&gpu, &target, &table, &options, limits).unwrap();
        assert!(seeder.n_parts() >= n.div_ceil(windows));
        assert!(compare("edges", &gpu, (&target, &query), &options, Some(limits)) > 2);
        let tight = SeedLimits { part_windows: windows as u32, ..tight() };
        compare("edges, tight", &gpu, (&target, &query), &options, Some(tight));
    }
}

#[test]
fn repeats_and_collisions_over_parts() {
    let Some(gpu) = whole_gpu_or_skip("repeats_and_collisions_over_parts") else { return };
    let mut rng = SplitMix64(15);
    // One word everywhere: down to single entries of the lists of single parts.
    let (target, query) = (single(&[b'A'; 80]), single(&[b'A'; 20]));
    let limits = SeedLimits { frequent_capacity: 0, overflow_capacity: 4, candidate_capacity: 2, ..tight() };
    let sensitive = options(|o| {
        o.hsp_threshold = HspThreshold::Score(500);
        o.gap_free = x_drop(910, false);
    });
    for part_windows in [40, 7, 1] {
        let limits = SeedLimits { part_windows, ..limits };
        assert!(compare("poly-A", &gpu, (&target, &query), &sensitive, Some(limits)) > 60);
    }
    // The same in two places 65536 bases apart: the newer hit of each lookup counts, though the parts are searched alone.
    let target = single(&[&[b'A'; 150], &rng.bases(65_386)[..], &[b'A'; 150]].concat());
    for part_windows in [60_000, 30_000] {
        let limits = SeedLimits { part_windows, ..limits };
        assert!(compare("two poly-As", &gpu, (&target, &query), &sensitive, Some(limits)) > 100);
    }
    // Ten thousand copies of a word, in lists of all parts.
    let word = rng.bases(24);
    let copies = |rng: &mut SplitMix64, n: usize, longest_gap: usize| {
        let copy = |_| {
            let gap = rng.below(longest_gap);
            [word.clone(), rng.bases(gap)].concat()
        };
        single(&(0..n).map(copy).collect::<Vec<_>>().concat())
    };
    let (target, query) = (copies(&mut rng, 10_000, 12), copies(&mut rng, 6, 60));
    let sensitive = options(|o| o.hsp_threshold = HspThreshold::Score(2200));
    for windows in [150_000, 40_000] {
        assert!(compare("copies", &gpu, (&target, &query), &sensitive, Some(in_parts(&gpu, windows))) > 10_000);
    }
    let tandem = |copies: usize| single(&word.iter().copied().cycle().take(24 * copies).collect::<Vec<u8>>());
    for recover in [false, true] {
        let options = options(|o| o.seed.recover_hits = recover);
        let limits = in_parts(&gpu, 100_001);
        assert!(compare("tandem", &gpu, (&tandem(10_000), &tandem(3)), &options, Some(limits)) > 0);
    }
    // Diagonals that share a residue, in different parts and in the same.
    let shared = rng.bases(400);
    let mut target = rng.bases(3 * 65_536);
    for (i, start) in [100, 65_636, 131_172, 131_872].into_iter().enumerate() {
        target[start..start + 400 - 60 * i].copy_from_slice(&shared[..400 - 60 * i]);
    }
    let query = single(&[&rng.bases(50), &shared, &rng.bases(30), &shared[20..300]].concat());
    for (recover, windows) in [(false, 65_700), (true, 65_700), (false, 10_000)] {
        let options = options(|o| o.seed.recover_hits = recover);
        let limits = in_parts(&gpu, windows);
        assert!(compare("collisions", &gpu, (&single(&target), &query), &options, Some(limits)) > 1);
        let tight =
            SeedLimits { part_windows: windows as u32, overflow_capacity: 400, candidate_capacity: 400, ..tight() };
        compare("collisions, tight", &gpu, (&single(&target), &query), &options, Some(tight));
    }
}

#[test]
fn near_identical_genomes_self_and_later_masks_over_parts() {
    let Some(gpu) = whole_gpu_or_skip("near_identical_genomes_self_and_later_masks_over_parts") else { return };
    let mut rng = SplitMix64(16);
    let bases = rng.bases(40_000);
    let copy = rng.mutated(&bases, 400);
    let query = single(&[&copy[15_000..35_000], &copy[..15_000], &copy[34_000..]].concat());
    let target = single(&bases);
    let crowded = SeedLimits { bucket_capacity: 4, run_cap: 60, ..in_parts(&gpu, 9000) };
    for limits in [in_parts(&gpu, 15_000), crowded] {
        assert!(compare("close", &gpu, (&target, &query), &Options::default(), Some(limits)) > 2);
    }
    let mirrored = options(|o| o.self_comparison = SelfComparison::Mirrored);
    let (a, b) = related_pair(&mut rng, 5);
    let whole = single(&[a, b].concat());
    let limits = Some(in_parts(&gpu, 3000));
    assert!(compare_strands("self, plus", &gpu, (&whole, &whole), &mirrored, limits, true) > 0);
    compare_strands("self, minus", &gpu, (&whole, &whole.reverse_complement()), &mirrored, limits, false);
    let options = Options::default();
    let mut table = WordTable::build(&target, &options.seed).unwrap();
    let mut masked = bases.clone();
    masked[12_000..19_000].make_ascii_lowercase();
    let masked = single(&masked);
    table.update_mask(&masked);
    let expected = HspSearch::new(&table, &masked, &query, &options, false).find();
    let mut seeder = GpuSeeder::with_limits(&gpu, &masked, &table, &options, in_parts(&gpu, 5000)).unwrap();
    assert!(seeder.n_parts() > 7);
    assert_eq!(seeder.find(&masked, &query, false).unwrap(), expected);
}

#[test]
fn target_bases_in_pages() {
    let Some(gpu) = whole_gpu_or_skip("target_bases_in_pages") else { return };
    let mut rng = SplitMix64(17);
    let (target, query) = related_pair(&mut rng, 8);
    let close = single(&rng.mutated(&target, 100));
    let (target, query) = (single(&target), single(&query));
    let n_chunks = target.len() as u32 / 32 + 4;
    let filtered = options(|o| {
        o.seed.hit_filter = Some(SeedHitFilter { min_matches: 15, max_transversions: Some(2), cares_only: false });
        o.seed.word_bits = 16;
    });
    // Two pages, three, and as many as WebGPU's double leaves room for.
    for page_chunks in [n_chunks - 3, n_chunks.div_ceil(2), n_chunks.div_ceil(3), n_chunks.div_ceil(9)] {
        for part_windows in [u32::MAX, 1000] {
            let limits = SeedLimits { page_chunks, part_windows, ..SeedLimits::for_device(&gpu) };
            let what = format!("pages of {page_chunks} of {n_chunks} chunks, parts of {part_windows}");
            assert!(compare(&what, &gpu, (&target, &query), &Options::default(), Some(limits)) > 5);
            compare(&what, &gpu, (&target, &query), &filtered, Some(limits));
            // Runs of all lengths cross the edges.
            assert!(compare(&what, &gpu, (&target, &close), &Options::default(), Some(limits)) > 0);
        }
    }
    let table = WordTable::build(&target, &Options::default().seed).unwrap();
    let too_small = SeedLimits { page_chunks: 1, ..SeedLimits::for_device(&gpu) };
    if gpu.capabilities().max_storage_bindings < n_chunks {
        let refusal = GpuSeeder::with_limits(&gpu, &target, &table, &Options::default(), too_small).err();
        assert!(matches!(refusal, Some(GpuError::OutOfRange(_))), "{refusal:?}");
    }
}

#[test]
fn targets_masked_after_the_table_was_built() {
    let Some(gpu) = whole_gpu_or_skip("targets_masked_after_the_table_was_built") else { return };
    let mut rng = SplitMix64(8);
    let (mut target, query) = related_pair(&mut rng, 10);
    let options = Options::default();
    let mut table = WordTable::build(&single(&target), &options.seed).unwrap();
    let end = target.len() / 2;
    target[100..end].make_ascii_lowercase();
    let (target, query) = (single(&target), single(&query));
    table.update_mask(&target);
    let (expected, expected_counts) = HspSearch::new(&table, &target, &query, &options, false).find();
    let (found, counts) =
        GpuSeeder::new(&gpu, &target, &table, &options).unwrap().find(&target, &query, false).unwrap();
    assert_eq!((found, counts), (expected, expected_counts));
}

#[test]
fn tiny_and_empty_sequences() {
    let Some(gpu) = whole_gpu_or_skip("tiny_and_empty_sequences") else { return };
    let word = b"ACGTTGCAACGGTATCGATCCATGACCGTTAGCA";
    for (target, query) in
        [(&b""[..], &b""[..]), (b"", word), (word, b""), (&word[..19], &word[..19]), (&word[..18], word)]
    {
        compare(
            "tiny",
            &gpu,
            (&single(target), &single(query)),
            &options(|o| o.hsp_threshold = HspThreshold::Score(1)),
            None,
        );
    }
}

#[test]
fn what_the_gpu_leaves_to_the_cpu_is_said() {
    let refused = [
        options(|o| o.seed.twins = Some(Twins { min_gap: 0, max_gap: 10 })),
        options(|o| o.gap_free = GapFreeExtension::Exact(20)),
        options(|o| o.hsp_threshold = HspThreshold::TopBases(1000)),
        options(|o| o.limits.blocks = Some(1)),
        options(|o| set_pattern(o, &"T".repeat(33), 0)),
    ];
    for options in refused {
        assert!(GpuSeeder::reason_against(&options).is_some());
    }
    let Some(gpu) = whole_gpu_or_skip("what_the_gpu_leaves_to_the_cpu_is_said") else { return };
    let huge = options(|o| o.scoring = Scoring::from_acgt(&[[1 << 21; 4]; 4], -100, -1000, 400, 30));
    let target = single(b"ACGT");
    let table = WordTable::build(&target, &huge.seed).unwrap();
    let refusal = GpuSeeder::new(&gpu, &target, &table, &huge).err();
    assert!(matches!(refusal, Some(GpuError::OutOfRange(_))), "{refusal:?}");
}
