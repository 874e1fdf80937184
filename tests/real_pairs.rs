//! Whole outputs on real genome pairs, equal to LASTZ's to the byte.
//!
//! The pairs come from the folder `FASTZ_TEST_DATA`; without it these tests are skipped. LASTZ's own outputs are kept
//! under `target/tmp/lastz_outputs`, so only the first run pays for them.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use support::{compare, program};

/// Runs on small and medium pairs; the last number is LASTZ's seconds on one slow core, to keep an eye on the sum.
const RUNS: &[(&str, u32)] = &[
    ("mito/humanMito.fa mito/mouseMito.fa --format=lav", 1),
    ("mito/humanMito.fa mito/fuguMito.fa --hspthresh=2200 --format=axt", 1),
    ("pseudo/pseudocat.fa pseudo/pseudopig.fa --format=maf", 1),
    ("pseudo/pseudopig.fa[multiple] pseudo/pseudocat.fa --inner=2000 --format=general", 1),
    ("pseudo/aglobin.2bit/human pseudo/aglobin.2bit/cow --inner=2000 --hspthresh=2400 --ydrop=9400 --format=axt+", 2),
    ("pseudo/pseudopig.fa[multiple] --self --masking=50 --format=general:score,zstart1,zstart2,cigar", 2),
    ("yeast_chr1/ScerR64.fa[multiple] yeast_chr1/SmikIFO1815.fa --format=maf", 4),
    ("yeast_chr1/ScerR64.fa[multiple] yeast_chr1/SkudIFO1802.fa --chain --inner=2200 --format=paf", 8),
    ("kegalign/apple.fa[multiple] kegalign/orange.fa --format=sam", 3),
    (
        "encode_ENm001/human.fa[multiple] encode_ENm001/chicken.fa --ambiguous=iupac --hspthresh=2200 --inner=2000 \
         --ydrop=3400 --gappedthresh=6000 --format=axt",
        12,
    ),
    ("encode_ENm001/human.fa[multiple] encode_ENm001/mouse.fa --ambiguous=iupac --notransition --format=cigar", 8),
    ("bacteria/HPylori_G27.fa[multiple] bacteria/HPylori_Puno120.fa --notransition --step=20 --format=cigar", 12),
];

/// Longest time of one run.
const LIMIT: Duration = Duration::from_secs(400);

/// The folder with the pairs, or none, with a line that says so.
fn genomes() -> Option<PathBuf> {
    let folder = std::env::var_os("FASTZ_TEST_DATA").map(PathBuf::from);
    match folder {
        None => {
            program::say("SKIPPED real pairs: set FASTZ_TEST_DATA to a folder with the genome pairs (see README.md)");
            None
        }
        Some(folder) => {
            assert!(folder.is_dir(), "FASTZ_TEST_DATA={} is not a folder", folder.display());
            Some(folder.canonicalize().expect("the folder's full name"))
        }
    }
}

fn words(run: &str) -> Vec<&str> {
    run.split_whitespace().collect()
}

/// The files named in a run.
fn inputs(folder: &Path, run: &str) -> Vec<PathBuf> {
    let files = words(run).into_iter().filter(|word| !word.starts_with("--"));
    files
        .map(|word| {
            let name = word.split('[').next().expect("a name");
            folder.join(match name.split_once(".2bit/") {
                Some((file, _)) => format!("{file}.2bit"),
                None => name.to_string(),
            })
        })
        .collect()
}

/// LASTZ's output, from an earlier run on the same files if there was one.
fn expected(lastz: &Path, folder: &Path, run: &str) -> Vec<u8> {
    let mut key = format!("{run}\n");
    for file in inputs(folder, run) {
        let meta = std::fs::metadata(&file).expect("the input was there before");
        let changed = meta.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        key.push_str(&format!("{} {} {changed:?}\n", file.display(), meta.len()));
    }
    let name: String =
        run.chars().take(60).map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    let cache = support::scratch("lastz_outputs");
    let (key_file, output_file) = (cache.join(format!("{name}.key")), cache.join(format!("{name}.out")));
    if std::fs::read_to_string(&key_file).is_ok_and(|stored| stored == key)
        && let Ok(output) = std::fs::read(&output_file)
    {
        return output;
    }
    let mut command = Command::new(lastz);
    command.current_dir(folder).args(words(run));
    let outcome = program::run(&mut command, b"", LIMIT);
    assert!(outcome.succeeded(), "lastz {run}: status {:?}: {}", outcome.code, outcome.last_words());
    std::fs::write(&output_file, &outcome.stdout).expect("keep LASTZ's output");
    std::fs::write(&key_file, key).expect("keep what it belongs to");
    outcome.stdout
}

#[test]
fn real_pairs_equal_lastz_to_the_byte() {
    let Some(folder) = genomes() else { return };
    let Some(lastz) = program::lastz_or_skip("real pairs") else { return };
    let wanted = std::env::var("FASTZ_PAIR").unwrap_or_default();
    let runs: Vec<&str> = RUNS.iter().map(|(run, _)| *run).filter(|run| run.contains(&wanted)).collect();
    assert!(!runs.is_empty(), "no run contains FASTZ_PAIR={wanted}");
    let missing = |run: &&&str| inputs(&folder, run).iter().any(|file| !file.is_file());
    for run in runs.iter().filter(missing) {
        program::say(&format!("SKIPPED real pair, its files are not in {}: {run}", folder.display()));
    }
    let present: Vec<&str> = runs.iter().filter(|run| !missing(run)).copied().collect();
    assert!(!present.is_empty(), "FASTZ_TEST_DATA={} holds none of the pairs", folder.display());
    let mut failures = Vec::new();
    for run in &present {
        let truth = expected(&lastz, &folder, run);
        assert!(truth.len() > 400, "{run} proves nothing: LASTZ prints {} bytes", truth.len());
        let start = Instant::now();
        let mut command = program::fastz_as_lastz(&folder);
        let outcome = program::run(command.args(words(run)), b"", LIMIT);
        println!("{:7.2} s, {} bytes: {run}", start.elapsed().as_secs_f64(), outcome.stdout.len());
        if !outcome.succeeded() {
            failures.push(format!("{run}: status {:?}: {}", outcome.code, outcome.last_words()));
        } else if let Some(difference) = compare::first_difference(&truth, &outcome.stdout) {
            failures.push(format!("{run}: {difference}"));
        }
    }
    assert!(failures.is_empty(), "{} of {} runs differ:\n{}", failures.len(), present.len(), failures.join("\n"));
}

#[test]
fn the_runs_stay_within_the_time_of_the_suite() {
    let seconds: u32 = RUNS.iter().map(|(_, seconds)| seconds).sum();
    assert!(seconds <= 60, "{seconds} s of LASTZ: an unoptimised fastz would need more than the suite may take");
}
