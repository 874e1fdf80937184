//! The output does not depend on the number of threads, nor on how often the program runs.

mod support;

use std::path::Path;
use std::time::Duration;
use support::evolve::{Evolution, evolve, fasta};
use support::random::Random;
use support::{compare, program};

const LIMIT: Duration = Duration::from_secs(300);

/// Option sets whose stages run in parallel in different ways.
const OPTIONS: &[&str] = &[
    "--format=maf",
    "--hspthresh=1200 --gappedthresh=1200 --ydrop=3000 --format=axt+",
    "--inner=2000 --chain --format=lav",
    "--nogapped --hspthresh=1000 --format=general",
    "--masking=2 --hspthresh=1200 --format=general",
    "--hspthresh=top40% --format=paf",
    "--queryhspbest=20 --hspthresh=1200 --format=cigar",
    "--allocate:traceback=100K --step=3 --format=sam",
];

fn print(folder: &Path, words: &str, threads: &str) -> Vec<u8> {
    let mut command = program::fastz(folder);
    command.args(program::own_options(&[threads])).args(words.split_whitespace());
    let outcome = program::run(&mut command, b"", LIMIT);
    assert!(outcome.succeeded(), "{words} {threads}: status {:?}: {}", outcome.code, outcome.last_words());
    outcome.stdout
}

fn same_for_all_thread_counts(folder: &Path, words: &str) {
    let one = print(folder, words, "--threads=1");
    assert!(one.split(|&byte| byte == b'\n').count() > 4, "{words} prints nothing to compare");
    for threads in ["--threads=2", "--threads=3", "--threads=8", "--threads=8"] {
        let many = print(folder, words, threads);
        compare::assert_same_text(&format!("{words} with {threads} against --threads=1"), &one, &many);
    }
}

#[test]
fn simulated_pair_gives_the_same_bytes_with_any_number_of_threads() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut random = Random::new(41);
    let plan = Evolution { breaks: 6000.0, duplications: 1e-4, ..Evolution::mammal(40_000) };
    let pair = evolve(&mut random, &plan);
    std::fs::write(folder.path().join("target.fa"), fasta("target", &pair.target)).expect("write the target");
    std::fs::write(folder.path().join("query.fa"), fasta("query", &pair.query)).expect("write the query");
    support::in_parallel(OPTIONS, |options| {
        same_for_all_thread_counts(folder.path(), &format!("target.fa query.fa {options}"));
    });
}

#[test]
fn many_short_sequences_stay_in_order_with_any_number_of_threads() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut random = Random::new(43);
    let pair = evolve(&mut random, &Evolution::strain(30_000));
    let pieces = |letters: &[u8], name: &str, step: usize| -> String {
        letters.windows(700).step_by(step).enumerate().map(|(at, piece)| fasta(&format!("{name}{at}"), piece)).collect()
    };
    std::fs::write(folder.path().join("targets.fa"), pieces(&pair.target, "t", 650)).expect("write the targets");
    std::fs::write(folder.path().join("queries.fa"), pieces(&pair.query, "q", 300)).expect("write the queries");
    for options in ["--format=general", "--queryhsplimit=keep,nowarn:3 --hspthresh=1000 --format=axt"] {
        same_for_all_thread_counts(folder.path(), &format!("targets.fa[multiple] queries.fa {options}"));
    }
}

#[test]
fn self_comparison_gives_the_same_bytes_with_any_number_of_threads() {
    let folder = support::data("");
    same_for_all_thread_counts(&folder, "target.fa --self --hspthresh=1500 --format=cigar");
}

#[test]
fn a_pool_of_one_thread_aligns_inside_itself() {
    let pair = evolve(&mut Random::new(47), &Evolution::strain(5_000));
    let set = |letters: &[u8]| fastz::SequenceSet::single("s", letters);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    let options = fastz::Options::default();
    let (target, query) = (set(&pair.target), set(&pair.query));
    let found = pool.install(|| fastz::align::align(&target, &query, &options)).expect("alignments");
    let expected = fastz::align::align(&target, &query, &options).expect("alignments");
    let blocks = |strands: &[fastz::align::StrandAlignments]| -> Vec<_> {
        strands.iter().map(|strand| strand.blocks.clone()).collect()
    };
    assert!(blocks(&found).iter().any(|blocks| !blocks.is_empty()));
    assert_eq!(blocks(&found), blocks(&expected));
}
