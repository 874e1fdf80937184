//! Whether accepted blocks come near what a side explored (lastz-semantics 11a).

use super::piece::{Piece, PieceKind, Placed};
use super::{AcceptedBlocks, BIN_SHIFT, Confiners, Index};
use crate::alignment::Anchor;
use crate::extend::side::{Direction, WINDOW_ROWS, Windows};

/// Margin of [`AcceptedBlocks::touches`] in columns and rows: covers LASTZ's off-by-one habits.
const MARGIN: i64 = 3;

/// Target rows that a side explored, inclusive, with a margin: what a block outside of them cannot touch.
pub fn rows_reached(anchor: &Anchor, direction: Direction, windows: &Windows) -> (i64, i64) {
    let (anchor, reach) = (i64::from(anchor.target), i64::from(windows.rows));
    match direction {
        Direction::Right => (anchor - MARGIN, anchor + reach + MARGIN),
        Direction::Left => (anchor - reach - MARGIN, anchor + MARGIN),
    }
}

/// Query columns that a side explored, likewise.
pub fn columns_reached(anchor: &Anchor, direction: Direction, windows: &Windows) -> (i64, i64) {
    let reach = windows.hulls.iter().map(|hull| i64::from(hull.1)).max().unwrap_or(0);
    let anchor = i64::from(anchor.query);
    match direction {
        Direction::Right => (anchor - MARGIN, anchor + reach + MARGIN),
        Direction::Left => (anchor - reach - MARGIN, anchor + MARGIN),
    }
}

/// A run without bounds looks at so many rows and columns beside its anchor at least, with usual scores.
const LEAST_LOOK: i64 = 250;

impl AcceptedBlocks {
    /// Whether a block lies so near an anchor that a run without bounds will probably touch it.
    pub fn is_near(&self, anchor: &Anchor) -> bool {
        let (row, column) = (i64::from(anchor.target), i64::from(anchor.query));
        let rows = (row - LEAST_LOOK, row + LEAST_LOOK);
        let columns = (column - 2 * LEAST_LOOK, column + 2 * LEAST_LOOK);
        self.read().meeting(rows, columns, 0).any(|(_, placed)| {
            let nearest = row.clamp(placed.start(), placed.end());
            let on_diagonal = column + nearest - row;
            placed.pieces[placed.piece_at(nearest) as usize].offset(nearest, on_diagonal).abs() <= LEAST_LOOK
        })
    }

    /// Whether some block numbered `from` or later comes within reach of what a side explored, so that its result may
    /// not be what a bounded run gives (11a).
    pub fn touches(&self, anchor: &Anchor, direction: Direction, windows: &Windows, from: usize) -> bool {
        let rows = rows_reached(anchor, direction, windows);
        let columns = columns_reached(anchor, direction, windows);
        self.read().meeting(rows, columns, from).any(|(_, placed)| placed.touches(anchor, direction, windows))
    }

    /// What became of the expected blocks that come near what sides of an anchor explored.
    pub(in crate::extend) fn expectation(
        &self,
        anchor: &Anchor,
        sides: &[(Direction, Windows)],
        confiners: &Confiners,
    ) -> Expectation {
        let index = self.read();
        let mut came: Vec<u32> = Vec::new();
        for (direction, windows) in sides {
            let rows = rows_reached(anchor, *direction, windows);
            let columns = columns_reached(anchor, *direction, windows);
            let near = index.meeting(rows, columns, confiners.limit);
            let near = near.filter(|(_, placed)| placed.touches(anchor, *direction, windows));
            came.extend(near.map(|(number, _)| number));
        }
        came.sort_unstable();
        came.dedup();
        let is_near = |placed: &Placed| sides.iter().any(|(d, windows)| placed.touches(anchor, *d, windows));
        let mut expected = confiners.expected.iter().map(|(_, placed)| placed).filter(|placed| is_near(placed));
        let is_next = |&number: &u32| {
            expected.next().is_some_and(|expected| expected.pieces == index.placed[number as usize].pieces)
        };
        match came.iter().all(is_next) {
            false => Expectation::Failed,
            true if expected.next().is_some() => Expectation::Open,
            true => Expectation::Met,
        }
    }
}

/// What became of expected blocks.
pub(in crate::extend) enum Expectation {
    /// They were accepted, one after the other, and no others.
    Met,
    /// Those accepted are the first of them.
    Open,
    /// Another block was accepted.
    Failed,
}

