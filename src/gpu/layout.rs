//! What crosses the border between host and device: structs and constants. Twin: `shaders/common/layout.wgsl`.
//!
//! All fields are `u32` or `i32`, so that `repr(C)` is WGSL's storage layout; a test compares names, order and types.

use bytemuck::{Pod, Zeroable};

/// A field of a struct that crosses the border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its WGSL type.
    pub wgsl_type: &'static str,
    /// Its offset in bytes.
    pub offset: usize,
}

/// A struct that crosses the border.
pub trait GpuStruct: Pod {
    /// Its name in WGSL.
    const NAME: &'static str;
    /// Its fields in order.
    const FIELDS: &'static [Field];
}

macro_rules! gpu_struct {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ident),* $(,)? }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
        pub struct $name { $($(#[$field_doc])* pub $field: $type),* }

        impl GpuStruct for $name {
            const NAME: &'static str = stringify!($name);
            const FIELDS: &'static [Field] = &[$(Field {
                name: stringify!($field),
                wgsl_type: stringify!($type),
                offset: std::mem::offset_of!($name, $field),
            }),*];
        }
    };
}

pub(super) use gpu_struct;

gpu_struct! {
    /// What all tasks of a dispatch share.
    Params {
        /// Tasks in the queue.
        n_tasks: u32,
        /// Cost of the first base of a gap.
        gap_open_extend: i32,
        /// Cost of each further base.
        gap_extend: i32,
        /// Y-drop.
        y_drop: i32,
        /// Last kept column of row 0 if the query is long enough (lastz-semantics 5.2).
        row0_last: u32,
        /// A run stops before the row that would bring its cells to this (5.10).
        cell_limit: u32,
        /// Rows that a workgroup may sweep in one dispatch.
        row_budget: u32,
        /// Entries of the hull log.
        hull_capacity: u32,
        /// Index of the first target base among the letters: padding comes first.
        target_origin: u32,
        /// Index of the first query base among the letters.
        query_origin: u32,
        /// A run whose best exceeds this is out of range.
        best_limit: i32,
        /// Screen: score that both sides of an anchor must be able to reach together.
        goal: i32,
        /// Screen: steps that an anchor may take.
        step_limit: u32,
        /// Relaxed: the most that a pair can score, at least 0.
        max_score: i32,
        /// Relaxed inspector: where kept rows may begin.
        kept_start: u32,
        /// Relaxed inspector: entries of kept rows from there on.
        kept_capacity: u32,
    }
}

gpu_struct! {
    /// One one-sided run. Row r is target base `target_start` +- (r - 1), column c is query base `query_start` +- (c - 1).
    Task {
        /// Array position of row 1.
        target_start: u32,
        /// Array position of column 1.
        query_start: u32,
        /// 1: walks towards lower positions.
        is_left: u32,
        /// Target bases up to the end of the partition.
        rows: u32,
        /// Query bases up to the end of the partition.
        columns: u32,
        /// Last row to sweep.
        stop_row: u32,
        /// Executor: first word of the run's links.
        link_start: u32,
        /// Executor: first word of the run's spans in the plan.
        span_start: u32,
        /// Bounded runs: first word of the limits of row 1 in the plan.
        limit_start: u32,
        /// Relaxed executor: first row of the task, which is a part of its run.
        first_row: u32,
    }
}

gpu_struct! {
    /// What a run found.
    Verdict {
        /// Score of the end cell.
        score: i32,
        /// Row of the end cell.
        end_row: u32,
        /// Column of the end cell.
        end_column: u32,
        /// Rows looked at, row 0 included.
        rows: u32,
        /// Cells counted against the traceback memory (5.10).
        cells: u32,
        /// One of the `STATUS_*` constants.
        status: u32,
    }
}

gpu_struct! {
    /// What a relaxed run found.
    RelaxedVerdict {
        /// Score of the end cell.
        score: i32,
        /// Row of the end cell.
        end_row: u32,
        /// Column of the end cell.
        end_column: u32,
        /// Stripes swept; each has an entry in the log.
        stripes: u32,
        /// Steps taken: each computes a column of every lane.
        steps: u32,
        /// One of the `STATUS_*` constants.
        status: u32,
        /// The path from the end cell on, if that lies in the eager tile: two bits of source per step, low bits first.
        path_low: u32,
        /// Its steps from the 17th on.
        path_high: u32,
    }
}

