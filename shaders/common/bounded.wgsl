// bounded: accepted blocks confine a run (lastz-semantics 5.6, 5.7). Twin: unbounded.wgsl.
//
// The host lists, for every row from 1 on, ROW_LIMITS words in `plan` from the task's limit_start on: the first column
// of the window, the end of the window, the last column that prolongation may reach, and where the row's masked columns
// begin (counted from limit_start; the next row's entry ends them). Masked columns are dead, but not in prolongation.

const BOUNDED: bool = true;
const ROW_LIMITS: u32 = 4u;

var<private> row_first: u32;     // first column of the window
var<private> row_end: u32;       // column after its last
var<private> row_cap: u32;       // last column that prolongation may reach
var<private> masked: array<u32, KEPT_WORDS>;  // masked columns of this lane in this row, one bit each
var<private> has_masked: bool;

fn start_bounds(task: Task) {
    row_cap = task.columns;
}

// Narrows the window that the row above opened. Returns 0 if nothing is left, else how long the row takes.
fn enter_row(task: Task, row: u32) -> u32 {
    let at = task.limit_start + ROW_LIMITS * (row - 1u);
    let first = bitcast<u32>(from_lane(bitcast<i32>(first_kept), base_lane));
    let end = bitcast<u32>(from_lane(bitcast<i32>(window_end), base_lane + prev_last));
    let base_block = bitcast<u32>(from_lane(bitcast<i32>(block), base_lane));
    row_first = max(first, plan[at]);
    row_end = min(end, plan[at + 1u]);
    row_cap = plan[at + 2u];
    if row_end <= row_first {
        return 0u;
    }
    prev_last = (row_end - 1u) / COLUMNS - base_block;
    let place = place_of_lane();
    first_kept = max(first_kept, row_first);
    window_end = select(min(window_end, row_end), row_end, place == prev_last);
    edge = select(select(edge, 0u, place > prev_last), row_end - block * COLUMNS, place == prev_last);
    let masks = task.limit_start + plan[at + 3u];
    let masks_end = task.limit_start + plan[at + ROW_LIMITS + 3u];
// for each kept word m
    masked[$m] = 0u;
// end
    has_masked = false;
    for (var i = masks; i < masks_end; i += 1u) {
        let column = plan[i];
        if column >= row_first && column < row_end && column / COLUMNS == block {
            let place_in_lane = column % COLUMNS;
            masked[place_in_lane / 32u] |= 1u << (place_in_lane % 32u);
            has_masked = true;
        }
    }
    return 1u + masks_end - masks;
}

fn last_column(task: Task) -> u32 {
    return row_cap;
}

fn is_outside(column: u32) -> bool {
    return column < row_first || column >= row_end;
}

// The first column of a window has neither P nor I (5.3).
fn is_first(column: u32) -> bool {
    return column == row_first;
}

fn is_masked(word: u32, bit: u32) -> bool {
    return (masked[word] & bit) != 0u;
}

// 1 + the place of the nearest lane to the left that has a masked column: no insertion passes it. 0 if there is none.
fn wall_of_lane() -> u32 {
    if !any_lane(has_masked) {
        return 0u;
    }
    let place = place_of_lane();
    let own = select(0i, i32(place) + 1i, has_masked);
    var wall = from_lane(own, lane - 1u);
    wall = select(wall, 0i, place == 0u);
// for each distance s
    {
        let other = from_lane(wall, lane - $su);
        wall = max(wall, select(other, 0i, place < $su));
    }
// end
    return u32(wall);
}

// for each plain sweep p
fn has_masks(task: Task, row: u32) -> bool {
    let at = task.limit_start + ROW_LIMITS * (row - 1u) + 3u;
    return plan[at] != plan[at + ROW_LIMITS];
}

fn first_of_window() -> u32 {
    return row_first;
}

fn end_of_window() -> u32 {
    return row_end;
}
// end
