//! The y-drop sweep of one side of an anchor (lastz-semantics 5.1 to 5.10), exact to the cell.
//!
//! ```text
//! rows r: target, away from the anchor     columns c: query, away from the anchor
//!
//!   P = C(r-1, c-1) + score(A[r], B[c])         only from a kept cell, never in the first column of the window
//!   if D > P or I > P:  C = max(D, I)           a gap cell: gaps may only go on from here
//!   else:               C = P                   a diagonal cell: gaps may open, and it may become the best
//!   kept iff C >= best - Y, where best is the best diagonal cell before this one in row-major order
//! ```
//! The window `[lo, hi)` of a row starts at the first kept column of the row above and ends one past its last kept
//! column; past that, insertions may prolong it (5.4). Bounds and masks of accepted blocks (5.6, 5.7) narrow it.
//! Everything here but the evaluation of one row's window is `Sweep`; that evaluation is a `RowKernel`.

use crate::alignment::Anchor;
use crate::extend::bounds::SideBounds;
use crate::extend::side::{Direction, Side, WINDOW_ROWS, Windows};
use crate::options::{Contract, GappedOptions};
use crate::scoring::{ScoreClasses, Scoring};
use crate::sequence::SequenceSet;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use super::row_scalar::ScalarRow;
use super::row_vector::{Instructions, VectorRow};
use super::traceback::{LinkRows, Links};

/// What others see of a run that is under way, and how they end it.
#[derive(Debug, Default)]
pub(crate) struct RunWatch {
    rows: AtomicU32,
    is_stopped: AtomicBool,
}

/// Rows after which a run tells how far it has come.
const ROWS_BETWEEN_LOOKS: usize = 256;

impl RunWatch {
    /// Rows that the run has come through, about.
    pub fn rows(&self) -> u32 {
        self.rows.load(Relaxed)
    }

    /// Ends the run soon: its result is worthless.
    pub fn stop(&self) {
        self.is_stopped.store(true, Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Relaxed)
    }

    fn goes_on(&self, row: usize) -> bool {
        self.rows.store(row as u32, Relaxed);
        !self.is_stopped()
    }
}

/// Value of a dead cell: below anything a kept cell can hold, and far from overflow.
pub(super) const DEAD: i64 = i64::MIN / 4;

/// Scores and limits shared by all runs of one comparison.
#[derive(Clone, Debug)]
pub struct Ydrop {
    pub(super) classes: ScoreClasses,
    pub(super) gap_open: i64,
    pub(super) gap_extend: i64,
    pub(super) y_drop: i64,
    contract: Contract,
    trim_to_peak: bool,
    traceback_bytes: Option<usize>,
    /// Those of the vectorised row; `None`: cell by cell.
    pub(super) instructions: Option<Instructions>,
}

/// One side of one anchor.
#[derive(Clone, Debug)]
pub struct SideProblem<'a> {
    /// The target array.
    pub target: &'a SequenceSet,
    /// The query array of the searched strand.
    pub query: &'a SequenceSet,
    /// Where the run starts.
    pub anchor: Anchor,
    /// Which way it goes.
    pub direction: Direction,
}

impl SideProblem<'_> {
    /// Rows and columns available inside the anchor's partitions: (M, N) of 5.1.
    pub fn extent(&self) -> (usize, usize) {
        let (target, query) = (self.anchor.target as usize, self.anchor.query as usize);
        let rows = self.target.partition_at(target).range.clone();
        let columns = self.query.partition_at(query).range.clone();
        let available = |range: Range<usize>, anchor: usize| match self.direction {
            Direction::Left => anchor + 1 - range.start,
            Direction::Right => range.end - anchor - 1,
        };
        (available(rows, target), available(columns, query))
    }

    /// The letter of row `r` (1-based).
    #[inline]
    pub fn target_base(&self, r: usize) -> u8 {
        let anchor = self.anchor.target as usize;
        self.target.bases[if self.direction == Direction::Left { anchor + 1 - r } else { anchor + r }]
    }

    /// The letter of column `c` (1-based).
    #[inline]
    pub fn query_base(&self, c: usize) -> u8 {
        let anchor = self.anchor.query as usize;
        self.query.bases[if self.direction == Direction::Left { anchor + 1 - c } else { anchor + c }]
    }
}

