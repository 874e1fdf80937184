// seed_walk: settles the hits of each residue of the diagonal in order, and lists the segments that may pass.
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
// requires: layout, seed_layout, seed_bases, seed_tallies, seed_scores, seed_blocks, seed_sort
//
// Workgroup memory holds segments: the hits of one bucket each. One lane goes over a segment in order. Most hits are plain:
// what they look at is known, and their score is too low. Where a special one counts, the whole workgroup extends it.

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

var<workgroup> sh_n_of: array<u32, SLOTS_PER_GROUP>;            // hits in each of the group's buckets; NONE if void
var<workgroup> sh_ends: array<u32, SLOTS_PER_GROUP>;            // per segment: hits
var<workgroup> sh_nexts: array<u32, SLOTS_PER_GROUP>;           // the next one to settle
var<workgroup> sh_reaches: array<vec2<u32>, SLOTS_PER_GROUP>;   // reach and diagonal of its residue
var<workgroup> sh_shape: vec2<u32>;                             // hits of a segment, a power of two; crowded buckets
var<workgroup> sh_n: u32;
var<workgroup> sh_n_gathered: atomic<u32>;
var<workgroup> sh_ranges: array<atomic<u32>, N_RANGES>;
var<workgroup> sh_range: vec2<u32>;

var<private> n_dropped: u32;
var<private> n_extended: u32;
var<private> n_pairs: u32;

fn query_end_of(key: u32) -> u32 {
    return params.first_end + ((key & KEY_MASK) >> FLIP_BITS);
}

fn diagonal_of(hit: vec2<u32>, slot: u32) -> u32 {
    return (hit.y & 0xffff0000u) | slot;
}

fn emit(hit: vec2<u32>, target_end: u32, left_len: u32, right_len: u32, score: i32) {
    let place = atomicAdd(&tallies[TALLY_CANDIDATES], 1u);
    if place >= params.candidate_capacity {
        fail();
        return;
    }
    let flip_and_piece = (hit.x & FLIP_MASK) | (params.piece_ix << FLIP_BITS);
    candidates[place] = Candidate(target_end, query_end_of(hit.x), flip_and_piece, left_len, right_len, score);
}

// The private count is handed over before it can overflow.
fn count_pairs(n: u32) {
    if n_pairs + n < n_pairs {
        tally(TALLY_PAIRS, n_pairs);
        n_pairs = 0u;
    }
    n_pairs += n;
}

// One lane goes over a segment up to its end, or to a hit that the workgroup has to extend (2.4).
fn settle(segment: u32, slot: u32, len: u32) {
    var reach = sh_reaches[segment];
    var i = sh_nexts[segment];
    let end = sh_ends[segment];
    for (; i < end; i += 1u) {
        let hit = sh_hits[segment * len + i];
        let query_end = query_end_of(hit.x);
        let diagonal = diagonal_of(hit, slot);
        if params.diagonal_rule == RULE_RECOVER && reach.y != diagonal {
            reach = vec2(0u, diagonal);
        }
        let is_passed = params.diagonal_rule != RULE_OFF && reach.x > query_end - params.window_len;
        if is_passed || (hit.x & HIT_IS_REFUSED) != 0u {
            if params.diagonal_rule == RULE_RECOVER {
                reach.x = max(reach.x, query_end);
            }
            n_dropped += 1u;
            continue;
        }
        if (hit.x & HIT_IS_SPECIAL) != 0u && params.is_window == 0u {
            break;
        }
        n_extended += 1u;
        if params.is_window == 1u {
            emit(hit, diagonal + query_end, params.window_len, 0u, 0);
            reach.x = max(reach.x, query_end);
            continue;
        }
        let floor = select(0u, reach.x, params.diagonal_rule == RULE_HASHED);
        let right_len = hit.y & 0xffu;
        count_pairs(right_len + min((hit.y >> 8u) & 0xffu, query_end - floor));
        reach.x = max(reach.x, query_end + right_len);
    }
    sh_reaches[segment] = reach;
    sh_nexts[segment] = i;
}

// The workgroup extends the next hit of a segment; it is the same in all lanes.
fn extend(segment: u32, slot: u32, hit: vec2<u32>, lane: u32) {
    let query_end = query_end_of(hit.x);
    let target_end = diagonal_of(hit, slot) + query_end;
    let reach = workgroupUniformLoad(&sh_reaches[segment]).x;
    let floor = select(0u, reach, params.diagonal_rule == RULE_HASHED);
    let right_limit = min(params.target_len - target_end, params.query_len - query_end);
    run_of_group(Course(target_end, query_end, false, right_limit), lane);
    let right = sh_run;
    workgroupBarrier();
    run_of_group(Course(target_end, query_end, true, min(target_end, query_end - floor)), lane);
    if lane == 0u {
        let left = sh_run;
        let score = left.best + right.best;
        if score >= params.threshold {
            emit(hit, target_end, left.best_len, right.best_len, score);
        }
        n_extended += 1u;
        count_pairs(right.len);
        count_pairs(left.len);
        sh_reaches[segment].x = max(reach, query_end + right.len);
        sh_nexts[segment] += 1u;
    }
    workgroupBarrier();
}

// Sorts and settles segments of len hits: residues from first_slot on.
fn walk_segments(first_slot: u32, n_segments: u32, len: u32, lane: u32) {
    sort_segments(n_segments, len, lane);
    loop {
        if lane < n_segments {
            settle(lane, first_slot + lane, len);
        }
        workgroupBarrier();
        if lane == 0u {
            sh_n = 0u;
            for (var segment = 0u; segment < n_segments; segment += 1u) {
                sh_n |= select(0u, 1u << segment, sh_nexts[segment] < sh_ends[segment]);
            }
        }
        var pending = workgroupUniformLoad(&sh_n);
        if pending == 0u {
            break;
        }
        while pending != 0u {
            let segment = firstTrailingBit(pending);
            pending &= pending - 1u;
            let next = workgroupUniformLoad(&sh_nexts[segment]);
            extend(segment, first_slot + segment, workgroupUniformLoad(&sh_hits[segment * len + next]), lane);
        }
    }
}

