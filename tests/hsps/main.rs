//! HSPs against the installed lastz: same segments, same scores, same order, on random pairs under random options.
//!
//! `FASTZ_FUZZ_CASES` sets the number of cases (default 60), `FASTZ_FUZZ_SEED` the first seed; `FASTZ_PAIR` names two
//! files to compare.

mod generate;
mod lastz;

use fastz::filter::HspSearch;
use fastz::seed::WordTable;
use generate::{Case, Rng};
use std::io::Write;

/// What `--nogapped --format=general-:...` prints, one line per HSP.
fn lines(case: &Case, parallel: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let target = case.target_set();
    let table = WordTable::build(&target, &case.options.seed).unwrap();
    for query in case.query_sets() {
        for (strand, query) in [('+', query.clone()), ('-', query.reverse_complement())] {
            let search = HspSearch::new(&table, &target, &query, &case.options, strand == '+');
            let (hsps, counts) = if parallel { search.find_parallel() } else { search.find() };
            assert_eq!(counts.hits, counts.dropped + counts.extended + waiting(case, &counts));
            for hsp in hsps {
                let t = target.partition_at(hsp.target_start as usize);
                let q = query.partition_at(hsp.query_start as usize);
                let (start1, start2) =
                    (hsp.target_start as usize - t.range.start, hsp.query_start as usize - q.range.start);
                let len = hsp.len as usize;
                let (end1, end2) = (start1 + len, start2 + len);
                let (score, name1, name2) = (hsp.score, &t.name, &q.name);
                lines.push(format!("{score}\t{name1}\t+\t{start1}\t{end1}\t{name2}\t{strand}\t{start2}\t{end2}"));
            }
        }
    }
    lines
}

/// Hits that `--twins` neither extends nor drops.
fn waiting(case: &Case, counts: &fastz::filter::SearchCounts) -> u64 {
    if case.options.seed.twins.is_some() { counts.hits - counts.dropped - counts.extended } else { 0 }
}

fn env(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} must be a number")))
}

#[test]
fn random_pairs_under_random_options() {
    if !lastz::is_installed() {
        // Past the capture of the test harness, so that it is seen.
        let _ = writeln!(std::io::stderr(), "SKIPPED: lastz 1.04.22 is not installed");
        return;
    }
    let first = env("FASTZ_FUZZ_SEED", 1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let mut n_hsps = 0;
    let mut failures = Vec::new();
    for seed in first..first + env("FASTZ_FUZZ_CASES", 60) {
        let case = generate::case(&mut Rng(seed));
        let expected = lastz::hsps(&case);
        n_hsps += expected.len();
        let one = difference(seed, &case, &lines(&case, false), &expected, "one thread");
        let three = difference(seed, &case, &pool.install(|| lines(&case, true)), &expected, "three threads");
        failures.extend(one.into_iter().chain(three));
    }
    println!("{n_hsps} HSPs compared");
    assert!(n_hsps > 0, "no case found anything");
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
}

/// What searches find hard: frequent words, one long diagonal, very many sequences.
#[test]
fn hard_pairs() {
    if !lastz::is_installed() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: lastz 1.04.22 is not installed");
        return;
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let rng = || Rng(env("FASTZ_FUZZ_SEED", 1));
    let cases = [
        ("a word in 10,000 places", generate::one_word(&mut rng(), false), 50_000),
        ("a word 10,000 times in a row", generate::one_word(&mut rng(), true), 1),
        ("near-identical genomes", generate::near_identical(&mut rng()), 10),
        ("short sequences, one by one", generate::short_sequences(&mut rng(), false), 500),
        ("short sequences in one array", generate::short_sequences(&mut rng(), true), 1000),
    ];
    for (what, case, least) in cases {
        let expected = lastz::hsps(&case);
        assert!(expected.len() >= least, "{what}: {} HSPs", expected.len());
        for (how, found) in [("one thread", lines(&case, false)), ("two threads", pool.install(|| lines(&case, true)))]
        {
            let difference = difference(0, &case, &found, &expected, &format!("{what}, {how}"));
            assert!(difference.is_none(), "{}", difference.unwrap_or_default());
        }
    }
}

/// `FASTZ_PAIR=TARGET.fa,QUERY.fa` compares a pair of real sequences.
#[test]
fn a_pair_of_files() {
    let Ok(pair) = std::env::var("FASTZ_PAIR") else {
        println!("skipped: FASTZ_PAIR is not set");
        return;
    };
    let (target, query) = pair.split_once(',').expect("FASTZ_PAIR=TARGET.fa,QUERY.fa");
    let case = generate::pair(target, query);
    let expected = lastz::hsps(&case);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for (how, found) in [("one thread", lines(&case, false)), ("two threads", pool.install(|| lines(&case, true)))] {
        let difference = difference(0, &case, &found, &expected, how);
        assert!(difference.is_none(), "{}", difference.unwrap_or_default());
    }
    println!("{} HSPs compared", expected.len());
}

fn difference(seed: u64, case: &Case, found: &[String], expected: &[String], how: &str) -> Option<String> {
    if found == expected {
        return None;
    }
    let first = found.iter().zip(expected).take_while(|(f, e)| f == e).count();
    Some(format!(
        "seed {seed}, {how}: {} HSPs, lastz has {}; line {first}:\n  fastz {:?}\n  lastz {:?}\n\
         files in {}; lastz {}\nagain: FASTZ_FUZZ_SEED={seed} FASTZ_FUZZ_CASES=1 cargo test --test hsps",
        found.len(),
        expected.len(),
        found.get(first),
        expected.get(first),
        case.keep(),
        case.arguments(),
    ))
}
