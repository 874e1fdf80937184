//! The command line against the installed lastz: what is accepted, and what it means.
//!
//! `fastz ... --help=defaults` checks the whole command line and prints the settings in effect in lastz's words, so that
//! the two programs can be compared without aligning anything.

#[path = "cli_options/lastz.rs"]
mod lastz;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use lastz::{SplitMix64, error_of, lastz};

/// Command lines where fastz deliberately differs, and why. Lines with `accepts` are refused by lastz.
const DIFFERENCES: &[(&str, &str)] = &[
    ("--threads=2", "accepts its own options"),
    ("--device=cpu", "accepts its own options"),
    ("--all-on-device", "accepts its own options"),
    ("--untruncated", "accepts its own options"),
    ("--relaxed", "accepts its own options"),
    ("--chain=on", "accepts its own name for --chain"),
    ("--filter=none", "accepts its own name for --nofilter"),
    ("K=2147483648", "refuses numbers that do not fit; lastz wraps them around"),
    ("--masking=5000000000", "refuses numbers that do not fit; lastz wraps them around"),
    ("K=nan", "refuses what is no number"),
    ("W=8x", "refuses letters after a number"),
    ("--matchcount=-5%", "refuses a negative share"),
    ("--rawhits --nogfextend", "does not support raw hits with gapped extension"),
    ("--debug=hsps", "has no --debug"),
    ("--showtable", "does not show its table"),
];

fn fastz(directory: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fastz")).args(words).current_dir(directory).output().expect("fastz runs")
}

/// A directory with the files that the command lines name.
fn workplace() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut random = SplitMix64(5);
    let bases = random.bases(300);
    let matrix = "   A C G T\n  91 -90 -25 -100\n -90 100 -100 -25\n -25 -100 100 -90\n -100 -25 -90 91\n";
    for (name, text) in [
        ("t.fa", format!(">t\n{bases}\n")),
        ("q.fa", format!(">q\n{}\n", &bases[50..250])),
        ("s.seg", "t 10 40 q 10 40 +\n".to_string()),
        ("good.q", matrix.to_string()),
        ("settings.q", format!("O=5\nE=6\nK=7\nL=8\nX=9\nY=10\nZ=3\nT=4\n{matrix}")),
        ("lo.q", matrix.replace("91", "50")),
    ] {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    directory
}

/// What differs between the two programs for one command line, if anything.
fn difference(directory: &Path, options: &str) -> Option<String> {
    let mut words = vec!["t.fa", "q.fa"];
    words.extend(options.split(' '));
    let theirs = lastz(directory, &words)?;
    words.push("--help=defaults");
    let ours = fastz(directory, &words);
    match (theirs.status.success(), ours.status.success()) {
        (false, false) if error_of(&ours).starts_with("fastz: ") => None,
        (true, true) => {
            let settings = lastz(directory, &words)?.stdout;
            let (theirs, ours) = (String::from_utf8_lossy(&settings), String::from_utf8_lossy(&ours.stdout));
            (theirs != ours).then(|| format!("{options}\n--- lastz\n{theirs}--- fastz\n{ours}"))
        }
        (theirs_ok, ours_ok) => Some(format!(
            "{options}\n  lastz {}: {}\n  fastz {}: {}",
            if theirs_ok { "accepts" } else { "refuses" },
            error_of(&theirs),
            if ours_ok { "accepts" } else { "refuses" },
            error_of(&ours)
        )),
    }
}

#[test]
fn deliberate_differences_are_still_differences() {
    let directory = workplace();
    if lastz(directory.path(), &["--version"]).is_none() {
        return;
    }
    for (options, why) in DIFFERENCES {
        let difference = difference(directory.path(), options);
        let is_wider = difference.as_deref().is_some_and(|text| text.contains("lastz refuses"));
        assert!(difference.is_some(), "{options} does not differ any more ({why})");
        assert_eq!(is_wider, why.starts_with("accepts"), "{options}: {why}\n{}", difference.unwrap_or_default());
    }
}

#[test]
fn help_and_version_succeed_and_errors_exit_with_1() {
    let directory = workplace();
    for (words, code) in [("--help", 0), ("--help=formats", 0), ("--version", 0), ("--bogus", 1), ("--help=foo", 1)] {
        let output = fastz(directory.path(), &[words]);
        assert_eq!(output.status.code(), Some(code), "{words}");
        assert_eq!(output.stdout.is_empty(), code == 1, "{words}");
        assert_eq!(error_of(&output).starts_with("fastz: "), code == 1, "{words}");
        assert!(output.stderr.iter().filter(|&&byte| byte == b'\n').count() <= 1, "{words}: one line");
    }
}

