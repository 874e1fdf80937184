//! Random small pairs that hold what makes alignment hard: repeats, arrays, inversions, N, masks, many sequences.

use super::evolve::{Evolution, diverge, evolve, indel_length, reverse_complement};
use super::random::Random;
use super::trial::Record;

/// Target and query sequences.
pub type World = (Vec<Record>, Vec<Record>);

/// One random pair of sequence sets.
pub fn world(random: &mut Random) -> World {
    let (target, query) = match random.below(100) {
        0..22 => simulated(random),
        22..56 => repeat_rich(random),
        56..62 => identical(random),
        62..67 => (vec![tiny(random)], vec![tiny(random)]),
        67..73 => low_complexity(random),
        73..90 => many_pieces(random),
        90..97 => palindromes(random),
        _ => far_diagonals(random),
    };
    let mut target = named(random, target, "t");
    let mut query = named(random, query, "q");
    for record in target.iter_mut().chain(&mut query) {
        decorate(random, &mut record.letters);
    }
    let several = target.len() > 1;
    for (set, percent) in [(&mut query, 4), (&mut target, if several { 6 } else { 0 })] {
        if random.percent(percent) {
            let at = random.below(set.len() + 1);
            set.insert(at, Record { header: "empty".into(), letters: Vec::new() });
        }
    }
    (target, query)
}

type Sets = (Vec<Vec<u8>>, Vec<Vec<u8>>);

fn simulated(random: &mut Random) -> Sets {
    let length = 1200 + random.below(3500);
    let mut plan = match random.below(3) {
        0 => Evolution::strain(length),
        1 => Evolution::mammal(length),
        _ => Evolution::nematode(length),
    };
    plan.breaks = 700.0;
    plan.duplications = 5e-4;
    plan.tandem = random.unit() * 0.15;
    plan.n_runs = if random.percent(30) { 5e-4 } else { 0.0 };
    let pair = evolve(random, &plan);
    (vec![pair.target], vec![pair.query])
}

/// A background in which copies of a few units stand, near and far, forward and backward.
fn repeat_rich(random: &mut Random) -> Sets {
    let length = 800 + random.below(2700);
    let units: Vec<Vec<u8>> = (0..1 + random.below(3))
        .map(|_| {
            let len = 30 + random.below(300);
            random.bases(len)
        })
        .collect();
    let rate = random.unit() * 0.18;
    let mut target = random.bases(length);
    scatter(random, &mut target, &units, rate);
    // A third of the queries descend from the target, a third share only the units, the rest both.
    let mut query = if random.percent(66) { descendant(random, &target, rate) } else { random.bases(length) };
    if random.percent(66) {
        scatter(random, &mut query, &units, rate);
    }
    if random.percent(30) {
        let unit_len = 2 + random.below(40);
        let unit = random.bases(unit_len);
        for sequence in [&mut target, &mut query] {
            let array: Vec<u8> = unit.iter().copied().cycle().take(60 + random.below(400)).collect();
            let array = diverge(random, &array, rate / 2.0, 0.5);
            let at = random.below(sequence.len());
            sequence.splice(at..at, array);
        }
    }
    (vec![target], vec![query])
}

fn scatter(random: &mut Random, letters: &mut Vec<u8>, units: &[Vec<u8>], rate: f64) {
    for _ in 0..2 + random.below(10) {
        let unit = &units[random.below(units.len())];
        let mut copy = diverge(random, unit, rate, 0.5);
        if random.percent(30) {
            copy = reverse_complement(&copy);
        }
        let at = random.below(letters.len());
        if random.percent(50) {
            letters.splice(at..at, copy);
        } else {
            let end = (at + copy.len()).min(letters.len());
            letters.splice(at..end, copy);
        }
    }
}

/// A copy with substitutions and indels, with some pieces inverted, moved or doubled.
fn descendant(random: &mut Random, letters: &[u8], rate: f64) -> Vec<u8> {
    let mut copy = Vec::with_capacity(letters.len());
    for &letter in &diverge(random, letters, rate, 0.5) {
        if random.happens(rate / 12.0) {
            let len = indel_length(random).min(80);
            copy.extend(random.bases(len));
        }
        if !random.happens(rate / 6.0) {
            copy.push(letter);
        }
    }
    for _ in 0..random.below(4) {
        let start = random.below(copy.len());
        let end = (start + 50 + random.below(500)).min(copy.len());
        match random.below(3) {
            0 => {
                let piece = reverse_complement(&copy[start..end]);
                copy.splice(start..end, piece);
            }
            1 => {
                let piece: Vec<u8> = copy.drain(start..end).collect();
                let at = random.below(copy.len() + 1);
                copy.splice(at..at, piece);
            }
            _ => {
                let piece = copy[start..end].to_vec();
                let at = random.below(copy.len());
                copy.splice(at..at, piece);
            }
        }
    }
    copy
}

