//! Random pairs of sequences and random options, from a seed.

use std::path::Path;

use fastz::options::{GapFreeExtension, HspThreshold, SeedHitFilter, SelfComparison, Twins, WordCountLimit};
use fastz::scoring::Scoring;
use fastz::seed::{Care, SeedPattern};
use fastz::sequence::{Partition, SEPARATOR};
use fastz::{Options, SequenceSet};

/// SplitMix64.
pub struct Rng(pub u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// `low` to `high`, both included.
    pub fn range(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low + 1) as u64) as usize
    }
    pub fn chance(&mut self, percent: usize) -> bool {
        self.range(0, 99) < percent
    }
    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.range(0, items.len() - 1)]
    }
    fn bases(&mut self, n: usize, letters: &[u8]) -> Vec<u8> {
        (0..n).map(|_| self.pick(letters)).collect()
    }
}

type Records = Vec<(String, Vec<u8>)>;

pub struct Case {
    target: Records,
    query: Records,
    is_target_partitioned: bool,
    is_query_partitioned: bool,
    pub options: Options,
    flags: Vec<String>,
}

impl Case {
    pub fn arguments(&self) -> String {
        let file = |name: &str, multiple| if multiple { format!("{name}[multiple]") } else { name.to_string() };
        let mut words = vec![file("t.fa", self.is_target_partitioned)];
        if self.options.self_comparison == SelfComparison::No {
            words.push(file("q.fa", self.is_query_partitioned));
        }
        words.extend(self.flags.iter().cloned());
        words.push("--nogapped".to_string());
        words.join(" ")
    }

    pub fn write(&self, dir: &Path) {
        for (name, records) in [("t.fa", &self.target), ("q.fa", &self.query)] {
            let text: Vec<u8> =
                records.iter().flat_map(|(n, s)| [b">", n.as_bytes(), b"\n", s, b"\n"].concat()).collect();
            std::fs::write(dir.join(name), text).unwrap();
        }
    }

    /// Writes the files to a place that stays; gives its name.
    pub fn keep(&self) -> String {
        let dir = std::env::temp_dir().join("fastz-hsps-failure");
        std::fs::create_dir_all(&dir).unwrap();
        self.write(&dir);
        dir.display().to_string()
    }

    pub fn target_set(&self) -> SequenceSet {
        set(&self.target, self.is_target_partitioned)
    }

    /// One set per query, or one for all with `[multiple]`.
    pub fn query_sets(&self) -> Vec<SequenceSet> {
        let (records, is_partitioned) = match self.options.self_comparison {
            SelfComparison::No => (&self.query, self.is_query_partitioned),
            _ => (&self.target, self.is_target_partitioned),
        };
        if is_partitioned {
            vec![set(records, true)]
        } else {
            records.iter().map(|record| set(std::slice::from_ref(record), false)).collect()
        }
    }
}

fn set(records: &[(String, Vec<u8>)], is_partitioned: bool) -> SequenceSet {
    if !is_partitioned {
        return SequenceSet::single(&records[0].0, &records[0].1);
    }
    let mut set = SequenceSet { bases: vec![SEPARATOR], is_partitioned, ..SequenceSet::default() };
    for (record, (name, bases)) in records.iter().enumerate() {
        let start = set.bases.len();
        set.bases.extend_from_slice(bases);
        let range = start..set.bases.len();
        let full_len = bases.len();
        set.partitions.push(Partition { range, name: name.clone().into(), record, full_len, ..Partition::default() });
        set.bases.push(SEPARATOR);
    }
    set
}

/// Two FASTA files of one record each, under default options.
pub fn pair(target: &str, query: &str) -> Case {
    let read = |path: &str, name: &str| {
        let text = std::fs::read(path).unwrap_or_else(|error| panic!("cannot open {path}: {error}"));
        let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b">"));
        vec![(name.to_string(), lines.flatten().copied().filter(u8::is_ascii_alphabetic).collect())]
    };
    default_case(read(target, "t"), read(query, "q"), false, false)
}

fn default_case(target: Records, query: Records, is_target_partitioned: bool, is_query_partitioned: bool) -> Case {
    let options = Options { gapped: None, ..Options::default() };
    Case { target, query, is_target_partitioned, is_query_partitioned, options, flags: Vec::new() }
}

fn one(name: &str, text: Vec<u8>) -> Records {
    vec![(name.to_string(), text)]
}