/// The best cell so far. Ties move it on (5.2): the last maximal diagonal cell in row-major order ends the path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peak {
    pub score: i64,
    pub row: usize,
    pub column: usize,
}

/// What to evaluate in one row.
pub(super) struct RowTask<'a> {
    pub row: usize,
    /// Columns of the window.
    pub lo: usize,
    pub hi: usize,
    /// Columns in `lo..hi` that accepted blocks occupy, ascending.
    pub masked: &'a [usize],
    /// Cells below this die; `None`: those more than Y below the peak, which moves on within the row.
    pub floor: Option<i64>,
}

/// What the evaluation of a row's window found.
pub(super) struct RowResult {
    /// First and last kept column; `None` if all are dead.
    pub kept: Option<(usize, usize)>,
    /// I entering column `hi`.
    pub insertion: i64,
}

/// Evaluates the window of one row. It holds C and D of the row above between calls.
pub(super) trait RowKernel {
    /// Forgets the last run and prepares for `problem` with `columns` columns.
    fn start(&mut self, ydrop: &Ydrop, columns: usize);
    /// Makes room for columns up to `hi` (exclusive) and drops what lies left of `lo - 1`.
    fn make_room(&mut self, ydrop: &Ydrop, problem: &SideProblem, lo: usize, hi: usize);
    /// Sets C of the current row and D of the next one in column `c`.
    fn put(&mut self, c: usize, score: i64, deletion: i64);
    /// Evaluates the window, updates `peak`, and writes their links to `links`, the first column's first.
    fn evaluate(
        &mut self,
        ydrop: &Ydrop,
        problem: &SideProblem,
        task: &RowTask,
        peak: &mut Peak,
        links: &mut [Links],
    ) -> RowResult;
    /// C in column `c` of the row just evaluated, [`DEAD`] if pruned.
    fn score(&self, c: usize) -> i64;
}

/// Buffers of a thread's runs, reused from run to run.
#[derive(Default)]
pub struct Workspace {
    pub(super) scalar: ScalarRow,
    pub(super) vector: VectorRow,
    pub(super) links: LinkRows,
    masked: Vec<usize>,
}

impl Ydrop {
    /// Prepares runs with the given scores and limits.
    pub fn new(scoring: &Scoring, options: &GappedOptions) -> Self {
        let mut ydrop = Ydrop {
            classes: ScoreClasses::new(&scoring.gapped),
            gap_open: i64::from(scoring.gap_open),
            gap_extend: i64::from(scoring.gap_extend),
            y_drop: i64::from(options.y_drop),
            contract: options.contract,
            trim_to_peak: options.trim_to_peak,
            traceback_bytes: options.traceback_bytes,
            instructions: None,
        };
        // The boundary rule of --noytrim needs every diagonal cell in order, which only the scalar row offers.
        if ydrop.trim_to_peak && VectorRow::can_run(&ydrop) {
            ydrop.instructions = Instructions::available().pop();
        }
        ydrop
    }

    /// The same runs, cell by cell: the oracle of the vectorised row.
    pub fn scalar(mut self) -> Self {
        self.instructions = None;
        self
    }

    /// The same runs with each set of vector instructions that this processor has and these scores fit.
    pub fn vectorised(&self) -> Vec<Self> {
        let available = Instructions::available().into_iter().filter(|_| self.instructions.is_some());
        available.map(|instructions| Ydrop { instructions: Some(instructions), ..self.clone() }).collect()
    }

    /// Y: how far below the best a cell may fall.
    pub(crate) fn y_drop(&self) -> i64 {
        self.y_drop
    }

    /// Cost of the first base of a gap.
    pub(super) fn gap_first(&self) -> i64 {
        self.gap_open + self.gap_extend
    }

    /// Runs both sides of an anchor, one after the other, without bounds.
    pub fn run_both(
        &self,
        target: &SequenceSet,
        query: &SequenceSet,
        anchor: &Anchor,
        workspace: &mut Workspace,
    ) -> (Side, Side) {
        let mut run = |direction| {
            let problem = SideProblem { target, query, anchor: *anchor, direction };
            match self.contract {
                Contract::Exact => self.run(&problem, None, workspace),
                Contract::Relaxed => self.run_relaxed(&problem, workspace),
            }
        };
        (run(Direction::Left), run(Direction::Right))
    }

