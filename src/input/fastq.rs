//! FASTQ (lastz-semantics 1.10): four lines per record, no wrapping.
//!
//! ```text
//! @name more
//! ACGTN         every byte up to the line end is a base, blanks too
//! +             or + and the header again
//! IIIII         one quality per base
//! ```
//!
//! LASTZ refuses empty lines behind the last record, cannot read FASTQ under a nickname, and with `[subset=]` takes a third
//! line with more than the short name for a mistake; all this works here.

use std::io::BufRead;

use super::fasta::{BASES, IUPAC_BASES};
use super::name::Heading;
use super::record::{Extent, letter_name};
use super::source::{TextStream, read_error};
use super::subrange::Subrange;
use crate::error::{Error, Result};

const fn base_table(iupac: bool) -> [bool; 256] {
    let mut table = [false; 256];
    let mut i = 0;
    while i < BASES.len() {
        table[BASES[i] as usize] = true;
        i += 1;
    }
    i = 0;
    while iupac && i < IUPAC_BASES.len() {
        table[IUPAC_BASES[i] as usize] = true;
        i += 1;
    }
    table[b' ' as usize] = true;
    table[b'\t' as usize] = true;
    table
}

static IS_BASE: [bool; 256] = base_table(false);
static IS_IUPAC_BASE: [bool; 256] = base_table(true);

/// Reads records one by one.
pub(super) struct FastqReader {
    text: TextStream,
    file: String,
    is_base: &'static [bool; 256],
    heading: Heading,
    heading_line: Vec<u8>,
    /// Whether the sequence lines of the present record are still unread.
    has_unread_body: bool,
    line: Vec<u8>,
}

impl FastqReader {
    pub fn new(text: TextStream, file: &str, iupac: bool) -> FastqReader {
        FastqReader {
            text,
            file: file.to_string(),
            is_base: if iupac { &IS_IUPAC_BASE } else { &IS_BASE },
            heading: Heading::default(),
            heading_line: Vec::new(),
            has_unread_body: false,
            line: Vec::new(),
        }
    }

    /// Goes to the next record; what is left of the present one is skipped unchecked.
    pub fn advance(&mut self) -> Result<Option<Heading>> {
        if std::mem::take(&mut self.has_unread_body) {
            for _ in 0..3 {
                self.read_line()?;
            }
        }
        if !self.read_line()? {
            return Ok(None);
        }
        if self.line.is_empty() {
            while self.line.is_empty() {
                if !self.read_line()? {
                    return Ok(None);
                }
            }
            return Err(self.error("empty lines between records", "remove them"));
        }
        let Some(line) = self.line.strip_prefix(b"@") else {
            let message = format!("bad fastq header character (expected '@' but read {})", letter_name(self.line[0]));
            return Err(self.error(&message, "records must have four lines each"));
        };
        self.heading_line = line.to_vec();
        self.heading = Heading::unmarked(line);
        self.has_unread_body = true;
        Ok(Some(self.heading.clone()))
    }

    /// Appends the bases of the present record that `subrange` wants.
    pub fn load(&mut self, subrange: Option<&Subrange>, bases: &mut Vec<u8>) -> Result<Extent> {
        self.has_unread_body = false;
        self.read_line()?;
        if let Some(at) = self.line.iter().position(|&b| !self.is_base[b as usize]) {
            let message = format!("bad fastq nucleotide character {}, position {}", letter_name(self.line[at]), at + 1);
            return Err(self.error(&message, "remove or replace non-ACGTN characters, or consider --ambiguous=iupac"));
        }
        let full_len = self.line.len();
        let wanted = match subrange {
            None => 0..full_len,
            Some(subrange) => subrange.resolve(full_len).map_err(|limit| {
                let message = format!("the subrange goes beyond the end ({limit} > {full_len})");
                self.error(&message, "all records must be long enough")
            })?,
        };
        bases.extend_from_slice(&self.line[wanted.clone()]);
        if !self.read_line()? {
            return Err(self.error("premature end of fastq file", "the file is cut off, get it again"));
        }
        self.check_third_line()?;
        self.read_line()?;
        if let Some(at) = self.line.iter().position(|b| !b.is_ascii_graphic()) {
            let message = format!("bad fastq quality character {}, position {}", letter_name(self.line[at]), at + 1);
            return Err(self.error(&message, "qualities are printable characters without blanks"));
        }
        if self.line.len() != full_len {
            let message = format!("the sequence has length {full_len}, but the qualities {}", self.line.len());
            return Err(self.error(&message, "line-wrapped FASTQ is not supported; or the file is cut off"));
        }
        Ok(Extent { offset: wanted.start, full_len, qualities: Some(self.line[wanted].to_vec()) })
    }

    fn check_third_line(&self) -> Result<()> {
        match self.line.split_first() {
            Some((b'+', again)) if again.is_empty() || *again == self.heading_line => Ok(()),
            Some((b'+', _)) => {
                Err(self.error("fastq third line mismatch", "it must be + alone, or + and the header of line one"))
            }
            first => {
                let read = first.map_or("an empty line".to_string(), |(&byte, _)| letter_name(byte));
                let message = format!("bad fastq third line character (expected '+' but read {read})");
                Err(self.error(&message, "line-wrapped FASTQ is not supported"))
            }
        }
    }

    /// Reads a line without its end; false at the end of the file.
    fn read_line(&mut self) -> Result<bool> {
        self.line.clear();
        let n_read = self.text.read_until(b'\n', &mut self.line).map_err(|error| read_error(&self.file, error))?;
        while let Some(b'\n' | b'\r') = self.line.last() {
            self.line.pop();
        }
        Ok(n_read > 0)
    }

    fn error(&self, message: &str, way_out: &str) -> Error {
        Error::input(&self.file, format!("{message}, at record \"{}\": {way_out}", self.heading.text))
    }
}
