//! `GpuExtender`: one-sided runs on the GPU, equal to [`crate::cpu::Ydrop`] bit for bit.
//!
//! **inspect** sweeps every run without links: score, end cell, windows, cells. **execute** repeats the sweep of the
//! runs whose path is wanted, up to the end row, with links in memory laid out exactly by the windows, and **traces
//! back** on the device. Runs out of the kernels' range come back as `None`: the CPU does them, and [`GpuCounts`] counts.

use super::binning::{N_SIZE_CLASSES, size_class, spans};
use super::buffer::GpuVec;
use super::context::{Gpu, GpuError};
use super::kernel::Kernel;
use super::layout::{
    BEST_LIMIT, Hull, LINK_DELETION, LINK_PAIR, LINK_SOURCE, Params, SCORE_LIMIT, STATUS_DONE, STATUS_LOG_FULL,
    STATUS_OUT_OF_RANGE, STATUS_TOO_WIDE, STATUS_TRUNCATED, Script, Span, Task, Verdict,
};
use super::letters::{Letters, PADDING, Scores};
use super::queue::RunQueue;
use super::shaders::Shader;
use super::variant::Variant;
use crate::alignment::{Anchor, EditOp, EditScript};
use crate::extend::side::{Direction, Side, WINDOW_ROWS, Windows};
use crate::options::GappedOptions;
use crate::scoring::Scoring;
use crate::sequence::SequenceSet;

/// One side of one anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneSided {
    /// Where the run starts.
    pub anchor: Anchor,
    /// Which way it goes.
    pub direction: Direction,
}

/// What the GPU did and what it left to the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GpuCounts {
    /// Runs inspected.
    pub inspected: u64,
    /// Runs executed, by size class.
    pub executed: [u64; N_SIZE_CLASSES],
    /// Runs left to the CPU because a window was wider than the ring.
    pub too_wide: u64,
    /// Runs left to the CPU because of their score, size or memory.
    pub out_of_range: u64,
    /// Dispatches.
    pub dispatches: u64,
}

/// Limits of the memory that batches take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Runs per batch of the inspector.
    pub tasks: usize,
    /// Entries of the hull log.
    pub hulls: usize,
    /// Words of links per batch of the executor.
    pub link_words: u64,
}

/// A target and a query in device memory.
pub struct GpuUnit<'a> {
    target: &'a SequenceSet,
    query: &'a SequenceSet,
    target_letters: GpuVec<u32>,
    query_letters: GpuVec<u32>,
    scores: GpuVec<Scores>,
}

/// Runs one-sided extensions on a GPU.
pub struct GpuExtender {
    gpu: Gpu,
    variant: Variant,
    inspector: Kernel,
    executor: Kernel,
    traceback: Kernel,
    queue: RunQueue,
    params: Params,
    matrix: crate::scoring::Matrix,
    has_cell_limit: bool,
    budget: Budget,
    counts: GpuCounts,
}

/// Columns that a window may take: most are about twice the longest insertion that survives.
pub fn likely_window(scoring: &Scoring, y_drop: i32) -> u32 {
    let longest = y_drop.max(0) as u32 / scoring.gap_extend.max(1) as u32;
    // HOXD70 with Y = 9400: 768 columns hold all but a few in 100,000 runs (measured on random sequences).
    (longest + 1).saturating_mul(49) / 20
}

