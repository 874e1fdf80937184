//! A seeded simulator of two diverged genomes: an ancestor with repeats, tandem arrays and N runs (the target), and a
//! descendant (the query) with substitutions, indels, new repeats, inversions, translocations and duplications.
//!
//! ```text
//! ancestor chain -> repeat families, tandem arrays (soft-masked), N runs  = target
//!   regions of different pace -> substitutions, indels -> new repeats -> cut, move, invert, duplicate = query
//! ```
//! Equal arguments give equal bytes on every machine.

use super::random::Random;
use std::fmt::Write as _;

/// Substitutions per base at which two sequences are unrelated.
pub const SATURATION: f64 = 0.75;

/// How fast one kind of region changes.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Share of the genome in such regions.
    pub share: f64,
    /// Median length of a region, bases.
    pub length: f64,
    /// Substitutions per base; from [`SATURATION`] on nothing is left of the ancestor's letters.
    pub substitutions: f64,
    /// Indels per base.
    pub indels: f64,
}

/// What the simulator is asked for.
#[derive(Clone, Debug)]
pub struct Evolution {
    /// Bases of the target.
    pub length: usize,
    /// Kinds of regions; the shares need not sum to 1.
    pub paces: Vec<Pace>,
    /// Of substitutions, the share that are transitions (A-G, C-T).
    pub transitions: f64,
    /// Share of the target in dispersed repeats.
    pub repeats: f64,
    /// Share of the query in repeats inserted after the split.
    pub new_repeats: f64,
    /// Share of the target in tandem arrays.
    pub tandem: f64,
    /// N runs in the target, per base.
    pub n_runs: f64,
    /// Mean distance between rearrangement breaks, bases.
    pub breaks: f64,
    /// Probability that a piece between breaks is inverted.
    pub inversions: f64,
    /// Probability that a piece is swapped with another one.
    pub moves: f64,
    /// Duplications per base of the query.
    pub duplications: f64,
}

impl Evolution {
    /// Two strains of one species: a percent apart, few breaks.
    pub fn strain(length: usize) -> Self {
        let pace = |share, length, substitutions, indels| Pace { share, length, substitutions, indels };
        Evolution {
            length,
            paces: vec![
                pace(0.75, 8000.0, 0.011, 0.0007),
                pace(0.22, 800.0, 0.03, 0.003),
                pace(0.03, 900.0, SATURATION, 0.06),
            ],
            transitions: 0.67,
            repeats: 0.05,
            new_repeats: 0.01,
            tandem: 0.02,
            n_runs: 2e-6,
            breaks: 300_000.0,
            inversions: 0.3,
            moves: 0.1,
            duplications: 4e-6,
        }
    }

    /// Two mammals: conserved islands between weakly conserved and saturated stretches, many repeats.
    pub fn mammal(length: usize) -> Self {
        let pace = |share, length, substitutions, indels| Pace { share, length, substitutions, indels };
        Evolution {
            paces: vec![
                pace(0.25, 180.0, 0.14, 0.006),
                pace(0.05, 3000.0, 0.18, 0.012),
                pace(0.40, 700.0, 0.30, 0.025),
                pace(0.30, 1200.0, SATURATION, 0.06),
            ],
            repeats: 0.42,
            new_repeats: 0.10,
            breaks: 400_000.0,
            ..Evolution::strain(length)
        }
    }

    /// Two nematode species: islands of homology in saturated surroundings, many breaks.
    pub fn nematode(length: usize) -> Self {
        let pace = |share, length, substitutions, indels| Pace { share, length, substitutions, indels };
        Evolution {
            paces: vec![
                pace(0.160, 160.0, 0.17, 0.008),
                pace(0.008, 4000.0, 0.12, 0.004),
                pace(0.080, 150.0, 0.38, 0.03),
                pace(0.752, 900.0, SATURATION, 0.06),
            ],
            repeats: 0.16,
            new_repeats: 0.02,
            breaks: 60_000.0,
            inversions: 0.35,
            moves: 0.25,
            duplications: 8e-6,
            ..Evolution::strain(length)
        }
    }
}

/// Where a piece of the target went. 0-based, half-open, plus-strand coordinates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruthBlock {
    /// Target bases.
    pub target: std::ops::Range<usize>,
    /// Query bases.
    pub query: std::ops::Range<usize>,
    /// Whether the query holds the reverse complement.
    pub inverted: bool,
    /// Whether this is an extra copy.
    pub duplicate: bool,
}

/// A simulated pair.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Target letters; lower case is soft-masked.
    pub target: Vec<u8>,
    /// Query letters.
    pub query: Vec<u8>,
    /// The pieces, in query order.
    pub truth: Vec<TruthBlock>,
}

impl Pair {
    /// The pieces as a table with a header line.
    pub fn truth_table(&self) -> String {
        let mut text = String::from("#target_start\ttarget_end\tquery_start\tquery_end\tstrand\tkind\n");
        for block in &self.truth {
            let (strand, kind) =
                (if block.inverted { '-' } else { '+' }, if block.duplicate { "copy" } else { "piece" });
            writeln!(
                text,
                "{}\t{}\t{}\t{}\t{strand}\t{kind}",
                block.target.start, block.target.end, block.query.start, block.query.end
            )
            .expect("writing to a string");
        }
        text
    }
}

