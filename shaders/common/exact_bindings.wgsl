// exact_bindings: what the exact inspector and the exact executor both read and write.
//
// reads:    params, scores
//           target_letters, query_letters   u32, 8 letter classes of 4 bits each, low bits first, padded at both ends
//           tasks[n_tasks]                  Task
//           plan                            u32, limits of the rows of bounded runs (bounded.wgsl); for the executor
//                                           also a Span per 32 rows of every run
// writes:   verdicts[n_tasks]               Verdict
//           counters[N_COUNTERS]            COUNTER_*
//           saved[workgroups * SAVED_WORDS] runs that go on in the next dispatch
// Bindings of one kernel alone start at 9.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> scores: Scores;
@group(0) @binding(2) var<storage, read> target_letters: array<u32>;
@group(0) @binding(3) var<storage, read> query_letters: array<u32>;
@group(0) @binding(4) var<storage, read> tasks: array<Task>;
@group(0) @binding(5) var<storage, read> plan: array<u32>;
@group(0) @binding(6) var<storage, read_write> verdicts: array<Verdict>;
@group(0) @binding(7) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> saved: array<u32>;

fn end_run(task_ix: u32, verdict: Verdict) {
    verdicts[task_ix] = verdict;
}
