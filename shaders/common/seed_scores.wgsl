// seed_scores: the gap-free scores in workgroup memory. Requires the binding `scores`.

struct SeedScores {
    table: array<vec4<i32>, 64>,        // of (target kind, query kind) at 16 * target + query
    triples: array<vec4<u32>, 128>,     // of three pairs of plain bases, see sh_triples
}

var<workgroup> sh_scores: array<i32, 256>;      // of (target kind, query kind) at 16 * target + query

fn load_scores(lane: u32, n_lanes: u32) {
    for (var i = lane; i < 256u; i += n_lanes) {
        sh_scores[i] = scores.table[i >> 2u][i & 3u];
    }
}
