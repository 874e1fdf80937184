//! Random pairs and random options on fastz and on the installed LASTZ: same stdout, same files, same success.
//!
//! `FASTZ_FUZZ_CASES` (default 400) and `FASTZ_FUZZ_SEED` (default 1) choose the cases; `FASTZ_FUZZ_CASE=n` runs
//! one. `FASTZ_DEVICE=llvmpipe` makes fastz use that device. A difference is shrunk and kept under
//! `target/tmp/lastz_live`, with the command that shows it again.

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use support::program;
use support::random::Random;
use support::trial::{Answer, Trial};
use support::{compare, option_sets};

/// Where fastz differs from LASTZ on purpose, and so how answers are compared.
///
/// - Words of errors and warnings, on stderr: only that a run is refused or not is compared.
/// - Usage text: LASTZ prints it on stdout after some refusals, fastz prints nothing there.
/// - A run that fails on the way: buffering decides how much was printed, so one output must begin with the other.
///   `--output` files of failed runs: fastz leaves none, LASTZ leaves a part.
/// - Where LASTZ breaks down ([`BREAKDOWNS`]), fastz may do what it likes, as long as it does not break down itself.
///
/// `option_sets` leaves out, as defects of LASTZ:
/// - blastn with `[multiple]` and records that are left out or empty: LASTZ calls the query by the last header it has
///   read. So it does with any target that has `[subsample=k/n]` and not `[multiple]`.
/// - `--self --nogapped` with `[multiple]`, other strand: LASTZ mirrors segments at the ends of the array.
/// - `--noytrim` with `--inner` and `[multiple]`: LASTZ's alignments can cross from one sequence into the next.
/// - `--self` with mirrored gapped blocks on the other strand: of blocks that are cut at the anti-diagonal behind a gap,
///   LASTZ prolongs some gaps instead of turning them around; it then pairs wrong bases, and scores what lies behind
///   the ends of the sequence.
const USAGE_START: &[u8] = b"lastz-- Local Alignment Search Tool";

/// What LASTZ says when it breaks down: for coverage with `--self`; with E=0 and `--noytrim`; with `--self` and
/// `[multiple]`.
const BREAKDOWNS: [&str; 3] = ["internal error", "in ydrop_one_sided_align", "lookup_partition could not locate"];

/// Shrinking stops after this many runs of the pair of programs.
const SHRINK_RUNS: usize = 400;

/// Shrunk reports of one test run; later failures are only counted.
const MOST_REPORTS: usize = 4;

const LIMIT: Duration = Duration::from_secs(60);

/// What LASTZ did with a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lastz {
    Succeeded,
    SucceededWithoutOutput,
    Refused,
    /// A signal, no end, or one of [`BREAKDOWNS`]: nothing to compare with.
    BrokeDown,
}

/// What is wrong with fastz's answer, if anything, and what LASTZ did.
fn compare_answers(lastz: &Answer, fastz: &Answer) -> (Lastz, Option<String>) {
    let (truth, ours) = (&lastz.outcome, &fastz.outcome);
    let what = match truth.code {
        _ if truth.timed_out || BREAKDOWNS.iter().any(|words| truth.stderr.contains(words)) => Lastz::BrokeDown,
        Some(0) if truth.stdout.is_empty() => Lastz::SucceededWithoutOutput,
        Some(0) => Lastz::Succeeded,
        Some(_) => Lastz::Refused,
        None => Lastz::BrokeDown,
    };
    if ours.timed_out {
        return (what, (what != Lastz::BrokeDown).then(|| format!("fastz did not end within {} s", LIMIT.as_secs())));
    }
    let is_sound = matches!(ours.code, Some(0 | 1)) && !ours.stderr.contains("panicked at");
    if !is_sound && !program::is_lastz_on_trial() {
        let panic = ours.stderr.find("panicked at").map(|at| ours.stderr[at..].chars().take(300).collect::<String>());
        let words = panic.unwrap_or_else(|| ours.last_words().to_string());
        return (what, Some(format!("fastz broke down, status {:?}: {words}", ours.code)));
    }
    let difference = match what {
        Lastz::BrokeDown => None,
        Lastz::Refused if ours.succeeded() => Some(format!("LASTZ refuses, fastz does not: {}", truth.last_words())),
        Lastz::Refused => {
            let is_usage = truth.stdout.starts_with(USAGE_START);
            let is_part = truth.stdout.starts_with(&ours.stdout) || ours.stdout.starts_with(&truth.stdout);
            if ours.stderr.trim().is_empty() {
                Some("fastz refuses without a message".to_string())
            } else if is_usage || is_part {
                None
            } else {
                compare::first_difference(&truth.stdout, &ours.stdout)
            }
        }
        _ if !ours.succeeded() => Some(format!("fastz refuses, LASTZ does not: {}", ours.last_words())),
        _ => lastz.first_difference(fastz),
    };
    (what, difference)
}

struct Bench {
    lastz: PathBuf,
    folder: PathBuf,
    /// Options that only fastz knows.
    own_options: Vec<String>,
}

