//! Reading sequences: FASTA, FASTQ and 2bit, with LASTZ's specifiers and rules (lastz-semantics 1).
//!
//! ```text
//! specifier.rs   what the user typed            subrange.rs  [a..b] and its other forms
//! source.rs      open, unpack (gzip.rs)         name.rs      header line -> short name
//! record.rs      one reader of any format       mask.rs      softmask=, xmask=, nmask=
//! fasta.rs  fastq.rs  two_bit.rs                selection.rs subset=, subsample=
//! assembly.rs    records -> SequenceSet: masks, names, separators, reversal
//! ```
//!
//! The target is one [`SequenceSet`]; queries come one set at a time. Files are streamed: about one byte per base is held.

mod assembly;
mod fasta;
mod fastq;
mod gzip;
mod mask;
mod name;
mod record;
mod selection;
mod source;
mod specifier;
mod subrange;
#[cfg(test)]
mod tests;
mod two_bit;

pub use specifier::Specifier;

pub(crate) use name::default_name;

use crate::error::Result;
use crate::sequence::SequenceSet;
use assembly::{Assembler, Role};

/// Choices outside the specifier that decide how a file is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Allow the letters `BDHKMRSVWY` (`--ambiguous=iupac`).
    pub iupac: bool,
    /// Full names (`nameparse=full`) come without their `>` (`--nolaj`).
    pub bare_full_names: bool,
}

/// Reads the target: one record, or with `[multiple]` all selected ones as one partitioned array.
///
/// Warnings about empty records go to `warn`. If all records are empty, `[multiple]` gives a set without partitions.
///
/// # Errors
/// If the file cannot be read or understood, or holds more than one record and `[multiple]` is not given.
pub fn read_target(spec: &Specifier, options: &ReadOptions, warn: &mut dyn FnMut(String)) -> Result<SequenceSet> {
    let mut records = Assembler::open(spec, options, Role::Target)?;
    if spec.is_multiple() {
        return records.read_all(warn);
    }
    let set = records.read_next(warn)?;
    match set {
        Some(set) if !records.has_more()? => Ok(set),
        Some(_) => Err(spec.error(
            "the target file contains more than one sequence: add [multiple] to use all of them, or choose one with [subset=]",
        )),
        None => Err(spec.error("the target file contains no sequence, or an empty first one: remove it, or add [multiple]")),
    }
}

/// Reads queries one by one, so that only one is in memory.
pub struct QueryReader {
    records: Assembler,
    is_done: bool,
}

impl QueryReader {
    /// Opens the query file.
    ///
    /// # Errors
    /// If the file cannot be opened or contains no sequence at all.
    pub fn open(spec: &Specifier, options: &ReadOptions) -> Result<Self> {
        Ok(QueryReader { records: Assembler::open(spec, options, Role::Query)?, is_done: false })
    }

    /// The next query; with `[multiple]` all of them as one partitioned array, once. Empty records are skipped with a
    /// warning.
    ///
    /// # Errors
    /// If the next record cannot be read or understood; the queries before it have been given then, as in LASTZ.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self, warn: &mut dyn FnMut(String)) -> Result<Option<SequenceSet>> {
        if self.is_done {
            return Ok(None);
        }
        if self.records.is_multiple() {
            self.is_done = true;
            let set = self.records.read_all(warn)?;
            return Ok(Some(set).filter(|set| !set.partitions.is_empty()));
        }
        while self.records.has_more()? {
            if let Some(set) = self.records.read_next(warn)? {
                return Ok(Some(set));
            }
        }
        self.is_done = true;
        Ok(None)
    }
}