#[test]
fn every_listed_command_line_is_accepted_or_refused_as_by_lastz() {
    let directory = workplace();
    if lastz(directory.path(), &["--version"]).is_none() {
        return;
    }
    let list = include_str!("cli_options/words.txt");
    let differences: Vec<String> = list
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| difference(directory.path(), line))
        .collect();
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

/// Options that random command lines are made of.
const POOL: &[&str] = &[
    "B=0",
    "B=-1",
    "C=0",
    "C=1",
    "C=2",
    "C=3",
    "E=20",
    "G=5",
    "H=0",
    "H=2000",
    "K=2000",
    "K=top5",
    "K=top5%",
    "L=2500",
    "L=top5",
    "M=5",
    "O=300",
    "P=0",
    "P=1",
    "Q=good.q",
    "Q=settings.q",
    "R=7",
    "T=0",
    "T=1",
    "T=2",
    "T=3",
    "T=4",
    "U=1",
    "U=2,3",
    "W=8",
    "X=500",
    "Y=5000",
    "Z=3",
    "m=1M",
    "AC:-90",
    "--self",
    "--strand=plus",
    "--nomirror",
    "--notrivial",
    "--seed=match9",
    "--seed=half12",
    "--seed=1T101T1011",
    "--transition",
    "--transition=2",
    "--notransition",
    "--maxwordcount=5",
    "--filter=5",
    "--filter=2,12",
    "--twins=0..5",
    "--recoverseeds",
    "--word=16",
    "--gfextend",
    "--nogfextend",
    "--exact=20",
    "--mismatch=2,25",
    "--xdrop=600",
    "--hspthresh=1K",
    "--entropy",
    "--noentropy",
    "--chain",
    "--nochain",
    "--chain=3,4",
    "--segments=s.seg",
    "--gapped",
    "--nogapped",
    "--gap=500,20",
    "--ydrop=900",
    "--gappedthresh=1.5K",
    "--noytrim",
    "--allgappedbounds",
    "--inner=1000",
    "--scores=lo.q",
    "--match=1,5",
    "--unitscores",
    "--ambiguous=n",
    "--ambiguous=iupac,5,6",
    "--identity=50..90",
    "--coverage=20",
    "--matchcount=9",
    "--filter=ngap:..4",
    "--queryhsplimit=9",
    "--queryhspbest=9",
    "--querydepth=keep:3",
    "--anyornone",
    "--limitperquery=2",
    "--masking=3",
    "--format=maf",
    "--format=segments",
    "--format=sam",
    "--markend",
    "--readgroup=ID:x",
    "--rdotplot=plot",
    "--yasra90",
    "--yasra85short",
    "--traceback=200K",
    "--census",
    "--outputmasking=mask",
    "--rawhits",
    "--expand=5",
];

