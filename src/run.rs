//! One command line from files to files.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::Context;

use fastz::align::{Aligner, Query, Sink};
use fastz::extend::Truncation;
use fastz::filter::query_best::QueryHsps;
use fastz::input::{QueryReader, ReadOptions, Specifier, read_target};
use fastz::options::{SelfComparison, Strands};
use fastz::output::{
    AlignmentWriter, Destination, DotPlot, Ending, Format, LavKind, RunInfo, StrandView, Threshold, Thresholds, writer,
    writer_of_runs,
};
use fastz::segments::SegmentReader;
use fastz::{Block, Error, Result, SequenceSet};

use crate::cli::Invocation;
use crate::console::Console;
use crate::engines::GpuStart;
use crate::side_files::SideFiles;

/// Runs the invocation.
pub fn run(invocation: &Invocation) -> anyhow::Result<()> {
    let started = Instant::now();
    let files = Files::new(invocation)?;
    crate::places::check(invocation, [&files.target, &files.query])?;
    let console = Console::new(invocation, likely_bases(&files.query));
    console.stage("reading the target");
    invocation.warnings.iter().for_each(|warning| console.warn(warning));
    rayon::ThreadPoolBuilder::new()
        .num_threads(invocation.options.n_threads())
        .build_global()
        .context("cannot start the worker threads")?;

    let format = Format::parse(&invocation.format)?;
    let format = if invocation.eqx { format.with_split_pairs() } else { format };
    let mut outputs = Outputs::open(invocation, &format)?;
    let mut beside = SideFiles::open(invocation)?;
    let gpu =
        GpuStart::spawn(invocation, [&files.target, &files.query].map(likely_bases), &|warning| console.warn(warning));
    let mut moments = Moments::default();
    let target = read_target(&files.target, &files.reading, &mut |warning| console.warn(&warning))?;
    let mut queries = QuerySource {
        reader: QueryReader::open(&files.query, &files.reading)?,
        segments: invocation.segments.as_ref().map(|path| SegmentReader::open(path, &target)).transpose()?,
        strands: invocation.options.strands,
        console: &console,
        n_queries: 0,
    };
    moments.target_read = started.elapsed().as_secs_f64();
    let target_len = target.len();
    let header_target = target.without_bases();
    let info = run_info(invocation, &header_target, target.counted_len(), &files);
    console.stage("indexing the target");
    let aligner = match queries.segments {
        Some(_) => Aligner::for_segments(target, invocation.options.clone()),
        None => Aligner::new(target, invocation.options.clone())?,
    };
    let aligner = match beside.coverage(target_len) {
        Some(coverage) => aligner.with_coverage(coverage),
        None => aligner,
    };
    moments.target_indexed = started.elapsed().as_secs_f64();
    console.stage("opening the device");
    let gpu = GpuStart::engines(gpu, invocation, &aligner, &|warning| console.warn(warning))?;
    let aligner = gpu.attach(aligner);
    let mut aligner = aligner.with_progress(console.progress());
    if invocation.show_defaults {
        show_defaults(invocation, &format, &mut outputs)?;
    }
    outputs.begin(&info)?;

    moments.devices_opened = started.elapsed().as_secs_f64();
    console.stage("search");
    let mut sink = RunSink { info: &info, outputs: &mut outputs, console: &console };
    if invocation.options.masking > 0 || invocation.progress_masking {
        // A query sees what those before it masked, and so does the progress line.
        while let Some(query) = queries.next(aligner.target())? {
            aligner.align(vec![query], &mut sink)?;
        }
    } else {
        aligner.align_all(std::iter::from_fn(|| queries.next(&header_target).transpose()), &mut sink)?;
    }
    moments.aligned = started.elapsed().as_secs_f64();
    let QuerySource { mut segments, n_queries, .. } = queries;
    if let Some(summary) = aligner.limit_summary() {
        console.warn(&summary);
    }
    if let Some(reader) = &mut segments {
        reader.finish()?;
    }
    gpu.take_warnings().iter().for_each(|warning| console.warn(warning));
    for fault in gpu.faults() {
        console.warn(&format!("fastz: the GPU failed and the CPU finished the run: {fault}"));
    }
    gpu.save_pipelines();
    let ending = Ending {
        masked: aligner.masked_ranges(),
        census: aligner.coverage().filter(|_| invocation.census.as_ref().is_some_and(|census| census.path.is_none())),
        seconds: invocation.runtime.then(|| started.elapsed().as_secs_f64()),
    };
    let files = outputs.finish(&info, &ending)?;
    beside.write_coverage(&aligner)?;
    beside.write_report(&aligner, &gpu, n_queries, files[0].written(), moments, started)?;
    console.finish();
    // The main output comes last: where it is, everything is.
    Destination::publish(beside.into_files().into_iter().chain(files.into_iter().rev()))?;
    // The process ends here: giving the memory of both back piece by piece takes longer than many a run's output.
    std::mem::forget((aligner, gpu));
    Ok(())
}

