//! A small budget of device memory makes batches smaller and changes nothing else. Several devices neither.

mod gpu_support;
mod support;

use std::path::Path;
use std::sync::Barrier;
use std::time::Duration;

use fastz::alignment::Anchor;
use fastz::cpu::Ydrop;
use fastz::cpu::ydrop::SideProblem;
use fastz::extend::{BulkExtender, BulkUnit, Side};
use fastz::gpu::{GpuBulk, GpuExtender, GpuSeeder, GpuSettings, InspectedRelaxed, OnFault, OneSided, RelaxedExtender};
use fastz::options::{GappedOptions, HspThreshold, Options};
use fastz::scoring::Scoring;
use fastz::seed::{SeedPattern, WordTable};
use fastz::sequence::SequenceSet;
use gpu_support::{
    SplitMix64, assert_same, both_sides, cpu_sides, device_name, gpu_or_skip, gpu_sides, gpu_with_or_skip,
};
use support::compare;
use support::evolve::{Evolution, evolve, fasta};
use support::program;
use support::random::Random;

const LIMIT: Duration = Duration::from_secs(300);

fn small(mebibytes: u64) -> GpuSettings {
    GpuSettings { memory: Some(mebibytes << 20), ..GpuSettings::default() }
}

/// Sequences of some thousand bases with 20 anchors between them.
fn related() -> (SequenceSet, SequenceSet, Vec<OneSided>) {
    let mut rng = SplitMix64(71);
    let shared = rng.bases(6000);
    let copy = rng.mutated(&shared, 15);
    let places = (0..20).map(|place| 300 * place + 7);
    let runs = places.flat_map(|at| both_sides(at, at.min(copy.len() - 1))).collect();
    (SequenceSet::single("t", &shared), SequenceSet::single("q", &copy), runs)
}

#[test]
fn relaxed_extension_within_thirty_two_mebibytes_equals_the_cpu() {
    let settings = small(32);
    let Some(gpu) = gpu_with_or_skip("relaxed_extension_within_thirty_two_mebibytes", &settings) else { return };
    let scoring = Scoring::default();
    let options = GappedOptions { y_drop: 3000, ..GappedOptions::default() };
    let (target, query, runs) = related();
    let mut extender = RelaxedExtender::new(gpu.clone(), &scoring, &options).expect("kernels");
    let unit = extender.load(&target, &query).expect("room");
    let inspected = extender.inspect(&unit, &runs).expect("memory");
    let done: Vec<(OneSided, &InspectedRelaxed)> =
        runs.iter().zip(&inspected).filter_map(|(&run, found)| Some((run, found.as_ref()?))).collect();
    let scripts = extender.execute(&unit, &done).expect("memory");
    let (ydrop, mut workspace) = (Ydrop::new(&scoring, &options), Default::default());
    let mut left = runs.len();
    for ((run, found), script) in done.iter().zip(scripts) {
        let Some(script) = script else { continue };
        let problem = SideProblem { target: &target, query: &query, anchor: run.anchor, direction: run.direction };
        let expected = Side { cells: 0, ..ydrop.run_relaxed(&problem, &mut workspace) };
        assert_eq!(Side { script, ..found.side.clone() }, expected, "{run:?}");
        left -= 1;
    }
    assert!(left < runs.len() / 2, "{left} of {} runs left to the CPU", runs.len());
    assert!(extender.counts().dispatches > 4, "one batch was enough");
    assert!(gpu.memory().peak() <= gpu.memory().budget(), "{} bytes were used", gpu.memory().peak());
}

#[test]
fn extension_within_sixteen_mebibytes_equals_the_cpu() {
    let settings = small(16);
    let Some(gpu) = gpu_with_or_skip("extension_within_sixteen_mebibytes", &settings) else { return };
    let scoring = Scoring::default();
    let options = GappedOptions { y_drop: 3000, ..GappedOptions::default() };
    let (target, query, runs) = related();
    let mut extender = GpuExtender::new(gpu.clone(), &scoring, &options).expect("kernels");
    let found = gpu_sides(&mut extender, &target, &query, &runs);
    let expected = cpu_sides(&Ydrop::new(&scoring, &options).scalar(), &target, &query, &runs);
    let left = assert_same("extension within sixteen mebibytes", &runs, &found, &expected);
    assert!(left < runs.len() / 2, "{left} of {} runs left to the CPU", runs.len());
    assert!(extender.counts().dispatches > 4, "one batch was enough");
    assert!(gpu.memory().peak() <= gpu.memory().budget(), "{} bytes were used", gpu.memory().peak());
}

