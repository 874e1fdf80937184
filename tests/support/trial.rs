//! One run to try on both programs: input files, specifiers and options, each of which can be taken away.

use super::compare;
use super::program::{self, Outcome};
use super::twobit::twobit;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A sequence with its header line (without `>`).
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Text after `>` or `@`; the file has it in Latin-1.
    pub header: String,
    /// Letters.
    pub letters: Vec<u8>,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// FASTA with lines of this many letters.
    Fasta(Vec<Record>, usize),
    /// FASTQ with qualities that follow from the positions.
    Fastq(Vec<Record>),
    /// 2bit.
    TwoBit(Vec<Record>),
    /// Anything else.
    Text(String),
}

impl Content {
    /// The sequences, if these are sequences.
    pub fn records(&self) -> &[Record] {
        match self {
            Content::Fasta(records, _) | Content::Fastq(records) | Content::TwoBit(records) => records,
            Content::Text(_) => &[],
        }
    }

    fn records_mut(&mut self) -> Option<&mut Vec<Record>> {
        match self {
            Content::Fasta(records, _) | Content::Fastq(records) | Content::TwoBit(records) => Some(records),
            Content::Text(_) => None,
        }
    }

    /// The file's bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Content::Text(text) => bytes.extend(latin1(text)),
            Content::TwoBit(records) => {
                bytes = twobit(records.iter().map(|record| (record.header.as_str(), record.letters.as_slice())));
            }
            Content::Fasta(records, width) => {
                for record in records {
                    bytes.extend(latin1(&format!(">{}\n", record.header)));
                    for line in record.letters.chunks(*width) {
                        bytes.extend(line);
                        bytes.push(b'\n');
                    }
                }
            }
            Content::Fastq(records) => {
                for record in records {
                    let quality = |at: usize| b'!' + ((at * 7 + record.letters.len()) % 60) as u8;
                    bytes.extend(latin1(&format!("@{}\n", record.header)));
                    bytes.extend(&record.letters);
                    bytes.extend(b"\n+\n");
                    bytes.extend((0..record.letters.len()).map(quality));
                    bytes.push(b'\n');
                }
            }
        }
        bytes
    }
}

/// Text as files hold it: names need not be UTF-8.
fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|letter| u8::try_from(letter).expect("a letter of Latin-1")).collect()
}

/// A file specifier (lastz-semantics 1.2).
#[derive(Clone, Debug, PartialEq)]
pub struct Specifier {
    /// `nickname::file`, or `file/contig`, without actions.
    pub file: String,
    /// What goes into brackets.
    pub actions: Vec<String>,
    /// A `-` at the end.
    pub reversed: bool,
}

impl Specifier {
    fn word(&self) -> String {
        let actions = if self.actions.is_empty() { String::new() } else { format!("[{}]", self.actions.join(",")) };
        format!("{}{actions}{}", self.file, if self.reversed { "-" } else { "" })
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Files by name; the first is the target, the second the query.
    pub files: Vec<(String, Content)>,
    /// The target.
    pub target: Specifier,
    /// The query; none with `--self`, or if it comes on stdin.
    pub query: Option<Specifier>,
    /// Whether the second file is fed to stdin.
    pub query_on_stdin: bool,
    /// Options in order.
    pub options: Vec<String>,
}

/// What a program made of a run.
pub struct Answer {
    /// Output and status.
    pub outcome: Outcome,
    /// Files that the program wrote.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Answer {
    /// Where another program's stdout or files differ from these.
    pub fn first_difference(&self, other: &Answer) -> Option<String> {
        let in_files = || {
            if self.files.keys().ne(other.files.keys()) {
                return Some(format!(
                    "files written: {:?} expected, {:?} found",
                    self.files.keys(),
                    other.files.keys()
                ));
            }
            self.files.iter().find_map(|(name, text)| {
                let difference = compare::first_difference(text, &other.files[name])?;
                Some(format!("{name}, {difference}"))
            })
        };
        compare::first_difference(&self.outcome.stdout, &other.outcome.stdout).or_else(in_files)
    }
}

impl Trial {
    /// Runs a program on this trial in a folder of its own, which is emptied first.
    pub fn run(&self, mut command: Command, folder: &Path, limit: Duration) -> Answer {
        if folder.exists() {
            std::fs::remove_dir_all(folder).expect("empty the run's folder");
        }
        std::fs::create_dir_all(folder).expect("make the run's folder");
        self.write_files(folder);
        command.current_dir(folder).args(self.words());
        let outcome = program::run(&mut command, &self.stdin(), limit);
        let is_input = |name: &str| self.files.iter().any(|(input, _)| input == name);
        let files = std::fs::read_dir(folder)
            .expect("list the run's folder")
            .map(|entry| entry.expect("a file"))
            .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
            .filter(|(name, _)| !is_input(name))
            .map(|(name, path)| (name, std::fs::read(path).expect("read what was written")))
            .collect();
        Answer { outcome, files }
    }

    /// The words of the command line, program excluded.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec![self.target.word()];
        words.extend(self.query.as_ref().map(Specifier::word));
        words.extend(self.options.iter().cloned());
        words
    }

    /// What goes to stdin.
    pub fn stdin(&self) -> Vec<u8> {
        if self.query_on_stdin { self.files[1].1.bytes() } else { Vec::new() }
    }

    /// Writes the input files.
    pub fn write_files(&self, folder: &Path) {
        for (name, content) in &self.files {
            std::fs::write(folder.join(name), content.bytes()).expect("write an input file");
        }
    }

    /// The rest of the shell line after the program's name.
    pub fn shell_words(&self) -> String {
        let quoted: Vec<String> =
            self.words().iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
        let input = if self.query_on_stdin { format!(" <'{}'", self.files[1].0) } else { String::new() };
        format!("{}{input}", quoted.join(" "))
    }

    /// Smaller trials, in the order in which they should be tried: without an option, an action, a sequence, or a
    /// part of a sequence.
    pub fn smaller(&self) -> Vec<Trial> {
        let mut smaller = Vec::new();
        for at in 0..self.options.len() {
            let mut trial = self.clone();
            trial.options.remove(at);
            smaller.push(trial);
        }
        for at in 0..self.target.actions.len() {
            let mut trial = self.clone();
            trial.target.actions.remove(at);
            smaller.push(trial);
        }
        for at in 0..self.query.as_ref().map_or(0, |query| query.actions.len()) {
            let mut trial = self.clone();
            if let Some(query) = &mut trial.query {
                query.actions.remove(at);
            }
            smaller.push(trial);
        }
        for (file, (_, content)) in self.files.iter().enumerate() {
            for at in 0..content.records().len() {
                let with = |change: &dyn Fn(&mut Vec<Record>)| {
                    let mut trial = self.clone();
                    trial.files[file].1.records_mut().into_iter().for_each(change);
                    trial
                };
                let len = content.records()[at].letters.len();
                if content.records().len() > 1 {
                    smaller.push(with(&|records| drop(records.remove(at))));
                }
                for part in [2, 4, 8, 16] {
                    let piece = len / part;
                    if piece >= 8 {
                        smaller.push(with(&|records| records[at].letters.truncate(len - piece)));
                        smaller.push(with(&|records| drop(records[at].letters.drain(..piece))));
                    }
                }
            }
        }
        smaller
    }
}