/// When each part of a run was done, in seconds since its start.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Moments {
    target_read: f64,
    target_indexed: f64,
    devices_opened: f64,
    aligned: f64,
}

/// The sequence files of a run, understood but not read.
struct Files {
    target: Specifier,
    query: Specifier,
    reading: ReadOptions,
}

impl Files {
    fn new(invocation: &Invocation) -> Result<Files> {
        let specifier = |word: &str, actions: &[String]| {
            let mut specifier = Specifier::parse(word)?;
            actions.iter().try_for_each(|actions| specifier.add_actions(actions))?;
            Ok::<_, Error>(specifier)
        };
        let target = specifier(&invocation.target, &invocation.target_actions)?;
        let is_self = invocation.options.self_comparison != SelfComparison::No;
        let query = match &invocation.query {
            Some(word) => specifier(word, &invocation.query_actions)?,
            None if is_self => target.clone(),
            None => {
                let mut query = Specifier::standard_input();
                invocation.query_actions.iter().try_for_each(|actions| query.add_actions(actions))?;
                query
            }
        };
        let reading = ReadOptions { iupac: invocation.iupac, bare_full_names: invocation.nolaj };
        Ok(Files { target, query, reading })
    }
}

/// About how many bases a file holds, if that can be told from its size.
fn likely_bases(specifier: &Specifier) -> Option<u64> {
    let path = Path::new(specifier.file());
    let size = path.metadata().ok().filter(|found| found.is_file())?.len();
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz" | "bgz" | "bgzf") => None,
        Some("2bit") => Some(4 * size),
        Some("fq" | "fastq") => Some(size / 2),
        _ => Some(size),
    }
}

fn run_info<'a>(
    invocation: &'a Invocation,
    target: &'a SequenceSet,
    counted_len: usize,
    files: &'a Files,
) -> RunInfo<'a> {
    let options = &invocation.options;
    let pattern = &invocation.header.seed_pattern;
    let mut info = RunInfo::new(&invocation.program_token, options, target, files.query.file(), pattern);
    info.arguments = &invocation.header_arguments;
    let shown = &invocation.header;
    info.thresholds = Thresholds {
        hsp: Threshold::from_hsp_threshold(shown.hsp_threshold, counted_len),
        gapped: Threshold::from_hsp_threshold(shown.gapped_threshold, counted_len),
        x_drop: shown.x_drop,
        y_drop: shown.y_drop,
    };
    info.read_group = invocation.read_group.as_deref();
    info.expand = invocation.expand as usize;
    info.dot_plot = match (&invocation.rdotplot, options.limits.blocks) {
        (None, _) => DotPlot::None,
        (Some(_), None) => DotPlot::AfterStrand,
        (Some(_), Some(_)) => DotPlot::AfterBlock,
    };
    info.mark_end = invocation.mark_end;
    info.header_marks = !invocation.nolaj;
    info.blank_lines = invocation.output.is_none();
    info.ambiguous = invocation.ambiguous;
    info
}

/// `--show=defaults`: on standard output before the alignments, as a comment in formats that have comments.
fn show_defaults(invocation: &Invocation, format: &Format, outputs: &mut Outputs) -> Result<()> {
    let mark = match format {
        Format::Lav(_) | Format::Text { .. } | Format::Differences { .. } | Format::None => "",
        _ => "#",
    };
    let text = invocation.defaults_text();
    let lines: String = text.lines().map(|line| format!("{mark}{line}\n")).collect();
    let mut stdout = std::io::stdout();
    // Quirk: lav has a stanza for them, but the lines go to standard output even where the stanza does not.
    if let Format::Lav(_) = format {
        outputs.main().write_all(b"#:lav\nd {\n")?;
        outputs.main().flush()?;
    }
    stdout.write_all(lines.as_bytes())?;
    stdout.flush()?;
    if let Format::Lav(_) = format {
        outputs.main().write_all(b"}\n")?;
    }
    Ok(())
}

