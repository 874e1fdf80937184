//! Runs LASTZ twice: once for the blocks, once in the format under test; writes the blocks and compares bytes.

use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;

use fastz::output::{DotPlot, Ending, Format, RunInfo, StrandView, Threshold, Thresholds, seed_text, writer};
use fastz::scoring::Scoring;
use fastz::{Block, EditOp, EditScript, SequenceSet};

use crate::input::Input;

pub const PROGRAM: &str = "lastz.v1.04.22";

/// A pair of inputs and what is said about them on the command line.
#[derive(Clone, Debug)]
pub struct Case {
    pub target: Input,
    pub query: Input,
    pub words: Vec<String>, // option words without `--format`
    pub gapped: bool,
    pub strands: &'static str, // both, plus, minus
    pub masks: bool,           // --masking=1
    pub expand: usize,
    pub seed: (&'static str, u8), // pattern, transitions
    pub step: u32,
    pub scoring: Scoring,
    pub thresholds: Thresholds,
    pub read_group: Option<&'static str>,
    pub directory: PathBuf,
}

/// LASTZ's standard output, and whether it succeeded.
pub struct Reply {
    pub stdout: Vec<u8>,
    pub success: bool,
    pub stderr: String,
}

/// Whether LASTZ is there.
pub fn lastz_is_installed() -> bool {
    Command::new("lastz").arg("--version").output().is_ok()
}

impl Case {
    pub fn command(&self, format: &str) -> Vec<String> {
        let mut words = vec![self.target.word(), self.query.word()];
        words.extend(self.arguments(format));
        words
    }

    fn arguments(&self, format: &str) -> Vec<String> {
        let mut words = self.words.clone();
        // LASTZ refuses a read group in other formats.
        if let Some(read_group) = self.read_group.filter(|_| Format::parse(format).unwrap().is_sam()) {
            words.push(format!("--readgroup={read_group}"));
        }
        words.push(format!("--format={format}"));
        words
    }