impl Bench {
    fn new(lastz: &Path, seed: u64, case: u64, random: &mut Random) -> Self {
        let folder = support::scratch("lastz_live").join(format!("seed{seed}-case{case}"));
        let mut own_options = vec![program::LASTZ_TOKEN.to_string(), format!("--threads={}", 1 + random.below(4))];
        if let Ok(device) = std::env::var("FASTZ_DEVICE") {
            own_options.push(format!("--device={device}"));
            // Without it, a software adapter only helps the CPU.
            own_options.extend((random.below(3) > 0).then(|| "--all-on-device".to_string()));
        }
        Bench { lastz: lastz.to_path_buf(), folder, own_options }
    }

    fn fastz_options(&self) -> Vec<&str> {
        program::own_options(&self.own_options.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn try_out(&self, trial: &Trial) -> (Lastz, Option<String>) {
        let lastz = trial.run(Command::new(&self.lastz), &self.folder.join("lastz"), LIMIT);
        let mut command = Command::new(program::fastz_path());
        command.args(self.fastz_options());
        let fastz = trial.run(command, &self.folder.join("fastz"), LIMIT);
        let (what, difference) = compare_answers(&lastz, &fastz);
        if matches!(what, Lastz::Refused | Lastz::BrokeDown) {
            let message = lastz.outcome.stderr.lines().next().unwrap_or("(no message)");
            println!("LASTZ {what:?}: {message}: {}", trial.shell_words());
        }
        if difference.is_some() {
            std::fs::write(self.folder.join("lastz.out"), &lastz.outcome.stdout).expect("keep LASTZ's output");
            std::fs::write(self.folder.join("fastz.out"), &fastz.outcome.stdout).expect("keep fastz's output");
        }
        (what, difference)
    }

    /// The smallest trial that still differs, and how it differs.
    fn shrink(&self, mut trial: Trial, mut difference: String) -> (Trial, String) {
        let mut runs = 0;
        'smaller: loop {
            for smaller in trial.smaller() {
                runs += 1;
                if runs > SHRINK_RUNS {
                    break 'smaller;
                }
                if let (_, Some(other)) = self.try_out(&smaller) {
                    (trial, difference) = (smaller, other);
                    continue 'smaller;
                }
            }
            break;
        }
        // Leaves the files of the smallest trial in place.
        self.try_out(&trial);
        (trial, difference)
    }

    fn report(&self, case: u64, trial: &Trial, difference: &str) -> String {
        let words = trial.shell_words();
        let options = self.fastz_options().join(" ");
        format!(
            "== case {case}: {difference}\n  cd '{}' && diff <(lastz {words}) <('{}' {options} {words})\n",
            self.folder.join("lastz").display(),
            program::fastz_path().display(),
        )
    }
}

#[test]
fn random_runs_equal_lastz_to_the_byte() {
    let Some(lastz) = program::lastz_or_skip("random comparison with LASTZ") else { return };
    let seed = support::number_from_env("FASTZ_FUZZ_SEED", 1);
    let count = support::number_from_env("FASTZ_FUZZ_CASES", 400);
    let one = std::env::var("FASTZ_FUZZ_CASE").ok().map(|text| text.parse().expect("FASTZ_FUZZ_CASE is a number"));
    let cases: Vec<u64> = one.map_or_else(|| (0..count).collect(), |case| vec![case]);
    let reports = std::sync::Mutex::new(Vec::new());
    let failures = std::sync::atomic::AtomicUsize::new(0);
    let answers = support::in_parallel(&cases, |&case| {
        let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9).wrapping_add(case));
        let trial = option_sets::trial(&mut random);
        let bench = Bench::new(&lastz, seed, case, &mut random);
        let (what, difference) = bench.try_out(&trial);
        match difference {
            None => std::fs::remove_dir_all(&bench.folder).expect("remove the run's folder"),
            Some(difference) => {
                let earlier = failures.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let (trial, difference) =
                    if earlier < MOST_REPORTS { bench.shrink(trial, difference) } else { (trial, difference) };
                let report = bench.report(case, &trial, &difference);
                program::say(&report);
                reports.lock().expect("no thread panicked").push(report);
            }
        }
        what
    });
    let mut counts: BTreeMap<Lastz, usize> = BTreeMap::new();
    answers.iter().for_each(|what| *counts.entry(*what).or_default() += 1);
    println!("seed {seed}, {} cases; LASTZ: {counts:?}", cases.len());
    let reports = reports.into_inner().expect("no thread panicked");
    assert!(
        reports.is_empty(),
        "{}\n{} of {} cases differ (seed {seed})",
        reports.join("\n"),
        reports.len(),
        cases.len()
    );
    // Cases that print nothing prove little: most must print alignments.
    let good = counts.get(&Lastz::Succeeded).copied().unwrap_or(0);
    assert!(one.is_some() || good * 2 > cases.len(), "only {good} of {} cases print anything", cases.len());
}

