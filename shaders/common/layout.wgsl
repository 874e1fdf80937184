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
    goal: i32,              // screen: score that both sides of an anchor must be able to reach together
    step_limit: u32,        // screen: steps that an anchor may take
    max_score: i32,         // relaxed: the most that a pair can score, at least 0
    kept_start: u32,        // relaxed inspector: where kept rows may begin
    kept_capacity: u32,     // relaxed inspector: entries of kept rows from there on
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
    span_start: u32,        // executor: first word of the run's spans in the plan
    limit_start: u32,       // bounded runs: first word of the limits of row 1 in the plan
    first_row: u32,         // relaxed executor: first row of the task, which is a part of its run
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

// What a relaxed run found.
struct RelaxedVerdict {
    score: i32,             // score of the end cell
    end_row: u32,
    end_column: u32,
    stripes: u32,           // stripes swept; each has an entry in the log
    steps: u32,             // steps taken: each computes a column of every lane
    status: u32,            // STATUS_*
    path_low: u32,          // the path from the end cell on, if that lies in the eager tile: two bits of source per step
    path_high: u32,         // its steps from the 17th on
}

// One stripe of a relaxed run: LANES * STRIPE_ROWS rows.
struct Stripe {
    task_ix: u32,
    stripe_ix: u32,         // from 0
    first: u32,             // first column
    end: u32,               // column after the last one that was looked at
    threshold: i32,         // T of its rows
    last: u32,              // last live column of the row above; first is the first one
    kept: u32,              // where the row above is kept, or NOT_KEPT
}

// What the executor keeps of a stripe of a relaxed run.
struct StripePlan {
    first: u32,             // first column
    end: u32,               // column after the last one that is needed
    threshold: i32,         // T of its rows, as the inspector found it
    link_start: u32,        // words after the run's link_start
    last: u32,              // last live column of the row above, if that is kept
    kept: u32,              // where the row above is kept, or NOT_KEPT
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

// The path of a run, under way from its end cell to the anchor.
struct Script {
    start: u32,             // first word among the runs of columns
    capacity: u32,          // words it may write
    n_runs: u32,            // words that the path has so far, even if more than the capacity
    row: u32,               // the cell reached
    column: u32,
    arrived_by: u32,        // LINK_SOURCE through which it was reached
    run_len: u32,           // columns of the run that goes on
    is_done: u32,
}

// Upper bounds of the scores of both sides of an anchor; NO_BOUND where it does not matter or could not be told.
struct SideBounds {
    left: i32,
    right: i32,
    is_done: u32,           // 1
}
