//! Links: where each cell's value came from, and the walk back along them (lastz-semantics 5.5).

use crate::alignment::{EditOp, EditScript};

/// Links of 32 columns, a bit of each per column, the first column's lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Links {
    /// C came from the left or from above.
    pub is_gap: u32,
    /// It came from the left, through I, if it is a gap cell; else from above, through D.
    pub from_insertion: u32,
    /// I leaving the cell to the right opens here; it does not go on from I entering it.
    pub opens_insertion: u32,
    /// D leaving the cell downwards opens here; it does not go on from D entering it.
    pub opens_deletion: u32,
}

impl Links {
    /// A cell that prolongs an insertion: the only gap cells from which another gap opens (5.4).
    const PROLONGED: Links = Links { is_gap: 1, from_insertion: 1, opens_insertion: 0, opens_deletion: 1 };

    #[inline(always)]
    fn with(self, other: Links, f: impl Fn(u32, u32) -> u32) -> Links {
        Links {
            is_gap: f(self.is_gap, other.is_gap),
            from_insertion: f(self.from_insertion, other.from_insertion),
            opens_insertion: f(self.opens_insertion, other.opens_insertion),
            opens_deletion: f(self.opens_deletion, other.opens_deletion),
        }
    }
}

/// Writes the links of `n` columns, of which `new` has no bits above, from column `at` on. Those after them are lost.
#[inline(always)]
pub(super) fn put_links(links: &mut [Links], at: usize, n: usize, new: Links) {
    let (group, shift) = (at / 32, at % 32);
    if shift == 0 {
        links[group] = new;
        return;
    }
    let below = (1 << shift) - 1;
    links[group] = links[group].with(new, |old, new| (old & below) | (new << shift));
    if shift + n > 32 {
        links[group + 1] = new.with(new, |new, _| new >> (32 - shift));
    }
}

/// Links of one run, row by row. Row 0 is one long insertion and not stored.
///
/// They lie in blocks that are kept from run to run, each row in one of them. Most runs fit the first, which stays in the
/// processor's cache; what the others hold is not cleared, not moved, and lies in huge pages where the system has them.
#[derive(Default)]
pub(super) struct LinkRows {
    /// Rows 1, 2, ...
    rows: Vec<LinkRow>,
    blocks: Vec<Vec<Links>>,
    /// Columns of the last row, its block, and how far that is used.
    width: usize,
    block: usize,
    used: usize,
}

/// First column of a row, and where its links are.
struct LinkRow {
    lo: u32,
    block: u32,
    start: u32,
}

/// Entries of the first block: 1 MiB.
const FIRST_BLOCK: usize = 1 << 16;
/// Entries of the others: 16 MiB.
const BLOCK: usize = 1 << 20;

impl LinkRows {
    /// Forgets the last run.
    pub fn start(&mut self) {
        self.rows.clear();
        (self.block, self.used) = (0, 0);
    }

    /// Appends a row of `width` columns from column `lo`, for the links from there on. What a vectorised kernel writes past
    /// its end has room.
    pub fn add_row(&mut self, lo: usize, width: usize) -> &mut [Links] {
        let len = width / 32 + 2;
        if self.room() < len {
            self.go_on_in_next_block(len);
        }
        let start = self.used;
        self.rows.push(LinkRow { lo: lo as u32, block: self.block as u32, start: start as u32 });
        self.width = width;
        self.used += width.div_ceil(32);
        &mut self.blocks[self.block][start..start + len]
    }

    /// Appends a cell reached by insertion to the last row.
    pub fn add_insertion(&mut self) {
        let row = self.rows.last().expect("a row goes before");
        let (mut start, at) = (row.start as usize, self.width);
        if at == 32 * (self.used - start) {
            if self.room() == 0 {
                let links = self.blocks[self.block][start..].to_vec();
                self.go_on_in_next_block(2 * links.len() + 1);
                self.used = links.len();
                self.blocks[self.block][..links.len()].copy_from_slice(&links);
                let row = self.rows.last_mut().expect("a row goes before");
                (row.block, row.start) = (self.block as u32, 0);
                start = 0;
            }
            self.used += 1;
        }
        put_links(&mut self.blocks[self.block][start..], at, 1, Links::PROLONGED);
        self.width += 1;
    }

    fn room(&self) -> usize {
        self.blocks.get(self.block).map_or(0, |block| block.len() - self.used)
    }

    /// Goes on at the start of a block with at least `len` entries.
    fn go_on_in_next_block(&mut self, len: usize) {
        self.block += usize::from(!self.blocks.is_empty() && self.used > 0);
        self.used = 0;
        let len = len.max(if self.block == 0 { FIRST_BLOCK } else { BLOCK });
        if self.blocks.get(self.block).is_none_or(|block| block.len() < len) {
            self.blocks.truncate(self.block);
            // The system clears it where it is touched.
            self.blocks.push(vec![Links::default(); len]);
            if self.block > 0 {
                prefer_huge_pages(&mut self.blocks[self.block]);
            }
        }
    }

