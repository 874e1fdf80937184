// relaxed_stripe: the stripe sweep of a relaxed run. A stripe is LANES * STRIPE_ROWS rows, a part of the contract's
// CONTRACT_ROWS; lane l holds STRIPE_ROWS consecutive rows of it and is one column behind lane l - 1:
//
//   step s:   lane 0 at column s, lane 1 at column s - 1, ...     C and D of a lane's last row, and the column's letter,
//             move one lane down with every step                  go to the next lane; those of the last lane to memory
//
// All live cells of a stripe lie at or right of the first live column of the row above. They end where the row above has
// no live cell any more and no lane holds a cell that could come to life again before the next pruning.
//
// Steps come in turns. With each step a path gains one pair at most; a turn that begins too far below the best to reach
// it does not look for a better one.
//
// What steers loops comes from reductions and broadcasts over the lanes: drivers see that it is the same in all lanes only
// then, and NVIDIA's guards every shuffle below a branch of which it does not see that.
//
// hooks: LINKS, threshold_of_stripe(task, stripe_ix), end_of_stripe(task, stripe_ix), emit_links(step, column),
//        end_stripe(stripe_ix, end), keep_row(): where the row above the next stripe is kept

// Steps of a turn.
const TURN: u32 = min(8u, LANES);
const NO_COLUMN: u32 = 0xffffffffu;
const BARELY_ALIVE: i32 = DEAD / 2i;
// Steps in which the lanes that hold the eager tile are in its columns.
const EAGER_STEPS: u32 = EAGER_TILE + 1u + EAGER_TILE / STRIPE_ROWS;

// For LANES columns: C and D of the row above and the letter, as lane 0 meets them, and C and D that the last lane leaves.
var<workgroup> sh_entering: array<vec3<i32>, LANES>;
var<workgroup> sh_leaving: array<vec2<i32>, LANES>;

var<private> run_row: u32;           // first row of the stripe
var<private> run_first: u32;         // first and last live column of the row above
var<private> run_last: u32;
var<private> run_threshold: i32;     // T
var<private> run_best: i32;          // the greatest cell so far, and where
var<private> run_best_row: u32;
var<private> run_best_column: u32;
var<private> run_steps: u32;         // steps so far
var<private> run_kept: u32;          // where the row above is kept, or NOT_KEPT
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
    run_kept = NOT_KEPT;
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
    run_kept = keep_row();
    // The executor repeats what has passed this test.
    let is_cut = steps >= MOST_STEPS && !LINKS;
    let is_done = run_row > task.rows || run_first == NO_COLUMN;
    var status = select(0u, STATUS_DONE, is_done);
    status = select(status, STATUS_TOO_WIDE, is_cut);
    status = select(status, STATUS_OUT_OF_RANGE, run_best > params.best_limit);
    return from_first_lane(status);
}

// A stripe that takes more could run over its own boundary.
const MOST_STEPS: u32 = RELAXED_BOUNDARY - 256u;

var<private> next_first: u32;        // this lane's view of the live columns of the stripe's last row
var<private> next_last: u32;
var<private> odd_letters: u32;       // whether letters are odd: 1 in the present LANES columns, 2 in those before
var<private> stripe_best: i32;       // the greatest cell so far, this stripe included

