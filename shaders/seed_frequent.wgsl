// seed_frequent: works off the lookups of words that occur often, a workgroup for each.
// paper:    seeding; gap-free filter (LASTZ's x-drop extension)
// twin:     src/seed/scan.rs, src/filter/xdrop.rs
// grid:     any number of workgroups
// reads:    as seed_lookup, and the lookups that it left
// writes:   buckets, tallies
// requires: layout, seed_layout, seed_bases, seed_tallies, seed_scores, seed_run, seed_lookup

@compute @workgroup_size(LOOKUP_LANES)
fn seed(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) n_groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32
) {
    choose_tallies(group.x);
    load_scores(lane, LOOKUP_LANES);
    load_triples(lane, LOOKUP_LANES);
    workgroupBarrier();
    // More than fit were not stored, and the piece has failed.
    let n_lookups = select(atomicLoad(&tallies[shared_tally(TALLY_FREQUENT)]), 0u, has_failed());
    var n_turns = 0u;
    for (var ix = group.x; ix < min(n_lookups, params.frequent_capacity); ix += n_groups.x) {
        let lookup = buckets[frequent_place(ix)];
        let list = list_of(lookup.y);
        n_turns += (list.y - list.x + LOOKUP_LANES - 1u) / LOOKUP_LANES;
        if n_turns > params.frequent_turns {
            fail();
            break;
        }
        for (var i = list.x + lane; i < list.y; i += LOOKUP_LANES) {
            take_hit(word_ends[i], lookup.x);
        }
    }
    report_hits(lane);
}
