// plain_rows: rows of row.wgsl without odd letters, the ends of the query or masked columns, in a loop of their own that
// has next to no branches. lavapipe's compiler (Mesa 22) knows no branches but those of loops: it goes through both sides
// of every `if`, and loads and stores are loops over the lanes.
//
// hooks: those of row.wgsl

var<private> needs_letters: bool;    // this lane's block has none yet: they are loaded at one place of the text only
var<private> is_behind: bool;    // this lane's block lies left of all live cells: it must take the next one

// Sweeps plain rows as long as there are any. Returns the status of the last one; 0 to go on.
fn sweep_plain_rows(task: Task, rows_left: ptr<function, u32>) -> u32 {
    var status = 0u;
    is_behind = false;
    var has_swept = true;
    // Loops do not cost more than their turns: what is done once in many rows lies behind the inner ones.
    loop {
        loop {
            let target_class = row_class(task, run_row);
            has_swept = are_plain(task, target_class) && *rows_left > 0u;
            if same_in_all(!has_swept) {
                break;
            }
            let effort = enter_row(task, run_row);
            has_swept = effort > 0u;
            if same_in_all(!has_swept) {
                break;
            }
            status = sweep_plain_row(task, run_row, target_class);
            *rows_left -= min(*rows_left, effort);
            run_row += 1u;
            if any_lane(is_behind || status != 0u || run_row % WINDOW_ROWS == 0u) {
                break;
            }
        }
        if same_in_all(has_swept && run_row % WINDOW_ROWS == 0u) {
            flush_hull();
            watch_limit();
        }
        if any_lane(is_behind || status != 0u || !has_swept) {
            break;
        }
    }
    if is_behind {
        block += LANES;
        enter_block(task);
    }
    return status;
}

// Whether the next row is plain.
fn are_plain(task: Task, target_class: u32) -> bool {
    let is_in_whole_blocks = !any_lane(has_odd || n_valid < COLUMNS);
    return is_in_whole_blocks && run_row <= task.stop_row && run_is_near_limit == 0u
        && target_class < N_PLAIN_CLASSES && !has_masks(task, run_row);
}

// What goes from column to column, left to right. A column is a function, as naga takes time that grows with the square
// of a function's length, and one without branches.
var<private> diagonal: i32;      // C of the row above, a column to the left
var<private> leaving: i32;       // I opened in this lane
var<private> top: i32;           // greatest P so far, and the last column that has it
var<private> top_column: u32;
var<private> insertion: i32;     // I
var<private> threshold: i32;     // what a cell must reach to be kept

// for each column k
fn score_pair_$k(bytes: i32, first: i32, end: i32) {
    let pair = diagonal + ((bytes * bitcast<i32>(letter$k)) >> 24u);
    diagonal = c$k;
    d$k = select(d$k, DEAD, BOUNDED & (($ki < first) | ($ki >= end)));
    pair$k = select(pair, DEAD, (pair < d$k) | (BOUNDED & (($ki <= first) | ($ki >= end))));
    leaving = max(leaving - params.gap_extend, pair$k - params.gap_open_extend);
    top_column = select(top_column, $ku, pair$k >= top);
    top = max(top, pair$k);
}

fn keep_cell_$k(cut: i32, open_from: i32) {
    let value = max(max(pair$k, d$k), insertion);
    let is_kept = (value >= threshold) & (!BOUNDED | ($ki < cut));
    let is_pair = pair$k == value;
    let is_past_edge = $ki >= open_from;
    let opened_pair = pair$k - params.gap_open_extend;
    let longer = d$k - params.gap_extend;
    let opened = select(DEAD, opened_pair, is_pair);
    let source = select(select(LINK_INSERTION, LINK_DELETION, d$k >= insertion), LINK_PAIR, is_pair);
    emit_link($ku, source
        | select(0u, LINK_INSERTION_EXTENDS, insertion - params.gap_extend >= opened)
        | select(0u, LINK_DELETION_EXTENDS, (longer >= opened) & !is_past_edge));
    c$k = select(DEAD, value, is_kept);
    d$k = select(select(longer, max(longer, opened_pair), is_pair), c$k - params.gap_open_extend, is_past_edge);
    insertion = max(insertion - params.gap_extend, opened_pair);
    threshold = max(threshold, pair$k - params.y_drop);
    kept[$m] |= select(0u, $b, is_kept);
}
// end

// As sweep_row.
fn sweep_plain_row(task: Task, row: u32, target_class: u32) -> u32 {
    hull_first = min(hull_first, first_kept);
    hull_end = max(hull_end, window_end);
    cells -= select(0u, first_kept, lane == base_lane);
    let place = place_of_lane();
    let column0 = block * COLUMNS;

    // P of all columns, its greatest, and what of I leaves this lane.
    let left = from_lane(c$last, lane - 1u);
    diagonal = select(left, DEAD, lane == base_lane);
    // Byte c comes to the top by the letter, 1 << 8 * (class of the letter).
    let profile = profile_of(target_class);
    let bytes = bitcast<i32>((profile << 24u) | ((profile & 0xff00u) << 8u) | ((profile >> 8u) & 0xff00u) | (profile >> 24u));
    leaving = DEAD;
    top = DEAD;
    top_column = 0u;
    let first = i32(first_of_window() - column0);
    let end = i32(end_of_window() - column0);
// for each column k
    score_pair_$k(bytes, first, end);
// end
    if !BOUNDED {
        edge = select(edge, 1u, edge == 0u && left > BARELY_ALIVE && lane != base_lane);
    }

    // The best before this lane's first cell, and after the row.
    var top_before = select(from_lane(top, lane - 1u), DEAD, place == 0u);
// for each distance s
    top_before = max(top_before, select(from_lane(top_before, lane - $su), DEAD, place < $su));
// end
    let best_before = max(best, top_before);
    let row_top = from_lane(max(top_before, top), base_lane - 1u);
    let moves = row_top >= best;
    best = max(best, row_top);
    best_row = select(best_row, row, moves);
    let best_place = first_and_last(top == row_top, base_lane).y;
    best_lane = select(best_lane, (base_lane + best_place) & LANE_MASK, moves);
    best_column = select(best_column, column0 + top_column, moves && place == best_place);

    // C, D and the keep test.
    insertion = insertion_from_left(leaving);
    threshold = best_before - params.y_drop;
    let cut = i32(last_column(task) + 1u - column0);
    let open_from = i32(select(COLUMNS, edge, place >= prev_last));
    clear_kept();
// for each column k
    keep_cell_$k(cut, open_from);
// end
    end_row_links(task, row);

    // As close_row, but that the lanes take no blocks.
    let kept_columns = kept_end();
    let live = first_and_last(kept_columns > 0u, base_lane);
    let looked_at = max(window_end, select(0u, column0 + kept_columns, kept_columns > 0u));
    cells += select(0u, looked_at, place == max(live.y, prev_last));
    note_edges(task, kept_columns);
    let is_full = place == LANES - 1u && kept_columns == COLUMNS && column0 + kept_columns <= task.columns;
    var status = select(0u, STATUS_OUT_OF_RANGE, best > params.best_limit);
    status = select(status, STATUS_TOO_WIDE, any_lane(is_full));
    status = select(status, STATUS_DONE, live.x == LANES);
    is_behind = place < live.x && status == 0u;
    base_lane = (base_lane + live.x) & LANE_MASK;
    prev_last = live.y - live.x;
    return status;
}