/// A word in ten thousand places, scattered or one behind the other, and a few times in the query.
pub fn one_word(rng: &mut Rng, is_tandem: bool) -> Case {
    let word = rng.bases(24, b"ACGT");
    let mut text = |copies: usize| {
        let mut text = Vec::new();
        for _ in 0..copies {
            text.extend(&word);
            let gap = if is_tandem { 0 } else { rng.range(0, 12) };
            text.extend(rng.bases(gap, b"ACGT"));
        }
        text
    };
    let (target, query) = (text(10_000), text(8));
    let mut case = default_case(one("t", target), one("q", query), false, false);
    case.options.hsp_threshold = HspThreshold::Score(2200);
    case.flags.push("--hspthresh=2200".to_string());
    case
}

/// Genomes with a difference in some hundred bases, and a part turned around.
pub fn near_identical(rng: &mut Rng) -> Case {
    let target = rng.bases(200_000, b"ACGT");
    let mut query = Vec::with_capacity(target.len());
    for &base in &target {
        match rng.range(0, 2999) {
            0..=5 => query.push(rng.pick(b"ACGT")),
            6 => {}
            7 => query.extend([base, base]),
            _ => query.push(base),
        }
    }
    let turned = reverse_complement(&query[50_000..70_000]);
    query[50_000..70_000].copy_from_slice(&turned);
    default_case(one("t", target), one("q", query), false, false)
}

/// Thousands of sequences of up to 160 bases on both sides.
pub fn short_sequences(rng: &mut Rng, is_query_partitioned: bool) -> Case {
    let n_queries = if is_query_partitioned { 2000 } else { 1000 };
    let mut target = Records::new();
    for i in 0..3000 {
        let n = rng.range(1, 160);
        target.push((format!("t{i}"), rng.bases(n, b"ACGT")));
    }
    let mut query = Records::new();
    for i in 0..n_queries {
        let (a, b) = (rng.range(0, 2999), rng.range(0, 2999));
        let mut text = mutate(rng, &[target[a].1.as_slice(), &target[b].1].concat());
        if rng.chance(50) {
            text = reverse_complement(&text);
        }
        text.push(b'A');
        query.push((format!("q{i}"), text));
    }
    default_case(target, query, true, is_query_partitioned)
}

pub fn case(rng: &mut Rng) -> Case {
    let is_self = rng.chance(15);
    let is_target_partitioned = rng.chance(30);
    let is_query_partitioned = rng.chance(20);
    // Copies that lie a multiple of 65536 apart share entries of the diagonal hash.
    let collides = rng.chance(12);
    let len = if collides { rng.range(66_000, 150_000) } else { rng.range(300, 6000) };
    let text = chromosome(rng, len, collides);
    let query = descendant(rng, &text, !collides || is_self);
    let target = if is_target_partitioned { cut(rng, "t", &text) } else { vec![("t".to_string(), text)] };
    let query =
        if is_query_partitioned || rng.chance(30) { cut(rng, "q", &query) } else { vec![("q".to_string(), query)] };
    let mut case = Case {
        target,
        query,
        is_target_partitioned,
        is_query_partitioned,
        options: Options::default(),
        flags: Vec::new(),
    };
    case.options.gapped = None;
    if is_self {
        case.options.self_comparison = SelfComparison::OneSided;
        case.flags.extend(["--self".to_string(), "--nomirror".to_string()]);
    }
    seeding(rng, &mut case, len);
    extension(rng, &mut case, len);
    case
}

fn mutate(rng: &mut Rng, text: &[u8]) -> Vec<u8> {
    let percent = rng.pick(&[0, 2, 8, 15, 25]);
    let mut copy = Vec::with_capacity(text.len());
    for &base in text {
        match rng.range(0, 99) {
            p if p >= percent => copy.push(base),
            _ if rng.chance(15) => {}
            _ if rng.chance(15) => copy.extend(rng.bases(2, b"ACGT")),
            _ if rng.chance(50) => copy.push(transition(base)),
            _ => copy.push(rng.pick(b"ACGT")),
        }
    }
    copy
}

fn transition(base: u8) -> u8 {
    match base {
        b'A' => b'G',
        b'G' => b'A',
        b'C' => b'T',
        b'T' => b'C',
        other => other,
    }
}

fn reverse_complement(text: &[u8]) -> Vec<u8> {
    text.iter().rev().map(|&base| fastz::sequence::complement(base)).collect()
}

