//! The bounds of one run, row by row (lastz-semantics 5.6, 5.7).

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Arc;

use super::piece::{Flank, Piece, PieceKind, PieceRef, Placed};
use super::{AcceptedBlocks, Confiners, Index};
use crate::alignment::Anchor;
use crate::extend::side::{Direction, WINDOW_ROWS, Windows};

/// A place on a block.
#[derive(Clone, Debug)]
struct OnBlock {
    placed: Arc<Placed>,
    piece: usize,
}

impl OnBlock {
    fn new(index: &Index, confiners: &Confiners, at: PieceRef) -> Self {
        OnBlock { placed: confiners.placed(index, at.block), piece: at.piece as usize }
    }

    fn piece(&self) -> &Piece {
        &self.placed.pieces[self.piece]
    }
}

/// One moving limit of a run: where its neighbour is in the current row.
#[derive(Clone, Debug, Default)]
struct Bound {
    at: Option<OnBlock>,
    /// Column of the limit; keeps its last value when the neighbour is gone.
    column: Option<i64>,
}

impl Bound {
    fn present_column(&self) -> Option<i64> {
        self.column.filter(|_| self.at.is_some())
    }

    /// Moves on to row `row`, if its neighbour stays on its piece there. What has no neighbour stays.
    #[inline]
    fn stays(&mut self, direction: Direction, a1: i64, row: i64) -> bool {
        let (Some(at), Some(column)) = (&self.at, &mut self.column) else { return true };
        let piece = at.piece();
        let stays = match direction {
            Direction::Right => piece.e1 >= a1 + row,
            // LASTZ compares unsigned numbers here: a row before the first one counts as staying.
            Direction::Left => piece.b1 as u32 <= (a1 - row) as u32,
        };
        *column += i64::from(stays && piece.kind == PieceKind::Diagonal);
        stays
    }

    /// Whether it will be in the same column as the other in all rows to come.
    fn is_same(&self, other: &Bound) -> bool {
        match (&self.at, &other.at) {
            (Some(at), Some(other_at)) => {
                Arc::ptr_eq(&at.placed, &other_at.placed) && at.piece == other_at.piece && self.column == other.column
            }
            (None, None) => true,
            _ => false,
        }
    }
}

/// What neighbours leave of a row: its first column, its end, and the last column that prolongation may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    lo: Option<usize>,
    hi: Option<usize>,
    cap: Option<usize>,
}

impl Limits {
    /// Whether they cut nothing off a row that looked at some of the columns `first..end`. A limit at the edge itself may
    /// have made it the edge.
    fn are_outside(&self, first: usize, end: usize) -> bool {
        // The last column of prolongation is one less than `hi`, if there is one.
        self.lo.is_none_or(|lo| lo == 0 || lo < first) && self.hi.is_none_or(|hi| hi > end)
    }
}

/// A block that the sweep has reached, and where it is in the current row.
#[derive(Clone, Debug)]
struct ActiveBlock {
    at: OnBlock,
    column: i64,
}

/// The bounds of one run, advanced row by row.
#[derive(Clone, Debug)]
pub struct SideBounds<'a> {
    accepted: &'a AcceptedBlocks,
    confiners: Confiners,
    direction: Direction,
    a1: i64,
    a2: i64,
    lo_flank: Bound,
    hi_flank: Bound,
    /// Whether the anchor has a right neighbour that still bounds; the cap asks for it in both directions.
    has_right: bool,
    /// The blocks whose near ends are in the next rows up to `known_rows`, by row.
    upcoming: VecDeque<(i64, Arc<Placed>)>,
    known_rows: i64,
    active: Vec<ActiveBlock>,
}

/// Rows whose blocks are looked up at once.
const LOOK_UP_ROWS: i64 = 1024;

impl<'a> SideBounds<'a> {
    /// The bounds that blocks set to one side of an anchor, before its first row.
    pub fn new(accepted: &'a AcceptedBlocks, anchor: &Anchor, direction: Direction, confiners: &Confiners) -> Self {
        let index = accepted.read();
        let (a1, a2) = (i64::from(anchor.target), i64::from(anchor.query));
        let neighbours = index.neighbours(a1, a2, confiners, false);
        let bound = |flank| neighbours.on(flank).map(|at| OnBlock::new(&index, confiners, at));
        let column = |at: &OnBlock| {
            let piece = at.piece();
            piece.b2 - a2 - if piece.kind == PieceKind::Diagonal { piece.b1 - a1 } else { 0 }
        };
        let (left, right) = (bound(Flank::Left), bound(Flank::Right));
        let has_right = right.is_some();
        let (left_column, right_column) = (left.as_ref().map(column), right.as_ref().map(column));
        let (lo_flank, hi_flank) = match direction {
            Direction::Right => (Bound { at: left, column: left_column }, Bound { at: right, column: right_column }),
            // Mirrored, and one column further inside.
            Direction::Left => (
                Bound { at: right, column: right_column.map(|column| 1 - column) },
                Bound { at: left, column: left_column.map(|column| -column - 1) },
            ),
        };
        SideBounds {
            accepted,
            confiners: confiners.clone(),
            direction,
            a1,
            a2,
            lo_flank,
            hi_flank,
            has_right,
            upcoming: VecDeque::new(),
            known_rows: 0,
            active: Vec::new(),
        }
    }

