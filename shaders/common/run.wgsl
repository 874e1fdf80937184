// run: a workgroup takes one run after the other from the queue and sweeps its rows. A dispatch stays short: after
// params.row_budget rows the workgroup saves its run and the next dispatch goes on with it.
//
// hooks: end_hull(task_ix, rows_ix, first, end), end_run(task_ix, verdict), and those of row.wgsl

var<private> run_task_ix: u32;
var<private> run_row: u32;       // the next row to sweep = rows looked at so far
var<private> run_is_near_limit: u32;  // 1: the cells must be counted before every row

const NO_TASK: u32 = 0xffffffffu;
const SAVED_HEADER: u32 = 16u;
const SAVED_PER_LANE: u32 = 2u * COLUMNS + 8u;
const SAVED_WORDS: u32 = SAVED_HEADER + SAVED_PER_LANE * LANES;

fn run_tasks(slot: u32) {
    var rows_left = params.row_budget;
    var task_ix = restore_run(slot);
    loop {
        if same_in_all(task_ix == NO_TASK) {
            task_ix = take_task();
            if same_in_all(task_ix >= params.n_tasks) {
                break;
            }
            start_run(task_ix);
        }
        let status = sweep_rows(tasks[task_ix], &rows_left);
        if same_in_all(status == 0u) {
            save_run(slot);
            break;
        }
        finish_run(status);
        task_ix = NO_TASK;
        if same_in_all(rows_left == 0u) {
            break;
        }
    }
    if lane == 0u {
        atomicAdd(&counters[COUNTER_ROWS], params.row_budget - rows_left);
    }
}

fn take_task() -> u32 {
    var ticket = 0u;
    if lane == 0u {
        ticket = atomicAdd(&counters[COUNTER_NEXT], 1u);
    }
    return from_first_lane(ticket);
}

fn start_run(task_ix: u32) {
    run_task_ix = task_ix;
    run_row = 1u;
    start_row0(tasks[task_ix]);
    watch_limit();
}

// Sweeps rows until the run ends (its status) or the budget is used up (0).
fn sweep_rows(task: Task, rows_left: ptr<function, u32>) -> u32 {
    var next_class = row_class(task, run_row);
    loop {
// for each plain sweep p
        if needs_letters {
            load_letters(task, block * COLUMNS);
            needs_letters = false;
        }
        let plain_status = sweep_plain_rows(task, rows_left);
        if same_in_all(plain_status != 0u) {
            return plain_status;
        }
        next_class = row_class(task, run_row);
// end
        if same_in_all(run_row > task.stop_row) {
            return STATUS_DONE;
        }
        if same_in_all(*rows_left == 0u) {
            return 0u;
        }
        let effort = enter_row(task, run_row);
        if same_in_all(effort == 0u) {
            return STATUS_DONE;
        }
        if same_in_all(run_is_near_limit == 1u) {
            if same_in_all(exceeds_limit()) {
                return STATUS_TRUNCATED;
            }
        }
        let target_class = next_class;
        next_class = row_class(task, run_row + 1u);
        let status = sweep_row(task, run_row, target_class);
        *rows_left -= min(*rows_left, effort);
        run_row += 1u;
        if same_in_all(run_row % WINDOW_ROWS == 0u) {
            flush_hull();
            watch_limit();
        }
        if same_in_all(status != 0u) {
            return status;
        }
        if same_in_all(best > params.best_limit) {
            return STATUS_OUT_OF_RANGE;
        }
    }
    return 0u;
}

// Class of the target base of a row; anything past the last row.
fn row_class(task: Task, row: u32) -> u32 {
    let step = min(row, task.rows) - 1u;
    let base = params.target_origin + select(task.target_start + step, task.target_start - step, task.is_left == 1u);
    return nibble_at(target_letters[base >> 3u], base);
}

fn flush_hull() {
    let first = min_of_lanes_u(hull_first);
    let end = max_of_lanes_u(hull_end);
    if lane == 0u {
        end_hull(run_task_ix, (run_row - 1u) / WINDOW_ROWS, first, end);
    }
    hull_first = NO_COLUMN;
    hull_end = 0u;
}

