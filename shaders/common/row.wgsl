// row: the exact row sweep of a one-sided y-drop run, lanes across the columns (lastz-semantics 5.2 to 5.4, 11b).
//
// The columns are cut into blocks of COLUMNS columns; block b belongs to lane b % LANES. The lanes hold a window of
// LANES blocks, a ring that follows the live cells to the right:
//
//   lane:        5      6      7      0      1   ...   4        base_lane = 5: the lane of the leftmost block
//   block:      13     14     15     16     17   ...  20        place = (lane - base_lane) mod LANES, left to right
//
// Per row:   P(c) = C(above, c-1) + score                       C of dead cells is DEAD, so P needs a kept predecessor
//            I(c) = max over c' < c of P(c') - open - (c - c') * extend, where P(c') >= D(c')   (a max-plus scan)
//            best = max over all P before this cell in row-major order                          (a max scan)
//            C(c) = max(P, D, I), kept iff C >= best - y_drop
//            D(below, c) = max(D - extend, P - open - extend if P >= I)
// LASTZ opens gaps only where P >= D and P >= I. But where I > P, an insertion opened at P is worth less than the one that
// goes on (open >= 0), and where D > P, a deletion likewise. There P decides nothing else: it is dead where D > P.
// No P can reach best and be less than D or I, as those come from earlier cells and have paid for a gap: every P that
// reaches best is a diagonal cell. D and I of dead cells are not reset: they lie below best - y_drop for good.
// Columns more than one past the last kept cell of the row above are only reached by insertion, and there a deletion
// opens from the insertion (5.4): open_past_edge().
//
// Accepted blocks narrow the windows: bounded.wgsl or unbounded.wgsl.
//
// hooks: emit_link(place of the column, link), cut_deletion(place of the column), end_row_links()

var<private> base_lane: u32;
var<private> block: u32;         // the block that this lane holds
var<private> n_valid: u32;       // its columns that lie inside the query
var<private> has_odd: bool;      // one of its letters is odd
var<private> edge: u32;          // place + 2 of its last kept column in the row above; 0 if none
var<private> kept: array<u32, KEPT_WORDS>;  // its kept columns in this row, one bit each
var<private> first_kept: u32;    // column of its first kept cell in the row above; NO_COLUMN if none
var<private> window_end: u32;    // column after those that its kept cells in the row above open
var<private> prev_last: u32;     // place of the lane with the last kept cell of the row above
var<private> best: i32;
var<private> best_row: u32;
var<private> best_lane: u32;     // the lane that holds the end cell's column in best_column
var<private> best_column: u32;
var<private> cells: u32;         // this lane's share of the count, modulo 2^32
var<private> hull_first: u32;    // this lane's share of the hull of the present 32 rows
var<private> hull_end: u32;
// for each column k
var<private> c$k: i32;           // C of the row above
var<private> d$k: i32;           // D that enters this row
var<private> pair$k: i32;        // P of this row, dead where D is greater
var<private> letter$k: u32;
// end

const NO_COLUMN: u32 = 0xffffffffu;
const BARELY_ALIVE: i32 = DEAD / 2i;

fn place_of_lane() -> u32 {
    return (lane - base_lane) & LANE_MASK;
}

// Starts a run: row 0 is one insertion (5.2).
fn start_row0(task: Task) {
    base_lane = 0u;
    best = 0i;
    best_row = 0u;
    best_lane = 0u;
    best_column = 0u;
    start_bounds(task);
    cells = 0u;
    hull_first = NO_COLUMN;
    hull_end = 0u;
    block = lane;
    enter_block(task);
    let row0_end = min(params.row0_last, task.columns) + 1u;
    clear_kept();
// for each column k
    {
        let column = block * COLUMNS + $ku;
        let insertion = -params.gap_open_extend - (i32(column) - 1i) * params.gap_extend;
        if column < row0_end {
            c$k = select(insertion, 0i, column == 0u);
            d$k = c$k - params.gap_open_extend;
            kept[$m] |= $b;
        }
    }
// end
    prev_last = min((row0_end - 1u) / COLUMNS, LANES - 1u);
    note_edges(task, kept_end());
    if lane == prev_last {
        cells = window_end;
    }
    hull_first = select(NO_COLUMN, 0u, lane == 0u);
}

// Takes over the letters of `block`; its cells are dead.
fn enter_block(task: Task) {
    let column0 = block * COLUMNS;
    n_valid = select(min(task.columns + 1u - column0, COLUMNS), 0u, column0 > task.columns);
    has_odd = false;
// for each column k
    c$k = DEAD;
    d$k = DEAD;
    letter$k = 1u;
// end
// for each branching sweep p
    if n_valid > 0u {
        load_letters(task, column0);
    }
// end
// for each plain sweep p
    needs_letters = n_valid > 0u;
// end
}

