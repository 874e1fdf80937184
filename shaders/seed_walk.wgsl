// seed_walk: works off the residues that seed_settle left, a workgroup for each: extends hits that count, and lists the
// segments that may pass.
// paper:    gap-free filter (LASTZ's x-drop extension)
// twin:     src/filter/diagonals.rs, src/filter/xdrop.rs
// grid:     any number of workgroups
// reads:    params, scores
//           target_bases, query_bases   32 bases each, see seed_bases
//           buckets                     see common/seed_lookup, and what seed_settle left
// writes:   next_reaches[N_SLOTS]       how far each residue has been looked at, and its diagonal, after this piece
//           tallies                     see common/seed_tallies; buckets are emptied
//           candidates                  Candidate: raw score at least K
// requires: layout, seed_layout, seed_bases, seed_tallies, seed_scores, seed_blocks, seed_sort, seed_settle

@group(0) @binding(0) var<uniform> params: SeedParams;
@group(0) @binding(1) var<uniform> scores: SeedScores;
@group(0) @binding(2) var<storage, read> target_bases: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> query_bases: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> buckets: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> next_reaches: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> tallies: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> candidates: array<Candidate>;

// Order keys are looked at in this many ranges at a time.
const N_RANGES: u32 = 256u;
const RANGE_BITS: u32 = 8u;
const NONE: u32 = 0xffffffffu;

// Hits that the workgroup has extended.
var<private> n_runs: u32;
var<workgroup> sh_n: u32;
var<workgroup> sh_pick: vec2<u32>;                      // slot and hits
var<workgroup> sh_hit: vec2<u32>;                       // the next special hit that counts, or NO_HIT
var<workgroup> sh_n_gathered: atomic<u32>;
var<workgroup> sh_ranges: array<atomic<u32>, N_RANGES>; // hits in each
var<workgroup> sh_range: vec2<u32>;                     // order keys to gather: first, after the last

fn emit(hit: vec2<u32>, target_end: u32, left_len: u32, right_len: u32, score: i32) {
    let place = atomicAdd(&tallies[TALLY_CANDIDATES], 1u);
    if place >= params.candidate_capacity {
        fail();
        return;
    }
    let flip_and_piece = (hit.x & FLIP_MASK) | (params.piece_ix << FLIP_BITS);
    candidates[place] = Candidate(target_end, query_end_of(hit.x), flip_and_piece, left_len, right_len, score);
}

// What an extension on a diagonal adds to the counts and to the reach; by one lane.
fn conclude(reach: u32, diagonal: u32) {
    n_extended += 1u;
    sh_reaches[0] = vec2(max(sh_reaches[0].x, reach), diagonal);
    sh_nexts[0] += 1u;
}

// The workgroup extends a hit; it is the same in all lanes.
fn extend(slot: u32, hit: vec2<u32>, lane: u32) {
    let query_end = query_end_of(hit.x);
    let target_end = diagonal_of(hit, slot) + query_end;
    let reach = workgroupUniformLoad(&sh_reaches[0]).x;
    let floor = select(0u, reach, params.diagonal_rule == RULE_HASHED);
    let right_limit = min(params.target_len - target_end, params.query_len - query_end);
    let left_limit = min(target_end, query_end - floor);
    run_both(Course(target_end, query_end, false, right_limit), Course(target_end, query_end, true, left_limit), lane);
    if lane == 0u {
        let right = sh_runs[0];
        let left = sh_runs[1];
        let score = left.best + right.best;
        if score >= params.threshold {
            emit(hit, target_end, left.best_len, right.best_len, score);
        }
        count_pairs(right.len);
        count_pairs(left.len);
        conclude(query_end + right.len, diagonal_of(hit, slot));
    }
    workgroupBarrier();
}

// Sorts and settles the first n hits in workgroup memory.
fn walk_hits(slot: u32, n: u32, lane: u32) {
    let len = least_power(n);
    for (var i = n + lane; i < len; i += WALK_LANES) {
        sh_hits[i] = NO_HIT;
    }
    if lane == 0u {
        sh_ends[0] = n;
        sh_nexts[0] = 0u;
    }
    sort_segments(1u, len, lane);
    loop {
        if lane == 0u {
            settle(0u, slot, len);
            sh_hit = NO_HIT;
            if sh_nexts[0] < n {
                sh_hit = sh_hits[sh_nexts[0]];
            }
        }
        let hit = workgroupUniformLoad(&sh_hit);
        if hit.x == NONE {
            break;
        }
        if params.is_window == 0u {
            if n_runs == params.extension_capacity {
                // Dispatches stay short: the host cuts the piece into smaller ones.
                if lane == 0u {
                    fail();
                }
                break;
            }
            n_runs += 1u;
            extend(slot, hit, lane);
        } else if lane == 0u {
            let query_end = query_end_of(hit.x);
            emit(hit, diagonal_of(hit, slot) + query_end, params.window_len, 0u, 0);
            conclude(query_end, diagonal_of(hit, slot));
        }
    }
}

// The i-th hit of a slot's bucket, or, after these, of the overflow; its key is NONE if it belongs to another slot.
fn hit_of(slot: u32, i: u32) -> vec2<u32> {
    if i < params.bucket_capacity {
        return buckets[slot * params.bucket_capacity + i];
    }
    let place = N_SLOTS * params.bucket_capacity + 2u * (i - params.bucket_capacity);
    if buckets[place + 1u].x != slot {
        return NO_HIT;
    }
    return buckets[place];
}

