//! maf and its kinds (lastz-semantics 7).
//!
//! ```text
//! a score=4672
//! s chrT  4 65 + 70 AAGACAATTACAT...      name, 0-based start, bases, strand, full length, row
//! s read1 2 66 + 68 AAGACAATTATAT...
//!
//! ```

use std::io::Write;

use crate::alignment::Block;
use crate::error::Result;
use crate::output::axt::push_comment;
use crate::output::cigar::{CigarStyle, push_cigar};
use crate::output::columns::{Placed, Row};
use crate::output::{AlignmentWriter, MafKind, RunInfo, StrandView, header, refuse_reversed_target};

/// Writer of the maf kinds.
#[derive(Debug)]
pub(crate) struct MafWriter {
    kind: MafKind,
    text: Vec<u8>,
}

impl MafWriter {
    pub fn new(kind: MafKind) -> Self {
        MafWriter { kind, text: Vec::new() }
    }

    fn has_comments(&self) -> bool {
        matches!(self.kind, MafKind::WithComments { .. })
    }

    fn write_block(&mut self, run: &RunInfo, placed: &Placed, out: &mut dyn Write) -> Result<()> {
        let has_comments = self.has_comments();
        let text = &mut self.text;
        text.clear();
        if has_comments {
            let counts = placed.counts();
            push_comment(text, "identity", counts.identity())?;
            push_comment(text, "coverage", placed.coverage())?;
            if run.gapped {
                push_comment(text, "continuity", counts.continuity())?;
            }
            text.extend_from_slice(b"# cigar=");
            push_cigar(text, placed, CigarStyle { lower_case: true, ..CigarStyle::PLAIN })?;
            text.push(b'\n');
        }
        writeln!(text, "a score={}", placed.block.score)?;
        let (target, query) = (&placed.target, &placed.query);
        let marks_equal_names = matches!(
            self.kind,
            MafKind::Plain { marks_equal_names: true } | MafKind::WithComments { marks_equal_names: true }
        );
        let mark = if marks_equal_names && target.name() == query.name() { "~" } else { "" };
        let widths = Widths {
            name: target.name().len().max(mark.len() + query.name().len()),
            // As wide as the larger 1-based start, although the 0-based one is printed (7).
            start: digits(target.start().max(query.start()) + 1),
            len: digits(target.len.max(query.len)),
            full_len: digits(target.full_len().max(query.full_len())),
        };
        widths.push_row_head(text, "", target)?;
        placed.push_target_text(text);
        text.push(b'\n');
        widths.push_row_head(text, mark, query)?;
        placed.push_query_text(text);
        text.extend_from_slice(b"\n\n");
        out.write_all(text)?;
        Ok(())
    }
}

/// Widths of the columns of a block's `s` lines.
struct Widths {
    name: usize,
    start: usize,
    len: usize,
    full_len: usize,
}

impl Widths {
    fn push_row_head(&self, out: &mut Vec<u8>, mark: &str, row: &Row) -> std::io::Result<()> {
        let n_blanks = self.name - mark.len() - row.name().len();
        write!(out, "s {mark}")?;
        out.extend_from_slice(row.name());
        // A width of the formatter has 16 bits.
        out.resize(out.len() + n_blanks, b' ');
        write!(out, " {:>start_width$} ", row.start(), start_width = self.start)?;
        write!(out, "{:>len_width$} {} ", row.len, row.set.strand(), len_width = self.len)?;
        write!(out, "{:>full_width$} ", row.full_len(), full_width = self.full_len)
    }
}

fn digits(n: usize) -> usize {
    n.checked_ilog10().map_or(1, |log| log as usize + 1)
}

impl AlignmentWriter for MafWriter {
    fn begin(&mut self, run: &RunInfo, out: &mut dyn Write) -> Result<()> {
        if self.kind == MafKind::NoHeader {
            return Ok(());
        }
        self.text.clear();
        writeln!(self.text, "##maf version=1 scoring={}", run.program)?;
        header::write_comment_header(&mut self.text, run, true)?;
        if self.has_comments() {
            header::write_seed_and_step(&mut self.text, run, "# ")?;
        }
        out.write_all(&self.text)?;
        Ok(())
    }

    fn strand(&mut self, run: &RunInfo, view: &StrandView, blocks: &[Block], out: &mut dyn Write) -> Result<()> {
        for block in blocks {
            if !run.gapped {
                refuse_reversed_target(view, "maf of gap-free segments")?;
            }
            self.write_block(run, &Placed::new(view, block), out)?;
        }
        Ok(())
    }

    fn masked(&mut self, _: &RunInfo, newly_masked: usize, out: &mut dyn Write) -> Result<()> {
        if self.has_comments() {
            writeln!(out, "# num_masked={newly_masked}")?;
        }
        Ok(())
    }

    fn runtime_marks(&self) -> &'static [&'static str] {
        if self.has_comments() { &["# "] } else { &[] }
    }
}