/// Queries with their segments, one after the other.
struct QuerySource<'a> {
    reader: QueryReader,
    segments: Option<SegmentReader<BufReader<File>>>,
    strands: Strands,
    console: &'a Console,
    n_queries: u32,
}

impl QuerySource<'_> {
    /// The next query. Of the target only names, lengths and what is masked matter.
    fn next(&mut self, target: &SequenceSet) -> Result<Option<Query>> {
        let console = self.console;
        let Some(sequences) = self.reader.next(&mut |warning| console.warn(&warning))? else { return Ok(None) };
        self.n_queries += 1;
        console.query(self.n_queries, &sequences, target);
        let segments = match &mut self.segments {
            Some(reader) => Some(read_segments(reader, &sequences, target, self.strands)?),
            None => None,
        };
        Ok(Some(Query { sequences, segments }))
    }
}

fn read_segments<R: std::io::BufRead + std::io::Seek>(
    reader: &mut SegmentReader<R>,
    query: &SequenceSet,
    target: &SequenceSet,
    strands: Strands,
) -> Result<QueryHsps> {
    // Names and lengths say enough: the other strand's letters are not needed here.
    let other = SequenceSet { is_reversed: !query.is_reversed, ..query.without_bases() };
    let mut hsps = QueryHsps::default();
    if strands != Strands::Minus {
        hsps.plus = reader.next_strand(target, query)?;
    }
    if strands != Strands::Plus {
        hsps.minus = reader.next_strand(target, &other)?;
    }
    Ok(hsps)
}

/// The main output and the files beside it.
struct Outputs {
    files: Vec<(Box<dyn AlignmentWriter>, Destination)>,
    /// Whether the main output is text, whose blank lines can be astray (`RunInfo::blank_lines`).
    is_text: bool,
}

impl Outputs {
    fn open(invocation: &Invocation, format: &Format) -> Result<Outputs> {
        let main = match &invocation.output {
            Some(path) => Destination::file(path)?,
            None => Destination::standard_output(),
        };
        let main_writer = if invocation.prints_runs { writer_of_runs(format) } else { writer(format) };
        let mut files = vec![(main_writer, main)];
        let mut add = |format: &str, path: &Path| -> Result<()> {
            files.push((writer(&Format::parse(format)?), Destination::file(path)?));
            Ok(())
        };
        if let Some((path, with_score)) = &invocation.rdotplot {
            add(if *with_score { "rdotplot+score" } else { "rdotplot" }, path)?;
        }
        if let Some(path) = &invocation.axt {
            add("axt", path)?;
        }
        if let Some(path) = &invocation.maf {
            add("maf", path)?;
        }
        let is_text = matches!(format, Format::Text { .. } | Format::Lav(LavKind::WithText)) && !invocation.prints_runs;
        Ok(Outputs { files, is_text })
    }

    fn main(&mut self) -> &mut Destination {
        &mut self.files[0].1
    }

    fn begin(&mut self, info: &RunInfo) -> Result<()> {
        self.files.iter_mut().try_for_each(|(writer, out)| writer.begin(info, out))
    }

    /// Writes the ends of all files, and gives them to be published, the main one first.
    fn finish(self, info: &RunInfo, ending: &Ending) -> Result<Vec<Destination>> {
        // Only the main output says that it is complete.
        let beside = RunInfo { mark_end: false, ..info.clone() };
        let finish = |(i, (mut writer, mut out)): (usize, (Box<dyn AlignmentWriter>, Destination))| {
            writer.finish(if i == 0 { info } else { &beside }, ending, &mut out)?;
            Ok(out)
        };
        self.files.into_iter().enumerate().map(finish).collect()
    }
}

struct RunSink<'a> {
    info: &'a RunInfo<'a>,
    outputs: &'a mut Outputs,
    console: &'a Console,
}

impl Sink for RunSink<'_> {
    fn strand(&mut self, view: &StrandView, blocks: &[Block]) -> Result<()> {
        if self.outputs.is_text && self.info.gapped && !self.info.blank_lines {
            std::io::stdout().write_all("\n".repeat(blocks.len()).as_bytes())?;
        }
        self.outputs.files.iter_mut().try_for_each(|(writer, out)| writer.strand(self.info, view, blocks, out))
    }

    fn masked(&mut self, newly_masked: usize) -> Result<()> {
        self.outputs.files.iter_mut().try_for_each(|(writer, out)| writer.masked(self.info, newly_masked, out))
    }

    fn truncated(&mut self, truncation: &Truncation) {
        self.console.truncated(truncation);
    }

    fn warn(&mut self, message: String) {
        self.console.warn(&message);
    }
}
