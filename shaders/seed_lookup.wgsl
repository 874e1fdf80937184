// seed_lookup: looks up every query window's words, extends the hits and puts them into buckets by residue of the
// diagonal.
// paper:    seeding; gap-free filter (LASTZ's x-drop extension)
// twin:     src/seed/scan.rs, src/filter/xdrop.rs
// grid:     one lane per lookup: n_flips lanes per query window
// reads:    params, words, scores
//           word_blocks   32 words each: which occur; how many occur before
//           word_starts   per occurring word, the start of its list
//           word_ends     ends of target windows, newest first
//           target_bases, query_bases   32 bases each, see seed_bases
//           reaches[N_SLOTS]            how far each residue has been looked at, and its diagonal
// writes:   buckets, tallies            see common/seed_lookup, seed_tallies
// requires: layout, seed_layout, seed_bases, seed_tallies, seed_scores, seed_run, seed_lookup
//
// Words occur more or less often: the lanes of a workgroup share the hits of all its lookups evenly.

// Words that occur more often are left to seed_frequent.
const MOST_HITS_OF_LOOKUP: u32 = 128u;

var<workgroup> sh_firsts: array<u32, LOOKUP_LANES>;     // start of each lookup's list
var<workgroup> sh_keys: array<u32, LOOKUP_LANES>;       // its order key
var<workgroup> sh_sums: array<u32, LOOKUP_LANES>;       // hits up to and including it

// The hits of a lookup: start and length of the word's list, and the order key.
fn look_up(item: u32) -> vec3<u32> {
    let position = item / params.n_flips;
    if position >= params.n_positions {
        return vec3(0u);
    }
    let flip_ix = params.first_flip + item % params.n_flips;
    let window = query_window(window_before(params.first_end + position));
    if (window.z & params.window_mask) != 0u {
        return vec3(0u);
    }
    let word = word_of(window) ^ flip_at(flip_ix);
    let block = word_blocks[word >> 5u];
    let bit = 1u << (word & 31u);
    if (block.x & bit) == 0u {
        return vec3(0u);
    }
    let rank = block.y + countOneBits(block.x & (bit - 1u));
    let list = list_of(rank);
    let key = (position << FLIP_BITS) | flip_ix;
    n_open += list.y - list.x;
    if list.y - list.x > MOST_HITS_OF_LOOKUP {
        let place = atomicAdd(&tallies[shared_tally(TALLY_FREQUENT)], 1u);
        if place < params.frequent_capacity {
            buckets[frequent_place(place)] = vec2(key, rank);
        } else {
            fail();
        }
        return vec3(0u);
    }
    return vec3(list.x, list.y - list.x, key);
}

// The lookup that the i-th hit of the workgroup belongs to.
fn lookup_of(i: u32) -> u32 {
    var lookup = 0u;
    for (var step = LOOKUP_LANES >> 1u; step > 0u; step >>= 1u) {
        if sh_sums[lookup + step - 1u] <= i {
            lookup += step;
        }
    }
    return lookup;
}

@compute @workgroup_size(LOOKUP_LANES)
fn seed(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    choose_tallies(group.x);
    load_scores(lane, LOOKUP_LANES);
    load_triples(lane, LOOKUP_LANES);
    var list = vec3(0u);
    if !has_failed() {
        list = look_up(group.x * LOOKUP_LANES + lane);
    }
    sh_firsts[lane] = list.x;
    sh_keys[lane] = list.z;
    sh_sums[lane] = list.y;
    workgroupBarrier();
    for (var step = 1u; step < LOOKUP_LANES; step <<= 1u) {
        var before = 0u;
        if lane >= step {
            before = sh_sums[lane - step];
        }
        workgroupBarrier();
        sh_sums[lane] += before;
        workgroupBarrier();
    }
    let n_all = sh_sums[LOOKUP_LANES - 1u];
    for (var i = lane; i < n_all; i += LOOKUP_LANES) {
        let lookup = lookup_of(i);
        var first = i;
        if lookup > 0u {
            first -= sh_sums[lookup - 1u];
        }
        take_hit(word_ends[sh_firsts[lookup] + first], sh_keys[lookup]);
    }
    report_hits(lane);
}
