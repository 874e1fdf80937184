//! Aligns two sequences in memory and prints one line per block.
//!
//! ```text
//! cargo run --example pairwise
//! ```

use fastz::align::align;
use fastz::{EditOp, Options, SequenceSet};

fn main() -> fastz::Result<()> {
    // A stretch of 400 bases, and a copy with a substitution every 17 bases and a hole in the middle.
    let mut state = 1u64;
    let mut base = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        b"ACGT"[(state >> 62) as usize]
    };
    let target: Vec<u8> = (0..400).map(|_| base()).collect();
    let mut query = target.clone();
    query.iter_mut().step_by(17).for_each(|base| *base = fastz::sequence::complement(*base));
    query.drain(190..200);

    let target = SequenceSet::single("target", &target);
    let query = SequenceSet::single("query", &query);
    for strand in align(&target, &query, &Options::default())? {
        for block in &strand.blocks {
            let cigar: String = block.script.runs().iter().map(|&(op, len)| format!("{len}{}", letter(op))).collect();
            let (on_target, on_query) = (block.target_range(), block.query_range());
            println!("{} {on_target:?} {on_query:?} score {} {cigar}", strand.query.strand(), block.score);
        }
    }
    Ok(())
}

fn letter(op: EditOp) -> char {
    match op {
        EditOp::Pair => 'M',
        EditOp::Insertion => 'I',
        EditOp::Deletion => 'D',
    }
}
