//! Test inputs: records, the part of them that a specifier loads, and the files LASTZ reads.

use std::fmt::Write as _;
use std::path::Path;

use fastz::{Partition, SequenceSet};

/// A record of a FASTA or FASTQ file.
#[derive(Clone, Debug)]
pub struct Record {
    pub header: String,
    pub bases: Vec<u8>,
    pub qualities: Option<Vec<u8>>,
}

/// What follows the file name on the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Specifier {
    pub multiple: bool,
    pub range: Option<(usize, usize)>, // 1-based, closed
    pub reversed: bool,
}

/// A file with its specifier.
#[derive(Clone, Debug)]
pub struct Input {
    pub file: &'static str,
    pub records: Vec<Record>,
    pub specifier: Specifier,
}

impl Input {
    pub fn is_fastq(&self) -> bool {
        self.records.iter().any(|record| record.qualities.is_some())
    }

    /// The word for the command line.
    pub fn word(&self) -> String {
        let mut word = self.file.to_string();
        if self.specifier.multiple {
            word.push_str("[multiple]");
        }
        if let Some((start, end)) = self.specifier.range {
            write!(word, "[{start}..{end}]").unwrap();
        }
        if self.specifier.reversed {
            word.push('-');
        }
        word
    }

    pub fn write(&self, directory: &Path) {
        let mut text = Vec::new();
        for record in &self.records {
            match &record.qualities {
                Some(qualities) => {
                    let lines: [&[u8]; 4] = [record.header.as_bytes(), &record.bases, b"+", qualities];
                    text.push(b'@');
                    lines.iter().for_each(|line| text.extend([line, &b"\n"[..]].concat()));
                }
                None => text.extend([b">", record.header.as_bytes(), b"\n", &record.bases, b"\n"].concat()),
            }
        }
        std::fs::write(directory.join(self.file), text).unwrap();
    }

    /// What LASTZ holds in memory, one set after the other.
    pub fn sets(&self) -> Vec<SequenceSet> {
        let parts: Vec<(Partition, &[u8])> = self.records.iter().enumerate().map(|(i, r)| self.part(i, r)).collect();
        let groups: Vec<&[(Partition, &[u8])]> = match self.specifier.multiple {
            true => vec![&parts],
            false => parts.chunks(1).collect(),
        };
        groups.into_iter().map(|group| self.set(group)).collect()
    }

    fn part<'a>(&self, record_ix: usize, record: &'a Record) -> (Partition, &'a [u8]) {
        let (start, end) = self.specifier.range.unwrap_or((1, record.bases.len()));
        let partition = Partition {
            range: 0..0,
            name: record.header.split(' ').next().unwrap().into(),
            header: record.header.as_str().into(),
            has_header_mark: record.qualities.is_none(),
            record: record_ix,
            offset: start - 1,
            full_len: record.bases.len(),
            qualities: record.qualities.as_ref().map(|qualities| qualities[start - 1..end].to_vec()),
            piece_of: None,
        };
        (partition, &record.bases[start - 1..end])
    }

    fn set(&self, parts: &[(Partition, &[u8])]) -> SequenceSet {
        let mut set = SequenceSet {
            file: self.file.to_string(),
            is_partitioned: self.specifier.multiple,
            ..SequenceSet::default()
        };
        for (partition, bases) in parts {
            if set.is_partitioned {
                set.bases.push(0);
            }
            let start = set.bases.len();
            set.bases.extend_from_slice(bases);
            set.partitions.push(Partition { range: start..set.bases.len(), ..partition.clone() });
        }
        if set.is_partitioned {
            set.bases.push(0);
        }
        if self.specifier.reversed { set.reverse_complement() } else { set }
    }
}
