//! Bad files, bad options and bad luck: one clear line on stderr that names the thing, exit status 1, and never an
//! output file that looks whole.

mod support;

use flate2::write::GzEncoder;
use std::io::{Read, Write};
use std::path::Path;
#[cfg(unix)]
use std::process::Command;
use std::process::Stdio;
use std::time::{Duration, Instant};
use support::program::{self, Outcome};
use support::twobit::twobit;

const LIMIT: Duration = Duration::from_secs(60);

/// A run that must be refused, and words that its message must hold.
struct Refused {
    words: &'static str,
    /// All of these are named, whatever the case of the letters.
    names: &'static [&'static str],
    /// Whether LASTZ refuses it too (else it is checked for fastz alone).
    lastz_too: bool,
}

const fn refused(words: &'static str, names: &'static [&'static str]) -> Refused {
    Refused { words, names, lastz_too: true }
}

const fn only_fastz(words: &'static str, names: &'static [&'static str]) -> Refused {
    Refused { words, names, lastz_too: false }
}

const REFUSED: &[Refused] = &[
    // Files that are not there or hold nothing.
    refused("missing.fa q.fa", &["missing.fa"]),
    refused("t.fa missing.fa", &["missing.fa"]),
    refused("empty.fa q.fa", &["empty.fa"]),
    refused("t.fa empty.fa", &["empty.fa"]),
    refused("t.fa header_only.fa", &["header_only.fa"]),
    refused("header_only.fa[multiple] q.fa --format=maf", &["header_only.fa"]),
    refused("empty_record_first.fa q.fa", &["empty_record_first.fa"]),
    refused("t.fa", &["stdin"]),
    refused("folder q.fa", &["folder"]),
    refused("t.fa folder", &["folder"]),
    // Damaged files.
    only_fastz("t.fa cut.fa.gz", &["cut.fa.gz", "cut off"]),
    only_fastz("cut.fa.gz q.fa", &["cut.fa.gz"]),
    only_fastz("t.fa flipped.fa.gz", &["flipped.fa.gz"]),
    only_fastz("t.fa junk.fa.gz", &["junk.fa.gz", "not gzip", "gzip -dc"]),
    only_fastz("junk.fa.gz q.fa", &["junk.fa.gz", "not gzip", "gzip -dc"]),
    refused("cut.2bit q.fa", &["cut.2bit"]),
    refused("t.fa cut.2bit", &["cut.2bit"]),
    refused("t.fa binary", &["binary"]),
    refused("binary q.fa", &["binary"]),
    refused("t.fa cut.fq", &["cut.fq"]),
    // Letters and counts.
    refused("t.fa protein.fa", &["protein.fa", "kinase"]),
    refused("protein.fa q.fa", &["protein.fa", "kinase"]),
    refused("t.fa iupac.fa", &["iupac.fa", "ambiguous_read", "--ambiguous=iupac"]),
    refused("two.fa q.fa", &["two.fa", "[multiple]"]),
    refused("two.fa[multiple] q.fa --format=lav", &["lav"]),
    // Specifiers.
    refused("t.2bit/nosuchname q.fa", &["nosuchname", "t.2bit"]),
    refused("t.fa[1..99999] q.fa", &["t.fa", "99999"]),
    refused("t.fa[0..5] q.fa", &["t.fa", "0..5"]),
    refused("t.fa[5] q.fa", &["5"]),
    refused("t.fa[multipel] q.fa", &["multipel"]),
    refused("t.fa[multiple][1,500] q.fa --format=maf", &["t.fa", "commas", "[1,500]"]),
    refused("t.fa[multiple] q.fa --action:target=1,500 --format=maf", &["t.fa", "commas", "1,500"]),
    refused("t.2bit/t[subsample=2/2] q.fa", &["t.2bit", "behind", "subsample=2/n"]),
    refused("t.fa[subset=nosuchlist] q.fa", &["nosuchlist"]),
    refused("two.fa[subset=wrong.names] q.fa", &["wrong.names"]),
    // Options.
    only_fastz("t.fa q.fa --hspthres=3000", &["--hspthres", "--hspthresh"]),
    only_fastz("t.fa q.fa --gappedtresh=3000", &["--gappedtresh", "--gappedthresh"]),
    only_fastz("t.fa q.fa --fromat=maf", &["--fromat", "--format"]),
    refused("t.fa q.fa --bogus", &["--bogus"]),
    refused("t.fa q.fa --format=mff", &["mff"]),
    refused("t.fa q.fa --format=Sam-", &["Sam-", "--format=sam-"]),
    refused("t.fa q.fa --format=General-:score", &["General-", "--format=general-:score"]),
    refused("t.fa q.fa --gappedthresh=top50", &["--gappedthresh", "--hspthresh"]),
    refused("t.fa q.fa --format=general:score,nome1", &["nome1"]),
    refused("t.fa q.fa third.fa", &["third.fa"]),
    refused("t.fa q.fa --step=0", &["--step"]),
    refused("t.fa q.fa --step=many", &["--step", "many"]),
    refused("t.fa q.fa --hspthresh=3KB", &["--hspthresh", "3KB"]),
    refused("t.fa q.fa --seed=12", &["seed", "2"]),
    refused("t.fa q.fa --gap=-500,30", &["-500"]),
    refused("t.fa q.fa --traceback=99K", &["traceback", "100K"]),
    refused("t.fa q.fa --nogapped --ydrop=9400", &["--ydrop", "--gapped"]),
    refused("t.fa q.fa --nogapped --inner=1000", &["--inner", "--gapped"]),
    refused("t.fa q.fa --exact=20 --hspthresh=3000", &["--exact", "--hspthresh"]),
    refused("t.fa q.fa --seed=match8 --seed=12of19", &["--seed"]),
    refused("t.fa q.fa --queryhspbest=5 --queryhsplimit=5", &["--queryhspbest", "--queryhsplimit"]),
    refused("t.fa q.fa --self", &["--self"]),
    refused("t.fa q.fa --anyornone --chain", &["--anyornone", "--chain"]),
    refused("", &["target"]),
    // Files that options name.
    refused("t.fa q.fa --scores=nosuchscores", &["nosuchscores"]),
    refused("t.fa q.fa --scores=bad.q", &["bad.q"]),
    refused("t.fa q.fa --segments=nosuchsegments", &["nosuchsegments"]),
    refused("t.fa q.fa --segments=bad.seg", &["bad.seg", "2"]),
    refused("t.fa q.fa --segments=beyond.seg", &["beyond.seg", "1"]),
    refused("t.fa nameless.fa[nameparse=full] --segments=good.seg", &["good.seg", "1"]),
    refused("t.fa q.fa --include=nosuchoptions", &["nosuchoptions"]),
    // Places to write to.
    refused("t.fa q.fa --format=maf --output=nosuchfolder/out.maf", &["nosuchfolder/out.maf"]),
    refused("t.fa q.fa --format=maf --output=folder", &["folder"]),
    refused("t.fa q.fa --format=maf --rdotplot=nosuchfolder/dots", &["nosuchfolder/dots"]),
    refused("t.fa q.fa --masking=1 --outputmasking=nosuchfolder/mask", &["nosuchfolder/mask"]),
    refused("t.fa q.fa --format=maf --census=nosuchfolder/census", &["nosuchfolder/census"]),
    only_fastz("t.fa q.fa --format=maf --report=nosuchfolder/report", &["nosuchfolder/report"]),
    only_fastz("t.fa q.fa --format=maf --report=folder", &["folder"]),
    // Places that are taken.
    only_fastz("t.fa q.fa --format=maf --output=t.fa", &["--output=t.fa", "reads"]),
    only_fastz("t.fa[unmask] q.fa --format=maf --output=./folder/../t.fa", &["--output=./folder/../t.fa", "reads"]),
    only_fastz("t.fa q.fa[unmask] --format=maf --rdotplot=q.fa", &["--rdotplot=q.fa", "reads"]),
    only_fastz("t.2bit/t q.fa --format=maf --census=t.2bit", &["--census=t.2bit", "reads"]),
    only_fastz("t.fa[softmask=mask] q.fa --axt=mask", &["--axt=mask", "reads"]),
    only_fastz("t.fa q.fa[subset=q.names] --masking=1 --outputmasking=q.names", &["--outputmasking=q.names", "reads"]),
    only_fastz("t.fa q.fa --scores=good.q --maf=good.q", &["--maf=good.q", "reads"]),
    only_fastz("t.fa q.fa --segments=good.seg --report=good.seg", &["--report=good.seg", "reads"]),
    only_fastz("t.fa q.fa --include=options --output=options", &["--output=options", "reads"]),
    only_fastz("t.fa q.fa --output=new --maf=./new", &["--output", "--maf", "new"]),
    only_fastz("t.fa q.fa --axt=new --report=new", &["--axt", "--report", "new"]),
    // Messages name what was typed.
    refused("t.fa q.fa K=abc", &["K=abc", "3K"]),
    refused("t.fa q.fa T=7", &["T=7", "T=0", "T=4"]),
    refused("t.fa q.fa --nogapped Y=9", &["--gapped", "Y=9"]),
    refused("t.fa q.fa --word=40", &["--word=40", "31"]),
    only_fastz("t.fa q.fa --gpu-memory=99999999T", &["--gpu-memory=99999999T", "1G"]),
    only_fastz("t.fa q.fa --device=gpu:99", &["cpu", "fastz devices"]),
    // Words that mean nothing.
    refused("t.fa q.fa --", &["--", "leave it out"]),
    only_fastz("devices foo", &["devices", "foo"]),
    only_fastz("t.fa q.fa --threads=many", &["--threads", "many"]),
];

/// A folder with good and bad files.
fn bench() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("write a file");
    let (target, query) = (pair_letters("target.fa"), pair_letters("query.fa"));
    let fasta = |name: &str, letters: &[u8]| support::evolve::fasta(name, letters).into_bytes();
    let two_bit = twobit([("t", target.as_slice())].into_iter());
    let zipped = gzip(&fasta("q", &query));
    let mut flipped = zipped.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x55;
    write("t.fa", &fasta("t", &target));
    write("q.fa", &fasta("q", &query));
    write("q.fa.gz", &zipped);
    write("third.fa", &fasta("third", &query));
    write("two.fa", &[fasta("a", &target[..4000]), fasta("b", &target[4000..9000])].concat());
    write("twins.fa", &[fasta("same", &query[..4000]), fasta("same", &query[4000..9000])].concat());
    write("good_then_protein.fa", &[fasta("good", &query), b">kinase\nMKTAYIAKQRQISFVKSHFSRQ\n".to_vec()].concat());
    write("nameless.fa", &fasta("", &query));
    write("empty.fa", b"");
    write("header_only.fa", b">lonely\n");
    write("empty_record_first.fa", &[b">nothing\n".to_vec(), fasta("t", &target)].concat());
    write("junk.fa.gz", &[&zipped[..], b"junk"].concat());
    write("padded.fa.gz", &[&zipped[..], &[0; 1000]].concat());
    write("cut.fa.gz", &zipped[..zipped.len() / 2]);
    write("flipped.fa.gz", &flipped);
    write("t.2bit", &two_bit);
    write("cut.2bit", &two_bit[..two_bit.len() / 2]);
    write("binary", &(0..5000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<_>>());
    write("cut.fq", b"@read\nACGTACGTACGT\n+\n");
    write("protein.fa", b">kinase human\nMKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQ\n");
    write("iupac.fa", &fasta("ambiguous_read", &[&query[..300], b"R", &query[300..900]].concat()));
    write("wrong.names", b"nobody\n");
    write("bad.q", b"     A    C    G    T\n    91 -114  -31\n");
    write("bad.seg", b"t 1 100 q 1 100 + 500\nt 1 100 q 1 90 + 500\n");
    write("beyond.seg", b"t 1 100 q 999901 1000000 + 500\n");
    write("left_over.seg", b"t 6067 6137 q 5275 5345 +\nt 6880 6945 elsewhere 6092 6157 +\n");
    write("mask", b"5 10\n");
    write("q.names", b"q\n");
    write("good.q", b"A C G T\n91 -90 -25 -100\n-90 100 -100 -25\n-25 -100 100 -90\n-100 -25 -90 91\n");
    write("good.seg", b"t 6067 6137 q 5275 5345 +\n");
    write("options", b"--format=maf\n");
    std::fs::create_dir(folder.path().join("folder")).expect("make a folder");
    folder
}

fn pair_letters(name: &str) -> Vec<u8> {
    let text = std::fs::read_to_string(support::data(name)).expect("the committed pair");
    text.lines().filter(|line| !line.starts_with('>')).collect::<String>().into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("compress");
    encoder.finish().expect("compress")
}

fn run(folder: &Path, words: &str) -> Outcome {
    let mut command = program::fastz(folder);
    program::run(command.args(words.split_whitespace()), b"", LIMIT)
}

/// What is wrong with a refusal; nothing if it is as it should be.
fn judge(outcome: &Outcome, names: &[&str]) -> Result<(), String> {
    if outcome.timed_out {
        return Err("did not end".into());
    }
    if outcome.code != Some(1) {
        return Err(format!("exit status {:?} instead of 1; stderr: {}", outcome.code, outcome.last_words()));
    }
    if program::is_lastz_on_trial() {
        return Ok(());
    }
    let lines: Vec<&str> = outcome.stderr.lines().filter(|line| !line.trim().is_empty()).collect();
    // A warning about an empty sequence is followed by its header line.
    let is_warning = |line: &str| line.to_lowercase().contains("warning") || line.starts_with('>');
    let errors: Vec<&&str> = lines.iter().filter(|line| !is_warning(line)).collect();
    let [error] = errors[..] else {
        return Err(format!("{} lines on stderr instead of one: {}", errors.len(), outcome.stderr));
    };
    let said = error.to_lowercase();
    match names.iter().find(|name| !said.contains(&name.to_lowercase())) {
        Some(name) => Err(format!("the message does not name {name:?}: {error}")),
        None => Ok(()),
    }
}

#[test]
fn bad_input_is_refused_with_one_line_that_names_it() {
    let folder = bench();
    let cases: Vec<&Refused> = REFUSED.iter().filter(|case| case.lastz_too || !program::is_lastz_on_trial()).collect();
    let failures: Vec<String> = support::in_parallel(&cases, |case| {
        let outcome = run(folder.path(), case.words);
        judge(&outcome, case.names).err().map(|why| format!("fastz {}\n    {}", case.words, why.trim_end()))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// No file that was to be read or written in vain has changed.
#[test]
fn refused_outputs_leave_the_inputs_as_they_were() {
    if program::is_lastz_on_trial() {
        return program::say("SKIPPED outputs in the place of inputs: LASTZ overwrites them");
    }
    let folder = bench();
    let before = std::fs::read(folder.path().join("t.fa")).expect("the target");
    let mut refused = vec!["t.fa q.fa --format=maf --output=t.fa", "t.fa --self --maf=t.fa"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("t.fa", folder.path().join("link.fa")).expect("make a link");
        refused.push("t.fa q.fa --output=link.fa");
    }
    for words in refused {
        judge(&run(folder.path(), words), &["reads"]).unwrap_or_else(|why| panic!("{words}: {why}"));
    }
    assert!(std::fs::read(folder.path().join("t.fa")).expect("the target") == before);
    let outcome = run(folder.path(), "t.fa q.fa --format=maf --output=/dev/null --rdotplot=/dev/null");
    assert!(outcome.succeeded(), "devices can be written to twice: {}", outcome.last_words());
}

#[cfg(target_os = "linux")]
#[test]
fn arguments_that_are_not_utf8_are_named() {
    use std::os::unix::ffi::OsStrExt;
    if program::is_lastz_on_trial() {
        return program::say("SKIPPED arguments that are not UTF-8: LASTZ takes them");
    }
    let folder = bench();
    let mut command = program::fastz(folder.path());
    command.arg("t.fa").arg(std::ffi::OsStr::from_bytes(b"caf\xe9.fa"));
    judge(&program::run(&mut command, b"", LIMIT), &["caf\\xE9.fa", "UTF-8", "rename"]).unwrap();
}

#[test]
fn good_runs_beside_the_bad_ones_succeed() {
    let folder = bench();
    for words in [
        "t.fa q.fa --format=maf",
        "t.2bit q.fa --format=maf",
        "t.fa twins.fa --format=maf",
        "two.fa[multiple] q.fa --format=maf",
        "t.fa iupac.fa --ambiguous=iupac",
    ] {
        let outcome = run(folder.path(), words);
        assert!(outcome.succeeded(), "{words}: status {:?}: {}", outcome.code, outcome.last_words());
        assert!(outcome.stdout.len() > 500, "{words} prints nothing");
    }
}

#[test]
fn judge_notices_silence_chatter_and_wrong_names() {
    let outcome = |code, stderr: &str| Outcome { stdout: vec![], stderr: stderr.into(), code, timed_out: false };
    assert!(judge(&outcome(Some(0), "x"), &[]).is_err(), "success");
    assert!(judge(&outcome(Some(101), "panicked at x"), &[]).is_err(), "a panic");
    if !program::is_lastz_on_trial() {
        assert!(judge(&outcome(Some(1), ""), &[]).is_err(), "silence");
        assert!(judge(&outcome(Some(1), "one\ntwo\n"), &[]).is_err(), "two lines");
        assert!(judge(&outcome(Some(1), "cannot open a.fa\n"), &["b.fa"]).is_err(), "another name");
        assert_eq!(judge(&outcome(Some(1), "warning: twins\ncannot open a.fa\n"), &["a.fa"]), Ok(()));
    }
}

#[test]
fn gzip_input_gives_what_plain_input_gives() {
    if program::is_lastz_on_trial() {
        return program::say("SKIPPED gzip input: LASTZ does not read it");
    }
    let folder = bench();
    let plain = run(folder.path(), "t.fa q.fa --format=maf-");
    for name in ["q.fa.gz", "padded.fa.gz"] {
        let zipped = run(folder.path(), &format!("t.fa {name} --format=maf-"));
        assert!(zipped.succeeded() && zipped.stderr.is_empty(), "{name}: {}", zipped.last_words());
        support::compare::assert_same_text(name, &plain.stdout, &zipped.stdout);
    }
}

#[test]
fn left_over_segment_lines_fail_before_the_output_gets_its_name() {
    let folder = bench();
    let outcome = run(folder.path(), "t.fa q.fa --segments=left_over.seg --format=maf --output=out.maf");
    judge(&outcome, &["left_over.seg", "2"]).unwrap();
    if !program::is_lastz_on_trial() {
        assert!(!folder.path().join("out.maf").exists(), "out.maf looks whole, but the run failed");
    }
}

#[test]
fn failed_run_leaves_an_earlier_output_as_it_was() {
    if program::is_lastz_on_trial() {
        return program::say("SKIPPED outputs of failed runs: LASTZ leaves a part");
    }
    let folder = bench();
    let output = folder.path().join("out.maf");
    std::fs::write(&output, "precious").expect("write the earlier output");
    let outcome = run(folder.path(), "t.fa good_then_protein.fa --format=maf --output=out.maf");
    judge(&outcome, &["good_then_protein.fa", "kinase"]).unwrap();
    assert_eq!(std::fs::read_to_string(&output).expect("the earlier output"), "precious");
    only_known_files(folder.path(), &["out.maf"]);
}

/// Beside these outputs no file is left, such as a half-written temporary one.
fn only_known_files(folder: &Path, outputs: &[&str]) {
    let known: Vec<_> =
        std::fs::read_dir(bench().path()).expect("list").map(|file| file.unwrap().file_name()).collect();
    for file in std::fs::read_dir(folder).expect("list the folder") {
        let name = file.expect("a file").file_name();
        assert!(outputs.iter().any(|output| name == *output) || known.contains(&name), "{name:?} was left behind");
    }
}

/// A run that cannot end by itself: the query comes on stdin, which stays open. Its temporary files are there.
#[cfg(unix)]
fn endless_run(folder: &Path, prepare: impl FnOnce(&mut Command)) -> std::process::Child {
    let mut command = program::fastz(folder);
    command.args(["t.fa", "--format=maf", "--output=out.maf", "--rdotplot=dots", "--device=cpu"]);
    prepare(&mut command);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("start fastz");
    let query = std::fs::read(folder.join("q.fa")).expect("the query");
    child.stdin.as_mut().expect("stdin is a pipe").write_all(&query).expect("feed the query");
    let start = Instant::now();
    while temporary_files(folder) < 2 {
        assert!(start.elapsed() < LIMIT, "no temporary files");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(child.try_wait().expect("look at the run").is_none(), "the run ended although its input did not");
    child
}

#[cfg(unix)]
fn temporary_files(folder: &Path) -> usize {
    let names = std::fs::read_dir(folder).expect("list the folder").map(|file| file.expect("a file").file_name());
    names.filter(|name| name.to_string_lossy().ends_with(".part")).count()
}

/// Has a run start with this action for a signal, whatever these tests were started with.
#[cfg(unix)]
fn with_action(signal: i32, action: libc::sighandler_t) -> impl FnOnce(&mut Command) {
    move |command| {
        let set = move || {
            // SAFETY: sets an action that is no function.
            unsafe { libc::signal(signal, action) };
            Ok(())
        };
        // SAFETY: `signal` may be called between fork and exec.
        unsafe { std::os::unix::process::CommandExt::pre_exec(command, set) };
    }
}

#[cfg(unix)]
#[test]
fn signals_end_a_run_and_leave_nothing_behind() {
    use std::os::unix::process::ExitStatusExt;
    if program::is_lastz_on_trial() {
        return program::say("SKIPPED output of a run that a signal ends: LASTZ leaves a part");
    }
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGKILL] {
        let folder = bench();
        let mut child = endless_run(folder.path(), with_action(signal, libc::SIG_DFL));
        // SAFETY: sends a signal to a child that has not been waited for.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
        let status = child.wait().expect("wait for the end");
        assert_eq!(status.signal(), Some(signal), "{status}");
        match signal {
            // Nobody can clear up then, but nothing looks whole.
            libc::SIGKILL => assert!(!["out.maf", "dots"].iter().any(|name| folder.path().join(name).exists())),
            _ => only_known_files(folder.path(), &[]),
        }
    }
}

#[cfg(unix)]
#[test]
fn a_signal_that_is_ignored_as_under_nohup_stays_ignored() {
    if program::is_lastz_on_trial() {
        return program::say("SKIPPED output of a run that a signal ends: LASTZ leaves a part");
    }
    let folder = bench();
    let mut child = endless_run(folder.path(), with_action(libc::SIGHUP, libc::SIG_IGN));
    // SAFETY: sends a signal to a child that has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGHUP) }, 0);
    drop(child.stdin.take());
    assert!(child.wait().expect("wait for the end").success());
    only_known_files(folder.path(), &["out.maf", "dots"]);
}

/// A limit on the size of files acts like a full disk: one output has room and the other has not.
#[cfg(unix)]
#[test]
fn an_output_without_room_leaves_no_other_and_is_named() {
    if program::is_lastz_on_trial() {
        return program::say("SKIPPED outputs without room: LASTZ leaves a part");
    }
    // With 40 blocks of 512 or 1024 bytes.
    for (words, small, large) in [
        ("--format=cigar --output=small --maf=./folder/../large", "small", "./folder/../large"),
        ("--format=maf --output=large --rdotplot=small", "small", "large"),
    ] {
        let folder = bench();
        let run = |limit: &str| {
            let line = format!("ulimit -f {limit} && exec \"$0\" t.fa q.fa {words}");
            let mut command = Command::new("sh");
            program::run(command.current_dir(&folder).arg("-c").arg(line).arg(program::fastz_path()), b"", LIMIT)
        };
        let outcome = run("40");
        judge(&outcome, &[&format!("{large}:"), "another disk"]).unwrap_or_else(|why| panic!("{words}: {why}"));
        assert!(!outcome.stderr.contains(".part"), "{}", outcome.stderr);
        only_known_files(folder.path(), &[]);
        assert!(run("unlimited").succeeded());
        let [small, large] = [small, large].map(|name| folder.path().join(name).metadata().expect("an output").len());
        assert!(small < 20 * 1024 && large > 40 * 1024, "{small} and {large} bytes: the limit shows nothing");
    }
}

#[test]
fn output_file_holds_what_stdout_would() {
    let folder = bench();
    // The option itself is part of the header, so a format without one is compared.
    let stdout = run(folder.path(), "t.fa q.fa --format=cigar").stdout;
    let outcome = run(folder.path(), "t.fa q.fa --format=cigar --output=out.maf");
    assert!(outcome.succeeded() && outcome.stdout.is_empty(), "{}", outcome.last_words());
    let written = std::fs::read(folder.path().join("out.maf")).expect("the output");
    support::compare::assert_same_text("--output", &stdout, &written);
    only_known_files(folder.path(), &["out.maf"]);
}

/// Runs with stdout on a device that is always full. Not through the real `/dev/full` by name in `--output`, lest a
/// rename replaces it: a node of our own does.
#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_an_error() {
    let folder = bench();
    let device = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("open /dev/full");
    let mut command = program::fastz(folder.path());
    let command = command.args(["t.fa", "q.fa", "--format=maf"]).stdout(device).stderr(Stdio::piped());
    let output = command.stdin(Stdio::null()).output().expect("run fastz");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if program::is_lastz_on_trial() {
        return program::say("SKIPPED full disk: LASTZ does not notice it");
    }
    judge(&Outcome { stdout: vec![], stderr, code: output.status.code(), timed_out: false }, &["output"]).unwrap();
    let made = Command::new("mknod").current_dir(folder.path()).args(["full", "c", "1", "7"]).output();
    if !made.is_ok_and(|output| output.status.success()) {
        return program::say("SKIPPED --output to a full device: mknod needs root");
    }
    let outcome = run(folder.path(), "t.fa q.fa --format=maf --output=full");
    judge(&outcome, &["full"]).unwrap();
    let kind = std::fs::symlink_metadata(folder.path().join("full")).expect("the device").file_type();
    assert!(!kind.is_file(), "--output replaced a device by a file");
}

/// Not on a system that grants memory that it has not (macOS ignores `ulimit -v`).
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_one_line_and_leaves_nothing_behind() {
    if program::is_lastz_on_trial() {
        return program::say("SKIPPED too little memory: LASTZ has its own words");
    }
    let folder = bench();
    // A file full of holes: its size is not really there, but memory for it is asked for.
    std::fs::File::options().append(true).open(folder.path().join("t.fa")).unwrap().set_len(1 << 36).unwrap();
    let line = "ulimit -v 16000000 && exec \"$0\" t.fa q.fa --format=maf --output=out.maf --device=cpu";
    let mut command = Command::new("sh");
    command.current_dir(&folder).args(["-c", line]).arg(program::fastz_path());
    judge(&program::run(&mut command, b"", LIMIT), &["out of memory", "target.fa[1.."]).unwrap();
    only_known_files(folder.path(), &[]);
}

#[test]
fn reader_that_stops_reading_is_no_error() {
    if program::is_lastz_on_trial() {
        return program::say("SKIPPED broken pipe: LASTZ dies from the signal");
    }
    let folder = bench();
    let mut command = program::fastz(folder.path());
    command.args(["t.fa", "q.fa", "--format=maf"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("start fastz");
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().expect("stderr is a pipe").read_to_string(&mut stderr).expect("read stderr");
    let start = Instant::now();
    let status = child.wait().expect("wait for fastz");
    assert_eq!((status.code(), stderr.as_str()), (Some(0), ""), "after {:?}", start.elapsed());
}

#[test]
fn duplicate_names_are_allowed_with_a_warning() {
    let folder = bench();
    let outcome = run(folder.path(), "t.fa twins.fa --format=general-:name2,zstart2+,end2+");
    assert!(outcome.succeeded(), "{}", outcome.last_words());
    let text = String::from_utf8(outcome.stdout).expect("text");
    assert!(text.lines().count() > 1 && text.lines().all(|line| line.starts_with("same\t")), "{text}");
    if !program::is_lastz_on_trial() {
        let stderr = outcome.stderr;
        assert!(stderr.starts_with("WARNING. twins.fa contains two sequences named \"same\""), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}
