// relaxed_executor: repeats the relaxed sweep of a run up to its end cell and stores the links of all cells. A task is a part
// of a run, from a row that the inspector kept to the next one or to the end cell's row; the parts of a run do not wait for
// each other. What lies beyond the end cell could move the best on, so thresholds are the inspector's.
// paper:    executor, trimmed
// twin:     src/cpu/relaxed.rs
// grid:     one workgroup per resident run; runs come from a queue
// reads:    params, scores, target_letters, query_letters, tasks as exact_inspector
//           plan                            u32, a StripePlan per stripe of every run
//           kept_rows                       as relaxed_inspector
// writes:   links                           u32, LINKS_PER_WORD links of 4 bits each; stripe_plan says where
//           verdicts[n_tasks]               RelaxedVerdict; of a run's last part must repeat the inspector's score and end
//           counters[N_COUNTERS], boundary  as relaxed_inspector
// requires: layout, letters, exchange, stripe_plan, relaxed_column, cells, relaxed_stripe, relaxed_run

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> scores: Scores;
@group(0) @binding(2) var<storage, read> target_letters: array<u32>;
@group(0) @binding(3) var<storage, read> query_letters: array<u32>;
@group(0) @binding(4) var<storage, read> tasks: array<Task>;
@group(0) @binding(5) var<storage, read> plan: array<u32>;
@group(0) @binding(6) var<storage, read_write> links: array<u32>;
@group(0) @binding(7) var<storage, read_write> verdicts: array<RelaxedVerdict>;
@group(0) @binding(8) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(9) var<storage, read_write> boundary: array<vec2<i32>>;
@group(0) @binding(10) var<storage, read> kept_rows: array<vec2<i32>>;

const LINKS: bool = true;

var<private> links_start: u32;       // where the links of the present stripe begin
var<private> step_links: u32;        // links of the last steps, until they fill a word

fn threshold_of_stripe(task: Task, stripe_ix: u32, threshold: i32) -> i32 {
    let stripe = plan_of_stripe(task, stripe_ix);
    links_start = task.link_start + stripe.link_start;
    return stripe.threshold;
}

fn end_of_stripe(task: Task, stripe_ix: u32) -> u32 {
    return plan_of_stripe(task, stripe_ix).end;
}

fn emit_links(step: u32, column: u32) {
    let place = step % STEPS_PER_WORD;
    step_links = select(step_links, 0u, place == 0u) | (link_word << (4u * STRIPE_ROWS * place));
    if place == STEPS_PER_WORD - 1u {
        links[links_start + step / STEPS_PER_WORD * LANES + lane] = step_links;
    }
}

fn start_run(task: Task) {
    start_rows(task);
    if task.first_row > 1u {
        let stripe = plan_of_stripe(task, (task.first_row - 1u) / ROWS_PER_STRIPE);
        run_row = task.first_row;
        run_first = stripe.first;
        run_last = stripe.last;
        for (var column = run_first + lane; column <= run_last; column += LANES) {
            boundary[boundary_start + column % RELAXED_BOUNDARY] = kept_rows[stripe.kept + column - run_first];
        }
    }
    storageBarrier();
}

fn keep_row() -> u32 {
    return NOT_KEPT;
}

fn end_stripe(stripe_ix: u32, end: u32) {
}

fn end_run(task_ix: u32, status: u32) {
    if lane == 0u {
        let n_stripes = (run_row - 1u) / ROWS_PER_STRIPE;
        verdicts[task_ix] = RelaxedVerdict(
            run_best, run_best_row, run_best_column, n_stripes, run_steps, status, 0u, 0u);
    }
}