/// Random bases with repeats, tandem arrays, masked runs, N.
fn chromosome(rng: &mut Rng, len: usize, collides: bool) -> Vec<u8> {
    let letters: &[u8] = rng.pick(&[b"ACGT" as &[u8], b"ACGT", b"AAATTTCG", b"ACCCGGGT", b"AACT"]);
    let mut text = rng.bases(len, letters);
    for _ in 0..rng.range(0, 6) {
        let n = rng.range(20, (len / 4).min(400));
        let from = rng.range(0, len - n);
        let mut copy = text[from..from + n].to_vec();
        if rng.chance(60) {
            copy = mutate(rng, &copy);
        }
        if rng.chance(40) {
            copy = reverse_complement(&copy);
        }
        let to = rng.range(0, len - copy.len().min(len));
        let n = copy.len().min(len - to);
        text[to..to + n].copy_from_slice(&copy[..n]);
    }
    if collides {
        for _ in 0..rng.range(1, 4) {
            let n = rng.range(30, 300);
            let from = rng.range(0, len - 65536 - n.min(len - 65536));
            let n = n.min(len - 65536 - from);
            let shift = rng.pick(&[0, 0, 0, 1, 2, 7]);
            let mut copy = text[from..from + n].to_vec();
            if rng.chance(50) {
                copy = copy.iter().map(|&base| if rng.chance(8) { rng.pick(b"ACGT") } else { base }).collect();
            }
            let to = (from + 65536 + shift).min(len - n);
            text[to..to + n].copy_from_slice(&copy);
        }
    }
    for _ in 0..rng.range(0, 2) {
        let unit_len = rng.range(1, 9);
        let unit = rng.bases(unit_len, b"ACGT");
        let n = rng.range(10, 150.min(len / 2));
        let at = rng.range(0, len - n);
        (0..n).for_each(|i| text[at + i] = unit[i % unit_len]);
    }
    soil(rng, &mut text);
    text
}

/// Masked runs, N, X.
fn soil(rng: &mut Rng, text: &mut [u8]) {
    for _ in 0..rng.range(0, 3) {
        let n = rng.range(1, 100.min(text.len()));
        let at = rng.range(0, text.len() - n);
        let kind = rng.range(0, 4);
        for base in &mut text[at..at + n] {
            *base = match kind {
                0 => b'N',
                1 if rng.chance(30) => b'X',
                1 => *base,
                _ => base.to_ascii_lowercase(),
            };
        }
    }
}

/// A relative of a sequence: pieces of it, mutated, moved, inverted, repeated.
fn descendant(rng: &mut Rng, text: &[u8], is_whole: bool) -> Vec<u8> {
    if rng.chance(10) && is_whole {
        return text.to_vec();
    }
    let mut query = Vec::new();
    for _ in 0..rng.range(1, 5) {
        let n = rng.range(50, 3000).min(text.len());
        let from = rng.range(0, text.len() - n);
        let mut piece = mutate(rng, &text[from..from + n]);
        if rng.chance(30) {
            piece = reverse_complement(&piece);
        }
        query.extend(piece);
        let n = rng.range(0, 60);
        query.extend(rng.bases(n, b"ACGT"));
    }
    soil(rng, &mut query);
    query
}

/// Cuts a sequence into a few named records.
fn cut(rng: &mut Rng, name: &str, text: &[u8]) -> Records {
    let mut records = Records::new();
    let mut rest = text;
    while !rest.is_empty() {
        let n = rng.range(rest.len().min(60), rest.len());
        let (head, tail) = rest.split_at(n);
        records.push((format!("{name}{}", records.len()), head.to_vec()));
        rest = tail;
    }
    records
}