    /// Moves on to row `row`: narrows `lo..hi`, lists masked columns in ascending order, and returns the last column
    /// that prolongation may reach. That lies past the last of `columns` if a neighbour does, in another sequence.
    pub fn enter_row(
        &mut self,
        row: usize,
        lo: &mut usize,
        hi: &mut usize,
        columns: usize,
        masked: &mut Vec<usize>,
    ) -> usize {
        let limits = self.move_flanks(row as i64);
        *lo = (*lo).max(limits.lo.unwrap_or(0));
        *hi = (*hi).min(limits.hi.unwrap_or(usize::MAX)).max(*lo);
        self.mask(row as i64, *lo, (*hi).min(columns + 1), masked);
        limits.cap.unwrap_or(columns)
    }

    /// Follows the neighbours on both sides to row `row`, the one after the last.
    fn move_flanks(&mut self, row: i64) -> Limits {
        let (lo_side, hi_side) = match self.direction {
            Direction::Right => (Flank::Left, Flank::Right),
            Direction::Left => (Flank::Right, Flank::Left),
        };
        if !self.lo_flank.stays(self.direction, self.a1, row) {
            let lo_flank = std::mem::take(&mut self.lo_flank);
            self.lo_flank = self.advance(lo_flank, row, lo_side, 1);
        }
        if !self.hi_flank.stays(self.direction, self.a1, row) {
            let hi_flank = std::mem::take(&mut self.hi_flank);
            self.hi_flank = self.advance(hi_flank, row, hi_side, -1);
        }
        let right = if self.direction == Direction::Right { &self.hi_flank } else { &self.lo_flank };
        self.has_right &= right.at.is_some();
        self.limits()
    }

    /// The limits of the current row.
    fn limits(&self) -> Limits {
        let hi = self.hi_flank.present_column();
        Limits {
            lo: self.lo_flank.present_column().map(|column| column.max(0) as usize),
            hi: hi.map(|column| column.max(0) as usize),
            cap: hi.filter(|&column| self.has_right && column > 0).map(|column| (column - 1) as usize),
        }
    }

    /// Whether the neighbours beside the anchor confine a run that looked at `windows` as `earlier` ones do: the limits
    /// of each row are the same, or too far out to matter. That includes the row after the last: its limits may be what
    /// ended the run. Both must be at their start.
    pub fn confines_as(mut self, mut earlier: SideBounds, windows: &Windows) -> bool {
        let rows = if windows.hulls.is_empty() { 0 } else { windows.rows as usize };
        let last_hull = windows.hulls.len().saturating_sub(1);
        let mut row = 1;
        while row <= rows {
            if self.is_in_step_with(&earlier) {
                return true;
            }
            // The row after the last begins with what the last one left.
            let hull = (row / WINDOW_ROWS).min(last_hull);
            let (first, end) = windows.hulls[hull];
            let last = if hull < last_hull { (hull + 1) * WINDOW_ROWS - 1 } else { rows };
            // As long as all stay on their pieces, their columns are straight lines.
            let n = (last - row + 1).min(self.straight_rows(row)).min(earlier.straight_rows(row)).max(1);
            let top = (self.move_flanks(row as i64), earlier.move_flanks(row as i64));
            let bottom = (self.glide(n - 1), earlier.glide(n - 1));
            let ends = [top, bottom];
            let are_same = ends.iter().all(|(now, before)| now == before);
            let is_outside = |limits: &Limits| limits.are_outside(first as usize, end as usize);
            if !are_same && !ends.iter().all(|(now, before)| is_outside(now) && is_outside(before)) {
                return false;
            }
            row += n;
        }
        true
    }

    /// Whether both have the same limits from here on.
    fn is_in_step_with(&self, other: &SideBounds) -> bool {
        let are_same = self.lo_flank.is_same(&other.lo_flank) && self.hi_flank.is_same(&other.hi_flank);
        are_same && self.has_right == other.has_right
    }

