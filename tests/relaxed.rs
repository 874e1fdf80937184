//! The relaxed contract (`src/extend/relaxed.rs`): the CPU engine against the definition written out over the whole
//! matrix, and whole runs.

mod gpu_support;
mod support;

use std::path::Path;
use std::time::Duration;

use fastz::alignment::{Anchor, EditOp, EditScript};
use fastz::cpu::{SideProblem, Ydrop};
use fastz::extend::relaxed::{PRUNE_ROWS, STRIPE_ROWS};
use fastz::extend::side::{Direction, Side};
use fastz::options::{Contract, GappedOptions};
use fastz::post::rescore::score_of;
use fastz::scoring::Scoring;
use fastz::sequence::SequenceSet;
use gpu_support::SplitMix64;
use support::evolve::{Evolution, evolve, fasta};
use support::random::Random;
use support::trial::Answer;
use support::{compare, option_sets, program};

const DEAD: i64 = i64::MIN / 4;

#[derive(Clone, Copy)]
struct Cell {
    score: i64,
    deletion: i64,
    /// The source of C, and whether the insertion and the deletion that leave the cell extend.
    link: (EditOp, bool, bool),
}

/// A run to the right of the start, by the letter of the definition: every cell of the matrix, no windows.
fn by_definition(target: &[u8], query: &[u8], scoring: &Scoring, y_drop: i64) -> Side {
    let (first, extend) = (i64::from(scoring.gap_open + scoring.gap_extend), i64::from(scoring.gap_extend));
    let dead = Cell { score: DEAD, deletion: DEAD, link: (EditOp::Pair, false, false) };
    let row0 = (0..=query.len() as i64).map(|column| {
        let score = if column == 0 { 0 } else { -first - (column - 1) * extend };
        if score < -y_drop { dead } else { Cell { score, deletion: score - first, ..dead } }
    });
    let mut matrix: Vec<Vec<Cell>> = vec![row0.collect()];
    let (mut best, mut end, mut threshold) = (0, (0, 0), -y_drop);
    for row in 1..=target.len() {
        if (row - 1) % STRIPE_ROWS == 0 {
            threshold = best - y_drop;
        }
        let mut insertion = DEAD;
        let above = &matrix[row - 1];
        let mut cells = vec![dead; query.len() + 1];
        for column in 0..=query.len() {
            let pair = match column.checked_sub(1).map(|left| above[left].score) {
                Some(score) if score > DEAD => {
                    score + i64::from(scoring.gapped.get(target[row - 1], query[column - 1]))
                }
                _ => DEAD,
            };
            let deletion = above[column].deletion;
            let score = pair.max(deletion).max(insertion);
            if score < DEAD / 2 || row % PRUNE_ROWS == 0 && score < threshold {
                insertion = DEAD;
                continue;
            }
            let opened = if score > pair { DEAD } else { pair - first };
            let source = match score {
                score if score == pair => EditOp::Pair,
                score if score == deletion => EditOp::Deletion,
                _ => EditOp::Insertion,
            };
            let link = (source, insertion - extend >= opened, deletion - extend >= opened);
            cells[column] = Cell { score, deletion: opened.max(deletion - extend), link };
            insertion = opened.max(insertion - extend);
            if source == EditOp::Pair && score >= best {
                (best, end) = (score, (row, column));
            }
        }
        matrix.push(cells);
    }
    let mut script = EditScript::default();
    let (mut row, mut column, mut arrived_by) = (end.0, end.1, EditOp::Pair);
    while row > 0 {
        let (source, insertion_extends, deletion_extends) = matrix[row][column].link;
        arrived_by = match arrived_by {
            EditOp::Insertion if insertion_extends => EditOp::Insertion,
            EditOp::Deletion if deletion_extends => EditOp::Deletion,
            _ => source,
        };
        script.push(arrived_by, 1);
        row -= usize::from(arrived_by != EditOp::Insertion);
        column -= usize::from(arrived_by != EditOp::Deletion);
    }
    script.push(EditOp::Insertion, column as u32);
    let script = script.reversed();
    Side { score: best, rows: end.0 as u32, columns: end.1 as u32, script, ..Side::default() }
}

/// A target and a mutated copy, with unrelated stretches and long gaps.
fn related(rng: &mut SplitMix64, len: usize, spacing: usize) -> (Vec<u8>, Vec<u8>) {
    let mut target = rng.bases(len);
    let mut query = rng.mutated(&target, spacing);
    if rng.below(3) == 0 {
        let (at, n) = (rng.below(query.len()), rng.below(60));
        let stray = rng.bases(n);
        query.splice(at..at, stray);
    }
    if rng.below(3) == 0 {
        let at = rng.below(target.len() - 30);
        target[at..at + rng.below(30)].fill(b'N');
    }
    if rng.below(4) == 0 {
        let unit = rng.bases(7);
        let n = rng.below(150);
        let at = rng.below(query.len().min(target.len()));
        let repeat: Vec<u8> = unit.iter().copied().cycle().take(n).collect();
        target.splice(at..at, repeat.clone());
        query.splice(at..at, repeat);
    }
    (target, query)
}