// Letters of columns column0 and on. Column 0 has none; its cell only ever has D.
fn load_letters(task: Task, column0: u32) {
    let forward = params.query_origin + task.query_start + column0 - 1u;
    let backward = params.query_origin + task.query_start - column0 + 2u - COLUMNS;
    let low = select(forward, backward, task.is_left == 1u);
    let first_word = low >> 3u;
    let shift = 4u * (low & 7u);
// for each word w
    var word$w = query_letters[first_word + $wu] >> shift;
    if shift > 0u {
        word$w |= query_letters[first_word + $wu + 1u] << (32u - shift);
    }
// end
    if task.is_left == 1u {
// for each word w
        let forward$w = word$w;
// end
// for each word w
        word$w = reverse_nibbles(forward$r);
// end
    }
// for each word w
    has_odd = has_odd || has_odd_nibble(word$w);
// end
// for each column k
    letter$k = letter_word(nibble_at(word$w, $ku));
// end
}

fn clear_kept() {
// for each kept word m
    kept[$m] = 0u;
// end
}

// Place after this lane's last kept column in this row; 0 if none.
fn kept_end() -> u32 {
    var end = 0u;
// for each kept word m
    if kept[$m] != 0u {
        end = 32u * $mu + firstLeadingBit(kept[$m]) + 1u;
    }
// end
    return end;
}

// Remembers the edges of this lane's kept cells for the next row.
fn note_edges(task: Task, end: u32) {
    edge = select(0u, end + 1u, end > 0u);
    window_end = select(0u, min(block * COLUMNS + end + 1u, last_column(task) + 1u), end > 0u);
    hull_end = max(hull_end, window_end);
    first_kept = NO_COLUMN;
// for each kept word m
    if kept[$m] != 0u && first_kept == NO_COLUMN {
        first_kept = block * COLUMNS + 32u * $mu + firstTrailingBit(kept[$m]);
    }
// end
}

// P of all columns of this lane.
fn score_pairs(target_class: u32) {
    let left = from_lane(c$last, lane - 1u);
    var diagonal = select(left, DEAD, lane == base_lane);
    let profile = profile_of(target_class);
    if has_odd || target_class >= N_PLAIN_CLASSES {
// for each column k
        {
            let pair = diagonal + score_of(target_class, letter$k);
            diagonal = c$k;
            pair$k = select(DEAD, pair, pair >= d$k);
        }
// end
    } else {
// for each column k
        {
            let pair = diagonal + dot4I8Packed(profile, letter$k);
            diagonal = c$k;
            pair$k = select(DEAD, pair, pair >= d$k);
        }
// end
    }
    if n_valid < COLUMNS {
// for each column k
        pair$k = select(pair$k, DEAD, $ku >= n_valid);
// end
    }
    if BOUNDED {
// for each column k
        {
            let column = block * COLUMNS + $ku;
            let is_dead = is_outside(column) || is_masked($mu, $b);
            pair$k = select(pair$k, DEAD, is_dead || is_first(column));
            d$k = select(d$k, DEAD, is_dead);
        }
// end
    } else {
        // Column 0 of the lane continues the row above if its left neighbour was kept.
        edge = select(edge, 1u, edge == 0u && left > BARELY_ALIVE && lane != base_lane);
    }
}

// What of I leaves this lane to the right, of the gaps opened in it.
fn insertion_leaving() -> i32 {
    var leaving = DEAD;
// for each column k
    leaving = max(leaving - params.gap_extend, pair$k - params.gap_open_extend);
    leaving = select(leaving, DEAD, is_masked($mu, $b));
// end
    return leaving;
}

// I that enters this lane from the left: a max-plus scan over the lanes of what leaves them.
fn insertion_from_left(leaving: i32) -> i32 {
    let place = place_of_lane();
    var entering = from_lane(leaving, lane - 1u);
    entering = select(entering, DEAD, place == 0u);
    // An insertion longer than y_drop / extend is dead.
    let lane_cost = i32(COLUMNS) * params.gap_extend;
    let wall = wall_of_lane();
// for each distance s
    if $s * lane_cost <= params.y_drop {
        let other = from_lane(entering, lane - $su) - $s * lane_cost;
        entering = max(entering, select(other, DEAD, place < $su + wall));
    }
// end
    return entering;
}

// Whether a P of this row may reach the best. What leaves a lane tells, but for masks: an insertion that opened in it
// has lost no more than COLUMNS - 1 extensions.
fn may_move_best(leaving: i32) -> bool {
    var top = leaving + (i32(COLUMNS) - 1i) * params.gap_extend + params.gap_open_extend;
    if BOUNDED {
// for each column k
        top = max(top, pair$k);
// end
    }
    return any_lane(top >= best);
}

