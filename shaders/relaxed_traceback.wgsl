// relaxed_traceback: walks the links of each relaxed run from its end cell back to the anchor.
// paper:    traceback of the executor
// twin:     src/cpu/traceback.rs
// grid:     one lane per run
// reads:    params
//           tasks[n_tasks], plan, links     as relaxed_executor
// writes:   scripts[n_tasks], runs          as traceback
// requires: layout, links, stripe_plan, walk

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> tasks: array<Task>;
@group(0) @binding(2) var<storage, read> plan: array<u32>;
@group(0) @binding(3) var<storage, read> links: array<u32>;
@group(0) @binding(4) var<storage, read_write> scripts: array<Script>;
@group(0) @binding(5) var<storage, read_write> runs: array<u32>;

fn link_at(task: Task, row: u32, column: u32) -> u32 {
    let row_ix = row - 1u;
    let stripe = plan_of_stripe(task, row_ix / ROWS_PER_STRIPE);
    let of_lane = row_ix % ROWS_PER_STRIPE / STRIPE_ROWS;
    let step = column - stripe.first + of_lane;
    let word = links[task.link_start + stripe.link_start + step / STEPS_PER_WORD * LANES + of_lane];
    return (word >> (4u * (step % STEPS_PER_WORD * STRIPE_ROWS + row_ix % STRIPE_ROWS))) & 15u;
}
