//! The simulator: the committed pair is what it makes, and its truth table is true.

mod support;

use support::evolve::{Evolution, evolve, fasta, reverse_complement};
use support::random::Random;

/// The command that made `tests/data/target.fa`, `query.fa` and `truth.tsv`:
/// `cargo run --example evolve -- tests/data --length 30000 --seed 13 --preset mammal`
#[test]
fn committed_pair_is_what_the_simulator_makes() {
    let pair = evolve(&mut Random::new(13), &Evolution::mammal(30_000));
    for (name, text) in [
        ("target.fa", fasta("target", &pair.target)),
        ("query.fa", fasta("query", &pair.query)),
        ("truth.tsv", pair.truth_table()),
    ] {
        let committed = std::fs::read(support::data(name)).expect("a committed file");
        support::compare::assert_same_text(name, &committed, text.as_bytes());
    }
}

#[test]
fn pieces_of_the_truth_table_resemble_each_other() {
    let mut random = Random::new(5);
    let plan = Evolution {
        paces: vec![support::evolve::Pace { share: 1.0, length: 1000.0, substitutions: 0.05, indels: 0.0 }],
        new_repeats: 0.0,
        breaks: 4000.0,
        duplications: 1e-4,
        inversions: 0.5,
        moves: 0.5,
        ..Evolution::strain(40_000)
    };
    let pair = evolve(&mut random, &plan);
    assert!(pair.truth.iter().any(|block| block.inverted) && pair.truth.iter().any(|block| block.duplicate));
    let covered: usize = pair.truth.iter().map(|block| block.query.len()).sum();
    assert_eq!(covered, pair.query.len(), "the pieces tile the query");
    for block in &pair.truth {
        let mut query = pair.query[block.query.clone()].to_ascii_uppercase();
        if block.inverted {
            query = reverse_complement(&query);
        }
        let target = pair.target[block.target.clone()].to_ascii_uppercase();
        assert_eq!(target.len(), query.len(), "without indels lengths are kept: {block:?}");
        let equal = target.iter().zip(&query).filter(|(a, b)| a == b).count();
        assert!(equal * 100 >= target.len() * 80, "{equal} of {} bases are equal: {block:?}", target.len());
    }
}

#[test]
fn simulated_pairs_hold_masks_repeats_and_n_runs() {
    let pair = evolve(&mut Random::new(8), &Evolution { n_runs: 1e-4, ..Evolution::mammal(60_000) });
    let masked = pair.target.iter().filter(|letter| letter.is_ascii_lowercase()).count();
    assert!((20..=60).contains(&(masked * 100 / pair.target.len())), "{masked} masked bases");
    assert!(pair.target.windows(40).any(|run| run.iter().all(|&letter| letter == b'N')), "an N run");
    let differences = |a: &[u8], b: &[u8]| a.iter().zip(b).filter(|(a, b)| a != b).count();
    assert!(differences(&pair.target, &pair.query) > 10_000, "the query has moved on");
}