#[test]
fn two_units_at_a_time_share_the_memory_of_extension() {
    let (settings, test) = (small(16), "two_units_at_a_time_share_the_memory_of_extension");
    let (Some(one), Some(two)) = (gpu_with_or_skip(test, &settings), gpu_with_or_skip(test, &settings)) else { return };
    let (scoring, options) = (Scoring::default(), GappedOptions { y_drop: 3000, ..GappedOptions::default() });
    let (target, query, runs) = related();
    // So many that logs and links are full.
    let anchors: Vec<Anchor> = runs.iter().step_by(2).map(|run| run.anchor).cycle().take(200).collect();
    let mut extender = GpuExtender::new(one.clone(), &scoring, &options).expect("kernels");
    let unit = extender.load(&target, &query).expect("room");
    let inputs = one.memory().peak();
    // The first time the links are not there yet when runs are inspected.
    for _ in 0..2 {
        extender.extend(&unit, &anchors, &|_, _| true).expect("memory");
    }
    let alone = one.memory().peak() - inputs;

    let bulk = GpuBulk::new(two.clone(), &scoring, &options, OnFault::Fail).in_large_waves();
    let mut units = [(); 2].map(|()| bulk.open(&target, &query).expect("a device").expect("room"));
    let inputs = two.memory().peak();
    let both = Barrier::new(units.len());
    let extend = |unit: &mut Box<dyn BulkUnit + '_>| {
        both.wait();
        unit.extend(&anchors, &|_, _| true)
    };
    for _ in 0..2 {
        let results = std::thread::scope(|scope| {
            let threads: Vec<_> = units.iter_mut().map(|unit| scope.spawn(|| extend(unit))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
        });
        for found in results {
            let left = found.expect("memory").iter().filter(|sides| sides.is_none()).count();
            assert!(left < anchors.len() / 2, "{left} of {} anchors left to the CPU", anchors.len());
        }
    }
    let (used, all) = (two.memory().peak() - inputs, two.memory().for_extension());
    assert!(used <= all, "{used} of {all} bytes were used");
    // Only the memory of runs under way is there twice.
    assert!(2 * used <= 3 * alone, "{used} bytes were used, {alone} by one unit alone");
}

#[test]
fn what_does_not_fit_is_left_to_the_cpu() {
    let settings = small(1);
    let Some(gpu) = gpu_with_or_skip("what_does_not_fit_is_left_to_the_cpu", &settings) else { return };
    let bases = SplitMix64(72).bases(1 << 20);
    let (target, query) = (SequenceSet::single("t", &bases), SequenceSet::single("q", &bases));
    let options = GappedOptions { y_drop: 3000, ..GappedOptions::default() };
    let extender = GpuExtender::new(gpu.clone(), &Scoring::default(), &options).expect("kernels");
    let reason = extender.load(&target, &query).err().expect("too little memory");
    assert!(reason.contains("--gpu-memory"), "{reason}");
    let options = Options::default();
    let table = WordTable::build(&target, &options.seed).expect("a table");
    assert!(GpuSeeder::new(&gpu, &target, &table, &options).is_err());
}

#[test]
fn seeding_within_little_memory_equals_seeding_with_much() {
    let settings = small(24);
    let test = "seeding_within_little_memory";
    let (Some(much), Some(little)) = (gpu_or_skip(test), gpu_with_or_skip(test, &settings)) else { return };
    let mut options = Options { hsp_threshold: HspThreshold::Score(1500), ..Options::default() };
    // A small table: words of seven letters.
    options.seed.pattern = SeedPattern::parse("1111111").expect("a pattern");
    let mut rng = SplitMix64(73);
    let shared = rng.bases(20_000);
    let (target, query) = (SequenceSet::single("t", &shared), SequenceSet::single("q", &rng.mutated(&shared, 12)));
    let table = WordTable::build(&target, &options.seed).expect("a table");
    let find = |gpu| {
        let mut seeder = GpuSeeder::new(gpu, &target, &table, &options).unwrap_or_else(|error| panic!("{error}"));
        (seeder.find(&target, &query, false).unwrap_or_else(|error| panic!("{error}")), seeder.times().pieces)
    };
    let ((expected, pieces), (found, smaller_pieces)) = (find(&much), find(&little));
    assert!(!expected.0.is_empty());
    assert_eq!(found, expected);
    assert!(smaller_pieces > pieces, "{smaller_pieces} pieces, {pieces} with much memory");
    assert!(little.memory().peak() <= little.memory().budget(), "{} bytes were used", little.memory().peak());
}