    /// Runs one side. `bounds` are those of the accepted blocks, if any come near.
    pub fn run(&self, problem: &SideProblem, bounds: Option<SideBounds>, workspace: &mut Workspace) -> Side {
        self.run_watched(problem, bounds, workspace, &RunWatch::default())
    }

    /// As [`run`](Self::run), watched from elsewhere.
    pub(crate) fn run_watched(
        &self,
        problem: &SideProblem,
        bounds: Option<SideBounds>,
        workspace: &mut Workspace,
        watch: &RunWatch,
    ) -> Side {
        let (rows, columns) = problem.extent();
        if rows == 0 || columns == 0 {
            return Side::default();
        }
        let Workspace { links, masked, scalar, .. } = workspace;
        let sweep = Sweep { ydrop: self, problem, rows, columns, bounds, links, masked, watch };
        if self.instructions.is_some() {
            return sweep.run(&mut workspace.vector);
        }
        sweep.run(scalar)
    }
}

/// The control of a run, shared by all row kernels.
struct Sweep<'a> {
    ydrop: &'a Ydrop,
    problem: &'a SideProblem<'a>,
    rows: usize,
    columns: usize,
    bounds: Option<SideBounds<'a>>,
    links: &'a mut LinkRows,
    masked: &'a mut Vec<usize>,
    watch: &'a RunWatch,
}

impl Ydrop {
    /// LASTZ's reserve of cells for prolongation.
    fn reserve(&self, columns: usize) -> usize {
        match self.gap_extend {
            0 => (columns + 1).min(MAX_FLAT_INSERTION),
            extend => (self.y_drop / extend) as usize + 6,
        }
    }

    /// Whether a side looked at the last column of its query sequence, and what it would prolong to beyond, where a
    /// neighbour lies in the next sequence, may decide if the traceback memory cuts it.
    pub(crate) fn may_be_cut_past_end(&self, problem: &SideProblem, side: &Side) -> bool {
        let Some(bytes) = self.traceback_bytes.filter(|_| problem.query.is_partitioned) else { return false };
        let (_, columns) = problem.extent();
        let most_beyond = u64::from(side.windows.rows) * (self.reserve(columns) as u64 + 1);
        let is_near_limit =
            side.truncated || side.cells + most_beyond + 2 * self.reserve(columns) as u64 >= bytes as u64;
        is_near_limit && side.windows.hulls.iter().any(|hull| hull.1 as usize > columns)
    }
}

