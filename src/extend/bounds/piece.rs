//! Blocks as pieces.

use crate::alignment::{Block, EditOp};

/// Kind of a piece of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    Diagonal,
    Vertical,
    Horizontal,
}

/// A straight part of a block, corners inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub kind: PieceKind,
    pub b1: i64,
    pub b2: i64,
    pub e1: i64,
    pub e2: i64,
}

impl Piece {
    /// Columns from query position `query` to the piece, in row `target`.
    pub fn offset(&self, target: i64, query: i64) -> i64 {
        match self.kind {
            PieceKind::Diagonal => self.b2 - query + target - self.b1,
            _ => self.b2 - query,
        }
    }
}

/// A piece of an accepted block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PieceRef {
    pub block: u32,
    pub piece: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flank {
    Left,
    Right,
}

/// Nearest pieces left and right of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    pub(super) left: Option<PieceRef>,
    pub(super) right: Option<PieceRef>,
}

impl Neighbours {
    pub(super) fn on(&self, flank: Flank) -> Option<PieceRef> {
        match flank {
            Flank::Left => self.left,
            Flank::Right => self.right,
        }
    }
}

/// Where a block lies: rows, and the columns of its pieces with one more on either side, all inclusive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub rows: (u32, u32),
    pub columns: (u32, u32),
    pub block: u32,
}

impl Extent {
    pub fn has_row(&self, row: i64) -> bool {
        i64::from(self.rows.0) <= row && row <= i64::from(self.rows.1)
    }

    /// Columns from `column` to the nearest of the block's, negative to the left; 0 among them.
    pub fn columns_from(&self, column: i64) -> i64 {
        let (first, last) = (i64::from(self.columns.0), i64::from(self.columns.1));
        (first - column).max(0) + (last - column).min(0)
    }
}

/// An accepted block.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub pieces: Vec<Piece>,
    /// Neighbours of its first and of its last point among the blocks accepted before it.
    pub bottom: Neighbours,
    pub top: Neighbours,
}

impl Placed {
    pub fn start(&self) -> i64 {
        self.pieces[0].b1
    }

    pub fn end(&self) -> i64 {
        self.pieces[self.pieces.len() - 1].e1
    }

    /// Where the block lies.
    pub fn extent(&self, block: u32) -> Extent {
        let (first, last) = (&self.pieces[0], &self.pieces[self.pieces.len() - 1]);
        Extent {
            rows: (self.start() as u32, self.end() as u32),
            columns: (first.b2.saturating_sub(1).max(0) as u32, last.e2.max(last.b2) as u32 + 1),
            block,
        }
    }

    /// The first piece that reaches row `row`.
    pub fn piece_at(&self, row: i64) -> u32 {
        self.pieces.partition_point(|piece| piece.e1 < row) as u32
    }

    /// As [`piece_at`](Self::piece_at), but not a horizontal one; `None` past the end.
    pub fn solid_piece_at(&self, row: i64) -> Option<u32> {
        let first = self.piece_at(row) as usize;
        let solid = self.pieces[first..].iter().position(|piece| piece.kind != PieceKind::Horizontal)?;
        Some((first + solid) as u32)
    }
}

/// The pieces of a block, along the target.
pub(super) fn pieces_of(block: &Block) -> Vec<Piece> {
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
