//! The stored cases of `tests/data/cases`: small inputs, a shell line that calls `lastz`, and what LASTZ 1.04.22
//! printed. fastz stands in for `lastz` and must print the same bytes.
//!
//! `NN/cmd` goes with `NN/expected.*`, and `formats/F.cmd` with `formats/F.out`. `FASTZ_CASE=NN` runs one case.
#![cfg(unix)]

mod support;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use support::{compare, program};

/// How a case's output is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    /// To the byte.
    Exact,
    /// The case mixes stderr into stdout, and the words of messages are ours: lines from stdout to the byte, and a
    /// message of ours wherever LASTZ refuses to go on.
    OwnMessages,
    /// One line an option set, `options => rc=N message | usage`: the part up to the status, and a message with it.
    RefusalTable,
    /// Version, help and progress texts, whose words and (for help) exit status are ours: the number of runs that
    /// ended, by their `rc=` lines.
    OwnTexts,
    /// The case uses this option, which shows LASTZ's inner tables: the same bytes, or fastz refuses and names it.
    ExactOrRefused(&'static str),
}

/// Cases that are not [`Comparison::Exact`].
const OTHER_THAN_EXACT: &[(&str, Comparison)] = &[
    ("17", Comparison::ExactOrRefused("--debug")),
    ("18", Comparison::OwnMessages),
    ("26", Comparison::ExactOrRefused("--tableonly")),
    ("27", Comparison::ExactOrRefused("--debug")),
    ("45", Comparison::ExactOrRefused("--tableonly")),
    ("48", Comparison::OwnMessages),
    ("49", Comparison::OwnMessages),
    ("50", Comparison::OwnMessages),
    ("54", Comparison::OwnMessages),
    ("59", Comparison::OwnMessages),
    ("60", Comparison::OwnMessages),
    ("61", Comparison::OwnMessages),
    ("65", Comparison::OwnMessages),
    ("67", Comparison::RefusalTable),
    ("68", Comparison::OwnMessages),
    ("73", Comparison::OwnTexts),
];

/// What the stand-in puts before each line that fastz prints to stderr.
const TAG: &str = "@stderr@ ";

/// How LASTZ's refusals begin, where stored outputs hold them.
const REFUSALS: &[&str] = &[
    "FAILURE: ",
    "--allocate:traceback must be",
    "nested inclusion is not allowed",
    "--yasra98:x contains an invalid",
];

/// How LASTZ's other messages to stderr begin, where stored outputs hold them.
const NOTICES: &[&str] = &[
    "WARNING. ",
    ">x",
    ">z",
    "truncating alignment ",
    "truncation can be reduced ",
    "(for this usage segments must",
    "all + strand segments before",
    "All HSPs for this query are discarded",
    "All gapped alignments for this query/strand",
    "Any gapped alignments already found",
    "is not processed further.",
    "query/strand is not processed further.",
    "1 query exceeded the HSP limit",
    "2 queries exceeded the HSP limit",
    "3 queries exceeded the HSP limit",
    "4 queries exceeded the HSP limit",
];

/// Lines of LASTZ's usage text, which follows some refusals on stdout, where stored outputs hold them.
const USAGE: &[&str] = &["lastz-- ", "  --", "                         (default is to use same value"];

struct Case {
    name: String,
    folder: PathBuf,
    command: String,
    expected: Vec<u8>,
}

fn comparison(case: &str) -> Comparison {
    OTHER_THAN_EXACT.iter().find(|(name, _)| *name == case).map_or(Comparison::Exact, |(_, how)| *how)
}

/// All cases below `root`, by name.
fn cases(root: &Path) -> BTreeMap<String, Case> {
    let mut cases = BTreeMap::new();
    let mut add = |name: String, folder: &Path, command: &Path, expected: &Path| {
        let read = |path: &Path| std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let command = String::from_utf8(read(command)).expect("commands are text");
        let case = Case { name: name.clone(), folder: folder.to_path_buf(), command, expected: read(expected) };
        cases.insert(name, case);
    };
    for folder in std::fs::read_dir(root).expect("tests/data/cases").map(|entry| entry.expect("a case").path()) {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        for file in std::fs::read_dir(&folder).expect("a case's folder").map(|entry| entry.expect("a file").path()) {
            let stem = file.file_stem().expect("a name").to_string_lossy().into_owned();
            if stem == "expected" {
                add(name.clone(), &folder, &folder.join("cmd"), &file);
            } else if file.extension().is_some_and(|extension| extension == "cmd") {
                add(format!("{name}/{stem}"), &folder, &file, &folder.join(format!("{stem}.out")));
            }
        }
    }
    cases
}

