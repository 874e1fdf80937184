//! Sequences in memory: an array of letters, cut into partitions.
//!
//! ```text
//! one sequence           A C g t N A            partitions[0].range = 0..6
//! several, `[multiple]`  . A C g . T T A .      '.' is a NUL; ranges 1..4 and 5..8
//! ```
//!
//! Every position inside the program is an **array position**: 0-based, on the strand that the array holds. With
//! `[multiple]` (or `[separator=]`) a NUL stands before, between and after the sequences, as in LASTZ
//! (lastz-semantics 1.5); seeding and the hashed diagonals depend on it. Only the writers turn array positions into
//! positions on a sequence ([`Partition::strand_start`]).

use bstr::{BString, ByteSlice};
use std::ops::Range;
use std::sync::Arc;

/// The byte between partitions. It scores so low that no gap-free extension crosses it.
pub const SEPARATOR: u8 = 0;

/// One sequence, or several in one array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequenceSet {
    /// Letters as read, case kept (lower case = soft mask), with [`SEPARATOR`]s when `is_partitioned`.
    pub bases: Vec<u8>,
    /// The sequences in array order; exactly one when not `is_partitioned`.
    pub partitions: Vec<Partition>,
    /// The records of the file that have no base, in order.
    pub empty_records: Vec<EmptyRecord>,
    /// Whether the array carries separators (`[multiple]`, `[separator=]`), even for a single sequence.
    pub is_partitioned: bool,
    /// The file as the user typed it, without actions; headers and messages show it.
    pub file: String,
    /// Whether the array holds the reverse complement of what the file holds.
    pub is_reversed: bool,
    /// Whether names are whole header lines (`[nameparse=full]`); nicknames come first even then.
    pub has_full_names: bool,
}

/// One sequence of a [`SequenceSet`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// Where its bases lie in the array.
    pub range: Range<usize>,
    /// Short name (lastz-semantics 1.6), or one of [`STAND_IN_NAMES`]. The bytes of the file, which need not be UTF-8.
    pub name: BString,
    /// Whole header line without the leading `>` or `@`; the nickname if there is one; `(no header)` if the line lacks.
    pub header: BString,
    /// Whether lav and gfa show a `>` before `header`: FASTA headers, but not FASTQ, 2bit, nicknames or a missing line.
    pub has_header_mark: bool,
    /// Index of the record in its file, 0-based, counting skipped and unselected records.
    pub record: usize,
    /// Bases of the whole record before the loaded part, on the file's strand (a subrange starts here).
    pub offset: usize,
    /// Bases of the whole record.
    pub full_len: usize,
    /// FASTQ qualities of the loaded part, in the orientation of the file (never reversed).
    pub qualities: Option<Vec<u8>>,
    /// The record that this is a piece of (`[separator=]`); its pieces share it.
    pub piece_of: Option<Arc<SplitRecord>>,
}

/// A record without a base. It has no partition, but a separator behind it, and SAM headers list it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmptyRecord {
    /// As the name of a partition.
    pub name: BString,
    /// Where its bases would begin in the array.
    pub start: usize,
}

/// A record that `[separator=]` cuts into pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SplitRecord {
    /// Where the loaded part lies in the array, its separators included.
    pub range: Range<usize>,
    /// FASTQ qualities of the loaded part, those of separators included, in the orientation of the file.
    pub qualities: Option<Vec<u8>>,
}

/// What LASTZ calls targets and queries whose header holds no name.
pub const STAND_IN_NAMES: [&str; 2] = ["seq1", "seq2"];

impl Partition {
    /// Whether the name is a stand-in.
    pub fn is_nameless(&self) -> bool {
        STAND_IN_NAMES.iter().any(|&name| self.name == name) && !self.header.contains_str(&self.name)
    }

    /// Bases loaded.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether no base is loaded.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// 0-based position of the first loaded base on the strand that the array holds, counted over the whole record.
    pub fn strand_start(&self, is_reversed: bool) -> usize {
        if is_reversed { self.full_len - self.offset - self.len() } else { self.offset }
    }
}

