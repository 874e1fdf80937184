//! Accepted blocks, and how they confine later extensions (lastz-semantics 4.3, 5.5 to 5.7).
//!
//! A block is kept as **pieces**: diagonal runs and the gaps between them, with inclusive corners `b` (begin) and `e`
//! (end), 1 = target, 2 = query:
//! ```text
//! diagonal   b1..=e1 and b2..=e2 move together
//! V          target only: b1..=e1 in the column b2, e2 = b2 - 1
//! H          query only:  b2..=e2 between two rows,  e1 = b1 - 1
//! ```
//! Columns of a bound are relative to the anchor of the run that is bounded. LASTZ's off-by-one habits are kept and
//! marked: the bound starts on the neighbour's column and is one further inside later; a run to the left tests
//! positions one grid step early.

use std::cmp::Reverse;

use super::side::{Direction, Windows};
use crate::alignment::{Anchor, Block, EditOp};

/// A candidate for the nearest neighbour, by what decides first, and its piece.
type Nearest = (i64, i64, Reverse<u32>, PieceRef);

/// Kind of a piece of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PieceKind {
    Diagonal,
    Vertical,
    Horizontal,
}

/// A straight part of a block, corners inclusive.
#[derive(Clone, Copy, Debug)]
struct Piece {
    kind: PieceKind,
    b1: i64,
    b2: i64,
    e1: i64,
    e2: i64,
}

impl Piece {
    /// Columns from query position `query` to the piece, in row `target`.
    fn offset(&self, target: i64, query: i64) -> i64 {
        match self.kind {
            PieceKind::Diagonal => self.b2 - query + target - self.b1,
            _ => self.b2 - query,
        }
    }
}

/// A piece of an accepted block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PieceRef {
    block: u32,
    piece: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flank {
    Left,
    Right,
}

/// Nearest pieces left and right of a point.
#[derive(Clone, Copy, Debug, Default)]
struct Neighbours {
    left: Option<PieceRef>,
    right: Option<PieceRef>,
}

impl Neighbours {
    fn on(&self, flank: Flank) -> Option<PieceRef> {
        match flank {
            Flank::Left => self.left,
            Flank::Right => self.right,
        }
    }
}

#[derive(Clone, Debug)]
struct Placed {
    pieces: Vec<Piece>,
    /// Neighbours of its first and of its last point among the blocks accepted before it.
    bottom: Neighbours,
    top: Neighbours,
}

impl Placed {
    fn start(&self) -> i64 {
        self.pieces[0].b1
    }

    fn end(&self) -> i64 {
        self.pieces[self.pieces.len() - 1].e1
    }

    /// The first piece that reaches row `row`.
    fn piece_at(&self, row: i64) -> u32 {
        self.pieces.partition_point(|piece| piece.e1 < row) as u32
    }

    /// As [`piece_at`](Self::piece_at), but not a horizontal one; `None` past the end.
    fn solid_piece_at(&self, row: i64) -> Option<u32> {
        let first = self.piece_at(row) as usize;
        let solid = self.pieces[first..].iter().position(|piece| piece.kind != PieceKind::Horizontal)?;
        Some((first + solid) as u32)
    }
}

/// Rows per bin of the index of blocks by row, as a power of two.
const BIN_SHIFT: u32 = 13;

/// The accepted blocks of one unit (target x query sequence x strand), indexed for the questions that extension asks.
#[derive(Clone, Debug, Default)]
pub struct AcceptedBlocks {
    placed: Vec<Placed>,
    /// Block numbers by start row; among equals the newest first. This is also the order of the output (6.1).
    by_start: Vec<u32>,
    /// Block numbers by end row, descending; among equals the newest first.
    by_end: Vec<u32>,
    /// Blocks that meet each bin of rows.
    bins: Vec<Vec<u32>>,
}

