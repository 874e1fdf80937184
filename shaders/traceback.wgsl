// traceback: walks the links of each run from its end cell back to the anchor and writes the path as runs of columns.
// paper:    traceback of the executor
// twin:     src/cpu/traceback.rs
// grid:     one lane per run
// reads:    params
//           tasks[n_tasks], spans, links    as exact_executor
//           verdicts[n_tasks]               Verdict: where the path ends
// writes:   scripts[n_tasks]                Script: place given by the host, n_runs by the kernel
//           runs                            u32: 2 bits of LINK_SOURCE, 30 bits of length, from the end cell on
// requires: layout

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> tasks: array<Task>;
@group(0) @binding(2) var<storage, read> spans: array<Span>;
@group(0) @binding(3) var<storage, read> links: array<u32>;
@group(0) @binding(4) var<storage, read> verdicts: array<Verdict>;
@group(0) @binding(5) var<storage, read_write> scripts: array<Script>;
@group(0) @binding(6) var<storage, read_write> runs: array<u32>;

const TRACEBACK_LANES: u32 = 32u;

fn link_at(task: Task, row: u32, column: u32) -> u32 {
    let span = spans[task.span_start + row / WINDOW_ROWS];
    let place = column % COLUMNS;
    let row_start = task.link_start + span.link_start + (row % WINDOW_ROWS) * WORDS * span.n_blocks;
    let word = links[row_start + (place >> 3u) * span.n_blocks + column / COLUMNS - span.first_block];
    return (word >> (4u * (place & 7u))) & 15u;
}

// Arriving through a gap, the path stays in it if the link says that the gap extends (lastz-semantics 5.5).
fn next_source(link: u32, arrived_by: u32) -> u32 {
    let stays = (arrived_by == LINK_INSERTION && (link & LINK_INSERTION_EXTENDS) != 0u)
        || (arrived_by == LINK_DELETION && (link & LINK_DELETION_EXTENDS) != 0u);
    return select(link & LINK_SOURCE, arrived_by, stays);
}

@compute @workgroup_size(TRACEBACK_LANES)
fn trace_back(@builtin(global_invocation_id) id: vec3<u32>) {
    let task_ix = id.x;
    if task_ix >= params.n_tasks {
        return;
    }
    let task = tasks[task_ix];
    let slot = scripts[task_ix];
    var row = verdicts[task_ix].end_row;
    var column = verdicts[task_ix].end_column;
    var source = LINK_PAIR;
    var run_source = LINK_PAIR;
    var run_len = 0u;
    var n_runs = 0u;
    loop {
        // Row 0 is one insertion; past it, what is left of the last run.
        var len = 1u;
        if row > 0u {
            source = next_source(link_at(task, row, column), source);
        } else {
            source = LINK_INSERTION;
            len = column;
        }
        let is_end = row == 0u && column == 0u;
        if source == run_source && !is_end {
            run_len += len;
        } else {
            if run_len > 0u {
                if n_runs < slot.capacity {
                    runs[slot.start + n_runs] = (run_len << 2u) | run_source;
                }
                n_runs += 1u;
            }
            run_source = source;
            run_len = len;
        }
        if is_end {
            break;
        }
        if source != LINK_INSERTION {
            row -= 1u;
        }
        if source != LINK_DELETION {
            if column < len {
                // Only a broken link leads out of the window: no valid script has this many runs.
                n_runs = 0xffffffffu;
                break;
            }
            column -= len;
        }
    }
    scripts[task_ix].n_runs = n_runs;
}
