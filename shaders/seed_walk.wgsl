// seed_walk: walks the hits of each residue of the diagonal in order, extends those that are not dropped, and lists the
// segments that may pass.
// paper:    gap-free filter (LASTZ's x-drop extension)
// twin:     src/filter/diagonals.rs, src/filter/xdrop.rs
// grid:     N_SLOTS / SLOTS_PER_GROUP workgroups; each takes that many residues
// reads:    params, scores
//           target_bases, query_bases   32 bases each, see seed_bases
//           reaches[N_SLOTS]            how far each residue has been looked at, and its diagonal
//           buckets                     see common/seed_lookup
// writes:   next_reaches[N_SLOTS]       the same after this piece
//           tallies                     see common/seed_tallies; buckets are emptied
//           candidates                  Candidate: raw score at least K
// requires: layout, seed_layout, seed_bases, seed_tallies, seed_run, seed_sort
//
// A round is one hit per lane. Lanes extend their hits at the same time, as far to the left as the reach before the
// round allows; then lane 0 goes over the round in order and settles which hits are dropped, and the reach at which each
// of the others was met. The right end of what a hit looks at does not depend on the reach, and the left run is cut by
// it only where its best lies beyond.

struct SeedScores {
    table: array<vec4<i32>, 64>,        // of (target kind, query kind) at 16 * target + query
    triples: array<vec4<u32>, 128>,     // of three pairs of plain bases, see seed_run
}

@group(0) @binding(0) var<uniform> params: SeedParams;
@group(0) @binding(1) var<uniform> scores: SeedScores;
@group(0) @binding(2) var<storage, read> target_bases: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> query_bases: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> reaches: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> buckets: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> next_reaches: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> tallies: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> candidates: array<Candidate>;

const NONE: u32 = 0xffffffffu;

// What lanes tell lane 0 about their hits, and what it settles.
var<workgroup> sh_reach_of: array<u32, WALK_LANES>;     // query position after the right run; NONE: too long for a lane
var<workgroup> sh_limit_of: array<u32, WALK_LANES>;     // query position that the left run may go to; NONE: dropped
var<workgroup> sh_reach: vec2<u32>;                     // of the residue: reach, diagonal
var<workgroup> sh_next: u32;                            // hit of the round that is to be settled next
var<workgroup> sh_pick: atomic<u32>;
var<workgroup> sh_n: u32;
var<workgroup> sh_filled: atomic<u32>;                  // a bit for each of the group's buckets that holds hits
var<workgroup> sh_buckets: u32;
var<workgroup> sh_n_of: array<u32, SLOTS_PER_GROUP>;    // hits in each
var<workgroup> sh_n_gathered: atomic<u32>;
var<workgroup> sh_ranges: array<atomic<u32>, N_RANGES>;
var<workgroup> sh_range: vec2<u32>;

var<private> n_dropped: u32;
var<private> n_extended: u32;
var<private> n_pairs: u32;

fn query_end_of(key: u32) -> u32 {
    return params.first_end + (key >> FLIP_BITS);
}

// Settles hits in order until one has a right run that is too long for a lane; gives its place, or NONE at the end.
fn settle(base: u32, n: u32) -> u32 {
    var reach = sh_reach;
    var i = sh_next;
    var pending = NONE;
    for (; i < n; i += 1u) {
        let hit = sh_hits[base + i];
        let query_end = query_end_of(hit.x);
        let diagonal = hit.y - query_end;
        let right_reach = sh_reach_of[i];
        // The reach that another diagonal has left drops nothing, but it stays.
        let takes_over = params.diagonal_rule == RULE_RECOVER && reach.y != diagonal;
        if params.diagonal_rule != RULE_OFF && !takes_over && reach.x > query_end - params.window_len {
            if params.diagonal_rule == RULE_RECOVER {
                reach.x = max(reach.x, query_end);
            }
            sh_limit_of[i] = NONE;
            continue;
        }
        if right_reach == NONE {
            pending = i;
            break;
        }
        sh_limit_of[i] = select(0u, reach.x, params.diagonal_rule == RULE_HASHED);
        reach = vec2(max(reach.x, right_reach), diagonal);
    }
    sh_reach = reach;
    sh_next = i;
    return pending;
}

