//! `RelaxedExtender`: runs of the relaxed contract on the GPU, equal to [`crate::cpu::Ydrop::run_relaxed`] bit for bit.
//!
//! **inspect** sweeps every run without links, stripe by stripe (paper: inspector). Runs that end in the first 16 x 16
//! cells come back with their script (paper: eager traceback). **execute** repeats the others up to their end cell, by
//! the windows and thresholds that the inspector logged, and traces them back (paper: trimmed executor). Runs out of the
//! kernels' range come back as `None`: the CPU does them, and [`GpuCounts`] counts them.

use super::binning::size_class;
use super::buffer::GpuVec;
use super::context::{Gpu, GpuError};
use super::executor::{edit_op, trace_back};
use super::extender::{Budget, GpuCounts, Switches, params};
use super::form::room;
use super::kernel::Kernel;
use super::layout::{
    EAGER_TILE, Hull, LINKS_PER_WORD, NOT_KEPT, Params, RelaxedVerdict, STATUS_DONE, STATUS_OUT_OF_RANGE,
    STATUS_TOO_WIDE, Stripe, StripePlan, Task,
};
use super::queue::RunQueue;
use super::shaders::Shader;
use super::two_pass::{TwoPass, extend_anchors};
use super::unit::{GpuUnit, OneSided};
use super::variant::Variant;
use crate::alignment::{Anchor, EditOp, EditScript};
use crate::extend::relaxed::PRUNE_ROWS;
use crate::extend::side::Side;
use crate::options::GappedOptions;
use crate::scoring::{Matrix, Scoring};
use crate::sequence::SequenceSet;

/// Runs that a device works on at a time. Measured on an H200 with the screen, whose sweep is alike.
const RESIDENT_RUNS: u32 = 4224;

/// Runs one-sided extensions of the relaxed contract on a GPU.
pub struct RelaxedExtender {
    gpu: Gpu,
    variant: Variant,
    inspector: Kernel,
    executor: Kernel,
    traceback: Kernel,
    queue: RunQueue,
    log: Option<GpuVec<Stripe>>,
    kept: KeptRows,
    links: Option<GpuVec<u32>>,
    params: Params,
    matrix: Matrix,
    budget: Budget,
    switches: Switches,
    counts: GpuCounts,
}

/// Rows from which the executor can begin, on the device.
#[derive(Default)]
struct KeptRows {
    /// C and D of each column.
    rows: Option<GpuVec<[i32; 2]>>,
    used: u32,
    /// Number of the inspection whose rows they are: each one overwrites those of the one before.
    inspection: u64,
}

/// What the inspector found out about a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InspectedRelaxed {
    /// The answer; with its script if `is_eager`.
    pub side: Side,
    /// Whether the end lies in the eager tile, so that the executor has nothing to do.
    pub is_eager: bool,
    /// Windows and thresholds of the stripes to execute.
    stripes: Vec<Stripe>,
    /// The inspection that kept its rows.
    inspection: u64,
}

impl AsRef<Side> for InspectedRelaxed {
    fn as_ref(&self) -> &Side {
        &self.side
    }
}

impl From<InspectedRelaxed> for Side {
    fn from(inspected: InspectedRelaxed) -> Side {
        inspected.side
    }
}

/// A run whose links have their place.
struct Planned {
    run_ix: usize,
    task: Task,
    stripes: Vec<StripePlan>,
    link_words: u64,
    /// First and last rows of the parts that begin with a kept row, or the first.
    parts: Vec<(u32, u32)>,
}

impl RelaxedExtender {
    /// Most runs that a device works on at a time.
    pub const RESIDENT_RUNS: u32 = RESIDENT_RUNS;

    /// Compiles the kernels for these scores and limits;
    /// [`reason_against`](super::GpuExtender::reason_against) must be `None`.
    pub fn new(gpu: Gpu, scoring: &Scoring, options: &GappedOptions) -> Result<RelaxedExtender, GpuError> {
        let variant = Variant::for_stripes(gpu.capabilities());
        Self::with_variant(gpu, variant, scoring, options)
    }

