//! Output formats (lastz-semantics 7): pure functions from blocks to text.
//!
//! ```text
//! Format::parse("maf+") -> Format --writer()--> AlignmentWriter
//!                          begin                header
//!   per searched strand:   strand(blocks), masked(n)
//!                          finish               footer
//! ```
//!
//! A writer keeps what spans strands: the numbers of axt and general, the names that rdotplot printed last. Blocks come
//! in their final order and carry array positions; `columns.rs` turns them into positions on sequences.

use std::io::Write;
use std::ops::Range;

use crate::alignment::Block;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::post::masking::TargetCoverage;
use crate::scoring::Scoring;
use crate::sequence::SequenceSet;

mod axt;
mod blastn;
mod cigar;
mod columns;
mod destination;
mod differences;
mod format;
mod general;
mod gfa;
mod header;
mod lav;
mod maf;
mod paf;
mod rdotplot;
mod sam;
mod temporary;
mod text;

pub use cigar::CigarStyle;
pub use destination::Destination;
pub use format::{AxtKind, Format, LavKind, MafKind, SamKind};
pub use general::{DifferenceLetters, Field, Of, RatioColumns, Table};
pub use header::{Threshold, Thresholds, seed_text};
pub use temporary::remove_unpublished;

/// What writers need to know about a run besides its blocks.
#[derive(Clone, Debug)]
pub struct RunInfo<'a> {
    /// The program as headers name it: `lastz.v1.04.22`.
    pub program: &'a str,
    /// The option words of the command line in order, files removed.
    pub arguments: &'a [String],
    /// The target file as typed, without actions.
    pub target_file: &'a str,
    /// The query file as typed, without actions.
    pub query_file: &'a str,
    /// Scores and gap costs.
    pub scoring: &'a Scoring,
    /// Thresholds that headers show.
    pub thresholds: Thresholds,
    /// Whether blocks come from gapped extension. Without it blocks are HSPs, and several formats print them otherwise.
    pub gapped: bool,
    /// The seed as headers show it ([`seed_text`]).
    pub seed: String,
    /// Step of the target's word positions.
    pub step: u32,
    /// `--masking` (lav shows it).
    pub masking: u32,
    /// Whether `--ambiguous` is given, in any form (differences).
    pub ambiguous: bool,
    /// `--readgroup` (sam).
    pub read_group: Option<&'a str>,
    /// Whether a blank line follows a gapped block of text. LASTZ prints that line to standard output even where the
    /// output is a file, which then lacks it.
    pub blank_lines: bool,
    /// `--expand`: bases of context on each side of a block in text.
    pub expand: usize,
    /// The dot plot beside the output. Quirk: the row numbers of general count its runs of pairs too.
    pub dot_plot: DotPlot,
    /// `--markend`: whether the last line says that the output is complete.
    pub mark_end: bool,
    /// Whether lav and gfa print the `>` of FASTA headers (off: `--nolaj`).
    pub header_marks: bool,
}

impl<'a> RunInfo<'a> {
    /// A run of `options` without option words; the fields can be set afterwards.
    /// `seed_pattern` is the pattern of `options.seed` as text.
    pub fn new(
        program: &'a str,
        options: &'a Options,
        target: &'a SequenceSet,
        query_file: &'a str,
        seed_pattern: &str,
    ) -> Self {
        RunInfo {
            program,
            arguments: &[],
            target_file: &target.file,
            query_file,
            scoring: &options.scoring,
            thresholds: Thresholds::from_options(options, target.counted_len()),
            gapped: options.gapped.is_some(),
            seed: seed_text(seed_pattern, options.seed.transitions),
            step: options.seed.step,
            masking: options.masking,
            ambiguous: false,
            read_group: None,
            blank_lines: true,
            expand: 0,
            dot_plot: DotPlot::None,
            mark_end: false,
            header_marks: true,
        }
    }

    /// Appends the program and every option word, each followed by a blank.
    fn push_command(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.program.as_bytes());
        out.push(b' ');
        self.push_arguments(out);
    }

    fn push_arguments(&self, out: &mut Vec<u8>) {
        for word in self.arguments {
            out.extend_from_slice(word.as_bytes());
            out.push(b' ');
        }
    }
}

/// When the runs of pairs of a dot plot are printed (`--rdotplot=<file>`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DotPlot {
    /// There is none.
    #[default]
    None,
    /// After all gapped blocks of a strand.
    AfterStrand,
    /// After each block, which is printed as it is found (`--anyornone`, `--limitperquery`).
    AfterBlock,
}

/// The sequences of one searched strand.
#[derive(Clone, Copy, Debug)]
pub struct StrandView<'a> {
    /// The target.
    pub target: &'a SequenceSet,
    /// The query on the strand that was searched.
    pub query: &'a SequenceSet,
}

/// What is known at the end of a run.
#[derive(Clone, Debug, Default)]
pub struct Ending<'a> {
    /// Target intervals that `--masking` masked, in array positions (lav).
    pub masked: Vec<Range<usize>>,
    /// How often target bases were covered, for a census in the output itself (lav).
    pub census: Option<&'a TargetCoverage>,
    /// Seconds since the start, if they are to be shown (`--runtime`).
    pub seconds: Option<f64>,
}

/// Writes alignments in one format.
pub trait AlignmentWriter {
    /// Writes the file's header; called once, before anything else.
    fn begin(&mut self, run: &RunInfo, out: &mut dyn Write) -> Result<()> {
        let _ = (run, out);
        Ok(())
    }

