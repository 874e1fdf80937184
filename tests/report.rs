//! `--report`: what a run did, stage by stage, as JSON.

mod support;

use std::time::Duration;
use support::program;

#[test]
fn report_counts_what_each_stage_did() {
    if program::is_lastz_on_trial() {
        return program::say("SKIPPED --report: LASTZ has none");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = program::fastz(folder.path());
    command.arg(support::data("target.fa")).arg(support::data("query.fa"));
    command.args(["--format=axt", "--inner=2000", "--report=report.json"]);
    let outcome = program::run(&mut command, b"", Duration::from_secs(120));
    assert!(outcome.succeeded(), "{}", outcome.last_words());
    let text = std::fs::read_to_string(folder.path().join("report.json")).expect("the report");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let number = |path: &str| {
        report.pointer(path).and_then(|value| value.as_f64()).unwrap_or_else(|| panic!("no {path}: {text}"))
    };
    let printed =
        outcome.stdout.split(|&byte| byte == b'\n').filter(|line| line.first().is_some_and(u8::is_ascii_digit));
    assert_eq!(number("/counts/output_blocks") as usize, printed.count());
    assert_eq!(number("/output_bytes") as usize, outcome.stdout.len());
    assert_eq!(number("/queries"), 1.0);
    let (search, gapped) = (
        |name: &str| number(&format!("/counts/search/{name}")),
        |name: &str| number(&format!("/counts/gapped/{name}")),
    );
    assert_eq!(search("hits"), search("dropped") + search("extended"));
    assert!(search("hsps") > 0.0 && search("hsps") <= search("extended") && search("pairs") > search("extended"));
    assert!(gapped("anchors") >= gapped("covered") + gapped("extended") && gapped("extended") >= gapped("blocks"));
    assert!(gapped("cells") > 0.0 && gapped("blocks") > 0.0 && gapped("rerun") >= 0.0);
    for stage in ["index", "search", "extend", "inner"] {
        let seconds = number(&format!("/counts/seconds/{stage}"));
        assert!((0.0..120.0).contains(&seconds), "{stage} took {seconds} s");
    }
    assert!(number("/seconds") > number("/moments/aligned"));
}