// Counts hits by ranges of 1 << shift order keys from `first` on.
fn count_ranges(slot: u32, n_places: u32, first: u32, shift: u32, lane: u32) {
    for (var i = lane; i < N_RANGES; i += WALK_LANES) {
        atomicStore(&sh_ranges[i], 0u);
    }
    workgroupBarrier();
    for (var i = lane; i < n_places; i += WALK_LANES) {
        let hit = hit_of(slot, i);
        let range = ((hit.x & KEY_MASK) - first) >> shift;
        if hit.x != NONE && (hit.x & KEY_MASK) >= first && range < N_RANGES {
            atomicAdd(&sh_ranges[range], 1u);
        }
    }
    workgroupBarrier();
}

// The first order key at or after `first` whose hit can still count.
fn next_key(first: u32) -> u32 {
    let reach = sh_reaches[0].x;
    let least_end = params.first_end + (first >> FLIP_BITS);
    if params.diagonal_rule != RULE_HASHED || reach <= least_end - params.window_len {
        return first;
    }
    return min((reach + params.window_len - params.first_end) << FLIP_BITS, KEY_MASK);
}

// As many ranges from the first on as workgroup memory holds; the keys are equal if that is none.
fn ranges_that_fit(first: u32, shift: u32) -> vec2<u32> {
    var n = 0u;
    var end = 0u;
    for (; end < N_RANGES; end += 1u) {
        n += atomicLoad(&sh_ranges[end]);
        if n > N_SORTED {
            break;
        }
    }
    return vec2(first, first + (end << shift));
}

// More hits than workgroup memory holds: gathers and walks as many as fit at a time, in the order of their keys. Those
// that the reach has passed are not looked at again.
fn walk_overflowing(slot: u32, n_all: u32, n_overflow: u32, lane: u32) {
    let n_places = params.bucket_capacity + n_overflow;
    var n_walked = 0u;
    var first = 0u;
    var shift = params.range_shift;
    loop {
        if lane == 0u {
            sh_n = next_key(first);
        }
        first = workgroupUniformLoad(&sh_n);
        if first >= params.n_positions << FLIP_BITS {
            break;
        }
        count_ranges(slot, n_places, first, shift, lane);
        if lane == 0u {
            sh_range = ranges_that_fit(first, shift);
            atomicStore(&sh_n_gathered, 0u);
        }
        let range = workgroupUniformLoad(&sh_range);
        if range.x == range.y {
            if shift == 0u {
                // Too many hits of one lookup: the host cuts the piece into smaller ones.
                if lane == 0u {
                    fail();
                }
                break;
            }
            shift -= min(shift, RANGE_BITS);
            continue;
        }
        for (var i = lane; i < n_places; i += WALK_LANES) {
            let hit = hit_of(slot, i);
            let key = hit.x & KEY_MASK;
            if hit.x != NONE && key >= range.x && key < range.y {
                let gathered = atomicAdd(&sh_n_gathered, 1u);
                sh_hits[gathered] = hit;
            }
        }
        workgroupBarrier();
        if lane == 0u {
            sh_n = atomicLoad(&sh_n_gathered);
        }
        let n = workgroupUniformLoad(&sh_n);
        walk_hits(slot, n, lane);
        n_walked += n;
        first = range.y;
        shift = params.range_shift;
    }
    if lane == 0u {
        n_dropped += n_all - n_walked;
    }
}

fn walk_slot(slot: u32, n: u32, lane: u32) {
    if lane == 0u {
        sh_reaches[0] = next_reaches[slot];
        sh_n = min(atomicLoad(&tallies[shared_tally(TALLY_OVERFLOW)]), params.overflow_capacity);
        atomicStore(&tallies[BUCKET_TALLIES + slot], 0u);
    }
    let n_overflow = workgroupUniformLoad(&sh_n);
    if n > params.bucket_capacity {
        walk_overflowing(slot, n, n_overflow, lane);
    } else {
        for (var i = lane; i < n; i += WALK_LANES) {
            sh_hits[i] = buckets[slot * params.bucket_capacity + i];
        }
        walk_hits(slot, n, lane);
    }
    if lane == 0u {
        next_reaches[slot] = sh_reaches[0];
    }
    workgroupBarrier();
}

@compute @workgroup_size(WALK_LANES)
fn walk(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) n_groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32
) {
    choose_tallies(group.x);
    load_scores(lane, WALK_LANES);
    if lane == 0u {
        sh_n = select(atomicLoad(&tallies[shared_tally(TALLY_PENDING)]), 0u, has_failed());
    }
    let n_pending = workgroupUniformLoad(&sh_n);
    for (var i = group.x; i < n_pending; i += n_groups.x) {
        if lane == 0u {
            let slot = buckets[pending_place(i)].x;
            sh_pick = vec2(slot, atomicLoad(&tallies[BUCKET_TALLIES + slot]));
        }
        let pick = workgroupUniformLoad(&sh_pick);
        walk_slot(pick.x, pick.y, lane);
    }
    report(lane);
}
