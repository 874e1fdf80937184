// seed_sort: hits of a bucket in workgroup memory, in LASTZ's order: keys ascending, target ends descending.

var<workgroup> sh_hits: array<vec2<u32>, N_SORTED>;

fn comes_after(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.x > b.x || (a.x == b.x && a.y < b.y);
}

// Sorts the first n hits (bitonic; the places up to the next power of two are filled up). Begins and ends with a
// barrier; n must be the same in all lanes.
fn sort_hits(n: u32, lane: u32) {
    var padded = 1u;
    while padded < n {
        padded <<= 1u;
    }
    let n_pairs_of_step = padded >> 1u;
    for (var i = n + lane; i < padded; i += WALK_LANES) {
        sh_hits[i] = vec2(0xffffffffu, 0u);
    }
    for (var size = 2u; size <= padded; size <<= 1u) {
        for (var gap = size >> 1u; gap > 0u; gap >>= 1u) {
            workgroupBarrier();
            for (var i = lane; i < n_pairs_of_step; i += WALK_LANES) {
                let low = ((i & ~(gap - 1u)) << 1u) | (i & (gap - 1u));
                let a = sh_hits[low];
                let b = sh_hits[low | gap];
                if comes_after(a, b) == ((low & size) == 0u) {
                    sh_hits[low] = b;
                    sh_hits[low | gap] = a;
                }
            }
        }
    }
    workgroupBarrier();
}
