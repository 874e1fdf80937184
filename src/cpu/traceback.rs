//! Links: where each cell's value came from, and the walk back along them (lastz-semantics 5.5).

use crate::alignment::{EditOp, EditScript};

/// Bits 0 and 1: C came from the diagonal ...
pub(super) const FROM_DIAGONAL: u8 = 0;
/// ... from the left, through I ...
pub(super) const FROM_INSERTION: u8 = 1;
/// ... or from above, through D.
pub(super) const FROM_DELETION: u8 = 2;
/// I leaving this cell to the right goes on from I entering it.
pub(super) const INSERTION_EXTENDS: u8 = 4;
/// D leaving this cell downwards goes on from D entering it.
pub(super) const DELETION_EXTENDS: u8 = 8;

const SOURCE: u8 = 3;

/// Bytes past the end of a row that a vectorised kernel may overwrite.
pub(super) const PADDING: usize = 32;

/// Links of one run, row by row. Row 0 is one long insertion and not stored.
#[derive(Default)]
pub(super) struct LinkRows {
    /// First column and place in `links` of rows 1, 2, ...
    rows: Vec<(usize, usize)>,
    links: Vec<u8>,
    used: usize,
}

impl LinkRows {
    /// Forgets the last run.
    pub fn start(&mut self) {
        self.rows.clear();
        self.used = 0;
    }

    /// Appends a row of `width` links from column `lo`; the slice has room for [`PADDING`] more.
    pub fn add_row(&mut self, lo: usize, width: usize) -> &mut [u8] {
        let start = self.used;
        self.rows.push((lo, start));
        self.used += width;
        self.make_room();
        &mut self.links[start..start + width + PADDING]
    }

    /// Appends a cell reached by insertion to the last row.
    pub fn add_insertion(&mut self) {
        self.make_room();
        self.links[self.used] = FROM_INSERTION | INSERTION_EXTENDS;
        self.used += 1;
    }

    fn make_room(&mut self) {
        let needed = self.used + PADDING;
        if self.links.len() < needed {
            // A quarter at a time: these are the largest buffers of a run, and doubling would waste memory.
            let len = needed.max(self.links.len() + self.links.len() / 4 + (64 << 10));
            self.links.reserve_exact(len - self.links.len());
            self.links.resize(len, 0);
        }
    }

    fn link(&self, row: usize, column: usize) -> u8 {
        let (lo, start) = self.rows[row - 1];
        self.links[start + column - lo]
    }

    /// Whether the cell's value came from the diagonal.
    pub fn is_diagonal(&self, row: usize, column: usize) -> bool {
        self.link(row, column) & SOURCE == FROM_DIAGONAL
    }

    /// The path from (0, 0) to a kept cell.
    pub fn path_to(&self, mut row: usize, mut column: usize) -> EditScript {
        let mut backwards = EditScript::default();
        let mut arrived_by = FROM_DIAGONAL;
        while row > 0 {
            let link = self.link(row, column);
            let stays = match arrived_by {
                FROM_INSERTION => link & INSERTION_EXTENDS != 0,
                FROM_DELETION => link & DELETION_EXTENDS != 0,
                _ => false,
            };
            if !stays {
                arrived_by = link & SOURCE;
            }
            match arrived_by {
                FROM_INSERTION => {
                    backwards.push(EditOp::Insertion, 1);
                    column -= 1;
                }
                FROM_DELETION => {
                    backwards.push(EditOp::Deletion, 1);
                    row -= 1;
                }
                _ => {
                    backwards.push(EditOp::Pair, 1);
                    row -= 1;
                    column -= 1;
                }
            }
        }
        backwards.push(EditOp::Insertion, column as u32);
        backwards.reversed()
    }
}