impl Index {
    /// Blocks numbered `from` or later whose extent has a row in common with `rows` and a column with `columns`.
    fn meeting(&self, rows: (i64, i64), columns: (i64, i64), from: usize) -> impl Iterator<Item = (u32, &Placed)> {
        let bins = (rows.0.max(0) >> BIN_SHIFT) as usize..=(rows.1.max(0) >> BIN_SHIFT) as usize;
        let bins = self.bins.iter().enumerate().take(bins.end() + 1).skip(*bins.start());
        bins.flat_map(move |(bin, extents)| {
            let new = extents.partition_point(|extent| (extent.block as usize) < from);
            extents[new..].iter().map(move |extent| (bin, extent))
        })
        // A block that meets several bins counts in the first of them.
        .filter(move |&(bin, extent)| {
            let (start, end) = (i64::from(extent.rows.0), i64::from(extent.rows.1));
            let (first, last) = (i64::from(extent.columns.0), i64::from(extent.columns.1));
            let first_bin = (start.max(rows.0).max(0) >> BIN_SHIFT) as usize;
            first <= columns.1 && last >= columns.0 && start <= rows.1 && end >= rows.0 && first_bin == bin
        })
        .map(|(_, extent)| (extent.block, &*self.placed[extent.block as usize]))
    }
}

impl Placed {
    pub(super) fn touches(&self, anchor: &Anchor, direction: Direction, windows: &Windows) -> bool {
        if windows.hulls.is_empty() {
            // At the end of a sequence: there is nothing to explore, whatever was accepted.
            return false;
        }
        let (a1, a2) = (i64::from(anchor.target), i64::from(anchor.query));
        let last_row = i64::from(windows.rows) - 1 + MARGIN;
        let relative = |row: i64, column: i64| match direction {
            Direction::Right => (row - a1, column - a2),
            Direction::Left => (a1 - row, a2 - column),
        };
        let step = |piece: &Piece, by: i64| Piece {
            kind: PieceKind::Diagonal,
            b1: if by < 0 { piece.b1 - 1 } else { piece.e1 + 1 },
            e1: if by < 0 { piece.b1 - 1 } else { piece.e1 + 1 },
            b2: if by < 0 { piece.b2 - 1 } else { piece.e2 + 1 },
            e2: if by < 0 { piece.b2 - 1 } else { piece.e2 + 1 },
        };
        let (first, last) = (&self.pieces[0], &self.pieces[self.pieces.len() - 1]);
        let ends = [step(first, -1), step(last, 1)];
        let (low, high) = match direction {
            Direction::Right => (a1, a1 + last_row),
            Direction::Left => (a1 - last_row, a1),
        };
        let begin = self.pieces.partition_point(|piece| piece.e1.max(piece.b1) < low);
        let inside = self.pieces[begin..].iter().take_while(|piece| piece.b1 <= high);
        inside.chain(&ends).any(|piece| {
            let (from, to) = (relative(piece.b1, piece.b2), relative(piece.e1.max(piece.b1), piece.e2.max(piece.b2)));
            let rows = (from.0.min(to.0).max(0), from.0.max(to.0).min(last_row));
            if rows.0 > rows.1 {
                return false;
            }
            // Columns in a range of rows: a diagonal moves with the row, the others span their columns.
            let columns = |top: i64, bottom: i64| match piece.kind {
                PieceKind::Diagonal => (from.1 + top - from.0, from.1 + bottom - from.0),
                _ => (from.1.min(to.1), from.1.max(to.1)),
            };
            let rows_per_hull = WINDOW_ROWS as i64;
            let hulls = windows.hulls.len() as i64;
            (rows.0 / rows_per_hull..=rows.1 / rows_per_hull).any(|i| {
                let hull = windows.hulls[i.min(hulls - 1) as usize];
                let top = rows.0.max(i * rows_per_hull);
                let bottom = rows.1.min((i + 1) * rows_per_hull - 1);
                let (left, right) = columns(top, bottom);
                right >= i64::from(hull.0) - MARGIN && left <= i64::from(hull.1) + MARGIN
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::{Block, EditOp, EditScript};

    #[test]
    fn blocks_beside_an_anchor_are_near() {
        let script = EditScript::from_iter([(EditOp::Pair, 100), (EditOp::Insertion, 1000), (EditOp::Pair, 100)]);
        let accepted = AcceptedBlocks::default();
        accepted.push(&Block { target_start: 5000, query_start: 8000, script, score: 3000 });
        let is_near = |target, query| accepted.is_near(&Anchor { target, query, hsp_score: 0 });
        // Rows and columns off its first pair, (5000, 8000), and off its last, (5199, 9199).
        assert!(is_near(5000 - 250, 8000 - 250) && !is_near(5000 - 251, 8000 - 251));
        assert!(is_near(5050, 8050 - 250) && !is_near(5050, 8050 - 251));
        assert!(is_near(5199 + 250, 9199 + 250 + 250) && !is_near(5199 + 250, 9199 + 250 + 251));
        assert!(!is_near(5050, 9500), "within its extent, and far from its pairs");
    }
}
