//! Many queries that pass the GPU together: search, gapped extension and order of the output equal the CPU's.

mod gpu_support;
mod support;

use std::path::Path;
use std::time::Duration;

use gpu_support::{device_name, gpu_or_skip};
use support::evolve::{Evolution, evolve, fasta};
use support::random::Random;
use support::{compare, program};

const LIMIT: Duration = Duration::from_secs(600);

/// Option sets whose strands are searched together, extended or not, or have to be searched alone.
const OPTIONS: &[&str] = &[
    "--format=maf",
    "--hspthresh=1200 --gappedthresh=1200 --ydrop=3000 --inner=1500 --format=axt+",
    "--nogapped --hspthresh=1500 --format=general",
    "--strand=minus --recoverseeds --format=axt",
    "--querydepth=keep,nowarn:2 --format=sam",
    "--queryhspbest=5 --format=cigar",
];

fn print(folder: &Path, options: &str, device: &str) -> Vec<u8> {
    let mut command = program::fastz(folder);
    command.env("FASTZ_CACHE_DIR", folder.join("cache"));
    command.args(["target.fa[multiple]", "query.fa"]).args(options.split_whitespace());
    command.arg(format!("--device={device}")).arg("--all-on-device");
    let outcome = program::run(&mut command, b"", LIMIT);
    assert!(outcome.succeeded(), "{options} on {device}: {}", outcome.stderr);
    outcome.stdout
}

/// Records of all lengths, in both directions, some masked, some too short for a seed.
fn records(letters: &[u8], random: &mut Random) -> String {
    let mut text = String::new();
    let (mut start, mut number) = (0, 0);
    while start < letters.len() {
        let len = match number % 5 {
            0 => 1 + random.below(25),
            1 => 31,
            _ => 300 + random.below(2500),
        };
        let mut piece = letters[start..(start + len).min(letters.len())].to_vec();
        let half = piece.len() / 2;
        match number % 4 {
            0 => piece.reverse(),
            1 => piece[half..].make_ascii_lowercase(),
            2 => piece = support::evolve::reverse_complement(&piece),
            _ => {}
        }
        text.push_str(&fasta(&format!("query{number}"), &piece));
        start += len;
        number += 1;
    }
    text
}

#[test]
fn many_queries_give_what_they_give_on_the_cpu() {
    if gpu_or_skip("many_queries_give_what_they_give_on_the_cpu").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut random = Random::new(91);
    let pair = evolve(&mut random, &Evolution { breaks: 4000.0, duplications: 1e-4, ..Evolution::mammal(20_000) });
    let halves = pair.target.split_at(pair.target.len() / 3);
    let target = fasta("target1", halves.0) + &fasta("target2", halves.1);
    std::fs::write(folder.path().join("target.fa"), target).expect("write the target");
    std::fs::write(folder.path().join("query.fa"), records(&pair.query, &mut random)).expect("write the query");
    let device = device_name();
    for options in OPTIONS {
        let expected = print(folder.path(), options, "cpu");
        assert!(expected.split(|&byte| byte == b'\n').count() > 8, "{options} prints nothing to compare");
        compare::assert_same_text(options, &expected, &print(folder.path(), options, &device));
    }
    let two = format!("{device},{device}");
    let expected = print(folder.path(), OPTIONS[0], "cpu");
    compare::assert_same_text("two devices", &expected, &print(folder.path(), OPTIONS[0], &two));
}
