//! `GpuExtender`: one-sided runs on the GPU, equal to [`crate::cpu::Ydrop`] bit for bit.
//!
//! **inspect** sweeps every run without links: score, end cell, windows, cells. Runs whose windows are wider than the
//! ring are repeated with a wider one. **execute** (in `executor.rs`) gives the paths of those that are wanted. Runs out
//! of the kernels' range come back as `None`: the CPU does them, and [`GpuCounts`] counts them.

use std::collections::HashSet;

use super::binning::N_SIZE_CLASSES;
pub use super::budget::Budget;
use super::buffer::GpuVec;
use super::context::{Gpu, GpuError};
use super::form::{Form, Scratch};
use super::layout::{
    BEST_LIMIT, Params, SCORE_LIMIT, STATUS_DONE, STATUS_OUT_OF_RANGE, STATUS_TOO_WIDE, STATUS_TRUNCATED, Task, Verdict,
};
use super::letters::PADDING;
use super::screen::GpuScreen;
use super::two_pass::{TwoPass, extend_anchors};
use super::unit::{GpuUnit, OneSided};
use super::variant::Variant;
use crate::alignment::{Anchor, EditScript};
use crate::extend::side::{Side, WINDOW_ROWS, Windows};
use crate::options::GappedOptions;
use crate::scoring::{Matrix, ScoreClasses, Scoring};
use crate::sequence::SequenceSet;

/// What the GPU did and what it left to the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct GpuCounts {
    /// Units left to the CPU: their sequences do not fit the device's memory, or their scores its kernels.
    pub units_left: u64,
    /// Runs inspected.
    pub inspected: u64,
    /// Relaxed: runs whose script came with their score, as they end in the eager tile.
    pub eager: u64,
    /// Relaxed: cells that the inspector computed; the useful ones are among them.
    pub computed_cells: u64,
    /// Runs executed, by size class.
    pub executed: [u64; N_SIZE_CLASSES],
    /// Relaxed: parts of runs that were executed side by side.
    pub parts: u64,
    /// Runs repeated with a wider ring.
    pub widened: u64,
    /// Runs left to the CPU because a window was wider than the widest ring.
    pub too_wide: u64,
    /// Runs left to the CPU because of their length.
    pub too_long: u64,
    /// Runs left to the CPU because of their score, size or memory.
    pub out_of_range: u64,
    /// Dispatches of sweeps.
    pub dispatches: u64,
    /// Time that sweeps took on the device, as the host sees it.
    pub busy: std::time::Duration,
    /// The same for the screen.
    pub screen_busy: std::time::Duration,
}

/// The paper's optimisations of the executor, to measure what each is worth. [`Variant`] has those of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switches {
    /// Runs of like size are executed together.
    pub bins: bool,
    /// A run is executed up to its end cell only, not up to the last one that was looked at.
    pub trims: bool,
}

impl Default for Switches {
    /// All on.
    fn default() -> Self {
        Switches { bins: true, trims: true }
    }
}

/// What the inspector found out about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// The answer, still without its script.
    pub side: Side,
    /// The form of the kernels that could hold its windows.
    pub(super) form: usize,
    /// What accepted blocks leave of each row; empty if there are none.
    pub(super) limits: Vec<u32>,
}

impl Inspected {
    /// The answer of a run without a base on one side.
    pub(super) fn empty() -> Self {
        Inspected { side: Side::default(), form: 0, limits: Vec::new() }
    }
}

impl AsRef<Side> for Inspected {
    fn as_ref(&self) -> &Side {
        &self.side
    }
}

impl From<Inspected> for Side {
    fn from(inspected: Inspected) -> Side {
        inspected.side
    }
}

/// A run that is to be inspected, and where its answer goes.
pub(super) struct Open {
    pub run_ix: usize,
    pub task: Task,
    /// As in [`Inspected`].
    pub limits: Vec<u32>,
}

/// Runs one-sided extensions on a GPU.
pub struct GpuExtender {
    pub(super) gpu: Gpu,
    /// The form for most runs, and others once they were needed: a wider ring, bounded runs.
    pub(super) forms: Vec<Form>,
    pub(super) scratch: Scratch,
    wide: Option<Variant>,
    pub(super) params: Params,
    matrix: Matrix,
    has_cell_limit: bool,
    most_rows: u32,
    pub(super) budget: Budget,
    pub(super) switches: Switches,
    pub(super) counts: GpuCounts,
}

/// Columns that a window may take: most are about twice the longest insertion that survives.
pub fn likely_window(scoring: &Scoring, y_drop: i32) -> u32 {
    let longest = y_drop.max(0) as u32 / scoring.gap_extend.max(1) as u32;
    // HOXD70 with Y = 9400: 768 columns hold all but a few in 100,000 runs (measured on random sequences).
    (longest + 1).saturating_mul(61) / 25
}

