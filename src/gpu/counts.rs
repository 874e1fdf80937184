//! What the extension kernels did, and which of the paper's optimisations are on.

use super::binning::N_SIZE_CLASSES;

/// What the GPU did and what it left to the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct GpuCounts {
    /// Units left to the CPU: their sequences do not fit the device's memory, or their scores its kernels.
    pub units_left: u64,
    /// Runs inspected.
    pub inspected: u64,
    /// Relaxed: runs whose script came with their score, as they end in the eager tile.
    pub eager: u64,
    /// Relaxed: cells that the inspector computed; the useful ones are among them.
    pub computed_cells: u64,
    /// Runs executed, by size class.
    pub executed: [u64; N_SIZE_CLASSES],
    /// Relaxed: parts of runs that were executed side by side.
    pub parts: u64,
    /// Runs repeated with a wider ring.
    pub widened: u64,
    /// Runs left to the CPU because a window was wider than the widest ring.
    pub too_wide: u64,
    /// Runs left to the CPU because of their length.
    pub too_long: u64,
    /// Runs left to the CPU because of their score, size or memory.
    pub out_of_range: u64,
    /// Dispatches of sweeps.
    pub dispatches: u64,
    /// Time that sweeps took on the device, as the host sees it.
    pub busy: std::time::Duration,
    /// The same for the screen.
    pub screen_busy: std::time::Duration,
}

impl std::ops::AddAssign for GpuCounts {
    fn add_assign(&mut self, other: Self) {
        self.units_left += other.units_left;
        self.inspected += other.inspected;
        self.eager += other.eager;
        self.computed_cells += other.computed_cells;
        self.executed.iter_mut().zip(other.executed).for_each(|(sum, n)| *sum += n);
        self.parts += other.parts;
        self.widened += other.widened;
        self.too_wide += other.too_wide;
        self.too_long += other.too_long;
        self.out_of_range += other.out_of_range;
        self.dispatches += other.dispatches;
        self.busy += other.busy;
        self.screen_busy += other.screen_busy;
    }
}

/// The paper's optimisations of the executor, to measure what each is worth. [`Variant`](super::variant::Variant)
/// has those of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switches {
    /// Runs of like size are executed together.
    pub bins: bool,
    /// A run is executed up to its end cell only, not up to the last one that was looked at.
    pub trims: bool,
}

impl Default for Switches {
    /// All on.
    fn default() -> Self {
        Switches { bins: true, trims: true }
    }
}