// All buckets of the group that are not crowded, side by side; they have at most len hits.
fn walk_group(first_slot: u32, len: u32, lane: u32) {
    let len_bits = countTrailingZeros(len);
    for (var i = lane; i < SLOTS_PER_GROUP * len; i += WALK_LANES) {
        let segment = i >> len_bits;
        let place = i & (len - 1u);
        var hit = NO_HIT;
        if place < sh_ends[segment] {
            hit = buckets[(first_slot + segment) * params.bucket_capacity + place];
        }
        sh_hits[i] = hit;
    }
    walk_segments(first_slot, SLOTS_PER_GROUP, len, lane);
}

fn least_power(n: u32) -> u32 {
    return 1u << (32u - countLeadingZeros(max(n, 2u) - 1u));
}

// Walks the first n hits in workgroup memory.
fn walk_hits(slot: u32, n: u32, lane: u32) {
    let len = least_power(n);
    for (var i = n + lane; i < len; i += WALK_LANES) {
        sh_hits[i] = NO_HIT;
    }
    if lane == 0u {
        sh_ends[0] = n;
        sh_nexts[0] = 0u;
    }
    walk_segments(slot, 1u, len, lane);
}

// More hits than workgroup memory holds: their order keys are cut into N_RANGES ranges, and as many ranges at a time as
// fit are gathered and walked. Ranges that the reach has passed are not looked at again.
fn walk_overflowing(slot: u32, n_overflow: u32, lane: u32) {
    for (var i = lane; i < N_RANGES; i += WALK_LANES) {
        atomicStore(&sh_ranges[i], 0u);
    }
    workgroupBarrier();
    let n_places = params.bucket_capacity + n_overflow;
    for (var i = lane; i < n_places; i += WALK_LANES) {
        let hit = hit_of(slot, i);
        if hit.x != NONE {
            atomicAdd(&sh_ranges[(hit.x & KEY_MASK) >> params.range_shift], 1u);
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
            let hit = hit_of(slot, i);
            let place = (hit.x & KEY_MASK) >> params.range_shift;
            if hit.x != NONE && place >= range.x && place < range.y {
                let gathered = atomicAdd(&sh_n_gathered, 1u);
                sh_hits[gathered] = hit;
            }
        }
        workgroupBarrier();
        if lane == 0u {
            sh_n = atomicLoad(&sh_n_gathered);
        }
        walk_hits(slot, workgroupUniformLoad(&sh_n), lane);
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

// The next ranges to walk, from `first` on; an empty pair at the end.
fn next_ranges(first: u32) -> vec2<u32> {
    var start = first;
    // The last window of a range starts before the reach: so do all.
    for (; start < N_RANGES; start += 1u) {
        let n = atomicLoad(&sh_ranges[start]);
        let last_end = params.first_end + ((((start + 1u) << params.range_shift) - 1u) >> FLIP_BITS);
        if params.diagonal_rule != RULE_HASHED || sh_reaches[0].x <= last_end - params.window_len {
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

fn walk_crowded(slot: u32, n: u32, lane: u32) {
    if lane == 0u {
        sh_reaches[0] = reaches[slot];
        sh_n = min(atomicLoad(&tallies[piece_tally(TALLY_OVERFLOW)]), params.overflow_capacity);
    }
    let n_overflow = workgroupUniformLoad(&sh_n);
    if n > params.bucket_capacity {
        walk_overflowing(slot, n_overflow, lane);
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

// Empties the buckets of the group, and finds out how many hits they hold.
fn take_buckets(first_slot: u32, lane: u32) {
    if lane < SLOTS_PER_GROUP {
        let n = atomicLoad(&tallies[BUCKET_TALLIES + first_slot + lane]);
        atomicStore(&tallies[BUCKET_TALLIES + first_slot + lane], 0u);
        sh_n_of[lane] = n;
        sh_ends[lane] = select(n, 0u, n > MOST_SIDE_BY_SIDE || n > params.bucket_capacity);
        sh_nexts[lane] = 0u;
        sh_reaches[lane] = reaches[first_slot + lane];
    }
    workgroupBarrier();
    if lane == 0u {
        var most = 0u;
        var crowded = 0u;
        for (var segment = 0u; segment < SLOTS_PER_GROUP; segment += 1u) {
            most = max(most, sh_ends[segment]);
            crowded |= select(0u, 1u << segment, sh_ends[segment] < sh_n_of[segment]);
        }
        // After a piece that failed, next_reaches is what that piece started from: it must stay.
        sh_shape = select(vec2(least_power(most), crowded), vec2(0u), has_failed());
    }
}

@compute @workgroup_size(WALK_LANES)
fn walk(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let first_slot = group.x * SLOTS_PER_GROUP;
    load_scores(lane, WALK_LANES);
    take_buckets(first_slot, lane);
    let shape = workgroupUniformLoad(&sh_shape);
    if shape.x > 0u {
        walk_group(first_slot, shape.x, lane);
        if lane < SLOTS_PER_GROUP && (shape.y & (1u << lane)) == 0u {
            next_reaches[first_slot + lane] = sh_reaches[lane];
        }
        workgroupBarrier();
    }
    var crowded = shape.y;
    while crowded != 0u {
        let segment = firstTrailingBit(crowded);
        crowded &= crowded - 1u;
        walk_crowded(first_slot + segment, workgroupUniformLoad(&sh_n_of[segment]), lane);
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