impl GpuExtender {
    /// Most runs that a device works on at a time.
    pub const RESIDENT_RUNS: u32 = super::form::RESIDENT_RUNS;

    /// Why these options need the CPU, if they do.
    pub fn reason_against(scoring: &Scoring, options: &GappedOptions) -> Option<String> {
        let (open, extend, y_drop) = (scoring.gap_open, scoring.gap_extend, options.y_drop);
        if open < 0 || extend < 1 {
            return Some("the GPU needs a gap open cost of 0 or more and a gap extend cost of 1 or more".to_string());
        }
        if open > SCORE_LIMIT || extend > SCORE_LIMIT || !(0..=SCORE_LIMIT << 4).contains(&y_drop) {
            return Some("gap costs or y-drop are too large for the GPU".to_string());
        }
        if !options.trim_to_peak {
            return Some("--noytrim runs on the CPU".to_string());
        }
        None
    }

    /// Compiles the kernels for these scores and limits; [`reason_against`](Self::reason_against) must be `None`.
    pub fn new(gpu: Gpu, scoring: &Scoring, options: &GappedOptions) -> Result<GpuExtender, GpuError> {
        let variant = gpu.variant(likely_window(scoring, options.y_drop));
        let wide = gpu.variant(variant.ring() + 1);
        let mut extender = Self::with_variant(gpu, variant, scoring, options)?;
        extender.wide = (wide.ring() > variant.ring()).then_some(wide);
        Ok(extender)
    }

    /// As [`new`](Self::new), with a given form of the kernels only.
    pub fn with_variant(
        gpu: Gpu,
        variant: Variant,
        scoring: &Scoring,
        options: &GappedOptions,
    ) -> Result<GpuExtender, GpuError> {
        Ok(GpuExtender {
            forms: vec![Form::new(&gpu, variant)?],
            scratch: Scratch::default(),
            wide: None,
            params: params(scoring, options),
            matrix: scoring.gapped.clone(),
            most_rows: u32::MAX,
            has_cell_limit: options.traceback_bytes.is_some_and(|bytes| bytes as u64 <= MOST_CELLS),
            switches: Switches::default(),
            budget: Budget::for_device(&gpu),
            counts: GpuCounts::default(),
            gpu,
        })
    }

    /// The form of the kernels for most runs.
    pub fn variant(&self) -> &Variant {
        &self.forms[0].variant
    }

    /// What was done so far.
    pub fn counts(&self) -> GpuCounts {
        GpuCounts {
            dispatches: self.forms.iter().map(|form| form.queue.dispatches).sum(),
            busy: self.forms.iter().map(|form| form.queue.busy).sum(),
            ..self.counts
        }
    }

    /// A screen for the same scores, on the same device.
    pub fn screen(&self) -> Result<GpuScreen, GpuError> {
        GpuScreen::new(self.gpu.clone(), *self.variant(), self.params)
    }

    /// Memory limits of batches.
    pub fn budget_mut(&mut self) -> &mut Budget {
        &mut self.budget
    }

    /// Leaves runs that look at more rows to the CPU: one subgroup has not the speed of a core, and makes others wait.
    pub fn leave_long_runs(&mut self, most_rows: u32) {
        self.most_rows = most_rows;
    }

    /// Optimisations that are on.
    pub fn switches_mut(&mut self) -> &mut Switches {
        &mut self.switches
    }

    /// Rows per workgroup and dispatch to start with, for tests of runs that go over several dispatches.
    pub fn set_row_budget(&mut self, rows: u32) {
        self.forms[0].queue.set_row_budget(rows);
    }

    /// Uploads a target and a query; the reason if the GPU cannot hold them.
    pub fn load<'a>(&self, target: &'a SequenceSet, query: &'a SequenceSet) -> Result<GpuUnit<'a>, String> {
        GpuUnit::new(&self.gpu, &self.matrix, target, query)
    }

    /// Both sides of each anchor, with scripts where `wants_script` says so. `None`: left to the CPU. If the device has
    /// less memory left than its budget, batches get smaller.
    pub fn extend(
        &mut self,
        unit: &GpuUnit,
        anchors: &[Anchor],
        wants_script: &dyn Fn(&Side, &Side) -> bool,
    ) -> Result<Vec<Option<(Side, Side)>>, GpuError> {
        extend_anchors(self, unit, anchors, wants_script)
    }

