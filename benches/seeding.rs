//! Seeding and gap-free extension of whole files: `cargo bench --bench seeding -- TARGET.fa QUERY.fa [THREADS]`.
//!
//! Prints one line per strand and stage, tab-separated: stage, seconds, counts.

use std::time::Instant;

use fastz::filter::HspSearch;
use fastz::seed::WordTable;
use fastz::{Options, SequenceSet};

/// All records of a FASTA file as one sequence, as far as a measurement needs it.
fn read(path: &str) -> SequenceSet {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("cannot open {path}: {error}"));
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b">"));
    let bases: Vec<u8> = lines.flatten().copied().filter(u8::is_ascii_graphic).collect();
    SequenceSet::single(path, &bases)
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [target, query, rest @ ..] = &args[..] else {
        println!("usage: cargo bench --bench seeding -- TARGET.fa QUERY.fa [THREADS]");
        return;
    };
    let n_threads = rest.first().map_or(1, |n| n.parse().expect("THREADS must be a number"));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
    pool.install(|| search(&read(target), &read(query)));
}

fn search(target: &SequenceSet, query: &SequenceSet) {
    let options = Options::default();
    let start = Instant::now();
    let table = WordTable::build(target, &options.seed).expect("a table");
    println!("table\t{:.3}\twindows={}", start.elapsed().as_secs_f64(), table.n_windows());
    for (strand, query) in [('+', query.clone()), ('-', query.reverse_complement())] {
        let start = Instant::now();
        let search = HspSearch::new(&table, target, &query, &options, false);
        let (hsps, counts) = search.find_parallel();
        println!("strand {strand}\t{:.3}\thsps={}\t{counts:?}", start.elapsed().as_secs_f64(), hsps.len());
    }
}