fn print(folder: &Path, options: &[&str]) -> Vec<u8> {
    let mut command = program::fastz(folder);
    command.env("FASTZ_CACHE_DIR", folder.join("cache"));
    command.args(["target.fa", "query.fa", "--ydrop=3000", "--format=axt", "--all-on-device"]).args(options);
    let outcome = program::run(&mut command, b"", LIMIT);
    assert!(outcome.succeeded() && outcome.stderr.is_empty(), "{options:?}: {}", outcome.stderr);
    outcome.stdout
}

#[test]
fn memory_number_of_devices_and_kept_kernels_change_nothing() {
    if gpu_or_skip("memory_number_of_devices_and_kept_kernels_change_nothing").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pair = evolve(&mut Random::new(74), &Evolution::mammal(30_000));
    std::fs::write(folder.path().join("target.fa"), fasta("target", &pair.target)).expect("write the target");
    std::fs::write(folder.path().join("query.fa"), fasta("query", &pair.query)).expect("write the query");
    let expected = print(folder.path(), &["--device=cpu"]);
    assert!(expected.len() > 1000);
    let one = format!("--device={}", device_name());
    let little = [&one, "--gpu-memory=64M", "--report=little.json"];
    compare::assert_same_text("little memory", &expected, &print(folder.path(), &little));
    let report = std::fs::read_to_string(folder.path().join("little.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let bytes = |what: &str| report["gpu"][0]["memory"][what].as_u64().expect("a number");
    assert!(bytes("peak") <= bytes("budget"), "{report}");
    compare::assert_same_text("kept kernels", &expected, &print(folder.path(), &[&one]));
    for file in std::fs::read_dir(folder.path().join("cache")).expect("a folder").flatten() {
        std::fs::write(file.path(), b"broken").expect("break the file");
    }
    compare::assert_same_text("broken kernels", &expected, &print(folder.path(), &[&one]));
    let second = std::env::var("FASTZ_TEST_SECOND_DEVICE").unwrap_or(device_name());
    let two = format!("--device={},{second}", device_name());
    compare::assert_same_text("two devices", &expected, &print(folder.path(), &[&two, "--report=report.json"]));
    let report = std::fs::read_to_string(folder.path().join("report.json")).expect("a report");
    assert_eq!(report.matches("\"budget\"").count(), 2, "{report}");
}

#[test]
fn memory_and_number_of_devices_change_nothing_of_relaxed_runs() {
    if gpu_or_skip("memory_and_number_of_devices_change_nothing_of_relaxed_runs").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pair = evolve(&mut Random::new(75), &Evolution::mammal(20_000));
    std::fs::write(folder.path().join("target.fa"), fasta("target", &pair.target)).expect("write the target");
    std::fs::write(folder.path().join("query.fa"), fasta("query", &pair.query)).expect("write the query");
    // So many anchors, none of them screened, that all devices get some.
    let options = ["--relaxed", "--nogfextend", "--seed=match7", "--ydrop=900", "--allgappedbounds", "--strand=plus"];
    let print = |more: &[&str]| print(folder.path(), &[&options, more].concat());
    let expected = print(&["--device=cpu"]);
    assert!(expected.len() > 1000);
    let one = format!("--device={}", device_name());
    compare::assert_same_text("little memory", &expected, &print(&[&one, "--gpu-memory=64M"]));
    let second = std::env::var("FASTZ_TEST_SECOND_DEVICE").unwrap_or(device_name());
    let two = format!("--device={},{second}", device_name());
    compare::assert_same_text("two devices", &expected, &print(&[&two, "--report=report.json"]));
    let report = std::fs::read_to_string(folder.path().join("report.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let inspected = [0, 1].map(|device| report["gpu"][device]["extension"]["inspected"].as_u64().unwrap_or(0));
    assert!(inspected[0] > 1000 && inspected[1] > 1000, "{report}");
}
