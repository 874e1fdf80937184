//! Every output format against LASTZ: stored samples, and replays of random runs where LASTZ is installed.
//!
//! `FASTZ_FUZZ_CASES=500 cargo test --test output` replays more cases than the default, `FASTZ_FUZZ_SEED=1000` others, and
//! `FASTZ_KEEP_CASES=1` keeps the inputs of failing ones.

mod input;
mod random;
mod replay;
mod samples;

use std::io::Write;
use std::path::Path;

use fastz::scoring::{DEFAULT_BAD, DEFAULT_FILL, Scoring};
use input::{Input, Record, Specifier};
use random::Random;
use replay::{BlockRow, Case, Reply, lastz_is_installed, thresholds};

const DEFAULT_CASES: usize = 16;
const FIXED_FORMATS: [&str; 38] = [
    "lav",
    "lav+",
    "lav+text",
    "axt",
    "axt+",
    "axt:size2",
    "maf",
    "maf+",
    "maf-",
    "~maf",
    "~maf+",
    "mafsegments",
    "general",
    "general-",
    "genseg",
    "genseg-",
    "mapping",
    "mapping-",
    "paf",
    "paf:minimap2",
    "paf:wfmash",
    "sam",
    "sam-",
    "softsam",
    "softsam-",
    "cigar",
    "differences",
    "differences-",
    "diff",
    "rdotplot",
    "rdotplot+score",
    "text",
    "ztext",
    "blastn",
    "blastn-",
    "gfa",
    "none",
    "GENERAL",
];
/// Every field and alias of general, in groups that keep failures readable.
const FIELD_GROUPS: [&str; 8] = [
    "score,s,name1,n1,number1,strand1,size1,start1,s1,zstart1,z1,end1,e1,length1,l1",
    "name2,n2,number2,strand2,size2,start2,s2,zstart2,z2,end2,e2,length2,l2,start2+,s2+,zstart2+,z2+,end2+,e2+",
    "nmatch,nmismatch,npair,ncolumn,ngap,cgap,identity,ident,id,idfrac,id%,blastid%,coverage,cov,covfrac,cov%",
    "continuity,con,confrac,con%,gaprate,gap,diagonal,diag,d,shingle,number,znumber,NA,chore",
    "text1,t1,align1,a1,text2,t2,align2,a2,nucs1,nucs2",
    "cigar,cigar-,cigarx,cigarx-,cigarx1,cigarx1-,diff",
    "score,~,name1,,NA,diff=:.--?,~,~,number",
    ",NA,~",
];

fn random_inputs(random: &mut Random, iupac: bool) -> (Input, Input) {
    let target_count = random.range(1, 3);
    let query_count = random.range(1, 3);
    let mut targets: Vec<Vec<u8>> = Vec::new();
    for _ in 0..target_count {
        let len = random.range(60, 420);
        targets.push(random.bases(len));
    }
    let queries: Vec<Vec<u8>> = (0..query_count).map(|_| random_query(random, &targets)).collect();
    let mut input = |file, prefix: &str, sequences: Vec<Vec<u8>>| {
        let is_fastq = random.one_in(4);
        let lengths: Vec<usize> = sequences.iter().map(Vec::len).collect();
        let shortest = *lengths.iter().min().unwrap();
        let records = sequences.into_iter().enumerate().map(|(i, mut bases)| {
            random.decorate(&mut bases, iupac);
            let long_name = if random.one_in(3) { "long_name" } else { "" };
            let header = format!("{prefix}{long_name}{i}{}", if random.one_in(2) { " and more" } else { "" });
            let qualities = is_fastq.then(|| bases.iter().map(|_| random.range(33, 110) as u8).collect());
            Record { header, bases, qualities }
        });
        let records: Vec<Record> = records.collect();
        let range = random.one_in(3).then(|| {
            let start = random.range(1, shortest / 3);
            (start, random.range(shortest - shortest / 4, shortest))
        });
        let multiple = random.one_in(3);
        Input { file, records, specifier: Specifier { multiple, range, reversed: random.one_in(6) } }
    };
    // The same names on both sides show what `~maf` does.
    let mut target = input("t.fa", "s", targets);
    let query = input("q.fa", "s", queries);
    target.specifier.multiple |= target.records.len() > 1;
    (target, query)
}

