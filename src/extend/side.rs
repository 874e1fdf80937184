//! One-sided gapped extension: the problem and its answer. Both engines, CPU and GPU, speak these types.
//!
//! A run starts at an anchor and walks one way (lastz-semantics 5.1). Row r and column c count bases from the anchor:
//! ```text
//! Right: row r is target[anchor.target + r],     column c is query[anchor.query + c]      (r, c >= 1)
//! Left:  row r is target[anchor.target + 1 - r], column c is query[anchor.query + 1 - c]  (the anchor pair is (1, 1))
//! ```

use crate::alignment::EditScript;

/// Which way a run walks from its anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Towards lower positions; the anchor pair belongs to this run.
    Left,
    /// Towards higher positions.
    Right,
}

/// Rows per entry of [`Windows`].
pub const WINDOW_ROWS: usize = 32;

/// What a run looked at: the hull of its row windows, per [`WINDOW_ROWS`] rows, row 0 first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// Rows looked at, row 0 included.
    pub rows: u32,
    /// `[first, end)` columns looked at in rows 32i .. 32i + 32, terminator and prolongation included.
    pub hulls: Vec<(u32, u32)>,
}

/// The answer of a one-sided run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Score of the end cell.
    pub score: i64,
    /// Target bases from the anchor to the end cell.
    pub rows: u32,
    /// Query bases from the anchor to the end cell.
    pub columns: u32,
    /// The path from the anchor outwards (for [`Direction::Left`] that is against sequence order).
    pub script: EditScript,
    /// What was explored.
    pub windows: Windows,
    /// Cells that LASTZ counts against its traceback memory (5.10).
    pub cells: u64,
    /// Whether the run was cut because that memory was used up.
    pub truncated: bool,
}
