//! The inspector: sweeps runs without links. Those whose windows are wider than the ring are repeated with a wider one.

use std::collections::HashSet;
use std::sync::Arc;

use super::buffer::GpuVec;
use super::context::GpuError;
use super::extender::GpuExtender;
use super::form::Form;
use super::layout::{Hull, Params, STATUS_DONE, STATUS_OUT_OF_RANGE, STATUS_TOO_WIDE, STATUS_TRUNCATED, Task, Verdict};
use super::parts::in_parts;
use super::unit::{GpuUnit, OneSided};
use super::variant::Variant;
use crate::alignment::EditScript;
use crate::extend::side::{Side, WINDOW_ROWS, Windows};

/// What the inspector found out about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// The answer, still without its script.
    pub side: Side,
    /// The form of the kernels that could hold its windows.
    pub(super) form: usize,
    /// What accepted blocks leave of each row; empty if there are none.
    pub(super) limits: Arc<Vec<u32>>,
}

impl Inspected {
    /// The answer of a run without a base on one side.
    pub(super) fn empty() -> Self {
        Inspected { side: Side::default(), form: 0, limits: Arc::default() }
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
    pub limits: Arc<Vec<u32>>,
}

impl GpuExtender {
    /// Scores, ends and windows of runs, without scripts. `None`: left to the CPU.
    pub fn inspect(&mut self, unit: &GpuUnit, runs: &[OneSided]) -> Result<Vec<Option<Inspected>>, GpuError> {
        let mut results = vec![Some(Inspected::empty()); runs.len()];
        let mut open: Vec<Open> = runs
            .iter()
            .enumerate()
            .map(|(run_ix, run)| (run_ix, unit.task(run)))
            .map(|(run_ix, task)| {
                let task = Task { stop_row: task.rows.min(self.most_rows), ..task };
                Open { run_ix, task, limits: Arc::default() }
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
        self.forms.push(Form::new(&self.gpu, &self.compiled, variant)?);
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
        // A log that was too small says how large it has to be, but all runs are repeated.
        let mut n_hulls = (tasks.len() * self.hulls_per_run + 4096).min(self.budget.hulls);
        let needed = loop {
            let hulls = self.scratch.hulls(gpu, n_hulls);
            let Form { queue, kernels, .. } = &mut self.forms[form];
            let params = Params { n_tasks: tasks.len() as u32, hull_capacity: n_hulls as u32, ..self.params };
            let mut buffers = unit.bound().to_vec();
            buffers.extend([task_buffer.bound("tasks"), plan.bound("plan")]);
            buffers.extend([verdicts.bound("verdicts"), hulls.bound("hulls")]);
            let needed = queue.run(gpu, &kernels.inspector, params, &buffers)? as usize;
            if needed <= n_hulls {
                break needed;
            }
            if needed > self.budget.hulls {
                return Ok(None);
            }
            n_hulls = needed;
        };
        if tasks.len() >= MANY_RUNS {
            self.hulls_per_run = self.hulls_per_run.max(needed.div_ceil(tasks.len()));
        }
        let verdicts = verdicts.read(gpu, tasks.len())?;
        let results = self.scratch.hulls(gpu, n_hulls).read_with(gpu, needed, |hulls| {
            in_parts(&verdicts, MANY_RUNS, |first, verdicts| with_windows(verdicts, first, hulls))
        })?;
        let results: Vec<(Verdict, Windows)> = results.into_iter().flatten().collect();
        // Rows that were looked at have a window.
        if results.iter().any(|(_, windows)| windows.hulls.iter().any(|&(first, end)| first >= end)) {
            return Err(GpuError::Lost("the windows of some runs did not arrive".to_string()));
        }
        Ok(Some(results))
    }
}

/// So many runs that their mean says something of others, and that a thread for their windows pays.
const MANY_RUNS: usize = 2048;

/// Verdicts with the windows that the log has for them; the first is that of task `first`.
fn with_windows(verdicts: &[Verdict], first: usize, log: &[Hull]) -> Vec<(Verdict, Windows)> {
    let empty = |verdict: &Verdict| {
        let n_hulls = (verdict.rows as usize).div_ceil(WINDOW_ROWS);
        (*verdict, Windows { rows: verdict.rows, hulls: vec![(0, 0); n_hulls] })
    };
    let mut results: Vec<(Verdict, Windows)> = verdicts.iter().map(empty).collect();
    for hull in log {
        let windows =
            results.get_mut((hull.task_ix as usize).wrapping_sub(first)).map(|(_, windows)| &mut windows.hulls);
        if let Some(slot) = windows.and_then(|hulls| hulls.get_mut(hull.rows_ix as usize)) {
            *slot = (hull.first, hull.end);
        }
    }
    results
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
