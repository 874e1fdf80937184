//! The readers against the installed `lastz`: what it accepts, and every name, position and base that it prints.

use std::collections::HashSet;
use std::io::Write;
use std::process::{Command, Output};

use super::two_bit::encode;
use super::*;
use crate::sequence::Partition;

const FIELDS: &str = "--format=general-:name1,number1,size1,strand1,zstart1,end1,text1,nucs1,\
                      name2,number2,size2,strand2,zstart2,end2,text2,nucs2";

/// Whether LASTZ 1.04.22 is there; says so if a test is skipped.
fn has_lastz() -> bool {
    let version = Command::new("lastz").arg("--version").output();
    let found = version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("1.04.22"));
    if !found {
        // Past the capture of the test harness, so that it is seen.
        let _ = writeln!(std::io::stderr(), "SKIPPED: lastz 1.04.22 is not installed");
    }
    found
}

impl Files {
    fn lastz(&self, target: &str, query: &str, options: &[&str]) -> Output {
        Command::new("lastz").current_dir(self.0.path()).args([target, query]).args(options).output().unwrap()
    }
}

/// Pseudo-random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn dna(&mut self, len: usize) -> String {
        (0..len).map(|_| self.pick(b"ACGT") as char).collect()
    }
}

/// One side of a line of LASTZ's table.
struct Side<'l> {
    name: &'l str,
    record: usize,
    full_len: usize,
    strand: char,
    start: usize,
    end: usize,
    text: String,
    nucs: &'l str,
}

