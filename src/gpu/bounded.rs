//! Runs that accepted blocks confine (lastz-semantics 5.6, 5.7): the host lists the limits of every row, the kernel
//! treats what lies outside as dead.

use std::sync::Arc;

use super::context::GpuError;
use super::extender::GpuExtender;
use super::inspector::{Inspected, Open};
use super::layout::Task;
use super::parts::in_parts;
use super::unit::{GpuUnit, OneSided};
use crate::extend::bounds::{AcceptedBlocks, Confiners, SideBounds};

/// A run that accepted blocks confine.
#[derive(Clone, Copy, Debug)]
pub struct BoundedRun<'a> {
    /// The run.
    pub run: OneSided,
    /// Rows that it will probably look at; the limits of more are listed if it needs them.
    pub likely_rows: u32,
    /// The blocks that count.
    pub confiners: &'a Confiners,
}

/// Words per row; twin of `ROW_LIMITS` in `shaders/common/bounded.wgsl`.
const ROW_LIMITS: usize = 4;
/// Runs whose limits are worth a thread.
const RUNS_PER_THREAD: usize = 64;

/// The limits of rows 1 to `rows` of a run with `columns` columns, then the masked columns of all rows; and whether some
/// row's prolongation may go past the last column.
fn limits(mut bounds: SideBounds, rows: u32, columns: u32) -> (Vec<u32>, bool) {
    let mut table = Vec::with_capacity(ROW_LIMITS * (rows as usize + 1));
    let mut masks: Vec<u32> = Vec::new();
    let masks_start = ROW_LIMITS * (rows as usize + 1);
    let mut masked = Vec::new();
    let mut passes_end = false;
    for row in 1..=rows as usize {
        // The widest window: the kernel narrows it to the one that the row above opened.
        let (mut first, mut end) = (0, columns as usize + 1);
        masked.clear();
        let cap = bounds.enter_row(row, &mut first, &mut end, columns as usize, &mut masked);
        passes_end |= cap > columns as usize;
        let cap = cap.min(columns as usize);
        table.extend([first as u32, end as u32, cap as u32, (masks_start + masks.len()) as u32]);
        masks.extend(masked.iter().map(|&column| column as u32));
    }
    table.extend([0, 0, 0, (masks_start + masks.len()) as u32]);
    table.extend(masks);
    (table, passes_end)
}

/// Runs with the [`limits`] of their rows up to the given one. Those without a base on one side are left out.
fn with_limits(
    unit: &GpuUnit,
    runs: &[BoundedRun],
    waiting: &[(usize, u32)],
    accepted: &AcceptedBlocks,
) -> Vec<(Open, bool)> {
    let open = |&(run_ix, rows): &(usize, u32)| {
        let OneSided { anchor, direction } = runs[run_ix].run;
        let task = unit.task(&runs[run_ix].run);
        (task.rows > 0 && task.columns > 0).then(|| {
            let stop_row = rows.min(task.rows);
            let bounds = SideBounds::new(accepted, &anchor, direction, runs[run_ix].confiners);
            let (limits, passes_end) = limits(bounds, stop_row, task.columns);
            (Open { run_ix, task: Task { stop_row, ..task }, limits: Arc::new(limits) }, passes_end)
        })
    };
    let opened = in_parts(waiting, RUNS_PER_THREAD, |_, part| part.iter().filter_map(open).collect::<Vec<_>>());
    opened.into_iter().flatten().collect()
}

impl GpuExtender {
    /// As [`inspect`](Self::inspect), under the bounds of accepted blocks.
    pub fn inspect_bounded(
        &mut self,
        unit: &GpuUnit,
        runs: &[BoundedRun],
        accepted: &AcceptedBlocks,
    ) -> Result<Vec<Option<Inspected>>, GpuError> {
        let mut results = vec![Some(Inspected::empty()); runs.len()];
        // Place of the run, rows whose limits are listed.
        let mut waiting = Vec::with_capacity(runs.len());
        for (run_ix, bounded) in runs.iter().enumerate() {
            if bounded.likely_rows > self.most_rows {
                self.counts.too_long += 1;
                results[run_ix] = None;
            } else {
                waiting.push((run_ix, bounded.likely_rows.max(32).min(self.most_rows)));
            }
        }
        while !waiting.is_empty() {
            let open = with_limits(unit, runs, &waiting, accepted);
            let passing = open.iter().filter(|(_, passes_end)| *passes_end).map(|(open, _)| open.run_ix);
            let passing: Vec<usize> = passing.collect();
            self.inspect_open(unit, open.into_iter().map(|(open, _)| open).collect(), &mut results)?;
            for run_ix in passing {
                let columns = unit.task(&runs[run_ix].run).columns;
                let at_end = |inspected: &Inspected| inspected.side.windows.hulls.iter().any(|hull| hull.1 > columns);
                if results[run_ix].as_ref().is_some_and(at_end) {
                    // LASTZ counts cells past the end, which the kernel does not.
                    self.counts.out_of_range += 1;
                    results[run_ix] = None;
                }
            }
            waiting.retain_mut(|(run_ix, rows)| {
                let task = unit.task(&runs[*run_ix].run);
                let looked_at = results[*run_ix].as_ref().map_or(0, |inspected| inspected.side.windows.rows);
                // It stopped where its limits end: it may go on below.
                let is_cut = *rows < task.rows && looked_at == *rows + 1;
                if is_cut && *rows == self.most_rows {
                    self.counts.too_long += 1;
                    results[*run_ix] = None;
                    return false;
                }
                *rows = rows.saturating_mul(2).min(self.most_rows);
                is_cut
            });
        }
        Ok(results)
    }
}
