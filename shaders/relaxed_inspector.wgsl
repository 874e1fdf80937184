// relaxed_inspector: scores one-sided runs by the relaxed contract; paths that end in the first 16 x 16 cells come along.
// paper:    inspector; eager traceback
// twin:     src/cpu/relaxed.rs
// grid:     one workgroup per resident run; runs come from a queue
// reads:    params, scores, target_letters, query_letters, tasks as exact_inspector
// writes:   verdicts[n_tasks]               RelaxedVerdict
//           stripes[hull_capacity]          Stripe, in any order
//           kept_rows                       C and D of the row above every SEGMENT_ROWS-th, if there is room
//           counters[N_COUNTERS]            COUNTER_*
//           boundary                        C and D between stripes, and runs that go on in the next dispatch
// requires: layout, letters, exchange, links, relaxed_column, cells, relaxed_stripe, relaxed_run

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> scores: Scores;
@group(0) @binding(2) var<storage, read> target_letters: array<u32>;
@group(0) @binding(3) var<storage, read> query_letters: array<u32>;
@group(0) @binding(4) var<storage, read> tasks: array<Task>;
@group(0) @binding(5) var<storage, read_write> verdicts: array<RelaxedVerdict>;
@group(0) @binding(6) var<storage, read_write> stripes: array<Stripe>;
@group(0) @binding(7) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> boundary: array<vec2<i32>>;
@group(0) @binding(9) var<storage, read_write> kept_rows: array<vec2<i32>>;

const LINKS: bool = false;
// Where the eager tile begins in the header: a row of columns 0 .. EAGER_TILE for every lane.
const TILE_START: u32 = 8u;
const TILE_COLUMNS: u32 = EAGER_TILE + 1u;

fn threshold_of_stripe(task: Task, stripe_ix: u32, threshold: i32) -> i32 {
    return threshold;
}

fn end_of_stripe(task: Task, stripe_ix: u32) -> u32 {
    return task.columns + 1u;
}

fn emit_links(step: u32, column: u32) {
    if HAS_EAGER_TILE && run_row == 1u && lane * STRIPE_ROWS < EAGER_TILE && column < TILE_COLUMNS {
        boundary[header_start + TILE_START + lane * TILE_COLUMNS + column] = vec2(bitcast<i32>(link_word), 0i);
    }
}

// The counter goes on past the capacity: the host learns how much room it has to make.
fn end_stripe(stripe_ix: u32, end: u32) {
    if lane == 0u {
        let entry = atomicAdd(&counters[COUNTER_HULLS], 1u);
        if entry < params.hull_capacity {
            stripes[entry] = Stripe(run_task_ix, stripe_ix, run_first, end, run_threshold, run_last, run_kept);
        }
    }
}

fn start_run(task: Task) {
    start_rows(task);
}

// Keeps the live columns of the row above, from which the executor can begin.
fn keep_row() -> u32 {
    if (run_row - 1u) % SEGMENT_ROWS != 0u || run_first == NO_COLUMN {
        return NOT_KEPT;
    }
    let n_columns = run_last + 1u - run_first;
    var entry = params.kept_capacity;
    // The counter is left alone once it is past the capacity, so that it never overflows.
    if lane == 0u && atomicLoad(&counters[COUNTER_KEPT]) < params.kept_capacity {
        entry = atomicAdd(&counters[COUNTER_KEPT], n_columns);
    }
    entry = from_first_lane(entry);
    if entry + n_columns > params.kept_capacity {
        return NOT_KEPT;
    }
    let start = params.kept_start + entry;
    for (var column = lane; column < n_columns; column += LANES) {
        kept_rows[start + column] = boundary[boundary_start + (run_first + column) % RELAXED_BOUNDARY];
    }
    return start;
}

fn end_run(task_ix: u32, status: u32) {
    if lane != 0u {
        return;
    }
    var path = vec2(0u, 0u);
    if HAS_EAGER_TILE && run_best_row <= EAGER_TILE && run_best_column <= EAGER_TILE {
        path = eager_path();
    }
    let n_stripes = (run_row - 1u) / ROWS_PER_STRIPE;
    verdicts[task_ix] = RelaxedVerdict(
        run_best, run_best_row, run_best_column, n_stripes, run_steps, status, path.x, path.y);
}

// From the end cell back to row 0, two bits per step.
fn eager_path() -> vec2<u32> {
    var path = vec2(0u, 0u);
    var row = run_best_row;
    var column = run_best_column;
    var arrived_by = LINK_PAIR;
    for (var n = 0u; row > 0u && n < 2u * EAGER_TILE; n += 1u) {
        let row_ix = row - 1u;
        let word = boundary[header_start + TILE_START + row_ix / STRIPE_ROWS * TILE_COLUMNS + column].x;
        arrived_by = next_source((bitcast<u32>(word) >> (4u * (row_ix % STRIPE_ROWS))) & 15u, arrived_by);
        path[n / 16u] |= arrived_by << (2u * (n % 16u));
        row -= select(1u, 0u, arrived_by == LINK_INSERTION);
        column -= select(1u, 0u, arrived_by == LINK_DELETION);
    }
    return path;
}
