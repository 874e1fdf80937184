// stripe_plan: where the links of each stripe of a relaxed run are. STEPS_PER_WORD steps of a stripe have one word per
// lane, the first of them in the lowest bits: step s is the links of the lane's STRIPE_ROWS rows in column first + s - lane,
// lowest row in the lowest bits.

const STEPS_PER_WORD: u32 = LINKS_PER_WORD / STRIPE_ROWS;

fn plan_of_stripe(task: Task, stripe_ix: u32) -> StripePlan {
    let at = task.span_start + STRIPE_PLAN_WORDS * stripe_ix;
    return StripePlan(
        plan[at], plan[at + 1u], bitcast<i32>(plan[at + 2u]), plan[at + 3u], plan[at + 4u], plan[at + 5u]);
}
