//! `GpuScreen`: upper bounds of the scores of anchors. An anchor whose bound is below the threshold can be dropped
//! before any ordering: LASTZ rejects it too, and rejected anchors leave no trace.
//!
//! The bound holds for a side under any bounds and masks of accepted blocks and any pruning. It does not hold for a
//! block whose other side is **empty**: a leading gap is then cut off and the score rises (lastz-semantics 5.5). The
//! caller sees to that (`src/extend/screened.rs`).
//!
//! A dropped anchor takes so few steps that its runs cannot reach LASTZ's traceback memory either (5.10): the screen
//! computes all cells that LASTZ looks at.

use super::buffer::GpuVec;
use super::context::{Gpu, GpuError};
use super::kernel::Kernel;
use super::layout::{Params, SideBounds, Task};
use super::queue::RunQueue;
use super::shaders::Shader;
use super::unit::{GpuUnit, OneSided};
use super::variant::Variant;
use crate::alignment::Anchor;
use crate::extend::Direction;

/// Anchors that a device works on at a time. Measured on an H200: more bring nothing.
const RESIDENT_ANCHORS: u32 = 4224;
/// Words of the boundary of a workgroup; twin of `BOUNDARY` in `shaders/common/stripe.wgsl` (two words per column).
const BOUNDARY_WORDS: u32 = 2 * 4096;
/// Steps that an anchor may take before it is passed on: about 100,000 rows of LASTZ's default window.
const STEP_LIMIT: u32 = 1 << 20;
/// The same on a software adapter: lavapipe ends loops after 65,535 turns.
const STEP_LIMIT_IN_SOFTWARE: u32 = 60_000;
/// Most anchors per batch.
const BATCH: u64 = 1 << 18;
/// Batches of so many are small already.
const SMALL_BATCH: usize = 1 << 10;

/// Screens anchors on a GPU.
pub struct GpuScreen {
    gpu: Gpu,
    kernel: Kernel,
    queue: RunQueue,
    params: Params,
    /// Anchors per batch.
    batch: usize,
}

/// What the screen says about an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screened {
    /// No block of this anchor can reach the goal, unless bounds empty one of its sides.
    Dropped {
        /// Upper bound of the left side's score.
        left: i32,
        /// Upper bound of the right side's score.
        right: i32,
    },
    /// Only the exact sweep can tell.
    Kept,
}

impl GpuScreen {
    /// Compiles the screen for the scores and limits in `params`.
    pub(super) fn new(gpu: Gpu, variant: Variant, params: Params) -> Result<GpuScreen, GpuError> {
        let most = if gpu.capabilities().is_software { STEP_LIMIT_IN_SOFTWARE } else { STEP_LIMIT };
        let step_limit = most.min(params.cell_limit / (variant.lanes * variant.stripe_rows));
        let of_anchor = 2 * size_of::<Task>() + 2 * size_of::<SideBounds>();
        Ok(GpuScreen {
            batch: (gpu.memory().for_extension() / 16 / of_anchor as u64).clamp(1, BATCH) as usize,
            kernel: Kernel::new(&gpu, Shader::Screen, &variant)?,
            queue: RunQueue::new(&gpu, RESIDENT_ANCHORS, "boundary", BOUNDARY_WORDS),
            params: Params { step_limit, ..params },
            gpu,
        })
    }

    /// Time that the screen took on the device, as the host sees it.
    pub fn busy(&self) -> std::time::Duration {
        self.queue.busy
    }

    /// Screens `anchors` for blocks that score at least `goal`. If the device has less memory left than its budget, batches
    /// get smaller.
    pub fn run(&mut self, unit: &GpuUnit, anchors: &[Anchor], goal: i64) -> Result<Vec<Screened>, GpuError> {
        let Ok(goal @ 1..) = i32::try_from(goal) else { return Ok(vec![Screened::Kept; anchors.len()]) };
        if !unit.can_be_screened {
            return Ok(vec![Screened::Kept; anchors.len()]);
        }
        let mut screened = Vec::with_capacity(anchors.len());
        while screened.len() < anchors.len() {
            let rest = &anchors[screened.len()..];
            match self.run_batch(unit, &rest[..rest.len().min(self.batch)], goal) {
                Err(GpuError::OutOfMemory(_)) if self.batch > SMALL_BATCH => self.batch /= 2,
                done => screened.extend(done?),
            }
        }
        Ok(screened)
    }

    fn run_batch(&mut self, unit: &GpuUnit, anchors: &[Anchor], goal: i32) -> Result<Vec<Screened>, GpuError> {
        let gpu = &self.gpu;
        let side = |&anchor, direction| unit.task(&OneSided { anchor, direction });
        let tasks: Vec<Task> =
            anchors.iter().flat_map(|anchor| [side(anchor, Direction::Left), side(anchor, Direction::Right)]).collect();
        let tasks = GpuVec::from_slice(gpu, "tasks", &tasks);
        let bounds = GpuVec::<SideBounds>::new(gpu, "bounds", anchors.len());
        let params = Params { n_tasks: anchors.len() as u32, goal, ..self.params };
        let mut buffers = unit.bound().to_vec();
        buffers.extend([tasks.bound("tasks"), bounds.bound("bounds")]);
        self.queue.run(gpu, &self.kernel, params, &buffers)?;
        let screened = |bounds: SideBounds| {
            let SideBounds { left, right, is_done } = bounds;
            // A copy that was not made reads as zeros.
            if is_done != 1 {
                return Err(GpuError::Lost("the bounds of some anchors did not arrive".to_string()));
            }
            // NO_BOUND makes the sum reach any goal.
            let is_kept = i64::from(left) + i64::from(right) >= i64::from(goal);
            Ok(if is_kept { Screened::Kept } else { Screened::Dropped { left, right } })
        };
        bounds.read(gpu, anchors.len())?.into_iter().map(screened).collect()
    }
}
