// layout: every struct that crosses the border between host and device. Twin: src/gpu/layout.rs, compared by a test.

// What all tasks of a dispatch share.
struct Params {
    n_tasks: u32,           // tasks in the queue
    gap_open_extend: i32,   // cost of the first base of a gap
    gap_extend: i32,        // cost of each further base
    y_drop: i32,
    row0_last: u32,         // last kept column of row 0 if the query is long enough (lastz-semantics 5.2)
    cell_limit: u32,        // a run stops before the row that would bring its cells to this (5.10)
    row_budget: u32,        // rows that a workgroup may sweep in one dispatch
    hull_capacity: u32,     // entries of the hull log
    target_origin: u32,     // index of the first target base among the letters: padding comes first
    query_origin: u32,
    best_limit: i32,        // a run whose best exceeds this is out of range
    reserved: u32,
}

// One one-sided run. Row r is target base target_start +- (r - 1), column c is query base query_start +- (c - 1).
struct Task {
    target_start: u32,
    query_start: u32,
    is_left: u32,           // 1: walks towards lower positions
    rows: u32,              // target bases up to the end of the partition
    columns: u32,           // query bases up to the end of the partition
    stop_row: u32,          // last row to sweep
    link_start: u32,        // executor: first word of the run's links
    span_start: u32,        // executor: first entry of the run's spans
}

// What a run found.
struct Verdict {
    score: i32,             // score of the end cell
    end_row: u32,
    end_column: u32,
    rows: u32,              // rows looked at, row 0 included
    cells: u32,             // cells counted against the traceback memory (5.10)
    status: u32,            // STATUS_*
}

// The columns looked at in 32 rows of a run.
struct Hull {
    task_ix: u32,
    rows_ix: u32,           // rows 32 * rows_ix and on
    first: u32,
    end: u32,
}

// Where the executor keeps the links of 32 rows: n_blocks lane-blocks of COLUMNS columns in every row.
struct Span {
    first_block: u32,
    n_blocks: u32,
    link_start: u32,        // words after the run's link_start
}

// Where the traceback writes the path of a run.
struct Script {
    start: u32,             // first word among the runs
    capacity: u32,          // words it may write
    n_runs: u32,            // words that the path has, even if more than the capacity
}
