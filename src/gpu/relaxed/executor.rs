//! The executor of the relaxed contract: repeats inspected runs with links in memory, and traces their paths back.

use super::{InspectedRelaxed, RelaxedExtender};
use crate::alignment::EditScript;
use crate::extend::side::Side;
use crate::gpu::binning::size_class;
use crate::gpu::buffer::GpuVec;
use crate::gpu::context::GpuError;
use crate::gpu::executor::trace_back;
use crate::gpu::form::room;
use crate::gpu::layout::{LINKS_PER_WORD, NOT_KEPT, Params, RelaxedVerdict, StripePlan, Task};
use crate::gpu::unit::{GpuUnit, OneSided};

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
