// seed_lookup: words of query windows, the table of the target's words, what becomes of a hit.
//
// A hit has an order key: the place of the query window in the piece, above 8 bits for the place of the lookup. Hits in
// LASTZ's order have ascending keys, and descending target ends within a key (lastz-semantics 2.3). A hit is extended at
// once, as if no other came before it, and goes to the bucket of its residue of the diagonal; seed_settle and
// seed_walk settle which hits of a bucket count.
//
// buckets      bucket_capacity hits for each of N_SLOTS residues, see seed_sort
//              then overflow_capacity pairs of a hit and (residue, 0)
//              then frequent_capacity lookups (order key, rank of the word) that seed_frequent works off
//              then N_SLOTS residues (slot, 0) that seed_walk works off

struct SeedWords {
    flips: array<vec4<u32>, 64>,        // what to flip in a word, lookup by lookup
    groups: array<vec4<u32>, 32>,       // shift, mask, target bit, plane: neighbouring places that go to an index
}

@group(0) @binding(0) var<uniform> params: SeedParams;
@group(0) @binding(1) var<uniform> words: SeedWords;
@group(0) @binding(2) var<storage, read> word_blocks: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> word_starts: array<u32>;
@group(0) @binding(4) var<storage, read> word_ends: array<u32>;
@group(0) @binding(5) var<storage, read> target_bases: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read> query_bases: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read> reaches: array<vec2<u32>>;
@group(0) @binding(8) var<storage, read_write> buckets: array<vec2<u32>>;
@group(0) @binding(9) var<storage, read_write> tallies: array<atomic<u32>>;
@group(0) @binding(10) var<uniform> scores: SeedScores;

var<workgroup> sh_n_hits: atomic<u32>;
var<workgroup> sh_n_dropped: atomic<u32>;
var<workgroup> sh_n_open: atomic<u32>;
var<private> n_hits: u32;
var<private> n_dropped: u32;
var<private> n_open: u32;        // list entries found, less those gone through, modulo 2^32

fn query_end_of(key: u32) -> u32 {
    return params.first_end + (key >> FLIP_BITS);
}

fn window_before(end: u32) -> u32 {
    return end - params.window_len + BASES_PADDING;
}

fn flip_at(flip_ix: u32) -> u32 {
    return words.flips[flip_ix >> 2u][flip_ix & 3u];
}

// The index of a window without special bases (src/seed/layout.rs).
fn word_of(window: vec4<u32>) -> u32 {
    var word = 0u;
    for (var i = 0u; i < params.n_groups; i += 1u) {
        let group = words.groups[i];
        let plane = select(window.x, window.y, group.w == 1u);
        word |= ((plane >> group.x) & group.y) << group.z;
    }
    return word;
}

// The part of a word's list that belongs to the piece.
fn list_of(rank: u32) -> vec2<u32> {
    let start = word_starts[rank];
    let len = word_starts[rank + 1u] - start;
    return vec2(start + min(params.list_first, len), start + min(params.list_end, len));
}

// Tests that make a pair of windows a hit, and that only some runs need (src/seed/scan.rs).
fn is_hit(target_end: u32, query_end: u32, flip: u32) -> bool {
    let target_part = target_window(window_before(target_end));
    let query_part = query_window(window_before(query_end));
    if params.is_masked_later == 1u && (target_part.z & params.window_mask) != 0u {
        return false;
    }
    let other = (target_part.x ^ query_part.x) | (target_part.y ^ query_part.y);
    if countOneBits(other & params.resolve_mask) + countOneBits(flip) > params.transitions {
        return false;
    }
    if params.self_rule == SELF_SAME_STRAND {
        return target_end < query_end;
    }
    if params.self_rule == SELF_OTHER_STRAND {
        return target_end + query_end + 1u - 2u * params.window_len < params.self_sum;
    }
    return true;
}

