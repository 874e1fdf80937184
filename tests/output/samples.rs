//! Stored samples: `tests/data/formats/NAME.cmd` is a command of LASTZ, `NAME.out` what it printed.

use std::path::{Path, PathBuf};

use fastz::scoring::Scoring;

use crate::input::{Input, Record, Specifier};
use crate::replay::{BlockRow, Case, thresholds};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/formats")
}

fn read(name: &str) -> String {
    let path = directory().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn input(file: &'static str) -> Input {
    let mut records: Vec<Record> = Vec::new();
    for line in read(file).lines() {
        match line.strip_prefix('>') {
            Some(header) => records.push(Record { header: header.to_string(), bases: Vec::new(), qualities: None }),
            None => records.last_mut().unwrap().bases.extend_from_slice(line.as_bytes()),
        }
    }
    Input { file, records, specifier: Specifier::default() }
}

/// The case of a stored command, and its format.
fn case(command: &str) -> (Case, String) {
    let mut words: Vec<String> = command.split_whitespace().skip(3).map(String::from).collect();
    let format = words.pop().unwrap().strip_prefix("--format=").unwrap().to_string();
    let case = Case {
        target: input("target.fa"),
        query: input("query.fa"),
        gapped: format != "segments" && !words.iter().any(|word| word == "--nogapped"),
        words,
        strands: "both",
        masks: false,
        expand: 0,
        seed: ("1110100110010101111", 1),
        step: 1,
        scoring: Scoring::default(),
        thresholds: thresholds(1500, 910, 9400),
        read_group: None,
        directory: directory(),
    };
    (case, format)
}

#[test]
fn writers_reproduce_the_stored_samples() {
    let mut names: Vec<String> = std::fs::read_dir(directory())
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".cmd")?.to_string()))
        .collect();
    names.sort();
    assert!(names.len() > 40, "samples are missing: {names:?}");
    for name in names {
        let (case, format) = case(&read(&format!("{name}.cmd")));
        let blocks = read(if case.gapped { "cigar.out" } else { "hsp_cigar.out" });
        let rows = BlockRow::of_cigar_lines(&case, &blocks);
        let (ours, error) = case.write(&format, &rows);
        assert_eq!(error, None, "{name}");
        assert_eq!(String::from_utf8(ours).unwrap(), read(&format!("{name}.out")), "{name}");
    }
}