    /// Scores, ends and windows of runs, without scripts. `None`: left to the CPU.
    pub fn inspect(&mut self, unit: &GpuUnit, runs: &[OneSided]) -> Result<Vec<Option<Inspected>>, GpuError> {
        let mut results = vec![Some(Inspected::empty()); runs.len()];
        let mut open: Vec<Open> = runs
            .iter()
            .enumerate()
            .map(|(run_ix, run)| (run_ix, unit.task(run)))
            .map(|(run_ix, task)| {
                let task = Task { stop_row: task.rows.min(self.most_rows), ..task };
                Open { run_ix, task, limits: Vec::new() }
            })
            .collect();
        // Without a base on one side the run is empty (lastz-semantics 5.1).
        open.retain(|open| open.task.rows > 0 && open.task.columns > 0);
        let stop_rows: Vec<(usize, u32)> = open
            .iter()
            .filter(|open| open.task.stop_row < open.task.rows)
            .map(|open| (open.run_ix, open.task.stop_row))
            .collect();
        self.inspect_open(unit, open, &mut results)?;
        for (run_ix, stop_row) in stop_rows {
            if results[run_ix].as_ref().is_some_and(|inspected| inspected.side.windows.rows > stop_row) {
                self.counts.too_long += 1;
                results[run_ix] = None;
            }
        }
        Ok(results)
    }

    /// Inspects runs that are all bounded or all unbounded, those with too wide windows again with a wider ring.
    pub(super) fn inspect_open(
        &mut self,
        unit: &GpuUnit,
        mut open: Vec<Open>,
        results: &mut [Option<Inspected>],
    ) -> Result<(), GpuError> {
        self.counts.inspected += open.len() as u64;
        let is_bounded = open.iter().any(|open| !open.limits.is_empty());
        let variants = [Some(*self.variant()), self.wide];
        for (round, variant) in variants.into_iter().flatten().enumerate() {
            if open.is_empty() {
                return Ok(());
            }
            let form = self.form(Variant { is_bounded, ..variant })?;
            self.counts.widened += if round > 0 { open.len() as u64 } else { 0 };
            let too_wide = self.inspect_with(form, unit, &open, results)?;
            open.retain(|open| too_wide.contains(&open.run_ix));
        }
        self.counts.too_wide += open.len() as u64;
        Ok(())
    }

    /// The kernels for a variant, compiled at their first use.
    fn form(&mut self, variant: Variant) -> Result<usize, GpuError> {
        if let Some(form) = self.forms.iter().position(|form| form.variant == variant) {
            return Ok(form);
        }
        self.forms.push(Form::new(&self.gpu, variant)?);
        Ok(self.forms.len() - 1)
    }

    /// Inspects runs with one form. Returns those (`run_ix`) that it is too narrow for.
    fn inspect_with(
        &mut self,
        form: usize,
        unit: &GpuUnit,
        open: &[Open],
        results: &mut [Option<Inspected>],
    ) -> Result<HashSet<usize>, GpuError> {
        let mut too_wide = HashSet::new();
        let mut batch_len = self.budget.tasks;
        let mut rest = open;
        while !rest.is_empty() {
            let mut words = 0;
            let fits = |open: &&Open| {
                words += open.limits.len() as u64;
                words <= self.budget.link_words / 2
            };
            let n = rest.iter().take(batch_len).take_while(fits).count().max(1);
            let (batch, later) = rest.split_at(n);
            let Some(answers) = self.inspect_batch(form, unit, batch)? else {
                if batch.len() == 1 {
                    self.counts.out_of_range += 1;
                    results[batch[0].run_ix] = None;
                    rest = later;
                }
                // Smaller batches leave more of the hull log to each run.
                batch_len = (batch.len() / 2).max(1);
                continue;
            };
            for (open, (verdict, windows)) in batch.iter().zip(answers) {
                let found = || Inspected { side: side(&verdict, windows), form, limits: open.limits.clone() };
                results[open.run_ix] = match verdict.status {
                    STATUS_DONE => Some(found()),
                    STATUS_TRUNCATED if self.has_cell_limit => Some(found()),
                    STATUS_TOO_WIDE => {
                        too_wide.insert(open.run_ix);
                        None
                    }
                    STATUS_TRUNCATED | STATUS_OUT_OF_RANGE => {
                        self.counts.out_of_range += 1;
                        None
                    }
                    other => return Err(GpuError::Lost(format!("the inspector reported status {other}"))),
                };
            }
            rest = later;
        }
        Ok(too_wide)
    }

