//! What crosses the border in seeding. Twin: `shaders/common/seed_layout.wgsl`, compared by a test.

use crate::gpu::layout::{Field, GpuStruct, gpu_struct};
use bytemuck::{Pod, Zeroable};

gpu_struct! {
    /// What a piece of the search needs to know. The first eight fields change from piece to piece.
    SeedParams {
        /// End of the first query window.
        first_end: u32,
        /// Query windows.
        n_positions: u32,
        /// First lookup of each window.
        first_flip: u32,
        /// Lookups of each window.
        n_flips: u32,
        /// First entry of each word's list, newest first.
        list_first: u32,
        /// Entry after the last.
        list_end: u32,
        /// Place in the batch.
        piece_ix: u32,
        /// Order keys shifted right by this are less than 256.
        range_shift: u32,
        /// Length of the seed window.
        window_len: u32,
        /// All places of the window.
        window_mask: u32,
        /// Groups of places that go to an index.
        n_groups: u32,
        /// Hits that a bucket holds.
        bucket_capacity: u32,
        /// Hits of full buckets that a piece holds.
        overflow_capacity: u32,
        /// Lookups of frequent words that a piece holds.
        frequent_capacity: u32,
        /// Hits that a lane of `seed_frequent` takes.
        frequent_turns: u32,
        /// Candidates that a batch holds.
        candidate_capacity: u32,
        /// Hits that a workgroup of `seed_walk` extends.
        extension_capacity: u32,
        /// 1: hits must pass the tests of the next three fields and of `--self`.
        has_checks: u32,
        /// 1: words of the table may touch masked bases (lastz-semantics 6.6).
        is_masked_later: u32,
        /// Places known by class only (2.1).
        resolve_mask: u32,
        /// Most transitions of a hit.
        transitions: u32,
        /// Places that `--filter` counts (2.5); 0: no filter.
        filter_mask: u32,
        /// Least matches.
        filter_matches: u32,
        /// Most transversions.
        filter_transversions: u32,
        /// `SELF_*` (2.3).
        self_rule: u32,
        /// Start and end of the partition, added.
        self_sum: u32,
        /// `RULE_*` (2.4).
        diagonal_rule: u32,
        /// 1: the window itself is the segment (3.5).
        is_window: u32,
        /// X.
        x_drop: i32,
        /// K.
        threshold: i32,
        /// Above this best score, sums are near the end of 32 bits.
        best_limit: i32,
        /// Target array length.
        target_len: u32,
        /// Chunks of a binding of the target's bases.
        target_page: u32,
        /// Length of the query array with all its strands.
        query_len: u32,
        /// Pairs from which on a lane gives up; longer runs are done by a whole workgroup.
        run_cap: u32,
        /// 1: the table of three pairs may be used.
        has_triples: u32,
    }
}

gpu_struct! {
    /// A segment that reaches K before the entropy factor.
    Candidate {
        /// Target end of the hit.
        target_end: u32,
        /// Query end of the hit.
        query_end: u32,
        /// Place of the lookup in the lowest 8 bits, the piece above.
        flip_and_piece: u32,
        /// Pairs before the hit's end.
        left_len: u32,
        /// Pairs after it.
        right_len: u32,
        /// Raw score.
        score: i32,
    }
}

/// Residues of the diagonal (lastz-semantics 2.4).
pub const N_SLOTS: u32 = 1 << 16;
/// Bits of an order key that hold the place of the lookup.
pub const FLIP_BITS: u32 = 8;
/// Bits of an order key: the place of the query window above the place of the lookup.
pub const KEY_BITS: u32 = 28;
/// Most query windows of a piece, so that order keys fit and none is all ones.
pub const MAX_POSITIONS: u32 = (1 << (KEY_BITS - FLIP_BITS)) - 1;
/// Beside the order key: the hit may be worth a segment, or its runs are longer than a lane looks.
pub const HIT_IS_SPECIAL: u32 = 1 << KEY_BITS;
/// `--filter` refuses the hit; it only moves the reach (2.5).
pub const HIT_IS_REFUSED: u32 = 1 << (KEY_BITS + 1);
/// Most pairs of a run that a lane may look at before it gives up: what it has looked at fits 8 bits.
pub const MAX_RUN_CAP: u32 = 255 - 30;
/// Gaps before and after a sequence array.
pub const BASES_PADDING: u32 = 32;
/// Kind of a place beside or between sequences, where runs end.
pub const GAP_KIND: u32 = 15;

/// Every hit is extended.
pub const RULE_OFF: u32 = 0;
/// A hit is dropped if its window starts before the reach of its residue.
pub const RULE_HASHED: u32 = 1;
/// As hashed, but another diagonal takes the residue over (`--recoverseeds`).
pub const RULE_RECOVER: u32 = 2;

/// No comparison with itself.
pub const SELF_NO: u32 = 0;
/// Hits before the diagonal.
pub const SELF_SAME_STRAND: u32 = 1;
/// Hits before the antidiagonal.
pub const SELF_OTHER_STRAND: u32 = 2;

