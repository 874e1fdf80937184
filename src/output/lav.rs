//! lav, `lav+` and `lav+text` (lastz-semantics 7, 7.2).
//!
//! ```text
//! #:lav
//! d { program, files, arguments, scores }
//! #:lav                                      per query strand with a block:
//! s { files and intervals }  h { headers }
//! a { s score  b start  e end  l t1 q1 t2 q2 percent ... }
//! m { masked intervals }  Census { counts }
//! #:eof
//! ```
//! Positions in a and l are 1-based and count from the start of the loaded part.

use std::io::Write;

use crate::alignment::Block;
use crate::error::Result;
use crate::output::columns::{Placed, Row, Run, base_pair_count, match_count};
use crate::output::text::TextScratch;
use crate::output::{AlignmentWriter, Ending, LavKind, RunInfo, StrandView, header};

/// Writer of the lav kinds.
#[derive(Debug)]
pub(crate) struct LavWriter {
    kind: LavKind,
    text: Vec<u8>,
    scratch: TextScratch,
}

impl LavWriter {
    pub fn new(kind: LavKind) -> Self {
        LavWriter { kind, text: Vec::new(), scratch: TextScratch::default() }
    }

    fn push_stanzas(&mut self, run: &RunInfo, placed: &Placed) -> std::io::Result<()> {
        let sides = [(run.target_file, &placed.target), (run.query_file, &placed.query)];
        let text = &mut self.text;
        text.extend_from_slice(b"#:lav\ns {\n");
        for (file, row) in sides {
            text.extend_from_slice(b"  ");
            push_source(text, file, row)?;
            text.push(b'\n');
        }
        text.extend_from_slice(b"}\nh {\n");
        for (_, row) in sides {
            text.extend_from_slice(b"   ");
            push_title(text, run, row)?;
            text.push(b'\n');
        }
        text.extend_from_slice(b"}\n");
        Ok(())
    }

    fn push_block(&mut self, run: &RunInfo, placed: &Placed) -> std::io::Result<()> {
        let text = &mut self.text;
        let (target, query) = (placed.target.loaded_start(), placed.query.loaded_start());
        writeln!(text, "a {{\n  s {}", placed.block.score)?;
        writeln!(text, "  b {} {}", target + 1, query + 1)?;
        writeln!(text, "  e {} {}", target + placed.target.len, query + placed.query.len)?;
        for piece in placed.pair_runs() {
            let (t, q) = (target + piece.target_before, query + piece.query_before);
            let percent = identity_percent(run, &piece);
            writeln!(text, "  l {} {} {} {} {percent}", t + 1, q + 1, t + piece.len(), q + piece.len())?;
        }
        text.extend_from_slice(b"}\n");
        Ok(())
    }
}

impl AlignmentWriter for LavWriter {
    fn begin(&mut self, run: &RunInfo, out: &mut dyn Write) -> Result<()> {
        let text = &mut self.text;
        text.clear();
        write!(text, "#:lav\nd {{\n  \"{} {} {} ", run.program, run.target_file, run.query_file)?;
        run.push_arguments(text);
        text.push(b'\n');
        header::write_matrix(text, run.scoring, false)?;
        let (thresholds, scoring) = (&run.thresholds, run.scoring);
        // LASTZ shows the lowest byte of M only (6.6).
        let masking = run.masking % 256;
        write!(text, "  O = {}, E = {}, K = {}, ", scoring.gap_open, scoring.gap_extend, thresholds.hsp)?;
        write!(text, "L = {}, M = {masking}", thresholds.gapped)?;
        if self.kind == LavKind::WithComments {
            write!(text, ", X = {}, Y = {}", thresholds.x_drop, thresholds.y_drop)?;
        }
        text.extend_from_slice(b"\"\n}\n");
        match self.kind {
            LavKind::Plain => {}
            LavKind::WithComments => header::write_seed_and_step(text, run, "# ")?,
            LavKind::WithText => {
                writeln!(text, "# seed={seed}\nseed={seed}", seed = run.seed)?;
                writeln!(text, "# step={step}\nstep={step}", step = run.step)?;
            }
        }
        out.write_all(text)?;
        Ok(())
    }

