// cells_in_memory: C, D and I of every cell of a relaxed stripe go through storage memory, to measure what registers are
// worth. The columns of a stripe follow each other through MEMORY_STEPS places, so that the cells of all workgroups do not
// fit caches.
// twin: cells_in_registers.wgsl
//
// memory of a step: for each stripe row, C and I of all lanes; then C and D of all lanes' last rows

const CELLS_START: u32 = RELAXED_HEADER + RELAXED_BOUNDARY;

fn place_of(step: u32, row: u32, of_lane: u32) -> u32 {
    let slot = step % MEMORY_STEPS;
    return header_start + CELLS_START + (slot * (STRIPE_ROWS + 1u) + row) * LANES + of_lane;
}

// What the lanes hold before `step`. A lane takes what another one kept.
fn keep_cells(step: u32) {
// for each stripe row r
    boundary[place_of(step, $ru, lane)] = vec2(diagonal$r, insertion$r);
// end
    boundary[place_of(step, STRIPE_ROWS, lane)] = vec2(last_c, last_d);
    storageBarrier();
}

fn take_cells(step: u32) {
// for each stripe row r
    let cell$r = boundary[place_of(step, $ru, lane)];
    diagonal$r = cell$r.x;
    insertion$r = cell$r.y;
// end
}

// C, D and letter that the lane before has left.
fn handed_down(step: u32) -> vec3<i32> {
    let handed = boundary[place_of(step, STRIPE_ROWS, (lane - 1u) % LANES)];
    let letter = from_lane_before(vec3(0i, 0i, bitcast<i32>(last_letter))).z;
    return vec3(handed, letter);
}
