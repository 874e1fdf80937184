//! The README tells the truth: its paths exist, its options exist, its commands are those that the tests run.

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use support::program;

fn readme() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Texts between backticks, code blocks aside.
fn quoted(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    prose.flat_map(|part| part.split('`').skip(1).step_by(2)).collect()
}

/// The rows of the table "paper or LASTZ step -> file".
fn step_rows(text: &str) -> Vec<&str> {
    let table = text.split("| paper or LASTZ step |").nth(1).expect("README.md has the table of steps and files");
    table.lines().skip(2).take_while(|line| line.starts_with('|')).collect()
}

/// Words that look like options: `--name` up to `=` and the like.
fn options(text: &str) -> BTreeSet<String> {
    let starts = text.match_indices("--").filter(|(at, _)| {
        let before = text[..*at].chars().next_back();
        before.is_none_or(|letter| letter.is_whitespace() || "`'\"(|[".contains(letter))
    });
    starts
        .map(|(at, _)| {
            text[at..].chars().take_while(|letter| letter.is_ascii_alphanumeric() || "-_:".contains(*letter))
        })
        .map(|letters| letters.collect::<String>().trim_end_matches(':').to_string())
        .filter(|option| option.len() > 3)
        .collect()
}

#[test]
fn every_path_in_the_table_of_steps_exists() {
    let text = readme();
    let rows = step_rows(&text);
    assert!(rows.len() >= 8, "the table has only {} rows", rows.len());
    for row in rows {
        let paths: Vec<&str> = quoted(row).into_iter().filter(|word| word.contains('/')).collect();
        assert!(!paths.is_empty(), "no path in this row: {row}");
        for path in paths {
            // `file.rs::name` points into a file.
            let file = path.split("::").next().expect("a path");
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(file).exists(), "{file} does not exist: {row}");
        }
    }
}

#[test]
fn every_path_quoted_in_the_readme_exists() {
    let text = readme();
    let looks_like_path = |word: &&str| {
        ["src/", "tests/", "shaders/", "benches/", "examples/", ".ci/"].iter().any(|start| word.starts_with(start))
    };
    for path in quoted(&text).into_iter().filter(looks_like_path).filter(|path| !path.contains(['*', ' '])) {
        let file = path.split("::").next().expect("a path");
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(file).exists(), "{file} does not exist");
    }
}

#[test]
fn every_option_in_the_readme_is_in_the_help() {
    let outcome = program::run(program::fastz(Path::new(".")).arg("--help"), b"", Duration::from_secs(30));
    assert!(outcome.succeeded() || program::is_lastz_on_trial(), "--help: {}", outcome.last_words());
    if program::is_lastz_on_trial() {
        return program::say("SKIPPED options of the README: LASTZ does not know fastz's own");
    }
    let help = String::from_utf8(outcome.stdout).expect("help is text");
    let known = options(&help);
    // Words of other programs that the README's commands call.
    let foreign = ["--example", "--length", "--release", "--test", "--bench", "--path", "--locked", "--git"];
    let unknown: Vec<String> = options(&readme())
        .into_iter()
        .filter(|option| !known.contains(option) && !foreign.contains(&option.as_str()))
        .collect();
    assert!(unknown.is_empty(), "README.md names options that fastz --help does not: {unknown:?}");
}

#[test]
fn options_are_found_in_prose_code_and_help() {
    let found = options("use `--inner=2000` or --format=maf, (--queryhspbest) x--y; a -- b --allocate:traceback=9");
    let expected = ["--allocate:traceback", "--format", "--inner", "--queryhspbest"];
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

/// What CI runs must be the very commands that the README gives.
#[test]
fn ci_runs_the_test_command_of_the_readme() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/run");
    let script = std::fs::read_to_string(&script).expect(".ci/run");
    let text = readme();
    let command = text.lines().find(|line| line.starts_with("cargo test")).expect("README.md gives a test command");
    assert!(script.lines().any(|line| line.trim().ends_with(command)), ".ci/run does not run `{command}`");
}