impl GpuExtender {
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
        Self::with_variant(gpu, variant, scoring, options)
    }

    /// As [`new`](Self::new), with a given form of the kernels.
    pub fn with_variant(
        gpu: Gpu,
        variant: Variant,
        scoring: &Scoring,
        options: &GappedOptions,
    ) -> Result<GpuExtender, GpuError> {
        let gap_first = scoring.gap_open + scoring.gap_extend;
        let reserve = options.y_drop / scoring.gap_extend + 6;
        // Without LASTZ's limit the 32-bit count of cells is the limit.
        let cell_limit = match options.traceback_bytes {
            Some(bytes) => (bytes as u64).min(1 << 31).saturating_sub(7 + reserve as u64) as u32,
            None => 1 << 31,
        };
        let params = Params {
            gap_open_extend: gap_first,
            gap_extend: scoring.gap_extend,
            y_drop: options.y_drop,
            row0_last: match options.y_drop - gap_first {
                left @ 0.. => (left / scoring.gap_extend) as u32 + 1,
                _ => 0,
            },
            cell_limit,
            target_origin: PADDING as u32,
            query_origin: PADDING as u32,
            best_limit: BEST_LIMIT,
            ..Params::default()
        };
        let max_binding = gpu.capabilities().max_binding;
        let is_software = gpu.capabilities().is_software;
        Ok(GpuExtender {
            inspector: Kernel::new(&gpu, Shader::ExactInspector, &variant)?,
            executor: Kernel::new(&gpu, Shader::ExactExecutor, &variant)?,
            traceback: Kernel::new(&gpu, Shader::Traceback, &variant)?,
            queue: RunQueue::new(&gpu, &variant),
            params,
            matrix: scoring.gapped.clone(),
            has_cell_limit: options.traceback_bytes.is_some_and(|bytes| bytes as u64 <= 1 << 31),
            budget: Budget {
                tasks: 1 << 17,
                hulls: (1 << 22).min(max_binding as usize / size_of::<Hull>()),
                link_words: (if is_software { 1 << 24 } else { 1 << 28 }).min(max_binding / 4),
            },
            counts: GpuCounts::default(),
            gpu,
            variant,
        })
    }

    /// The form of the kernels.
    pub fn variant(&self) -> &Variant {
        &self.variant
    }

    /// What was done so far.
    pub fn counts(&self) -> GpuCounts {
        GpuCounts { dispatches: self.queue.dispatches, ..self.counts }
    }

    /// Memory limits of batches.
    pub fn budget_mut(&mut self) -> &mut Budget {
        &mut self.budget
    }

    /// Rows per workgroup and dispatch to start with, for tests of runs that go over several dispatches.
    pub fn set_row_budget(&mut self, rows: u32) {
        self.queue.set_row_budget(rows);
    }

    /// Uploads a target and a query; the reason if the GPU cannot hold them.
    pub fn load<'a>(&self, target: &'a SequenceSet, query: &'a SequenceSet) -> Result<GpuUnit<'a>, String> {
        let letters = Letters::new(&self.matrix, &[&target.bases, &query.bases])?;
        let upload = |set: &SequenceSet, label: &str| {
            let words = letters.pack(&set.bases);
            let max = self.gpu.capabilities().max_binding;
            if words.len() as u64 * 4 > max {
                return Err(format!("{label} {} is longer than the GPU takes ({} bases)", set.file, max * 2));
            }
            Ok(GpuVec::from_slice(&self.gpu, label, &words))
        };
        Ok(GpuUnit {
            target,
            query,
            target_letters: upload(target, "target letters")?,
            query_letters: upload(query, "query letters")?,
            scores: GpuVec::uniform(&self.gpu, "scores", letters.scores()),
        })
    }

    /// Scores, ends and windows of runs, without scripts. `None`: left to the CPU.
    pub fn inspect(&mut self, unit: &GpuUnit, runs: &[OneSided]) -> Result<Vec<Option<Side>>, GpuError> {
        let mut sides: Vec<Option<Side>> = vec![Some(Side::default()); runs.len()];
        let mut open: Vec<(usize, Task)> = Vec::with_capacity(runs.len());
        for (run_ix, run) in runs.iter().enumerate() {
            let task = unit.task(run);
            // No base to align on one side: the run is empty (lastz-semantics 5.1).
            if task.rows > 0 && task.columns > 0 {
                open.push((run_ix, task));
            }
        }
        self.counts.inspected += open.len() as u64;
        let mut batch_len = self.budget.tasks;
        let mut rest = open.as_slice();
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(batch_len.min(rest.len()));
            let tasks: Vec<Task> = batch.iter().map(|(_, task)| *task).collect();
            let results = self.inspect_batch(unit, &tasks)?;
            let is_full = results.iter().any(|(verdict, _)| verdict.status == STATUS_LOG_FULL);
            if is_full && batch.len() > 1 {
                // Smaller batches leave more of the hull log to each run.
                batch_len = batch.len() / 2;
                continue;
            }
            for (&(run_ix, _), (verdict, windows)) in batch.iter().zip(results) {
                sides[run_ix] = self.side(&verdict, windows);
            }
            rest = later;
        }
        Ok(sides)
    }

    fn inspect_batch(&mut self, unit: &GpuUnit, tasks: &[Task]) -> Result<Vec<(Verdict, Windows)>, GpuError> {
        let gpu = &self.gpu;
        let task_buffer = GpuVec::from_slice(gpu, "tasks", tasks);
        let verdicts = GpuVec::<Verdict>::new(gpu, "verdicts", tasks.len());
        let hulls = GpuVec::<Hull>::new(gpu, "hulls", self.budget.hulls);
        let params = Params { n_tasks: tasks.len() as u32, hull_capacity: hulls.len() as u32, ..self.params };
        let mut buffers = unit.bound().to_vec();
        buffers.extend([task_buffer.bound("tasks"), verdicts.bound("verdicts"), hulls.bound("hulls")]);
        let n_hulls = self.queue.run(gpu, &self.inspector, params, &buffers)?;
        let verdicts = verdicts.read(gpu, tasks.len())?;
        let hulls = hulls.read(gpu, n_hulls as usize)?;
        let mut results: Vec<(Verdict, Windows)> = verdicts
            .into_iter()
            .map(|verdict| {
                let n_hulls = (verdict.rows as usize).div_ceil(WINDOW_ROWS);
                (verdict, Windows { rows: verdict.rows, hulls: vec![(0, 0); n_hulls] })
            })
            .collect();
        for hull in hulls {
            let windows = &mut results[hull.task_ix as usize].1;
            windows.hulls[hull.rows_ix as usize] = (hull.first, hull.end);
        }
        Ok(results)
    }

    fn side(&mut self, verdict: &Verdict, windows: Windows) -> Option<Side> {
        let is_truncated = verdict.status == STATUS_TRUNCATED;
        match verdict.status {
            STATUS_DONE => {}
            STATUS_TRUNCATED if self.has_cell_limit => {}
            STATUS_TOO_WIDE => {
                self.counts.too_wide += 1;
                return None;
            }
            STATUS_TRUNCATED | STATUS_OUT_OF_RANGE | STATUS_LOG_FULL => {
                self.counts.out_of_range += 1;
                return None;
            }
            other => panic!("the inspector reported status {other}"),
        }
        Some(Side {
            score: i64::from(verdict.score),
            rows: verdict.end_row,
            columns: verdict.end_column,
            script: EditScript::default(),
            windows,
            cells: u64::from(verdict.cells),
            truncated: is_truncated,
        })
    }

    /// Scripts of inspected runs, from the anchor outwards. `None`: left to the CPU.
    pub fn execute(
        &mut self,
        unit: &GpuUnit,
        inspected: &[(OneSided, &Side)],
    ) -> Result<Vec<Option<EditScript>>, GpuError> {
        let mut scripts: Vec<Option<EditScript>> = vec![Some(EditScript::default()); inspected.len()];
        let mut planned: Vec<Planned> = Vec::new();
        for (run_ix, (run, side)) in inspected.iter().enumerate() {
            if side.rows == 0 {
                scripts[run_ix].as_mut().expect("just made").push(EditOp::Insertion, side.columns);
                continue;
            }
            let (spans, link_words) = spans(side, &self.variant);
            if link_words > self.budget.link_words {
                self.counts.out_of_range += 1;
                scripts[run_ix] = None;
                continue;
            }
            self.counts.executed[size_class(side.rows, side.columns)] += 1;
            planned.push(Planned { run_ix, task: Task { stop_row: side.rows, ..unit.task(run) }, spans, link_words });
        }
        // Large runs first: a batch then holds runs of one class, and none starts when the others are done.
        planned.sort_by_key(|plan| std::cmp::Reverse(plan.link_words));
        let mut rest = planned.as_slice();
        while !rest.is_empty() {
            let mut words = 0;
            let fits = |plan: &&Planned| {
                words += plan.link_words;
                words <= self.budget.link_words
            };
            let n = rest.iter().take(self.budget.tasks).take_while(fits).count();
            let (batch, later) = rest.split_at(n);
            let expected: Vec<&Side> = batch.iter().map(|plan| inspected[plan.run_ix].1).collect();
            for (plan, script) in batch.iter().zip(self.execute_batch(unit, batch, &expected)?) {
                scripts[plan.run_ix] = Some(script);
            }
            rest = later;
        }
        Ok(scripts)
    }

    fn execute_batch(
        &mut self,
        unit: &GpuUnit,
        batch: &[Planned],
        expected: &[&Side],
    ) -> Result<Vec<EditScript>, GpuError> {
        let gpu = &self.gpu;
        let (mut tasks, mut all_spans, mut link_words) = (Vec::new(), Vec::new(), 0u64);
        for plan in batch {
            let (link_start, span_start) = (link_words as u32, all_spans.len() as u32);
            tasks.push(Task { link_start, span_start, ..plan.task });
            all_spans.extend_from_slice(&plan.spans);
            link_words += plan.link_words;
        }
        let task_buffer = GpuVec::from_slice(gpu, "tasks", &tasks);
        let span_buffer = GpuVec::<Span>::from_slice(gpu, "spans", &all_spans);
        let links = GpuVec::<u32>::new(gpu, "links", link_words as usize);
        let verdicts = GpuVec::<Verdict>::new(gpu, "verdicts", batch.len());
        // The whole of a run was inspected within the limit.
        let params = Params { n_tasks: batch.len() as u32, cell_limit: u32::MAX, ..self.params };
        let swept = [task_buffer.bound("tasks"), span_buffer.bound("spans"), links.bound("links"), verdicts.bound("verdicts")];
        let mut buffers = unit.bound().to_vec();
        buffers.extend(swept);
        self.queue.run(gpu, &self.executor, params, &buffers)?;
        for ((verdict, side), plan) in verdicts.read(gpu, batch.len())?.iter().zip(expected).zip(batch) {
            let found = (i64::from(verdict.score), verdict.end_row, verdict.end_column);
            if found != (side.score, side.rows, side.columns) {
                return Err(GpuError::Lost(format!("inspector and executor differ: {:?}, {verdict:?}", plan.task)));
            }
        }
        // Most paths have a gap every few dozen bases; one that has more gets all the room that it can need.
        let capacities = |roomy: bool| -> Vec<u32> {
            let room = |side: &&Side| if roomy { side.rows + side.columns } else { 16 + (side.rows + side.columns) / 8 };
            expected.iter().map(room).collect()
        };
        for roomy in [false, true] {
            let scripts = self.trace(&swept, &capacities(roomy))?;
            if let Some(scripts) = scripts {
                return Ok(scripts);
            }
        }
        Err(GpuError::Lost("a traceback left its window".to_string()))
    }

    /// Paths of executed runs; `None` if one has more runs of columns than its capacity.
    fn trace(
        &self,
        swept: &[super::kernel::Bound],
        capacities: &[u32],
    ) -> Result<Option<Vec<EditScript>>, GpuError> {
        let gpu = &self.gpu;
        let mut start = 0;
        let slots: Vec<Script> = capacities
            .iter()
            .map(|&capacity| {
                start += capacity;
                Script { start: start - capacity, capacity, n_runs: 0 }
            })
            .collect();
        let scripts = GpuVec::from_slice(gpu, "scripts", &slots);
        let runs = GpuVec::<u32>::new(gpu, "runs", start as usize);
        let mut buffers = swept.to_vec();
        buffers.extend([scripts.bound("scripts"), runs.bound("runs"), self.queue.params().bound("params")]);
        self.traceback.run(gpu, (slots.len() as u32).div_ceil(TRACEBACK_LANES), &buffers);
        let slots = scripts.read(gpu, slots.len())?;
        let runs = runs.read(gpu, start as usize)?;
        let script = |slot: &Script| {
            let words = runs.get(slot.start as usize..)?.get(..slot.n_runs as usize)?;
            (slot.n_runs <= slot.capacity).then(|| words.iter().rev().map(|&word| edit_run(word)).collect())
        };
        Ok(slots.iter().map(script).collect())
    }
}