fn seeding(rng: &mut Rng, case: &mut Case, len: usize) {
    let seed = &mut case.options.seed;
    let flags = &mut case.flags;
    let least = if len > 10_000 { 9 } else { 5 };
    let (name, text) = match rng.range(0, 9) {
        0..=3 => (None, SeedPattern::TWELVE_OF_19.to_string()),
        4 | 5 => {
            let k = rng.range(least, 11);
            (Some(format!("match{k}")), "1".repeat(k))
        }
        6 => {
            let k = rng.range(2 * least, 21);
            (Some(format!("half{k}")), "T".repeat(k))
        }
        _ => {
            let letters = rng.pick(&[b"10" as &[u8], b"110", b"11T0"]);
            let text = loop {
                let n = rng.range(least, 28);
                let text = [b"1", &rng.bases(n, letters)[..], b"1"].concat();
                let count = |letter| text.iter().filter(|&&l| l == letter).count();
                let bits = 2 * count(b'1') + count(b'T');
                if bits >= 2 * least && bits <= 24 {
                    break text;
                }
            };
            let text = String::from_utf8(text).unwrap();
            (Some(text.clone()), text)
        }
    };
    seed.pattern = SeedPattern::parse(&text).unwrap();
    flags.extend(name.map(|name| format!("--seed={name}")));
    let may_flip = seed.pattern.is_strict();
    // Patterns with both 1 and T allow one transition unless told otherwise, but refuse to be told so.
    seed.transitions = if may_flip { rng.pick(&[0, 1, 1, 2]) } else { rng.pick(&[0, 1]) };
    if may_flip || seed.transitions == 0 {
        flags.push(["--notransition", "--transition", "--transition=2"][seed.transitions as usize].to_string());
    }
    if rng.chance(25) {
        seed.step = rng.range(2, 12) as u32;
        flags.push(format!("--step={}", seed.step));
    }
    if rng.chance(10) && !text.contains('0') && may_flip {
        seed.word_bits = (2 * text.len() as u32 - rng.range(1, 4) as u32).max(8);
        flags.push(format!("--word={}", seed.word_bits));
    }
    if rng.chance(15) {
        let max = rng.range(1, 6) as u32;
        let spacing = rng.range(5, 60) as u32;
        let percent = rng.range(20, 99);
        let (limit, text) = match rng.range(0, 3) {
            0 => (WordCountLimit::Count(max), max.to_string()),
            1 => (WordCountLimit::CountWithSpacing(max, spacing), format!("{max},{spacing}")),
            2 => (WordCountLimit::Percent(percent as f64), format!("{percent}%")),
            _ => (WordCountLimit::PercentWithSpacing(percent as f64, spacing), format!("{percent}%,{spacing}")),
        };
        seed.word_count_limit = Some(limit);
        flags.push(format!("--maxwordcount={text}"));
    }
    if rng.chance(12) {
        let cares_only = rng.chance(40);
        let places = seed.pattern.places();
        let most = if cares_only { places.iter().filter(|&&care| care != Care::Free).count() } else { places.len() };
        let min_matches = rng.range(most / 2, most) as u32;
        let max_transversions = rng.chance(50).then(|| rng.range(0, 4) as u32);
        let cares = if cares_only { "cares:" } else { "" };
        let transversions = max_transversions.map_or(String::new(), |n| format!("{n},"));
        flags.push(format!("--filter={cares}{transversions}{min_matches}"));
        seed.hit_filter = Some(SeedHitFilter { min_matches, max_transversions, cares_only });
    }
    if rng.chance(12) {
        let min_gap = (rng.range(0, 30) as i32 - 10).max(1 - text.len() as i32);
        let max_gap = min_gap + rng.range(0, 60) as i32;
        seed.twins = Some(Twins { min_gap, max_gap });
        flags.push(format!("--twins={min_gap}..{max_gap}"));
    } else if rng.chance(20) {
        seed.recover_hits = true;
        flags.push("--recoverseeds".to_string());
    }
}

fn extension(rng: &mut Rng, case: &mut Case, len: usize) {
    let options = &mut case.options;
    let flags = &mut case.flags;
    let is_unit = rng.chance(25);
    if is_unit {
        let (reward, penalty) = (rng.range(1, 5) as i32, rng.range(1, 6) as i32);
        let scores = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { reward } else { -penalty }));
        options.scoring = Scoring::from_acgt(&scores, -penalty, -10 * penalty, 0, 0);
        flags.push(format!("--match={reward},{penalty}"));
    }
    let min_len = rng.range(if len > 10_000 { 18 } else { 8 }, 60) as u32;
    match rng.range(0, 9) {
        0 => {
            options.gap_free = GapFreeExtension::Exact(min_len);
            flags.push(format!("--exact={min_len}"));
        }
        1 => {
            let mismatches = rng.range(1, 6) as u32;
            options.gap_free = GapFreeExtension::Mismatch { mismatches, min_len };
            flags.push(format!("--mismatch={mismatches},{min_len}"));
        }
        2 => {
            options.gap_free = GapFreeExtension::None;
            flags.push("--nogfextend".to_string());
        }
        _ => {
            let unit = if is_unit { 1 } else { 90 };
            let x_drop = unit * rng.pick(&[1, 5, 10, 10, 10, 30, 300]);
            let threshold = unit * rng.range(if len > 10_000 { 14 } else { 5 }, 40) as i32;
            let entropy = rng.chance(70);
            options.gap_free = GapFreeExtension::XDrop { x_drop, entropy };
            options.hsp_threshold = HspThreshold::Score(threshold);
            flags.extend([format!("--xdrop={x_drop}"), format!("--hspthresh={threshold}")]);
            flags.extend((!entropy).then(|| "--noentropy".to_string()));
        }
    }
}
