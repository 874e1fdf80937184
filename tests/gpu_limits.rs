//! What the kernels cannot do: the CPU does it, `--report` says so, and the output is that of the CPU alone. What a binding
//! cannot hold stands in several.

mod gpu_support;
mod support;

use std::path::Path;
use std::time::Duration;

use gpu_support::{SplitMix64, device_name, gpu_or_skip};
use support::evolve::{Evolution, evolve, fasta};
use support::in_parallel;
use support::random::Random;
use support::{compare, program};

const LIMIT: Duration = Duration::from_secs(300);

/// Where the report says that the CPU stepped in.
enum Place {
    /// The whole of gapped extension.
    Stage,
    /// A count of the device that is not 0.
    Count(&'static str),
}

/// Options, whether the relaxed contract has them too, and where the report mentions it.
const CASES: &[(&str, bool, Place)] = &[
    ("--noytrim --ydrop=3000", false, Place::Stage),
    ("--gap=-10,30 --ydrop=1500", true, Place::Stage),
    ("--gap=400,0", true, Place::Stage),
    ("--gap=0,0 --ydrop=300 --nogfextend", true, Place::Stage),
    ("--gap=2000000,30", true, Place::Stage),
    ("--ydrop=100000000", true, Place::Stage),
    // Windows wider than any ring (at most 8,192 columns) and boundary: a gap of 9,000 bases survives.
    ("--gap=400,1 --ydrop=9400", true, Place::Count("too_wide")),
    ("--scores=beyond.txt", true, Place::Count("units_left")),
    // Blocks of a few hundred pairs leave the range of the kernels.
    ("--scores=largest.txt", true, Place::Count("out_of_range")),
];

/// A score file with this score for every match, and its like for the rest.
fn score_file(score: u32) -> String {
    let rows = (0..4).map(|row| {
        let cells = (0..4).map(|column| if row == column { format!(" {score}") } else { format!(" -{score}") });
        format!("{}{}\n", ["A", "C", "G", "T"][row], cells.collect::<String>())
    });
    let limits = "y_drop=8000000\nx_drop=5000000\nhsp_threshold=20000000\n";
    format!("gap_open_penalty=400000\ngap_extend_penalty=200000\n{limits}  A C G T\n{}", rows.collect::<String>())
}

fn run(folder: &Path, options: &str, output: &str) -> program::Outcome {
    run_within(folder, None, options, output)
}

/// As [`run`], with bindings of so many bytes at most.
fn run_within(folder: &Path, binding: Option<u64>, options: &str, output: &str) -> program::Outcome {
    let mut command = program::fastz(folder);
    command.envs(binding.map(|bytes| ("FASTZ_TEST_BINDING", bytes.to_string())));
    command.env("FASTZ_CACHE_DIR", folder.join("cache")).args(["target.fa", "query.fa", "--format=maf-"]);
    command.args(options.split_whitespace()).arg(format!("--output={output}"));
    let outcome = program::run(&mut command, b"", LIMIT);
    assert!(outcome.succeeded(), "{options}: {}", outcome.stderr);
    outcome
}

#[test]
fn the_cpu_does_what_kernels_cannot() {
    if gpu_or_skip("the_cpu_does_what_kernels_cannot").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let pair = evolve(&mut Random::new(76), &Evolution::strain(10_000));
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text).expect("write a file");
    write("target.fa", fasta("target", &pair.target));
    write("query.fa", fasta("query", &pair.query));
    write("beyond.txt", score_file(2_000_000));
    write("largest.txt", score_file(1_000_000));
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let cases: Vec<(usize, bool)> = (0..CASES.len()).flat_map(|case| [(case, false), (case, true)]).collect();
    in_parallel(&cases, |&(case, is_relaxed)| {
        let (options, can_be_relaxed, ref place) = CASES[case];
        if is_relaxed && !can_be_relaxed {
            return;
        }
        let options = if is_relaxed { format!("{options} --relaxed") } else { options.to_string() };
        let name = |what: &str| format!("{what}_{case}_{is_relaxed}");
        let (cpu, gpu, report) = (name("cpu"), name("gpu"), name("report"));
        run(folder, &format!("{options} --device=cpu"), &cpu);
        let outcome =
            run(folder, &format!("{options} --device={} --all-on-device --report={report}", device_name()), &gpu);
        let expected = read(&cpu);
        assert!(expected.len() > 500, "{options} prints nothing to compare");
        compare::assert_same_text(&options, &expected, &read(&gpu));
        let report: serde_json::Value = serde_json::from_slice(&read(&report)).expect("JSON");
        match place {
            Place::Stage => {
                let reason = report["left_to_cpu"]["gapped extension"].as_str().unwrap_or_default();
                assert!(!reason.is_empty() && outcome.stderr.contains(reason), "{options}: {report}");
                assert!(report["gpu"][0]["extension"].is_null(), "{options}: {report}");
            }
            Place::Count(name) => {
                let count = report["gpu"][0]["extension"][name].as_u64();
                assert!(count > Some(0), "{options}: {report}");
                assert!(!outcome.stderr.contains("gapped extension"), "{options}: {}", outcome.stderr);
            }
        }
    });
}