    /// As [`new`](Self::new), with a given form of the kernels.
    ///
    /// # Panics
    /// If the kernels do not have this form ([`Variant::is_relaxed`]).
    pub fn with_variant(
        gpu: Gpu,
        variant: Variant,
        scoring: &Scoring,
        options: &GappedOptions,
    ) -> Result<RelaxedExtender, GpuError> {
        assert!(variant.is_relaxed(), "{variant} has no stripes of the relaxed contract");
        // Drivers take seconds for a kernel: compile them side by side.
        let compile = |shader| {
            let gpu = &gpu;
            move || Kernel::new(gpu, shader, &variant)
        };
        let [inspector, executor, traceback] = std::thread::scope(|scope| {
            [Shader::RelaxedInspector, Shader::RelaxedExecutor, Shader::RelaxedTraceback]
                .map(|shader| scope.spawn(compile(shader)))
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let budget = Budget::for_device(&gpu);
        // The log has stripes where that of the exact kernels has hulls.
        let hulls = (budget.hulls * size_of::<Hull>() / size_of::<Stripe>()).max(1);
        Ok(RelaxedExtender {
            inspector: inspector?,
            executor: executor?,
            traceback: traceback?,
            queue: RunQueue::new(&gpu, RESIDENT_RUNS, "boundary", 2 * variant.relaxed_memory()),
            log: None,
            kept: KeptRows::default(),
            links: None,
            params: params(scoring, options),
            matrix: scoring.gapped.clone(),
            budget: Budget { hulls, ..budget },
            switches: Switches::default(),
            counts: GpuCounts::default(),
            variant,
            gpu,
        })
    }

    /// The form of the kernels.
    pub fn variant(&self) -> &Variant {
        &self.variant
    }

    /// What was done so far.
    pub fn counts(&self) -> GpuCounts {
        GpuCounts { dispatches: self.queue.dispatches, busy: self.queue.busy, ..self.counts }
    }

    /// Memory limits of batches.
    pub fn budget_mut(&mut self) -> &mut Budget {
        &mut self.budget
    }

    /// Optimisations of the executor that are on.
    pub fn switches_mut(&mut self) -> &mut Switches {
        &mut self.switches
    }

    /// Steps per workgroup and dispatch to start with, for tests of runs that go over several dispatches.
    pub fn set_step_budget(&mut self, steps: u32) {
        self.queue.set_row_budget(steps);
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

    /// Scores and ends of runs, and scripts of those that end in the eager tile. `None`: left to the CPU.
    pub fn inspect(&mut self, unit: &GpuUnit, runs: &[OneSided]) -> Result<Vec<Option<InspectedRelaxed>>, GpuError> {
        let empty = InspectedRelaxed { is_eager: true, ..InspectedRelaxed::default() };
        let mut results = vec![Some(empty); runs.len()];
        let mut open: Vec<(usize, Task)> = runs.iter().map(|run| unit.task(run)).enumerate().collect();
        // Without a base on one side the run is empty (lastz-semantics 5.1).
        open.retain(|(_, task)| task.rows > 0 && task.columns > 0);
        self.counts.inspected += open.len() as u64;
        self.kept.used = 0;
        self.kept.inspection += 1;
        let mut rest = open.as_slice();
        let mut batch_len = self.budget.tasks;
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(batch_len.min(rest.len()));
            let tasks: Vec<Task> = batch.iter().map(|(_, task)| *task).collect();
            let Some(found) = self.inspect_batch(unit, &tasks)? else {
                if batch.len() == 1 {
                    self.counts.out_of_range += 1;
                    results[batch[0].0] = None;
                    rest = later;
                }
                // Smaller batches leave more of the log to each run.
                batch_len = (batch.len() / 2).max(1);
                continue;
            };
            for ((run_ix, _), found) in batch.iter().zip(found) {
                results[*run_ix] = found;
            }
            rest = later;
        }
        Ok(results)
    }

    /// `None`: the stripes do not fit the budget.
    fn inspect_batch(
        &mut self,
        unit: &GpuUnit,
        tasks: &[Task],
    ) -> Result<Option<Vec<Option<InspectedRelaxed>>>, GpuError> {
        let gpu = &self.gpu;
        let task_buffer = GpuVec::from_slice(gpu, "tasks", tasks);
        let verdicts = GpuVec::<RelaxedVerdict>::new(gpu, "verdicts", tasks.len());
        // Most runs take less than 1,536 rows; a log that was too small says how large it has to be.
        let per_run = 1536 / (self.variant.lanes * self.variant.stripe_rows) as usize;
        let mut n_stripes = (tasks.len() * per_run + 4096).min(self.budget.hulls);
        let stripes = loop {
            let log = room(&mut self.log, gpu, "stripes", n_stripes);
            let kept_rows = room(&mut self.kept.rows, gpu, "kept rows", self.budget.kept_rows);
            let params = Params {
                n_tasks: tasks.len() as u32,
                hull_capacity: n_stripes as u32,
                kept_start: self.kept.used,
                kept_capacity: (self.budget.kept_rows as u32).saturating_sub(self.kept.used),
                ..self.params
            };
            let mut buffers = unit.bound().to_vec();
            buffers.extend([task_buffer.bound("tasks"), verdicts.bound("verdicts"), log.bound("stripes")]);
            buffers.push(kept_rows.bound("kept_rows"));
            let needed = self.queue.run(gpu, &self.inspector, params, &buffers)? as usize;
            if needed <= n_stripes {
                self.kept.used += self.queue.kept.min(params.kept_capacity);
                break log.read(gpu, needed)?;
            }
            if needed > self.budget.hulls {
                return Ok(None);
            }
            n_stripes = needed;
        };
        let verdicts = verdicts.read(gpu, tasks.len())?;
        let mut found = verdicts.iter().map(|verdict| self.inspected(verdict)).collect::<Result<Vec<_>, _>>()?;
        for stripe in stripes {
            if let Some(InspectedRelaxed { is_eager: false, stripes, .. }) = &mut found[stripe.task_ix as usize]
                && let Some(place) = stripes.get_mut(stripe.stripe_ix as usize)
            {
                *place = stripe;
            }
        }
        // A copy that was not made reads as zeros, but stripes have columns.
        let mut stripes = found.iter().flatten().flat_map(|inspected| &inspected.stripes);
        if stripes.any(|stripe| stripe.first >= stripe.end) {
            return Err(GpuError::Lost("the stripes of some runs did not arrive".to_string()));
        }
        Ok(Some(found))
    }

    fn inspected(&mut self, verdict: &RelaxedVerdict) -> Result<Option<InspectedRelaxed>, GpuError> {
        let rows_per_stripe = self.variant.lanes * self.variant.stripe_rows;
        self.counts.computed_cells += u64::from(verdict.steps) * u64::from(rows_per_stripe);
        let (rows, columns) = (verdict.end_row, verdict.end_column);
        let mut side = Side { score: i64::from(verdict.score), rows, columns, ..Side::default() };
        match verdict.status {
            // Nothing to execute: a run has no end cell but the first in row 0.
            STATUS_DONE if rows == 0 || self.variant.has_eager_tile && rows <= EAGER_TILE && columns <= EAGER_TILE => {
                self.counts.eager += 1;
                side.script = eager_script(verdict);
                Ok(Some(InspectedRelaxed { side, is_eager: true, ..InspectedRelaxed::default() }))
            }
            STATUS_DONE => {
                let n_stripes = if self.switches.trims { rows.div_ceil(rows_per_stripe) } else { verdict.stripes };
                // The log fills them in.
                let stripes = vec![Stripe::default(); n_stripes as usize];
                Ok(Some(InspectedRelaxed { side, is_eager: false, stripes, inspection: self.kept.inspection }))
            }
            STATUS_TOO_WIDE => {
                self.counts.too_wide += 1;
                Ok(None)
            }
            STATUS_OUT_OF_RANGE => {
                self.counts.out_of_range += 1;
                Ok(None)
            }
            other => Err(GpuError::Lost(format!("the relaxed inspector reported status {other}"))),
        }
    }

    /// Scripts of inspected runs, from the anchor outwards. `None`: left to the CPU.
    pub fn execute(
        &mut self,
        unit: &GpuUnit,
        runs: &[(OneSided, &InspectedRelaxed)],
    ) -> Result<Vec<Option<EditScript>>, GpuError> {
        let mut scripts: Vec<Option<EditScript>> =
            runs.iter().map(|(_, inspected)| inspected.is_eager.then(|| inspected.side.script.clone())).collect();
        let planned = self.plan(unit, runs);
        let mut rest = planned.as_slice();
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(self.budget.batch_len(rest, |plan| plan.link_words));
            let expected: Vec<&Side> = batch.iter().map(|plan| &runs[plan.run_ix].1.side).collect();
            for (plan, script) in batch.iter().zip(self.execute_batch(unit, batch, &expected)?) {
                scripts[plan.run_ix] = Some(script);
            }
            rest = later;
        }
        Ok(scripts)
    }

    /// The runs that need the device, largest first: a batch then holds runs of like size (paper: grouping by size).
    fn plan(&mut self, unit: &GpuUnit, runs: &[(OneSided, &InspectedRelaxed)]) -> Vec<Planned> {
        let mut planned = Vec::new();
        let rows_per_stripe = self.variant.lanes * self.variant.stripe_rows;
        for (run_ix, (run, inspected)) in runs.iter().enumerate().filter(|(_, (_, found))| !found.is_eager) {
            let side = &inspected.side;
            let mut link_words = 0;
            let lanes = self.variant.lanes;
            let mut task = unit.task(run);
            task.rows = task.rows.min(inspected.stripes.len() as u32 * rows_per_stripe);
            // Trimmed to the end cell: no path to it comes from beyond its row or column.
            if self.switches.trims {
                task = Task { rows: side.rows, columns: side.columns, ..task };
            }
            let n_stripes = task.rows.div_ceil(rows_per_stripe) as usize;
            let stripes = inspected.stripes[..n_stripes].iter().map(|stripe| {
                let end = stripe.end.min(task.columns + 1);
                let link_start = link_words as u32;
                // Step s has the columns first + s - lane of all lanes; steps come in turns of up to eight.
                let steps = (end - stripe.first + lanes - 1).next_multiple_of(8);
                link_words += u64::from(steps * lanes * self.variant.stripe_rows / LINKS_PER_WORD);
                // Another inspection may have overwritten the row.
                let is_kept = inspected.inspection == self.kept.inspection;
                let kept = if is_kept { stripe.kept } else { NOT_KEPT };
                let last = stripe.last.min(task.columns);
                StripePlan { first: stripe.first, end, threshold: stripe.threshold, link_start, last, kept }
            });
            let stripes: Vec<StripePlan> = stripes.collect();
            if link_words > self.budget.link_words {
                self.counts.out_of_range += 1;
                continue;
            }
            self.counts.executed[size_class(side.rows, side.columns)] += 1;
            task.stop_row = task.rows;
            let parts = self.parts(&stripes, task.rows);
            self.counts.parts += parts.len() as u64;
            planned.push(Planned { run_ix, task, stripes, link_words, parts });
        }
        if self.switches.bins {
            planned.sort_by_key(|plan| std::cmp::Reverse(plan.link_words));
        }
        planned
    }

    /// First and last rows of the parts of a run that can be executed apart.
    fn parts(&self, stripes: &[StripePlan], rows: u32) -> Vec<(u32, u32)> {
        let rows_per_stripe = self.variant.lanes * self.variant.stripe_rows;
        let starts = (0u32..).zip(stripes).filter(|(ix, stripe)| *ix == 0 || stripe.kept != NOT_KEPT);
        let firsts: Vec<u32> = starts.map(|(ix, _)| ix * rows_per_stripe + 1).collect();
        let lasts = firsts.iter().skip(1).map(|first| first - 1).chain([rows]);
        firsts.iter().copied().zip(lasts).collect()
    }

    fn execute_batch(
        &mut self,
        unit: &GpuUnit,
        batch: &[Planned],
        expected: &[&Side],
    ) -> Result<Vec<EditScript>, GpuError> {
        let gpu = &self.gpu;
        let (mut runs, mut plan, mut link_words) = (Vec::new(), Vec::<u32>::new(), 0u64);
        let mut parts: Vec<(Task, usize)> = Vec::new();
        for (ix, planned) in batch.iter().enumerate() {
            let (link_start, span_start) = (link_words as u32, plan.len() as u32);
            let run = Task { link_start, span_start, ..planned.task };
            parts.extend(planned.parts.iter().map(|&(first_row, rows)| (Task { first_row, rows, ..run }, ix)));
            runs.push(run);
            plan.extend_from_slice(bytemuck::cast_slice(&planned.stripes));
            link_words += planned.link_words;
        }
        if self.switches.bins {
            // No long one starts when the others are done.
            parts.sort_by_key(|(part, _)| std::cmp::Reverse(part.rows - part.first_row));
        }
        let tasks: Vec<Task> = parts.iter().map(|(part, _)| *part).collect();
        let tasks = GpuVec::from_slice(gpu, "tasks", &tasks);
        let runs = GpuVec::from_slice(gpu, "runs", &runs);
        let plan = GpuVec::from_slice(gpu, "plan", &plan);
        let verdicts = GpuVec::<RelaxedVerdict>::new(gpu, "verdicts", parts.len());
        let links = room(&mut self.links, gpu, "links", link_words as usize);
        let params = Params { n_tasks: parts.len() as u32, ..self.params };
        let mut buffers = unit.bound().to_vec();
        buffers.extend([tasks.bound("tasks"), plan.bound("plan"), links.bound("links")]);
        let kept_rows = room(&mut self.kept.rows, gpu, "kept rows", 1);
        buffers.extend([verdicts.bound("verdicts"), kept_rows.bound("kept_rows")]);
        self.queue.run(gpu, &self.executor, params, &buffers)?;
        for (verdict, (part, ix)) in verdicts.read(gpu, parts.len())?.iter().zip(&parts) {
            let side = expected[*ix];
            let found = (i64::from(verdict.score), verdict.end_row, verdict.end_column);
            // If nothing is trimmed, the last part need not have the end cell.
            let has_end = (part.first_row..=part.rows).contains(&side.rows);
            if has_end && found != (side.score, side.rows, side.columns) {
                let message = format!("relaxed inspector and executor differ: {part:?}, {verdict:?}, {side:?}");
                return Err(GpuError::Lost(message));
            }
        }
        let params = GpuVec::uniform(gpu, "params", &Params { n_tasks: batch.len() as u32, ..self.params });
        let mut buffers = vec![runs.bound("tasks"), plan.bound("plan"), links.bound("links")];
        buffers.push(params.bound("params"));
        trace_back(gpu, &self.traceback, &buffers, expected)
    }
}

impl TwoPass for RelaxedExtender {
    type Inspected = InspectedRelaxed;