impl<'l> Side<'l> {
    fn new(fields: &[&'l str]) -> Side<'l> {
        let number = |i: usize| fields[i].parse().unwrap();
        Side {
            name: fields[0],
            record: number(1),
            full_len: number(2),
            strand: fields[3].chars().next().unwrap(),
            start: number(4),
            end: number(5),
            text: fields[6].replace('-', ""),
            nucs: fields[7],
        }
    }

    /// Whether a partition says the same.
    fn agrees(&self, set: &SequenceSet, partition: &Partition) -> bool {
        let (printed, forward) = match (self.strand == set.strand(), set.is_reversed) {
            (true, true) => (set.clone(), set.reverse_complement()),
            (true, false) => (set.clone(), set.clone()),
            (false, true) => (set.reverse_complement(), set.reverse_complement()),
            (false, false) => (set.reverse_complement(), set.clone()),
        };
        let strand_start = partition.strand_start(printed.is_reversed);
        partition.name == self.name
            && (self.record, self.full_len) == (partition.record, partition.full_len)
            && strand_start <= self.start
            && self.end <= strand_start + partition.len()
            && printed.bases[partition.range.start + self.start - strand_start..][..self.end - self.start]
                == *self.text.as_bytes()
            && forward.bases[partition.range.clone()] == *self.nucs.as_bytes()
    }
}

/// Runs LASTZ and compares every line with what was read; returns how many partitions of both files were printed.
fn compare(files: &Files, target: &str, query: &str, options: &[&str]) -> (usize, usize) {
    let what = format!("lastz {target} {query} {options:?}");
    let output = files.lastz(target, query, &[&[FIELDS], options].concat());
    let read = files.target(target).and_then(|(target, _)| Ok((target, files.queries(query)?.0)));
    let (target, queries) = match read {
        Ok(read) => read,
        Err(error) => {
            assert!(!output.status.success(), "{what}: {error}");
            return (0, 0);
        }
    };
    if output.status.code().is_none() {
        // LASTZ 1.04.22 crashes now and then on a subrange of a 2bit file.
        eprintln!("lastz crashed: {what}");
        return (0, 0);
    }
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
    let (mut seen_targets, mut seen_queries) = (HashSet::new(), HashSet::new());
    for line in std::str::from_utf8(&output.stdout).unwrap().lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let side = Side::new(&fields[..8]);
        let found = target.partitions.iter().position(|partition| side.agrees(&target, partition));
        assert!(found.is_some(), "{what}: no target partition is as in {line}\n{target:?}");
        seen_targets.extend(found);
        let side = Side::new(&fields[8..]);
        let found = queries.iter().enumerate().find_map(|(set_ix, set)| {
            let found = set.partitions.iter().position(|partition| side.agrees(set, partition));
            found.map(|partition_ix| (set_ix, partition_ix))
        });
        assert!(found.is_some(), "{what}: no query partition is as in {line}\n{queries:?}");
        seen_queries.extend(found);
    }
    (seen_targets.len(), seen_queries.len())
}

/// A FASTA file of records that share their bases with `whole`, in any shape that LASTZ reads.
fn random_fasta(random: &mut Random, whole: &str, n_records: usize) -> (String, Vec<(String, String)>) {
    let (mut text, mut records) = (String::new(), Vec::new());
    let line_end = random.pick(&["\n", "\r\n", "\n\n", " \n"]);
    for record in 0..n_records {
        let len = 150 + random.below(250);
        let from = random.below(whole.len() - len);
        let mut bases = whole[from..from + len].to_string();
        if random.below(3) == 0 {
            bases.replace_range(60..64, random.pick(&["NNNN", "nnNN", "acgt", "XXXX", "A1CG"]));
        }
        let header =
            format!("{}{record}{}", random.pick(&["r", "a|b", " c.fa", "/p/d:"]), random.pick(&["", " x y", ".fa|z"]));
        text += &format!(">{header}{line_end}");
        let width = 1 + random.below(100);
        for line in bases.as_bytes().chunks(width) {
            text += std::str::from_utf8(line).unwrap();
            text += line_end;
        }
        records.push((header.trim().to_string(), bases));
    }
    (text, records)
}

#[test]
fn printed_facts_agree() {
    if !has_lastz() {
        return;
    }
    let mut random = Random(22);
    let (mut n_targets, mut n_queries) = (0, 0);
    for round in 0..150 {
        let whole = random.dna(600);
        let n_records = 1 + random.below(4);
        let (target_text, records) = random_fasta(&mut random, &whole, n_records);
        let n_records = 1 + random.below(4);
        let (query_text, _) = random_fasta(&mut random, &whole, n_records);
        let files =
            Files::new(&[("t", &target_text), ("q", &query_text), ("mask", "10 20\n71 80\n"), ("last", "r1\n")]);
        let plain: Vec<(String, String)> =
            records.iter().map(|(name, bases)| (name.clone(), bases.replace(['X', '1'], "A"))).collect();
        let plain: Vec<(&str, &str)> = plain.iter().map(|(name, bases)| (name.as_str(), bases.as_str())).collect();
        files.write("t.2bit", &encode(&plain, round % 2 == 0, 0));
        let mut actions = |can_be_single: bool| {
            let mut list = vec![random.pick(&["multiple", "multi"])];
            if can_be_single {
                list.clear();
            }
            for (odds, choices) in [
                (
                    3,
                    &[
                        "11..130",
                        "130..11",
                        "..140",
                        "30..",
                        "20#90",
                        "75^100",
                        "20^90",
                        "40..100+30%",
                        "60..60+9%",
                        "20,120",
                        "151#20",
                    ][..],
                ),
                (4, &["unmask"]),
                (4, &["revcomp"]),
                (4, &["nameparse=darkspace", "nameparse=alphanum", "nameparse=full", "nickname=foo|x"]),
                (5, &["softmask=mask", "xmask=keep:mask", "nmask=mask"]),
                (6, &["subsample=1/2", "subsample=2/2", "subset=last"]),
                (8, &["separator=N"]),
            ] {
                if random.below(odds) == 0 {
                    list.push(random.pick(choices));
                }
            }
            let strand = random.pick(&["", "", "-", "+"]);
            if list.is_empty() { strand.to_string() } else { format!("[{}]{strand}", list.join(",")) }
        };
        let target = format!("{}{}", if round % 3 == 0 { "t.2bit" } else { "t" }, actions(false));
        let query = format!("q{}", actions(round % 4 != 0));
        // LASTZ finds no names in files with carriage returns.
        for (spec, name, text) in [(&target, "t", &target_text), (&query, "q", &query_text)] {
            if spec.contains("subset") {
                files.write(name, text.replace('\r', "").as_bytes());
            }
        }
        let (targets, queries) = compare(&files, &target, &query, &["--hspthresh=2200"]);
        n_targets += targets;
        n_queries += queries;
    }
    assert!(n_targets > 100 && n_queries > 100, "too little was compared: {n_targets} {n_queries}");
}

#[test]
fn array_layout_agrees() {
    if !has_lastz() {
        return;
    }
    // The dot plot of a partitioned target shows array positions, counted from 1.
    let mut random = Random(7);
    let (a, b, c) = (random.dna(60), random.dna(50), random.dna(70));
    let files = Files::new(&[
        ("empty", &format!(">w\n>x\n{a}N{b}\n>y\n>z\nNN{c}N\n")),
        ("full", &format!(">x\n{a}N{b}\n>z\nNN{c}N\n")),
        ("q", &format!(">q\n{a}{b}{c}\n")),
    ]);
    for spec in ["empty[multiple]", "full[multiple]", "full[multiple,separator=N]"] {
        let options = ["--format=rdotplot", "--exact=40", "--nogapped", "--strand=plus"];
        let output = files.lastz(spec, "q", &options);
        let printed = String::from_utf8(output.stdout).unwrap();
        let run_starts = printed.lines().skip(1).step_by(3).map(|line| line.split('\t').next().unwrap());
        let starts: Vec<usize> = run_starts.map(|start| start.parse().unwrap()).collect();
        let set = bases(&files.target(spec).unwrap().0);
        assert_eq!(starts, [&a, &b, &c].map(|part| set.find(part.as_str()).unwrap() + 1), "{spec}");
    }
}

/// What fastz makes of an input that LASTZ refuses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fastz {
    AsLastz,
    Reads,
}
use Fastz::{AsLastz, Reads};