// The best before this lane's first cell; moves the best on (ties move it, 5.2) if a P of this row reaches it.
fn best_from_left(row: u32) -> i32 {
    let before = best;
    var top = DEAD;
// for each column k
    top = max(top, pair$k);
// end
    if !any_lane(top >= before) {
        return before;
    }
    let place = place_of_lane();
    var entering = from_lane(top, lane - 1u);
    entering = select(entering, DEAD, place == 0u);
// for each distance s
    {
        let other = from_lane(entering, lane - $su);
        entering = max(entering, select(other, DEAD, place < $su));
    }
// end
    best = max_of_lanes(top);
    best_row = row;
    best_lane = (base_lane + first_and_last(top == best, base_lane).y) & LANE_MASK;
    if lane == best_lane {
// for each column k
        best_column = select(best_column, block * COLUMNS + $ku, pair$k == best);
// end
    }
    return max(entering, before);
}

// C, D and the keep test of all columns of this lane, as if the best did not move within the row. How the two selections
// that change nothing are written lets NVIDIA's compiler skip an instruction instead of adding one.
fn keep_cells(entering: i32) {
    var insertion = entering;
    let threshold = best - params.y_drop;
    clear_kept();
// for each column k
    {
        insertion = select(insertion, DEAD, is_masked($mu, $b));
        let value = max(max(pair$k, d$k), insertion);
        let is_kept = value >= threshold;
        let is_pair = pair$k == value;
        if LINKS {
            let opened = select(DEAD, pair$k - params.gap_open_extend, is_pair);
            let source = select(select(LINK_INSERTION, LINK_DELETION, d$k >= insertion), LINK_PAIR, is_pair);
            emit_link($ku, source
                | select(0u, LINK_INSERTION_EXTENDS, insertion - params.gap_extend >= opened)
                | select(0u, LINK_DELETION_EXTENDS, d$k - params.gap_extend >= opened));
        }
        let longer = d$k - params.gap_extend;
        d$k = select(longer, max(longer, pair$k - params.gap_open_extend), is_pair);
        insertion = max(insertion - params.gap_extend, pair$k - params.gap_open_extend);
        c$k = select(DEAD, value, is_kept);
        kept[$m] = select(kept[$m], kept[$m] | $b, is_kept);
    }
// end
}

// Where the best moves within the row, cells behind it have more to reach. `best_before`: before this lane's first cell.
fn drop_cells_behind_best(best_before: i32) {
    var threshold = best_before - params.y_drop;
// for each column k
    {
        let is_behind = c$k < threshold;
        c$k = select(c$k, DEAD, is_behind);
        kept[$m] &= ~select(0u, $b, is_behind);
        threshold = max(threshold, pair$k - params.y_drop);
    }
// end
}

// Cells past the last column are not there.
fn cut_cells(task: Task) {
    let column_end = last_column(task) + 1u;
    if block * COLUMNS + COLUMNS > column_end {
// for each column k
        if block * COLUMNS + $ku >= column_end {
            c$k = DEAD;
            kept[$m] &= ~$b;
        }
// end
    }
}

// Past the edge of the row above, a deletion opens from the insertion (5.4).
fn open_past_edge(end: u32) {
    if place_of_lane() < prev_last || end <= edge {
        return;
    }
// for each column k
    if $ku >= edge {
        d$k = c$k - params.gap_open_extend;
        if LINKS {
            cut_deletion($ku);
        }
    }
// end
}

// Sweeps one row. Returns a status, or 0 to go on.
fn sweep_row(task: Task, row: u32, target_class: u32) -> u32 {
    hull_first = min(hull_first, first_kept);
    hull_end = max(hull_end, window_end);
    // The window starts at the first kept cell of the row above, which the leftmost lane holds.
    if lane == base_lane {
        cells -= first_kept;
    }
    score_pairs(target_class);
    let leaving = insertion_leaving();
    let entering = insertion_from_left(leaving);
    keep_cells(entering);
    if may_move_best(leaving) {
        drop_cells_behind_best(best_from_left(row));
    }
    cut_cells(task);
    let end = kept_end();
    open_past_edge(end);
    end_row_links(task, row);
    return close_row(task, end);
}

// Counts the row and moves the ring behind it. Returns a status, or 0 to go on.
fn close_row(task: Task, end: u32) -> u32 {
    let live = first_and_last(end > 0u, base_lane);
    let place = place_of_lane();
    // The row was looked at up to the window that the row above opened, or further by prolongation.
    if place == max(live.y, prev_last) {
        cells += max(window_end, select(0u, block * COLUMNS + end, end > 0u));
    }
    note_edges(task, end);
    if !any_lane(end > 0u) {
        return STATUS_DONE;
    }
    // The ring is full and the last lane may go on.
    if any_lane(place == LANES - 1u && end == COLUMNS && block * COLUMNS + end <= task.columns) {
        return STATUS_TOO_WIDE;
    }
    if place < live.x {
        block += LANES;
        enter_block(task);
    }
    base_lane = (base_lane + live.x) & LANE_MASK;
    prev_last = live.y - live.x;
    return 0u;
}
