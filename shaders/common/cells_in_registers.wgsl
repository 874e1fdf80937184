// cells_in_registers: C, D and I of a relaxed stripe stay in the registers of its lanes from one step to the next (paper:
// register-based cyclic buffers).
// twin: cells_in_memory.wgsl

fn keep_cells(step: u32) {
}

fn take_cells(step: u32) {
}

// C, D and letter that the lane before has left.
fn handed_down(step: u32) -> vec3<i32> {
    return from_lane_before(vec3(last_c, last_d, bitcast<i32>(last_letter)));
}
