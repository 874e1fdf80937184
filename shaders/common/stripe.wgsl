// stripe: the stripe sweep of a one-sided run. A stripe is LANES * STRIPE_ROWS rows; lane l holds STRIPE_ROWS
// consecutive rows of it and is one column behind lane l - 1, so that all lanes work on an antidiagonal of blocks:
//
//   step s:   lane 0 at column s, lane 1 at column s - 1, ...     C and D of a lane's last row, and the column's letter,
//             move one lane down with every step                  go to the next lane; those of the last lane to memory
//
// The recurrence is the standard one (a gap may open from any cell), which is monotone: whatever cells LASTZ prunes,
// bounds or masks, no value here is below its value there. Cells below -y_drop are on no path of LASTZ's, whose best is
// never negative: a stripe begins at a column whose cell above may be at least -y_drop, and ends when all lanes have
// been below -y_drop for a turn of STRIPE_STEPS steps past the last such column.
//
// Whether cells are live is looked at once per turn: a cell of value v leaves an insertion of at least v - open - extend,
// which loses another extend with every column. So what the insertions hold after a turn bounds all cells of the turn.
//
// Letters that are not plain score as their upper bound: 0 as a column, their row's scores (at least -128) as a row.
//
// What steers loops comes from reductions over the lanes: drivers see that it is the same in all lanes only then, and
// NVIDIA's guards every shuffle below a branch of which it does not see that.
//
// hooks: none

// Columns of the row above that are kept between stripes, a power of two.
const BOUNDARY: u32 = 4096u;

var<private> stripe_best: i32;       // greatest C of this lane's cells so far
var<private> above_first: u32;       // columns of the row above that may be at least -y_drop
var<private> above_last: u32;
var<private> boundary_start: u32;    // where this workgroup's part of the boundary begins
var<private> chunk_c: i32;           // C and D of the row above and the letter, for column chunk + lane
var<private> chunk_d: i32;
var<private> chunk_letter: u32;
var<private> last_c: i32;            // what this lane hands to the next one
var<private> last_d: i32;
var<private> last_letter: u32;
var<private> diagonal_above: i32;    // C of the row above this lane's first row, one column to the left
// for each stripe row r
var<private> left$r: i32;            // C of row $r, one column to the left
var<private> insertion$r: i32;       // I that enters the next column
var<private> profile$r: u32;
// end

// Upper bound of the score of a one-sided run, or at least `goal` if the bound reaches that. NO_BOUND if it takes too
// many steps to say.
fn bound_of_run(task: Task, goal: i32, steps_left: ptr<function, u32>) -> i32 {
    stripe_best = 0i;
    above_first = 0u;
    above_last = min(params.row0_last, task.columns);
    var first_row = 1u;
    loop {
        if first_row > task.rows {
            break;
        }
        let status = sweep_stripe(task, first_row, steps_left);
        let best = max_of_lanes(stripe_best);
        if best >= goal {
            return best;
        }
        if status != 0u {
            return NO_BOUND;
        }
        storageBarrier();
        if above_first > above_last {
            break;
        }
        if above_last - above_first >= BOUNDARY - 3u * LANES {
            return NO_BOUND;
        }
        first_row += LANES * STRIPE_ROWS;
    }
    return max_of_lanes(stripe_best);
}

