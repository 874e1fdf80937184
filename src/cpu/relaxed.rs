//! One side of an anchor under the relaxed contract, which [`crate::extend::relaxed`] defines.
//!
//! The contract knows no windows, and cells die in rows divisible by [`PRUNE_ROWS`] only. Here cells die in every row, as
//! soon as they cannot matter any more: if the next pruning is k > 0 rows away and no pair scores more than max, below
//! ```text
//! T - k max - open
//! ```
//! A path from there ends below T at that pruning. A gap from there never beats what a cell opens that lives on: it stays
//! at least `open` below it. So the same cells live, with the same values and links, in the rows in which cells die.

use super::row_vector::VectorRow;
use super::traceback::LinkRows;
use super::ydrop::{DEAD, Peak, RowKernel, RowTask, SideProblem, Workspace, Ydrop};
use crate::extend::relaxed::{PRUNE_ROWS, STRIPE_ROWS};
use crate::extend::side::Side;

impl Ydrop {
    /// Runs one side by the relaxed contract. The answer has no windows; its cells are those evaluated.
    pub fn run_relaxed(&self, problem: &SideProblem, workspace: &mut Workspace) -> Side {
        let (rows, columns) = problem.extent();
        if rows == 0 || columns == 0 {
            return Side::default();
        }
        let sweep = RelaxedSweep { ydrop: self, problem, rows, columns, links: &mut workspace.links };
        if self.instructions.is_some() && VectorRow::can_run_relaxed(self) {
            return sweep.run(&mut workspace.vector);
        }
        sweep.run(&mut workspace.scalar)
    }
}

struct RelaxedSweep<'a> {
    ydrop: &'a Ydrop,
    problem: &'a SideProblem<'a>,
    rows: usize,
    columns: usize,
    links: &'a mut LinkRows,
}

impl RelaxedSweep<'_> {
    fn run<K: RowKernel>(self, kernel: &mut K) -> Side {
        let RelaxedSweep { ydrop, problem, rows, columns, links } = self;
        kernel.start(ydrop, columns);
        links.start();
        let max_score = i64::from(ydrop.classes.max_score()).max(0);
        let mut peak = Peak::default();
        let mut threshold = 0;
        let (mut lo, mut hi) = (0, first_row(ydrop, problem, columns, kernel));
        let mut cells = hi as u64;
        for row in 1..=rows {
            if (row - 1).is_multiple_of(STRIPE_ROWS) {
                threshold = peak.score - ydrop.y_drop;
            }
            let floor = match row.next_multiple_of(PRUNE_ROWS) - row {
                0 => threshold,
                k => threshold - k as i64 * max_score - ydrop.gap_open.max(0),
            };
            // The diagonal from the last cell above leads one column further.
            if hi <= columns {
                kernel.make_room(ydrop, problem, lo, hi + 1);
                kernel.put(hi, DEAD, DEAD);
                hi += 1;
            }
            let task = RowTask { row, lo, hi, masked: &[], floor: Some(floor) };
            let result = kernel.evaluate(ydrop, problem, &task, &mut peak, links.add_row(lo, hi - lo));
            cells += (hi - lo) as u64;
            let Some((first, last)) = result.kept else { break };
            if last + 1 < hi {
                hi = last + 1;
            } else {
                let mut insertion = result.insertion;
                while insertion >= floor && hi <= columns {
                    kernel.make_room(ydrop, problem, first, hi + 1);
                    kernel.put(hi, insertion, DEAD);
                    links.add_insertion();
                    insertion -= ydrop.gap_extend;
                    hi += 1;
                    cells += 1;
                }
            }
            lo = first;
        }
        Side {
            score: peak.score,
            rows: peak.row as u32,
            columns: peak.column as u32,
            script: links.path_to(peak.row, peak.column),
            cells,
            ..Side::default()
        }
    }
}

/// Row 0: one insertion down to -Y, from which deletions open (lastz-semantics 5.2). Returns the end of its window.
fn first_row<K: RowKernel>(ydrop: &Ydrop, problem: &SideProblem, columns: usize, kernel: &mut K) -> usize {
    let mut column = 0;
    let mut score = 0;
    while column <= columns && score >= -ydrop.y_drop {
        kernel.make_room(ydrop, problem, 0, column + 1);
        kernel.put(column, score, score - ydrop.gap_first());
        score = if column == 0 { -ydrop.gap_first() } else { score - ydrop.gap_extend };
        column += 1;
    }
    column
}
