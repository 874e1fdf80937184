//! Score matrices against the installed lastz.

#[path = "cli_options/lastz.rs"]
mod lastz;

use std::fmt::Write as _;
use std::path::Path;

use fastz::scoring::Scoring;
use fastz::scoring::score_file::ScoreFile;
use fastz::scoring::setup::{Ambiguity, BaseScores, PairScore, ScoringSetup};
use lastz::{SplitMix64, error_of, lastz};

/// Every pair of letters, scored by lastz in both stages, against both matrices.
#[test]
fn matrices_score_every_pair_as_lastz_does() {
    let directory = tempfile::tempdir().unwrap();
    let file = |text: &str| {
        std::fs::write(directory.path().join("scores.q"), text).unwrap();
        BaseScores::File(ScoreFile::parse("scores.q", text).unwrap())
    };
    let matrix = "  A C G T\nA 91 -90 -25 -100\nC -90 100 -100 -25\nG -25 -100 100 -90\nT -100 -25 -90 91\n";
    let with_n =
        "  A C G T N\nA 91 -90 -25 -100 -3\nC -90 100 -100 -25 -4\nG -25 -100 100 -90 -5\nT -100 -25 -90 91 -6\n";
    let shuffled = "bad_score=X:Y:-700\nfill_score=-7\n  T A G N C\nC 7 -9 -8 -99 95\nN 1 2 3 4 5\nA -6 85 -5 2 -4\nT 88 -3 -2 3 -1\nG 3 -7 99 4 -170\n";
    let n_row = "N -10 -11 -12 -13 8\n";
    let pair = |target, query, score| PairScore { target, query, score };
    let n = Some(Ambiguity { iupac: false, reward: 7, penalty: 9 });
    let iupac = Some(Ambiguity { iupac: true, reward: 70, penalty: 90 });
    let dna = "ACGTacgtNnXx05";
    let codes = "ACaNnRrYKX5";
    for (options, letters, text, base, pairs, ambiguity) in [
        ("--noentropy", dna, "", BaseScores::Hoxd70, vec![], None),
        ("--ambiguous=n,7,9", dna, "", BaseScores::Hoxd70, vec![], n),
        ("--ambiguous=iupac,70,90", codes, "", BaseScores::Hoxd70, vec![], iupac),
        ("--match=10,5", dna, "", BaseScores::Match { reward: 10, penalty: 5 }, vec![], None),
        ("AC:-190", dna, "", BaseScores::Hoxd70, vec![pair(b'A', b'C', -190)], None),
        ("--scores=scores.q", dna, matrix, BaseScores::Hoxd70, vec![], None),
        ("--scores=scores.q AC:-120", dna, matrix, BaseScores::Hoxd70, vec![pair(b'A', b'C', -120)], None),
        ("--scores=scores.q", dna, shuffled, BaseScores::Hoxd70, vec![], None),
        ("--scores=scores.q AC:-120", dna, shuffled, BaseScores::Hoxd70, vec![pair(b'A', b'C', -120)], None),
        (
            "--scores=scores.q",
            dna,
            &format!("bad_score=-777\nfill_score=-55\n{matrix}"),
            BaseScores::Hoxd70,
            vec![],
            None,
        ),
        (
            "--scores=scores.q --ambiguous=iupac,70,90",
            codes,
            &format!("bad_score=X:Y:-700\n{matrix}"),
            BaseScores::Hoxd70,
            vec![],
            iupac,
        ),
        ("--scores=scores.q", dna, with_n, BaseScores::Hoxd70, vec![], None),
        ("--scores=scores.q", dna, &format!("{with_n}{n_row}"), BaseScores::Hoxd70, vec![], None),
        ("--scores=scores.q --ambiguous=n,7,9", dna, &format!("{with_n}{n_row}"), BaseScores::Hoxd70, vec![], n),
        ("--scores=scores.q --ambiguous=n,7,9", dna, with_n, BaseScores::Hoxd70, vec![], n),
        (
            "--scores=scores.q --ambiguous=n,7,9",
            dna,
            &format!("{matrix}{}", &n_row[..n_row.len() - 3]),
            BaseScores::Hoxd70,
            vec![],
            n,
        ),
    ] {
        let base = if text.is_empty() { base } else { file(text) };
        let scoring = ScoringSetup { base, pairs, ambiguity, ..Default::default() }.build().unwrap();
        if !matrices_agree(directory.path(), options, letters, &scoring) {
            return;
        }
    }
}

/// Puts each pair between two random flanks that match, and subtracts the flanks from lastz's score. `false`: no lastz.
fn matrices_agree(directory: &Path, options: &str, letters: &str, scoring: &Scoring) -> bool {
    const FLANK: usize = 150;
    let mut random = SplitMix64(1);
    let (mut target, mut query, mut segments) = (String::new(), String::new(), String::new());
    let mut pairs = Vec::new();
    for (t, q) in letters.chars().flat_map(|t| letters.chars().map(move |q| (t, q))) {
        let (left, right, i) = (random.bases(FLANK), random.bases(FLANK), pairs.len());
        let _ = writeln!(target, ">t{i}\n{left}{t}{right}");
        // One base more: the score of identical sequences is not that of an extension.
        let _ = writeln!(query, ">q{i}\nA{left}{q}{right}");
        let _ = writeln!(segments, "t{i} 11 40 q{i} 12 41 + 5");
        let flanks: i32 = left.bytes().chain(right.bytes()).map(|base| scoring.gapped.get(base, base)).sum();
        pairs.push((t as u8, q as u8, flanks));
    }
    for (name, text) in [("mt.fa", target), ("mq.fa", query), ("m.seg", segments)] {
        std::fs::write(directory.join(name), text).unwrap();
    }
    let common = "mt.fa[multiple] mq.fa --strand=plus --format=general-:name1,name2,score,length1";
    for (stage, matrix, search) in [
        ("gapped", &scoring.gapped, "--segments=m.seg --gap=100000,1000 --ydrop=10000000 --gappedthresh=-10000000"),
        ("gap-free", &scoring.gap_free, "--nogapped --xdrop=10000000 --noentropy --hspthresh=500"),
    ] {
        let command = format!("{common} {options} {search}");
        let words: Vec<&str> = command.split(' ').collect();
        let Some(output) = lastz(directory, &words) else { return false };
        assert!(output.status.success(), "{command}: {}", error_of(&output));
        let mut compared = 0;
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [name1, name2, score, length] = fields[..] else { panic!("{line}") };
            // Anything else is an alignment that ends before the pair, or between different flanks.
            if name1[1..] == name2[1..] && length.parse() == Ok(2 * FLANK + 1) {
                let (t, q, flanks) = pairs[name1[1..].parse::<usize>().unwrap()];
                let theirs = score.parse::<i32>().unwrap() - flanks;
                assert_eq!(matrix.get(t, q), theirs, "{options} {stage} {}{}", char::from(t), char::from(q));
                compared += 1;
            }
        }
        assert_eq!(compared, pairs.len(), "{options} {stage}: some pairs were not crossed");
    }
    true
}