/// FASTA text of one sequence, 60 letters a line.
pub fn fasta(name: &str, letters: &[u8]) -> String {
    let mut text = Vec::new();
    let mut writer = bio::io::fasta::Writer::new(&mut text);
    writer.set_linewrap(Some(60));
    writer.write(name, None, letters).and_then(|()| writer.flush()).expect("write to memory");
    drop(writer);
    String::from_utf8(text).expect("letters are ASCII")
}

/// The reverse complement; case, N and other letters are kept.
pub fn reverse_complement(letters: &[u8]) -> Vec<u8> {
    letters.iter().rev().map(|&letter| complement(letter)).collect()
}

fn complement(letter: u8) -> u8 {
    match letter {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        b'T' => b'A',
        b'a' => b't',
        b'c' => b'g',
        b'g' => b'c',
        b't' => b'a',
        other => other,
    }
}

/// Another base in the place of `letter`, in the same case; N stays N.
pub fn substitute(random: &mut Random, letter: u8, transitions: f64) -> u8 {
    let upper = letter.to_ascii_uppercase();
    let Some(at) = b"ACGT".iter().position(|&base| base == upper) else { return letter };
    // A, C, G, T = 0..3, so flipping bit 1 is the transition.
    let step = if random.happens(transitions) { 2 } else { 1 + 2 * random.below(2) };
    let other = b"ACGT"[at ^ step];
    if letter.is_ascii_lowercase() { other.to_ascii_lowercase() } else { other }
}

/// `letters` with this share of substitutions.
pub fn diverge(random: &mut Random, letters: &[u8], rate: f64, transitions: f64) -> Vec<u8> {
    letters
        .iter()
        .map(|&letter| if random.happens(rate) { substitute(random, letter, transitions) } else { letter })
        .collect()
}

/// An indel length: mostly short, with a heavy tail.
pub fn indel_length(random: &mut Random) -> usize {
    if random.happens(0.06) { ((8.0 / (1.0 - random.unit())) as usize).min(3000) } else { random.geometric(2.6) }
}

/// Simulates a pair.
pub fn evolve(random: &mut Random, plan: &Evolution) -> Pair {
    let families: Vec<Vec<u8>> = (0..(4 + plan.length / 20_000).min(60))
        .map(|_| {
            let len = random.log_normal(350.0, 0.8).clamp(60.0, 6000.0) as usize;
            composed(random, len)
        })
        .collect();
    let mut target = composed(random, plan.length);
    paste_repeats(random, &mut target, &families, plan.repeats, 0.02..0.30);
    paste_tandem_arrays(random, &mut target, plan.tandem);
    let n_runs = (plan.length as f64 * plan.n_runs).ceil() as usize;
    for _ in 0..if plan.n_runs > 0.0 { n_runs } else { 0 } {
        let len = (50 + random.below(250)).min(target.len() / 8);
        if len > 0 {
            let at = random.below(target.len() - len);
            target[at..at + len].fill(b'N');
        }
    }
    let (mut descendant, place) = descend(random, &target, plan);
    paste_repeats(random, &mut descendant, &families, plan.new_repeats, 0.0..0.06);
    let (query, truth) = rearrange(random, &descendant, &place, plan);
    Pair { target, query, truth }
}

/// Letters with the bias of real DNA: runs of A and T, few CG, slowly changing GC content.
fn composed(random: &mut Random, len: usize) -> Vec<u8> {
    let mut letters: Vec<u8> = Vec::with_capacity(len);
    let mut gc_shift = 0.0;
    for at in 0..len {
        if at % 3000 == 0 {
            gc_shift = random.unit() * 0.4 - 0.2;
        }
        let mut weights = [0.31, 0.19 * (1.0 + gc_shift), 0.19 * (1.0 + gc_shift), 0.31];
        if let Some(&last) = letters.last() {
            match last {
                b'C' => weights[2] *= 0.35,
                b'T' => weights[0] *= 0.8,
                _ => {}
            }
            let same = b"ACGT".iter().position(|&base| base == last).expect("upper-case bases only");
            weights[same] *= 1.25;
        }
        let mut left = random.unit() * weights.iter().sum::<f64>();
        let choice = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        letters.push(b"ACGT"[choice.unwrap_or(3)]);
    }
    letters
}

/// Overwrites places with soft-masked, truncated, diverged copies of the families until `share` is covered.
fn paste_repeats(
    random: &mut Random,
    letters: &mut [u8],
    families: &[Vec<u8>],
    share: f64,
    divergence: std::ops::Range<f64>,
) {
    let mut left = (share * letters.len() as f64) as isize;
    while left > 0 {
        // Squaring favours the first families, so a few have many copies.
        let family = &families[(random.unit().powi(2) * families.len() as f64) as usize];
        let from = if random.happens(0.6) { random.below(family.len() - 40) } else { 0 };
        let rate = divergence.start + random.unit() * (divergence.end - divergence.start);
        let mut copy = diverge(random, &family[from..], rate, 0.67);
        if random.happens(0.5) {
            copy = reverse_complement(&copy);
        }
        copy.make_ascii_lowercase();
        left -= copy.len() as isize;
        if copy.len() < letters.len() {
            let at = random.below(letters.len() - copy.len());
            letters[at..at + copy.len()].copy_from_slice(&copy);
        }
    }
}