fn emit(hit: vec2<u32>, left: Run, right: Run, score: i32) {
    let place = atomicAdd(&tallies[TALLY_CANDIDATES], 1u);
    if place >= params.candidate_capacity {
        fail();
        return;
    }
    let flip_and_piece = (hit.x & FLIP_MASK) | (params.piece_ix << FLIP_BITS);
    candidates[place] =
        Candidate(hit.y, query_end_of(hit.x), flip_and_piece, left.best_len, right.best_len, score);
}

fn reaches_threshold(left: Run, right: Run) -> bool {
    return params.threshold <= 0
        || bitcast<u32>(left.best) + bitcast<u32>(right.best) >= bitcast<u32>(params.threshold);
}

// Extends up to one hit per lane, from sh_hits[base] on.
fn walk_round(base: u32, n: u32, lane: u32) {
    let is_active = lane < n;
    let hit = sh_hits[base + min(lane, n - 1u)];
    let query_end = query_end_of(hit.x);
    let diagonal = hit.y - query_end;
    let right_limit = min(params.target_len - hit.y, params.query_len - query_end);
    // Hashed: the reach only grows, so that a hit which falls to it now will not be needed.
    let reach = workgroupUniformLoad(&sh_reach).x;
    let floor = select(0u, reach, params.diagonal_rule == RULE_HASHED);
    let falls = params.diagonal_rule == RULE_HASHED && reach > query_end - params.window_len;
    var right = Run(0, 0u, 0u, 0, RUN_DROPPED);
    var left = Run(0, params.window_len, 0u, 0, RUN_DROPPED);
    var left_limit = 0u;
    if is_active && !falls && params.is_window == 0u {
        right = run_of_lane(Course(hit.y, query_end, false, min(right_limit, params.run_cap)));
        left_limit = min(hit.y, query_end - floor);
        left = run_of_lane(Course(hit.y, query_end, true, min(left_limit, params.run_cap)));
    }
    let is_right_open = right.state == RUN_GOES_ON && right.len < right_limit;
    let is_left_open = left.state == RUN_GOES_ON && left.len < left_limit;
    sh_reach_of[lane] = select(query_end + right.len, NONE, is_right_open);
    if lane == 0u {
        sh_next = 0u;
    }
    workgroupBarrier();
    loop {
        if lane == 0u {
            sh_n = settle(base, n);
        }
        let pending = workgroupUniformLoad(&sh_n);
        if pending == NONE {
            break;
        }
        let long_hit = sh_hits[base + pending];
        let long_end = query_end_of(long_hit.x);
        let long_limit = min(params.target_len - long_hit.y, params.query_len - long_end);
        run_of_group(Course(long_hit.y, long_end, false, long_limit), lane);
        if lane == pending {
            right = sh_run;
            sh_reach_of[lane] = long_end + right.len;
        }
        workgroupBarrier();
    }
    let limit = sh_limit_of[lane];
    let is_kept = is_active && limit != NONE;
    left_limit = min(hit.y, query_end - select(limit, 0u, limit == NONE));
    let is_candidate = is_kept && (is_left_open || params.is_window == 1u || reaches_threshold(left, right));
    var needs_left = is_candidate && params.is_window == 0u && (is_left_open || left.best_len > left_limit);
    // Left runs that one lane could not finish, or that the reach cuts.
    loop {
        if lane == 0u {
            atomicStore(&sh_pick, NONE);
        }
        workgroupBarrier();
        if needs_left {
            atomicMin(&sh_pick, lane);
        }
        workgroupBarrier();
        if lane == 0u {
            sh_n = atomicLoad(&sh_pick);
        }
        let pick = workgroupUniformLoad(&sh_n);
        if pick == NONE {
            break;
        }
        let cut_hit = sh_hits[base + pick];
        let cut_end = query_end_of(cut_hit.x);
        let cut_limit = min(cut_hit.y, cut_end - sh_limit_of[pick]);
        run_of_group(Course(cut_hit.y, cut_end, true, cut_limit), lane);
        if lane == pick {
            left = sh_run;
            needs_left = false;
        }
    }
    if is_candidate {
        let score = left.best + right.best;
        if params.is_window == 1u || score >= params.threshold {
            emit(hit, left, right, score);
        }
    }
    n_extended += select(0u, 1u, is_kept);
    n_dropped += select(0u, 1u, is_active && !is_kept);
    if is_kept && params.is_window == 0u {
        count_pairs(min(left.len, left_limit) + right.len);
    }
    workgroupBarrier();
}