    /// Rows from `row` on in which both flanks stay on their pieces.
    fn straight_rows(&self, row: usize) -> usize {
        let rows = |bound: &Bound| match &bound.at {
            Some(at) => {
                let piece = at.piece();
                let left = match self.direction {
                    Direction::Right => piece.e1 - self.a1 - row as i64,
                    Direction::Left => self.a1 - row as i64 - piece.b1,
                };
                (left + 1).max(0) as usize
            }
            None => usize::MAX,
        };
        rows(&self.lo_flank).min(rows(&self.hi_flank))
    }

    /// Moves on by `rows` in which both flanks stay on their pieces.
    fn glide(&mut self, rows: usize) -> Limits {
        for bound in [&mut self.lo_flank, &mut self.hi_flank] {
            if let (Some(at), Some(column)) = (&bound.at, &mut bound.column) {
                *column += if at.piece().kind == PieceKind::Diagonal { rows as i64 } else { 0 };
            }
        }
        self.limits()
    }

    /// Follows a neighbour that leaves its piece to row `row`; the jump adds `inside` to stay off its column.
    fn advance(&self, bound: Bound, row: i64, flank: Flank, inside: i64) -> Bound {
        let Some(at) = &bound.at else { return bound };
        match self.follow(at, row, flank) {
            Some((at, column)) => Bound { at: Some(at), column: Some(column + inside) },
            None => Bound { at: None, ..bound },
        }
    }

    /// The piece after `at` in the direction of the run, or the stored neighbour at the block's end.
    fn follow(&self, at: &OnBlock, row: i64, flank: Flank) -> Option<(OnBlock, i64)> {
        if let Some((next, _)) = self.next_solid_piece(at) {
            let piece = &at.placed.pieces[next];
            let column = match self.direction {
                Direction::Right => piece.b2 - self.a2,
                Direction::Left => self.a2 - piece.e2,
            };
            return Some((OnBlock { piece: next, ..at.clone() }, column));
        }
        let jump = match self.direction {
            Direction::Right => at.placed.top.on(flank)?,
            Direction::Left => at.placed.bottom.on(flank)?,
        };
        let jump = OnBlock::new(&self.accepted.read(), &self.confiners, jump);
        let piece = jump.piece();
        let is_diagonal = piece.kind == PieceKind::Diagonal;
        let column = match self.direction {
            Direction::Right => {
                let along = if is_diagonal { row - (piece.b1 - self.a1) } else { 0 };
                along + piece.b2 - self.a2
            }
            Direction::Left => {
                let along = if is_diagonal { row - (self.a1 - piece.e1) } else { 0 };
                along + self.a2 - piece.e2
            }
        };
        Some((jump, column))
    }

