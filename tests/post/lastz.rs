//! The installed lastz as an oracle: random input files, its runs, and its lines as HSPs and blocks.

use fastz::{Block, EditOp, Hsp, Partition, SequenceSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Columns that [`Run::blocks`] understands.
pub const FORMAT: &str = "--format=general-:score,name1,zstart1,name2,strand2,zstart2,cigar";

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }

    pub fn dna(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| b"ACGT"[self.below(4)]).collect()
    }

    /// Related sequence: substitutions, short indels, and now and then lower case or N.
    pub fn mutate(&mut self, bases: &[u8], substitutions: usize, indels: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut i = 0;
        while i < bases.len() {
            if self.below(1000) < indels {
                if self.chance(50) {
                    i += self.between(1, 12);
                    continue;
                }
                let len = self.between(1, 12);
                out.extend(self.dna(len));
            }
            let is_changed = self.below(1000) < substitutions;
            out.push(if is_changed { b"ACGT"[self.below(4)] } else { bases[i] });
            i += 1;
        }
        out
    }

    /// A sequence full of copies of a few families, on both strands, partly masked.
    pub fn repeats(&mut self, families: &[Vec<u8>], len: usize) -> Vec<u8> {
        let mut out = Vec::new();
        while out.len() < len {
            let spacer = self.between(5, 60);
            out.extend(self.dna(spacer));
            let family = self.below(families.len());
            let mut copy = self.mutate(&families[family], 80, 8);
            if self.chance(40) {
                copy = SequenceSet::single("s", &copy).reverse_complement().bases;
            }
            if self.chance(15) && copy.len() > 20 {
                let from = self.below(copy.len() - 20);
                copy[from..from + 10].make_ascii_lowercase();
                copy[from + 15] = b'N';
            }
            out.extend(copy);
        }
        out
    }
}