/// Identical sequences whose alignment the traceback memory cuts: the second search fills what is left with one block,
/// whatever the strand. `--notrivial` drops some of them, and on partitioned sides whole sequences of either strand.
#[test]
fn fills_of_identical_stretches_equal_lastz() {
    let Some(lastz) = program::lastz_or_skip("the second search of identical stretches beside LASTZ") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = Random::new(4);
    let mut n_filled = 0;
    for case in 0..60 {
        let n = 600 + random.below(600);
        let target = random.bases(n);
        let mut query = if case % 2 == 0 { target.clone() } else { support::evolve::reverse_complement(&target) };
        if random.percent(40) {
            query[random.below(n)] = b'A';
        }
        let write = |file: &str, bases: &[u8]| std::fs::write(folder.path().join(file), [b">s\n", bases].concat());
        write("t", &target).and_then(|()| write("q", &query)).expect("a file");
        let specs = ["t", "q"].map(|file| format!("{file}{}", if random.percent(40) { "[multiple]" } else { "" }));
        let traceback = ["100K", "140K", "200K"][random.below(3)];
        let mut words = vec![
            specs[0].clone(),
            specs[1].clone(),
            "--format=maf-".into(),
            format!("--allocate:traceback={traceback}"),
        ];
        let both = |words: &[String]| {
            let mut theirs = Command::new(&lastz);
            theirs.current_dir(folder.path());
            let run = |mut command: Command| program::run(command.args(words), b"", Duration::from_secs(60));
            let (theirs, ours) = (run(theirs), run(program::fastz_as_lastz(folder.path())));
            assert!(theirs.succeeded() && ours.succeeded(), "{words:?}: {}", ours.last_words());
            assert!(theirs.stdout == ours.stdout, "case {case}: {words:?}");
            ours.stdout.len()
        };
        let unfilled = both(&words);
        words.push(format!("--inner={}", [1000, 2275, 5000][random.below(3)]));
        words.extend(random.percent(50).then(|| "--queryhspbest=1".to_string()));
        n_filled += usize::from(both(&words) > unfilled);
        words.push("--notrivial".into());
        both(&words);
    }
    assert!(n_filled > 20, "{n_filled} fills");
}

/// Positions in pieces between separators and in subranges, on both strands.
#[test]
fn masks_are_listed_as_by_lastz() {
    let Some(lastz) = program::lastz_or_skip("lists of masks beside LASTZ") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let write = |file: &str, text: &str| std::fs::write(folder.path().join(file), text).expect("a file");
    write("t.fa", ">t\nACGTACnnnctaccagnnACGtac\n>u\nACnnnnncaccagGT\n");
    write("q.fa", ">q\nAAACTATCCCCTGC\n");
    for actions in [
        "[multiple]",
        "[multiple,4..]",
        "[multiple,sep=n]",
        "[multiple,4..,sep=n]",
        "[multiple,12..15,sep=n]",
        "[multiple,sep=a]",
        "[multiple,revcomp]",
        "[multiple,revcomp,sep=n]",
        "[multiple,3..14,revcomp,sep=n]",
    ] {
        let words = [&format!("t.fa{actions}"), "q.fa", "--format=differences", "--outputmasking+:soft=list"];
        let list = |mut command: Command| {
            let outcome = program::run(command.args(words), b"", Duration::from_secs(60));
            assert!(outcome.succeeded(), "{actions}: {}", outcome.last_words());
            let list = std::fs::read_to_string(folder.path().join("list")).expect("the list");
            std::fs::remove_file(folder.path().join("list")).expect("remove the list");
            list
        };
        let mut theirs = Command::new(&lastz);
        theirs.current_dir(folder.path());
        let theirs = list(theirs);
        assert!(!theirs.is_empty(), "{actions}");
        assert_eq!(list(program::fastz_as_lastz(folder.path())), theirs, "{actions}");
    }
}

/// Names at the lengths at which LASTZ's memory for them ends, and one beyond the widths of a formatter.
#[test]
fn long_names_are_printed_as_by_lastz() {
    let Some(lastz) = program::lastz_or_skip("long names beside LASTZ") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = Random::new(3);
    let bases = random.bases(600);
    let both_strands = [&bases[..], &support::evolve::reverse_complement(&bases)].concat();
    let write = |file: &str, letter: &str, n: usize| {
        let text = [b">", letter.repeat(n).as_bytes(), b"\n", &both_strands, b"\n"].concat();
        std::fs::write(folder.path().join(file), text).expect("a file");
    };
    for (target, query) in [(255, 256), (256, 256), (255, 257), (300, 300), (70_000, 10), (10, 70_000)] {
        write("t.fa", "t", target);
        write("q.fa", "q", query);
        for format in ["rdotplot", "rdotplot+score", "maf", "maf-", "axt", "lav", "general-", "sam", "paf", "cigar"] {
            let words = ["t.fa", "q.fa", &format!("--format={format}")].map(str::to_string);
            let mut theirs = Command::new(&lastz);
            theirs.current_dir(folder.path());
            let run = |mut command: Command| program::run(command.args(&words), b"", Duration::from_secs(60));
            let (theirs, ours) = (run(theirs), run(program::fastz_as_lastz(folder.path())));
            assert!(theirs.succeeded() && ours.succeeded(), "{target} {query} {format}: {}", ours.last_words());
            assert!(theirs.stdout == ours.stdout, "{target} {query} {format}");
        }
    }
}
