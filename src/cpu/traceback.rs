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
///
/// They lie in blocks that are kept from run to run, each row in one of them. Most runs fit the first, which stays in the
/// processor's cache; what the others hold is not cleared, not moved, and lies in huge pages where the system has them.
#[derive(Default)]
pub(super) struct LinkRows {
    /// Rows 1, 2, ...
    rows: Vec<LinkRow>,
    blocks: Vec<Vec<u8>>,
    /// The block of the last row, and the links in use there.
    block: usize,
    used: usize,
}

/// First column of a row, and where its link is.
struct LinkRow {
    lo: u32,
    block: u32,
    start: u32,
}

/// Bytes of the first block.
const FIRST_BLOCK: usize = 1 << 20;
/// Bytes of the others.
const BLOCK: usize = 16 << 20;

impl LinkRows {
    /// Forgets the last run.
    pub fn start(&mut self) {
        self.rows.clear();
        (self.block, self.used) = (0, 0);
    }

    /// Appends a row of `width` links from column `lo`; the slice has room for [`PADDING`] more.
    pub fn add_row(&mut self, lo: usize, width: usize) -> &mut [u8] {
        let len = width + PADDING;
        if self.room() < len {
            self.go_on_in_next_block(len);
        }
        let start = self.used;
        self.rows.push(LinkRow { lo: lo as u32, block: self.block as u32, start: start as u32 });
        self.used += width;
        &mut self.blocks[self.block][start..start + len]
    }

    /// Appends a cell reached by insertion to the last row.
    pub fn add_insertion(&mut self) {
        if self.room() == 0 {
            let row = self.rows.last().expect("a row goes before");
            let links = self.blocks[self.block][row.start as usize..].to_vec();
            self.go_on_in_next_block(2 * links.len());
            self.used = links.len();
            self.blocks[self.block][..links.len()].copy_from_slice(&links);
            let row = self.rows.last_mut().expect("a row goes before");
            (row.block, row.start) = (self.block as u32, 0);
        }
        self.blocks[self.block][self.used] = FROM_INSERTION | INSERTION_EXTENDS;
        self.used += 1;
    }

    fn room(&self) -> usize {
        self.blocks.get(self.block).map_or(0, |block| block.len() - self.used)
    }

    /// Goes on at the start of a block of at least `len` bytes.
    fn go_on_in_next_block(&mut self, len: usize) {
        self.block += usize::from(!self.blocks.is_empty() && self.used > 0);
        self.used = 0;
        let len = len.max(if self.block == 0 { FIRST_BLOCK } else { BLOCK });
        if self.blocks.get(self.block).is_none_or(|block| block.len() < len) {
            self.blocks.truncate(self.block);
            // The system clears it where it is touched.
            self.blocks.push(vec![0; len]);
            if self.block > 0 {
                prefer_huge_pages(&mut self.blocks[self.block]);
            }
        }
    }

    fn link(&self, row: usize, column: usize) -> u8 {
        let LinkRow { lo, block, start } = self.rows[row - 1];
        self.blocks[block as usize][start as usize + column - lo as usize]
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

/// Sixteen threads that touch page after page of 4 KiB for the first time are in each other's way.
#[cfg(target_os = "linux")]
fn prefer_huge_pages(bytes: &mut [u8]) {
    const HUGE: usize = 2 << 20;
    let skipped = bytes.as_ptr().align_offset(HUGE);
    let whole = bytes.len().saturating_sub(skipped) / HUGE * HUGE;
    if whole > 0 {
        // SAFETY: the range lies within `bytes`, and the advice changes no content. If it is refused, pages stay small.
        unsafe { libc::madvise(bytes[skipped..].as_mut_ptr().cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn prefer_huge_pages(_: &mut [u8]) {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that fill blocks to the last byte or not, prolonged or not; then another run in the same blocks.
    #[test]
    fn rows_are_found_again_in_all_blocks() {
        let mut links = LinkRows::default();
        for run in 0..3u8 {
            links.start();
            let mut expected = Vec::new();
            let widths = [FIRST_BLOCK - PADDING, 1, 400_000, 700_000, BLOCK - 300, 300, BLOCK + 5, 7, 1];
            for (row, &width) in widths.iter().enumerate() {
                let value = row as u8 + 100 * run;
                let lo = 1000 * row;
                let written = links.add_row(lo, width);
                assert_eq!(written.len(), width + PADDING);
                written.fill(value);
                let n_insertions = if row % 2 == 0 { 400 } else { 0 };
                (0..n_insertions).for_each(|_| links.add_insertion());
                expected.push((lo, width, n_insertions, value));
            }
            for (row, (lo, width, n_insertions, value)) in expected.into_iter().enumerate() {
                let link = |column| links.link(row + 1, lo + column);
                assert_eq!([link(0), link(width - 1)], [value; 2], "run {run}, row {row}");
                let insertion = FROM_INSERTION | INSERTION_EXTENDS;
                assert!((width..width + n_insertions).all(|column| link(column) == insertion), "run {run}, row {row}");
            }
        }
        assert!(links.blocks.len() >= 4);
    }
}