    /// `None`: the hulls do not fit the budget.
    fn inspect_batch(
        &mut self,
        form: usize,
        unit: &GpuUnit,
        batch: &[Open],
    ) -> Result<Option<Vec<(Verdict, Windows)>>, GpuError> {
        let gpu = &self.gpu;
        let mut plan: Vec<u32> = Vec::new();
        let mut tasks = Vec::with_capacity(batch.len());
        for open in batch {
            tasks.push(Task { limit_start: plan.len() as u32, ..open.task });
            plan.extend_from_slice(&open.limits);
        }
        let task_buffer = GpuVec::from_slice(gpu, "tasks", &tasks);
        let plan = GpuVec::from_slice(gpu, "plan", &plan);
        let verdicts = GpuVec::<Verdict>::new(gpu, "verdicts", tasks.len());
        // Most runs take 20 to 30 hulls; a log that was too small says how large it has to be.
        let mut n_hulls = (tasks.len() * 48 + 4096).min(self.budget.hulls);
        let hulls = loop {
            let hulls = self.scratch.hulls(gpu, n_hulls);
            let Form { queue, inspector, .. } = &mut self.forms[form];
            let params = Params { n_tasks: tasks.len() as u32, hull_capacity: n_hulls as u32, ..self.params };
            let mut buffers = unit.bound().to_vec();
            buffers.extend([task_buffer.bound("tasks"), plan.bound("plan")]);
            buffers.extend([verdicts.bound("verdicts"), hulls.bound("hulls")]);
            let needed = queue.run(gpu, inspector, params, &buffers)? as usize;
            if needed <= n_hulls {
                break hulls.read(gpu, needed)?;
            }
            if needed > self.budget.hulls {
                return Ok(None);
            }
            n_hulls = needed;
        };
        let mut results: Vec<(Verdict, Windows)> = verdicts
            .read(gpu, tasks.len())?
            .into_iter()
            .map(|verdict| {
                let n_hulls = (verdict.rows as usize).div_ceil(WINDOW_ROWS);
                (verdict, Windows { rows: verdict.rows, hulls: vec![(0, 0); n_hulls] })
            })
            .collect();
        for hull in hulls {
            let windows = results.get_mut(hull.task_ix as usize).map(|(_, windows)| &mut windows.hulls);
            if let Some(slot) = windows.and_then(|hulls| hulls.get_mut(hull.rows_ix as usize)) {
                *slot = (hull.first, hull.end);
            }
        }
        // A copy that was not made reads as zeros, but rows that were looked at have a window.
        if results.iter().any(|(_, windows)| windows.hulls.iter().any(|&(first, end)| first >= end)) {
            return Err(GpuError::Lost("the windows of some runs did not arrive".to_string()));
        }
        Ok(Some(results))
    }
}

impl TwoPass for GpuExtender {
    type Inspected = Inspected;

    fn inspect(&mut self, unit: &GpuUnit, runs: &[OneSided]) -> Result<Vec<Option<Inspected>>, GpuError> {
        self.inspect(unit, runs)
    }

    fn execute(
        &mut self,
        unit: &GpuUnit,
        runs: &[(OneSided, &Inspected)],
    ) -> Result<Vec<Option<EditScript>>, GpuError> {
        self.execute(unit, runs)
    }

    fn shrink(&mut self) -> bool {
        self.scratch = Scratch::default();
        self.budget.halve()
    }
}

fn side(verdict: &Verdict, windows: Windows) -> Side {
    Side {
        score: i64::from(verdict.score),
        rows: verdict.end_row,
        columns: verdict.end_column,
        script: EditScript::default(),
        windows,
        cells: u64::from(verdict.cells),
        truncated: verdict.status == STATUS_TRUNCATED,
    }
}

/// The kernels count cells in 32 bits.
const MOST_CELLS: u64 = 1 << 31;

pub(super) fn params(scoring: &Scoring, options: &GappedOptions) -> Params {
    let gap_first = scoring.gap_open + scoring.gap_extend;
    let reserve = u64::from((options.y_drop / scoring.gap_extend + 6) as u32);
    let memory = options.traceback_bytes.map_or(MOST_CELLS, |bytes| (bytes as u64).min(MOST_CELLS));
    Params {
        gap_open_extend: gap_first,
        gap_extend: scoring.gap_extend,
        y_drop: options.y_drop,
        row0_last: match options.y_drop - gap_first {
            left @ 0.. => (left / scoring.gap_extend) as u32 + 1,
            _ => 0,
        },
        // LASTZ's test before a row (lastz-semantics 5.10).
        cell_limit: memory.saturating_sub(7 + reserve) as u32,
        target_origin: PADDING as u32,
        query_origin: PADDING as u32,
        best_limit: BEST_LIMIT,
        max_score: ScoreClasses::new(&scoring.gapped).max_score().clamp(0, SCORE_LIMIT),
        ..Params::default()
    }
}
