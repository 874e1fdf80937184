// exact_inspector: scores one-sided runs exactly as LASTZ does, and reports what they looked at; stores no links.
// paper:    inspector
// twin:     src/cpu/ydrop.rs
// grid:     one workgroup per resident run; runs come from a queue
// reads:    see common/exact_bindings
// writes:   verdicts, counters, saved       see common/exact_bindings
//           hulls[hull_capacity]            Hull, in any order
// requires: layout, exact_bindings, letters, exchange, bounds, row, run, plain_rows

@group(0) @binding(9) var<storage, read_write> hulls: array<Hull>;

const LINKS: bool = false;

fn emit_link(place: u32, link: u32) {
}

fn cut_deletion(place: u32) {
}

fn end_row_links(task: Task, row: u32) {
}

// The counter goes on past the capacity: the host learns how much room it has to make.
fn end_hull(task_ix: u32, rows_ix: u32, first: u32, end: u32) {
    let entry = atomicAdd(&counters[COUNTER_HULLS], 1u);
    if entry < params.hull_capacity {
        hulls[entry] = Hull(task_ix, rows_ix, first, end);
    }
}
