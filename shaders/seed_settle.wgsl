// seed_settle: settles the hits of each residue of the diagonal in order, up to the first that has to be extended anew;
// the residues where that happens are listed for seed_walk.
// paper:    gap-free filter (LASTZ's x-drop extension)
// twin:     src/filter/diagonals.rs
// grid:     N_SLOTS / SLOTS_PER_GROUP workgroups; each takes that many residues
// reads:    params
//           reaches[N_SLOTS]            how far each residue has been looked at, and its diagonal
// writes:   next_reaches[N_SLOTS]       the same after the hits that were settled
//           buckets                     see common/seed_lookup; hits of listed residues stay, the first ones first
//           tallies                     see common/seed_tallies
// requires: layout, seed_layout, seed_tallies, seed_sort, seed_settle

@group(0) @binding(0) var<uniform> params: SeedParams;
@group(0) @binding(1) var<storage, read> reaches: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> buckets: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> next_reaches: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> tallies: array<atomic<u32>>;

var<workgroup> sh_n_of: array<u32, SLOTS_PER_GROUP>;    // hits in each of the group's buckets
var<workgroup> sh_len: u32;                             // places of a segment, a power of two; 0 after a failure

fn is_crowded(n: u32) -> bool {
    return n > MOST_SIDE_BY_SIDE || n > params.bucket_capacity;
}

// Empties the buckets of the group, and finds out how many hits they hold.
fn take_buckets(first_slot: u32, lane: u32) {
    if lane < SLOTS_PER_GROUP {
        let n = atomicLoad(&tallies[BUCKET_TALLIES + first_slot + lane]);
        if n > 0u {
            atomicStore(&tallies[BUCKET_TALLIES + first_slot + lane], 0u);
        }
        sh_n_of[lane] = n;
        sh_ends[lane] = select(n, 0u, is_crowded(n));
        sh_nexts[lane] = 0u;
        sh_reaches[lane] = reaches[first_slot + lane];
    }
    workgroupBarrier();
    if lane == 0u {
        var most = 0u;
        for (var segment = 0u; segment < SLOTS_PER_GROUP; segment += 1u) {
            most = max(most, sh_ends[segment]);
        }
        // After a piece that failed, next_reaches is what that piece started from: it must stay.
        sh_len = select(least_power(most), 0u, has_failed());
    }
}

fn load_hits(first_slot: u32, len: u32, lane: u32) {
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
}

// Lists the residues that are not done, and leaves their other hits in their buckets.
fn leave_hits(first_slot: u32, len: u32, lane: u32) {
    let len_bits = countTrailingZeros(len);
    for (var i = lane; i < SLOTS_PER_GROUP * len; i += WALK_LANES) {
        let segment = i >> len_bits;
        let place = i & (len - 1u);
        let next = sh_nexts[segment];
        if place >= next && place < sh_ends[segment] {
            buckets[(first_slot + segment) * params.bucket_capacity + place - next] = sh_hits[i];
        }
    }
    if lane < SLOTS_PER_GROUP {
        let slot = first_slot + lane;
        let n = select(sh_ends[lane] - sh_nexts[lane], sh_n_of[lane], is_crowded(sh_n_of[lane]));
        next_reaches[slot] = sh_reaches[lane];
        if n > 0u {
            atomicStore(&tallies[BUCKET_TALLIES + slot], n);
            let place = atomicAdd(&tallies[shared_tally(TALLY_PENDING)], 1u);
            buckets[pending_place(place)] = vec2(slot, 0u);
        }
    }
}

@compute @workgroup_size(WALK_LANES)
fn walk(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    choose_tallies(group.x);
    let first_slot = group.x * SLOTS_PER_GROUP;
    take_buckets(first_slot, lane);
    let len = workgroupUniformLoad(&sh_len);
    if len > 0u {
        load_hits(first_slot, len, lane);
        sort_segments(SLOTS_PER_GROUP, len, lane);
        if lane < SLOTS_PER_GROUP {
            settle(lane, first_slot + lane, len);
        }
        workgroupBarrier();
        leave_hits(first_slot, len, lane);
    }
    report(lane);
}
