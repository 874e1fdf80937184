//! rdotplot and `rdotplot+score`, for R's `plot` (lastz-semantics 7.2).
//!
//! ```text
//! chrT   read1        whenever the pair of names changes
//! 5      3            start and end of a gap-free run, 1-based; the query in forward coordinates
//! 30     28
//! NA     NA
//! ```

use std::io::Write;

use crate::alignment::{Block, EditOp};
use crate::error::Result;
use crate::output::columns::{Placed, Row, pair_score};
use crate::output::{AlignmentWriter, RunInfo, StrandView, refuse_reversed_target};

/// Writer of the rdotplot kinds.
#[derive(Debug)]
pub(crate) struct RdotplotWriter {
    with_scores: bool,
    names: Option<(String, String)>, // in the last header line
    text: Vec<u8>,
}

impl RdotplotWriter {
    pub fn new(with_scores: bool) -> Self {
        RdotplotWriter { with_scores, names: None, text: Vec::new() }
    }

    fn push_header(&mut self, placed: &Placed) -> std::io::Result<()> {
        let name = |row: &Row<'_>, partitioned: &'static str| match row.set.is_partitioned {
            true => partitioned.to_string(),
            false => row.name().to_string(),
        };
        let names = (name(&placed.target, "seq1"), name(&placed.query, "seq2"));
        if self.names.as_ref() != Some(&names) {
            let score = if self.with_scores { "\tscore" } else { "" };
            writeln!(self.text, "{}\t{}{score}", names.0, names.1)?;
            self.names = Some(names);
        }
        Ok(())
    }
}

/// What to add to a 1-based position on the sequence: partitioned arrays are plotted whole, in array positions + 1.
fn array_shift(row: &Row) -> usize {
    if row.set.is_partitioned { row.partition.range.start } else { 0 }
}

impl AlignmentWriter for RdotplotWriter {
    fn strand(&mut self, run: &RunInfo, view: &StrandView, blocks: &[Block], out: &mut dyn Write) -> Result<()> {
        for block in blocks {
            let placed = Placed::new(view, block);
            self.text.clear();
            self.push_header(&placed)?;
            if view.target.is_reversed {
                out.write_all(&self.text)?;
                refuse_reversed_target(view, "rdotplot")?;
            }
            let (target_shift, query_shift) = (array_shift(&placed.target), array_shift(&placed.query));
            for piece in placed.runs().filter(|piece| piece.op == EditOp::Pair) {
                let target_start = placed.target.start() + piece.target_before + target_shift + 1;
                let query_start = placed.query.start() + piece.query_before;
                let forward = |position: usize| match view.query.is_reversed {
                    true => placed.query.full_len() - position + query_shift,
                    false => position + query_shift + 1,
                };
                let score =
                    if run.gapped { pair_score(&run.scoring.gapped, piece.target, piece.query) } else { block.score };
                for offset in [0, piece.len() - 1] {
                    write!(self.text, "{}\t{}", target_start + offset, forward(query_start + offset))?;
                    if self.with_scores {
                        write!(self.text, "\t{score}")?;
                    }
                    self.text.push(b'\n');
                }
                self.text.extend_from_slice(if self.with_scores { b"NA\tNA\tNA\n" } else { b"NA\tNA\n" });
            }
            out.write_all(&self.text)?;
        }
        Ok(())
    }
}
