//! Lines that hold a time, which differs from run to run: all else in them is LASTZ's.

mod support;

use std::path::Path;
use support::program::{self, Outcome};

/// The text with each time that LASTZ writes (`runtime=0.017`, `(0.017s) processing`) as `T`.
fn without_times(text: &str) -> String {
    let line = |line: &str| {
        let (before, rest) = match (line.find("runtime="), line.strip_prefix('(')) {
            (Some(at), _) => line.split_at(at + "runtime=".len()),
            (None, Some(rest)) if line.contains("s) processing query") => ("(", rest),
            _ => return format!("{line}\n"),
        };
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let is_time = digits > 0 && rest[digits..].starts_with('.');
        let decimals = rest.bytes().skip(digits + 1).take_while(u8::is_ascii_digit).count();
        assert!(is_time && decimals == 3, "no time with three decimals: {line}");
        format!("{before}T{}\n", &rest[digits + 1 + decimals..])
    };
    text.lines().map(line).collect()
}

/// Three queries, of which the first covers most of the target, which is soft-masked in part.
fn write_sequences(folder: &Path) {
    let letters = |name: &str| {
        let text = std::fs::read_to_string(support::data(name)).expect("the committed pair");
        text.lines().filter(|line| !line.starts_with('>')).collect::<String>()
    };
    let (mut target, query) = (letters("target.fa")[..6000].to_string(), letters("query.fa"));
    target[100..350].make_ascii_lowercase();
    std::fs::write(folder.join("t.fa"), format!(">t\n{target}\n>u\nACGTNNacgtnnXXAA\n")).expect("write the target");
    let queries = format!(">q0\n{query}\n>q1\n{}\n>q2\n{}\n", &query[2000..5000], &query[..900]);
    std::fs::write(folder.join("q.fa"), queries).expect("write the queries");
}

fn answers(lastz: &Path, folder: &Path, words: &str) -> (Outcome, Outcome) {
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut truth = std::process::Command::new(lastz);
    truth.current_dir(folder).args(&words);
    let mut ours = program::fastz_as_lastz(folder);
    ours.args(&words);
    let limit = std::time::Duration::from_secs(60);
    (program::run(&mut truth, b"", limit), program::run(&mut ours, b"", limit))
}

fn assert_equal(lastz: &Path, folder: &Path, words: &str) -> String {
    let (truth, ours) = answers(lastz, folder, words);
    assert!(truth.succeeded() && ours.succeeded(), "{words}: {} {}", truth.last_words(), ours.last_words());
    let text =
        |outcome: &Outcome| String::from_utf8(outcome.stdout.clone()).expect("text") + "stderr:\n" + &outcome.stderr;
    let (expected, actual) = (without_times(&text(&truth)), without_times(&text(&ours)));
    support::compare::assert_same_text(words, expected.as_bytes(), actual.as_bytes());
    actual
}

#[test]
fn runtime_stands_where_lastz_puts_it() {
    let Some(lastz) = program::lastz_or_skip("--runtime against LASTZ") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_sequences(folder.path());
    let mut lines = 0;
    for format in ["lav", "lav+", "lav+text", "axt", "axt+", "maf", "maf+", "text", "gfa", "general", "sam", "cigar"] {
        for more in ["", "--markend", "--masking=1"] {
            let words = format!("t.fa[subset=one] q.fa --runtime --format={format} {more}");
            std::fs::write(folder.path().join("one"), "t\n").expect("write the subset");
            lines += assert_equal(&lastz, folder.path(), &words).matches("runtime=T").count();
        }
    }
    assert_eq!(lines, 3 * 7, "lav+, axt+, maf+, text and gfa have one such line, lav+text has two");
}

#[test]
fn progress_lines_are_lastzs() {
    let Some(lastz) = program::lastz_or_skip("--progress against LASTZ") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_sequences(folder.path());
    let lines = |options: &str| {
        let words = format!("t.fa[multiple] q.fa --format=cigar {options}");
        assert_equal(&lastz, folder.path(), &words).matches(") processing query").count()
    };
    assert_eq!(lines("--progress"), 3);
    assert_eq!(lines("--progress=2"), 2);
    assert_eq!(lines("--progress=0"), 0);
    assert_eq!(lines("--progress+masking"), 3);
    assert_eq!(lines("--progress+masking=2 --masking=1"), 2);
    assert_eq!(lines("--progress+masking --masking=1 --progress=1K"), 1);
    let (truth, ours) =
        answers(&lastz, folder.path(), "t.fa[multiple] q.fa --format=none --progress+masking --masking=1");
    assert_eq!(without_times(&truth.stderr), without_times(&ours.stderr));
    assert!(ours.stderr.contains("query 1: q0, masked 2,449/6,016 (40.7%)"), "{}", ours.stderr);
}