impl AcceptedBlocks {
    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.placed.len()
    }

    /// Whether no block was accepted yet.
    pub fn is_empty(&self) -> bool {
        self.placed.is_empty()
    }

    /// Block numbers (in order of acceptance) in LASTZ's output order: by target start, equals newest first.
    pub fn output_order(&self) -> &[u32] {
        &self.by_start
    }

    /// Accepts a block.
    pub fn push(&mut self, block: &Block) {
        let pieces = pieces_of(block);
        let (first, last) = (pieces[0], pieces[pieces.len() - 1]);
        let placed = Placed {
            bottom: self.neighbours(first.b1, first.b2, true),
            top: self.neighbours(last.e1, last.e2, true),
            pieces,
        };
        let number = self.placed.len() as u32;
        let (start, end) = (placed.start(), placed.end());
        self.placed.push(placed);
        let place = self.by_start.partition_point(|&b| self.placed[b as usize].start() < start);
        self.by_start.insert(place, number);
        let place = self.by_end.partition_point(|&b| self.placed[b as usize].end() > end);
        self.by_end.insert(place, number);
        let bins = (start >> BIN_SHIFT) as usize..=(end >> BIN_SHIFT) as usize;
        if self.bins.len() <= *bins.end() {
            self.bins.resize(bins.end() + 1, Vec::new());
        }
        self.bins[bins].iter_mut().for_each(|bin| bin.push(number));
    }

    /// Blocks that have a row in common with `row`.
    fn at_row(&self, row: i64) -> impl Iterator<Item = (u32, &Placed)> {
        let bin = usize::try_from(row >> BIN_SHIFT).ok().and_then(|bin| self.bins.get(bin));
        let numbers = bin.map_or(&[][..], Vec::as_slice).iter();
        numbers.map(|&b| (b, &self.placed[b as usize])).filter(move |(_, p)| p.start() <= row && row <= p.end())
    }

    fn piece(&self, at: PieceRef) -> &Piece {
        &self.placed[at.block as usize].pieces[at.piece as usize]
    }

    /// Whether the anchor lies on an accepted block (4.3).
    pub fn covers(&self, anchor: &Anchor) -> bool {
        let (row, column) = (i64::from(anchor.target), i64::from(anchor.query));
        self.at_row(row).any(|(_, placed)| placed.pieces[placed.piece_at(row) as usize].offset(row, column) == 0)
    }

    /// Nearest pieces left and right of a point in its row. `skip_horizontal` is the rule for stored neighbours.
    fn neighbours(&self, row: i64, column: i64, skip_horizontal: bool) -> Neighbours {
        let candidates = self.at_row(row).filter_map(|(block, placed)| {
            let piece = if skip_horizontal {
                placed.solid_piece_at(row).filter(|&p| placed.pieces[p as usize].b1 <= row)?
            } else {
                placed.piece_at(row)
            };
            Some(PieceRef { block, piece })
        });
        self.nearest(candidates, row, column)
    }

    fn nearest(&self, candidates: impl Iterator<Item = PieceRef>, row: i64, column: i64) -> Neighbours {
        let mut best: [Option<Nearest>; 2] = [None; 2];
        for at in candidates {
            let x = self.piece(at).offset(row, column);
            let flank = match x {
                0 => continue,
                1.. => 1,
                _ => 0,
            };
            // Ties go to the first block in order of start, newest first.
            let rank = (x.abs(), self.placed[at.block as usize].start(), Reverse(at.block));
            if best[flank].is_none_or(|(distance, start, newest, _)| rank < (distance, start, newest)) {
                best[flank] = Some((rank.0, rank.1, rank.2, at));
            }
        }
        Neighbours { left: best[0].map(|b| b.3), right: best[1].map(|b| b.3) }
    }

    /// The bounds of one side of an anchor; `None` if there is no block at all.
    pub fn side_bounds(&self, anchor: &Anchor, direction: Direction) -> Option<SideBounds<'_>> {
        if self.is_empty() {
            return None;
        }
        let (a1, a2) = (i64::from(anchor.target), i64::from(anchor.query));
        let neighbours = self.neighbours(a1, a2, false);
        let column = |at: PieceRef| {
            let piece = self.piece(at);
            piece.b2 - a2 - if piece.kind == PieceKind::Diagonal { piece.b1 - a1 } else { 0 }
        };
        let (left, right) = (neighbours.left, neighbours.right);
        let (lo_flank, hi_flank) = match direction {
            Direction::Right => (Bound::new(left, left.map(column)), Bound::new(right, right.map(column))),
            // Mirrored, and one column further inside.
            Direction::Left => {
                (Bound::new(right, right.map(|at| 1 - column(at))), Bound::new(left, left.map(|at| -column(at) - 1)))
            }
        };
        let next_block = match direction {
            Direction::Right => self.by_start.partition_point(|&b| self.placed[b as usize].start() <= a1),
            Direction::Left => self.by_end.partition_point(|&b| self.placed[b as usize].end() >= a1),
        };
        let has_right = right.is_some();
        Some(SideBounds {
            accepted: self,
            direction,
            a1,
            a2,
            lo_flank,
            hi_flank,
            has_right,
            next_block,
            active: Vec::new(),
        })
    }

    /// Whether some block numbered `from` or later comes within reach of what a side explored, so that its result may
    /// not be what a bounded run gives (11a).
    pub fn touches(&self, anchor: &Anchor, direction: Direction, windows: &Windows, from: usize) -> bool {
        let rows = rows_reached(anchor, direction, windows);
        self.meeting_rows(rows, from).any(|placed| placed.touches(anchor, direction, windows))
    }

    /// Whether some block numbered `from` or later has a row in common with what a side explored.
    pub fn meets_rows(&self, anchor: &Anchor, direction: Direction, windows: &Windows, from: usize) -> bool {
        self.meeting_rows(rows_reached(anchor, direction, windows), from).next().is_some()
    }

    fn meeting_rows(&self, rows: (i64, i64), from: usize) -> impl Iterator<Item = &Placed> {
        let bins = (rows.0.max(0) >> BIN_SHIFT) as usize..=(rows.1.max(0) >> BIN_SHIFT) as usize;
        let bins = self.bins.iter().enumerate().take(bins.end() + 1).skip(*bins.start());
        bins.flat_map(move |(bin, numbers)| {
            let new = numbers.partition_point(|&b| (b as usize) < from);
            numbers[new..].iter().map(move |&b| (bin, b))
        })
        .map(|(bin, b)| (bin, &self.placed[b as usize]))
        // A block that meets several bins counts in the first of them.
        .filter(move |(bin, placed)| {
            let first_bin = (placed.start().max(rows.0).max(0) >> BIN_SHIFT) as usize;
            first_bin == *bin && placed.start() <= rows.1 && placed.end() >= rows.0
        })
        .map(|(_, placed)| placed)
    }
}

