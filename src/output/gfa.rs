//! gfa, LASTZ's own one-line-per-record relative of lav (lastz-semantics 7.2).
//!
//! ```text
//! A 31+/5- 98/100 6971            starts, lengths, score of a block; positions as in lav
//! a 31+/5- 39 3267 95 ; diag 26   start, columns, score, percent, diagonal of a gap-free run
//! ```

use std::io::Write;

use crate::alignment::Block;
use crate::error::Result;
use crate::output::columns::{Placed, pair_score};
use crate::output::lav::{base_pair_percent, push_source, push_title};
use crate::output::{AlignmentWriter, RunInfo, StrandView, header};
use crate::post::rescore::score_of;

/// Writer of gfa.
#[derive(Debug, Default)]
pub(crate) struct GfaWriter {
    text: Vec<u8>,
}

impl GfaWriter {
    fn push_stanzas(&mut self, run: &RunInfo, placed: &Placed) -> std::io::Result<()> {
        let text = &mut self.text;
        text.extend_from_slice(b"s ");
        push_source(text, run.target_file, &placed.target)?;
        text.push(b' ');
        push_source(text, run.query_file, &placed.query)?;
        text.extend_from_slice(b"\nh ");
        push_title(text, run, &placed.target)?;
        text.push(b' ');
        push_title(text, run, &placed.query)?;
        text.push(b'\n');
        Ok(())
    }

    fn push_block(&mut self, run: &RunInfo, placed: &Placed) -> std::io::Result<()> {
        let (target, query) = (&placed.target, &placed.query);
        let starts = (target.loaded_start() + 1, query.loaded_start() + 1);
        let strands = (target.set.strand(), query.set.strand());
        let text = &mut self.text;
        if run.gapped {
            write!(text, "A {}{}/{}{} ", starts.0, strands.0, starts.1, strands.1)?;
            // Scored anew: a gap that crosses the anchor pays for one opening here.
            let (block, t, q) = (placed.block, &target.set.bases, &query.set.bases);
            let score = score_of(&block.script, t, q, block.target_start, block.query_start, run.scoring);
            writeln!(text, "{}/{} {score}", target.len, query.len)?;
        }
        for piece in placed.pair_runs() {
            let (t, q) = (starts.0 + piece.target_before, starts.1 + piece.query_before);
            let score = match run.gapped {
                true => pair_score(&run.scoring.gapped, piece.target, piece.query),
                false => placed.block.score,
            };
            write!(text, "a {t}{}/{q}{} {} {score} ", strands.0, strands.1, piece.len())?;
            writeln!(text, "{} ; diag {}", base_pair_percent(&piece), t as i64 - q as i64)?;
        }
        Ok(())
    }
}

impl AlignmentWriter for GfaWriter {
    fn begin(&mut self, run: &RunInfo, out: &mut dyn Write) -> Result<()> {
        self.text.clear();
        writeln!(self.text, "d {} {} {}", run.program, run.target_file, run.query_file)?;
        header::write_seed_and_step(&mut self.text, run, "z ")?;
        out.write_all(&self.text)?;
        Ok(())
    }

    fn strand(&mut self, run: &RunInfo, view: &StrandView, blocks: &[Block], out: &mut dyn Write) -> Result<()> {
        for (i, block) in blocks.iter().enumerate() {
            let placed = Placed::new(view, block);
            self.text.clear();
            if i == 0 {
                self.push_stanzas(run, &placed)?;
            }
            self.push_block(run, &placed)?;
            out.write_all(&self.text)?;
        }
        Ok(())
    }

    fn masked(&mut self, _: &RunInfo, newly_masked: usize, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "x num_masked={newly_masked}")?;
        Ok(())
    }

    fn runtime_marks(&self) -> &'static [&'static str] {
        &["z "]
    }
}
