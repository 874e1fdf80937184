// seed_tallies: counters in device memory, and the batch's failure flag.
//
// tallies      TALLY_FAILED: first piece of the batch that did not fit, or NEVER; it and all later ones are void
//              TALLY_CANDIDATES: candidates of the batch
//              from PIECE_TALLIES on: N_PIECE_TALLIES words per piece, N_COPIES times; 64-bit ones low word first
//              from BUCKET_TALLIES on: hits in each bucket
// Workgroups take turns in the copies, so that they do not all wait for one word; the host adds them up. Places are given
// out by the first copy.
// Requires the binding `tallies` and the uniform `params`.

var<private> tally_copy: u32;

fn choose_tallies(group: u32) {
    tally_copy = group % N_COPIES;
}

fn shared_tally(kind: u32) -> u32 {
    return PIECE_TALLIES + params.piece_ix * N_COPIES * N_PIECE_TALLIES + kind;
}

fn own_tally(kind: u32) -> u32 {
    return PIECE_TALLIES + (params.piece_ix * N_COPIES + tally_copy) * N_PIECE_TALLIES + kind;
}

fn has_failed() -> bool {
    return atomicLoad(&tallies[TALLY_FAILED]) <= params.piece_ix;
}

fn fail() {
    atomicMin(&tallies[TALLY_FAILED], params.piece_ix);
}

// Adds to a 64-bit tally.
fn tally(kind: u32, n: u32) {
    if n > 0u {
        let low = own_tally(kind);
        let before = atomicAdd(&tallies[low], n);
        if before + n < before {
            atomicAdd(&tallies[low + 1u], 1u);
        }
    }
}

// Where the buckets end, places of lookups and of residues are listed (common/seed_lookup).
fn frequent_place(ix: u32) -> u32 {
    return N_SLOTS * params.bucket_capacity + 2u * params.overflow_capacity + ix;
}

fn pending_place(ix: u32) -> u32 {
    return frequent_place(params.frequent_capacity) + ix;
}
