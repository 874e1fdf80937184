// seed_layout: what the seeding kernels share with the host. Twin: src/gpu/seeding/layout.rs, compared by a test.

// What a piece of the search needs to know. Changes from piece to piece: the first eight fields.
struct SeedParams {
    first_end: u32,         // end of the first query window
    n_positions: u32,       // query windows
    first_flip: u32,        // lookups of each window: words.flips[first_flip] and on
    n_flips: u32,
    list_first: u32,        // entries of each word's list: this one and on, newest first
    list_end: u32,          // up to here
    piece_ix: u32,          // place in the batch
    range_shift: u32,       // order keys >> this are less than 256
    window_len: u32,
    window_mask: u32,
    n_groups: u32,
    bucket_capacity: u32,
    overflow_capacity: u32,
    frequent_capacity: u32,
    frequent_turns: u32,    // hits that a lane of seed_frequent takes
    candidate_capacity: u32,
    extension_capacity: u32,    // hits that a workgroup of seed_walk extends
    has_checks: u32,        // 1: hits must pass the tests of the next three fields and of --self
    is_masked_later: u32,   // 1: words of the table may touch masked bases (lastz-semantics 6.6)
    resolve_mask: u32,      // places known by class only (2.1)
    transitions: u32,       // most transitions of a hit
    filter_mask: u32,       // places that --filter counts (2.5); 0: no filter
    filter_matches: u32,
    filter_transversions: u32,
    self_rule: u32,         // SELF_* (2.3)
    self_sum: u32,
    diagonal_rule: u32,     // RULE_* (2.4)
    is_window: u32,         // 1: the window itself is the segment (3.5)
    x_drop: i32,
    threshold: i32,         // K
    best_limit: i32,        // above this, sums are near the end of 32 bits
    target_len: u32,
    target_page: u32,       // chunks of a binding of the target's bases
    query_len: u32,         // of the whole array with all strands
    run_cap: u32,           // pairs from which on a lane gives up; longer runs are done by a whole workgroup
    has_triples: u32,       // 1: scores.triples may be used
}

// A segment that reaches K before the entropy factor.
struct Candidate {
    target_end: u32,        // of the hit
    query_end: u32,
    flip_and_piece: u32,    // place of the lookup, 8 bits; the piece above
    left_len: u32,          // pairs before the hit's end
    right_len: u32,         // pairs after it
    score: i32,
}
