//! FASTA (lastz-semantics 1.3).
//!
//! ```text
//! ACGT       the first record may lack its header
//! >name more
//! ACGTNacgtn 1234 digits are bases, blanks are not
//! ```
//!
//! This is a reader of our own because LASTZ's rules are not those of the FASTA crates: they want a header, cut header
//! lines into parts, keep letters that LASTZ refuses, or hold text and sequence both. Here the text is streamed, whole
//! runs of letters are copied, and no more than one byte per base is kept.
//!
//! LASTZ 1.04.22 finds "no sequence" in files of fewer than four bytes, and in files whose only line end is a carriage
//! return behind the header; such files are simply read here.

use std::io::BufRead;
use std::ops::Range;

use super::name::Heading;
use super::record::{Extent, letter_name};
use super::source::{TextStream, read_error};
use super::subrange::Subrange;
use crate::error::{Error, Result};

/// LASTZ loses this byte of a file that begins with a header line at least as long.
const LOST_BYTE: usize = 992;

/// What a byte of FASTA text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Base,
    Blank,
    LineEnd,
    Other,
}

/// `ACGTNX` in either case, and digits and form feeds, which LASTZ stores as letters that score like N.
pub(super) const BASES: &[u8] = b"ACGTNXacgtnx0123456789\x0c";
/// Allowed with `--ambiguous=iupac` only.
pub(super) const IUPAC_BASES: &[u8] = b"BDHKMRSVWYbdhkmrsvwy";

const fn classes(iupac: bool) -> [Class; 256] {
    let mut table = [Class::Other; 256];
    let mut i = 0;
    while i < BASES.len() {
        table[BASES[i] as usize] = Class::Base;
        i += 1;
    }
    i = 0;
    while iupac && i < IUPAC_BASES.len() {
        table[IUPAC_BASES[i] as usize] = Class::Base;
        i += 1;
    }
    table[b' ' as usize] = Class::Blank;
    table[b'\t' as usize] = Class::Blank;
    table[b'\n' as usize] = Class::LineEnd;
    table[b'\r' as usize] = Class::LineEnd;
    table
}

static CLASSES: [Class; 256] = classes(false);
static IUPAC_CLASSES: [Class; 256] = classes(true);

/// Reads records one by one.
pub(super) struct FastaReader {
    text: TextStream,
    file: String,
    classes: &'static [Class; 256],
    /// Whether only blanks stand between here and the start of the line.
    at_line_start: bool,
    has_begun: bool,
    heading: Heading,
}

impl FastaReader {
    pub fn new(text: TextStream, file: &str, iupac: bool) -> FastaReader {
        FastaReader {
            text,
            file: file.to_string(),
            classes: if iupac { &IUPAC_CLASSES } else { &CLASSES },
            at_line_start: true,
            has_begun: false,
            heading: Heading::absent(),
        }
    }

    /// Goes to the next record; what is left of the present one is skipped unchecked.
    pub fn advance(&mut self) -> Result<Option<Heading>> {
        if !self.has_begun {
            return self.begin();
        }
        self.scan_body(false, |_, _| ())?;
        match self.fill()?.first() {
            Some(b'>') => self.read_heading(false).map(Some),
            _ => Ok(None),
        }
    }

    /// The first record. A header line that is the whole file makes no record (1.9); behind blanks it does.
    fn begin(&mut self) -> Result<Option<Heading>> {
        self.has_begun = true;
        let begins_with_mark = self.fill()?.first() == Some(&b'>');
        while let Some(b' ' | b'\t') = self.fill()?.first() {
            self.text.consume(1);
        }
        match self.fill()?.first() {
            None => return Ok(None),
            Some(b'>') => self.read_heading(begins_with_mark)?,
            // What stands before the first header, even an empty line, is a record without header.
            Some(_) => return Ok(Some(self.heading.clone())),
        };
        Ok(if begins_with_mark && self.fill()?.is_empty() { None } else { Some(self.heading.clone()) })
    }

    /// Reads a header line, from its `>`; it ends at a line feed or carriage return.
    fn read_heading(&mut self, begins_file: bool) -> Result<Heading> {
        let mut line = Vec::new();
        loop {
            let buffer = self.fill()?;
            let end = buffer.iter().position(|&b| b == b'\n' || b == b'\r');
            line.extend_from_slice(&buffer[..end.unwrap_or(buffer.len())]);
            let used = end.map_or(buffer.len(), |end| end + 1);
            self.text.consume(used);
            if end.is_some() || used == 0 {
                break;
            }
        }
        self.at_line_start = true;
        if begins_file && line.len() > LOST_BYTE {
            line.remove(LOST_BYTE);
        }
        self.heading = Heading::fasta(&line[1..]);
        Ok(self.heading.clone())
    }