// Whether --filter refuses a hit (src/filter/hit_filter.rs).
fn is_refused(target_end: u32, query_end: u32) -> bool {
    let target_part = target_window(window_before(target_end));
    let query_part = query_window(window_before(query_end));
    let transversion = target_part.y ^ query_part.y;
    let other = (target_part.x ^ query_part.x) | transversion;
    return countOneBits(~other & params.filter_mask) < params.filter_matches
        || countOneBits(transversion & params.filter_mask) > params.filter_transversions;
}

fn reaches_threshold(left: i32, right: i32) -> bool {
    return params.threshold <= 0 || bitcast<u32>(left) + bitcast<u32>(right) >= bitcast<u32>(params.threshold);
}

// The two words of a hit. Its left run goes as far as if no other hit of the residue came before: its score is an upper
// bound, and seed_walk cuts its length.
fn extended(key: u32, target_end: u32, query_end: u32) -> vec2<u32> {
    let upper_diagonal = (target_end - query_end) & 0xffff0000u;
    if params.is_window == 1u {
        return vec2(key | HIT_IS_SPECIAL, upper_diagonal);
    }
    let right = run_of_lane(target_end, query_end, false);
    let left = run_of_lane(target_end, query_end, true);
    let is_open = right.state == RUN_GOES_ON || left.state == RUN_GOES_ON;
    let is_special = is_open || reaches_threshold(left.best, right.best);
    return vec2(key | select(0u, HIT_IS_SPECIAL, is_special), upper_diagonal | (left.len << 8u) | right.len);
}

// Counts a hit, and puts it into its bucket unless its diagonal has been looked at (2.4).
fn take_hit(target_end: u32, key: u32) {
    let query_end = query_end_of(key);
    n_open -= 1u;
    if params.has_checks == 1u && !is_hit(target_end, query_end, flip_at(key & FLIP_MASK)) {
        return;
    }
    n_hits += 1u;
    let slot = (target_end - query_end) & SLOT_MASK;
    let is_passed = params.diagonal_rule == RULE_HASHED && reaches[slot].x > query_end - params.window_len;
    let refused = params.filter_mask != 0u && is_refused(target_end, query_end);
    // Only under RULE_RECOVER does a refused hit leave a trace.
    if is_passed || (refused && params.diagonal_rule != RULE_RECOVER) {
        n_dropped += 1u;
        return;
    }
    var hit = vec2(key | HIT_IS_REFUSED, (target_end - query_end) & 0xffff0000u);
    if !refused {
        hit = extended(key, target_end, query_end);
    }
    let place = atomicAdd(&tallies[BUCKET_TALLIES + slot], 1u);
    if place < params.bucket_capacity {
        buckets[slot * params.bucket_capacity + place] = hit;
        return;
    }
    let overflow = atomicAdd(&tallies[shared_tally(TALLY_OVERFLOW)], 1u);
    if overflow < params.overflow_capacity {
        let first = N_SLOTS * params.bucket_capacity + 2u * overflow;
        buckets[first] = hit;
        buckets[first + 1u] = vec2(slot, 0u);
    } else {
        fail();
    }
}

// Adds up the counts of a workgroup.
fn report_hits(lane: u32) {
    if lane == 0u {
        atomicStore(&sh_n_hits, 0u);
        atomicStore(&sh_n_dropped, 0u);
        atomicStore(&sh_n_open, 0u);
    }
    workgroupBarrier();
    atomicAdd(&sh_n_hits, n_hits);
    atomicAdd(&sh_n_dropped, n_dropped);
    atomicAdd(&sh_n_open, n_open);
    workgroupBarrier();
    if lane == 0u {
        let hits = atomicLoad(&sh_n_hits);
        let dropped = atomicLoad(&sh_n_dropped);
        tally(TALLY_HITS, hits);
        tally(TALLY_DROPPED, dropped);
        atomicAdd(&tallies[own_tally(TALLY_OPEN)], atomicLoad(&sh_n_open));
        if hits > dropped {
            atomicAdd(&tallies[own_tally(TALLY_PLACED)], hits - dropped);
        }
        atomicAdd(&tallies[own_tally(TALLY_FINISHED)], 1u);
    }
}