    /// Writes the blocks of one query strand, in the order given; `blocks` may be empty.
    ///
    /// # Errors
    /// [`Error::Format`] if the format cannot express a block; what stands before it has been written.
    fn strand(&mut self, run: &RunInfo, view: &StrandView, blocks: &[Block], out: &mut dyn Write) -> Result<()>;

    /// Reports how many target bases `--masking` has just masked (none if there is only `--census`); called after each strand with a block, without
    /// gapped extension after each searched strand (lastz-semantics 6.6).
    fn masked(&mut self, run: &RunInfo, newly_masked: usize, out: &mut dyn Write) -> Result<()> {
        let _ = (run, newly_masked, out);
        Ok(())
    }

    /// Writes the format's footer.
    fn end(&mut self, run: &RunInfo, ending: &Ending, out: &mut dyn Write) -> Result<()> {
        let _ = (run, ending, out);
        Ok(())
    }

    /// How the format marks the lines of `--runtime`, if it has such lines (lastz-semantics 7.2).
    fn runtime_marks(&self) -> &'static [&'static str] {
        &[]
    }

    /// Writes the footer, with `--runtime` the time and with `--markend` the last line.
    fn finish(&mut self, run: &RunInfo, ending: &Ending, out: &mut dyn Write) -> Result<()> {
        self.end(run, ending, out)?;
        if let Some(seconds) = ending.seconds {
            for mark in self.runtime_marks() {
                writeln!(out, "{mark}runtime={seconds:.3}")?;
            }
        }
        if run.mark_end {
            out.write_all(b"# lastz end-of-file\n")?;
        }
        out.flush()?;
        Ok(())
    }
}

/// The writer of a format.
pub fn writer(format: &Format) -> Box<dyn AlignmentWriter> {
    if format.is_of_runs() { writer_of_runs(format) } else { writer_of_blocks(format) }
}

/// The writer of a format, with every gap-free run of a block printed as a segment. Quirk: so does LASTZ in any format
/// if `--format=mafsegments`, genseg or rdotplot is given too.
pub fn writer_of_runs(format: &Format) -> Box<dyn AlignmentWriter> {
    Box::new(RunWriter(writer_of_blocks(format)))
}

fn writer_of_blocks(format: &Format) -> Box<dyn AlignmentWriter> {
    match format {
        Format::Lav(kind) => Box::new(lav::LavWriter::new(*kind)),
        Format::Axt(kind) => Box::new(axt::AxtWriter::new(*kind)),
        Format::Maf(kind) => Box::new(maf::MafWriter::new(*kind)),
        Format::General(table) => Box::new(general::GeneralWriter::new(table.clone())),
        Format::Paf(style) => Box::new(paf::PafWriter::new(*style)),
        Format::Sam(kind) => Box::new(sam::SamWriter::new(*kind)),
        Format::Cigar => Box::new(cigar::CigarWriter::default()),
        Format::Differences { with_blocks } => Box::new(differences::DifferencesWriter::new(*with_blocks)),
        Format::Rdotplot { with_scores } => Box::new(rdotplot::RdotplotWriter::new(*with_scores)),
        Format::Text { zero_based } => Box::new(text::TextWriter::new(*zero_based)),
        Format::Blastn { with_headers } => Box::new(blastn::BlastnWriter::new(*with_headers)),
        Format::Gfa => Box::new(gfa::GfaWriter::default()),
        Format::None => Box::new(NoWriter),
    }
}

/// Gives every gap-free run of the blocks to another writer, as if it were a segment found without gapped extension.
struct RunWriter(Box<dyn AlignmentWriter>);

impl AlignmentWriter for RunWriter {
    fn begin(&mut self, run: &RunInfo, out: &mut dyn Write) -> Result<()> {
        self.0.begin(run, out)
    }

    fn strand(&mut self, run: &RunInfo, view: &StrandView, blocks: &[Block], out: &mut dyn Write) -> Result<()> {
        if !run.gapped {
            return self.0.strand(run, view, blocks, out);
        }
        let runs = |block| columns::Placed::new(view, block).segments(&run.scoring.gapped);
        let segments: Vec<Block> = blocks.iter().flat_map(runs).collect();
        self.0.strand(&RunInfo { gapped: false, ..run.clone() }, view, &segments, out)
    }

    fn masked(&mut self, run: &RunInfo, newly_masked: usize, out: &mut dyn Write) -> Result<()> {
        self.0.masked(run, newly_masked, out)
    }

    fn finish(&mut self, run: &RunInfo, ending: &Ending, out: &mut dyn Write) -> Result<()> {
        self.0.finish(run, ending, out)
    }
}

/// Writer of `none`.
struct NoWriter;

impl AlignmentWriter for NoWriter {
    fn strand(&mut self, _: &RunInfo, _: &StrandView, _: &[Block], _: &mut dyn Write) -> Result<()> {
        Ok(())
    }

    // Not even the line of `--markend`.
    fn finish(&mut self, _: &RunInfo, _: &Ending, _: &mut dyn Write) -> Result<()> {
        Ok(())
    }
}

/// The error of formats that have no place for the target's strand (lastz-semantics 1.8).
fn refuse_reversed_target(view: &StrandView, format: &str) -> Result<()> {
    match view.target.is_reversed {
        false => Ok(()),
        true => Err(Error::Format(format!(
            "{format} cannot show the - strand of a target ({file} is reverse-complemented): reverse the query instead, \
             or use --format=cigar, or --format=maf or --format=general with gapped extension",
            file = view.target.file
        ))),
    }
}