/// Cases per test; `FASTZ_FUZZ_CASES` changes it.
pub fn cases(default: usize) -> usize {
    std::env::var("FASTZ_FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// A directory with input files for lastz, or `None` (and a line on stderr) without lastz.
pub struct Bench {
    dir: tempfile::TempDir,
}

/// What a run of lastz printed.
pub struct Run {
    pub stdout: String,
    pub stderr: String,
    pub is_ok: bool,
}

impl Bench {
    pub fn new(test: &str) -> Option<Bench> {
        let has_lastz = Command::new("lastz").arg("--version").output().is_ok();
        if !has_lastz {
            // Past the capture of the test harness, so that it is seen.
            let _ = writeln!(std::io::stderr(), "SKIPPED {test}: lastz is not installed");
            return None;
        }
        Some(Bench { dir: tempfile::tempdir().expect("a temporary directory") })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &[u8]) {
        std::fs::write(self.path(name), text).expect("writing a test file");
    }

    pub fn fasta(&self, name: &str, records: &[(&str, Vec<u8>)]) {
        let mut text = Vec::new();
        for (header, bases) in records {
            text.extend(format!(">{header}\n").bytes().chain(bases.iter().copied()).chain([b'\n']));
        }
        self.write(name, &text);
    }

    pub fn lastz(&self, args: &[&str]) -> Run {
        let output = Command::new("lastz").args(args).current_dir(self.dir.path()).output().expect("running lastz");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Run { stdout: text(&output.stdout), stderr: text(&output.stderr), is_ok: output.status.success() }
    }

    /// The output of a run that has to succeed.
    pub fn lastz_ok(&self, args: &[&str]) -> Run {
        let run = self.lastz(args);
        assert!(run.is_ok, "lastz {args:?} failed: {}", run.stderr);
        run
    }
}

/// All records in one partitioned set, as `[multiple]` does.
pub fn load_multiple(path: &Path) -> SequenceSet {
    let mut set =
        SequenceSet { is_partitioned: true, file: path.display().to_string(), bases: vec![0], ..Default::default() };
    for (record, (header, bases)) in records(path).into_iter().enumerate() {
        let range = set.bases.len()..set.bases.len() + bases.len();
        set.partitions.push(partition(range, &header, record));
        set.bases.extend(bases);
        set.bases.push(0);
    }
    set
}

/// One set per record.
pub fn load_single(path: &Path) -> Vec<SequenceSet> {
    let set_of = |(record, (header, bases)): (usize, (String, Vec<u8>))| {
        let partitions = vec![partition(0..bases.len(), &header, record)];
        SequenceSet { bases, partitions, file: path.display().to_string(), ..Default::default() }
    };
    records(path).into_iter().enumerate().map(set_of).collect()
}

/// As `load_single` or `load_multiple`, by what stands on the command line.
pub fn load(bench: &Bench, word: &str) -> Vec<SequenceSet> {
    match word.strip_suffix("[multiple]") {
        Some(file) => vec![load_multiple(&bench.path(file))],
        None => load_single(&bench.path(word)),
    }
}

fn partition(range: std::ops::Range<usize>, header: &str, record: usize) -> Partition {
    let name = header.split([' ', '\t']).next().unwrap_or("").to_string();
    Partition { full_len: range.len(), range, name: name.into(), header: header.into(), record, ..Default::default() }
}

fn records(path: &Path) -> Vec<(String, Vec<u8>)> {
    let text = std::fs::read_to_string(path).expect("reading a test file");
    let mut records: Vec<(String, Vec<u8>)> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix('>') {
            Some(header) => records.push((header.to_string(), Vec::new())),
            None => records.last_mut().expect("a header").1.extend(line.bytes()),
        }
    }
    records
}

impl Run {
    /// The lines that belong to one query strand, in order, in array positions.
    pub fn blocks(&self, target: &SequenceSet, query: &SequenceSet) -> Vec<Block> {
        self.stdout.lines().filter_map(|line| block_of(line, target, query)).collect()
    }

    /// The same for gap-free output.
    pub fn hsps(&self, target: &SequenceSet, query: &SequenceSet) -> Vec<Hsp> {
        self.blocks(target, query).iter().map(hsp_of).collect()
    }
}

pub fn hsp_of(block: &Block) -> Hsp {
    assert_eq!(block.script.runs().len(), 1, "an HSP has one run");
    Hsp {
        target_start: block.target_start as u32,
        query_start: block.query_start as u32,
        len: block.script.runs()[0].1,
        score: block.score as i32,
    }
}

fn block_of(line: &str, target: &SequenceSet, query: &SequenceSet) -> Option<Block> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [score, name1, zstart1, name2, strand2, zstart2, cigar] = fields[..] else { panic!("bad line {line}") };
    let start = |set: &SequenceSet, name: &str, zstart: &str| {
        let partition = set.partitions.iter().find(|p| p.name == name)?;
        Some(partition.range.start + zstart.parse::<usize>().expect("a position"))
    };
    if !strand2.starts_with(query.strand()) {
        return None;
    }
    Some(Block {
        target_start: start(target, name1, zstart1).expect("a target name"),
        query_start: start(query, name2, zstart2)?,
        script: script_of(cigar),
        score: score.parse().expect("a score"),
    })
}

fn script_of(cigar: &str) -> fastz::EditScript {
    let mut runs = Vec::new();
    let mut len = 0;
    for c in cigar.chars() {
        match c {
            '0'..='9' => len = len * 10 + c.to_digit(10).expect("a digit"),
            _ => {
                let op = match c {
                    'M' => EditOp::Pair,
                    'I' => EditOp::Insertion,
                    'D' => EditOp::Deletion,
                    _ => panic!("bad CIGAR {cigar}"),
                };
                runs.push((op, len));
                len = 0;
            }
        }
    }
    runs.into_iter().collect()
}

/// Plus and minus strand of every query, in LASTZ's order.
pub fn strands(queries: Vec<SequenceSet>) -> Vec<SequenceSet> {
    queries.into_iter().flat_map(|query| [query.reverse_complement(), query].into_iter().rev()).collect()
}
