// unbounded: no accepted block is near a run. Twin: bounded.wgsl.

const BOUNDED: bool = false;

fn start_bounds(task: Task) {
}

fn enter_row(task: Task, row: u32) -> u32 {
    return 1u;
}

fn last_column(task: Task) -> u32 {
    return task.columns;
}

fn is_outside(column: u32) -> bool {
    return false;
}

fn is_first(column: u32) -> bool {
    return false;
}

fn is_masked(word: u32, bit: u32) -> bool {
    return false;
}

fn wall_of_lane() -> u32 {
    return 0u;
}

// for each plain sweep p
fn has_masks(task: Task, row: u32) -> bool {
    return false;
}

fn first_of_window() -> u32 {
    return 0u;
}

fn end_of_window() -> u32 {
    return NO_COLUMN;
}
// end
