// seed_lookup: looks up every query window's words and puts the hits into buckets by residue of the diagonal.
// paper:    seeding
// twin:     src/seed/scan.rs
// grid:     one lane per lookup: n_flips lanes per query window
// reads:    params, words
//           word_blocks   32 words each: which occur; how many occur before
//           word_starts   per occurring word, the start of its list
//           word_ends     ends of target windows, newest first
//           target_bases, query_bases   32 bases each, see seed_bases
//           reaches[N_SLOTS]            how far each residue has been looked at, and its diagonal
// writes:   buckets, tallies            see common/seed_lookup, seed_tallies
// requires: layout, seed_layout, seed_bases, seed_tallies, seed_lookup

// Words that occur more often are left to seed_frequent.
const MOST_HITS_PER_LANE: u32 = 48u;

fn look_up(item: u32) {
    let position = item / params.n_flips;
    if position >= params.n_positions {
        return;
    }
    let flip_ix = params.first_flip + item % params.n_flips;
    let window = query_window(window_before(params.first_end + position));
    if (window.z & params.window_mask) != 0u {
        return;
    }
    let flip = flip_at(flip_ix);
    let word = word_of(window) ^ flip;
    let block = word_blocks[word >> 5u];
    let bit = 1u << (word & 31u);
    if (block.x & bit) == 0u {
        return;
    }
    let rank = block.y + countOneBits(block.x & (bit - 1u));
    let list = list_of(rank);
    let key = (position << FLIP_BITS) | flip_ix;
    if list.y - list.x > MOST_HITS_PER_LANE {
        let place = atomicAdd(&tallies[piece_tally(TALLY_FREQUENT)], 1u);
        if place < params.frequent_capacity {
            buckets[N_SLOTS * params.bucket_capacity + params.overflow_capacity + place] = vec2(key, rank);
        } else {
            fail();
        }
        return;
    }
    for (var i = list.x; i < list.y; i += 1u) {
        place_hit(word_ends[i], key, flip);
    }
}

@compute @workgroup_size(LOOKUP_LANES)
fn seed(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if !has_failed() {
        look_up(group.x * LOOKUP_LANES + lane);
    }
    report_hits(lane);
}
