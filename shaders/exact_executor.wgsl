// exact_executor: repeats the exact sweep up to the end row and stores the links of all cells.
// paper:    executor, trimmed
// twin:     src/cpu/ydrop.rs
// grid:     one workgroup per resident run; runs come from a queue
// reads:    params, scores, target_letters, query_letters, tasks as exact_inspector
//           spans                           Span per 32 rows of every run
// writes:   links                           u32, 8 links of 4 bits each; a row holds word j of all its blocks together
//           verdicts[n_tasks]               Verdict; must repeat the inspector's score and end
//           counters[N_COUNTERS], saved     as exact_inspector
// requires: layout, letters, exchange, row, run

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> scores: Scores;
@group(0) @binding(2) var<storage, read> target_letters: array<u32>;
@group(0) @binding(3) var<storage, read> query_letters: array<u32>;
@group(0) @binding(4) var<storage, read> tasks: array<Task>;
@group(0) @binding(5) var<storage, read> spans: array<Span>;
@group(0) @binding(6) var<storage, read_write> links: array<u32>;
@group(0) @binding(7) var<storage, read_write> verdicts: array<Verdict>;
@group(0) @binding(8) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(9) var<storage, read_write> saved: array<u32>;

const LINKS: bool = true;

var<private> run_failed: u32;
var<private> row_links: array<u32, WORDS>;  // links of this lane's columns in this row

fn emit_link(place: u32, link: u32) {
    row_links[place >> 3u] |= link << (4u * (place & 7u));
}

// The deletion that leaves the column is opened there.
fn cut_deletion(place: u32) {
    row_links[place >> 3u] &= ~(LINK_DELETION_EXTENDS << (4u * (place & 7u)));
}

fn end_row_links(task: Task, row: u32) {
    let span = spans[task.span_start + row / WINDOW_ROWS];
    let own_block = block - span.first_block;
    let start = task.link_start + span.link_start + (row % WINDOW_ROWS) * WORDS * span.n_blocks + own_block;
    for (var word = 0u; word < WORDS; word += 1u) {
        if own_block < span.n_blocks {
            links[start + word * span.n_blocks] = row_links[word];
        }
        row_links[word] = 0u;
    }
}

fn end_hull(task_ix: u32, rows_ix: u32, first: u32, end: u32) {
}

fn end_run(task_ix: u32, verdict: Verdict) {
    verdicts[task_ix] = verdict;
}
