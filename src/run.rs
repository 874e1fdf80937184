//! One command line from files to files.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Instant;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};

use fastz::align::{Aligner, Query, Sink};
use fastz::extend::Truncation;
use fastz::filter::query_best::QueryHsps;
use fastz::gpu::{AdapterChoice, Gpu, GpuBulk, GpuError, GpuExtender, GpuFinder, OnFault, SeedKernels};
use fastz::input::{QueryReader, ReadOptions, Specifier, read_target};
use fastz::options::{SelfComparison, Strands};
use fastz::output::{
    AlignmentWriter, Destination, Format, LavKind, RunInfo, StrandView, Threshold, Thresholds, writer,
};
use fastz::post::masking::{CounterWidth, TargetCoverage, write_masking};
use fastz::segments::SegmentReader;
use fastz::{Block, Error, Result, SequenceSet};

use crate::cli::{Device, Invocation};

/// Query bases below which `auto` does without a GPU: starting it takes longer.
const FEW_BASES: u64 = 1 << 15;

/// Runs the invocation.
pub fn run(invocation: &Invocation) -> anyhow::Result<()> {
    let started = Instant::now();
    let files = Files::new(invocation)?;
    let console = Console::new(invocation, &files);
    invocation.warnings.iter().for_each(|warning| console.warn(warning));
    rayon::ThreadPoolBuilder::new()
        .num_threads(invocation.options.n_threads())
        .build_global()
        .context("cannot start the worker threads")?;

    let format = Format::parse(&invocation.format)?;
    let format = if invocation.eqx { format.with_split_pairs() } else { format };
    let mut outputs = Outputs::open(invocation, &format)?;
    let gpu = GpuStart::spawn(invocation, &files, &console);
    let target = read_target(&files.target, &files.reading, &mut |warning| console.warn(&warning))?;
    let mut queries = QueryReader::open(&files.query, &files.reading)?;
    let mut segments = match &invocation.segments {
        Some(path) => Some(SegmentReader::open(path, &target)?),
        None => None,
    };
    let target_len = target.len();
    let header_target = SequenceSet { bases: Vec::new(), ..target.clone() };
    let info = run_info(invocation, &header_target, target.counted_len(), &files);
    let aligner = match segments {
        Some(_) => Aligner::for_segments(target, invocation.options.clone()),
        None => Aligner::new(target, invocation.options.clone())?,
    };
    let aligner = match coverage(invocation, target_len) {
        Some(coverage) => aligner.with_coverage(coverage),
        None => aligner,
    };
    let gpu = GpuEngines::open(gpu, invocation, &aligner)?;
    let aligner = gpu.attach(aligner);
    let aligner_bar = console.bar.clone();
    let strands = invocation.options.strands;
    let mut aligner = aligner.with_progress(move |bases| aligner_bar.iter().for_each(|bar| bar.inc(bases)));
    if invocation.show_defaults {
        show_defaults(invocation, &format)?;
    }
    outputs.begin(&info)?;

    let mut n_queries = 0;
    let read = std::iter::from_fn(|| {
        let sequences = match queries.next(&mut |warning| console.warn(&warning)) {
            Ok(sequences) => sequences?,
            Err(error) => return Some(Err(error)),
        };
        n_queries += 1;
        console.query(n_queries, &sequences);
        let segments = segments.as_mut().map(|reader| read_segments(reader, &sequences, &header_target, strands));
        Some(segments.transpose().map(|segments| Query { sequences, segments }))
    });
    aligner.align_all(read, &mut RunSink { info: &info, outputs: &mut outputs, console: &console })?;
    if let Some(summary) = aligner.limit_summary() {
        console.warn(&summary);
    }
    if let Some(reader) = &mut segments {
        reader.finish()?;
    }
    if let Some(fault) = gpu.fault() {
        console.warn(&format!("fastz: the GPU failed and the CPU finished the run: {fault}"));
    }
    outputs.finish(&info, &aligner)?;
    write_coverage(invocation, &aligner)?;
    console.finish();
    if let Some(path) = &invocation.report {
        write_report(path, &aligner, gpu.bulk.as_deref(), n_queries, started)?;
    }
    Ok(())
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

impl Files {
    /// About how many bases the query file holds, if that can be told from its size.
    fn query_bases(&self) -> Option<u64> {
        let path = Path::new(self.query.file());
        let size = path.metadata().ok().filter(|found| found.is_file())?.len();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz" | "bgz" | "bgzf") => None,
            Some("2bit") => Some(4 * size),
            Some("fq" | "fastq") => Some(size / 2),
            _ => Some(size),
        }
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
    let hsp = Threshold::from_hsp_threshold(shown.hsp_threshold, counted_len);
    info.thresholds = Thresholds {
        hsp,
        gapped: shown.gapped_threshold.map_or(hsp, Threshold::Score),
        x_drop: shown.x_drop,
        y_drop: shown.y_drop,
    };
    info.read_group = invocation.read_group.as_deref();
    info.expand = invocation.expand as usize;
    info.mark_end = invocation.mark_end;
    info.header_marks = !invocation.nolaj;
    info.blank_lines = invocation.output.is_none();
    info.ambiguous = invocation.ambiguous;
    info
}

/// `--show=defaults`: on standard output before the alignments, as a comment in formats that have comments.
fn show_defaults(invocation: &Invocation, format: &Format) -> Result<()> {
    let mark = match format {
        Format::Lav(_) => return Ok(()),
        Format::Text { .. } | Format::Differences { .. } | Format::None => "",
        _ => "#",
    };
    let text = invocation.defaults_text();
    let lines: String = text.lines().map(|line| format!("{mark}{line}\n")).collect();
    Ok(std::io::stdout().write_all(lines.as_bytes())?)
}

fn read_segments<R: std::io::BufRead + std::io::Seek>(
    reader: &mut SegmentReader<R>,
    query: &SequenceSet,
    target: &SequenceSet,
    strands: Strands,
) -> Result<QueryHsps> {
    // Names and lengths say enough: letters are not needed here, neither the other strand's nor the target's.
    let bare = SequenceSet { bases: Vec::new(), ..query.clone() };
    let other = SequenceSet { is_reversed: !query.is_reversed, ..bare };
    let mut hsps = QueryHsps::default();
    if strands != Strands::Minus {
        hsps.plus = reader.next_strand(target, query)?;
    }
    if strands != Strands::Plus {
        hsps.minus = reader.next_strand(target, &other)?;
    }
    Ok(hsps)
}

/// Counters for `--masking` and `--census`.
fn coverage(invocation: &Invocation, target_len: usize) -> Option<TargetCoverage> {
    let masking = invocation.options.masking;
    let width = invocation.census.as_ref().map(|census| match census.bits {
        8 => CounterWidth::Bits8,
        16 => CounterWidth::Bits16,
        _ => CounterWidth::Bits32,
    });
    (masking > 0 || width.is_some()).then(|| TargetCoverage::new(target_len, masking, width))
}

fn write_coverage(invocation: &Invocation, aligner: &Aligner) -> Result<()> {
    let Some(coverage) = aligner.coverage() else { return Ok(()) };
    for masking in &invocation.masking_outputs {
        let ranges = match masking.soft {
            true => coverage.soft_masked_ranges(aligner.target()),
            false => coverage.masked_ranges(aligner.target()),
        };
        let mut out = Destination::file(&masking.path)?;
        write_masking(&ranges, aligner.target(), masking.names, &mut out)?;
        if invocation.mark_end {
            out.write_all(b"# lastz end-of-file\n")?;
        }
        out.publish()?;
    }
    if let Some(path) = invocation.census.as_ref().and_then(|census| census.path.as_ref()) {
        let mut out = Destination::file(path)?;
        coverage.write_census(aligner.target(), &mut out)?;
        out.publish()?;
    }
    Ok(())
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
        let mut files = vec![(writer(format), main)];
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
        let is_text = matches!(format, Format::Text { .. } | Format::Lav(LavKind::WithText));
        Ok(Outputs { files, is_text })
    }

    fn begin(&mut self, info: &RunInfo) -> Result<()> {
        self.files.iter_mut().try_for_each(|(writer, out)| writer.begin(info, out))
    }

    fn finish(self, info: &RunInfo, aligner: &Aligner) -> Result<()> {
        let masked = aligner.masked_ranges();
        // Only the main output says that it is complete.
        let beside = RunInfo { mark_end: false, ..info.clone() };
        for (i, (mut writer, mut out)) in self.files.into_iter().enumerate() {
            writer.finish(if i == 0 { info } else { &beside }, &masked, &mut out)?;
            out.publish()?;
        }
        Ok(())
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

/// What the user sees on stderr: warnings, and a bar on a terminal.
struct Console {
    is_quiet: bool,
    reports_truncation: bool,
    has_explained_truncation: AtomicBool,
    /// Say when every n-th query begins.
    every: Option<u32>,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Console {
    fn new(invocation: &Invocation, files: &Files) -> Console {
        let wants_bar = !invocation.quiet && invocation.progress.is_none() && std::io::stderr().is_terminal();
        let bar = wants_bar.then(|| {
            // A query file's size is known ahead unless it is compressed or a pipe; each searched strand counts.
            let strands = if invocation.options.strands == Strands::Both { 2 } else { 1 };
            let bases = files.query_bases().map(|bases| bases * strands);
            let bar = bases.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
            let template = match bases {
                Some(_) => {
                    "{elapsed_precise} {wide_bar} {percent}% {human_pos} query bases ({per_sec}, {eta} left) {msg}"
                }
                None => "{spinner} {elapsed_precise} {human_pos} query bases ({per_sec}) {msg}",
            };
            bar.set_style(ProgressStyle::with_template(template).expect("a well-formed template"));
            bar.enable_steady_tick(std::time::Duration::from_millis(200));
            bar
        });
        Console {
            is_quiet: invocation.quiet,
            reports_truncation: invocation.truncation_report,
            has_explained_truncation: AtomicBool::new(false),
            every: invocation.progress,
            started: Instant::now(),
            bar,
        }
    }

    fn say(&self, message: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{message}")),
            None => eprintln!("{message}"),
        }
    }

    fn warn(&self, message: &str) {
        if !self.is_quiet {
            self.say(message);
        }
    }

    fn truncated(&self, truncation: &Truncation) {
        if self.is_quiet || !self.reports_truncation {
            return;
        }
        self.say(&truncation.to_string());
        if !self.has_explained_truncation.swap(true, Relaxed) {
            self.say("truncation can be reduced by using --allocate:traceback to increase traceback memory");
        }
    }

    fn query(&self, number: u32, query: &SequenceSet) {
        let name = query.partitions.first().map_or("", |p| &p.name);
        if let Some(bar) = &self.bar {
            bar.set_message(format!("query {number} ({name})"));
        }
        if self.every.is_some_and(|every| (number - 1).is_multiple_of(every.max(1))) {
            self.say(&format!("({:.3}s) processing query {number}: {name}", self.started.elapsed().as_secs_f64()));
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A GPU that is being started while sequences are read. `auto` takes the CPU where there is no GPU, or it cannot do what
/// is asked.
struct GpuStart {
    extends: bool,
    started: JoinHandle<std::result::Result<(Gpu, Option<SeedKernels>), GpuError>>,
}

impl GpuStart {
    /// Starts the device that the invocation asks for, unless there is nothing for it to do.
    fn spawn(invocation: &Invocation, files: &Files, console: &Console) -> Option<GpuStart> {
        let choice = match &invocation.device {
            Device::Cpu => return None,
            Device::Auto | Device::Gpu => AdapterChoice::Auto,
            Device::GpuNumber(number) => AdapterChoice::Index(*number),
            Device::Named(name) => AdapterChoice::Name(name.clone()),
        };
        let is_auto = invocation.device == Device::Auto;
        if is_auto && files.query_bases().is_some_and(|bases| bases < FEW_BASES) {
            return None;
        }
        let options = &invocation.options;
        let is_possible = |stage: &str, reason: Option<String>| {
            if let Some(reason) = &reason
                && !is_auto
            {
                console.warn(&format!("fastz: {stage} runs on the CPU: {reason}"));
            }
            reason.is_none()
        };
        let searches = invocation.segments.is_none() && is_possible("the search", GpuFinder::reason_against(options));
        let extends = options.gapped.as_ref().is_some_and(|gapped| {
            is_possible("gapped extension", GpuExtender::reason_against(&options.scoring, gapped))
        });
        let start = move || {
            let gpu = Gpu::open(&choice)?;
            let kernels = if searches { Some(SeedKernels::compile(&gpu)?) } else { None };
            Ok((gpu, kernels))
        };
        (searches || extends).then(|| GpuStart { extends, started: std::thread::spawn(start) })
    }
}

/// What runs on the GPU.
#[derive(Default)]
struct GpuEngines {
    finder: Option<Arc<GpuFinder>>,
    bulk: Option<Arc<GpuBulk>>,
}

impl GpuEngines {
    fn open(start: Option<GpuStart>, invocation: &Invocation, aligner: &Aligner) -> anyhow::Result<GpuEngines> {
        let Some(GpuStart { extends, started }) = start else { return Ok(GpuEngines::default()) };
        let options = &invocation.options;
        let is_auto = invocation.device == Device::Auto;
        let on_fault = if is_auto { OnFault::UseCpu } else { OnFault::Fail };
        let started = started.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let engines = started.and_then(|(gpu, kernels)| {
            let finder = match kernels.zip(aligner.table()) {
                Some((kernels, table)) => {
                    Some(GpuFinder::new(&gpu, kernels, (aligner.target(), table), options, on_fault)?)
                }
                None => None,
            };
            let gapped = options.gapped.as_ref().filter(|_| extends);
            let bulk = gapped.map(|gapped| Arc::new(GpuBulk::new(gpu, &options.scoring, gapped, on_fault)));
            Ok(GpuEngines { finder: finder.map(Arc::new), bulk })
        });
        match engines {
            Err(_) if is_auto => Ok(GpuEngines::default()),
            engines => engines.context("cannot use the GPU; --device=cpu runs without it"),
        }
    }

    fn attach(&self, mut aligner: Aligner) -> Aligner {
        if let Some(finder) = &self.finder {
            aligner = aligner.with_hsp_finder(Box::new(finder.clone()));
        }
        if let Some(bulk) = &self.bulk {
            aligner = aligner.with_bulk_extender(Box::new(bulk.clone()));
        }
        aligner
    }

    /// Why the GPU was given up, if it was.
    fn fault(&self) -> Option<String> {
        let of_finder = self.finder.as_ref().and_then(|finder| finder.fault());
        of_finder.or_else(|| self.bulk.as_ref().and_then(|bulk| bulk.fault()))
    }
}

fn write_report(
    path: &Path,
    aligner: &Aligner,
    gpu: Option<&GpuBulk>,
    n_queries: u32,
    started: Instant,
) -> anyhow::Result<()> {
    let report = serde_json::json!({
        "gpu": gpu.and_then(GpuBulk::counts),
        "program": concat!("fastz ", env!("CARGO_PKG_VERSION")),
        "seconds": started.elapsed().as_secs_f64(),
        "threads": rayon::current_num_threads(),
        "queries": n_queries,
        "counts": aligner.counts(),
    });
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut out = BufWriter::new(file);
    serde_json::to_writer_pretty(&mut out, &report)?;
    out.write_all(b"\n")?;
    out.flush().with_context(|| format!("cannot write {}", path.display()))
}
