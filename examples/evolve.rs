//! Makes a diverged, soft-masked, repeat-rich pair of genomes with a truth table, for tests and benchmarks.
//!
//! ```text
//! cargo run --example evolve -- DIRECTORY [--length 1000000] [--seed 1] [--preset strain|mammal|nematode]
//! ```
//! Writes DIRECTORY/target.fa, query.fa and truth.tsv (0-based, half-open, plus-strand coordinates).

#[allow(dead_code, reason = "the tests use the rest of these modules")]
#[path = "../tests/support/evolve.rs"]
mod evolve;
#[allow(dead_code, reason = "the tests use the rest of these modules")]
#[path = "../tests/support/random.rs"]
mod random;

use anyhow::{Context, bail};
use std::path::PathBuf;

struct Request {
    directory: PathBuf,
    length: usize,
    seed: u64,
    preset: String,
}

fn parse(mut words: impl Iterator<Item = String>) -> anyhow::Result<Request> {
    let (mut directory, mut length, mut seed, mut preset) = (None, 1_000_000, 1, "mammal".to_string());
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--length" => length = value()?.parse().context("--length needs a number of bases")?,
            "--seed" => seed = value()?.parse().context("--seed needs a whole number")?,
            "--preset" => preset = value()?,
            _ if word.starts_with('-') => bail!("unknown option {word}: use --length, --seed or --preset"),
            _ => directory = Some(PathBuf::from(word)),
        }
    }
    let directory =
        directory.context("name the directory to write to: evolve DIRECTORY [--length N] [--seed N] [--preset P]")?;
    if length < 1000 {
        bail!("--length {length} is too short to hold repeats: use at least 1000");
    }
    Ok(Request { directory, length, seed, preset })
}

fn main() -> anyhow::Result<()> {
    let request = parse(std::env::args().skip(1))?;
    let plan = match request.preset.as_str() {
        "strain" => evolve::Evolution::strain(request.length),
        "mammal" => evolve::Evolution::mammal(request.length),
        "nematode" => evolve::Evolution::nematode(request.length),
        other => bail!("unknown preset {other}: use strain, mammal or nematode"),
    };
    let pair = evolve::evolve(&mut random::Random::new(request.seed), &plan);
    std::fs::create_dir_all(&request.directory)
        .with_context(|| format!("cannot make the directory {}", request.directory.display()))?;
    for (name, text) in [
        ("target.fa", evolve::fasta("target", &pair.target)),
        ("query.fa", evolve::fasta("query", &pair.query)),
        ("truth.tsv", pair.truth_table()),
    ] {
        let path = request.directory.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    println!("target {} bases, query {} bases, {} pieces", pair.target.len(), pair.query.len(), pair.truth.len());
    Ok(())
}
