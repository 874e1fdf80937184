//! What the readers of all formats have in common: records, one after another.

use super::fasta::FastaReader;
use super::fastq::FastqReader;
use super::name::Heading;
use super::source::Source;
use super::specifier::Specifier;
use super::subrange::Subrange;
use super::two_bit::TwoBitReader;
use crate::error::Result;

/// What was loaded of a record, besides its bases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// Bases before the loaded part.
    pub offset: usize,
    /// Bases of the whole record.
    pub full_len: usize,
    /// FASTQ qualities of the loaded part.
    pub qualities: Option<Vec<u8>>,
}

/// A reader of any format.
pub(super) enum RecordReader {
    Fasta(FastaReader),
    Fastq(FastqReader),
    TwoBit(TwoBitReader),
}

impl RecordReader {
    /// Opens the file of a specifier. Also gives the most bases that can come, if known.
    pub fn open(spec: &Specifier, iupac: bool) -> Result<(RecordReader, Option<u64>)> {
        Ok(match Source::open(spec)? {
            Source::Fasta { text, max_bases } => {
                (RecordReader::Fasta(FastaReader::new(text, spec.file(), iupac)), max_bases)
            }
            Source::Fastq(text) => (RecordReader::Fastq(FastqReader::new(text, spec.file(), iupac)), None),
            Source::TwoBit(bytes) => {
                // Quirk of LASTZ: of a named record and those behind it, `subsample=k/n` takes the k-th.
                let behind = spec.subsample.map_or(0, |(k, _)| k - 1);
                let contig = spec.contig.as_deref().map(|contig| (contig, behind));
                (RecordReader::TwoBit(TwoBitReader::open(bytes, spec.file(), contig)?), None)
            }
        })
    }

    /// Goes to the next record.
    pub fn advance(&mut self) -> Result<Option<Heading>> {
        match self {
            RecordReader::Fasta(reader) => reader.advance(),
            RecordReader::Fastq(reader) => reader.advance(),
            RecordReader::TwoBit(reader) => Ok(reader.advance()),
        }
    }

    /// Appends bases of the record that was advanced to. May be called once per record.
    pub fn load(&mut self, subrange: Option<&Subrange>, bases: &mut Vec<u8>) -> Result<Extent> {
        match self {
            RecordReader::Fasta(reader) => reader.load(subrange, bases),
            RecordReader::Fastq(reader) => reader.load(subrange, bases),
            RecordReader::TwoBit(reader) => reader.load(subrange, bases),
        }
    }

    /// Index of the first record that `advance` gives.
    pub fn first_record(&self) -> usize {
        match self {
            RecordReader::TwoBit(reader) => reader.first_record(),
            _ => 0,
        }
    }
}

/// A byte as messages show it.
pub(super) fn letter_name(byte: u8) -> String {
    match byte {
        b'!'..=b'~' => format!("'{}'", byte as char),
        _ => format!("0x{byte:02X}"),
    }
}
