//! The executor: repeats inspected runs up to their end row with links in memory, and traces their paths back.

use super::binning::{size_class, spans};
use super::buffer::GpuVec;
use super::context::{Gpu, GpuError};
use super::extender::GpuExtender;
use super::form::Form;
use super::inspector::Inspected;
use super::kernel::{Bound, Kernel};
use super::layout::{
    LINK_DELETION, LINK_PAIR, LINK_SOURCE, Params, Script, Span, TRACEBACK_LANES, TRACEBACK_STEPS, Task, Verdict,
};
use super::parts::in_parts;
use super::unit::{GpuUnit, OneSided};
use crate::alignment::{EditOp, EditScript};
use crate::extend::side::Side;

/// A run whose links have their place.
struct Planned<'a> {
    run_ix: usize,
    task: Task,
    spans: Vec<Span>,
    limits: &'a [u32],
    link_words: u64,
}

impl GpuExtender {
    /// Scripts of inspected runs, from the anchor outwards. `None`: left to the CPU.
    pub fn execute(
        &mut self,
        unit: &GpuUnit,
        runs: &[(OneSided, &Inspected)],
    ) -> Result<Vec<Option<EditScript>>, GpuError> {
        let mut scripts: Vec<Option<EditScript>> = vec![None; runs.len()];
        for form in 0..self.forms.len() {
            let planned = self.plan(form, unit, runs, &mut scripts);
            let mut rest = planned.as_slice();
            while !rest.is_empty() {
                let (batch, later) = rest.split_at(self.budget.batch_len(rest, |plan| plan.link_words));
                let expected: Vec<&Side> = batch.iter().map(|plan| &runs[plan.run_ix].1.side).collect();
                let found = self.execute_batch(form, unit, batch, &expected)?;
                for (plan, script) in batch.iter().zip(found) {
                    scripts[plan.run_ix] = Some(script);
                }
                rest = later;
            }
        }
        Ok(scripts)
    }

    /// The runs of one form that need the device, largest first: a batch then holds runs of like size, and no large one
    /// starts when the others are done. Runs that end in row 0 get their scripts at once.
    fn plan<'a>(
        &mut self,
        form: usize,
        unit: &GpuUnit,
        runs: &[(OneSided, &'a Inspected)],
        scripts: &mut [Option<EditScript>],
    ) -> Vec<Planned<'a>> {
        let mut planned: Vec<Planned> = Vec::new();
        for (run_ix, &(run, Inspected { side, limits, .. })) in
            runs.iter().enumerate().filter(|(_, (_, i))| i.form == form)
        {
            if side.rows == 0 {
                scripts[run_ix] = Some(EditScript::from_iter([(EditOp::Insertion, side.columns)]));
                continue;
            }
            let last_row = if self.switches.trims { side.rows } else { side.windows.rows - 1 };
            let (spans, link_words) = spans(side, last_row, &self.forms[form].variant);
            if link_words > self.budget.link_words {
                self.counts.out_of_range += 1;
                continue;
            }
            self.counts.executed[size_class(side.rows, side.columns)] += 1;
            let task = Task { stop_row: last_row, ..unit.task(&run) };
            planned.push(Planned { run_ix, task, spans, limits, link_words });
        }
        if self.switches.bins {
            planned.sort_by_key(|plan| std::cmp::Reverse(plan.link_words));
        }
        planned
    }

    fn execute_batch(
        &mut self,
        form: usize,
        unit: &GpuUnit,
        batch: &[Planned],
        expected: &[&Side],
    ) -> Result<Vec<EditScript>, GpuError> {
        let gpu = &self.gpu;
        let (mut tasks, mut plan, mut link_words) = (Vec::new(), Vec::<u32>::new(), 0u64);
        for planned in batch {
            let (link_start, span_start) = (link_words as u32, plan.len() as u32);
            plan.extend_from_slice(bytemuck::cast_slice(&planned.spans));
            tasks.push(Task { link_start, span_start, limit_start: plan.len() as u32, ..planned.task });
            plan.extend_from_slice(planned.limits);
            link_words += planned.link_words;
        }
        let task_buffer = GpuVec::from_slice(gpu, "tasks", &tasks);
        let plan = GpuVec::from_slice(gpu, "plan", &plan);
        let verdicts = GpuVec::<Verdict>::new(gpu, "verdicts", batch.len());
        // The whole of a run was inspected within the limit.
        let params = Params { n_tasks: batch.len() as u32, cell_limit: u32::MAX, ..self.params };
        let links = self.scratch.links(gpu, link_words as usize);
        let Form { queue, kernels, .. } = &mut self.forms[form];
        let swept = [task_buffer.bound("tasks"), plan.bound("plan"), links.bound("links")];
        let mut buffers = unit.bound().to_vec();
        buffers.extend(swept);
        buffers.push(verdicts.bound("verdicts"));
        queue.run(gpu, &kernels.executor, params, &buffers)?;
        for ((verdict, side), plan) in verdicts.read(gpu, batch.len())?.iter().zip(expected).zip(batch) {
            let found = (i64::from(verdict.score), verdict.end_row, verdict.end_column);
            if found != (side.score, side.rows, side.columns) {
                return Err(GpuError::Lost(format!("inspector and executor differ: {:?}, {verdict:?}", plan.task)));
            }
        }
        let mut buffers = swept.to_vec();
        buffers.push(queue.params().bound("params"));
        trace_back(gpu, &kernels.traceback, &buffers, expected)
    }
}

