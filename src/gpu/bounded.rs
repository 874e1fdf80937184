//! Runs that accepted blocks confine (lastz-semantics 5.6, 5.7): the host lists the limits of every row, the kernel
//! treats what lies outside as dead.

use super::context::GpuError;
use super::extender::GpuExtender;
use super::inspector::{Inspected, Open};
use super::unit::{GpuUnit, OneSided};
use crate::extend::bounds::SideBounds;

/// A run and what confines it.
#[derive(Clone, Debug)]
pub struct BoundedRun<'a> {
    /// The run.
    pub run: OneSided,
    /// The accepted blocks around it.
    pub bounds: SideBounds<'a>,
    /// Rows that it will probably look at; the limits of more are listed if it needs them.
    pub likely_rows: u32,
}

/// Words per row; twin of `ROW_LIMITS` in `shaders/common/bounded.wgsl`.
const ROW_LIMITS: usize = 4;

/// The limits of rows 1 to `rows` of a run with `columns` columns, then the masked columns of all rows.
fn limits(mut bounds: SideBounds, rows: u32, columns: u32) -> Vec<u32> {
    let mut table = Vec::with_capacity(ROW_LIMITS * (rows as usize + 1));
    let mut masks: Vec<u32> = Vec::new();
    let masks_start = ROW_LIMITS * (rows as usize + 1);
    let mut masked = Vec::new();
    for row in 1..=rows as usize {
        // The widest window: the kernel narrows it to the one that the row above opened.
        let (mut first, mut end) = (0, columns as usize + 1);
        masked.clear();
        let cap = bounds.enter_row(row, &mut first, &mut end, columns as usize, &mut masked);
        table.extend([first as u32, end as u32, cap as u32, (masks_start + masks.len()) as u32]);
        masks.extend(masked.iter().map(|&column| column as u32));
    }
    table.extend([0, 0, 0, (masks_start + masks.len()) as u32]);
    table.extend(masks);
    table
}

impl GpuExtender {
    /// As [`inspect`](Self::inspect), under the bounds of accepted blocks.
    pub fn inspect_bounded(&mut self, unit: &GpuUnit, runs: &[BoundedRun]) -> Result<Vec<Option<Inspected>>, GpuError> {
        let mut results = vec![Some(Inspected::empty()); runs.len()];
        // Place of the run, rows whose limits are listed.
        let mut waiting: Vec<(usize, u32)> =
            runs.iter().map(|bounded| bounded.likely_rows.max(32)).enumerate().collect();
        while !waiting.is_empty() {
            let mut open = Vec::with_capacity(waiting.len());
            for &(run_ix, rows) in &waiting {
                let task = unit.task(&runs[run_ix].run);
                if task.rows > 0 && task.columns > 0 {
                    let stop_row = rows.min(task.rows);
                    let limits = limits(runs[run_ix].bounds.clone(), stop_row, task.columns);
                    open.push(Open { run_ix, task: super::layout::Task { stop_row, ..task }, limits });
                }
            }
            self.inspect_open(unit, open, &mut results)?;
            waiting.retain_mut(|(run_ix, rows)| {
                let task = unit.task(&runs[*run_ix].run);
                let looked_at = results[*run_ix].as_ref().map_or(0, |inspected| inspected.side.windows.rows);
                // It stopped where its limits end: it may go on below.
                let is_cut = *rows < task.rows && looked_at == *rows + 1;
                *rows = rows.saturating_mul(2);
                is_cut
            });
        }
        Ok(results)
    }
}
