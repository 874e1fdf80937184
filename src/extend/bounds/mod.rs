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

mod confine;
pub(super) mod piece;
pub(super) mod reach;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

pub use self::confine::SideBounds;
use self::piece::{Extent, Neighbours, Piece, PieceRef, Placed, pieces_of};
pub(super) use self::reach::Expectation;
use super::side::Direction;
use crate::alignment::{Anchor, Block};

/// Rows per bin of the index of blocks by row, as a power of two.
const BIN_SHIFT: u32 = 11;

/// The accepted blocks of one unit (target x query sequence x strand), indexed for the questions that extension asks.
///
/// Blocks may be pushed while runs are under way: a run sees the blocks before a number of its own, its limit.
#[derive(Debug, Default)]
pub struct AcceptedBlocks {
    index: RwLock<Index>,
}

#[derive(Clone, Debug, Default)]
struct Index {
    placed: Vec<Arc<Placed>>,
    /// Start rows and block numbers, by start; among equals the newest first. This is also the order of the output (6.1).
    by_start: BTreeSet<(i64, Reverse<u32>)>,
    /// End rows and block numbers, by end; among equals the oldest first.
    by_end: BTreeSet<(i64, u32)>,
    /// Blocks that meet each bin of rows, by number. Copies of a repeat can fill a bin with thousands of blocks that lie
    /// somewhere else in the query: their extents tell.
    bins: Vec<Vec<Extent>>,
}

/// Which blocks confine a run: the accepted ones before a number, and some that are expected to be accepted later, in this
/// order.
#[derive(Clone, Debug, Default)]
pub struct Confiners {
    limit: usize,
    /// Numbered from `limit` on.
    expected: Arc<[(Extent, Arc<Placed>)]>,
}

impl Confiners {
    /// The accepted blocks before this number.
    pub fn before(limit: usize) -> Confiners {
        Confiners { limit, ..Confiners::default() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.limit == 0 && self.expected.is_empty()
    }

    /// The number of the first block that may be accepted later.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Whether some are not accepted yet.
    pub(super) fn has_expected(&self) -> bool {
        !self.expected.is_empty()
    }

    fn placed(&self, index: &Index, block: u32) -> Arc<Placed> {
        match (block as usize).checked_sub(self.limit) {
            None => index.placed[block as usize].clone(),
            Some(expected) => self.expected[expected].1.clone(),
        }
    }
}

impl Clone for AcceptedBlocks {
    fn clone(&self) -> Self {
        AcceptedBlocks { index: RwLock::new(self.read().clone()) }
    }
}

impl AcceptedBlocks {
    fn read(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.read().placed.len()
    }

    /// Whether no block was accepted yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Block numbers (in order of acceptance) in LASTZ's output order: by target start, equals newest first.
    pub fn output_order(&self) -> Vec<u32> {
        self.read().by_start.iter().map(|&(_, Reverse(block))| block).collect()
    }

    /// Accepts a block.
    pub fn push(&self, block: &Block) {
        let pieces = pieces_of(block);
        self.index.write().unwrap_or_else(PoisonError::into_inner).push(pieces);
    }

    /// Whether the anchor lies on an accepted block (4.3).
    pub fn covers(&self, anchor: &Anchor) -> bool {
        self.read().covers(anchor.target.into(), anchor.query.into())
    }

    /// All blocks so far.
    pub fn confiners(&self) -> Confiners {
        Confiners::before(self.len())
    }

    /// The blocks before number `limit`, and others that are expected after them.
    pub fn expecting(&self, limit: usize, expected: &[Block]) -> Confiners {
        let index = self.read();
        let mut confiners = Confiners::before(limit);
        let mut placed: Vec<(Extent, Arc<Placed>)> = Vec::with_capacity(expected.len());
        for block in expected {
            let number = confiners.limit + placed.len();
            confiners.expected = placed.clone().into();
            let new = index.place(pieces_of(block), &confiners);
            placed.push((new.extent(number as u32), Arc::new(new)));
        }
        confiners.expected = placed.into();
        confiners
    }