    fn inspect(&mut self, unit: &GpuUnit, runs: &[OneSided]) -> Result<Vec<Option<InspectedRelaxed>>, GpuError> {
        self.inspect(unit, runs)
    }

    fn execute(
        &mut self,
        unit: &GpuUnit,
        runs: &[(OneSided, &InspectedRelaxed)],
    ) -> Result<Vec<Option<EditScript>>, GpuError> {
        self.execute(unit, runs)
    }

    fn shrink(&mut self) -> bool {
        (self.log, self.links) = (None, None);
        self.kept = KeptRows { inspection: self.kept.inspection + 1, ..KeptRows::default() };
        self.budget.halve()
    }
}

/// The parameters of a screen whose bounds hold for the relaxed contract, where paths may go lower between two prunings
/// ([`crate::extend::relaxed`] has the proof). Row 0 is the same.
pub(super) fn of_relaxed_screen(params: Params) -> Params {
    let gap_open = params.gap_open_extend - params.gap_extend;
    Params { y_drop: params.y_drop + gap_open + (PRUNE_ROWS as i32 - 1) * params.max_score, ..params }
}

/// The path of a run that ends in the eager tile.
fn eager_script(verdict: &RelaxedVerdict) -> EditScript {
    let mut path = u64::from(verdict.path_high) << 32 | u64::from(verdict.path_low);
    let (mut row, mut column) = (verdict.end_row, verdict.end_column);
    let mut backwards = EditScript::default();
    while row > 0 {
        let op = edit_op(path as u32);
        path >>= 2;
        backwards.push(op, 1);
        row -= u32::from(op != EditOp::Insertion);
        column = column.saturating_sub(u32::from(op != EditOp::Deletion));
    }
    backwards.push(EditOp::Insertion, column);
    backwards.reversed()
}
