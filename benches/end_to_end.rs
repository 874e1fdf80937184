//! fastz against the installed LASTZ on whole pairs, in one run on one machine, output compared first.
//!
//! `cargo bench --bench end_to_end` prints a table. Pairs come from `FASTZ_TEST_DATA`; without it the committed pair
//! is used, which is too small for conclusions. `FASTZ_BENCH=yeast` takes the pairs whose line contains the word,
//! `FASTZ_BENCH_RUNS=3` repeats every run and takes the fastest.

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use support::{compare, program};

/// Target, query and the options of both stages.
const PAIRS: &[(&str, &str, &str)] = &[
    ("yeast_chr1/ScerR64.fa[multiple]", "yeast_chr1/SmikIFO1815.fa", ""),
    ("kegalign/apple.fa[multiple]", "kegalign/orange.fa", ""),
    ("encode_ENm001/human.fa[multiple]", "encode_ENm001/mouse.fa", "--ambiguous=iupac"),
    ("fly_chr4/DmelanDM6.fa[multiple]", "fly_chr4/DteissPrinDtei.fa", ""),
    ("bacteria/HPylori_G27.fa[multiple]", "bacteria/HPylori_Puno120.fa", ""),
];

/// Where the time goes: up to the HSPs, and all.
const STAGES: &[(&str, &str)] = &[("hsps", "--nogapped --format=segments"), ("whole", "--format=maf-")];

const LIMIT: Duration = Duration::from_secs(3600);

struct Measured {
    seconds: f64,
    stdout: Vec<u8>,
}

/// The fastest of `runs` runs.
fn measure(command: impl Fn() -> Command, words: &[&str], runs: u64) -> Measured {
    let mut best: Option<Measured> = None;
    for _ in 0..runs {
        let mut command = command();
        command.args(words);
        let start = Instant::now();
        let outcome = program::run(&mut command, b"", LIMIT);
        let seconds = start.elapsed().as_secs_f64();
        assert!(outcome.succeeded(), "{command:?}: status {:?}: {}", outcome.code, outcome.last_words());
        if best.as_ref().is_none_or(|best| seconds < best.seconds) {
            best = Some(Measured { seconds, stdout: outcome.stdout });
        }
    }
    best.expect("at least one run")
}

fn megabases(folder: &Path, specifier: &str) -> f64 {
    let file = specifier.split('[').next().expect("a file name");
    std::fs::metadata(folder.join(file)).map_or(0.0, |meta| meta.len() as f64 / 1e6)
}

fn row(pair: &str, stage: &str, who: &str, seconds: f64, megabases: f64, lastz_seconds: f64) {
    let (rate, ratio) = (megabases / seconds, lastz_seconds / seconds);
    println!("{pair}\t{stage}\t{who}\t{seconds:.2}\t{rate:.3}\t{ratio:.2}");
}

fn main() {
    let Some(lastz) = program::lastz_or_skip("end-to-end benchmark") else { return };
    let genomes = std::env::var_os("FASTZ_TEST_DATA").map(PathBuf::from);
    let (folder, pairs) = match genomes {
        Some(folder) => (folder.canonicalize().expect("FASTZ_TEST_DATA is a folder"), PAIRS.to_vec()),
        None => {
            program::say("FASTZ_TEST_DATA is not set: only the small committed pair is measured");
            (support::data(""), vec![("target.fa", "query.fa", "")])
        }
    };
    let wanted = std::env::var("FASTZ_BENCH").unwrap_or_default();
    let runs = support::number_from_env("FASTZ_BENCH_RUNS", 1).max(1);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("pair\tstage\tprogram\tseconds\tquery Mb/s\tlastz seconds / seconds");
    for (target, query, options) in pairs {
        let pair = format!("{target} x {query}");
        if !pair.contains(&wanted) {
            continue;
        }
        for (stage, stage_options) in STAGES {
            let mut words = vec![target, query];
            words.extend(options.split_whitespace().chain(stage_options.split_whitespace()));
            let in_folder = |program: &Path| {
                let mut command = Command::new(program);
                command.current_dir(&folder);
                command
            };
            let size = megabases(&folder, query);
            let truth = measure(|| in_folder(&lastz), &words, runs);
            row(&pair, stage, "lastz", truth.seconds, size, truth.seconds);
            for threads in [1, cores] {
                let option = format!("--threads={threads}");
                let with_threads = || {
                    let mut command = in_folder(&program::fastz_path());
                    command.args(program::own_options(&["--device=cpu", &option]));
                    command
                };
                let ours = measure(with_threads, &words, runs);
                compare::assert_same_text(&format!("{pair}, {stage}"), &truth.stdout, &ours.stdout);
                row(&pair, stage, &format!("fastz, {threads} threads"), ours.seconds, size, truth.seconds);
            }
        }
    }
}