    /// The next piece in the direction of the run that is not horizontal, and the horizontal one stepped over.
    fn next_solid_piece<'b>(&self, at: &'b OnBlock) -> Option<(usize, Option<&'b Piece>)> {
        let pieces = &at.placed.pieces;
        let step = |piece: usize| match self.direction {
            Direction::Right => Some(piece + 1).filter(|&next| next < pieces.len()),
            Direction::Left => piece.checked_sub(1),
        };
        let next = step(at.piece)?;
        let piece = &pieces[next];
        if piece.kind != PieceKind::Horizontal {
            return Some((next, None));
        }
        Some((step(next)?, Some(piece)))
    }

    /// Lists the columns of `lo..hi` that blocks occupy in this row (5.7).
    fn mask(&mut self, row: i64, lo: usize, hi: usize, masked: &mut Vec<usize>) {
        let limits = (lo, hi);
        let mut active = std::mem::take(&mut self.active);
        active.retain_mut(|block| self.advance_active(block, row, limits, masked));
        self.active = active;
        if row > self.known_rows {
            self.look_up();
        }
        while self.upcoming.front().is_some_and(|&(near_end, _)| near_end == row) {
            let Some((_, placed)) = self.upcoming.pop_front() else { break };
            let (piece, column) = match self.direction {
                Direction::Right => (0, placed.pieces[0].b2 - self.a2),
                Direction::Left => {
                    let last = placed.pieces.len() - 1;
                    (last, self.a2 - placed.pieces[last].e2)
                }
            };
            self.active.push(ActiveBlock { at: OnBlock { placed, piece }, column });
            add_column(column, limits, masked);
        }
        masked.sort_unstable();
        masked.dedup();
    }

    /// Finds the blocks that the sweep reaches in the rows after `known_rows`.
    fn look_up(&mut self) {
        let index = self.accepted.read();
        let rows = self.known_rows + 1..=self.known_rows + LOOK_UP_ROWS;
        let (first, last) = (*rows.start(), *rows.end());
        let mut see = |near_end: i64, block: u32| {
            if (block as usize) < self.confiners.limit() {
                self.upcoming.push_back((near_end, index.placed[block as usize].clone()));
            }
        };
        match self.direction {
            Direction::Right => {
                let starts = (self.a1 + first, Reverse(u32::MAX))..=(self.a1 + last, Reverse(0));
                index.by_start.range(starts).for_each(|&(start, Reverse(block))| see(start - self.a1, block));
            }
            Direction::Left => {
                let ends = (self.a1 - last, 0)..=(self.a1 - first, u32::MAX);
                index.by_end.range(ends).rev().for_each(|&(end, block)| see(self.a1 - end, block));
            }
        }
        let expected = self.confiners.expected.iter().map(|(_, placed)| match self.direction {
            Direction::Right => (placed.start() - self.a1, placed),
            Direction::Left => (self.a1 - placed.end(), placed),
        });
        let expected = expected.filter(|(near_end, _)| rows.contains(near_end));
        self.upcoming.extend(expected.map(|(near_end, placed)| (near_end, placed.clone())));
        if self.confiners.has_expected() {
            self.upcoming.make_contiguous().sort_by_key(|&(near_end, _)| near_end);
        }
        self.known_rows += LOOK_UP_ROWS;
    }

    /// Moves an active block to row `row` and masks its columns; `false` once the row is past its end.
    fn advance_active(
        &self,
        block: &mut ActiveBlock,
        row: i64,
        limits: (usize, usize),
        masked: &mut Vec<usize>,
    ) -> bool {
        let piece = block.at.piece();
        let last_row = match self.direction {
            Direction::Right => piece.e1 - self.a1,
            Direction::Left => self.a1 - piece.b1,
        };
        if row <= last_row {
            block.column += i64::from(piece.kind == PieceKind::Diagonal);
        } else {
            let Some((next, stepped_over)) = self.next_solid_piece(&block.at) else { return false };
            if let Some(gap) = stepped_over {
                let columns = match self.direction {
                    Direction::Right => (gap.b2 - self.a2, gap.e2 - self.a2),
                    Direction::Left => (self.a2 - gap.e2, self.a2 - gap.b2),
                };
                add_columns(columns, limits, masked);
            }
            block.at.piece = next;
            let piece = block.at.piece();
            block.column = match self.direction {
                Direction::Right => piece.b2 - self.a2,
                Direction::Left => self.a2 - piece.e2,
            };
        }
        add_column(block.column, limits, masked);
        true
    }
}

fn add_column(column: i64, (lo, hi): (usize, usize), masked: &mut Vec<usize>) {
    if (lo as i64..hi as i64).contains(&column) {
        masked.push(column as usize);
    }
}

/// LASTZ compares unsigned numbers: a range that starts left of column 0 is not masked at all.
fn add_columns((first, last): (i64, i64), (lo, hi): (usize, usize), masked: &mut Vec<usize>) {
    if first >= 0 {
        let from = first.max(lo as i64) as usize;
        let to = (last + 1).clamp(0, hi as i64) as usize;
        masked.extend(from..to.max(from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::{Block, EditOp};

    /// Whether a block on the diagonal `off` columns beside the anchor's leaves a run that looked at the columns
    /// `first..end` of 10 rows as it was without it.
    fn leaves_alone(direction: Direction, off: i64, first: u32, end: u32) -> bool {
        let anchor = Anchor { target: 100, query: 100, hsp_score: 0 };
        let script = [(EditOp::Pair, 50)].into_iter().collect();
        let accepted = AcceptedBlocks::default();
        accepted.push(&Block { target_start: 90, query_start: (90 + off) as usize, script, score: 0 });
        let windows = Windows { rows: 10, hulls: vec![(first, end)] };
        let bounds = |limit| SideBounds::new(&accepted, &anchor, direction, &Confiners::before(limit));
        bounds(1).confines_as(bounds(0), &windows)
    }

    // To the right the neighbour is in column off + row: right of the window it is nearest in row 1, left of it in row 10,
    // which is the row after the last. To the left it is mirrored, and one column further inside.
    #[test]
    fn limits_matter_from_the_edge_of_the_window_on() {
        let to_the_right = |off, first, end| leaves_alone(Direction::Right, off, first, end);
        assert!(to_the_right(20, 0, 20) && !to_the_right(20, 0, 21));
        assert!(to_the_right(-4, 7, 20) && !to_the_right(-4, 6, 20));
        assert!(to_the_right(-10, 0, 20) && !to_the_right(-9, 0, 20));
        let to_the_left = |off, first, end| leaves_alone(Direction::Left, off, first, end);
        assert!(to_the_left(-20, 0, 19) && !to_the_left(-20, 0, 20));
        assert!(to_the_left(4, 8, 20) && !to_the_left(4, 7, 20));
    }
}