// Sweeps the columns from run_first on, at most up to `end`. Returns the steps that it took.
fn sweep_columns(task: Task, end: u32) -> u32 {
    let n_steps = from_first_lane(end - run_first + LANES - 1u);
    let n_entering = from_first_lane(run_last + 3u - run_first);
    let n_eager = from_first_lane(select(0u, EAGER_STEPS, HAS_EAGER_TILE && run_row == 1u));
    let live = run_threshold - (i32(PRUNE_ROWS) - 1i) * params.max_score;
    let reach = i32(TURN) * params.max_score;
    let any_odd_row = any_lane(has_odd_row);
    odd_letters = 0u;
    next_first = NO_COLUMN;
    next_last = 0u;
    stripe_best = run_best;
    var is_high_above = false;
    var step = 0u;
    loop {
        let top = max_of_lanes(greatest_of_lane());
        let is_past = step >= n_entering && top < live && !LINKS;
        if same_in_all(is_past || step >= n_steps || (step >= MOST_STEPS && !LINKS)) {
            break;
        }
        if same_in_all(step % LANES == 0u) {
            workgroupBarrier();
            leave(task, step);
            is_high_above = enter(task, run_first + step, stripe_best - reach);
            workgroupBarrier();
        }
        let is_full = LINKS || any_odd_row || odd_letters != 0u || step < n_eager;
        if same_in_all(is_full) {
            for (var turn = 0u; turn < TURN; turn += 1u) {
                sweep_step_full(task, step + turn);
            }
            settle_best();
        } else if same_in_all(is_high_above || top >= stripe_best - reach) {
            for (var turn = 0u; turn < TURN; turn += 1u) {
                sweep_step_near_best(task, step + turn);
            }
            settle_best();
        } else {
            for (var turn = 0u; turn < TURN; turn += 1u) {
                sweep_step_quiet(task, step + turn);
            }
        }
        step += TURN;
    }
    workgroupBarrier();
    leave(task, step);
    return step;
}

// for each form f
fn sweep_step_$form(task: Task, step: u32) {
    let column = run_first + step - lane;
    let entering = sh_entering[step % LANES];
    let handed = handed_down(step);
    let given = select(handed, entering, lane == 0u);
    last_letter = bitcast<u32>(given.z);
    var letter = last_letter;
    take_cells(step);
    if $is_full {
        letter = add_odd_scores(task, letter);
    }
    sweep_column_$form(given.x, given.y, letter, column);
    if $is_full {
        emit_links(step, column);
    }
    keep_cells(step + 1u);
    if lane == LANES - 1u {
        sh_leaving[step % LANES] = vec2(last_c, last_d);
    }
}

// end
// Drops what a lane found if another one found better.
fn settle_best() {
    stripe_best = max_of_lanes(lane_best);
    lane_best_row = select(0u, lane_best_row, lane_best == stripe_best);
    lane_best = stripe_best;
}

// Gets the columns first .. first + LANES of the row above the stripe. Whether one of them reaches `high`.
fn enter(task: Task, first: u32, high: i32) -> bool {
    let column = first + lane;
    var c = DEAD;
    var d = DEAD;
    var letter = 1u;
    if column <= run_last {
        if run_row == 1u {
            // A deletion opens from the insertion.
            let insertion = -params.gap_open_extend - (i32(column) - 1i) * params.gap_extend;
            c = select(insertion, 0i, column == 0u);
            d = c;
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
    sh_entering[lane] = vec3(c, d, bitcast<i32>(letter));
    odd_letters = ((odd_letters << 1u) & 2u) | select(0u, 1u, any_lane(is_odd_letter(letter)));
    return any_lane(c >= high);
}

// Keeps what the last lane left behind in the LANES steps, or fewer, before `end`: its column is LANES - 1 behind.
fn leave(task: Task, end: u32) {
    if end == 0u {
        return;
    }
    let step = (end - 1u) / LANES * LANES + lane;
    if step < end && step >= LANES - 1u {
        let column = run_first + step - (LANES - 1u);
        let left = sh_leaving[lane];
        boundary[boundary_start + column % RELAXED_BOUNDARY] = left;
        if left.x > BARELY_ALIVE && column <= task.columns {
            next_first = min(next_first, column);
            next_last = max(next_last, column);
        }
    }
}

// Moves the best on to the greatest cell of the stripe, the last one in row-major order among equals.
fn note_best() {
    settle_best();
    let row = max_of_lanes_u(lane_best_row);
    if row > 0u {
        run_best = stripe_best;
        run_best_row = row;
        run_best_column = max_of_lanes_u(select(0u, lane_best_column, lane_best_row == row));
    }
}
