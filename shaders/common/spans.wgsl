// spans: where the links of each 32 rows of a run are.

fn span_of_row(task: Task, row: u32) -> Span {
    let at = task.span_start + SPAN_WORDS * (row / WINDOW_ROWS);
    return Span(plan[at], plan[at + 1u], plan[at + 2u]);
}
