//! One side of an anchor under the relaxed contract, cell by cell; [`crate::extend::relaxed`] defines it.
//!
//! The contract knows no windows: cells die in rows divisible by [`PRUNE_ROWS`] only. A row is evaluated from the first
//! column that survived the last pruning up to where nothing can matter any more. That is where C is below
//! T - k max - open, if the next pruning is k rows away and no pair scores more than max: a path from there ends below T
//! at that pruning, and a gap from there ends below what any survivor opens anew.

use super::traceback::{DELETION_EXTENDS, FROM_DELETION, FROM_DIAGONAL, FROM_INSERTION, INSERTION_EXTENDS, LinkRows};
use super::ydrop::{DEAD, Peak, SideProblem, Workspace, Ydrop};
use crate::extend::relaxed::{PRUNE_ROWS, STRIPE_ROWS};
use crate::extend::side::Side;

/// C of a cell, and D that enters the one below.
#[derive(Clone, Copy, Debug)]
struct Cell {
    score: i64,
    deletion: i64,
}

const DEAD_CELL: Cell = Cell { score: DEAD, deletion: DEAD };

/// The row above and the present one, both from column `first` on.
#[derive(Default)]
pub(super) struct Rows {
    first: usize,
    above: Vec<Cell>,
    present: Vec<Cell>,
}

impl Ydrop {
    /// Runs one side by the relaxed contract. It has no windows; `cells` are those evaluated.
    pub fn run_relaxed(&self, problem: &SideProblem, workspace: &mut Workspace) -> Side {
        let (n_rows, n_columns) = problem.extent();
        if n_rows == 0 || n_columns == 0 {
            return Side::default();
        }
        let Workspace { relaxed: rows, links, .. } = workspace;
        links.start();
        rows.start(self, n_columns);
        let max_score = i64::from(self.classes.max_score()).max(0);
        let mut peak = Peak::default();
        let mut cells = rows.above.len() as u64;
        let mut threshold = 0;
        for row in 1..=n_rows {
            if (row - 1).is_multiple_of(STRIPE_ROWS) {
                threshold = peak.score - self.y_drop;
            }
            let to_pruning = row.next_multiple_of(PRUNE_ROWS) - row;
            let floor = match to_pruning {
                0 => threshold,
                k => threshold - k as i64 * max_score - self.gap_open.max(0),
            };
            let row = Row { row, n_columns, is_pruned: to_pruning == 0, floor };
            row.evaluate(self, problem, rows, links, &mut peak);
            cells += rows.present.len() as u64;
            if !rows.advance(&row) {
                break;
            }
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

impl Rows {
    /// Row 0: one long insertion, from which deletions may open (lastz-semantics 5.2).
    fn start(&mut self, ydrop: &Ydrop, n_columns: usize) {
        self.first = 0;
        self.above.clear();
        let mut score = 0;
        for column in 0..=n_columns {
            if score < -ydrop.y_drop {
                break;
            }
            self.above.push(Cell { score, deletion: score - ydrop.gap_first() });
            score = if column == 0 { -ydrop.gap_first() } else { score - ydrop.gap_extend };
        }
    }

    /// The present row becomes the row above, without what cannot matter. Whether anything is left.
    fn advance(&mut self, row: &Row) -> bool {
        std::mem::swap(&mut self.above, &mut self.present);
        let can_matter = |cell: &Cell| cell.score >= row.floor;
        let end = self.above.iter().rposition(can_matter).map_or(0, |last| last + 1);
        self.above.truncate(end);
        if row.is_pruned {
            let dead = self.above.iter().position(can_matter).unwrap_or(0);
            self.above.drain(..dead);
            self.first += dead;
        }
        !self.above.is_empty()
    }
}

/// How to evaluate a row.
struct Row {
    row: usize,
    n_columns: usize,
    /// Whether cells below `floor` die; elsewhere they only end the row.
    is_pruned: bool,
    floor: i64,
}

impl Row {
    fn evaluate(&self, ydrop: &Ydrop, problem: &SideProblem, rows: &mut Rows, links: &mut LinkRows, peak: &mut Peak) {
        let Rows { first, above, present } = rows;
        let target_class = ydrop.classes.class(problem.target_base(self.row));
        links.add_row(*first, 0);
        present.clear();
        let (mut above_left, mut insertion) = (DEAD, DEAD);
        let mut column = *first;
        while column <= self.n_columns && (column - *first <= above.len() || insertion >= self.floor) {
            let Cell { score: above_score, deletion } = above.get(column - *first).copied().unwrap_or(DEAD_CELL);
            let pair = match above_left {
                DEAD => DEAD,
                score => {
                    let query_class = ydrop.classes.class(problem.query_base(column));
                    score + i64::from(ydrop.classes.score(target_class, query_class))
                }
            };
            above_left = above_score;
            let score = pair.max(deletion).max(insertion);
            if self.is_pruned && score < self.floor || score <= DEAD {
                links.push(FROM_DIAGONAL);
                present.push(DEAD_CELL);
                insertion = DEAD;
                column += 1;
                continue;
            }
            let (extended, inserted) = (deletion - ydrop.gap_extend, insertion - ydrop.gap_extend);
            let leaving;
            if score > pair {
                let source = if deletion >= insertion { FROM_DELETION } else { FROM_INSERTION };
                links.push(source | INSERTION_EXTENDS | DELETION_EXTENDS);
                (leaving, insertion) = (extended, inserted);
            } else {
                if score >= peak.score {
                    *peak = Peak { score, row: self.row, column };
                }
                let opened = pair - ydrop.gap_first();
                let deletion_link = if extended >= opened { DELETION_EXTENDS } else { 0 };
                let insertion_link = if inserted >= opened { INSERTION_EXTENDS } else { 0 };
                links.push(FROM_DIAGONAL | deletion_link | insertion_link);
                (leaving, insertion) = (extended.max(opened), inserted.max(opened));
            }
            present.push(Cell { score, deletion: leaving });
            column += 1;
        }
    }
}
