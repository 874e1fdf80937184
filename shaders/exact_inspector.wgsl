// exact_inspector: scores one-sided runs exactly as LASTZ does, and reports what they looked at; stores no links.
// paper:    inspector
// twin:     src/cpu/ydrop.rs
// grid:     one workgroup per resident run; runs come from a queue
// reads:    params, scores
//           target_letters, query_letters   u32, 8 letter classes of 4 bits each, low bits first, padded at both ends
//           tasks[n_tasks]                  Task
// writes:   verdicts[n_tasks]               Verdict
//           hulls[hull_capacity]            Hull, in any order
//           counters[N_COUNTERS]            COUNTER_*
//           saved[workgroups * SAVED_WORDS] runs that go on in the next dispatch
// requires: layout, letters, exchange, row, run

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> scores: Scores;
@group(0) @binding(2) var<storage, read> target_letters: array<u32>;
@group(0) @binding(3) var<storage, read> query_letters: array<u32>;
@group(0) @binding(4) var<storage, read> tasks: array<Task>;
@group(0) @binding(5) var<storage, read_write> verdicts: array<Verdict>;
@group(0) @binding(6) var<storage, read_write> hulls: array<Hull>;
@group(0) @binding(7) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> saved: array<u32>;

const LINKS: bool = false;

var<private> run_failed: u32;    // lane 0: STATUS_LOG_FULL if a hull found no room

fn emit_link(place: u32, link: u32) {
}

fn cut_deletion(place: u32) {
}

fn end_row_links(task: Task, row: u32) {
}

fn end_hull(task_ix: u32, rows_ix: u32, first: u32, end: u32) {
    let entry = atomicAdd(&counters[COUNTER_HULLS], 1u);
    if entry < params.hull_capacity {
        hulls[entry] = Hull(task_ix, rows_ix, first, end);
    } else {
        run_failed = STATUS_LOG_FULL;
    }
}

fn end_run(task_ix: u32, verdict: Verdict) {
    verdicts[task_ix] = verdict;
    if run_failed != 0u {
        verdicts[task_ix].status = run_failed;
    }
    run_failed = 0u;
}