#[test]
fn random_command_lines_are_accepted_or_refused_as_by_lastz() {
    let directory = workplace();
    if lastz(directory.path(), &["--version"]).is_none() {
        return;
    }
    let mut random = SplitMix64(2024);
    let mut differences = Vec::new();
    for _ in 0..500 {
        let count = 2 + random.below(4);
        let options: Vec<&str> = (0..count).map(|_| POOL[random.below(POOL.len())]).collect();
        // Raw hits with gapped extension are not supported.
        if !options.contains(&"--rawhits") {
            differences.extend(difference(directory.path(), &options.join(" ")));
        }
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

/// Which of these is refused, and what K and L are, depends on their order.
const HIT_EXTENSION: &[&str] =
    &["--nogfextend", "--gfextend", "--exact=20", "--exact=30", "--mismatch=2,25", "K=2500", "K=top50%", "X=500"];

#[test]
fn ways_to_extend_hits_follow_each_other_as_in_lastz() {
    let directory = workplace();
    if lastz(directory.path(), &["--version"]).is_none() {
        return;
    }
    let mut random = SplitMix64(7);
    let mut differences = Vec::new();
    for _ in 0..250 {
        let count = 3 + random.below(4);
        let options: Vec<&str> = (0..count).map(|_| HIT_EXTENSION[random.below(HIT_EXTENSION.len())]).collect();
        differences.extend(difference(directory.path(), &options.join(" ")));
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn score_files_mean_what_they_mean_to_lastz() {
    let directory = workplace();
    if lastz(directory.path(), &["--version"]).is_none() {
        return;
    }
    let (lettered, bare) = (
        "  A C G T\nA 91 -90 -25 -100\nC -90 100 -100 -25\nG -25 -100 100 -90\nT -100 -25 -90 91\n",
        "C A T G\n 1 2 3 4\n5 6 7 8\n9 10 11 12\n13 14 15 16\n",
    );
    let settings = "bad_score=-5|bad_score=X:-5|bad_score=X:Y:-5|bad_score=X:Y:Z:-5|bad_score=XX:-5|bad_score=58:-5|\
        bad_score=A:-5|bad_score=X:|bad=-5|fill_score=-1.5K|fill=-5|gap_open_penalty=5|gap_open=5|O=0|O=-5|O=-50|E=0|\
        E=-1|E=0x10|gap_extend=5|gap_extend_penalty=5|hsp_threshold=5|K=1.5K|K=top5|K=-5|K=|K=5 # c|  K = 5|k=5|L=5|\
        gapped_threshold=5|x_drop=5|X=0|Y=5|y_drop=0|step=5|Z=0|Z=1K|seed=12of19|seed=12of19,transition|\
        seed=14of22,notransition|seed=match8|T=0|T=1|T=2|T=3|T=4|T=5|ball=5|W=8|foo=5|=5|K|# only a comment|K=5\nK=6|\
        O=5\ngap_open_penalty=6|O=0\nE=0";
    let mut files: Vec<String> = settings.split('|').map(|setting| format!("{setting}\n{lettered}")).collect();
    files.extend([
        bare.to_string(),
        lettered.replace(' ', "\t").replace('\n', "\r\n"),
        lettered.to_lowercase(),
        lettered.replace('T', "R"),
        lettered.replace("91", "-91"),
        lettered.replace("A 91", "41 91").replace("  A", "  41"),
        lettered.replace("C -90", "-90"),
        lettered.replace("C -90", "A -90"),
        lettered.replace("A C G T", "A C G A"),
        lettered.replace("-25\n", "-25 1\n"),
        lettered.replace("-25\n", "\n"),
        lettered.replace("91", "x"),
        lettered.replace("91", "2.5K"),
        format!("\n{}", lettered.replace('\n', "\n\n# c\n")),
        format!("{lettered}K=5\n"),
        format!("{lettered}N 1 2 3 4\n"),
        format!("{lettered}X 1 2 3 4\n"),
        format!("{bare}17 18 19 20\n"),
        "A C G T\n".to_string(),
        "A C G T N\n91 -90 -25 -100 1\n-90 100 -100 -25 2\n-25 -100 100 -90 3\n-100 -25 -90 91 4\n".to_string(),
        "A C G T N\n91 -9 -2 -100 1\n-9 99 -1 -2 2\n-25 -1 98 -9 3\n-9 -2 -90 97 4\n1 2 3 4 5\n".to_string(),
        "A C G\nA 1 2 3\nC 1 2 3\nG 1 2 3\n".to_string(),
        "K=5\n".to_string(),
        String::new(),
    ]);
    let mut differences = String::new();
    for text in &files {
        std::fs::write(directory.path().join("scores.q"), text).unwrap();
        for options in
            ["--scores=scores.q", "--scores=scores.q O=9", "--scores=scores.q W=9 --step=2", "Q=scores.q AG:3"]
        {
            if let Some(difference) = difference(directory.path(), options) {
                let _ = writeln!(differences, "{text:?} {difference}");
            }
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// The warning about a score file's scale goes to stderr word for word.
#[test]
fn scale_warnings_are_lastzs() {
    let directory = workplace();
    for options in ["", "K=5", "L=5", "--nogfextend", "--nogfextend L=5", "--exact=20", "--nogapped", "K=top5"] {
        let mut words = vec!["t.fa", "q.fa", "--scores=lo.q", "--format=none"];
        words.extend(options.split(' ').filter(|word| !word.is_empty()));
        let Some(theirs) = lastz(directory.path(), &words) else { return };
        let ours = fastz(directory.path(), &words);
        let warning = |output: &Output| {
            let text = String::from_utf8_lossy(&output.stderr).to_string();
            text.split_inclusive('\n').filter(|line| !line.starts_with("fastz: ")).collect::<String>()
        };
        assert_eq!(warning(&ours), warning(&theirs), "{options}");
    }
}

#[test]
fn files_may_be_named_like_options_that_there_are_not() {
    let directory = workplace();
    let directory = directory.path();
    std::fs::copy(directory.join("t.fa"), directory.join("a=b.fa")).unwrap();
    std::fs::copy(directory.join("q.fa"), directory.join("J=1")).unwrap();
    for words in [["a=b.fa", "q.fa"], ["a=b.fa[multiple]", "J=1"], ["t.fa", "J=1"]] {
        let mut words = words.to_vec();
        words.push("--format=general-");
        let ours = fastz(directory, &words);
        assert!(ours.status.success() && !ours.stdout.is_empty(), "{words:?}: {}", error_of(&ours));
        let Some(theirs) = lastz(directory, &words) else { return };
        assert_eq!(ours.stdout, theirs.stdout, "{words:?}");
    }
    let refused = fastz(directory, &["a=c.fa", "q.fa"]);
    assert!(!refused.status.success() && error_of(&refused).contains("a=c.fa"), "{}", error_of(&refused));
}