// The private count is handed over before it can overflow.
fn count_pairs(n: u32) {
    if n_pairs + n < n_pairs {
        tally(TALLY_PAIRS, n_pairs);
        n_pairs = 0u;
    }
    n_pairs += n;
}

// Walks the first n hits in workgroup memory.
fn walk_hits(n: u32, lane: u32) {
    sort_hits(n, lane);
    for (var base = 0u; base < n; base += WALK_LANES) {
        walk_round(base, min(n - base, WALK_LANES), lane);
    }
}

// More hits than workgroup memory holds: their order keys are cut into N_RANGES ranges, and as many ranges at a time as
// fit are gathered and walked. Ranges that the reach has passed are not looked at again.
fn walk_crowded(slot: u32, n_overflow: u32, lane: u32) {
    for (var i = lane; i < N_RANGES; i += WALK_LANES) {
        atomicStore(&sh_ranges[i], 0u);
    }
    workgroupBarrier();
    let n_places = params.bucket_capacity + n_overflow;
    for (var i = lane; i < n_places; i += WALK_LANES) {
        let hit = crowded_hit(slot, i);
        if hit.x != NONE {
            atomicAdd(&sh_ranges[hit.x >> params.range_shift], 1u);
        }
    }
    workgroupBarrier();
    var first_range = 0u;
    loop {
        if lane == 0u {
            sh_range = next_ranges(first_range);
            atomicStore(&sh_n_gathered, 0u);
        }
        let range = workgroupUniformLoad(&sh_range);
        if range.x >= range.y {
            break;
        }
        first_range = range.y;
        for (var i = lane; i < n_places; i += WALK_LANES) {
            let hit = crowded_hit(slot, i);
            let place = hit.x >> params.range_shift;
            if hit.x != NONE && place >= range.x && place < range.y {
                let gathered = atomicAdd(&sh_n_gathered, 1u);
                sh_hits[gathered] = hit;
            }
        }
        workgroupBarrier();
        if lane == 0u {
            sh_n = atomicLoad(&sh_n_gathered);
        }
        walk_hits(workgroupUniformLoad(&sh_n), lane);
    }
}

// The i-th hit of a slot's bucket, or, after these, of the overflow; NONE if it belongs to another slot.
fn crowded_hit(slot: u32, i: u32) -> vec2<u32> {
    if i < params.bucket_capacity {
        return buckets[slot * params.bucket_capacity + i];
    }
    var hit = buckets[N_SLOTS * params.bucket_capacity + i - params.bucket_capacity];
    if ((hit.y - query_end_of(hit.x)) & SLOT_MASK) != slot {
        hit.x = NONE;
    }
    return hit;
}