    pub fn lastz(&self, format: &str) -> Reply {
        let output = Command::new("lastz").args(self.command(format)).current_dir(&self.directory).output().unwrap();
        Reply {
            stdout: output.stdout,
            success: output.status.success(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The searched strands in order.
    fn passes(&self) -> Vec<SequenceSet> {
        let strand_pair = |set: SequenceSet| {
            let other = set.reverse_complement();
            match self.strands {
                "plus" => vec![set],
                "minus" => vec![other],
                _ => vec![set, other],
            }
        };
        self.query.sets().into_iter().flat_map(strand_pair).collect()
    }

    /// What our writer prints, and the message of its error if there is one. `rows` are LASTZ's blocks.
    pub fn write(&self, format_text: &str, rows: &[BlockRow]) -> (Vec<u8>, Option<String>) {
        let format = Format::parse(format_text).unwrap();
        let arguments = self.arguments(format_text);
        let run = RunInfo {
            program: PROGRAM,
            arguments: &arguments,
            target_file: self.target.file,
            query_file: self.query.file,
            scoring: &self.scoring,
            thresholds: self.thresholds,
            gapped: self.gapped,
            seed: seed_text(self.seed.0, self.seed.1),
            step: self.step,
            masking: u32::from(self.masks),
            ambiguous: self.words.iter().any(|word| word.starts_with("--ambiguous")),
            read_group: self.read_group,
            blank_lines: true,
            expand: self.expand,
            dot_plot: DotPlot::None,
            mark_end: self.words.iter().any(|word| word == "--markend"),
            header_marks: !self.words.iter().any(|word| word == "--nolaj"),
        };
        let mut out = Vec::new();
        let result = self.write_passes(&format, &run, rows, &mut out);
        (out, result.err().map(|error| error.to_string()))
    }

    fn write_passes(
        &self,
        format: &Format,
        run: &RunInfo,
        rows: &[BlockRow],
        out: &mut Vec<u8>,
    ) -> Result<(), fastz::Error> {
        let mut writer = writer(format);
        let mut target = self.target.sets().remove(0);
        let mut covered = vec![false; target.len()];
        let mut rows = rows.iter().peekable();
        writer.begin(run, out)?;
        for query in self.passes() {
            let mut blocks = Vec::new();
            while let Some(row) = rows.next_if(|row| row.is_of(&query)) {
                blocks.push(row.block(&target, &query));
            }
            writer.strand(run, &StrandView { target: &target, query: &query }, &blocks, out)?;
            if self.masks && (!blocks.is_empty() || !self.gapped) {
                let newly_masked = mask(&mut target, &blocks, &mut covered);
                writer.masked(run, newly_masked, out)?;
            }
        }
        assert!(rows.next().is_none(), "blocks of LASTZ are left over: {:?}", self.command(""));
        writer.finish(run, &Ending { masked: intervals(&covered), ..Ending::default() }, out)
    }
}

/// `--masking=1`: upper-case bases under a block become `x`; the new ones are counted.
fn mask(target: &mut SequenceSet, blocks: &[Block], covered: &mut [bool]) -> usize {
    let mut newly_masked = 0;
    for position in blocks.iter().flat_map(Block::target_range) {
        covered[position] = true;
        let base = &mut target.bases[position];
        if base.is_ascii_uppercase() {
            *base = b'x';
            newly_masked += 1;
        }
    }
    newly_masked
}

fn intervals(covered: &[bool]) -> Vec<Range<usize>> {
    let mut intervals: Vec<Range<usize>> = Vec::new();
    for position in (0..covered.len()).filter(|&position| covered[position]) {
        match intervals.last_mut().filter(|last| last.end == position) {
            Some(last) => last.end += 1,
            None => intervals.push(position..position + 1),
        }
    }
    intervals
}

/// A block as LASTZ printed it: names, 0-based starts on the printed strands.
#[derive(Clone, Debug)]
pub struct BlockRow {
    score: i64,
    target_name: String,
    target_start: usize,
    query_name: String,
    query_strand: char,
    query_start: usize,
    script: EditScript,
}

impl BlockRow {
    /// The blocks of a case; from cigar where general refuses (a reversed target without gapped extension).
    pub fn of_case(case: &Case) -> Vec<BlockRow> {
        let from_cigar = case.target.specifier.reversed;
        let format = match from_cigar {
            true => "cigar",
            false => "general-:score,name1,zstart1,name2,strand2,zstart2,cigar",
        };
        let mut case = case.clone();
        case.words.retain(|word| word != "--markend");
        let reply = case.lastz(format);
        assert!(reply.success, "{:?}: {}", case.command(format), reply.stderr);
        let text = String::from_utf8(reply.stdout).unwrap();
        match from_cigar {
            true => BlockRow::of_cigar_lines(&case, &text),
            false => text.lines().map(BlockRow::from_general).collect(),
        }
    }

    /// The blocks that the format cigar lists.
    pub fn of_cigar_lines(case: &Case, text: &str) -> Vec<BlockRow> {
        let length = |name: &str, input: &Input| {
            let record = input.records.iter().find(|record| record.header.split(' ').next() == Some(name));
            record.unwrap_or_else(|| panic!("{name} is no record")).bases.len()
        };
        let lengths = |target: &str, query: &str| (length(target, &case.target), length(query, &case.query));
        text.lines().map(|line| BlockRow::from_cigar(line, &lengths)).collect()
    }

    fn from_general(line: &str) -> BlockRow {
        let fields: Vec<&str> = line.split('\t').collect();
        let mut script = EditScript::default();
        let mut count = 0;
        for letter in fields[6].chars() {
            match letter.to_digit(10) {
                Some(digit) => count = 10 * count + digit,
                None => {
                    script.push(op(letter), count);
                    count = 0;
                }
            }
        }
        BlockRow {
            score: fields[0].parse().unwrap(),
            target_name: fields[1].to_string(),
            target_start: fields[2].parse().unwrap(),
            query_name: fields[3].to_string(),
            query_strand: fields[4].chars().next().unwrap(),
            query_start: fields[5].parse().unwrap(),
            script,
        }
    }

    fn from_cigar(line: &str, lengths: &dyn Fn(&str, &str) -> (usize, usize)) -> BlockRow {
        let fields: Vec<&str> = line.split(' ').collect();
        let (target_len, query_len) = lengths(fields[5], fields[1]);
        let start = |field: &str, strand: &str, len: usize| match strand {
            "-" => len - field.parse::<usize>().unwrap(),
            _ => field.parse().unwrap(),
        };
        BlockRow {
            score: fields[9].parse().unwrap(),
            target_name: fields[5].to_string(),
            target_start: start(fields[6], fields[8], target_len),
            query_name: fields[1].to_string(),
            query_strand: fields[4].chars().next().unwrap(),
            query_start: start(fields[2], fields[4], query_len),
            script: fields[10..]
                .chunks(2)
                .map(|run| (op(run[0].chars().next().unwrap()), run[1].parse().unwrap()))
                .collect(),
        }
    }

    fn is_of(&self, query: &SequenceSet) -> bool {
        self.query_strand == query.strand()
            && query.partitions.iter().any(|partition| partition.name == self.query_name)
    }

    fn block(&self, target: &SequenceSet, query: &SequenceSet) -> Block {
        let array_position = |set: &SequenceSet, name: &str, start: usize| {
            let partition = set.partitions.iter().find(|partition| partition.name == name).unwrap();
            partition.range.start + start - partition.strand_start(set.is_reversed)
        };
        Block {
            target_start: array_position(target, &self.target_name, self.target_start),
            query_start: array_position(query, &self.query_name, self.query_start),
            script: self.script.clone(),
            score: self.score,
        }
    }
}

fn op(letter: char) -> EditOp {
    match letter {
        'M' => EditOp::Pair,
        'I' => EditOp::Insertion,
        'D' => EditOp::Deletion,
        _ => panic!("unknown operation {letter}"),
    }
}

/// Thresholds as headers show them.
pub fn thresholds(hsp: i32, x_drop: i32, y_drop: i32) -> Thresholds {
    Thresholds { hsp: Threshold::Score(hsp), gapped: Threshold::Score(hsp), x_drop, y_drop }
}