    /// Appends the bases of the present record that `subrange` wants.
    pub fn load(&mut self, subrange: Option<&Subrange>, bases: &mut Vec<u8>) -> Result<Extent> {
        let wanted = subrange.map_or(0..usize::MAX, Subrange::unclipped);
        let full_len = self.scan_body(true, |run, n_before| {
            let (from, to) = overlap(&wanted, n_before, run.len());
            bases.extend_from_slice(&run[from..to]);
        })?;
        self.check_limits(subrange, full_len)?;
        Ok(Extent { offset: if subrange.is_some() { wanted.start } else { 0 }, full_len, qualities: None })
    }

    /// Passes the present record with all checks; returns its length.
    pub fn check(&mut self, subrange: Option<&Subrange>) -> Result<usize> {
        let full_len = self.scan_body(true, |_, _| ())?;
        self.check_limits(subrange, full_len)?;
        Ok(full_len)
    }

    fn check_limits(&self, subrange: Option<&Subrange>, full_len: usize) -> Result<()> {
        match subrange.map(|subrange| subrange.resolve(full_len)) {
            Some(Err(limit)) => Err(self.beyond_end(limit, full_len)),
            _ => Ok(()),
        }
    }

    /// Hands every run of bases up to the next header or the end of the file to `take`, with the number of bases before
    /// it, and stands on the `>` afterwards. Returns the number of bases.
    fn scan_body(&mut self, checks: bool, mut take: impl FnMut(&[u8], usize)) -> Result<usize> {
        let mut n_bases = 0;
        loop {
            let buffer = self.text.fill_buf().map_err(|error| read_error(&self.file, error))?;
            if buffer.is_empty() {
                return Ok(n_bases);
            }
            let mut at = 0;
            while let Some(&byte) = buffer.get(at) {
                let run_len = match self.classes[byte as usize] {
                    Class::LineEnd => {
                        self.at_line_start = true;
                        at += 1;
                        continue;
                    }
                    Class::Blank => {
                        at += 1;
                        continue;
                    }
                    Class::Base => run_len(&buffer[at..], self.classes),
                    Class::Other if byte == b'>' && self.at_line_start => {
                        self.text.consume(at);
                        return Ok(n_bases);
                    }
                    Class::Other if checks => {
                        return Err(bad_letter(&self.file, &self.heading, byte, n_bases, self.classes));
                    }
                    Class::Other => 1,
                };
                take(&buffer[at..at + run_len], n_bases);
                self.at_line_start = false;
                n_bases += run_len;
                at += run_len;
            }
            self.text.consume(at);
        }
    }

    fn fill(&mut self) -> Result<&[u8]> {
        self.text.fill_buf().map_err(|error| read_error(&self.file, error))
    }

    fn beyond_end(&self, limit: u64, full_len: usize) -> Error {
        let record = self.heading.full();
        let record = if record.is_empty() { String::new() } else { format!("in {record}, ") };
        Error::input(
            &self.file,
            format!("{record}the subrange goes beyond the end ({limit} > {full_len}): use {full_len} at most"),
        )
    }
}

fn bad_letter(file: &str, heading: &Heading, byte: u8, n_bases: usize, classes: &[Class; 256]) -> Error {
    let record = heading.full();
    let record = if record.is_empty() { "the first record".into() } else { record };
    let way_out = match IUPAC_BASES.contains(&byte) && classes[b'R' as usize] != Class::Base {
        true => "replace it by N, or use --ambiguous=iupac",
        false => "sequences are made of the letters ACGTN; remove or replace it",
    };
    let letter = letter_name(byte);
    Error::input(file, format!("bad fasta character {letter} in {record}, position {}: {way_out}", n_bases + 1))
}

/// Length of the run of bases at the start of `text`. Eight lookups at a time: lines are long, and a loop that may stop
/// at every byte is several times slower.
fn run_len(text: &[u8], classes: &[Class; 256]) -> usize {
    let is_base = |&b: &u8| classes[b as usize] == Class::Base;
    let mut len = 0;
    for eight in text.chunks_exact(8) {
        if !eight.iter().fold(true, |all, b| all & is_base(b)) {
            break;
        }
        len += 8;
    }
    len + text[len..].iter().take_while(|b| is_base(b)).count()
}

/// The part of a run of `len` bases starting at `start` that lies in `wanted`, relative to the run.
fn overlap(wanted: &Range<usize>, start: usize, len: usize) -> (usize, usize) {
    let from = wanted.start.saturating_sub(start).min(len);
    let to = wanted.end.saturating_sub(start).min(len);
    (from, to.max(from))
}