/// LASTZ's exit status and ours, with the file as target and as query.
fn agree_on(bytes: &[u8], actions: &str, target_is: Fastz, query_is: Fastz) {
    let files = Files::new(&[
        ("q", ">q\nACGTACGTTGACCATGATTACAGGATCCA\n"),
        ("mask", "5 x\n"),
        ("names", "b\na\n"),
        ("one", "b\n"),
    ]);
    files.write("f", bytes);
    let spec = format!("f{actions}");
    let what = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
    for (ours, lastz, known) in [
        (files.target(&spec).is_ok(), files.lastz(&spec, "q", &["--format=general-"]), target_is),
        (files.queries(&spec).is_ok(), files.lastz("q", &spec, &["--format=general-"]), query_is),
    ] {
        match known {
            AsLastz => assert_eq!(ours, lastz.status.success(), "{what:?} {actions}: {lastz:?}"),
            Reads => assert!(ours && !lastz.status.success(), "{what:?} {actions}: {ours} {lastz:?}"),
        }
    }
}

#[test]
fn exit_status_agrees_on_odd_fasta() {
    if !has_lastz() {
        return;
    }
    for text in [
        "",
        "ACG",
        "\n\n\n",
        ">\nA",
        " >ab\n",
        ">a",
        ">abcd",
        ">abcd\n",
        ">abcd\n\n",
        ">abcd\n ",
        ">a\n>b\n",
        ">a\n>b",
        ">a\n>b\nACGT",
        ">a\nACGT\n>b",
        ">a\nACGT\n>b\n>c\nACGT",
        "    \n\n",
        "\n\n\n\n>a\nACGT",
        "     >a\nACGT",
        " \n >a\nACGT",
        "\t\n\tACGT",
        "ACGT",
        "ACGTA\n",
        "ACGT\n\n>b\nACGT",
        ">a\nACGT\n>",
        ">a\nACGR\n",
        ">a\nAC-GT",
        ">a\nAC*",
        ">a\nACU\n",
        ">a\nAC>GT\n",
        ">a\nAC\0GT\n",
        ">a\nACGT\x1a",
        "\u{feff}>a\nACGT",
        ";c\n>a\nACGT",
        "#c\n>a\nACGT",
        ">p\nMKVLA",
        "<html>",
        ">a\nAC\x0cGT",
        ">a\n1 AC\n",
        "NNNN",
        ">t\r>u\nACGT",
        ">t\rAB\nACGT",
        "@r\nACGT\n+\nIIII\n",
        "@r\nACGT\n+r\nIIII",
        "@r\nACGT\n+x\nIIII\n",
        "@r\nACGT\n+\nIII\n",
        "@r\nACGT\n+\nIIIII\n",
        "@r\nACGT\n",
        "@r x\n",
        "@r\nAC\nGT\n+\nIIII\n",
        "@r\nACRT\n+\nIIII\n",
        "@r\nA GT\n+\nIIII\n",
        "@r\nA\tGT\n+\nI\tII\n",
        "@e\n\n+\n\n@r\nACGT\n+\nIIII\n",
        "@r\nACGT\n+\nIIII\n@s\nAC\n+\nII\n",
        "@r\nACGT\n+\nIIII\nx\n",
        "@r\nACGT\n+\nI\x7fII\n",
        "\n@r\nACGT\n+\nIIII\n",
        "@r\nACGT\n+ \nIIII\n",
    ] {
        agree_on(text.as_bytes(), "", AsLastz, AsLastz);
        if !text.starts_with(['A', ' ', '\n', '\t', 'N']) {
            // LASTZ crashes on records without header here.
            agree_on(text.as_bytes(), "[multi]", AsLastz, AsLastz);
        }
    }
    // LASTZ wants line feeds, two bytes behind the first header, no empty lines in FASTQ, no nickname for FASTQ.
    agree_on(b">t\rACGT\r", "", Reads, Reads);
    agree_on(b">t\nA", "", Reads, Reads);
    agree_on(b"@r\nACGT\n+\nIIII\n\n", "", Reads, Reads);
    agree_on(b"@r\nACGT\n+\nIIII\n", "[nickname=x]", Reads, Reads);
    agree_on(b"@b x\nACGT\n+b x\nIIII\n@a\nACGT\n+a\nIIII\n", "[subset=one]", Reads, Reads);
    agree_on(b">a\nNNNN\n>b\nACGT\n", "[separator=N]", AsLastz, Reads);
}

