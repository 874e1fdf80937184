//! The extension of one anchor: both sides joined, and whether it still holds when its turn comes.

use super::bounds::piece::Neighbours;
use super::bounds::reach::rows_reached;
use super::bounds::{AcceptedBlocks, SideBounds};
use super::commit::GappedStage;
use super::side::{Direction, Side, Windows};
use super::stitch::stitch;
use crate::alignment::{Anchor, Block};

/// A one-sided run that the traceback memory cut short (5.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Where the extension began.
    pub anchor: Anchor,
    /// Which side was cut.
    pub direction: Direction,
    /// Array positions of the last pair, target and query.
    pub end: (usize, usize),
}

/// LASTZ's words: the end is 1-based, the anchor 0-based.
impl std::fmt::Display for Truncation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verb = if self.direction == Direction::Left { "starting" } else { "ending" };
        let (target, query) = (self.end.0 + 1, self.end.1 + 1);
        let Anchor { target: a1, query: a2, .. } = self.anchor;
        write!(f, "truncating alignment {verb} at ({target},{query});  anchor at ({a1},{a2})")
    }
}

/// Target rows and query columns that both sides looked at, inclusive, array positions with a margin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Explored {
    pub rows: (i64, i64),
    pub columns: (i64, i64),
}

impl Explored {
    fn new(anchor: &Anchor, left: &Windows, right: &Windows) -> Self {
        let reach = |windows: &Windows| windows.hulls.iter().map(|hull| i64::from(hull.1)).max().unwrap_or(0) + 4;
        let column = i64::from(anchor.query);
        Explored {
            rows: (rows_reached(anchor, Direction::Left, left).0, rows_reached(anchor, Direction::Right, right).1),
            columns: (column - reach(left), column + reach(right)),
        }
    }
}

/// Both sides of an anchor, and the accepted blocks under which they are known to be right.
pub(super) struct Extension {
    /// What is to be kept, if anything is.
    pub block: Option<Block>,
    /// Cells of both sides, as LASTZ counts them.
    pub cells: u64,
    pub truncations: Vec<Truncation>,
    pub explored: Explored,
    windows: [(Direction, Windows); 2],
    /// It is what a run under the blocks before this number gives.
    holds_until: usize,
    /// The nearest pieces beside the anchor among these blocks.
    neighbours: Neighbours,
}

impl Extension {
    /// Joins the sides of an anchor that ran under the blocks before number `limit`. Sides without scripts are known
    /// to fail the threshold.
    pub fn new(
        stage: &GappedStage,
        anchor: &Anchor,
        (left, right): (Side, Side),
        has_scripts: bool,
        (accepted, limit): (&AcceptedBlocks, usize),
    ) -> Self {
        let joined = || stitch(anchor, &left, &right, stage.target, stage.query, stage.scoring);
        let sides = [(Direction::Left, &left), (Direction::Right, &right)];
        let truncation = |(direction, side): (Direction, &Side)| {
            let (rows, columns) = (side.rows as usize, side.columns as usize);
            let (a1, a2) = (anchor.target as usize, anchor.query as usize);
            let end = match direction {
                Direction::Left => (a1 + 1 - rows, a2 + 1 - columns),
                Direction::Right => (a1 + rows, a2 + columns),
            };
            side.truncated.then_some(Truncation { anchor: *anchor, direction, end })
        };
        Extension {
            block: if has_scripts { joined() } else { None }.filter(|block| stage.keeps(block)),
            cells: left.cells + right.cells,
            truncations: sides.into_iter().filter_map(truncation).collect(),
            explored: Explored::new(anchor, &left.windows, &right.windows),
            holds_until: limit,
            neighbours: accepted.neighbours(anchor, limit),
            windows: [(Direction::Left, left.windows), (Direction::Right, right.windows)],
        }
    }

    /// Whether a run under all accepted blocks gives the same result. Blocks accepted since change nothing if none of
    /// them comes near what was explored, so that no further cell is masked, and the limits left and right are where they
    /// were. These follow the nearest pieces beside the anchor and their stored neighbours, which are older.
    pub fn holds(&mut self, anchor: &Anchor, accepted: &AcceptedBlocks) -> bool {
        let (before, limit) = (self.holds_until, accepted.len());
        if before == limit {
            return true;
        }
        let is_touched =
            |from| self.windows.iter().any(|(direction, windows)| accepted.touches(anchor, *direction, windows, from));
        if is_touched(before) {
            return false;
        }
        let neighbours = accepted.neighbours(anchor, limit);
        // Where no block at all comes near, there are no limits to compare.
        if neighbours != self.neighbours && is_touched(0) {
            let are_confined_alike = self.windows.iter().all(|(direction, windows)| {
                let bounds = |limit| SideBounds::new(accepted, anchor, *direction, limit);
                bounds(limit).confines_as(bounds(before), windows)
            });
            if !are_confined_alike {
                return false;
            }
        }
        (self.holds_until, self.neighbours) = (limit, neighbours);
        true
    }

    /// Whether the block may cover `other`, which then needs no extension of its own.
    pub fn may_cover(&self, other: &Anchor) -> bool {
        let (row, column) = (i64::from(other.target), i64::from(other.query));
        let Explored { rows, columns } = self.explored;
        self.block.is_some() && (rows.0..=rows.1).contains(&row) && (columns.0..=columns.1).contains(&column)
    }
}
