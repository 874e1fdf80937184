//! Devices that fail in the middle of a run: `auto` finishes on the CPU with the same output and says so; a device that
//! was asked for makes the run fail, and leaves no output.

mod gpu_support;
mod support;

use std::path::Path;
use std::time::Duration;

use fastz::alignment::Anchor;
use fastz::gpu::{Fault, FaultPlan, Gpu, GpuError, GpuExtender, GpuSettings, OneSided, RelaxedExtender};
use fastz::options::GappedOptions;
use fastz::scoring::Scoring;
use fastz::sequence::SequenceSet;
use gpu_support::{SplitMix64, both_sides, device_name, gpu_or_skip, gpu_with_or_skip, own_gpu_or_skip};
use support::evolve::{Evolution, evolve, fasta};
use support::program::{self, Outcome};
use support::random::Random;
use support::{compare, in_parallel};

const LIMIT: Duration = Duration::from_secs(300);

/// A fault, and what the message must say.
const FAULTS: &[(&str, &str)] = &[
    ("lost", "lost"),
    ("lost:seed_walk", "lost"),
    ("lost:exact_inspector", "lost"),
    ("lost:exact_executor", "lost"),
    ("lost:traceback@1", "lost"),
    ("hang", "did not come to an end"),
    ("hang:exact_inspector@1", "did not come to an end"),
    ("hang:traceback", "did not come to an end"),
    ("unfinished:seed_lookup", "workgroups of a seeding dispatch ran"),
    ("unfinished:seed_frequent", "workgroups of a seeding dispatch ran"),
    ("unfinished:seed_settle", "workgroups of a seeding dispatch ran"),
    ("unfinished:seed_walk", "workgroups of a seeding dispatch ran"),
    ("unfinished:exact_inspector", "a dispatch stopped with 0 of"),
    ("unfinished:exact_executor", "a dispatch stopped with 0 of"),
    ("unfinished:traceback", "traceback did not reach"),
    ("memory", "no GPU memory is left"),
    ("memory@9", "no GPU memory is left"),
];

/// The same for the kernels of `--relaxed`; without gap-free extension, so that the screen has something to do.
const RELAXED_FAULTS: &[(&str, &str)] = &[
    ("lost:screen", "lost"),
    ("lost:relaxed_inspector", "lost"),
    ("lost:relaxed_inspector@1", "lost"),
    ("lost:relaxed_executor", "lost"),
    ("lost:relaxed_traceback", "lost"),
    ("hang:screen", "did not come to an end"),
    ("hang:relaxed_inspector", "did not come to an end"),
    ("hang:relaxed_executor", "did not come to an end"),
    ("hang:relaxed_traceback", "did not come to an end"),
    ("unfinished:screen", "a dispatch stopped with 0 of"),
    ("unfinished:relaxed_inspector", "a dispatch stopped with 0 of"),
    ("unfinished:relaxed_inspector@1", "a dispatch stopped with"),
    ("unfinished:relaxed_executor", "a dispatch stopped with 0 of"),
    ("unfinished:relaxed_traceback", "traceback did not reach"),
];

fn write_pair(folder: &Path) {
    let pair = evolve(&mut Random::new(61), &Evolution::mammal(20_000));
    std::fs::write(folder.join("target.fa"), fasta("target", &pair.target)).expect("write the target");
    std::fs::write(folder.join("query.fa"), fasta("query", &pair.query)).expect("write the query");
}

/// Runs the program with this device, `auto` taking the adapter under test.
fn align(folder: &Path, options: &[&str], device: &str, fault: Option<&str>, output: &str) -> Outcome {
    let mut command = command(folder, device, output);
    command.args(options);
    fault.iter().for_each(|fault| {
        command.env("FASTZ_TEST_FAULT", fault);
    });
    program::run(&mut command, b"", LIMIT)
}

fn command(folder: &Path, device: &str, output: &str) -> std::process::Command {
    let mut command = program::fastz(folder);
    command.env("FASTZ_TEST_AUTO", device_name()).env("FASTZ_CACHE_DIR", "");
    command.args(["target.fa", "query.fa", "--ydrop=3000", "--format=maf-"]);
    command.args([format!("--device={device}"), format!("--output={output}")]);
    command
}