// Whether the next WINDOW_ROWS rows may reach the limit.
fn watch_limit() {
    let reserve = (WINDOW_ROWS + 1u) * (LANES * COLUMNS + 1u);
    run_is_near_limit = select(0u, 1u, sum_of_lanes(cells) + reserve >= params.cell_limit);
}

// LASTZ's test before a row (5.10).
fn exceeds_limit() -> bool {
    let width = max_of_lanes_u(window_end) - min_of_lanes_u(first_kept);
    return sum_of_lanes(cells) + width >= params.cell_limit;
}

fn finish_run(status: u32) {
    if same_in_all(run_row % WINDOW_ROWS != 0u) {
        flush_hull();
    }
    var verdict: Verdict;
    verdict.score = best;
    verdict.end_row = best_row;
    verdict.end_column = bitcast<u32>(from_lane(bitcast<i32>(best_column), best_lane));
    verdict.rows = run_row;
    verdict.cells = sum_of_lanes(cells);
    verdict.status = status;
    if lane == 0u {
        end_run(run_task_ix, verdict);
        atomicAdd(&counters[COUNTER_FINISHED], 1u);
    }
}

// Keeps the run for the next dispatch.
fn save_run(slot: u32) {
    let start = slot * SAVED_WORDS;
    if lane == 0u {
        saved[start] = 1u;
        saved[start + 1u] = run_task_ix;
        saved[start + 2u] = run_row;
        saved[start + 3u] = run_is_near_limit;
        saved[start + 4u] = base_lane;
        saved[start + 5u] = prev_last;
        saved[start + 6u] = bitcast<u32>(best);
        saved[start + 7u] = best_row;
        saved[start + 8u] = best_lane;
    }
    let own = start + SAVED_HEADER + lane;
// for each column k
    saved[own + $ku * LANES] = bitcast<u32>(c$k);
    saved[own + (COLUMNS + $ku) * LANES] = bitcast<u32>(d$k);
// end
    let rest = own + 2u * COLUMNS * LANES;
    saved[rest] = block;
    saved[rest + LANES] = edge;
    saved[rest + 2u * LANES] = first_kept;
    saved[rest + 3u * LANES] = window_end;
    saved[rest + 4u * LANES] = best_column;
    saved[rest + 5u * LANES] = cells;
    saved[rest + 6u * LANES] = hull_first;
    saved[rest + 7u * LANES] = hull_end;
}

// Takes up the run that the last dispatch kept in this slot. Returns its task, or NO_TASK.
fn restore_run(slot: u32) -> u32 {
    let start = slot * SAVED_WORDS;
    if same_in_all(saved[start] == 0u) {
        return NO_TASK;
    }
    run_task_ix = from_first_lane(saved[start + 1u]);
    run_row = from_first_lane(saved[start + 2u]);
    run_is_near_limit = from_first_lane(saved[start + 3u]);
    base_lane = from_first_lane(saved[start + 4u]);
    prev_last = from_first_lane(saved[start + 5u]);
    best = bitcast<i32>(from_first_lane(saved[start + 6u]));
    best_row = from_first_lane(saved[start + 7u]);
    best_lane = from_first_lane(saved[start + 8u]);
    if lane == 0u {
        saved[start] = 0u;
    }
    let own = start + SAVED_HEADER + lane;
    let rest = own + 2u * COLUMNS * LANES;
    block = saved[rest];
    enter_block(tasks[run_task_ix]);
// for each column k
    c$k = bitcast<i32>(saved[own + $ku * LANES]);
    d$k = bitcast<i32>(saved[own + (COLUMNS + $ku) * LANES]);
// end
    edge = saved[rest + LANES];
    first_kept = saved[rest + 2u * LANES];
    window_end = saved[rest + 3u * LANES];
    best_column = saved[rest + 4u * LANES];
    cells = saved[rest + 5u * LANES];
    hull_first = saved[rest + 6u * LANES];
    hull_end = saved[rest + 7u * LANES];
    return run_task_ix;
}