fn scoring(open: i32, extend: i32) -> Scoring {
    Scoring { gap_open: open, gap_extend: extend, ..Scoring::default() }
}

fn check_definition(seed: u64, len: usize, spacing: usize, scoring: &Scoring, y_drop: i32) -> u32 {
    let mut rng = SplitMix64(seed);
    let (target, query) = related(&mut rng, len, spacing);
    // The run starts after the anchor pair.
    let sets = [&target, &query].map(|bases| SequenceSet::single("s", &[b"A", bases.as_slice()].concat()));
    let anchor = Anchor { target: 0, query: 0, hsp_score: 0 };
    let problem = SideProblem { target: &sets[0], query: &sets[1], anchor, direction: Direction::Right };
    let options = GappedOptions { y_drop, contract: Contract::Relaxed, ..GappedOptions::default() };
    let engine = Ydrop::new(scoring, &options);
    let found = engine.run_relaxed(&problem, &mut Default::default());
    let scalar = engine.scalar().run_relaxed(&problem, &mut Default::default());
    assert_eq!(found, scalar, "seed {seed}: the vectorised engine against the scalar one");
    let expected = by_definition(&target, &query, scoring, y_drop.into());
    let found = Side { cells: 0, ..found };
    assert_eq!(found, expected, "seed {seed}, length {len}, spacing {spacing}, Y {y_drop}");
    if expected.rows > 0 {
        let score = score_of(&found.script, &target, &query, 0, 0, scoring);
        assert_eq!(score, found.score, "seed {seed}: the path is worth its score");
    }
    found.rows
}

#[test]
fn cpu_engine_equals_the_definition() {
    let mut rows = Vec::new();
    for seed in 0..150 {
        let len = 40 + 13 * seed as usize % 400;
        let (open, extend, y_drop) =
            [(400, 30, 9400), (400, 30, 1500), (100, 60, 900), (0, 40, 700), (600, 10, 1200)][seed as usize % 5];
        rows.push(check_definition(seed, len, 4 + seed as usize % 9, &scoring(open, extend), y_drop));
    }
    assert!(rows.iter().filter(|&&rows| rows > 100).count() > 30, "{rows:?}");
}

#[test]
fn cpu_engine_equals_the_definition_over_several_stripes() {
    let mut longest = 0;
    for seed in 200..212 {
        let y_drop = if seed % 2 == 0 { 1200 } else { 3000 };
        longest = longest.max(check_definition(seed, 900, 12, &scoring(400, 30), y_drop));
    }
    assert!(longest > 2 * STRIPE_ROWS as u32, "{longest}");
}

#[test]
fn cpu_engine_equals_the_definition_with_ties_and_free_openings() {
    let unit = [[1, -1, -1, -1], [-1, 1, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 1]];
    let ties = Scoring::from_acgt(&unit, -1, -10, 1, 1);
    for seed in 300..360 {
        check_definition(seed, 60 + seed as usize % 50, 5, &ties, 2 + seed as i32 % 9);
    }
}

const LIMIT: Duration = Duration::from_secs(300);

/// A pair of sequences as files.
fn pair(seed: u64, plan: &Evolution) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pair = evolve(&mut Random::new(seed), plan);
    std::fs::write(folder.path().join("target.fa"), fasta("target", &pair.target)).expect("write the target");
    std::fs::write(folder.path().join("query.fa"), fasta("query", &pair.query)).expect("write the query");
    folder
}

fn print(folder: &Path, words: &str) -> Vec<u8> {
    let mut command = program::fastz(folder);
    command.args(["target.fa", "query.fa"]).args(words.split_whitespace());
    let outcome = program::run(&mut command, b"", LIMIT);
    assert!(outcome.succeeded(), "{words}: status {:?}: {}", outcome.code, outcome.last_words());
    outcome.stdout
}

#[test]
fn output_does_not_depend_on_threads() {
    let folder = pair(51, &Evolution { breaks: 5000.0, duplications: 2e-4, ..Evolution::mammal(40_000) });
    for words in [
        "--format=maf",
        "--hspthresh=1200 --gappedthresh=1200 --ydrop=3000 --format=axt",
        "--hspthresh=1500 --allgappedbounds --gappedthresh=4000 --format=cigar",
        "--hspthresh=2000 --inner=1500 --format=general-",
        "--anyornone --format=general-",
    ] {
        let one = print(folder.path(), &format!("{words} --relaxed --device=cpu --threads=1"));
        assert!(one.len() > 50, "{words} prints nothing to compare");
        for threads in [2, 3, 8] {
            let many = print(folder.path(), &format!("{words} --relaxed --device=cpu --threads={threads}"));
            compare::assert_same_text(&format!("{words} with {threads} threads"), &one, &many);
        }
    }
}

