//! Inspect all runs, execute those whose paths are wanted (paper: inspector and executor), whatever the contract.

use super::context::GpuError;
use super::unit::{GpuUnit, OneSided};
use crate::alignment::{Anchor, EditScript};
use crate::extend::side::{Direction, Side};

/// The kernels of one contract.
pub(super) trait TwoPass {
    /// What the first pass finds out about a run.
    type Inspected: AsRef<Side> + Into<Side>;

    /// Answers without scripts. `None`: left to the CPU.
    fn inspect(&mut self, unit: &GpuUnit, runs: &[OneSided]) -> Result<Vec<Option<Self::Inspected>>, GpuError>;

    /// Scripts of inspected runs. `None`: left to the CPU.
    fn execute(
        &mut self,
        unit: &GpuUnit,
        runs: &[(OneSided, &Self::Inspected)],
    ) -> Result<Vec<Option<EditScript>>, GpuError>;

    /// Gives the memory of batches back and halves those to come; `false` if they are small already.
    fn shrink(&mut self) -> bool;
}

/// Both sides of each anchor, with scripts where `wants_script` says so. `None`: left to the CPU. If the device has less
/// memory left than its budget, batches get smaller.
pub(super) fn extend_anchors<E: TwoPass>(
    engine: &mut E,
    unit: &GpuUnit,
    anchors: &[Anchor],
    wants_script: &dyn Fn(&Side, &Side) -> bool,
) -> Result<Vec<Option<(Side, Side)>>, GpuError> {
    let runs: Vec<OneSided> = anchors.iter().flat_map(both_sides).collect();
    extend_runs(engine, unit, &runs, &|engine: &mut E| engine.inspect(unit, &runs), wants_script)
}

/// Both runs of an anchor, left first.
pub(super) fn both_sides(anchor: &Anchor) -> [OneSided; 2] {
    [Direction::Left, Direction::Right].map(|direction| OneSided { anchor: *anchor, direction })
}

/// What the first pass found out about each run.
type AllInspected<E> = Vec<Option<<E as TwoPass>::Inspected>>;

/// As [`extend_anchors`], with both runs of each anchor and the first pass over them.
pub(super) fn extend_runs<E: TwoPass>(
    engine: &mut E,
    unit: &GpuUnit,
    runs: &[OneSided],
    inspect: &dyn Fn(&mut E) -> Result<AllInspected<E>, GpuError>,
    wants_script: &dyn Fn(&Side, &Side) -> bool,
) -> Result<Vec<Option<(Side, Side)>>, GpuError> {
    loop {
        match try_to_extend(engine, unit, runs, inspect, wants_script) {
            Err(GpuError::OutOfMemory(_)) if engine.shrink() => {}
            done => return done,
        }
    }
}

fn try_to_extend<E: TwoPass>(
    engine: &mut E,
    unit: &GpuUnit,
    runs: &[OneSided],
    inspect: &dyn Fn(&mut E) -> Result<AllInspected<E>, GpuError>,
    wants_script: &dyn Fn(&Side, &Side) -> bool,
) -> Result<Vec<Option<(Side, Side)>>, GpuError> {
    let inspected = inspect(engine)?;
    let mut wanted = Vec::new();
    let mut to_execute: Vec<(OneSided, &E::Inspected)> = Vec::new();
    for (ix, pair) in inspected.chunks(2).enumerate() {
        if let [Some(left), Some(right)] = pair
            && wants_script(left.as_ref(), right.as_ref())
        {
            wanted.extend([2 * ix, 2 * ix + 1]);
            to_execute.extend([(runs[2 * ix], left), (runs[2 * ix + 1], right)]);
        }
    }
    let scripts = engine.execute(unit, &to_execute)?;
    let mut sides: Vec<Option<Side>> = inspected.into_iter().map(|found| found.map(E::Inspected::into)).collect();
    for (ix, script) in wanted.into_iter().zip(scripts) {
        sides[ix] = sides[ix].take().zip(script).map(|(side, script)| Side { script, ..side });
    }
    let mut sides = sides.into_iter();
    Ok(std::iter::from_fn(|| Some(sides.next()?.zip(sides.next()?))).collect())
}