gpu_struct! {
    /// One stripe of a relaxed run: LANES * STRIPE_ROWS rows.
    Stripe {
        /// The run.
        task_ix: u32,
        /// Number of the stripe, from 0.
        stripe_ix: u32,
        /// First column.
        first: u32,
        /// Column after the last one that was looked at.
        end: u32,
        /// T of its rows.
        threshold: i32,
        /// Last live column of the row above; `first` is the first one.
        last: u32,
        /// Where the row above is kept, or [`NOT_KEPT`].
        kept: u32,
    }
}

gpu_struct! {
    /// What the executor keeps of a stripe of a relaxed run.
    StripePlan {
        /// First column.
        first: u32,
        /// Column after the last one that is needed.
        end: u32,
        /// T of its rows, as the inspector found it.
        threshold: i32,
        /// Words after the run's `link_start`.
        link_start: u32,
        /// Last live column of the row above, if that is kept.
        last: u32,
        /// Where the row above is kept, or [`NOT_KEPT`].
        kept: u32,
    }
}

gpu_struct! {
    /// The columns looked at in 32 rows of a run.
    Hull {
        /// The run.
        task_ix: u32,
        /// Rows 32 * `rows_ix` and on.
        rows_ix: u32,
        /// First column.
        first: u32,
        /// Column after the last.
        end: u32,
    }
}

gpu_struct! {
    /// Where the executor keeps the links of 32 rows: `n_blocks` lane-blocks in every row.
    Span {
        /// Index of the first lane-block.
        first_block: u32,
        /// Lane-blocks per row.
        n_blocks: u32,
        /// Words after the run's `link_start`.
        link_start: u32,
    }
}

gpu_struct! {
    /// The path of a run, under way from its end cell to the anchor.
    Script {
        /// First word among the runs of columns.
        start: u32,
        /// Words it may write.
        capacity: u32,
        /// Words that the path has so far, even if more than the capacity.
        n_runs: u32,
        /// The row reached.
        row: u32,
        /// The column reached.
        column: u32,
        /// `LINK_SOURCE` through which the cell was reached.
        arrived_by: u32,
        /// Columns of the run that goes on.
        run_len: u32,
        /// 1: the anchor is reached; 2: the links led out of the window.
        is_done: u32,
    }
}

gpu_struct! {
    /// Upper bounds of the scores of both sides of an anchor; [`NO_BOUND`] where it does not matter or could not be told.
    SideBounds {
        /// Left side.
        left: i32,
        /// Right side.
        right: i32,
        /// 1: the bounds are there.
        is_done: u32,
    }
}

/// No upper bound: the score may be anything.
pub const NO_BOUND: i32 = i32::MAX;

/// The run ended by itself.
pub const STATUS_DONE: u32 = 1;
/// The run was cut because the traceback memory was used up (5.10).
pub const STATUS_TRUNCATED: u32 = 2;
/// A row's window is wider than the kernel's ring: the CPU does this run.
pub const STATUS_TOO_WIDE: u32 = 3;
/// The score may leave 32 bits: the CPU does this run.
pub const STATUS_OUT_OF_RANGE: u32 = 4;

/// Value of a dead cell. Any sum of a dead value and a few scores stays far below every threshold.
pub const DEAD: i32 = -(1 << 29);
/// Largest score of a pair or a gap that the kernels take.
pub const SCORE_LIMIT: i32 = 1 << 20;
/// A run whose best exceeds this is out of range.
pub const BEST_LIMIT: i32 = 1 << 28;

/// A letter class of 4 and more is odd: it has no place in the packed score profile.
pub const N_PLAIN_CLASSES: u32 = 4;
/// Letter classes that 4 bits can tell apart.
pub const N_CLASSES: usize = 16;

/// Link bits: where the best value of a cell comes from.
pub const LINK_PAIR: u32 = 0;
/// From the left: an insertion.
pub const LINK_INSERTION: u32 = 1;
/// From above: a deletion.
pub const LINK_DELETION: u32 = 2;
/// Mask of the source.
pub const LINK_SOURCE: u32 = 3;
/// The insertion that leaves the cell extends the one that entered it.
pub const LINK_INSERTION_EXTENDS: u32 = 4;
/// The deletion that leaves the cell extends the one that entered it.
pub const LINK_DELETION_EXTENDS: u32 = 8;

/// Links that a word of the relaxed executor's holds.
pub const LINKS_PER_WORD: u32 = 8;