impl Sweep<'_> {
    fn run<K: RowKernel>(mut self, kernel: &mut K) -> Side {
        let (y_drop, gap_extend) = (self.ydrop.y_drop, self.ydrop.gap_extend);
        kernel.start(self.ydrop, self.columns);
        let mut peak = Peak::default();
        let mut boundary = Boundary::default();
        let mut windows = WindowHulls::default();
        let (mut lo, mut hi) = (0, self.first_row(kernel));
        windows.add(0, lo, hi);
        let mut cells = hi as u64;
        let mut truncated = false;

        // Where a neighbour lies in the next sequence, LASTZ's window goes on past the last column: nothing is evaluated
        // there, but prolongation counts (5.10).
        let columns_end = self.columns + 1;
        for row in 1..=self.rows {
            if row.is_multiple_of(ROWS_BETWEEN_LOOKS) && !self.watch.goes_on(row) {
                break;
            }
            self.masked.clear();
            let mut cap = self.columns;
            if let Some(bounds) = &mut self.bounds {
                cap = bounds.enter_row(row, &mut lo, &mut hi, self.columns, self.masked);
            }
            if hi <= lo {
                break;
            }
            if self.exceeds_memory(cells, hi - lo) {
                truncated = true;
                break;
            }
            let end = hi.min(columns_end);
            if end <= lo {
                break;
            }
            kernel.make_room(self.ydrop, self.problem, lo, end);
            let task = RowTask { row, lo, hi: end, masked: self.masked, floor: None };
            let links = self.links.add_row(lo, end - lo);
            let result = kernel.evaluate(self.ydrop, self.problem, &task, &mut peak, links);
            cells += (end - lo) as u64;
            let Some((first, last)) = result.kept else {
                windows.add(row, lo, end);
                break;
            };
            if !self.ydrop.trim_to_peak {
                boundary.enter_row(row, &self, kernel, &peak, first..last + 1);
            }
            let evaluated = lo..end;
            if last + 1 < hi {
                hi = last + 1;
            } else {
                // Prolongation (5.4): here a deletion may open from an insertion.
                let mut insertion = result.insertion;
                while insertion >= peak.score - y_drop && hi <= cap {
                    if hi < columns_end {
                        kernel.make_room(self.ydrop, self.problem, first, hi + 1);
                        kernel.put(hi, insertion, insertion - self.ydrop.gap_first());
                        self.links.add_insertion();
                    }
                    insertion -= gap_extend;
                    hi += 1;
                    cells += 1;
                }
            }
            if hi <= cap {
                if hi < columns_end {
                    kernel.make_room(self.ydrop, self.problem, first, hi + 1);
                    kernel.put(hi, DEAD, DEAD);
                }
                hi += 1;
            }
            windows.add(row, evaluated.start, evaluated.end.max(hi.min(columns_end)));
            lo = first;
        }

        let (score, end) = boundary.end(&peak);
        Side {
            score,
            rows: end.0 as u32,
            columns: end.1 as u32,
            script: self.links.path_to(end.0, end.1),
            windows: windows.finish(),
            cells,
            truncated,
        }
    }

    /// Row 0: one long insertion. Returns the end of its window.
    fn first_row<K: RowKernel>(&mut self, kernel: &mut K) -> usize {
        self.links.start();
        kernel.make_room(self.ydrop, self.problem, 0, 1);
        kernel.put(0, 0, -self.ydrop.gap_first());
        let (mut c, mut previous, mut next) = (1, 0, -self.ydrop.gap_first());
        while c <= self.columns && previous >= -self.ydrop.y_drop {
            kernel.make_room(self.ydrop, self.problem, 0, c + 1);
            kernel.put(c, next, next - self.ydrop.gap_first());
            previous = next;
            next -= self.ydrop.gap_extend;
            c += 1;
        }
        c
    }

    /// LASTZ's test before a row (5.10): the row and a reserve for prolongation must fit its traceback memory.
    fn exceeds_memory(&self, used: u64, width: usize) -> bool {
        let Some(bytes) = self.ydrop.traceback_bytes else { return false };
        used + (width + self.ydrop.reserve(self.columns)) as u64 >= bytes as u64 - 7
    }
}

/// LASTZ's reserve for prolongation when gap bases are free (E = 0).
const MAX_FLAT_INSERTION: usize = 500_000;

/// `--noytrim` (5.9): the best diagonal cell in the last row or column competes with the peak for the end.
struct Boundary {
    score: i64,
    row: usize,
    column: usize,
    is_last_move: bool,
}

impl Default for Boundary {
    fn default() -> Self {
        Boundary { score: DEAD, row: 0, column: 0, is_last_move: false }
    }
}

impl Boundary {
    /// Looks at the kept diagonal cells of `row` that lie on the border; `peak` already includes this row. A peak on
    /// the border is a move to the border as well, with the same score.
    fn enter_row<K: RowKernel>(&mut self, row: usize, sweep: &Sweep, kernel: &K, peak: &Peak, kept: Range<usize>) {
        if peak.row == row {
            self.is_last_move = false;
        }
        let on_border = if row == sweep.rows { kept } else { sweep.columns..kept.end };
        for c in on_border {
            let score = kernel.score(c);
            if score != DEAD && score >= self.score && sweep.links.is_diagonal(row, c) {
                *self = Boundary { score, row, column: c, is_last_move: true };
            }
        }
    }

    fn end(&self, peak: &Peak) -> (i64, (usize, usize)) {
        if self.is_last_move { (self.score, (self.row, self.column)) } else { (peak.score, (peak.row, peak.column)) }
    }
}

/// Collects [`Windows`].
#[derive(Default)]
struct WindowHulls {
    windows: Windows,
}

impl WindowHulls {
    fn add(&mut self, row: usize, lo: usize, hi: usize) {
        let hulls = &mut self.windows.hulls;
        if row.is_multiple_of(WINDOW_ROWS) {
            hulls.push((lo as u32, hi as u32));
        } else {
            let hull = hulls.last_mut().expect("row 0 comes first");
            *hull = (hull.0.min(lo as u32), hull.1.max(hi as u32));
        }
        self.windows.rows = row as u32 + 1;
    }

    fn finish(self) -> Windows {
        self.windows
    }
}