/// Lanes of a workgroup that looks words up.
pub const LOOKUP_LANES: u32 = 256;
/// Lanes of a workgroup that walks residues.
pub const WALK_LANES: u32 = 64;
/// Residues that a workgroup walks.
pub const SLOTS_PER_GROUP: u32 = 8;
/// Hits that are sorted in workgroup memory at a time.
pub const N_SORTED: u32 = 512;
/// Hits of each of a workgroup's residues, if they are to be sorted at the same time.
pub const MOST_SIDE_BY_SIDE: u32 = N_SORTED / SLOTS_PER_GROUP;
/// First piece of the batch that did not fit, or [`NEVER`].
pub const TALLY_FAILED: u32 = 0;
/// Candidates of the batch.
pub const TALLY_CANDIDATES: u32 = 1;
/// Value of `TALLY_FAILED` while all pieces fit.
pub const NEVER: u32 = u32::MAX;
/// Where the tallies of pieces start.
pub const PIECE_TALLIES: u32 = 16;
/// Words of a piece's tallies.
pub const N_PIECE_TALLIES: u32 = 16;
/// Copies of a piece's tallies, which its workgroups share out.
pub const N_COPIES: u32 = 16;
/// Pieces of a batch, at most.
pub const MAX_PIECES: u32 = 16;
/// Hits, two words.
pub const TALLY_HITS: u32 = 0;
/// Hits dropped, two words.
pub const TALLY_DROPPED: u32 = 2;
/// Hits extended, two words.
pub const TALLY_EXTENDED: u32 = 4;
/// Pairs looked at, two words.
pub const TALLY_PAIRS: u32 = 6;
/// Hits of full buckets.
pub const TALLY_OVERFLOW: u32 = 8;
/// Lookups of frequent words.
pub const TALLY_FREQUENT: u32 = 9;
/// Hits put into buckets.
pub const TALLY_PLACED: u32 = 10;
/// Workgroups that came to their end.
pub const TALLY_FINISHED: u32 = 11;
/// Residues left to `seed_walk`.
pub const TALLY_PENDING: u32 = 12;
/// Entries of lists that lookups found and nobody has gone through yet, modulo 2^32.
pub const TALLY_OPEN: u32 = 13;
/// Where the numbers of hits in the buckets start.
pub const BUCKET_TALLIES: u32 = PIECE_TALLIES + MAX_PIECES * N_COPIES * N_PIECE_TALLIES;

/// The constants above as WGSL text: Rust owns them.
pub fn constants() -> String {
    let mut text = String::new();
    let mut number = |name: &str, value: u32| text.push_str(&format!("const {name}: u32 = {value}u;\n"));
    number("N_SLOTS", N_SLOTS);
    number("SLOT_MASK", N_SLOTS - 1);
    number("FLIP_BITS", FLIP_BITS);
    number("FLIP_MASK", (1 << FLIP_BITS) - 1);
    number("KEY_MASK", (1 << KEY_BITS) - 1);
    number("HIT_IS_SPECIAL", HIT_IS_SPECIAL);
    number("HIT_IS_REFUSED", HIT_IS_REFUSED);
    number("BASES_PADDING", BASES_PADDING);
    number("GAP_KIND", GAP_KIND);
    number("RULE_OFF", RULE_OFF);
    number("RULE_HASHED", RULE_HASHED);
    number("RULE_RECOVER", RULE_RECOVER);
    number("SELF_SAME_STRAND", SELF_SAME_STRAND);
    number("SELF_OTHER_STRAND", SELF_OTHER_STRAND);
    number("LOOKUP_LANES", LOOKUP_LANES);
    number("WALK_LANES", WALK_LANES);
    number("SLOTS_PER_GROUP", SLOTS_PER_GROUP);
    number("N_SORTED", N_SORTED);
    number("MOST_SIDE_BY_SIDE", MOST_SIDE_BY_SIDE);
    number("TALLY_FAILED", TALLY_FAILED);
    number("TALLY_CANDIDATES", TALLY_CANDIDATES);
    number("PIECE_TALLIES", PIECE_TALLIES);
    number("N_PIECE_TALLIES", N_PIECE_TALLIES);
    number("N_COPIES", N_COPIES);
    number("TALLY_HITS", TALLY_HITS);
    number("TALLY_DROPPED", TALLY_DROPPED);
    number("TALLY_EXTENDED", TALLY_EXTENDED);
    number("TALLY_PAIRS", TALLY_PAIRS);
    number("TALLY_OVERFLOW", TALLY_OVERFLOW);
    number("TALLY_FREQUENT", TALLY_FREQUENT);
    number("TALLY_PLACED", TALLY_PLACED);
    number("TALLY_FINISHED", TALLY_FINISHED);
    number("TALLY_PENDING", TALLY_PENDING);
    number("TALLY_OPEN", TALLY_OPEN);
    number("BUCKET_TALLIES", BUCKET_TALLIES);
    text
}
