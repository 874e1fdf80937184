// relaxed_column: one column of a lane's STRIPE_ROWS rows, by the relaxed contract (src/extend/relaxed.rs).
//
//   P = C(above, left) + score      C = max(P, D, I)      a gap opens only where P >= D and P >= I, that is C = P
//
// D and I are held as D + open + extend and I + open + extend: what opens is then P itself, and a cell takes
//
//   C = max(max(D, I) - open - extend, P)    S = P if C = P, else DEAD    D = max(D - extend, S)    I = max(I - extend, S)
//
// Three forms: quiet where no cell can reach the best, near_best where one can, full with links and for letters that the
// packed profiles do not know. Each is called in one place, so that compilers dissolve it there.
//
// Cells die in rows divisible by PRUNE_ROWS only. STRIPE_ROWS divides PRUNE_ROWS, so that such a row is the last one of
// a lane, and elsewhere nothing has to be tested. C and D of that row go to the next lane; they say who died.
//
// The end cell is the greatest cell, the last one in row-major order among equals. No test asks whether it is a diagonal
// cell: a cell in a gap is less than the diagonal cell in which the gap opened (open + extend > 0).
//
// hooks: keep_cells(step): C, D and I that a step begins with; take_cells(step): the same back; handed_down(step): C, D
//        and letter of the lane before

// for each stripe row r
var<private> diagonal$r: i32;        // C of the row above, one column to the left
var<private> insertion$r: i32;       // I that enters the next column
var<private> profile$r: u32;
// end
var<private> lane_row: u32;          // this lane's first row
var<private> row_classes: u32;       // classes of its rows, 4 bits each
var<private> has_odd_row: bool;
var<private> prune_below: i32;       // C below this dies in its last row
var<private> last_c: i32;            // what goes to the next lane: C and D of the last row, and the letter
var<private> last_d: i32;
var<private> last_letter: u32;
var<private> link_word: u32;         // links of the column, if asked for
var<private> lane_best: i32;         // the greatest cell of this lane in this stripe, if at least the best so far
var<private> lane_best_row: u32;     // 0: none
var<private> lane_best_column: u32;

// A column past the end of the query.
const NO_LETTER: u32 = 3u;
// Rows past the end of the target score so low against everything that they never raise the best.
const PAST_THE_END: i32 = -128i;
const PAST_THE_END_PROFILE: u32 = 0x80808080u;
// Below any value: nothing dies.
const NOTHING: i32 = 2i * DEAD;

fn start_lane(task: Task, first_row: u32, threshold: i32, best: i32) {
    lane_row = first_row + lane * STRIPE_ROWS;
    prune_below = select(NOTHING, threshold, (lane_row + STRIPE_ROWS - 1u) % PRUNE_ROWS == 0u);
    row_classes = 0u;
    has_odd_row = false;
// for each stripe row r
    {
        diagonal$r = DEAD;
        insertion$r = DEAD;
        profile$r = PAST_THE_END_PROFILE;
        let row_ix = lane_row + $ru - 1u;
        if row_ix < task.rows {
            let base = params.target_origin
                + select(task.target_start + row_ix, task.target_start - row_ix, task.is_left == 1u);
            let row_class = nibble_at(target_letters[base >> 3u], base);
            profile$r = profile_of(row_class);
            row_classes |= row_class << (4u * $ru);
            has_odd_row = has_odd_row || row_class >= N_PLAIN_CLASSES;
        }
    }
// end
    last_c = DEAD;
    last_d = DEAD;
    last_letter = 1u;
    lane_best = best;
    lane_best_row = 0u;
    keep_cells(0u);
}

fn is_odd_letter(letter: u32) -> bool {
    return letter - 2u < N_CLASSES - 2u;
}

// Where the packed profiles do not know the score, it is added to the diagonals beforehand. Returns the letter to look up
// in the profiles: none then.
fn add_odd_scores(task: Task, letter: u32) -> u32 {
    if !has_odd_row && !is_odd_letter(letter) {
        return letter;
    }
// for each stripe row r
    diagonal$r += odd_score((row_classes >> (4u * $ru)) & 15u, letter, lane_row + $ru <= task.rows);
// end
    return 0u;
}

fn odd_score(row_class: u32, letter: u32, is_inside: bool) -> i32 {
    if letter == NO_LETTER {
        return DEAD;
    }
    return select(PAST_THE_END, score_of(row_class, letter), is_inside);
}

// for each form f
// `deletion_above` is D that enters the first row, held as above.
fn sweep_column_$form(above: i32, deletion_above: i32, letter: u32, column: u32) {
    var carried = above;
    var deletion = deletion_above;
    var top = DEAD;
    if $is_full {
        link_word = 0u;
    }
// for each stripe row r
    let pair$r = diagonal$r + dot4I8Packed(profile$r, letter);
    let value$r = max(max(deletion, insertion$r) - params.gap_open_extend, pair$r);
    let opened$r = select(DEAD, pair$r, pair$r == value$r);
    if $is_full {
        let gap = select(LINK_INSERTION, LINK_DELETION, deletion >= insertion$r);
        let link = select(gap, LINK_PAIR, pair$r == value$r)
            | select(0u, LINK_INSERTION_EXTENDS, insertion$r - params.gap_extend >= opened$r)
            | select(0u, LINK_DELETION_EXTENDS, deletion - params.gap_extend >= opened$r);
        link_word |= link << (4u * $ru);
    }
    deletion = max(deletion - params.gap_extend, opened$r);
    insertion$r = max(insertion$r - params.gap_extend, opened$r);
    diagonal$r = carried;
    carried = value$r;
    if $finds_best {
        top = max(top, value$r);
    }
// end
    let dies = carried < prune_below;
    last_c = select(carried, DEAD, dies);
    last_d = select(deletion, DEAD, dies);
    if $finds_best && top >= lane_best {
        var row = lane_row;
// for each stripe row r
        row = select(row, lane_row + $ru, value$r == top);
// end
        if top > lane_best || row >= lane_best_row {
            lane_best = top;
            lane_best_row = row;
            lane_best_column = column;
        }
    }
}

// end
// Nothing that this lane hands on is greater: C of its last column, and of the row above it.
fn greatest_of_lane() -> i32 {
    var top = last_c;
// for each stripe row r
    top = max(top, diagonal$r);
// end
    return top;
}
