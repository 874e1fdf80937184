// seed_bases: 32 bases as four bit planes, so that 32 pairs are compared with a few word operations.
//
//              A  G  C  T  others
// x            0  1  0  1  flips when a base becomes its transition     low bit of the kind
// y            0  0  1  1  purine or pyrimidine                         middle bit of the kind
// z            0  0  0  0  1 for anything but upper-case A, C, G, T
// w            0  0  0  0  high bit of the kind
//
// BASES_PADDING special bases stand before and after a sequence. Places count from the first of them.

fn join_chunks(low: vec4<u32>, high: vec4<u32>, place: u32) -> vec4<u32> {
    let shift = place & 31u;
    return (low >> vec4(shift)) | ((high << vec4(1u)) << vec4(31u - shift));
}

// The 32 bases from a place on; the first is bit 0.
fn target_window(place: u32) -> vec4<u32> {
    let chunk = place >> 5u;
    return join_chunks(target_bases[chunk], target_bases[chunk + 1u], place);
}

fn query_window(place: u32) -> vec4<u32> {
    let chunk = place >> 5u;
    return join_chunks(query_bases[chunk], query_bases[chunk + 1u], place);
}