// The next ranges to walk, from `first` on; an empty pair at the end.
fn next_ranges(first: u32) -> vec2<u32> {
    var start = first;
    // The last window of a range starts before the reach: so do all.
    for (; start < N_RANGES; start += 1u) {
        let n = atomicLoad(&sh_ranges[start]);
        let last_end = query_end_of(((start + 1u) << params.range_shift) - 1u);
        if params.diagonal_rule != RULE_HASHED || sh_reach.x <= last_end - params.window_len {
            if n > 0u {
                break;
            }
        }
        n_dropped += n;
    }
    var end = start;
    var n_hits = 0u;
    for (; end < N_RANGES; end += 1u) {
        n_hits += atomicLoad(&sh_ranges[end]);
        if n_hits > N_SORTED {
            break;
        }
    }
    if start < N_RANGES && start == end {
        // Too many for workgroup memory: the host cuts the piece into smaller ones.
        fail();
    }
    return vec2(start, end);
}

fn walk_slot(slot: u32, n: u32, lane: u32) {
    if lane == 0u {
        sh_reach = reaches[slot];
    }
    if n > params.bucket_capacity {
        if lane == 0u {
            sh_n = min(atomicLoad(&tallies[piece_tally(TALLY_OVERFLOW)]), params.overflow_capacity);
        }
        walk_crowded(slot, workgroupUniformLoad(&sh_n), lane);
    } else {
        for (var i = lane; i < n; i += WALK_LANES) {
            sh_hits[i] = buckets[slot * params.bucket_capacity + i];
        }
        workgroupBarrier();
        walk_hits(n, lane);
    }
    if lane == 0u {
        next_reaches[slot] = sh_reach;
    }
}

// Empties the buckets of the group, and finds out which of them hold hits.
fn take_buckets(first_slot: u32, lane: u32) {
    if lane == 0u {
        atomicStore(&sh_filled, 0u);
        sh_n = select(0u, 1u, has_failed());
    }
    workgroupBarrier();
    if lane < SLOTS_PER_GROUP {
        let slot = first_slot + lane;
        let n = atomicLoad(&tallies[BUCKET_TALLIES + slot]);
        sh_n_of[lane] = n;
        // After a piece that failed, next_reaches is what that piece started from: it must stay.
        if n == 0u && !has_failed() {
            next_reaches[slot] = reaches[slot];
        }
        if n > 0u {
            atomicStore(&tallies[BUCKET_TALLIES + slot], 0u);
            atomicOr(&sh_filled, 1u << lane);
        }
    }
    workgroupBarrier();
    if lane == 0u {
        sh_buckets = select(atomicLoad(&sh_filled), 0u, sh_n == 1u);
    }
}

@compute @workgroup_size(WALK_LANES)
fn walk(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let first_slot = group.x * SLOTS_PER_GROUP;
    load_scores(lane);
    take_buckets(first_slot, lane);
    var filled = workgroupUniformLoad(&sh_buckets);
    while filled != 0u {
        let ix = firstTrailingBit(filled);
        filled &= filled - 1u;
        walk_slot(first_slot + ix, workgroupUniformLoad(&sh_n_of[ix]), lane);
    }
    report(lane);
}

var<workgroup> sh_sums: array<atomic<u32>, 4>;

// Adds up the counts of a workgroup.
fn report(lane: u32) {
    if lane < 4u {
        atomicStore(&sh_sums[lane], 0u);
    }
    workgroupBarrier();
    atomicAdd(&sh_sums[0], n_dropped);
    atomicAdd(&sh_sums[1], n_extended);
    // A sum of two halves cannot overflow.
    atomicAdd(&sh_sums[2], n_pairs & 0xffffu);
    atomicAdd(&sh_sums[3], n_pairs >> 16u);
    workgroupBarrier();
    if lane == 0u {
        tally(TALLY_DROPPED, atomicLoad(&sh_sums[0]));
        tally(TALLY_EXTENDED, atomicLoad(&sh_sums[1]));
        tally(TALLY_PAIRS, atomicLoad(&sh_sums[2]));
        let high = atomicLoad(&sh_sums[3]);
        tally(TALLY_PAIRS, high << 16u);
        // What the shift lost.
        atomicAdd(&tallies[piece_tally(TALLY_PAIRS) + 1u], high >> 16u);
        atomicAdd(&tallies[piece_tally(TALLY_FINISHED)], 1u);
    }
}