fn identical(random: &mut Random) -> Sets {
    let len = 60 + random.below(1200);
    let mut target = random.bases(len);
    let units = [random.bases(50)];
    scatter(random, &mut target, &units, 0.05);
    let mut query = target.clone();
    match random.below(4) {
        0 => query.make_ascii_lowercase(),
        1 => query = reverse_complement(&query),
        _ => {}
    }
    (vec![target], vec![query])
}

fn tiny(random: &mut Random) -> Vec<u8> {
    let len = 1 + random.below(45);
    random.bases(len)
}

fn low_complexity(random: &mut Random) -> Sets {
    let unit_len = 1 + random.below(3);
    let unit = random.bases(unit_len);
    let make = |random: &mut Random| {
        let len = 80 + random.below(500);
        let mut letters: Vec<u8> = unit.iter().copied().cycle().take(len).collect();
        letters = diverge(random, &letters, 0.05, 0.5);
        let flank = random.bases(120);
        letters.extend(flank);
        letters
    };
    (vec![make(random)], vec![make(random)])
}

/// Several sequences on both sides that share pieces.
fn many_pieces(random: &mut Random) -> Sets {
    let pool: Vec<Vec<u8>> = (0..4)
        .map(|_| {
            let len = 80 + random.below(400);
            random.bases(len)
        })
        .collect();
    let make = |random: &mut Random| {
        let mut letters = Vec::new();
        for _ in 0..1 + random.below(4) {
            let piece = &pool[random.below(pool.len())];
            let rate = random.unit() * 0.15;
            let piece = descendant(random, piece, rate);
            if random.percent(35) {
                letters.extend(reverse_complement(&piece));
            } else {
                letters.extend(piece);
            }
        }
        letters
    };
    let targets = (0..1 + random.below(5)).map(|_| make(random)).collect::<Vec<_>>();
    let mut queries = (0..1 + random.below(5)).map(|_| make(random)).collect::<Vec<_>>();
    if random.percent(25) {
        queries[0] = targets[random.below(targets.len())].clone();
    }
    (targets, queries)
}

/// Sequences that resemble their own reverse complement, with a shared pair.
fn palindromes(random: &mut Random) -> Sets {
    let arm_len = 60 + random.below(300);
    let arm = random.bases(arm_len);
    let make = |random: &mut Random| {
        let len = random.below(150);
        let mut letters = random.bases(len);
        letters.extend(diverge(random, &arm, 0.05, 0.5));
        let loop_len = random.below(60);
        letters.extend(random.bases(loop_len));
        letters.extend(reverse_complement(&diverge(random, &arm, 0.05, 0.5)));
        let tail = random.below(200);
        letters.extend(random.bases(tail));
        letters
    };
    (vec![make(random)], vec![make(random)])
}

/// Homologies whose diagonals differ by 65,536, which share an entry of LASTZ's diagonal hash (2.4).
fn far_diagonals(random: &mut Random) -> Sets {
    let query = random.bases(600);
    let mut target = random.bases(67_000);
    let from = random.below(500);
    for at in [from, from + 65_536] {
        let copy = diverge(random, &query, 0.08, 0.5);
        target[at..at + 600].copy_from_slice(&copy);
    }
    (vec![target], vec![query])
}

fn named(random: &mut Random, sequences: Vec<Vec<u8>>, prefix: &str) -> Vec<Record> {
    let strange = [
        "chr1.fa a description",
        "gi|12345|ref|NC_1.1| Homo sapiens",
        "scaffold:1-100 x",
        "/path/to/chr2.fa extra",
        "",
        "reverse complement of inner.2bit y",
        "positions 1-5 of real.name z",
        "seq_3.2bit|x",
        "tag=alpha beta",
        "caf\u{e9}.fa cr\u{e8}me",
        "\u{c3}\u{a9}t\u{e9}|x",
        &"a long title ".repeat(90),
    ];
    let is_plain = random.percent(75);
    let mut records: Vec<Record> = sequences
        .into_iter()
        .enumerate()
        .map(|(at, letters)| {
            let header = if is_plain || random.percent(50) {
                format!("{prefix}{at}")
            } else {
                random.pick(&strange).to_string()
            };
            Record { header, letters }
        })
        .collect();
    if records.len() > 1 && random.percent(8) {
        records[1].header = records[0].header.clone();
    }
    records
}

/// N runs, soft masks, X.
fn decorate(random: &mut Random, letters: &mut [u8]) {
    let run = |random: &mut Random, letters: &mut [u8], most: usize, change: &dyn Fn(&mut [u8])| {
        if !letters.is_empty() {
            let at = random.below(letters.len());
            let end = (at + 1 + random.below(most)).min(letters.len());
            change(&mut letters[at..end]);
        }
    };
    if random.percent(25) {
        for _ in 0..1 + random.below(3) {
            run(random, letters, 60, &|part| part.fill(b'N'));
        }
    }
    if random.percent(35) {
        for _ in 0..1 + random.below(4) {
            run(random, letters, 300, &|part| part.make_ascii_lowercase());
        }
    }
    if random.percent(3) {
        run(random, letters, 20, &|part| part.fill(b'X'));
    }
}
