// relaxed_stripe: the stripe sweep of a relaxed run. A stripe is LANES * STRIPE_ROWS rows, a part of the contract's
// CONTRACT_ROWS; lane l holds STRIPE_ROWS consecutive rows of it and is one column behind lane l - 1:
//
//   step s:   lane 0 at column s, lane 1 at column s - 1, ...     C and D of a lane's last row, and the column's letter,
//             move one lane down with every step                  go to the next lane; those of the last lane to memory
//
// All live cells of a stripe lie at or right of the first live column of the row above. They end where the row above has
// no live cell any more and all lanes have been too low to come to life again for STRIPE_CHECK steps.
//
// hooks: LINKS, threshold_of_stripe(task, stripe_ix), end_of_stripe(task, stripe_ix), emit_links(task, step, column)

// Steps between looks at whether any lane is live.
const STRIPE_CHECK: u32 = 8u;
const NO_COLUMN: u32 = 0xffffffffu;
const BARELY_ALIVE: i32 = DEAD / 2i;
// Steps in which the lanes that hold the eager tile are in its columns.
const EAGER_STEPS: u32 = EAGER_TILE + 1u + EAGER_TILE / STRIPE_ROWS;

// C and D of the row above and the letter, for the LANES columns that lane 0 enters next.
var<workgroup> sh_entering: array<vec3<i32>, LANES>;

var<private> run_row: u32;           // first row of the stripe
var<private> run_first: u32;         // first and last live column of the row above
var<private> run_last: u32;
var<private> run_threshold: i32;     // T
var<private> run_best: i32;          // the greatest cell so far, and where
var<private> run_best_row: u32;
var<private> run_best_column: u32;
var<private> run_steps: u32;         // steps so far
var<private> boundary_start: u32;    // where this workgroup's boundary begins

// Row 0 is one insertion (lastz-semantics 5.2).
fn start_rows(task: Task) {
    run_row = 1u;
    run_first = 0u;
    run_last = min(params.row0_last, task.columns);
    run_threshold = -params.y_drop;
    run_best = 0i;
    run_best_row = 0u;
    run_best_column = 0u;
    run_steps = 0u;
}

// Sweeps one stripe and goes on to the next. Returns a status, or 0 to go on.
fn sweep_stripe(task: Task) -> u32 {
    let stripe_ix = (run_row - 1u) / ROWS_PER_STRIPE;
    if (run_row - 1u) % CONTRACT_ROWS == 0u {
        run_threshold = run_best - params.y_drop;
    }
    run_threshold = threshold_of_stripe(task, stripe_ix, run_threshold);
    start_lane(task, run_row, run_threshold, run_best);
    let steps = sweep_columns(task, end_of_stripe(task, stripe_ix));
    run_steps += steps;
    storageBarrier();
    end_stripe(stripe_ix, min(run_first + steps, task.columns + 1u));
    note_best();
    run_row += ROWS_PER_STRIPE;
    run_first = min_of_lanes_u(next_first);
    run_last = max_of_lanes_u(next_last);
    if run_best > params.best_limit {
        return STATUS_OUT_OF_RANGE;
    }
    // The executor repeats what has passed this test.
    let is_cut = steps >= MOST_STEPS;
    if is_cut && !LINKS {
        return STATUS_TOO_WIDE;
    }
    if run_row > task.rows || run_first == NO_COLUMN {
        return STATUS_DONE;
    }
    return 0u;
}

// A stripe that takes more could run over its own boundary.
const MOST_STEPS: u32 = RELAXED_BOUNDARY - 256u;

var<private> next_first: u32;        // this lane's view of the live columns of the stripe's last row
var<private> next_last: u32;

// Sweeps the columns from run_first on, at most up to `end`. Returns the steps that it took.
fn sweep_columns(task: Task, end: u32) -> u32 {
    let n_steps = end - run_first + LANES - 1u;
    let live = run_threshold - params.revival;
    let any_odd_row = any_lane(has_odd_row);
    var odd_letters = 0u;           // 1: in the present LANES columns, 2: in those before
    next_first = NO_COLUMN;
    next_last = 0u;
    var step = 0u;
    var recent = DEAD;
    loop {
        if step % LANES == 0u {
            odd_letters = (odd_letters << 1u) & 2u;
            odd_letters |= select(0u, 1u, load_entering(task, run_first + step));
        }
        let column = run_first + step - lane;
        let entering = sh_entering[step % LANES];
        let handed = from_lane_before(vec3(last_c, last_d, bitcast<i32>(last_letter)));
        let given = select(handed, entering, lane == 0u);
        last_letter = bitcast<u32>(given.z);
        var letter = last_letter;
        if any_odd_row || odd_letters != 0u {
            letter = add_odd_scores(task, letter);
        }
        var top = DEAD;
        if LINKS || (run_row == 1u && step < EAGER_STEPS) {
            top = sweep_column(given.x, given.y, letter, column, true);
            emit_links(task, step, column);
        } else {
            top = sweep_column(given.x, given.y, letter, column, false);
        }
        recent = max(recent, top);
        // Before the last lane has reached the first column its cells are dead.
        if lane == LANES - 1u && step >= LANES - 1u {
            boundary[boundary_start + column % RELAXED_BOUNDARY] = vec2(last_c, last_d);
            if last_c > BARELY_ALIVE && column <= task.columns {
                next_first = min(next_first, column);
                next_last = column;
            }
        }
        step += 1u;
        if step >= n_steps {
            break;
        }
        if !LINKS && step % STRIPE_CHECK == 0u {
            if run_first + step > run_last + 2u && !any_lane(recent >= live) || step >= MOST_STEPS {
                break;
            }
            recent = DEAD;
        }
    }
    return step;
}

// Gets the columns chunk .. chunk + LANES of the row above the stripe. Whether one of them has an odd letter.
fn load_entering(task: Task, chunk: u32) -> bool {
    let column = chunk + lane;
    var c = DEAD;
    var d = DEAD;
    var letter = 1u;
    if column <= run_last {
        if run_row == 1u {
            let insertion = -params.gap_open_extend - (i32(column) - 1i) * params.gap_extend;
            c = select(insertion, 0i, column == 0u);
            d = c - params.gap_open_extend;
        } else {
            let above = boundary[boundary_start + column % RELAXED_BOUNDARY];
            c = above.x;
            d = above.y;
        }
    }
    if column > task.columns {
        letter = NO_LETTER;
    } else if column > 0u {
        let step = column - 1u;
        let base = params.query_origin + select(task.query_start + step, task.query_start - step, task.is_left == 1u);
        letter = letter_word(nibble_at(query_letters[base >> 3u], base));
    }
    workgroupBarrier();
    sh_entering[lane] = vec3(c, d, bitcast<i32>(letter));
    workgroupBarrier();
    return any_lane(is_odd_letter(letter));
}

// Moves the best on to the greatest cell of the stripe, the last one in row-major order among equals.
fn note_best() {
    let best = max_of_lanes(lane_best);
    let row = max_of_lanes_u(select(0u, lane_best_row, lane_best == best));
    if row > 0u {
        let is_owner = lane_best == best && lane_best_row == row;
        run_best = best;
        run_best_row = row;
        run_best_column = max_of_lanes_u(select(0u, lane_best_column, is_owner));
    }
}
