//! differences and `differences-`: one line per run of differing columns (lastz-semantics 7.2).
//!
//! ```text
//! tname start end strand length   qname start end strand length   ttext qtext   [rows of the block]
//! ```

use std::io::Write;

use crate::alignment::{Block, EditOp};
use crate::error::Result;
use crate::output::columns::{Placed, Row, Run, is_difference};
use crate::output::{AlignmentWriter, RunInfo, StrandView, refuse_reversed_target};

/// Writer of the differences kinds.
#[derive(Debug)]
pub(crate) struct DifferencesWriter {
    with_blocks: bool,
    lines: Vec<u8>,
    rows: Vec<u8>, // both rows of the block, each after a tab
}

/// A run of differing columns: offsets in the block, and letters (empty on the gapped side).
struct Difference<'a> {
    target_before: usize,
    target: &'a [u8],
    query_before: usize,
    query: &'a [u8],
}

impl DifferencesWriter {
    pub fn new(with_blocks: bool) -> Self {
        DifferencesWriter { with_blocks, lines: Vec::new(), rows: Vec::new() }
    }

    fn push_line(&mut self, placed: &Placed, difference: &Difference) -> std::io::Result<()> {
        let lines = &mut self.lines;
        let sides = [
            (&placed.target, difference.target_before, difference.target.len()),
            (&placed.query, difference.query_before, difference.query.len()),
        ];
        for (row, before, len) in sides {
            push_place(lines, row, before, len)?;
        }
        let columns = difference.target.len().max(difference.query.len());
        push_letters(lines, difference.target, columns);
        lines.push(b'\t');
        push_letters(lines, difference.query, columns);
        lines.extend_from_slice(&self.rows);
        lines.push(b'\n');
        Ok(())
    }
}

fn push_place(out: &mut Vec<u8>, row: &Row, before: usize, len: usize) -> std::io::Result<()> {
    let start = row.start() + before;
    out.extend_from_slice(row.name());
    write!(out, "\t{start}\t{}\t{}\t{}\t", start + len, row.set.strand(), row.full_len())
}

fn push_letters(out: &mut Vec<u8>, letters: &[u8], columns: usize) {
    match letters.is_empty() {
        true => out.resize(out.len() + columns, b'-'),
        false => out.extend_from_slice(letters),
    }
}

/// The runs of differing pairs within a run of pairs.
fn mismatch_runs<'a>(run: Run<'a>, ambiguous: bool) -> impl Iterator<Item = Difference<'a>> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let differs = |i: &usize| is_difference(run.target[*i], run.query[*i], ambiguous);
        let start = (next..run.len()).find(differs)?;
        let end = (start..run.len()).find(|i| !differs(i)).unwrap_or(run.len());
        next = end;
        Some(Difference {
            target_before: run.target_before + start,
            target: &run.target[start..end],
            query_before: run.query_before + start,
            query: &run.query[start..end],
        })
    })
}

impl AlignmentWriter for DifferencesWriter {
    fn strand(&mut self, run: &RunInfo, view: &StrandView, blocks: &[Block], out: &mut dyn Write) -> Result<()> {
        for block in blocks {
            if !run.gapped {
                refuse_reversed_target(view, "differences of gap-free segments")?;
            }
            let placed = Placed::new(view, block);
            self.lines.clear();
            self.rows.clear();
            if self.with_blocks {
                self.rows.push(b'\t');
                placed.push_target_text(&mut self.rows);
                self.rows.push(b'\t');
                placed.push_query_text(&mut self.rows);
            }
            for piece in placed.runs() {
                if piece.op == EditOp::Pair {
                    for difference in mismatch_runs(piece, run.ambiguous) {
                        self.push_line(&placed, &difference)?;
                    }
                } else {
                    let Run { target, query, target_before, query_before, .. } = piece;
                    self.push_line(&placed, &Difference { target_before, target, query_before, query })?;
                }
            }
            out.write_all(&self.lines)?;
        }
        Ok(())
    }
}
