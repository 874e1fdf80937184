//! paf and `paf:wfmash` (lastz-semantics 7).

use std::io::Write;

use crate::alignment::Block;
use crate::error::Result;
use crate::output::cigar::{CigarStyle, push_cigar};
use crate::output::columns::Placed;
use crate::output::{AlignmentWriter, RunInfo, StrandView, refuse_reversed_target};

/// PAF's mapping quality for "missing".
const MISSING_QUALITY: u32 = 255;

/// Writer of the paf kinds.
#[derive(Debug)]
pub(crate) struct PafWriter {
    style: CigarStyle,
    line: Vec<u8>,
}

impl PafWriter {
    pub fn new(style: CigarStyle) -> Self {
        PafWriter { style, line: Vec::new() }
    }
}

impl AlignmentWriter for PafWriter {
    fn strand(&mut self, run: &RunInfo, view: &StrandView, blocks: &[Block], out: &mut dyn Write) -> Result<()> {
        for block in blocks {
            if !run.gapped {
                refuse_reversed_target(view, "paf of gap-free segments")?;
            }
            let placed = Placed::new(view, block);
            let (target, query) = (&placed.target, &placed.query);
            let (query_start, query_end) = query.forward();
            let counts = placed.counts();
            let line = &mut self.line;
            line.clear();
            line.extend_from_slice(query.name());
            write!(line, "\t{}\t{query_start}\t{query_end}\t{}\t", query.full_len(), query.set.strand())?;
            line.extend_from_slice(target.name());
            write!(line, "\t{}\t{}\t{}\t", target.full_len(), target.start(), target.end())?;
            write!(line, "{}\t{}\t{MISSING_QUALITY}\t", counts.matches, counts.columns())?;
            write!(line, "AS:i:{}\tcg:Z:", block.score)?;
            push_cigar(line, &placed, self.style)?;
            line.push(b'\n');
            out.write_all(line)?;
        }
        Ok(())
    }
}