#[test]
fn a_target_larger_than_a_binding_is_searched_in_parts() {
    let test = "a_target_larger_than_a_binding_is_searched_in_parts";
    if gpu_or_skip(test).is_none() || cfg!(not(debug_assertions)) {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let mut rng = SplitMix64(77);
    // A window a base takes 4 bytes, so that bindings of 4 MiB hold a million and more; homologies lie in all parts.
    let mut target = rng.bases(2_700_000);
    let pair = evolve(&mut Random::new(78), &Evolution::mammal(24_000));
    for (place, piece) in pair.target.chunks(4000).enumerate() {
        target[place * 440_000..][..piece.len()].copy_from_slice(piece);
    }
    let (middle, end) = (target.len() / 2, target.len());
    let target = fasta("target1", &target[..middle]) + &fasta("target2", &target[middle..end]);
    std::fs::write(folder.join("target.fa"), target).expect("write the target");
    std::fs::write(folder.join("query.fa"), fasta("query", &pair.query)).expect("write the query");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let options = "--action:target=multiple --ydrop=3000";
    run(folder, &format!("{options} --device=cpu"), "cpu");
    let expected = read("cpu");
    assert!(expected.len() > 5000, "there is little to compare");
    let on_gpu = format!("{options} --device={} --all-on-device --report=report", device_name());
    let outcome = run_within(folder, Some(4 << 20), &format!("{on_gpu} --gpu-memory=80M"), "gpu");
    compare::assert_same_text("three parts", &expected, &read("gpu"));
    assert!(!outcome.stderr.contains("the search"), "{}", outcome.stderr);
    let report: serde_json::Value = serde_json::from_slice(&read("report")).expect("JSON");
    let kernels = report["gpu"][0]["kernels"].as_array().expect("times of kernels");
    let dispatches = |name: &str| kernels.iter().find(|kernel| kernel["kernel"] == name)?["dispatches"].as_u64();
    assert_eq!(dispatches("seed_lookup"), dispatches("seed_settle").map(|n| 3 * n), "{report}");
    let memory = |name: &str| report["gpu"][0]["memory"][name].as_u64();
    assert!(memory("peak") > Some(32 << 20) && memory("peak") <= memory("budget"), "{report}");
    // Parts do not help where the device has not the memory.
    let outcome = run_within(folder, Some(4 << 20), &format!("{on_gpu} --gpu-memory=64M"), "cpu_after_all");
    compare::assert_same_text("too little memory", &expected, &read("cpu_after_all"));
    let reason = "the search runs on the CPU: the search in target.fa needs";
    assert!(outcome.stderr.contains(reason) && outcome.stderr.contains("--gpu-memory"), "{}", outcome.stderr);
}