// Sweeps one stripe. Returns 0, or 1 if the steps are used up. Leaves the columns of its last row in above_*.
fn sweep_stripe(task: Task, first_row: u32, steps_left: ptr<function, u32>) -> u32 {
    start_stripe(task, first_row);
    let first = above_first;
    let entry_end = above_last + 2u;
    // An insertion below this, after a turn, shows that all cells of its row in the turn were below -y_drop.
    let live = -params.y_drop - params.gap_open_extend - (i32(STRIPE_STEPS) - 1i) * params.gap_extend;
    let is_first_lane = lane == 0u;
    let is_last_lane = lane == LANES - 1u;
    var next_first = NO_COLUMN;
    var next_last = 0u;
    var column = first;              // of lane 0
    loop {
        load_chunk(task, first_row, column, first, above_last);
        var source = 0u;
        loop {
// for each step u
            {
                let from_above_c = from_lane(chunk_c, source + $uu);
                let from_above_d = from_lane(chunk_d, source + $uu);
                let from_above_letter = bitcast<u32>(from_lane(bitcast<i32>(chunk_letter), source + $uu));
                let above = select(from_lane(last_c, lane - 1u), from_above_c, is_first_lane);
                let deletion = select(from_lane(last_d, lane - 1u), from_above_d, is_first_lane);
                let handed = bitcast<u32>(from_lane(bitcast<i32>(last_letter), lane - 1u));
                let letter = select(handed, from_above_letter, is_first_lane);
                stripe_best = max(stripe_best, sweep_column(above, deletion, letter));
                if is_last_lane {
                    boundary[boundary_start + ((column + $uu - lane) & (BOUNDARY - 1u))] = vec2(last_c, last_d);
                }
            }
// end
            var leaving = DEAD;
// for each stripe row r
            leaving = max(leaving, insertion$r);
// end
            // What counts of this is the last lane's.
            let is_live_below = insertion$last_row >= live;
            next_first = select(next_first, min(next_first, column), is_live_below);
            next_last = select(next_last, column + STRIPE_STEPS - 1u, is_live_below);
            column += STRIPE_STEPS;
            let is_over = column > entry_end && !any_lane(leaving >= live);
            if is_over || column > task.columns + LANES {
                // The last lane is LANES - 1 columns behind; it was dead before it reached the first one.
                let behind = LANES - 1u;
                let its_first = min_of_lanes_u(select(NO_COLUMN, next_first, is_last_lane));
                let its_last = max_of_lanes_u(select(0u, next_last, is_last_lane));
                above_first = max(its_first, first + behind) - behind;
                above_last = min(max(its_last, behind) - behind, task.columns);
                if its_first == NO_COLUMN {
                    above_first = NO_COLUMN;
                    above_last = 0u;
                }
                return 0u;
            }
            if *steps_left < STRIPE_STEPS {
                return 1u;
            }
            *steps_left -= STRIPE_STEPS;
            source += STRIPE_STEPS;
            if source >= LANES {
                break;
            }
        }
    }
    return 0u;
}

// Dead cells left of the first column; the profiles of this lane's rows.
fn start_stripe(task: Task, first_row: u32) {
    last_c = DEAD;
    last_d = DEAD;
    last_letter = 0u;
    diagonal_above = DEAD;
    let row = first_row + lane * STRIPE_ROWS;
// for each stripe row r
    left$r = DEAD;
    insertion$r = DEAD;
    profile$r = profile_of_row(task, row + $ru);
// end
}

// Rows past the end score so low against everything that they never raise the best.
fn profile_of_row(task: Task, row: u32) -> u32 {
    if row > task.rows {
        return 0x80808080u;
    }
    let step = row - 1u;
    let base = params.target_origin + select(task.target_start + step, task.target_start - step, task.is_left == 1u);
    return profile_of(nibble_at(target_letters[base >> 3u], base));
}

// Columns chunk .. chunk + LANES of the row above the stripe, one per lane.
fn load_chunk(task: Task, first_row: u32, chunk: u32, first: u32, last: u32) {
    let column = chunk + lane;
    chunk_c = DEAD;
    chunk_d = DEAD;
    chunk_letter = 0u;
    if column <= last {
        if first_row == 1u {
            let insertion = -params.gap_open_extend - (i32(column) - 1i) * params.gap_extend;
            chunk_c = select(insertion, 0i, column == 0u);
            chunk_d = chunk_c - params.gap_open_extend;
        } else {
            let above = boundary[boundary_start + column % BOUNDARY];
            chunk_c = above.x;
            chunk_d = above.y;
        }
    }
    if column >= 1u && column <= task.columns {
        let step = column - 1u;
        let base = params.query_origin + select(task.query_start + step, task.query_start - step, task.is_left == 1u);
        let class_ix = nibble_at(query_letters[base >> 3u], base);
        chunk_letter = select(1u << (8u * (class_ix & 3u)), 0u, class_ix >= N_PLAIN_CLASSES);
    }
}

// This lane's rows of one column. Returns the greatest C.
fn sweep_column(above: i32, deletion_above: i32, letter: u32) -> i32 {
    var diagonal = diagonal_above;
    var deletion = deletion_above;
    var top = DEAD;
    diagonal_above = above;
// for each stripe row r
    {
        let value = max(max(diagonal + dot4I8Packed(profile$r, letter), deletion), insertion$r);
        let opened = value - params.gap_open_extend;
        deletion = max(deletion - params.gap_extend, opened);
        insertion$r = max(insertion$r - params.gap_extend, opened);
        diagonal = left$r;
        left$r = value;
        top = max(top, value);
    }
// end
    last_c = left$last_row;
    last_d = deletion;
    last_letter = letter;
    return top;
}