/// Margin of [`AcceptedBlocks::touches`] in columns and rows: covers LASTZ's off-by-one habits.
const MARGIN: i64 = 3;

/// Target rows that a side reached, with the margin.
fn rows_reached(anchor: &Anchor, direction: Direction, windows: &Windows) -> (i64, i64) {
    let (anchor, reach) = (i64::from(anchor.target), i64::from(windows.rows));
    match direction {
        Direction::Right => (anchor - MARGIN, anchor + reach + MARGIN),
        Direction::Left => (anchor - reach - MARGIN, anchor + MARGIN),
    }
}

impl Placed {
    fn touches(&self, anchor: &Anchor, direction: Direction, windows: &Windows) -> bool {
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
            let rows_per_hull = super::side::WINDOW_ROWS as i64;
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

fn pieces_of(block: &Block) -> Vec<Piece> {
    let (mut row, mut column) = (block.target_start as i64, block.query_start as i64);
    let mut pieces = Vec::with_capacity(block.script.runs().len());
    let diagonal = |row: i64, column: i64, len: i64| Piece {
        kind: PieceKind::Diagonal,
        b1: row,
        b2: column,
        e1: row + len - 1,
        e2: column + len - 1,
    };
    let mut after_gap = false;
    for &(op, len) in block.script.runs() {
        let len = i64::from(len);
        if op != EditOp::Pair && after_gap {
            // Two gaps in a row have an empty run of pairs between them.
            pieces.push(diagonal(row, column, 0));
        }
        after_gap = op != EditOp::Pair;
        match op {
            EditOp::Pair => {
                pieces.push(diagonal(row, column, len));
                (row, column) = (row + len, column + len);
            }
            EditOp::Insertion => {
                pieces.push(Piece {
                    kind: PieceKind::Horizontal,
                    b1: row,
                    b2: column,
                    e1: row - 1,
                    e2: column + len - 1,
                });
                column += len;
            }
            EditOp::Deletion => {
                pieces.push(Piece {
                    kind: PieceKind::Vertical,
                    b1: row,
                    b2: column,
                    e1: row + len - 1,
                    e2: column - 1,
                });
                row += len;
            }
        }
    }
    pieces
}

/// One moving limit of a run: where its neighbour is in the current row.
#[derive(Clone, Copy, Debug)]
struct Bound {
    at: Option<PieceRef>,
    /// Column of the limit; keeps its last value when the neighbour is gone.
    column: Option<i64>,
}

impl Bound {
    fn new(at: Option<PieceRef>, column: Option<i64>) -> Self {
        Bound { at, column }
    }
}

/// A block that the sweep has reached, and where it is in the current row.
#[derive(Clone, Copy, Debug)]
struct ActiveBlock {
    at: PieceRef,
    column: i64,
}

/// The bounds of one run, advanced row by row.
#[derive(Clone, Debug)]
pub struct SideBounds<'a> {
    accepted: &'a AcceptedBlocks,
    direction: Direction,
    a1: i64,
    a2: i64,
    lo_flank: Bound,
    hi_flank: Bound,
    /// Whether the anchor has a right neighbour that still bounds; the cap asks for it in both directions.
    has_right: bool,
    /// Next entry of the order by start (or end) that the sweep will reach.
    next_block: usize,
    active: Vec<ActiveBlock>,
}

impl SideBounds<'_> {
    /// Moves on to row `row`: narrows `lo..hi`, lists masked columns in ascending order, and returns the last column
    /// that prolongation may reach.
    pub fn enter_row(
        &mut self,
        row: usize,
        lo: &mut usize,
        hi: &mut usize,
        columns: usize,
        masked: &mut Vec<usize>,
    ) -> usize {
        let row = row as i64;
        let (lo_side, hi_side) = match self.direction {
            Direction::Right => (Flank::Left, Flank::Right),
            Direction::Left => (Flank::Right, Flank::Left),
        };
        self.lo_flank = self.advance(self.lo_flank, row, lo_side, 1);
        self.hi_flank = self.advance(self.hi_flank, row, hi_side, -1);
        if let (Some(_), Some(column)) = (self.lo_flank.at, self.lo_flank.column) {
            *lo = (*lo).max(column.max(0) as usize);
        }
        if let (Some(_), Some(column)) = (self.hi_flank.at, self.hi_flank.column) {
            *hi = (*hi).min(column.max(0) as usize);
        }
        *hi = (*hi).max(*lo);
        let right = if self.direction == Direction::Right { self.hi_flank } else { self.lo_flank };
        self.has_right &= right.at.is_some();
        let cap = match self.hi_flank.column {
            Some(column) if self.hi_flank.at.is_some() && self.has_right && column > 0 => {
                (column - 1).min(columns as i64) as usize
            }
            _ => columns,
        };
        self.mask(row, *lo, *hi, masked);
        cap
    }