/// Paths of executed runs.
pub(super) fn trace_back(
    gpu: &Gpu,
    traceback: &Kernel,
    swept: &[Bound],
    ends: &[&Side],
) -> Result<Vec<EditScript>, GpuError> {
    // Most paths have a gap every few dozen bases; if one has more, all get the room that they can need at most.
    let roomy = |side: &Side| side.rows + side.columns;
    match trace(gpu, traceback, swept, ends, |side| 16 + roomy(side) / 8)? {
        Some(scripts) => Ok(scripts),
        None => {
            let scripts = trace(gpu, traceback, swept, ends, roomy)?;
            scripts.ok_or_else(|| GpuError::Lost("a path has more columns than its ends allow".to_string()))
        }
    }
}

/// Paths of executed runs; `None` if one has more runs of columns than its capacity.
fn trace(
    gpu: &Gpu,
    traceback: &Kernel,
    swept: &[Bound],
    ends: &[&Side],
    capacity: impl Fn(&Side) -> u32,
) -> Result<Option<Vec<EditScript>>, GpuError> {
    let mut start = 0;
    let mut slots = Vec::with_capacity(ends.len());
    for side in ends {
        let capacity = capacity(side);
        slots.push(Script { start, capacity, row: side.rows, column: side.columns, ..Script::default() });
        start += capacity;
    }
    let scripts = GpuVec::from_slice(gpu, "scripts", &slots);
    let runs = GpuVec::<u32>::new(gpu, "runs", start as usize);
    let mut buffers = swept.to_vec();
    buffers.extend([scripts.bound("scripts"), runs.bound("runs")]);
    let workgroups = (slots.len() as u32).div_ceil(TRACEBACK_LANES);
    let longest = ends.iter().map(|side| side.rows + side.columns).max().unwrap_or(0);
    for _ in 0..=longest / TRACEBACK_STEPS {
        traceback.run(gpu, workgroups, &buffers);
    }
    let slots = scripts.read(gpu, slots.len())?;
    if slots.iter().any(|slot| slot.is_done != 1) {
        return Err(GpuError::Lost("a traceback did not reach its anchor".to_string()));
    }
    let script = |runs: &[u32], slot: &Script| {
        let words = runs.get(slot.start as usize..)?.get(..slot.n_runs as usize)?;
        (slot.n_runs <= slot.capacity).then(|| words.iter().rev().map(|&word| edit_run(word)).collect())
    };
    let scripts: Option<Vec<EditScript>> = runs.read_with(gpu, start as usize, |runs| {
        let scripts = |_, slots: &[Script]| slots.iter().map(|slot| script(runs, slot)).collect::<Vec<_>>();
        in_parts(&slots, MANY_SCRIPTS, scripts).into_iter().flatten().collect()
    })?;
    let leads_to_end = |(script, side): (&EditScript, &&Side)| {
        (script.target_len(), script.query_len()) == (side.rows as usize, side.columns as usize)
    };
    match &scripts {
        Some(scripts) if !scripts.iter().zip(ends).all(leads_to_end) => {
            Err(GpuError::Lost("a path does not lead from its anchor to its end".to_string()))
        }
        _ => Ok(scripts),
    }
}

/// So many that a thread for them pays.
const MANY_SCRIPTS: usize = 1024;

fn edit_run(word: u32) -> (EditOp, u32) {
    (edit_op(word), word >> 2)
}

/// The column that a link's source stands for.
pub(super) fn edit_op(word: u32) -> EditOp {
    match word & LINK_SOURCE {
        LINK_PAIR => EditOp::Pair,
        LINK_DELETION => EditOp::Deletion,
        _ => EditOp::Insertion,
    }
}