#[test]
fn exit_status_agrees_on_actions() {
    if !has_lastz() {
        return;
    }
    let two: &[u8] = b">a x\nACGTTGACCATGATTACAGG\n>b\nACGTTGACCATGAT\n";
    for actions in [
        "[3..14]",
        "[3..15]",
        "[multi,3..14]",
        "[multi,3..15]",
        "[multi,15#3]",
        "[multi,14#30]",
        "[multi,14^4]",
        "[multi,20^30]",
        "[multi,30^4]",
        "[multi,14..3]",
        "[subset=names]",
        "[multi,subset=names]",
        "[subset=mask]",
        "[subset=nofile]",
        "[xmask=mask]",
        "[multi,nmask=nofile]",
        "[subsample=1/2]",
        "[multi,subsample=1/2]",
        "[subsample=1/1]",
        "[subsample=3/3]",
        "[separator=N]",
        "[multi,separator=N]",
        "[format=fastq]",
        "[multi,format=fasta]",
        "[multi,format=2bit]",
        "/a",
        "/a[multi]",
        "[multi]-",
        "[multi",
        "[multi]x",
        "[multi][3,14]",
        "[multi,3][14]",
        "[multi][unmask,3..14]",
        "[multi,unmask][3..14]",
        "{nofile}",
        "[multi,nameparse=tag:x]",
        "[foo]",
        "[multi,chores=f]",
        "[quantum]",
    ] {
        let ours = Specifier::parse(&format!("f{actions}"));
        if ours.is_err() {
            let files = Files::new(&[("q", ">q\nACGT\n")]);
            files.write("f", two);
            assert!(!files.lastz(&format!("f{actions}"), "q", &["--format=general-"]).status.success(), "{actions}");
            continue;
        }
        agree_on(two, actions, AsLastz, AsLastz);
    }
}

#[test]
fn exit_status_agrees_on_2bit() {
    if !has_lastz() {
        return;
    }
    let whole = encode(&[("chr1", "ACGTNNNacgtacnnGGATTCCAtNa"), ("b c", "ACGTTGACCATGAT")], true, 0);
    for actions in [
        "",
        "[multi]",
        "[3..14]",
        "[multi,3..14]",
        "[multi,3..15]",
        "[format=2bit,multi]",
        "[format=fasta]",
        "[multi]-",
    ] {
        agree_on(&whole, actions, AsLastz, AsLastz);
    }
    for len in (0..whole.len()).step_by(5) {
        agree_on(&whole[..len], "[multi]", AsLastz, AsLastz);
    }
    agree_on(&encode(&[], false, 0), "[multi]", AsLastz, AsLastz);
    agree_on(&encode(&[("a", ""), ("b", "ACGT")], false, 0), "[multi]", Reads, Reads);
    agree_on(&encode(&[("b", "ACGT")], false, 1), "", Reads, Reads);
}
