// exact_executor: repeats the exact sweep up to the end row and stores the links of all cells.
// paper:    executor, trimmed
// twin:     src/cpu/ydrop.rs
// grid:     one workgroup per resident run; runs come from a queue
// reads:    see common/exact_bindings
// writes:   verdicts                        must repeat the inspector's score and end
//           counters, saved                 see common/exact_bindings
//           links                           u32, 8 links of 4 bits each; a row holds word j of all its blocks together
// requires: layout, exact_bindings, letters, exchange, bounds, spans, row, run, plain_rows

@group(0) @binding(9) var<storage, read_write> links: array<u32>;

const LINKS: bool = true;

var<private> row_links: array<u32, WORDS>;  // links of this lane's columns in this row

fn emit_link(place: u32, link: u32) {
    row_links[place >> 3u] |= link << (4u * (place & 7u));
}

// The deletion that leaves the column is opened there.
fn cut_deletion(place: u32) {
    row_links[place >> 3u] &= ~(LINK_DELETION_EXTENDS << (4u * (place & 7u)));
}

fn end_row_links(task: Task, row: u32) {
    let span = span_of_row(task, row);
    let own_block = block - span.first_block;
    let start = task.link_start + span.link_start + (row % WINDOW_ROWS) * WORDS * span.n_blocks + own_block;
// for each word w
    if own_block < span.n_blocks {
        links[start + $wu * span.n_blocks] = row_links[$w];
    }
    row_links[$w] = 0u;
// end
}

fn end_hull(task_ix: u32, rows_ix: u32, first: u32, end: u32) {
}
