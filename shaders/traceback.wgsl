// traceback: walks the links of each run from its end cell back to the anchor and writes the path as runs of columns.
// paper:    traceback of the executor
// twin:     src/cpu/traceback.rs
// grid:     one lane per run
// reads:    params
//           tasks[n_tasks], plan, links     as exact_executor
// writes:   scripts[n_tasks]                Script: the host gives its place and the end cell
//           runs                            u32: 2 bits of LINK_SOURCE, 30 bits of length, from the end cell on
// requires: layout, spans

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

// Arriving through a gap, the path stays in it if the link says that the gap extends (lastz-semantics 5.5).
fn next_source(link: u32, arrived_by: u32) -> u32 {
    let stays = (arrived_by == LINK_INSERTION && (link & LINK_INSERTION_EXTENDS) != 0u)
        || (arrived_by == LINK_DELETION && (link & LINK_DELETION_EXTENDS) != 0u);
    return select(link & LINK_SOURCE, arrived_by, stays);
}

// Ends the run of equal columns that the path is in.
fn close_columns(script: ptr<function, Script>) {
    if (*script).run_len > 0u {
        if (*script).n_runs < (*script).capacity {
            runs[(*script).start + (*script).n_runs] = ((*script).run_len << 2u) | (*script).arrived_by;
        }
        (*script).n_runs += 1u;
    }
    (*script).run_len = 0u;
}

@compute @workgroup_size(TRACEBACK_LANES)
fn trace_back(@builtin(global_invocation_id) id: vec3<u32>) {
    let task_ix = id.x;
    if task_ix >= params.n_tasks || scripts[task_ix].is_done != 0u {
        return;
    }
    let task = tasks[task_ix];
    var script = scripts[task_ix];
    // A path longer than this goes on in the next dispatch.
    for (var step = 0u; step < TRACEBACK_STEPS && script.row > 0u; step += 1u) {
        let source = next_source(link_at(task, script.row, script.column), script.arrived_by);
        if source != script.arrived_by {
            close_columns(&script);
            script.arrived_by = source;
        }
        script.run_len += 1u;
        if source != LINK_INSERTION {
            script.row -= 1u;
        }
        if source != LINK_DELETION {
            if script.column == 0u {
                // Only broken links lead here.
                script.is_done = 2u;
                break;
            }
            script.column -= 1u;
        }
    }
    if script.row == 0u && script.is_done == 0u {
        // Row 0 is one insertion.
        if script.column > 0u && script.arrived_by != LINK_INSERTION {
            close_columns(&script);
            script.arrived_by = LINK_INSERTION;
        }
        script.run_len += script.column;
        script.column = 0u;
        close_columns(&script);
        script.is_done = 1u;
    }
    scripts[task_ix] = script;
}
