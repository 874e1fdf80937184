//! What the user sees on stderr: warnings, progress lines, and a bar on a terminal.
//!
//! ```text
//! 00:01:07 gapped extension [######>---------] 41%, 34,210 bases/s, 1:30 left, query 3 (chr2)
//! ```

use bstr::{BStr, ByteSlice};
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use fastz::SequenceSet;
use fastz::align::Stage;
use fastz::extend::Truncation;
use fastz::options::Strands;
use fastz::post::limits::with_commas;
use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};

use crate::cli::Invocation;

/// The bar's template where the number of query bases is known, and where it is not.
const TEMPLATES: [&str; 2] = [
    "{elapsed_precise} {prefix} [{wide_bar}] {percent}%, {rate}, {left} left, {msg}",
    "{spinner} {elapsed_precise} {prefix}, {human_pos} query bases, {rate}, {msg}",
];

/// Warnings, progress lines and the bar of one run.
pub struct Console {
    is_quiet: bool,
    reports_truncation: bool,
    has_explained_truncation: AtomicBool,
    /// Say when every n-th query begins.
    every: Option<u32>,
    /// Say with it how much of the target is masked.
    with_masking: bool,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Console {
    /// A console with a bar, if stderr is a terminal and nothing else was asked for. `query_bases` is about the length
    /// of the query file, if that is known ahead.
    pub fn new(invocation: &Invocation, query_bases: Option<u64>) -> Console {
        let wants_bar = !invocation.quiet && invocation.progress.is_none() && std::io::stderr().is_terminal();
        // Each searched strand counts.
        let strands = if invocation.options.strands == Strands::Both { 2 } else { 1 };
        Console {
            is_quiet: invocation.quiet,
            reports_truncation: invocation.truncation_report,
            has_explained_truncation: AtomicBool::new(false),
            every: invocation.progress,
            with_masking: invocation.progress_masking,
            started: Instant::now(),
            bar: wants_bar.then(|| bar(query_bases.map(|bases| bases * strands))),
        }
    }

    /// Names the stage that begins.
    pub fn stage(&self, stage: &'static str) {
        if let Some(bar) = &self.bar {
            bar.set_prefix(stage);
        }
    }

    /// Moves the bar on by query bases that a stage has dealt with.
    pub fn progress(&self) -> impl Fn(Stage, u64) + Send + Sync + 'static {
        let bar = self.bar.clone();
        move |stage, bases| {
            if let Some(bar) = &bar {
                bar.set_prefix(match stage {
                    Stage::Search => "search",
                    Stage::Extension => "gapped extension",
                });
                bar.inc(bases);
            }
        }
    }

    fn say(&self, message: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{message}")),
            None => eprintln!("{message}"),
        }
    }

    /// A warning, unless the user wants none.
    pub fn warn(&self, message: &str) {
        if !self.is_quiet {
            self.say(message);
        }
    }

    /// An extension was cut by the traceback memory; what helps is said once.
    pub fn truncated(&self, truncation: &Truncation) {
        if self.is_quiet || !self.reports_truncation {
            return;
        }
        self.say(&truncation.to_string());
        if !self.has_explained_truncation.swap(true, Relaxed) {
            self.say("truncation can be reduced by using --allocate:traceback to increase traceback memory");
        }
    }

    /// A query begins, the `number`-th of the run, counted from 1.
    pub fn query(&self, number: u32, query: &SequenceSet, target: &SequenceSet) {
        let name = query.partitions.first().map_or(BStr::new(""), |p| p.name.as_bstr());
        if let Some(bar) = &self.bar {
            bar.set_message(format!("query {number} ({name})"));
        }
        if self.every.is_some_and(|every| (number - 1).is_multiple_of(every)) {
            let masked = if self.with_masking { masked(target) } else { String::new() };
            let seconds = self.started.elapsed().as_secs_f64();
            self.say(&format!("({seconds:.3}s) processing query {number}: {name}{masked}"));
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(bases: Option<u64>) -> ProgressBar {
    let bar = bases.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let template = TEMPLATES[usize::from(bases.is_none())];
    let style = ProgressStyle::with_template(template).expect("a well-formed template");
    // Until something is done, nothing is known.
    let rate = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
        let _ = match state.pos() {
            0 => text.write_str("? bases/s"),
            _ => write!(text, "{} bases/s", HumanCount(state.per_sec() as u64)),
        };
    };
    let left = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
        let seconds = state.eta().as_secs();
        let _ = match state.pos() {
            0 => text.write_str("?"),
            _ if seconds < 3600 => write!(text, "{}:{:02}", seconds / 60, seconds % 60),
            _ => write!(text, "{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
        };
    };
    bar.set_style(style.progress_chars("#>-").with_key("rate", rate).with_key("left", left));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// `, masked 1,064/1,153 (92.3%)`: lower-case letters of the target, soft-masked or masked by `--masking`.
fn masked(target: &SequenceSet) -> String {
    let masked = target.bases.iter().filter(|base| base.is_ascii_lowercase()).count() as u64;
    let all: usize = target.partitions.iter().map(|partition| partition.range.len()).sum();
    let mut text = format!(", masked {}/{}", with_commas(masked), with_commas(all as u64));
    let _ = write!(text, " ({:.1}%)", 100.0 * masked as f64 / all as f64);
    text
}