/// Overwrites places with arrays of a short unit; most are soft-masked.
fn paste_tandem_arrays(random: &mut Random, letters: &mut [u8], share: f64) {
    let mut left = (share * letters.len() as f64) as isize;
    while left > 0 {
        let unit_len = if random.happens(0.7) { 1 + random.below(6) } else { 10 + random.below(50) };
        let unit = random.bases(unit_len);
        let len = (random.log_normal(60.0, 0.7) as usize).clamp(1, (letters.len() / 4).max(1));
        let array: Vec<u8> = unit.iter().copied().cycle().take(len).collect();
        let rate = random.unit() * 0.15;
        let mut array = diverge(random, &array, rate, 0.5);
        if random.happens(0.85) {
            array.make_ascii_lowercase();
        }
        left -= len as isize;
        if len < letters.len() {
            let at = random.below(letters.len() - len);
            letters[at..at + len].copy_from_slice(&array);
        }
    }
}

/// The descendant before rearrangement, and for each ancestral position (and the end) its place in it.
fn descend(random: &mut Random, ancestor: &[u8], plan: &Evolution) -> (Vec<u8>, Vec<usize>) {
    let mut letters = Vec::with_capacity(ancestor.len() + ancestor.len() / 8);
    let mut place = Vec::with_capacity(ancestor.len() + 1);
    // Regions are drawn by count, so a kind's weight is its share of the bases over its length.
    let weight = |pace: &Pace| pace.share / pace.length;
    let total: f64 = plan.paces.iter().map(weight).sum();
    let (mut at, mut region_end, mut pace) = (0, 0, plan.paces[0]);
    while at < ancestor.len() {
        if at >= region_end {
            let mut left = random.unit() * total;
            pace = *plan
                .paces
                .iter()
                .find(|pace| {
                    left -= weight(pace);
                    left < 0.0
                })
                .unwrap_or(&plan.paces[0]);
            region_end = at + random.log_normal(pace.length, 0.8).max(20.0) as usize;
        }
        if random.happens(pace.indels / 2.0) {
            let len = indel_length(random);
            let inserted = composed(random, len);
            letters.extend_from_slice(&inserted);
        }
        if random.happens(pace.indels / 2.0) {
            for _ in 0..indel_length(random).min(ancestor.len() - at) {
                place.push(letters.len());
                at += 1;
            }
            continue;
        }
        place.push(letters.len());
        let letter = ancestor[at];
        letters.push(if pace.substitutions >= SATURATION {
            random.base()
        } else if random.happens(pace.substitutions) {
            substitute(random, letter, plan.transitions)
        } else {
            letter
        });
        at += 1;
    }
    place.push(letters.len());
    (letters, place)
}

/// Cuts the descendant at random breaks, swaps, inverts and duplicates the pieces, and joins them.
fn rearrange(random: &mut Random, letters: &[u8], place: &[usize], plan: &Evolution) -> (Vec<u8>, Vec<TruthBlock>) {
    let ancestor_len = place.len() - 1;
    let mut cuts = vec![0, ancestor_len];
    let count = (ancestor_len as f64 / plan.breaks).round() as usize;
    cuts.extend((0..count.max(if ancestor_len > 4000 { 2 } else { 0 })).map(|_| random.below(ancestor_len)));
    cuts.sort_unstable();
    cuts.dedup();
    let mut pieces: Vec<(usize, usize, bool, f64)> =
        cuts.windows(2).map(|cut| (cut[0], cut[1], random.happens(plan.inversions), 0.0)).collect();
    for piece in 0..pieces.len() {
        if random.happens(plan.moves) {
            let other = random.below(pieces.len());
            pieces.swap(piece, other);
        }
    }
    let copies = (letters.len() as f64 * plan.duplications + random.unit()) as usize;
    for _ in 0..copies {
        let start = random.below(ancestor_len);
        let end = (start + random.log_normal(3000.0, 0.9) as usize).min(ancestor_len);
        let copy = (start, end, random.happens(0.5), 0.001 + random.unit() * 0.1);
        pieces.insert(random.below(pieces.len() + 1), copy);
    }
    let (mut query, mut truth) = (Vec::new(), Vec::new());
    for (start, end, inverted, divergence) in pieces {
        let mut piece = diverge(random, &letters[place[start]..place[end]], divergence, plan.transitions);
        if inverted {
            piece = reverse_complement(&piece);
        }
        let from = query.len();
        query.append(&mut piece);
        truth.push(TruthBlock { target: start..end, query: from..query.len(), inverted, duplicate: divergence > 0.0 });
    }
    (query, truth)
}
