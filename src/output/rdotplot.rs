//! rdotplot and `rdotplot+score`, for R's `plot` (lastz-semantics 7.2).
//!
//! ```text
//! chrT   read1        whenever the pair of names changes from one searched strand to the next
//! 5      3            start and end of a gap-free run, 1-based; the query in forward coordinates
//! 30     28
//! NA     NA
//! ```

use bstr::BString;
use std::io::Write;

use crate::alignment::Block;
use crate::error::Result;
use crate::input::default_name;
use crate::output::columns::{Placed, Row, pair_score};
use crate::output::{AlignmentWriter, RunInfo, StrandView, refuse_reversed_target};
use crate::sequence::STAND_IN_NAMES;

/// Writer of the rdotplot kinds.
#[derive(Debug)]
pub(crate) struct RdotplotWriter {
    with_scores: bool,
    names: Option<[BString; 2]>, // in the last header line, as far as LASTZ remembers them
    text: Vec<u8>,
}

/// Quirk: LASTZ compares a strand's names with so many bytes of the last target's and query's, so that longer ones always
/// differ.
const REMEMBERED: [usize; 2] = [255, 256];

impl RdotplotWriter {
    pub fn new(with_scores: bool) -> Self {
        RdotplotWriter { with_scores, names: None, text: Vec::new() }
    }

    fn push_header(&mut self, run: &RunInfo, placed: &Placed) -> std::io::Result<()> {
        let (target, query) = (&placed.target, &placed.query);
        let names = [
            if target.set.is_partitioned { "seq1".into() } else { target.name().into() },
            if query.set.is_partitioned { "seq2".into() } else { query_name(run, target, query) },
        ];
        if self.names.as_ref() != Some(&names) {
            let score = if self.with_scores { "\tscore" } else { "" };
            self.text.extend(bstr::join("\t", &names));
            writeln!(self.text, "{score}")?;
            let [mut target, mut query] = names;
            target.truncate(REMEMBERED[0]);
            query.truncate(REMEMBERED[1]);
            self.names = Some([target, query]);
        }
        Ok(())
    }
}

/// Quirk: LASTZ looks whether the target has full names (`[nameparse=full]`), and gives the query such a one then.
fn query_name(run: &RunInfo, target: &Row, query: &Row) -> BString {
    let partition = query.partition;
    match (target.set.has_full_names, query.set.has_full_names) {
        (true, false) if partition.has_header_mark && run.header_marks => {
            bstr::concat([b">", &partition.header[..]]).into()
        }
        (true, false) if !partition.is_nameless() => partition.header.clone(),
        (false, true) if partition.has_header_mark || !partition.is_nameless() => Some(default_name(&partition.header))
            .filter(|name| !name.is_empty())
            .unwrap_or(STAND_IN_NAMES[1].as_bytes())
            .into(),
        _ => query.name().into(),
    }
}

/// The plotted position of base `offset` of a row: 1-based, forward on the sequence. Partitioned arrays are plotted
/// whole: the array position, plus 1 (7.2). The last base of a run without a pair is the one before its first.
fn plotted(row: &Row, offset: isize) -> isize {
    let partition = row.partition;
    let on_strand = row.loaded_start() as isize + offset;
    let loaded = if row.set.is_reversed { partition.len() as isize - 1 - on_strand } else { on_strand };
    1 + loaded + if row.set.is_partitioned { partition.range.start } else { partition.offset } as isize
}

impl AlignmentWriter for RdotplotWriter {
    fn strand(&mut self, run: &RunInfo, view: &StrandView, blocks: &[Block], out: &mut dyn Write) -> Result<()> {
        for (ix, block) in blocks.iter().enumerate() {
            let placed = Placed::new(view, block);
            self.text.clear();
            if ix == 0 {
                self.push_header(run, &placed)?;
            }
            if view.target.is_reversed {
                out.write_all(&self.text)?;
                refuse_reversed_target(view, "rdotplot")?;
            }
            for piece in placed.pair_runs() {
                let score =
                    if run.gapped { pair_score(&run.scoring.gapped, piece.target, piece.query) } else { block.score };
                let (t, q, len) = (piece.target_before as isize, piece.query_before as isize, piece.len() as isize);
                for (t, q) in [(t, q), (t + len - 1, q + len - 1)] {
                    let (target, query) = (plotted(&placed.target, t), plotted(&placed.query, q));
                    write!(self.text, "{target}\t{query}")?;
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
