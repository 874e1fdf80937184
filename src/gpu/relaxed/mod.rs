//! `RelaxedExtender`: runs of the relaxed contract on the GPU, equal to [`crate::cpu::Ydrop::run_relaxed`] bit for bit.
//!
//! **inspect** (in `inspector.rs`) sweeps every run without links, stripe by stripe (paper: inspector). Runs that end in the first 16 x 16
//! cells come back with their script (paper: eager traceback). **execute** (in `executor.rs`) repeats the others up to their end cell, by
//! the windows and thresholds that the inspector logged, and traces them back (paper: trimmed executor). Runs out of the
//! kernels' range come back as `None`: the CPU does them, and [`GpuCounts`] counts them.

mod executor;
mod inspector;

pub use inspector::InspectedRelaxed;

use super::buffer::GpuVec;
use super::context::{Gpu, GpuError};
use super::counts::{GpuCounts, Switches};
use super::extender::{Budget, params};
use super::kernel::Kernel;
use super::layout::{Hull, Params, Stripe};
use super::queue::RunQueue;
use super::shaders::Shader;
use super::two_pass::{TwoPass, extend_anchors};
use super::unit::{GpuUnit, OneSided};
use super::variant::Variant;
use crate::alignment::{Anchor, EditScript};
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
        self.gpu.staging().clear();
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
