//! Inspect all runs, execute those whose paths are wanted (paper: inspector and executor), whatever the contract.

use super::context::GpuError;
use super::unit::OneSided;
use crate::alignment::{Anchor, EditScript};
use crate::extend::side::{Direction, Side};

/// Both sides of each anchor, with scripts where `wants_script` says so. `None`: left to the CPU.
///
/// `inspect` gives answers without scripts, `execute` the scripts of inspected runs; `None` is left to the CPU there too.
pub(super) fn extend_anchors<E, I: AsRef<Side> + Into<Side>>(
    engine: &mut E,
    anchors: &[Anchor],
    wants_script: &dyn Fn(&Side, &Side) -> bool,
    inspect: impl FnOnce(&mut E, &[OneSided]) -> Result<Vec<Option<I>>, GpuError>,
    execute: impl FnOnce(&mut E, &[(OneSided, &I)]) -> Result<Vec<Option<EditScript>>, GpuError>,
) -> Result<Vec<Option<(Side, Side)>>, GpuError> {
    let sides = [Direction::Left, Direction::Right];
    let runs: Vec<OneSided> =
        anchors.iter().flat_map(|&anchor| sides.map(|direction| OneSided { anchor, direction })).collect();
    let inspected = inspect(engine, &runs)?;
    let mut wanted = Vec::new();
    let mut to_execute: Vec<(OneSided, &I)> = Vec::new();
    for (ix, pair) in inspected.chunks(2).enumerate() {
        if let [Some(left), Some(right)] = pair
            && wants_script(left.as_ref(), right.as_ref())
        {
            wanted.extend([2 * ix, 2 * ix + 1]);
            to_execute.extend([(runs[2 * ix], left), (runs[2 * ix + 1], right)]);
        }
    }
    let scripts = execute(engine, &to_execute)?;
    let mut sides: Vec<Option<Side>> = inspected.into_iter().map(|found| found.map(I::into)).collect();
    for (ix, script) in wanted.into_iter().zip(scripts) {
        sides[ix] = sides[ix].take().zip(script).map(|(side, script)| Side { script, ..side });
    }
    let mut sides = sides.into_iter();
    Ok(std::iter::from_fn(|| Some(sides.next()?.zip(sides.next()?))).collect())
}
