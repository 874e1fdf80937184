// relaxed_run: a workgroup takes one relaxed run after the other from the queue and sweeps its stripes. A dispatch stays
// short: after params.row_budget steps the workgroup saves its run, and the next dispatch goes on with it.
//
// memory of a workgroup: RELAXED_HEADER entries for the saved run and the eager tile, then the boundary, then what
// cells_in_memory keeps
//
// hooks: start_run(task), end_run(task_ix, status)

const NO_TASK: u32 = 0xffffffffu;

var<private> header_start: u32;
var<private> run_task_ix: u32;

fn run_tasks(slot: u32) {
    header_start = slot * RELAXED_MEMORY;
    boundary_start = header_start + RELAXED_HEADER;
    var used = 0u;
    run_task_ix = restore_run();
    loop {
        if same_in_all(run_task_ix == NO_TASK) {
            var ticket = 0u;
            if lane == 0u {
                ticket = atomicAdd(&counters[COUNTER_NEXT], 1u);
            }
            run_task_ix = from_first_lane(ticket);
            if same_in_all(run_task_ix >= params.n_tasks) {
                break;
            }
            start_run(tasks[run_task_ix]);
        }
        let steps_before = run_steps;
        let status = sweep_stripe(tasks[run_task_ix]);
        used += run_steps - steps_before;
        if same_in_all(status != 0u) {
            end_run(run_task_ix, status);
            if lane == 0u {
                atomicAdd(&counters[COUNTER_FINISHED], 1u);
            }
            run_task_ix = NO_TASK;
        }
        if same_in_all(used >= params.row_budget) {
            if same_in_all(run_task_ix != NO_TASK) {
                save_run();
            }
            break;
        }
    }
    if lane == 0u {
        atomicAdd(&counters[COUNTER_ROWS], used);
    }
}

fn save_run() {
    if lane == 0u {
        boundary[header_start] = vec2(1i, bitcast<i32>(run_task_ix));
        boundary[header_start + 1u] = vec2(bitcast<i32>(run_row), bitcast<i32>(run_steps));
        boundary[header_start + 2u] = vec2(bitcast<i32>(run_first), bitcast<i32>(run_last));
        boundary[header_start + 3u] = vec2(run_threshold, run_best);
        boundary[header_start + 4u] = vec2(bitcast<i32>(run_best_row), bitcast<i32>(run_best_column));
        boundary[header_start + 5u] = vec2(bitcast<i32>(run_kept), 0i);
    }
}

// Takes up the run that the last dispatch kept in this slot. Returns its task, or NO_TASK.
fn restore_run() -> u32 {
    let saved = boundary[header_start];
    if same_in_all(saved.x == 0i) {
        return NO_TASK;
    }
    let rows = saved_pair(1u);
    let columns = saved_pair(2u);
    let scores = saved_pair(3u);
    let end = saved_pair(4u);
    let kept = saved_pair(5u);
    run_row = rows.x;
    run_steps = rows.y;
    run_first = columns.x;
    run_last = columns.y;
    run_threshold = bitcast<i32>(scores.x);
    run_best = bitcast<i32>(scores.y);
    run_best_row = end.x;
    run_best_column = end.y;
    run_kept = kept.x;
    storageBarrier();
    if lane == 0u {
        boundary[header_start] = vec2(0i, 0i);
    }
    return from_first_lane(bitcast<u32>(saved.y));
}

fn saved_pair(place: u32) -> vec2<u32> {
    let saved = bitcast<vec2<u32>>(boundary[header_start + place]);
    return vec2(from_first_lane(saved.x), from_first_lane(saved.y));
}
