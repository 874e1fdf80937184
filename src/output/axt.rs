//! axt, `axt+` and `axt:size2` (lastz-semantics 7).
//!
//! ```text
//! 0 chrT 5 69 read1 3 68 + 4672        number, target, query, strand, score; 1-based, closed, strand coordinates
//! AAGACAATTACAT...
//! AAGACAATTATAT...
//!
//! ```

use std::io::Write;

use crate::alignment::Block;
use crate::error::Result;
use crate::output::columns::{Placed, Ratio};
use crate::output::{AlignmentWriter, AxtKind, RunInfo, StrandView, header, refuse_reversed_target};

/// Writer of the axt kinds.
#[derive(Debug)]
pub(crate) struct AxtWriter {
    kind: AxtKind,
    number: u64, // of the next block, over the whole run
    text: Vec<u8>,
}

impl AxtWriter {
    pub fn new(kind: AxtKind) -> Self {
        AxtWriter { kind, number: 0, text: Vec::new() }
    }
}

impl AlignmentWriter for AxtWriter {
    fn begin(&mut self, run: &RunInfo, out: &mut dyn Write) -> Result<()> {
        self.text.clear();
        header::write_comment_header(&mut self.text, run, false)?;
        if self.kind == AxtKind::WithComments {
            header::write_seed_and_step(&mut self.text, run, "# ")?;
        }
        out.write_all(&self.text)?;
        Ok(())
    }

    fn strand(&mut self, run: &RunInfo, view: &StrandView, blocks: &[Block], out: &mut dyn Write) -> Result<()> {
        for block in blocks {
            let placed = Placed::new(view, block);
            let (target, query) = (&placed.target, &placed.query);
            let text = &mut self.text;
            text.clear();
            if self.kind == AxtKind::WithComments && (run.gapped || !view.target.is_reversed) {
                push_comment(text, "identity", placed.counts().identity())?;
                push_comment(text, "coverage", placed.coverage())?;
            }
            if view.target.is_reversed {
                // In gapped runs LASTZ has already written the comments when it notices.
                out.write_all(text)?;
                refuse_reversed_target(view, "axt")?;
            }
            write!(text, "{} ", self.number)?;
            text.extend_from_slice(target.name());
            write!(text, " {} {} ", target.start() + 1, target.end())?;
            text.extend_from_slice(query.name());
            write!(text, " {} {} ", query.start() + 1, query.end())?;
            write!(text, "{} {}", query.set.strand(), block.score)?;
            if self.kind == AxtKind::WithQuerySize {
                // The loaded length, not that of the whole record (7).
                write!(text, " {}", query.partition.len())?;
            }
            text.push(b'\n');
            placed.push_target_text(text);
            text.push(b'\n');
            placed.push_query_text(text);
            text.extend_from_slice(b"\n\n");
            out.write_all(text)?;
            self.number += 1;
        }
        Ok(())
    }

    fn masked(&mut self, _: &RunInfo, newly_masked: usize, out: &mut dyn Write) -> Result<()> {
        if self.kind == AxtKind::WithComments {
            writeln!(out, "# num_masked={newly_masked}")?;
        }
        Ok(())
    }

    fn runtime_marks(&self) -> &'static [&'static str] {
        if self.kind == AxtKind::WithComments { &["# "] } else { &[] }
    }
}

/// Appends `# name=part/whole (x.x%)`, as `axt+` and `maf+` do; 0/0 has no percentage.
pub(crate) fn push_comment(out: &mut Vec<u8>, name: &str, ratio: Ratio) -> std::io::Result<()> {
    write!(out, "# {name}=")?;
    ratio.push_fraction(out)?;
    if ratio.whole > 0 {
        out.extend_from_slice(b" (");
        ratio.push_percent(out)?;
        out.push(b')');
    }
    out.push(b'\n');
    Ok(())
}