/// A folder with a program called `lastz` that runs fastz under LASTZ's name and tags what comes on stderr.
fn stand_in(folder: &Path) -> PathBuf {
    let bin = folder.join("bin");
    std::fs::create_dir_all(&bin).expect("make the stand-in's folder");
    // The program gets the old PATH: if it calls `lastz` itself (as a wrapper might), that must not be the stand-in.
    let script = format!(
        "#!/bin/sh\nerrors=$(mktemp '{}/errors.XXXXXX')\nPATH='{}' '{}' {} \"$@\" 2>\"$errors\"\nstatus=$?\n\
         sed 's/^/{TAG}/' \"$errors\" >&2\nrm -f \"$errors\"\nexit $status\n",
        folder.display(),
        std::env::var("PATH").unwrap_or_default(),
        program::fastz_path().display(),
        program::own_options(&[program::LASTZ_TOKEN]).concat(),
    );
    let path = bin.join("lastz");
    std::fs::write(&path, script).expect("write the stand-in");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("make it executable");
    bin
}

fn run_case(case: &Case, bin: &Path) -> Result<(), String> {
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("bash");
    command.args(["-c", &case.command]).current_dir(&case.folder).env("PATH", path);
    let outcome = program::run(&mut command, b"", Duration::from_secs(300));
    if outcome.timed_out {
        return Err("did not end within 300 s".to_string());
    }
    let how = comparison(&case.name);
    let difference = match how {
        Comparison::Exact => exact(&case.expected, &outcome.stdout),
        Comparison::OwnMessages => own_messages(&text(&case.expected), &text(&outcome.stdout)),
        Comparison::RefusalTable => refusal_table(&text(&case.expected), &text(&outcome.stdout)),
        Comparison::OwnTexts => own_texts(&text(&case.expected), &text(&outcome.stdout)),
        Comparison::ExactOrRefused(option) => {
            exact_or_refused(&text(&case.expected), &text(&outcome.stdout), &outcome.stderr, option)
        }
    };
    // Every stored line ends in success, since later words of the line hide an earlier refusal.
    let refused = matches!(how, Comparison::ExactOrRefused(_));
    match difference {
        None if outcome.succeeded() || refused => Ok(()),
        None => Err(format!("exit status {:?}; stderr: {}", outcome.code, outcome.last_words())),
        Some(difference) => Err(format!("{difference}stderr: {}", outcome.last_words())),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn exact(expected: &[u8], actual: &[u8]) -> Option<String> {
    compare::first_difference(expected, actual)
}

/// Lines from stdout, and the places (in stdout lines before) where `is_message` lines stand.
fn split_messages(text: &str, is_message: impl Fn(&str) -> bool) -> (String, Vec<(usize, String)>) {
    let (mut lines, mut messages, mut count) = (String::new(), Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        if is_message(line) {
            messages.push((count, line.to_string()));
        } else {
            lines.push_str(line);
            count += 1;
        }
    }
    (lines, messages)
}

fn begins_with_any(line: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| line.starts_with(start))
}

fn own_messages(expected: &str, actual: &str) -> Option<String> {
    let is_usage = |line: &str| begins_with_any(line, USAGE);
    let is_lastz_message =
        |line: &str| is_usage(line) || begins_with_any(line, REFUSALS) || begins_with_any(line, NOTICES);
    let (expected_lines, expected_messages) = split_messages(expected, is_lastz_message);
    let (actual_lines, actual_messages) = split_messages(actual, |line| is_usage(line) || line.starts_with(TAG));
    if let Some(difference) = exact(expected_lines.as_bytes(), actual_lines.as_bytes()) {
        return Some(difference);
    }
    if !expected_messages.is_empty() && actual_messages.is_empty() {
        return Some("LASTZ prints messages here, fastz none\n".to_string());
    }
    let refusals = expected_messages.iter().filter(|(_, line)| begins_with_any(line, REFUSALS));
    let mut silent = refusals.filter(|(at, _)| !actual_messages.iter().any(|(other, _)| other == at));
    silent.next().map(|(at, line)| format!("no message of fastz after line {at} where LASTZ says {line}"))
}

fn refusal_table(expected: &str, actual: &str) -> Option<String> {
    let status = |line: &str| {
        line.split_once(" => rc=").map(|(options, rest)| (options.to_string(), rest.get(..1).map(str::to_string)))
    };
    let expected: Vec<_> = expected.lines().map(status).collect();
    for (at, line) in actual.lines().enumerate() {
        if Some(&status(line)) != expected.get(at) {
            return Some(format!("line {}: expected {:?}, got {line:?}\n", at + 1, expected.get(at)));
        }
        if !program::is_lastz_on_trial() && line.contains("rc=1") && !line.contains(" => rc=1 ") {
            return Some(format!("refused without a message: {line}\n"));
        }
        if line.contains("=> rc=1  |") {
            return Some(format!("refused without a message: {line}\n"));
        }
    }
    let count = actual.lines().count();
    (count != expected.len()).then(|| format!("{count} lines instead of {}\n", expected.len()))
}

fn own_texts(expected: &str, actual: &str) -> Option<String> {
    let ends = |text: &str| text.lines().filter(|line| line.starts_with("rc=")).count();
    if ends(expected) != ends(actual) {
        return Some(format!("{} runs ended instead of {}\n", ends(actual), ends(expected)));
    }
    let said = |text: &str, start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    (said(expected, "WARNING.") > 0 && said(actual, TAG) == 0).then(|| "no warning was printed\n".to_string())
}

fn exact_or_refused(expected: &str, stdout: &str, stderr: &str, option: &str) -> Option<String> {
    // The stand-in's tags go; LASTZ prints these tables to stderr or stdout, and the commands join them.
    let untagged: String = stdout.split_inclusive('\n').map(|line| line.strip_prefix(TAG).unwrap_or(line)).collect();
    if untagged == expected {
        return None;
    }
    let everything = format!("{stdout}{stderr}");
    let refused = everything.lines().all(|line| line.starts_with(TAG)) && everything.contains(option);
    if refused { None } else { exact(expected.as_bytes(), untagged.as_bytes()) }
}

#[test]
fn every_stored_case_is_reproduced_to_the_byte() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path().join("cases");
    support::copy_folder(&support::data("cases"), &root);
    let bin = stand_in(folder.path());
    let wanted = std::env::var("FASTZ_CASE").ok();
    let chosen: Vec<Case> =
        cases(&root).into_values().filter(|case| wanted.as_ref().is_none_or(|name| *name == case.name)).collect();
    assert!(!chosen.is_empty(), "there is no case {wanted:?} in tests/data/cases");
    // Cases 67, 73, 87, 91, 92 and 94 write and remove files of the same name in their own folders, so cases can run side by side.
    let results = support::in_parallel(&chosen, |case| run_case(case, &bin));
    let mut report = String::new();
    let mut failed = Vec::new();
    for (case, result) in chosen.iter().zip(results) {
        if let Err(difference) = result {
            failed.push(case.name.as_str());
            report.push_str(&format!("== case {}: {}\n{difference}\n", case.name, case.command.trim_end()));
        }
    }
    assert!(failed.is_empty(), "{report}\n{} of {} cases differ: {}", failed.len(), chosen.len(), failed.join(" "));
}

