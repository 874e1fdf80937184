// screen: upper bounds of the scores of both sides of every anchor; anchors that cannot reach the goal are dropped.
// paper:    inspector (its stripe layout), as a filter in front of the exact one
// twin:     src/cpu/ydrop.rs never scores higher
// grid:     one workgroup per resident anchor; anchors come from a queue
// reads:    params, scores, target_letters, query_letters as common/exact_bindings
//           tasks[2 * n_tasks]              Task: left and right side of every anchor
// writes:   bounds[n_tasks]                 SideBounds
//           counters[N_COUNTERS]            COUNTER_*
//           boundary[workgroups * BOUNDARY] C and D of the last row of the stripe before
// requires: layout, letters, exchange, stripe

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> scores: Scores;
@group(0) @binding(2) var<storage, read> target_letters: array<u32>;
@group(0) @binding(3) var<storage, read> query_letters: array<u32>;
@group(0) @binding(4) var<storage, read> tasks: array<Task>;
@group(0) @binding(5) var<storage, read_write> bounds: array<SideBounds>;
@group(0) @binding(6) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> boundary: array<vec2<i32>>;

const NO_COLUMN: u32 = 0xffffffffu;

// Takes anchors until the queue is empty or the budget of steps is used up; the next dispatch goes on.
fn run_tasks(slot: u32) {
    boundary_start = slot * BOUNDARY;
    var used = 0u;
    loop {
        if used >= params.row_budget {
            break;
        }
        var ticket = 0u;
        if lane == 0u {
            ticket = atomicAdd(&counters[COUNTER_NEXT], 1u);
        }
        let task_ix = from_first_lane(ticket);
        if task_ix >= params.n_tasks {
            break;
        }
        var steps_left = params.step_limit;
        let left = bound_of_side(tasks[2u * task_ix], params.goal, &steps_left);
        var right = NO_BOUND;
        if left < params.goal {
            right = bound_of_side(tasks[2u * task_ix + 1u], params.goal - left, &steps_left);
        }
        used += 1u + params.step_limit - steps_left;
        if lane == 0u {
            bounds[task_ix] = SideBounds(left, right, 1u);
            atomicAdd(&counters[COUNTER_FINISHED], 1u);
        }
    }
    if lane == 0u {
        atomicAdd(&counters[COUNTER_ROWS], used);
    }
}

fn bound_of_side(task: Task, goal: i32, steps_left: ptr<function, u32>) -> i32 {
    if task.rows == 0u || task.columns == 0u {
        return 0i;
    }
    return bound_of_run(task, goal, steps_left);
}