    /// The pieces nearest to an anchor, left and right of it in its row.
    pub fn neighbours(&self, anchor: &Anchor, confiners: &Confiners) -> Neighbours {
        self.read().neighbours(anchor.target.into(), anchor.query.into(), confiners, false)
    }

    /// How blocks confine one side of an anchor; `None` if there are none.
    pub fn side_bounds(&self, anchor: &Anchor, direction: Direction, confiners: &Confiners) -> Option<SideBounds<'_>> {
        (!confiners.is_empty()).then(|| SideBounds::new(self, anchor, direction, confiners))
    }
}

impl Index {
    fn push(&mut self, pieces: Vec<piece::Piece>) {
        let number = self.placed.len();
        let placed = self.place(pieces, &Confiners::before(number));
        let (start, end) = (placed.start(), placed.end());
        let number = number as u32;
        let extent = placed.extent(number);
        self.placed.push(Arc::new(placed));
        self.by_start.insert((start, Reverse(number)));
        self.by_end.insert((end, number));
        let bins = (start >> BIN_SHIFT) as usize..=(end >> BIN_SHIFT) as usize;
        if self.bins.len() <= *bins.end() {
            self.bins.resize(bins.end() + 1, Vec::new());
        }
        self.bins[bins].iter_mut().for_each(|bin| bin.push(extent));
    }

    /// A block with its neighbours.
    fn place(&self, pieces: Vec<Piece>, confiners: &Confiners) -> Placed {
        let (first, last) = (pieces[0], pieces[pieces.len() - 1]);
        Placed {
            bottom: self.neighbours(first.b1, first.b2, confiners, true),
            top: self.neighbours(last.e1, last.e2, confiners, true),
            pieces,
        }
    }

    /// Blocks that have a row in common with `row`.
    fn at_row(&self, row: i64) -> impl Iterator<Item = (&Extent, &Placed)> {
        let bin = usize::try_from(row >> BIN_SHIFT).ok().and_then(|bin| self.bins.get(bin));
        let extents = bin.map_or(&[][..], Vec::as_slice).iter();
        extents.filter(move |extent| extent.has_row(row)).map(|extent| (extent, &*self.placed[extent.block as usize]))
    }

    fn covers(&self, row: i64, column: i64) -> bool {
        self.at_row(row)
            .filter(|(extent, _)| extent.columns_from(column) == 0)
            .any(|(_, placed)| placed.pieces[placed.piece_at(row) as usize].offset(row, column) == 0)
    }

    /// Nearest pieces left and right of a point in its row. `skip_horizontal` is the rule for stored neighbours.
    fn neighbours(&self, row: i64, column: i64, confiners: &Confiners, skip_horizontal: bool) -> Neighbours {
        // Ties go to the first block in order of start, newest first.
        type Rank = (i64, i64, Reverse<u32>);
        let mut best: [Option<(Rank, PieceRef)>; 2] = [None; 2];
        let accepted = self.at_row(row).take_while(|(extent, _)| (extent.block as usize) < confiners.limit);
        let expected = confiners.expected.iter().filter(|(extent, _)| extent.has_row(row));
        for (extent, placed) in accepted.chain(expected.map(|(extent, placed)| (extent, &**placed))) {
            let (block, least) = (extent.block, extent.columns_from(column));
            let is_farther = |flank: usize| best[flank].is_some_and(|((nearest, ..), _)| nearest < least.abs());
            if least != 0 && is_farther(usize::from(least > 0)) {
                continue;
            }
            let piece = if skip_horizontal {
                let solid = placed.solid_piece_at(row);
                let Some(piece) = solid.filter(|&p| placed.pieces[p as usize].b1 <= row) else { continue };
                piece
            } else {
                placed.piece_at(row)
            };
            let x = placed.pieces[piece as usize].offset(row, column);
            let flank = match x {
                0 => continue,
                1.. => 1,
                _ => 0,
            };
            let rank: Rank = (x.abs(), placed.start(), Reverse(block));
            if best[flank].is_none_or(|(nearest, _)| rank < nearest) {
                best[flank] = Some((rank, PieceRef { block, piece }));
            }
        }
        Neighbours { left: best[0].map(|(_, at)| at), right: best[1].map(|(_, at)| at) }
    }
}