impl SequenceSet {
    /// A set of one unpartitioned sequence, for library users and tests.
    pub fn single(name: &str, bases: &[u8]) -> Self {
        let partition = Partition {
            range: 0..bases.len(),
            name: name.into(),
            header: name.into(),
            full_len: bases.len(),
            ..Partition::default()
        };
        SequenceSet {
            bases: bases.to_vec(),
            partitions: vec![partition],
            file: name.to_string(),
            ..SequenceSet::default()
        }
    }

    /// Array length, separators included.
    pub fn len(&self) -> usize {
        self.bases.len()
    }

    /// The length that LASTZ takes shares of (`--hspthresh=top<p>%`, `--querydepth`): of the separators all but the last.
    pub fn counted_len(&self) -> usize {
        self.bases.len().saturating_sub(usize::from(self.is_partitioned))
    }

    /// Whether there is no base and no separator.
    pub fn is_empty(&self) -> bool {
        self.bases.is_empty()
    }

    /// `+` or `-`: the strand of the file that the array holds.
    pub fn strand(&self) -> char {
        if self.is_reversed { '-' } else { '+' }
    }

    /// Index of the partition that holds array position `position`, or ends there, as where an HSP without a pair stands.
    ///
    /// # Panics
    /// If `position` is before the first partition or behind the end of one.
    pub fn partition_ix(&self, position: usize) -> usize {
        let after = self.partitions.partition_point(|p| p.range.start <= position);
        let is_within = after > 0 && position <= self.partitions[after - 1].range.end;
        assert!(is_within, "position {position} is in no sequence");
        after - 1
    }

    /// The partition that holds array position `position`; panics as [`partition_ix`](Self::partition_ix).
    pub fn partition_at(&self, position: usize) -> &Partition {
        &self.partitions[self.partition_ix(position)]
    }

    /// The partitions that lie within a range of the array.
    pub fn partitions_within(&self, range: &Range<usize>) -> &[Partition] {
        let index = |position| self.partitions.partition_point(|p| p.range.start < position);
        &self.partitions[index(range.start)..index(range.end)]
    }

    /// The same sequences by name and length, without a letter.
    pub fn without_bases(&self) -> SequenceSet {
        SequenceSet {
            bases: Vec::new(),
            partitions: self.partitions.clone(),
            empty_records: self.empty_records.clone(),
            is_partitioned: self.is_partitioned,
            file: self.file.clone(),
            is_reversed: self.is_reversed,
            has_full_names: self.has_full_names,
        }
    }

    /// The other strand: each partition is reverse-complemented in place, the order of partitions stays (1.5).
    pub fn reverse_complement(&self) -> SequenceSet {
        let mut other = self.clone();
        for partition in &self.partitions {
            let bases = &mut other.bases[partition.range.clone()];
            bases.reverse();
            bases.iter_mut().for_each(|base| *base = complement(*base));
        }
        other.is_reversed = !self.is_reversed;
        other
    }
}

/// The complementary letter, case kept; IUPAC codes included; anything else (N, X, digits) stays.
pub const fn complement(base: u8) -> u8 {
    COMPLEMENT[base as usize]
}

const COMPLEMENT: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte as u8;
        byte += 1;
    }
    let pairs = *b"ATCGRYKMBVDH";
    let mut i = 0;
    while i < pairs.len() {
        let (a, b) = (pairs[i], pairs[i + 1]);
        table[a as usize] = b;
        table[b as usize] = a;
        table[a.to_ascii_lowercase() as usize] = b.to_ascii_lowercase();
        table[b.to_ascii_lowercase() as usize] = a.to_ascii_lowercase();
        i += 2;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reverse_complement_keeps_case_and_partition_order() {
        let mut set = SequenceSet::single("t", b"\0AcgN\0TTG\0");
        set.is_partitioned = true;
        set.partitions =
            vec![Partition { range: 1..5, ..Default::default() }, Partition { range: 6..9, ..Default::default() }];
        let other = set.reverse_complement();
        assert_eq!(other.bases, b"\0NcgT\0CAA\0");
        assert_eq!(other.strand(), '-');
        assert_eq!(other.reverse_complement(), set);
    }
}