    fn strand(&mut self, run: &RunInfo, view: &StrandView, blocks: &[Block], out: &mut dyn Write) -> Result<()> {
        for (i, block) in blocks.iter().enumerate() {
            self.text.clear();
            let placed = Placed::new(view, block);
            if i == 0 {
                self.push_stanzas(run, &placed)?;
            }
            self.push_block(run, &placed)?;
            if self.kind == LavKind::WithText {
                // Beside lav, gapped text counts from 0, gap-free text from 1.
                self.scratch.push_block(&mut self.text, run, &placed, run.gapped)?;
            }
            out.write_all(&self.text)?;
        }
        Ok(())
    }

    fn masked(&mut self, _: &RunInfo, newly_masked: usize, out: &mut dyn Write) -> Result<()> {
        write!(out, "x {{\n  n {newly_masked}\n}}\n")?;
        Ok(())
    }

    fn end(&mut self, _: &RunInfo, ending: &Ending, out: &mut dyn Write) -> Result<()> {
        out.write_all(b"m {\n")?;
        for interval in &ending.masked {
            writeln!(out, "  x {} {}", interval.start + 1, interval.end)?;
        }
        write!(out, "  n {}\n}}\n", ending.masked.len())?;
        if let Some(census) = ending.census {
            out.write_all(b"Census {\n")?;
            // lav has no partitions, so the array is the loaded part.
            for at in 0..census.n_positions() {
                writeln!(out, "{} {}", at + 1, census.count(at))?;
            }
            out.write_all(b"}\n")?;
        }
        out.write_all(b"#:eof\n")?;
        Ok(())
    }

    fn runtime_marks(&self) -> &'static [&'static str] {
        match self.kind {
            LavKind::Plain => &[],
            LavKind::WithComments => &["# "],
            LavKind::WithText => &["# ", ""],
        }
    }
}

/// Appends `"file[-]" start end strandflag contig`; the interval is that of the loaded part on the forward strand.
pub(crate) fn push_source(out: &mut Vec<u8>, file: &str, row: &Row) -> std::io::Result<()> {
    let partition = row.partition;
    let (mark, flag) = if row.set.is_reversed { ("-", 1) } else { ("", 0) };
    let (start, end) = (partition.offset + 1, partition.offset + partition.len());
    write!(out, "\"{file}{mark}\" {start} {end} {flag} {}", partition.record + 1)
}

/// Appends `">header"` or `">header (reverse complement)"`.
pub(crate) fn push_title(out: &mut Vec<u8>, run: &RunInfo, row: &Row) -> std::io::Result<()> {
    let mark = if run.header_marks && row.partition.has_header_mark { ">" } else { "" };
    let strand = if row.set.is_reversed { " (reverse complement)" } else { "" };
    write!(out, "\"{mark}")?;
    out.extend_from_slice(&row.partition.header);
    write!(out, "{strand}\"")
}

/// Matches as a rounded percentage of the columns of a run in gapped blocks, where any two equal letters match, else of
/// the pairs of bases.
fn identity_percent(run: &RunInfo, piece: &Run) -> usize {
    if run.gapped && piece.len() > 0 {
        let equal = piece.target.iter().zip(piece.query).filter(|(t, q)| t.eq_ignore_ascii_case(q)).count();
        (200 * equal + piece.len()) / (2 * piece.len())
    } else {
        base_pair_percent(piece)
    }
}

/// Matches among the pairs of bases of a run, as a rounded percentage; 0 if there is no such pair.
pub(crate) fn base_pair_percent(piece: &Run) -> usize {
    match base_pair_count(piece.target, piece.query) {
        0 => 0,
        pairs => (200 * match_count(piece.target, piece.query) + pairs) / (2 * pairs),
    }
}