#[test]
fn simple_pairs_give_the_exact_alignments() {
    let plan =
        Evolution { repeats: 0.0, new_repeats: 0.0, tandem: 0.0, duplications: 0.0, ..Evolution::strain(20_000) };
    let folder = pair(52, &plan);
    let words = "--strand=plus --format=general-:score,zstart1,end1,zstart2,end2,cigarx --device=cpu";
    let exact = print(folder.path(), words);
    let relaxed = print(folder.path(), &format!("{words} --relaxed"));
    assert!(exact.len() > 100);
    compare::assert_same_text("relaxed and exact", &exact, &relaxed);
}

/// On a software adapter, if there is one (`FASTZ_REQUIRE_GPU=1` makes its absence a failure).
#[test]
fn output_does_not_depend_on_the_device() {
    let test = "output_does_not_depend_on_the_device";
    if gpu_support::gpu_or_skip(test).is_none() {
        return;
    }
    let folder = pair(53, &Evolution { breaks: 4000.0, duplications: 1e-4, n_runs: 1e-4, ..Evolution::mammal(25_000) });
    let report = folder.path().join("report.json");
    for words in [
        "--format=maf-",
        "--nogfextend --notransition --format=general-",
        "--hspthresh=1200 --gappedthresh=1200 --ydrop=3000 --allgappedbounds --format=cigar",
        "--hspthresh=2000 --inner=1500 --ambiguous=iupac --format=axt",
    ] {
        let cpu = print(folder.path(), &format!("{words} --relaxed --device=cpu"));
        assert!(cpu.len() > 100, "{words} prints nothing to compare");
        let gpu = print(
            folder.path(),
            &format!("{words} --relaxed --device=gpu:0 --all-on-device --report={}", report.display()),
        );
        compare::assert_same_text(words, &cpu, &gpu);
        let report = std::fs::read_to_string(&report).expect("a report");
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        let counts = &report["gpu"][0]["extension"];
        assert!(counts["eager"].as_u64() > Some(0), "{report}");
        assert!(counts["inspected"].as_u64() > counts["eager"].as_u64(), "{report}");
    }
}

/// Random pairs and random options, on the CPU and on a device: same stdout, same files, same success. `FASTZ_FUZZ_CASES`
/// (default 40) and `FASTZ_FUZZ_SEED` (default 1) choose the cases; what differs is kept under `target/tmp/relaxed`.
#[test]
fn random_runs_do_not_depend_on_the_device() {
    let test = "random_runs_do_not_depend_on_the_device";
    if gpu_support::gpu_or_skip(test).is_none() {
        return;
    }
    let seed = support::number_from_env("FASTZ_FUZZ_SEED", 1);
    let cases: Vec<u64> = (0..support::number_from_env("FASTZ_FUZZ_CASES", 40)).collect();
    let device = gpu_support::device_name();
    let results = support::in_parallel(&cases, |&case| {
        let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9).wrapping_add(case));
        let trial = option_sets::trial(&mut random);
        let folder = support::scratch("relaxed").join(format!("seed{seed}-case{case}"));
        let report = folder.with_extension("json");
        let answer = |name: &str, options: &[&str]| -> Answer {
            let mut command = program::fastz(&folder);
            command.arg("--relaxed").args(options);
            trial.run(command, &folder.join(name), LIMIT)
        };
        let cpu = answer("cpu", &["--device=cpu"]);
        // What no report was written for was refused.
        let _ = std::fs::remove_file(&report);
        let on_device = [format!("--device={device}"), format!("--report={}", report.display())];
        let gpu = answer("gpu", &[&on_device[0], "--all-on-device", &on_device[1]]);
        let difference = match (cpu.outcome.code, gpu.outcome.code) {
            (cpu, gpu) if cpu != gpu => Some(format!("status {cpu:?} expected, {gpu:?} found")),
            (Some(0), _) => cpu.first_difference(&gpu),
            (Some(1), _) => None,
            (other, _) => Some(format!("status {other:?}")),
        };
        let inspected = std::fs::read(&report).ok().map_or(0, |text| {
            let report: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
            report["gpu"][0]["extension"]["inspected"].as_u64().unwrap_or(0)
        });
        if difference.is_none() {
            // Neither is there if the run was refused early.
            let _ = (std::fs::remove_dir_all(&folder), std::fs::remove_file(&report));
        }
        let words = trial.shell_words();
        let said = gpu.outcome.last_words().to_string();
        (inspected, difference.map(|difference| format!("case {case}: {difference}\n  {words}\n  {said}")))
    });
    let differences: Vec<String> = results.iter().filter_map(|(_, difference)| difference.clone()).collect();
    let on_device = results.iter().filter(|(inspected, _)| *inspected > 0).count();
    println!("seed {seed}: {on_device} of {} runs extended anchors on the device", cases.len());
    assert!(differences.is_empty(), "seed {seed}:\n{}", differences.join("\n"));
    assert!(on_device * 8 >= cases.len(), "only {on_device} of {} runs came to the device", cases.len());
}
