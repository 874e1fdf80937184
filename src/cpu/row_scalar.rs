//! One row of the sweep, cell by cell: LASTZ's recurrence as the module doc of [`super::ydrop`] states it.

use super::traceback::{Links, put_links};
use super::ydrop::{DEAD, Peak, RowKernel, RowResult, RowTask, SideProblem, Ydrop};

/// C of the row above and D entering the current row, for the columns from `base` on.
#[derive(Default)]
pub struct ScalarRow {
    base: usize,
    cells: Vec<Cell>,
}

#[derive(Clone, Copy)]
struct Cell {
    score: i64,
    deletion: i64,
    /// Class of the column's base.
    class: u8,
}

const DEAD_CELL: Cell = Cell { score: DEAD, deletion: DEAD, class: 0 };

impl RowKernel for ScalarRow {
    fn start(&mut self, _: &Ydrop, _: usize) {
        self.base = 0;
        self.cells.clear();
    }

    fn make_room(&mut self, ydrop: &Ydrop, problem: &SideProblem, lo: usize, hi: usize) {
        let obsolete = lo.saturating_sub(1).saturating_sub(self.base);
        if obsolete > 4096 && obsolete > self.cells.len() / 2 {
            self.cells.drain(..obsolete);
            self.base += obsolete;
        }
        for c in self.base + self.cells.len()..hi {
            let class = if c == 0 { 0 } else { ydrop.classes.class(problem.query_base(c)) };
            self.cells.push(Cell { class, ..DEAD_CELL });
        }
    }

    fn put(&mut self, c: usize, score: i64, deletion: i64) {
        let cell = &mut self.cells[c - self.base];
        (cell.score, cell.deletion) = (score, deletion);
    }

    fn evaluate(
        &mut self,
        ydrop: &Ydrop,
        problem: &SideProblem,
        task: &RowTask,
        peak: &mut Peak,
        links: &mut [Links],
    ) -> RowResult {
        let (gap_first, gap_extend, y_drop) = (ydrop.gap_first(), ydrop.gap_extend, ydrop.y_drop);
        let target_class = ydrop.classes.class(problem.target_base(task.row));
        let cells = &mut self.cells[task.lo - self.base..task.hi - self.base];
        let mut masked = task.masked.iter().copied().peekable();
        let mut kept: Option<(usize, usize)> = None;
        // The first column of the window has neither P nor I (5.3).
        let (mut above_left, mut insertion) = (DEAD, DEAD);
        for (c, cell) in (task.lo..).zip(cells) {
            let pair = match above_left {
                DEAD => DEAD,
                score => score + i64::from(ydrop.classes.score(target_class, cell.class)),
            };
            above_left = cell.score;
            let deletion = cell.deletion;
            let is_gap = deletion > pair || insertion > pair;
            let score = pair.max(deletion).max(insertion);
            let is_masked = masked.next_if_eq(&c).is_some();
            if is_masked || score < task.floor.unwrap_or(peak.score - y_drop) {
                (cell.score, cell.deletion) = (DEAD, DEAD);
                insertion = DEAD;
                put_links(links, c - task.lo, 1, Links::default());
                continue;
            }
            kept = Some((kept.map_or(c, |(first, _)| first), c));
            cell.score = score;
            if is_gap {
                let new = Links { is_gap: 1, from_insertion: u32::from(insertion > deletion), ..Links::default() };
                put_links(links, c - task.lo, 1, new);
                cell.deletion = deletion - gap_extend;
                insertion -= gap_extend;
            } else {
                if score >= peak.score {
                    *peak = Peak { score, row: task.row, column: c };
                }
                let opened = pair - gap_first;
                let new = Links {
                    opens_insertion: u32::from(opened > insertion - gap_extend),
                    opens_deletion: u32::from(opened > deletion - gap_extend),
                    ..Links::default()
                };
                put_links(links, c - task.lo, 1, new);
                cell.deletion = opened.max(deletion - gap_extend);
                insertion = opened.max(insertion - gap_extend);
            }
        }
        RowResult { kept, insertion }
    }

    fn score(&self, c: usize) -> i64 {
        self.cells[c - self.base].score
    }
}