/// Rows and columns of the tile whose links the relaxed inspector keeps (paper: eager traceback).
pub const EAGER_TILE: u32 = 16;
/// Entries that a relaxed run keeps besides its boundary: its state, and the links of the eager tile.
pub const RELAXED_HEADER: u32 = 8 + EAGER_TILE * (EAGER_TILE + 1);
/// Columns of the boundary between two stripes of a relaxed run; no window may be wider.
pub const RELAXED_BOUNDARY: u32 = 4096;

/// The relaxed inspector keeps the last row of every so many, so that the executor can begin there.
pub const SEGMENT_ROWS: u32 = 2048;
/// A row that was not kept.
pub const NOT_KEPT: u32 = u32::MAX;

/// Runs per workgroup of the traceback.
pub const TRACEBACK_LANES: u32 = 32;
/// Steps of a path per dispatch of the traceback.
pub const TRACEBACK_STEPS: u32 = 1 << 15;

/// Words of the counters: next task of the queue.
pub const COUNTER_NEXT: u32 = 0;
/// Entries of the hull log asked for.
pub const COUNTER_HULLS: u32 = 1;
/// Tasks finished.
pub const COUNTER_FINISHED: u32 = 2;
/// The adapter ran the kernel with this subgroup width instead of the one it was made for.
pub const COUNTER_WRONG_WIDTH: u32 = 3;
/// Rows swept by all workgroups so far, modulo 2^32: a dispatch that adds none did not run.
pub const COUNTER_ROWS: u32 = 4;
/// Entries of kept rows asked for.
pub const COUNTER_KEPT: u32 = 5;
/// Number of counters.
pub const N_COUNTERS: u32 = 6;

/// The constants above as WGSL text: Rust owns them.
pub fn constants() -> String {
    let mut text = String::new();
    let mut number = |name: &str, value: u32| text.push_str(&format!("const {name}: u32 = {value}u;\n"));
    number("STATUS_DONE", STATUS_DONE);
    number("STATUS_TRUNCATED", STATUS_TRUNCATED);
    number("STATUS_TOO_WIDE", STATUS_TOO_WIDE);
    number("STATUS_OUT_OF_RANGE", STATUS_OUT_OF_RANGE);
    number("N_PLAIN_CLASSES", N_PLAIN_CLASSES);
    number("N_CLASSES", N_CLASSES as u32);
    number("LINK_PAIR", LINK_PAIR);
    number("LINK_INSERTION", LINK_INSERTION);
    number("LINK_DELETION", LINK_DELETION);
    number("LINK_SOURCE", LINK_SOURCE);
    number("LINK_INSERTION_EXTENDS", LINK_INSERTION_EXTENDS);
    number("LINK_DELETION_EXTENDS", LINK_DELETION_EXTENDS);
    number("TRACEBACK_LANES", TRACEBACK_LANES);
    number("TRACEBACK_STEPS", TRACEBACK_STEPS);
    number("SPAN_WORDS", (size_of::<Span>() / 4) as u32);
    number("STRIPE_PLAN_WORDS", (size_of::<StripePlan>() / 4) as u32);
    number("EAGER_TILE", EAGER_TILE);
    number("LINKS_PER_WORD", LINKS_PER_WORD);
    number("SEGMENT_ROWS", SEGMENT_ROWS);
    number("NOT_KEPT", NOT_KEPT);
    number("COUNTER_KEPT", COUNTER_KEPT);
    number("CONTRACT_ROWS", crate::extend::relaxed::STRIPE_ROWS as u32);
    number("PRUNE_ROWS", crate::extend::relaxed::PRUNE_ROWS as u32);
    number("RELAXED_HEADER", RELAXED_HEADER);
    number("RELAXED_BOUNDARY", RELAXED_BOUNDARY);
    number("COUNTER_NEXT", COUNTER_NEXT);
    number("COUNTER_HULLS", COUNTER_HULLS);
    number("COUNTER_FINISHED", COUNTER_FINISHED);
    number("COUNTER_WRONG_WIDTH", COUNTER_WRONG_WIDTH);
    number("COUNTER_ROWS", COUNTER_ROWS);
    number("WINDOW_ROWS", crate::extend::side::WINDOW_ROWS as u32);
    text.push_str(&format!("const DEAD: i32 = {DEAD}i;\nconst NO_BOUND: i32 = {NO_BOUND}i;\n"));
    text.push_str(&super::seeding::layout::constants());
    text
}
