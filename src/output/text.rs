//! text and `ztext`, for reading (lastz-semantics 7.2).
//!
//! ```text
//!         31 TGTAAGTC...     50 columns a row; 1-based position of the row's first column (`ztext`: 0-based),
//!            ||||||||...     counting down in forward coordinates on the - strand; without gapped extension one
//!        109 TGTAAGTC...     long row whose positions count up along the strand
//! ```

use std::io::Write;
use std::ops::Range;

use crate::alignment::{Block, EditOp};
use crate::error::Result;
use crate::output::columns::{PairKind, Placed, Row, pair_kind};
use crate::output::{AlignmentWriter, RunInfo, StrandView, header};

/// Columns of a row.
const ROW_COLUMNS: usize = 50;

/// Writer of the text kinds.
#[derive(Debug)]
pub(crate) struct TextWriter {
    zero_based: bool,
    text: Vec<u8>,
    scratch: TextScratch,
}

/// Rows of the block at hand, kept to save allocations.
#[derive(Debug, Default)]
pub(crate) struct TextScratch {
    target: Vec<u8>,
    bars: Vec<u8>,
    query: Vec<u8>,
}

impl TextWriter {
    pub fn new(zero_based: bool) -> Self {
        TextWriter { zero_based, text: Vec::new(), scratch: TextScratch::default() }
    }
}

impl AlignmentWriter for TextWriter {
    fn begin(&mut self, run: &RunInfo, out: &mut dyn Write) -> Result<()> {
        self.text.clear();
        header::write_seed_and_step(&mut self.text, run, "")?;
        out.write_all(&self.text)?;
        Ok(())
    }

    fn strand(&mut self, run: &RunInfo, view: &StrandView, blocks: &[Block], out: &mut dyn Write) -> Result<()> {
        for block in blocks {
            self.text.clear();
            self.scratch.push_block(&mut self.text, run, &Placed::new(view, block), self.zero_based)?;
            out.write_all(&self.text)?;
        }
        Ok(())
    }

    fn masked(&mut self, _: &RunInfo, newly_masked: usize, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "num_masked={newly_masked}")?;
        Ok(())
    }

    fn runtime_marks(&self) -> &'static [&'static str] {
        &[""]
    }
}

impl TextScratch {
    /// Appends the text of one block, the blank line after it included.
    pub fn push_block(&mut self, out: &mut Vec<u8>, run: &RunInfo, placed: &Placed, zero_based: bool) -> Result<()> {
        let (left, right) = context(placed, run.expand);
        self.fill(placed, left, right);
        let (target_len, query_len) = (left + placed.target.len + right, left + placed.query.len + right);
        if run.gapped {
            writeln!(out, "score:{} length:({target_len} {query_len})\n", placed.block.score)?;
            self.push_rows(out, placed, left, zero_based)?;
            if !run.blank_lines {
                out.pop();
            }
        } else {
            writeln!(out, "score:{} length:{target_len}", placed.block.score)?;
            writeln_numbered(out, shown_strand_position(&placed.target, left, zero_based), ": ", &self.target)?;
            out.resize(out.len() + 12, b' ');
            out.extend_from_slice(&self.bars);
            out.push(b'\n');
            writeln_numbered(out, shown_strand_position(&placed.query, left, zero_based), ": ", &self.query)?;
            out.push(b'\n');
        }
        Ok(())
    }

    fn push_rows(&self, out: &mut Vec<u8>, placed: &Placed, left: usize, zero_based: bool) -> std::io::Result<()> {
        let mut target_position = placed.target.loaded_start() - left;
        let mut query_position = placed.query.loaded_start() - left;
        for start in (0..self.target.len()).step_by(ROW_COLUMNS) {
            let row: Range<usize> = start..(start + ROW_COLUMNS).min(self.target.len());
            let (target, query) = (&self.target[row.clone()], &self.query[row.clone()]);
            writeln_numbered(out, shown_position(&placed.target, target_position, zero_based), " ", target)?;
            out.resize(out.len() + 11, b' ');
            out.extend_from_slice(&self.bars[row]);
            out.push(b'\n');
            writeln_numbered(out, shown_position(&placed.query, query_position, zero_based), " ", query)?;
            out.push(b'\n');
            target_position += base_count(target);
            query_position += base_count(query);
        }
        Ok(())
    }

    /// Rows and bars of the block with its context.
    fn fill(&mut self, placed: &Placed, left: usize, right: usize) {
        self.target.clear();
        self.query.clear();
        self.bars.clear();
        for (text, row, is_target) in
            [(&mut self.target, &placed.target, true), (&mut self.query, &placed.query, false)]
        {
            let end = row.first + row.len;
            text.extend_from_slice(&row.set.bases[row.first - left..row.first]);
            match is_target {
                true => placed.push_target_text(text),
                false => placed.push_query_text(text),
            }
            text.extend_from_slice(&row.set.bases[end..end + right]);
        }
        push_bars(&mut self.bars, &self.target[..left], &self.query[..left]);
        for run in placed.runs() {
            match run.op {
                EditOp::Pair => push_bars(&mut self.bars, run.target, run.query),
                _ => self.bars.resize(self.bars.len() + run.len(), b'-'),
            }
        }
        let block_end = self.bars.len();
        push_bars(&mut self.bars, &self.target[block_end..], &self.query[block_end..]);
    }
}

/// Bases of context before and after a block: at most `expand`, and no more than both sequences have.
fn context(placed: &Placed, expand: usize) -> (usize, usize) {
    let after = |row: &Row| row.partition.range.end - row.first - row.len;
    let left = expand.min(placed.target.loaded_start()).min(placed.query.loaded_start());
    let right = expand.min(after(&placed.target)).min(after(&placed.query));
    (left, right)
}

/// The number before a row whose first base is `position` in the loaded part; a subrange's offset is not added (7.2).
/// LASTZ counts the separator of a reversed partition twice, and prints negative numbers as unsigned ones.
fn shown_position(row: &Row, position: usize, zero_based: bool) -> u32 {
    let one_based = match row.set.is_reversed {
        true => row.partition.len() as i64 - position as i64 - row.partition.range.start as i64,
        false => position as i64 + 1,
    };
    (one_based - i64::from(zero_based)) as u32
}

/// The number before a gap-free row that starts `context` bases before the block: it counts up along the strand, and a
/// subrange's offset on the forward strand is added on both strands.
fn shown_strand_position(row: &Row, context: usize, zero_based: bool) -> usize {
    row.loaded_start() - context + row.partition.offset + usize::from(!zero_based)
}

fn base_count(row: &[u8]) -> usize {
    row.iter().filter(|&&letter| letter != b'-').count()
}

fn push_bars(out: &mut Vec<u8>, target: &[u8], query: &[u8]) {
    out.extend(target.iter().zip(query).map(|(&t, &q)| match pair_kind(t, q) {
        PairKind::Match => b'|',
        PairKind::Transition => b':',
        PairKind::Transversion | PairKind::Other => b' ',
    }));
}

fn writeln_numbered(out: &mut Vec<u8>, number: impl std::fmt::Display, mark: &str, row: &[u8]) -> std::io::Result<()> {
    write!(out, "{number:>10}{mark}")?;
    out.extend_from_slice(row);
    out.push(b'\n');
    Ok(())
}