#[test]
fn the_cases_and_the_table_of_comparisons_fit_together() {
    let cases = cases(&support::data("cases"));
    assert_eq!(cases.len(), 103 + 28, "cases are missing: {:?}", cases.keys());
    for (name, _) in OTHER_THAN_EXACT {
        assert!(cases.contains_key(*name), "the table names case {name}, which does not exist");
    }
    for case in cases.values() {
        let mixes = case.command.contains("2>&1") || case.command.contains("2>err");
        if mixes && comparison(&case.name) == Comparison::Exact {
            let stored = text(&case.expected);
            let message = stored.lines().find(|line| begins_with_any(line, REFUSALS) || begins_with_any(line, NOTICES));
            assert_eq!(message, None, "case {} holds messages of LASTZ: say in the table how to compare", case.name);
        }
    }
}

#[test]
fn comparisons_notice_what_they_must() {
    let expected = "rc=0\nFAILURE: no\nrc=1\n";
    let good = format!("rc=0\n{TAG}cannot do that\nrc=1\n");
    assert_eq!(own_messages(expected, &good), None);
    assert!(own_messages(expected, "rc=0\nrc=1\n").is_some(), "a missing message");
    assert!(own_messages(expected, &format!("rc=0\n{TAG}no\nrc=0\n")).is_some(), "another status");
    assert!(own_messages(expected, &format!("{TAG}no\nrc=0\nrc=1\n")).is_some(), "a message at another place");
    assert!(own_messages("a\n", "b\n").is_some(), "another line");
    assert_eq!(refusal_table("--x => rc=1 Can't | lastz", "--x => rc=1 unknown | "), None);
    assert!(refusal_table("--x => rc=1 Can't | lastz", "--x => rc=0  | ").is_some(), "not refused");
    assert!(refusal_table("--x => rc=1 Can't | lastz", "--x => rc=1  | ").is_some(), "refused in silence");
    assert_eq!(exact_or_refused("t\n", &format!("{TAG}t\n"), "", "--debug"), None);
    assert_eq!(exact_or_refused("t\n", "", &format!("{TAG}--debug is not offered\n"), "--debug"), None);
    assert!(exact_or_refused("t\n", "", "", "--debug").is_some(), "nothing printed");
    assert!(exact_or_refused("t\n", "s\n", &format!("{TAG}--debug\n"), "--debug").is_some(), "another table");
}