/// Pieces of the targets on both strands, mutated, with random bases between them.
fn random_query(random: &mut Random, targets: &[Vec<u8>]) -> Vec<u8> {
    let mut query = Vec::new();
    for _ in 0..random.range(1, 4) {
        let spacer = random.range(0, 30);
        query.extend(random.bases(spacer));
        let target = random.pick(targets).clone();
        let start = random.range(0, target.len() / 2);
        let end = random.range(start + target.len() / 4, target.len());
        let mut piece = random.mutated(&target[start..end]);
        if random.one_in(2) {
            piece.reverse();
            piece.iter_mut().for_each(|base| *base = fastz::sequence::complement(*base));
        }
        query.extend(piece);
    }
    query
}

fn random_case(random: &mut Random, directory: &Path) -> Case {
    let iupac = random.one_in(4);
    let (target, query) = random_inputs(random, iupac);
    let gapped = !random.one_in(3);
    let hsp = random.range(900, 1800) as i32;
    let mut words = vec![format!("--hspthresh={hsp}")];
    let mut scoring = Scoring::default();
    let (mut x_drop, mut y_drop) = (910, 9400);
    if !gapped {
        words.push("--nogapped".to_string());
    } else if random.one_in(3) {
        scoring.gap_open = 200;
        scoring.gap_extend = 20;
        y_drop = 200 + 300 * 20;
        words.push("--gap=200,20".to_string());
    }
    if !iupac && random.one_in(4) {
        // LASTZ takes X from the first diagonal score, which stays as it is.
        add_n_scores(&mut scoring, directory);
        words.push("--scores=scores.txt".to_string());
    }
    if random.one_in(3) {
        x_drop = 500;
        words.push("--xdrop=500".to_string());
    }
    if iupac {
        set_ambiguous_scores(&mut scoring);
        words.push("--ambiguous=iupac".to_string());
    }
    let seed =
        *random.pick(&[("11111111", 0), ("1110100110010101111", 1), ("1110100110010101111", 2), ("111T1100111", 0)]);
    words.extend(match seed {
        ("11111111", _) => vec!["--seed=match8".to_string()],
        ("111T1100111", _) => vec!["--seed=111T1100111".to_string(), "--notransition".to_string()],
        (_, 2) => vec!["--transition=2".to_string()],
        _ => vec![],
    });
    let step = *random.pick(&[1, 1, 1, 3]);
    if step != 1 {
        words.push(format!("--step={step}"));
    }
    let strands = *random.pick(&["both", "both", "plus", "minus"]);
    words.push(format!("--strand={strands}"));
    let masks = random.one_in(4);
    if masks {
        words.push("--masking=1".to_string());
    }
    let partitioned = target.specifier.multiple || query.specifier.multiple;
    // LASTZ expands into the separators of partitioned sequences and prints them.
    let expand = if random.one_in(4) && !partitioned { random.range(1, 40) } else { 0 };
    if expand > 0 {
        words.push(format!("--expand={expand}"));
    }
    if random.one_in(6) {
        words.push("--nolaj".to_string());
    }
    if random.one_in(4) {
        words.push("--markend".to_string());
    }
    let read_group = random.one_in(4).then_some("ID:g1\tSM:x");
    Case {
        target,
        query,
        words,
        gapped,
        strands,
        masks,
        expand,
        seed,
        step,
        scoring,
        thresholds: thresholds(hsp, x_drop, y_drop),
        read_group,
        directory: directory.to_path_buf(),
    }
}

/// `--ambiguous=iupac`: N and the IUPAC codes score 0 against each other and against bases.
fn set_ambiguous_scores(scoring: &mut Scoring) {
    let both_cases = |letters: &[u8]| [letters.to_ascii_uppercase(), letters.to_ascii_lowercase()].concat();
    let ambiguous = both_cases(b"NRYKMBVDHSW");
    let all = [ambiguous.clone(), both_cases(b"ACGT")].concat();
    for (&letter, &other) in ambiguous.iter().flat_map(|letter| all.iter().map(move |other| (letter, other))) {
        scoring.gapped.set(letter, other, 0);
        scoring.gapped.set(other, letter, 0);
    }
}

