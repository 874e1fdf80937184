// seed_tallies: counters in device memory, and the batch's failure flag.
//
// tallies      TALLY_FAILED: first piece of the batch that did not fit, or NEVER; it and all later ones are void
//              TALLY_CANDIDATES: candidates of the batch
//              from PIECE_TALLIES on: N_PIECE_TALLIES words per piece, 64-bit ones low word first
//              from BUCKET_TALLIES on: hits in each bucket
// Requires the binding `tallies` and the uniform `params`.

fn piece_tally(kind: u32) -> u32 {
    return PIECE_TALLIES + params.piece_ix * N_PIECE_TALLIES + kind;
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
        let low = piece_tally(kind);
        let before = atomicAdd(&tallies[low], n);
        if before + n < before {
            atomicAdd(&tallies[low + 1u], 1u);
        }
    }
}
