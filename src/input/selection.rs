//! Which records of a file are used: `subset=` and `subsample=` (lastz-semantics 1.2).
//!
//! A names file has one name per line: the first word counts, a line whose first word begins with `#` is a comment.
//! A line that begins with another blank than a space or tab, such as an empty one with CRLF, has an empty name, which
//! no record answers to, not even one without a name.
//! LASTZ searches every name from where it found the one before, so names must come in the order of the file; a name
//! that does not follow is an error, except that nothing is missed once a FASTA file has ended behind the last match.

use bstr::{BString, ByteSlice};
use std::collections::VecDeque;
use std::fs;
use std::path::Path;

use super::name::{Heading, NameRule, is_blank};
use super::record::{Extent, RecordReader};
use super::specifier::Specifier;
use super::subrange::Subrange;
use crate::error::{Error, Result};

/// A record that was selected.
pub(super) struct Selected {
    pub heading: Heading,
    /// Index of the record in its file.
    pub record: usize,
}

/// Walks the records of a file.
pub(super) struct Selection {
    reader: RecordReader,
    spec: Specifier,
    /// The part to load of the next record.
    subrange: Option<Subrange>,
    /// Names still to be found.
    names: Option<VecDeque<BString>>,
    next_record: usize,
    n_named: usize,
}

impl Selection {
    /// Starts at the first record.
    pub fn new(reader: RecordReader, spec: &Specifier) -> Result<Selection> {
        let names = spec.subset.as_deref().map(read_names).transpose()?;
        let next_record = reader.first_record();
        Ok(Selection { reader, spec: spec.clone(), subrange: spec.subrange, names, next_record, n_named: 0 })
    }

    /// The next record to use. It stands ready to be loaded.
    pub fn next(&mut self) -> Result<Option<Selected>> {
        let mut has_passed = false;
        loop {
            if self.names.as_ref().is_some_and(VecDeque::is_empty) {
                return Ok(None);
            }
            let mut heading = match self.reader.advance()? {
                Some(heading) => heading,
                // LASTZ misses nothing in FASTA files that have ended behind the last match.
                None if self.names.is_none() => return Ok(None),
                None if !has_passed && matches!(self.reader, RecordReader::Fasta(_)) => return Ok(None),
                None => return Err(self.missing()),
            };
            let record = self.next_record;
            let key = self.key(&heading);
            if let Some(names) = &mut self.names {
                if names.front().is_some_and(|name| *name != key || name.is_empty()) {
                    has_passed = true;
                    // LASTZ counts the records that it passes in FASTA and 2bit files, but not in FASTQ files.
                    self.next_record += !matches!(self.reader, RecordReader::Fastq(_)) as usize;
                    continue;
                }
                names.pop_front();
                has_passed = false;
                // To compare names LASTZ cuts the header down to the short one, and leaves it so.
                heading.text = key;
            }
            self.next_record += 1;
            let nth = self.n_named;
            self.n_named += 1;
            // Behind the name of a contig the reader has sampled.
            match self.spec.subsample.filter(|_| self.spec.contig.is_none()) {
                Some((k, n)) if nth % n != k - 1 => self.pass_sampled()?,
                _ => return Ok(Some(Selected { heading, record })),
            }
        }
    }

    /// Appends the bases of the selected record.
    pub fn load(&mut self, bases: &mut Vec<u8>) -> Result<Extent> {
        let extent = self.reader.load(self.subrange.as_ref(), bases)?;
        self.subrange = self.subrange.map(|subrange| subrange.after(extent.full_len));
        Ok(extent)
    }

    /// Passes a record that `subsample=` leaves out. LASTZ loads it in FASTA files, so it must be good, and long enough.
    fn pass_sampled(&mut self) -> Result<()> {
        if let RecordReader::Fasta(reader) = &mut self.reader {
            let full_len = reader.check(self.subrange.as_ref())?;
            self.subrange = self.subrange.map(|subrange| subrange.after(full_len));
        }
        Ok(())
    }

    /// What the names of a names file are compared with.
    fn key(&self, heading: &Heading) -> BString {
        match &self.reader {
            RecordReader::TwoBit(_) => heading.text.clone(),
            _ if self.spec.full_names => heading.text.clone(),
            _ => heading.short_name(self.spec.name_rule.as_ref().unwrap_or(&NameRule::Default)),
        }
    }

    fn missing(&self) -> Error {
        let name = self.names.as_ref().and_then(VecDeque::front).cloned().unwrap_or_default();
        let names_file = self.spec.subset.as_deref().unwrap_or_default();
        self.spec.error(format!(
            "does not contain (or contains out of order) the sequence \"{name}\" that {names_file} asks for: names must be \
             short names, in the order of the file"
        ))
    }
}

fn read_names(file: &str) -> Result<VecDeque<BString>> {
    let path = Path::new(file);
    let text = fs::read(path).map_err(|source| Error::Io { action: "cannot read", path: path.into(), source })?;
    let names: VecDeque<BString> = text
        .split(|&b| b == b'\n')
        .map(|line| line.trim_start_with(|letter| matches!(letter, ' ' | '\t')))
        .filter(|line| !line.is_empty() && !line.starts_with(b"#"))
        .map(|line| &line[..line.iter().position(|&b| is_blank(b)).unwrap_or(line.len())])
        .map(BString::from)
        .collect();
    if names.is_empty() {
        return Err(Error::input(file, "the file of names for [subset=] is empty: write one name per line"));
    }
    Ok(names)
}