    /// Follows a neighbour to row `row`; a jump adds `inside` to stay off its column.
    fn advance(&self, bound: Bound, row: i64, flank: Flank, inside: i64) -> Bound {
        let (Some(at), Some(column)) = (bound.at, bound.column) else { return bound };
        let piece = self.accepted.piece(at);
        let stays = match self.direction {
            Direction::Right => piece.e1 >= self.a1 + row,
            // LASTZ compares unsigned numbers here: a row before the first one counts as staying.
            Direction::Left => piece.b1 as u32 <= (self.a1 - row) as u32,
        };
        if stays {
            let moves = i64::from(piece.kind == PieceKind::Diagonal);
            return Bound { at: Some(at), column: Some(column + moves) };
        }
        match self.follow(at, row, flank) {
            Some((at, column)) => Bound { at: Some(at), column: Some(column + inside) },
            None => Bound { at: None, column: Some(column) },
        }
    }

    /// The piece after `at` in the direction of the run, or the stored neighbour at the block's end.
    fn follow(&self, at: PieceRef, row: i64, flank: Flank) -> Option<(PieceRef, i64)> {
        if let Some((next, _)) = self.next_solid_piece(at) {
            let piece = self.accepted.piece(next);
            let column = match self.direction {
                Direction::Right => piece.b2 - self.a2,
                Direction::Left => self.a2 - piece.e2,
            };
            return Some((next, column));
        }
        let block = &self.accepted.placed[at.block as usize];
        let (jump, column) = match self.direction {
            Direction::Right => {
                let jump = block.top.on(flank)?;
                let piece = self.accepted.piece(jump);
                let along = if piece.kind == PieceKind::Diagonal { row - (piece.b1 - self.a1) } else { 0 };
                (jump, along + piece.b2 - self.a2)
            }
            Direction::Left => {
                let jump = block.bottom.on(flank)?;
                let piece = self.accepted.piece(jump);
                let along = if piece.kind == PieceKind::Diagonal { row - (self.a1 - piece.e1) } else { 0 };
                (jump, along + self.a2 - piece.e2)
            }
        };
        Some((jump, column))
    }

