// traceback: walks the links of each run from its end cell back to the anchor and writes the path as runs of columns.
// paper:    traceback of the executor
// twin:     src/cpu/traceback.rs
// grid:     one lane per run
// reads:    params
//           tasks[n_tasks], plan, links     as exact_executor
// writes:   scripts[n_tasks]                Script: the host gives its place and the end cell
//           runs                            u32: 2 bits of LINK_SOURCE, 30 bits of length, from the end cell on
// requires: layout, links, spans, walk

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> tasks: array<Task>;
@group(0) @binding(2) var<storage, read> plan: array<u32>;
@group(0) @binding(3) var<storage, read> links: array<u32>;
@group(0) @binding(4) var<storage, read_write> scripts: array<Script>;
@group(0) @binding(5) var<storage, read_write> runs: array<u32>;

fn link_at(task: Task, row: u32, column: u32) -> u32 {
    let span = span_of_row(task, row);
    let place = column % COLUMNS;
    let row_start = task.link_start + span.link_start + (row % WINDOW_ROWS) * WORDS * span.n_blocks;
    let word = links[row_start + (place >> 3u) * span.n_blocks + column / COLUMNS - span.first_block];
    return (word >> (4u * (place & 7u))) & 15u;
}
