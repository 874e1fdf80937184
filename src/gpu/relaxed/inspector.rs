//! The inspector of the relaxed contract: sweeps runs without links, but those of the eager tile.

use super::RelaxedExtender;
use crate::alignment::{EditOp, EditScript};
use crate::extend::side::Side;
use crate::gpu::buffer::GpuVec;
use crate::gpu::context::GpuError;
use crate::gpu::executor::edit_op;
use crate::gpu::form::room;
use crate::gpu::layout::{
    EAGER_TILE, Params, RelaxedVerdict, STATUS_DONE, STATUS_OUT_OF_RANGE, STATUS_TOO_WIDE, Stripe, Task,
};
use crate::gpu::unit::{GpuUnit, OneSided};

/// What the inspector found out about a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InspectedRelaxed {
    /// The answer; with its script if `is_eager`.
    pub side: Side,
    /// Whether the end lies in the eager tile, so that the executor has nothing to do.
    pub is_eager: bool,
    /// Windows and thresholds of the stripes to execute.
    pub(super) stripes: Vec<Stripe>,
    /// The inspection that kept its rows.
    pub(super) inspection: u64,
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

impl RelaxedExtender {
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
