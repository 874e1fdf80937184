// seed_bases: 32 bases as four bit planes, so that 32 pairs are compared with a few word operations.
//
//              A  G  C  T  others  gap
// x            0  1  0  1          1    flips when a base becomes its transition     low bit of the kind
// y            0  0  1  1          1    purine or pyrimidine                         middle bit of the kind
// z            0  0  0  0  1       1    1 for anything but upper-case A, C, G, T
// w            0  0  0  0          1    high bit of the kind
//
// BASES_PADDING gaps stand before and after an array, and gaps stand between the strands of a query array: a run ends
// before a gap. Places count from the first of them. Requires `params`, and the bindings `target_bases` and `query_bases`.

fn join_chunks(low: vec4<u32>, high: vec4<u32>, place: u32) -> vec4<u32> {
    let shift = place & 31u;
    return (low >> vec4(shift)) | ((high << vec4(1u)) << vec4(31u - shift));
}

// for each later page p
@group(0) @binding($b) var<storage, read> target_bases_$p: array<vec4<u32>>;
// end

// 32 bases of the target. Where they are too many for a binding, each one holds target_page chunks.
fn target_chunk(chunk: u32) -> vec4<u32> {
// for each later page p
    if chunk >= $pu * params.target_page {
        return target_bases_$p[chunk - $pu * params.target_page];
    }
// end
    return target_bases[chunk];
}

// The 32 bases from a place on; the first is bit 0.
fn target_window(place: u32) -> vec4<u32> {
    let chunk = place >> 5u;
    return join_chunks(target_chunk(chunk), target_chunk(chunk + 1u), place);
}

fn query_window(place: u32) -> vec4<u32> {
    let chunk = place >> 5u;
    return join_chunks(query_bases[chunk], query_bases[chunk + 1u], place);
}

// The kind of the base at a place of a window or chunk.
fn kind_at(part: vec4<u32>, place: u32) -> u32 {
    let bits = (part >> vec4(place)) & vec4(1u);
    return bits.x | (bits.y << 1u) | (bits.z << 2u) | (bits.w << 3u);
}