    /// The links of a column, lowest bits.
    fn links(&self, row: usize, column: usize) -> Links {
        let LinkRow { lo, block, start } = self.rows[row - 1];
        let at = column - lo as usize;
        let links = self.blocks[block as usize][start as usize + at / 32];
        links.with(links, |links, _| links >> (at % 32) & 1)
    }

    /// Whether the cell's value came from the diagonal.
    pub fn is_diagonal(&self, row: usize, column: usize) -> bool {
        self.links(row, column).is_gap == 0
    }

    /// The path from (0, 0) to a kept cell.
    pub fn path_to(&self, mut row: usize, mut column: usize) -> EditScript {
        let mut backwards = EditScript::default();
        let mut arrived_by = EditOp::Pair;
        while row > 0 {
            let links = self.links(row, column);
            let is_gap = links.is_gap != 0;
            let stays = match arrived_by {
                EditOp::Insertion => links.opens_insertion == 0,
                EditOp::Deletion => links.opens_deletion == 0,
                EditOp::Pair => false,
            };
            if !stays {
                arrived_by = match (is_gap, links.from_insertion != 0) {
                    (false, _) => EditOp::Pair,
                    (true, true) => EditOp::Insertion,
                    (true, false) => EditOp::Deletion,
                };
            }
            backwards.push(arrived_by, 1);
            row -= usize::from(arrived_by != EditOp::Insertion);
            column -= usize::from(arrived_by != EditOp::Deletion);
        }
        backwards.push(EditOp::Insertion, column as u32);
        backwards.reversed()
    }
}

/// Sixteen threads that touch page after page of 4 KiB for the first time are in each other's way.
#[cfg(target_os = "linux")]
fn prefer_huge_pages(links: &mut [Links]) {
    const HUGE: usize = 2 << 20;
    let address = links.as_mut_ptr().cast::<u8>();
    let skipped = address.align_offset(HUGE);
    let whole = size_of_val(links).saturating_sub(skipped) / HUGE * HUGE;
    if whole > 0 {
        // SAFETY: the range lies within `links`, and the advice changes no content. If it is refused, pages stay small.
        unsafe { libc::madvise(address.add(skipped).cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn prefer_huge_pages(_: &mut [Links]) {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that fill blocks to the last entry or not, prolonged or not; then another run in the same blocks.
    #[test]
    fn rows_are_found_again_in_all_blocks() {
        let mut links = LinkRows::default();
        for run in 0..3u32 {
            links.start();
            let mut expected = Vec::new();
            let most = 32 * FIRST_BLOCK - 64;
            let widths = [most, 1, 400_000, 32 * 700, 32 * BLOCK - 300, 300, 32 * BLOCK + 5, 7, 64, 1];
            for (row, &width) in widths.iter().enumerate() {
                let n = row as u32 + run;
                let planes = [n, n >> 1, n >> 2, n >> 3].map(|bit| 0u32.wrapping_sub(bit & 1));
                let [is_gap, from_insertion, opens_insertion, opens_deletion] = planes;
                let value = Links { is_gap, from_insertion, opens_insertion, opens_deletion };
                let lo = 1000 * row;
                let written = links.add_row(lo, width);
                assert_eq!(written.len(), width / 32 + 2);
                written.fill(value);
                let n_insertions = if row % 2 == 0 { 400 } else { 0 };
                (0..n_insertions).for_each(|_| links.add_insertion());
                expected.push((lo, width, n_insertions, value));
            }
            for (row, (lo, width, n_insertions, value)) in expected.into_iter().enumerate() {
                let found = |column| links.links(row + 1, lo + column);
                let value = value.with(value, |value, _| value & 1);
                assert_eq!([found(0), found(width / 2), found(width - 1)], [value; 3], "run {run}, row {row}");
                let mut insertions = width..width + n_insertions;
                assert!(insertions.all(|column| found(column) == Links::PROLONGED), "run {run}, row {row}");
            }
        }
        assert!(links.blocks.len() >= 4);
    }

    #[test]
    fn links_are_put_at_any_column() {
        for n in [1, 8, 16, 32] {
            for at in 0..70 {
                let all = Links { is_gap: !0, from_insertion: !0, opens_insertion: !0, opens_deletion: !0 };
                let mut links = vec![all; 4];
                let bits = 0x5a5a_5a5a & (!0 >> (32 - n));
                let new =
                    Links { is_gap: bits, from_insertion: 0, opens_insertion: !0 >> (32 - n), opens_deletion: bits };
                put_links(&mut links, at, n, new);
                let bit = |column: usize, plane: fn(&Links) -> u32| plane(&links[column / 32]) >> (column % 32) & 1;
                for column in 0..at {
                    assert_eq!(bit(column, |l| l.from_insertion), 1, "{n} at {at}: {column}");
                }
                for column in at..at + n {
                    let expected = bits >> (column - at) & 1;
                    assert_eq!(bit(column, |l| l.is_gap), expected);
                    assert_eq!(bit(column, |l| l.opens_deletion), expected);
                    assert_eq!(bit(column, |l| l.from_insertion), 0);
                    assert_eq!(bit(column, |l| l.opens_insertion), 1);
                }
            }
        }
    }
}
