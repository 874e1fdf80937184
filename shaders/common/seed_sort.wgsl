// seed_sort: hits of buckets in workgroup memory, in LASTZ's order: keys ascending, target ends descending.
//
// A hit is two words (src/gpu/seeding/layout.rs):
//   order key (28 bits), HIT_* flags
//   pairs of its right run (8 bits), of its left run (8 bits), upper half of the diagonal (16 bits)

var<workgroup> sh_hits: array<vec2<u32>, N_SORTED>;

const NO_HIT: vec2<u32> = vec2(0xffffffffu, 0u);

fn comes_after(a: vec2<u32>, b: vec2<u32>) -> bool {
    let key_a = a.x & KEY_MASK;
    let key_b = b.x & KEY_MASK;
    // Of two hits with the same query window and residue the upper halves tell the target ends apart.
    return key_a > key_b || (key_a == key_b && bitcast<i32>(a.y) < bitcast<i32>(b.y));
}

// Sorts the first n_segments * len hits, segment by segment (bitonic). len is a power of two; free places hold NO_HIT.
// Begins and ends with a barrier; n_segments and len must be the same in all lanes.
fn sort_segments(n_segments: u32, len: u32, lane: u32) {
    let n_pairs_of_step = n_segments * len >> 1u;
    for (var size = 2u; size <= len; size <<= 1u) {
        for (var gap = size >> 1u; gap > 0u; gap >>= 1u) {
            workgroupBarrier();
            for (var i = lane; i < n_pairs_of_step; i += WALK_LANES) {
                let low = ((i & ~(gap - 1u)) << 1u) | (i & (gap - 1u));
                let a = sh_hits[low];
                let b = sh_hits[low | gap];
                if comes_after(a, b) == ((low & (len - 1u) & size) == 0u) {
                    sh_hits[low] = b;
                    sh_hits[low | gap] = a;
                }
            }
        }
    }
    workgroupBarrier();
}
