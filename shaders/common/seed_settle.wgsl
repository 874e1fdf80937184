// seed_settle: goes over the hits of residues in order, and settles which of them count (lastz-semantics 2.4).
//
// Workgroup memory holds segments: sorted hits of one residue each. One lane goes over a segment, up to a special hit: what
// plain hits look at is known, and their score is too low.

var<workgroup> sh_ends: array<u32, SLOTS_PER_GROUP>;            // per segment: hits
var<workgroup> sh_nexts: array<u32, SLOTS_PER_GROUP>;           // the next one to settle
var<workgroup> sh_reaches: array<vec2<u32>, SLOTS_PER_GROUP>;   // reach and diagonal of its residue

var<private> n_dropped: u32;
var<private> n_extended: u32;
var<private> n_pairs: u32;

fn query_end_of(key: u32) -> u32 {
    return params.first_end + ((key & KEY_MASK) >> FLIP_BITS);
}

fn diagonal_of(hit: vec2<u32>, slot: u32) -> u32 {
    return (hit.y & 0xffff0000u) | slot;
}

// The private count is handed over before it can overflow.
fn count_pairs(n: u32) {
    if n_pairs + n < n_pairs {
        tally(TALLY_PAIRS, n_pairs);
        n_pairs = 0u;
    }
    n_pairs += n;
}

// The first hit of a segment, from one that the reach has passed on, that it has not; they are in order.
fn first_unpassed(segment: u32, len: u32, passed: u32, reach: u32) -> u32 {
    var low = passed + 1u;
    var high = sh_ends[segment];
    while low < high {
        let middle = (low + high) >> 1u;
        if reach > query_end_of(sh_hits[segment * len + middle].x) - params.window_len {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

// One lane goes over a segment of len places up to its end, or to a special hit that counts.
fn settle(segment: u32, slot: u32, len: u32) {
    var reach = sh_reaches[segment];
    var i = sh_nexts[segment];
    let end = sh_ends[segment];
    while i < end {
        let hit = sh_hits[segment * len + i];
        let query_end = query_end_of(hit.x);
        let diagonal = diagonal_of(hit, slot);
        // The reach that another diagonal has left drops nothing, but it stays.
        let takes_over = params.diagonal_rule == RULE_RECOVER && reach.y != diagonal;
        let is_passed =
            params.diagonal_rule != RULE_OFF && !takes_over && reach.x > query_end - params.window_len;
        if is_passed || (hit.x & HIT_IS_REFUSED) != 0u {
            var next = i + 1u;
            if params.diagonal_rule == RULE_RECOVER {
                reach = vec2(max(reach.x, query_end), diagonal);
            } else {
                next = first_unpassed(segment, len, i, reach.x);
            }
            n_dropped += next - i;
            i = next;
            continue;
        }
        if (hit.x & HIT_IS_SPECIAL) != 0u {
            break;
        }
        let floor = select(0u, reach.x, params.diagonal_rule == RULE_HASHED);
        let right_len = hit.y & 0xffu;
        n_extended += 1u;
        count_pairs(right_len + min((hit.y >> 8u) & 0xffu, query_end - floor));
        reach = vec2(max(reach.x, query_end + right_len), diagonal);
        i += 1u;
    }
    sh_reaches[segment] = reach;
    sh_nexts[segment] = i;
}

// A power of two that is at least n.
fn least_power(n: u32) -> u32 {
    return 1u << (32u - countLeadingZeros(max(n, 2u) - 1u));
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
        if high >> 16u > 0u {
            atomicAdd(&tallies[own_tally(TALLY_PAIRS) + 1u], high >> 16u);
        }
        atomicAdd(&tallies[own_tally(TALLY_FINISHED)], 1u);
    }
}