#[test]
fn a_device_that_auto_does_not_wait_for_changes_nothing() {
    if gpu_or_skip("a_device_that_auto_does_not_wait_for").is_none() || cfg!(not(debug_assertions)) {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_pair(folder.path());
    // So many hits that the CPU takes no strand (short words), and so few that it takes all or some.
    for (seed, is_for_device) in [("match5", true), ("12of19", false)] {
        let options =
            [format!("--seed={seed}"), "--notransition".into(), "--threads=1".into(), "--hspthresh=4000".into()];
        let align = |device: &str| {
            let mut command = command(folder.path(), device, device);
            command.args(&options).env("FASTZ_TEST_LATE", "1").arg(format!("--report={device}.json"));
            let outcome = program::run(&mut command, b"", LIMIT);
            assert!(outcome.succeeded() && outcome.stderr.is_empty(), "{}", outcome.stderr);
            std::fs::read(folder.path().join(device)).unwrap_or_else(|error| panic!("{device}: {error}"))
        };
        let expected = align("cpu");
        assert!(expected.len() > 1000);
        compare::assert_same_text(seed, &expected, &align("auto"));
        let report = std::fs::read_to_string(folder.path().join("auto.json")).expect("the report");
        assert!(!is_for_device || report.contains("seed_lookup"), "the device searched nothing: {report}");
    }
}

#[test]
fn auto_finishes_on_the_cpu_and_a_chosen_device_makes_the_run_fail() {
    check_faults("auto_finishes_on_the_cpu", &[], FAULTS);
}

#[test]
fn faults_of_the_relaxed_kernels_change_nothing_either() {
    check_faults("faults_of_the_relaxed_kernels", &["--relaxed", "--nogfextend"], RELAXED_FAULTS);
}

fn check_faults(test: &str, options: &[&str], faults: &[(&str, &str)]) {
    if gpu_or_skip(test).is_none() || cfg!(not(debug_assertions)) {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_pair(folder.path());
    let align = |device: &str, fault: Option<&str>, output: &str| align(folder.path(), options, device, fault, output);
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(align("cpu", None, "cpu").succeeded());
    let expected = read("cpu");
    assert!(expected.len() > 1000);
    let outcome = align("auto", None, "gpu");
    assert!(outcome.succeeded() && outcome.stderr.is_empty(), "{}", outcome.stderr);
    compare::assert_same_text("without a fault", &expected, &read("gpu"));
    in_parallel(faults, |&(fault, words)| {
        let name = fault.replace([':', '@'], "_");
        let outcome = align("auto", Some(fault), &name);
        assert!(outcome.succeeded(), "{fault}: {}", outcome.stderr);
        let is_told = outcome.stderr.contains(words) && outcome.stderr.contains("the CPU finished the run");
        assert!(is_told && outcome.stderr.lines().count() == 1, "{fault}: {}", outcome.stderr);
        compare::assert_same_text(fault, &expected, &read(&name));

        let name = format!("{name}_chosen");
        let outcome = align(&device_name(), Some(fault), &name);
        assert_eq!(outcome.code, Some(1), "{fault}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words) && outcome.stderr.lines().count() == 1, "{fault}: {}", outcome.stderr);
        assert!(!folder.path().join(&name).exists(), "{fault} left {name}");
    });
}

#[test]
fn without_any_adapter_auto_uses_the_cpu_and_a_chosen_device_is_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_pair(folder.path());
    let run = |device: &str| {
        let mut command = program::fastz(folder.path());
        command.env("VK_DRIVER_FILES", "/nonexistent").env("VK_ICD_FILENAMES", "/nonexistent");
        command.args(["target.fa", "query.fa", "--format=axt", "--output=out", device]);
        program::run(&mut command, b"", LIMIT)
    };
    let outcome = run("--device=gpu:7");
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("no GPU at all") && outcome.stderr.contains("fastz devices"), "{}", outcome.stderr);
    assert!(!folder.path().join("out").exists());
    assert!(run("--device=auto").succeeded());
    assert!(folder.path().join("out").exists());
    if cfg!(target_os = "linux") {
        let mut command = program::fastz(folder.path());
        command.env("VK_DRIVER_FILES", "/nonexistent").arg("devices");
        let listed = String::from_utf8(program::run(&mut command, b"", LIMIT).stdout).expect("text");
        assert!(listed.contains("VK_DRIVER_FILES") && listed.contains("--device=cpu"), "{listed}");
    }
}

/// A pair of related sequences and runs between them.
fn related() -> (SequenceSet, SequenceSet, Vec<OneSided>) {
    let mut rng = SplitMix64(62);
    let shared = rng.bases(3000);
    let copy = rng.mutated(&shared, 15);
    let runs = [(10, 10), (1500, 1490), (2900, 2850)].iter().flat_map(|&(t, q)| both_sides(t, q)).collect();
    (SequenceSet::single("t", &shared), SequenceSet::single("q", &copy), runs)
}

fn options() -> (Scoring, GappedOptions) {
    (Scoring::default(), GappedOptions { y_drop: 3000, ..GappedOptions::default() })
}

#[test]
fn work_that_takes_too_long_counts_as_hung() {
    // No device finishes that much within a nanosecond.
    let settings = GpuSettings { patience: Some(Duration::from_nanos(1)), ..GpuSettings::default() };
    let Some(gpu) = gpu_with_or_skip("work_that_takes_too_long_counts_as_hung", &settings) else { return };
    let ((scoring, options), (target, query, runs)) = (options(), related());
    let mut extender = GpuExtender::new(gpu, &scoring, &options).expect("kernels");
    let unit = extender.load(&target, &query).expect("room");
    let runs = runs.repeat(200);
    let first = extender.inspect(&unit, &runs).map(|_| "it was quicker");
    assert!(matches!(&first, Err(GpuError::Lost(reason)) if reason.contains("did not come to an end")), "{first:?}");
    assert!(matches!(extender.inspect(&unit, &runs), Err(GpuError::Lost(_))), "it stays given up");
}

#[test]
fn a_screen_that_did_not_run_is_noticed() {
    for fault in [Fault::Unfinished, Fault::Lost, Fault::Hang] {
        let Some(gpu) = own_gpu_or_skip("a_screen_that_did_not_run_is_noticed") else { return };
        let ((scoring, options), (target, query, runs)) = (options(), related());
        let extender = GpuExtender::new(gpu.clone(), &scoring, &options).expect("kernels");
        let unit = extender.load(&target, &query).expect("room");
        let mut screen = extender.screen().expect("a kernel");
        gpu.inject(FaultPlan { fault, kernel: None, after: 0 });
        let screened = screen.run(&unit, &anchors(&runs), 1_000_000);
        assert!(screened.is_err(), "{fault:?}: {screened:?}");
    }
}

/// Answers are right, or the device is given up; the latter for at least `least` of the first copies.
fn check_copies<T: PartialEq + std::fmt::Debug>(
    what: &str,
    gpu: &Gpu,
    least: usize,
    mut work: impl FnMut() -> Result<T, GpuError>,
) {
    let inject = |after| gpu.inject(FaultPlan { fault: Fault::Uncopied, kernel: None, after });
    inject(u32::MAX);
    let expected = work().expect("no fault");
    let mut n_noticed = 0;
    for after in 0..12 {
        inject(after);
        match work() {
            Ok(found) => assert_eq!(found, expected, "{what}, copy {after}"),
            Err(GpuError::Lost(_)) => n_noticed += 1,
            Err(other) => panic!("{what}, copy {after}: {other}"),
        }
    }
    assert!(n_noticed >= least, "{what}: {n_noticed} noticed");
}

#[test]
fn copies_that_were_not_made_are_noticed() {
    let Some(gpu) = own_gpu_or_skip("copies_that_were_not_made_are_noticed") else { return };
    let ((scoring, options), (target, query, runs)) = (options(), related());
    let anchors = anchors(&runs);
    let mut exact = GpuExtender::new(gpu.clone(), &scoring, &options).expect("kernels");
    let mut screen = exact.screen().expect("a kernel");
    let mut relaxed = RelaxedExtender::new(gpu.clone(), &scoring, &options).expect("kernels");
    let unit = exact.load(&target, &query).expect("room");
    // Counters and bounds.
    check_copies("screen", &gpu, 2, || screen.run(&unit, &anchors, 1_000_000));
    // Counters, hulls and verdicts; counters, verdicts, scripts and their runs.
    check_copies("exact", &gpu, 7, || exact.extend(&unit, &anchors, &|_, _| true));
    // Whose place in a log is the first differs from run to run: zeros can be what it should hold.
    check_copies("relaxed", &gpu, 5, || relaxed.extend(&unit, &anchors, &|_, _| true));
}

/// The anchors of runs that come in pairs.
fn anchors(runs: &[OneSided]) -> Vec<Anchor> {
    runs.iter().step_by(2).map(|run| run.anchor).collect()
}

const OUT_OF_MEMORY: FaultPlan = FaultPlan { fault: Fault::OutOfMemory, kernel: None, after: 0 };

#[test]
fn batches_get_smaller_when_memory_runs_out() {
    let Some(gpu) = own_gpu_or_skip("batches_get_smaller_when_memory_runs_out") else { return };
    let ((scoring, options), (target, query, runs)) = (options(), related());
    let mut extender = GpuExtender::new(gpu.clone(), &scoring, &options).expect("kernels");
    let unit = extender.load(&target, &query).expect("room");
    let anchors = anchors(&runs);
    let expected = extender.extend(&unit, &anchors, &|_, _| true).expect("memory");
    for after in 0..8 {
        let budget = *extender.budget_mut();
        gpu.inject(FaultPlan { after, ..OUT_OF_MEMORY });
        let found = extender.extend(&unit, &anchors, &|_, _| true).expect("less memory");
        assert_eq!(found, expected, "allocation {after}");
        assert!(extender.budget_mut().tasks < budget.tasks, "allocation {after}");
        *extender.budget_mut() = budget;
    }
    let mut screen = extender.screen().expect("a kernel");
    let expected = screen.run(&unit, &anchors, 1_000_000).expect("memory");
    for after in 0..2 {
        gpu.inject(FaultPlan { after, ..OUT_OF_MEMORY });
        assert_eq!(screen.run(&unit, &anchors, 1_000_000).expect("less memory"), expected, "allocation {after}");
    }
}

#[test]
fn relaxed_batches_get_smaller_when_memory_runs_out() {
    let Some(gpu) = own_gpu_or_skip("relaxed_batches_get_smaller_when_memory_runs_out") else { return };
    let ((scoring, options), (target, query, runs)) = (options(), related());
    let mut extender = RelaxedExtender::new(gpu.clone(), &scoring, &options).expect("kernels");
    let unit = extender.load(&target, &query).expect("room");
    let anchors = anchors(&runs);
    let expected = extender.extend(&unit, &anchors, &|_, _| true).expect("memory");
    assert!(extender.counts().executed.iter().sum::<u64>() > 0, "the executor allocates too");
    for after in 0..9 {
        let budget = *extender.budget_mut();
        gpu.inject(FaultPlan { after, ..OUT_OF_MEMORY });
        let found = extender.extend(&unit, &anchors, &|_, _| true).expect("less memory");
        assert_eq!(found, expected, "allocation {after}");
        let smaller = *extender.budget_mut();
        assert!(smaller.tasks < budget.tasks && smaller.kept_rows < budget.kept_rows, "allocation {after}");
        *extender.budget_mut() = budget;
    }
    // A device that has no memory at all is given up.
    extender.budget_mut().link_words = 1 << 20;
    gpu.inject(OUT_OF_MEMORY);
    let found = extender.extend(&unit, &anchors, &|_, _| true);
    assert!(matches!(found, Err(GpuError::OutOfMemory(_))), "{found:?}");
}
