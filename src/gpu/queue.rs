//! Dispatches of a queue of runs. Each stays short, so that no watchdog ends it: runs that are not through are kept on
//! the device and go on in the next dispatch.

use std::time::{Duration, Instant};

use super::buffer::GpuVec;
use super::context::{Gpu, GpuError};
use super::kernel::{Bound, Kernel};
use super::layout::{COUNTER_FINISHED, COUNTER_HULLS, COUNTER_ROWS, COUNTER_WRONG_WIDTH, N_COUNTERS, Params};
use super::variant::Variant;

/// A dispatch shorter than this gets more rows next time ...
const SHORT: Duration = Duration::from_millis(100);
/// ... and one longer than this fewer. The strictest watchdogs end a dispatch after about 2 s.
const LONG: Duration = Duration::from_millis(400);
/// Rows per workgroup of the first dispatch.
const FIRST_ROWS: u32 = 1 << 14;

/// Device memory of a queue: counters and the runs that are under way.
#[derive(Debug)]
pub struct RunQueue {
    counters: GpuVec<u32>,
    saved: GpuVec<u32>,
    params: GpuVec<Params>,
    workgroups: u32,
    row_budget: u32,
    /// Dispatches so far.
    pub dispatches: u64,
}

impl RunQueue {
    /// A queue for kernels of this form, with as many resident runs as the device keeps busy with.
    pub fn new(gpu: &Gpu, variant: &Variant) -> RunQueue {
        let capabilities = gpu.capabilities();
        let resident = if capabilities.is_software {
            2 * std::thread::available_parallelism().map_or(4, |n| n.get() as u32)
        } else {
            // Measured on an H200: more workgroups bring nothing.
            2112
        };
        let most = capabilities.max_binding / 4 / u64::from(variant.saved_words());
        let workgroups = resident.min(most as u32).max(1);
        RunQueue {
            counters: GpuVec::new(gpu, "counters", N_COUNTERS as usize),
            saved: GpuVec::new(gpu, "saved", (workgroups * variant.saved_words()) as usize),
            params: GpuVec::uniform(gpu, "params", &Params::default()),
            workgroups,
            row_budget: FIRST_ROWS,
            dispatches: 0,
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
        self.saved.clear(gpu);
        let mut all = buffers.to_vec();
        all.extend([self.counters.bound("counters"), self.saved.bound("saved"), self.params.bound("params")]);
        let workgroups = self.workgroups.min(params.n_tasks);
        let mut rows_before = 0;
        loop {
            self.params.write(gpu, &[Params { row_budget: self.row_budget, ..params }]);
            let start = Instant::now();
            kernel.run(gpu, workgroups, &all);
            self.dispatches += 1;
            let counters = self.counters.read(gpu, N_COUNTERS as usize)?;
            let elapsed = start.elapsed();
            if counters[COUNTER_WRONG_WIDTH as usize] != 0 {
                let width = counters[COUNTER_WRONG_WIDTH as usize];
                return Err(GpuError::Lost(format!("the driver ran a kernel with subgroups of {width} lanes")));
            }
            // A killed command buffer may be reported as a success: only the kernel's own count says that it ran.
            let finished = counters[COUNTER_FINISHED as usize];
            if finished == params.n_tasks {
                return Ok(counters[COUNTER_HULLS as usize]);
            }
            let rows = counters[COUNTER_ROWS as usize];
            if finished > params.n_tasks || rows == rows_before {
                return Err(GpuError::Lost(format!("a dispatch stopped with {finished} of {} runs done", params.n_tasks)));
            }
            rows_before = rows;
            if elapsed < SHORT {
                self.row_budget = self.row_budget.saturating_mul(2).min(1 << 28);
            } else if elapsed > LONG {
                self.row_budget = (self.row_budget / 2).max(64);
            }
        }
    }
}
