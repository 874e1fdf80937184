//! CIGAR strings, and the `cigar` format (lastz-semantics 7).

use std::io::Write;

use crate::alignment::{Block, EditOp};
use crate::error::Result;
use crate::output::columns::{Placed, is_match};
use crate::output::{AlignmentWriter, RunInfo, StrandView};

/// How a CIGAR string names its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CigarStyle {
    /// `=` and `X` instead of `M`.
    pub splits_pairs: bool,
    /// Whether a count of 1 is written. Without `splits_pairs` it always is.
    pub writes_ones: bool,
    /// Letters `m i d x` instead of `M I D X`.
    pub lower_case: bool,
}

impl CigarStyle {
    /// `26M2D17M`.
    pub const PLAIN: CigarStyle = CigarStyle { splits_pairs: false, writes_ones: true, lower_case: false };
    /// `10=1X15=`.
    pub const EXTENDED: CigarStyle = CigarStyle { splits_pairs: true, writes_ones: true, lower_case: false };

    fn push(&self, out: &mut Vec<u8>, count: usize, letter: u8) -> std::io::Result<()> {
        if count > 1 || self.writes_ones || !self.splits_pairs {
            write!(out, "{count}")?;
        }
        out.push(if self.lower_case { letter.to_ascii_lowercase() } else { letter });
        Ok(())
    }
}

/// Appends the CIGAR string of a block.
pub(crate) fn push_cigar(out: &mut Vec<u8>, placed: &Placed, style: CigarStyle) -> std::io::Result<()> {
    for run in placed.runs() {
        match run.op {
            EditOp::Insertion => style.push(out, run.len(), b'I')?,
            EditOp::Deletion => style.push(out, run.len(), b'D')?,
            EditOp::Pair if style.splits_pairs => {
                let mut pairs = run.target.iter().zip(run.query).map(|(&t, &q)| is_match(t, q));
                let Some(mut current) = pairs.next() else { continue };
                let mut count = 1;
                for equal in pairs {
                    if equal == current {
                        count += 1;
                    } else {
                        style.push(out, count, if current { b'=' } else { b'X' })?;
                        (current, count) = (equal, 1);
                    }
                }
                style.push(out, count, if current { b'=' } else { b'X' })?;
            }
            EditOp::Pair => style.push(out, run.len(), b'M')?,
        }
    }
    Ok(())
}

/// Writer of `cigar`.
#[derive(Debug, Default)]
pub(crate) struct CigarWriter {
    line: Vec<u8>,
}

impl AlignmentWriter for CigarWriter {
    fn strand(&mut self, _: &RunInfo, view: &StrandView, blocks: &[Block], out: &mut dyn Write) -> Result<()> {
        for block in blocks {
            let placed = Placed::new(view, block);
            let line = &mut self.line;
            line.clear();
            line.extend_from_slice(b"cigar:");
            for row in [placed.query, placed.target] {
                // Forward-strand positions; on `-` the start is the larger one.
                let (low, high) = row.forward();
                let (start, end) = if row.set.is_reversed { (high, low) } else { (low, high) };
                line.push(b' ');
                line.extend_from_slice(row.name());
                write!(line, " {start} {end} {}", row.set.strand())?;
            }
            write!(line, " {}", block.score)?;
            for &(op, len) in block.script.runs() {
                let letter = match op {
                    EditOp::Pair => 'M',
                    EditOp::Insertion => 'I',
                    EditOp::Deletion => 'D',
                };
                write!(line, " {letter} {len}")?;
            }
            line.push(b'\n');
            out.write_all(line)?;
        }
        Ok(())
    }
}
