// walk: follows the links of each run from its end cell back to the anchor.
//
// hooks: link_at(task, row, column)

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
