//! Dispatches of a queue of runs. Each stays short, so that no watchdog ends it: runs that are not through are kept on
//! the device and go on in the next dispatch.

use std::time::{Duration, Instant};

use super::buffer::GpuVec;
use super::context::{Gpu, GpuError};
use super::kernel::{Bound, Kernel};
use super::layout::{
    COUNTER_FINISHED, COUNTER_HULLS, COUNTER_KEPT, COUNTER_ROWS, COUNTER_WRONG_WIDTH, N_COUNTERS, Params,
};

/// A dispatch shorter than this gets more rows next time ...
const SHORT: Duration = Duration::from_millis(100);
/// ... and one longer than this fewer. The strictest watchdogs end a dispatch after about 2 s.
const LONG: Duration = Duration::from_millis(400);
/// Rows per workgroup of the first dispatch.
const FIRST_ROWS: u32 = 1 << 16;
/// Most rows on a software adapter: lavapipe ends loops after 65,535 turns, and a run of one row takes two.
const MOST_ROWS_IN_SOFTWARE: u32 = 1 << 14;
/// Most rows elsewhere.
const MOST_ROWS: u32 = 1 << 28;

/// Device memory of a queue: counters and the runs that are under way.
#[derive(Debug)]
pub struct RunQueue {
    counters: GpuVec<u32>,
    memory_name: &'static str,
    memory: GpuVec<u32>,
    params: GpuVec<Params>,
    workgroups: u32,
    row_budget: u32,
    most_rows: u32,
    /// Entries of kept rows that the last queue asked for.
    pub kept: u32,
    /// Dispatches so far.
    pub dispatches: u64,
    /// Time from the start of each dispatch to its counters, in all.
    pub busy: Duration,
}

impl RunQueue {
    /// A queue of up to `resident` workgroups, each with `words` words of memory in the binding `memory`. On a software
    /// adapter a few workgroups per thread are enough.
    pub fn new(gpu: &Gpu, resident: u32, memory: &'static str, words: u32) -> RunQueue {
        let capabilities = gpu.capabilities();
        let threads = std::thread::available_parallelism().map_or(4, |n| n.get() as u32);
        let resident = if capabilities.is_software { 2 * threads } else { resident };
        // A 16th of the share, so that several queues can stand side by side.
        let most_bytes = capabilities.max_binding.min(gpu.memory().for_extension() / 16);
        let most = most_bytes / 4 / u64::from(words);
        let workgroups = resident.min(most as u32).max(1);
        let most_rows = if capabilities.is_software { MOST_ROWS_IN_SOFTWARE } else { MOST_ROWS };
        RunQueue {
            counters: GpuVec::new(gpu, "counters", N_COUNTERS as usize),
            memory_name: memory,
            memory: GpuVec::new(gpu, memory, (workgroups * words) as usize),
            params: GpuVec::uniform(gpu, "params", &Params::default()),
            workgroups,
            row_budget: FIRST_ROWS.min(most_rows),
            most_rows,
            kept: 0,
            dispatches: 0,
            busy: Duration::ZERO,
        }
    }

    /// Sets the rows per workgroup and dispatch, for tests.
    pub fn set_row_budget(&mut self, rows: u32) {
        self.row_budget = rows;
    }

    /// The uniform buffer with the last queue's parameters.
    pub fn params(&self) -> &GpuVec<Params> {
        &self.params
    }

    /// Runs `kernel` until all of `params.n_tasks` tasks are finished. Returns the entries that the hull log would need.
    pub fn run(&mut self, gpu: &Gpu, kernel: &Kernel, params: Params, buffers: &[Bound]) -> Result<u32, GpuError> {
        self.counters.write(gpu, &[0; N_COUNTERS as usize]);
        self.memory.clear(gpu);
        let mut all = buffers.to_vec();
        all.extend([self.counters.bound("counters"), self.memory.bound(self.memory_name), self.params.bound("params")]);
        let workgroups = self.workgroups.min(params.n_tasks);
        let mut rows_before = 0;
        loop {
            self.params.write(gpu, &[Params { row_budget: self.row_budget, ..params }]);
            let start = Instant::now();
            kernel.run(gpu, workgroups, &all);
            self.dispatches += 1;
            let counters = self.counters.read(gpu, N_COUNTERS as usize)?;
            let elapsed = start.elapsed();
            self.busy += elapsed;
            if counters[COUNTER_WRONG_WIDTH as usize] != 0 {
                let width = counters[COUNTER_WRONG_WIDTH as usize];
                return Err(GpuError::Lost(format!("the driver ran a kernel with subgroups of {width} lanes")));
            }
            // A killed command buffer may be reported as a success: only the kernel's own count says that it ran.
            let finished = counters[COUNTER_FINISHED as usize];
            if finished == params.n_tasks {
                self.kept = counters[COUNTER_KEPT as usize];
                return Ok(counters[COUNTER_HULLS as usize]);
            }
            let rows = counters[COUNTER_ROWS as usize];
            if finished > params.n_tasks || rows == rows_before {
                return Err(GpuError::Lost(format!(
                    "a dispatch stopped with {finished} of {} runs done",
                    params.n_tasks
                )));
            }
            rows_before = rows;
            if elapsed < SHORT {
                self.row_budget = self.row_budget.saturating_mul(2).min(self.most_rows);
            } else if elapsed > LONG {
                self.row_budget = (self.row_budget / 2).max(64);
            }
        }
    }
}