/// Writes a score file with a row and a column for N.
fn add_n_scores(scoring: &mut Scoring, directory: &Path) {
    let mut text = String::from("     A    C    G    T    N\n");
    (scoring.rows, scoring.columns) = (b"ACGTN".to_vec(), b"ACGTN".to_vec());
    for row in *b"ACGTN" {
        text.push(char::from(row));
        for column in *b"ACGTN" {
            let score = match row == b'N' || column == b'N' {
                true => -i32::from(row) * 13 - i32::from(column),
                false => scoring.gapped.get(row, column),
            };
            for (r, c) in [(row, column), (row + 32, column), (row, column + 32), (row + 32, column + 32)] {
                scoring.gapped.set(r, c, score);
            }
            text.push_str(&format!(" {score}"));
        }
        text.push('\n');
    }
    // With a score file only the capital X gets the bad score.
    for other in 0..=255 {
        let score = if other == b'X' { DEFAULT_BAD } else { DEFAULT_FILL };
        scoring.gapped.set(b'x', other, score);
        scoring.gapped.set(other, b'x', score);
    }
    let (open, extend) = (scoring.gap_open, scoring.gap_extend);
    let gaps = format!("gap_open_penalty={open}\ngap_extend_penalty={extend}\n");
    std::fs::write(directory.join("scores.txt"), gaps + &text).unwrap();
}

/// Compares our bytes with LASTZ's; `None` if they agree.
fn difference(case: &Case, format: &str, rows: &[BlockRow]) -> Option<String> {
    let Reply { stdout: expected, success, stderr } = case.lastz(format);
    let (ours, error) = case.write(format, rows);
    if expected == ours && success == error.is_none() {
        return None;
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (expected, ours) = (text(&expected), text(&ours));
    let mut lines = expected.split('\n').zip(ours.split('\n'));
    let first = lines.find(|(expected, ours)| expected != ours);
    Some(format!(
        "lastz {}\n  in {}\n  lastz: {}\n  ours:  {}\n  lastz's error: {}\n  our error: {error:?}",
        case.command(format).join(" "),
        case.directory.display(),
        first.map_or("(one output is longer)", |pair| pair.0),
        first.map_or("(one output is longer)", |pair| pair.1),
        stderr.trim(),
    ))
}

fn formats_of(case: &Case) -> Vec<String> {
    let partitioned = case.target.specifier.multiple || case.query.specifier.multiple;
    let refuses_partitions = |format: &str| fastz::output::Format::parse(format).unwrap().refuses_partitions();
    let mut formats: Vec<String> = FIXED_FORMATS.map(String::from).into();
    formats.retain(|format| !(partitioned && refuses_partitions(format)));
    // Bases that a subrange left out are undefined memory in LASTZ's softsam (lastz-semantics 7.2).
    formats.retain(|format| !(case.query.specifier.range.is_some() && format.starts_with("softsam")));
    formats.extend(FIELD_GROUPS.iter().map(|fields| format!("general:{fields}")));
    if !case.gapped {
        formats.push("segments".to_string());
    }
    for (input, number) in [(&case.target, 1), (&case.query, 2)] {
        if input.is_fastq() {
            formats.push(format!("general-:quals{number}"));
        }
        // Without gapped extension LASTZ looks for the qualities of a subrange in undefined memory.
        if case.gapped || input.specifier.range.is_none() {
            formats.push(format!("general-:zstart{number},qalign{number}"));
        }
    }
    formats
}

#[test]
fn every_format_prints_what_lastz_prints() {
    if !lastz_is_installed() {
        // Past the capture of the test harness, so that it is seen.
        let _ = writeln!(std::io::stderr(), "lastz is not installed: the replay of random runs is skipped");
        return;
    }
    let number = |name, default| std::env::var(name).map_or(default, |n| n.parse().expect("a number"));
    let cases = number("FASTZ_FUZZ_CASES", DEFAULT_CASES);
    let first_seed = number("FASTZ_FUZZ_SEED", 0) as u64;
    let mut failures = Vec::new();
    let mut blocks = 0;
    for seed in first_seed..first_seed + cases as u64 {
        let directory = tempfile::tempdir().unwrap();
        let case = random_case(&mut Random(seed), directory.path());
        case.target.write(directory.path());
        case.query.write(directory.path());
        let rows = BlockRow::of_case(&case);
        blocks += rows.len();
        let before = failures.len();
        failures.extend(formats_of(&case).iter().filter_map(|format| difference(&case, format, &rows)));
        if failures.len() > before && std::env::var_os("FASTZ_KEEP_CASES").is_some() {
            let _ = directory.keep();
        }
    }
    assert!(blocks >= cases, "the random inputs hardly align: {blocks} blocks in {cases} cases");
    let shown = failures.iter().take(12).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} differences, the first ones:\n{shown}", failures.len());
}