/// A run whose links have their place.
struct Planned {
    run_ix: usize,
    task: Task,
    spans: Vec<Span>,
    link_words: u64,
}

/// Runs per workgroup of the traceback; twin of its WGSL constant.
const TRACEBACK_LANES: u32 = 32;

fn edit_run(word: u32) -> (EditOp, u32) {
    let op = match word & LINK_SOURCE {
        LINK_PAIR => EditOp::Pair,
        LINK_DELETION => EditOp::Deletion,
        _ => EditOp::Insertion,
    };
    (op, word >> 2)
}

impl GpuUnit<'_> {
    fn bound(&self) -> [super::kernel::Bound<'_>; 3] {
        [
            self.target_letters.bound("target_letters"),
            self.query_letters.bound("query_letters"),
            self.scores.bound("scores"),
        ]
    }

    /// The run as the kernels take it (lastz-semantics 5.1).
    fn task(&self, run: &OneSided) -> Task {
        let (target, query) = (run.anchor.target as usize, run.anchor.query as usize);
        let rows = &self.target.partition_at(target).range;
        let columns = &self.query.partition_at(query).range;
        let task = match run.direction {
            Direction::Left => Task {
                target_start: run.anchor.target,
                query_start: run.anchor.query,
                is_left: 1,
                rows: (target + 1 - rows.start) as u32,
                columns: (query + 1 - columns.start) as u32,
                ..Task::default()
            },
            Direction::Right => Task {
                target_start: run.anchor.target + 1,
                query_start: run.anchor.query + 1,
                is_left: 0,
                rows: (rows.end - target - 1) as u32,
                columns: (columns.end - query - 1) as u32,
                ..Task::default()
            },
        };
        Task { stop_row: task.rows, ..task }
    }
}