    /// The next piece in the direction of the run that is not horizontal, and the horizontal one stepped over.
    fn next_solid_piece(&self, at: PieceRef) -> Option<(PieceRef, Option<&Piece>)> {
        let pieces = &self.accepted.placed[at.block as usize].pieces;
        let step = |piece: u32| match self.direction {
            Direction::Right => Some(piece + 1).filter(|&next| (next as usize) < pieces.len()),
            Direction::Left => piece.checked_sub(1),
        };
        let next = step(at.piece)?;
        let piece = &pieces[next as usize];
        if piece.kind != PieceKind::Horizontal {
            return Some((PieceRef { piece: next, ..at }, None));
        }
        Some((PieceRef { piece: step(next)?, ..at }, Some(piece)))
    }

    /// Lists the columns of `lo..hi` that blocks occupy in this row (5.7).
    fn mask(&mut self, row: i64, lo: usize, hi: usize, masked: &mut Vec<usize>) {
        let limits = (lo, hi);
        let mut active = std::mem::take(&mut self.active);
        active.retain_mut(|block| self.advance_active(block, row, limits, masked));
        self.active = active;
        while let Some((at, column)) = self.reached(row) {
            self.next_block += 1;
            self.active.push(ActiveBlock { at, column });
            add_column(column, limits, masked);
        }
        masked.sort_unstable();
        masked.dedup();
    }

    /// The next block in sweep order, if the sweep reaches it in this row, and the column of its near end.
    fn reached(&self, row: i64) -> Option<(PieceRef, i64)> {
        let accepted = self.accepted;
        match self.direction {
            Direction::Right => {
                let block = *accepted.by_start.get(self.next_block)?;
                let placed = &accepted.placed[block as usize];
                (placed.start() - self.a1 == row).then(|| (PieceRef { block, piece: 0 }, placed.pieces[0].b2 - self.a2))
            }
            Direction::Left => {
                let block = *accepted.by_end.get(self.next_block)?;
                let placed = &accepted.placed[block as usize];
                let piece = placed.pieces.len() - 1;
                (self.a1 - placed.end() == row)
                    .then(|| (PieceRef { block, piece: piece as u32 }, self.a2 - placed.pieces[piece].e2))
            }
        }
    }

    /// Moves an active block to row `row` and masks its columns; `false` once the row is past its end.
    fn advance_active(
        &self,
        block: &mut ActiveBlock,
        row: i64,
        limits: (usize, usize),
        masked: &mut Vec<usize>,
    ) -> bool {
        let piece = self.accepted.piece(block.at);
        let last_row = match self.direction {
            Direction::Right => piece.e1 - self.a1,
            Direction::Left => self.a1 - piece.b1,
        };
        if row <= last_row {
            block.column += i64::from(piece.kind == PieceKind::Diagonal);
        } else {
            let Some((next, stepped_over)) = self.next_solid_piece(block.at) else { return false };
            if let Some(gap) = stepped_over {
                let columns = match self.direction {
                    Direction::Right => (gap.b2 - self.a2, gap.e2 - self.a2),
                    Direction::Left => (self.a2 - gap.e2, self.a2 - gap.b2),
                };
                add_columns(columns, limits, masked);
            }
            let piece = self.accepted.piece(next);
            block.at = next;
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
