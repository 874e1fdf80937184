//! The target's seed words: for each word the end positions of its windows, newest (largest) first (lastz-semantics
//! 2.2).
//!
//! ```text
//! occupied   one bit per possible word; words that do not occur cost one look at it
//! ranks      occupied bits before each 64 of them
//! starts     starts[rank] .. starts[rank + 1]: the word's stretch of `ends`
//! ends       end positions of windows, array coordinates
//! ```
//! That is 4 bytes per stored window, at most 4 per occurring word, and 1.5 bits per possible word. The table is
//! built by a counting sort in two passes: by the upper bits of the word, then, bucket by bucket, by the lower ones.

use rayon::prelude::*;

use super::layout::WordLayout;
use super::packed::PackedBases;
use super::word_count;
use crate::options::SeedOptions;
use crate::{Error, Result, SequenceSet};

/// Most bits of a word that the second pass sorts by.
const MAX_LOW_BITS: u32 = 16;
/// Fewest: 64 bits of `occupied`.
const MIN_LOW_BITS: u32 = 6;
/// Bits that the first pass sorts by, where the word is long enough.
const HIGH_BITS: u32 = 12;

/// The seed words of a target.
#[derive(Clone, Debug)]
pub struct WordTable {
    pub(crate) layout: WordLayout,
    pub(crate) target: PackedBases,
    target_len: usize,
    occupied: Vec<u64>,
    ranks: Vec<u32>,
    pub(super) starts: Vec<u32>,
    pub(super) ends: Vec<u32>,
    /// Whether bases were masked after the words were stored.
    pub(crate) is_stale: bool,
}

impl WordTable {
    /// Indexes the target, on rayon's current pool.
    ///
    /// # Errors
    /// If the pattern needs more index bits than allowed, or the target has 2³¹ bases or more.
    pub fn build(target: &SequenceSet, seed: &SeedOptions) -> Result<WordTable> {
        if target.len() >= 1 << 31 {
            let message =
                format!("{} bases are more than the 2147483647 that a target may have: split it", target.len());
            return Err(Error::input(&target.file, message));
        }
        if seed.step == 0 {
            return Err(Error::options("--step must be positive"));
        }
        let layout = WordLayout::new(&seed.pattern, seed.word_bits)?;
        let packed = PackedBases::pack(&target.bases);
        let windows = Windows { layout: &layout, target: &packed, len: target.len(), step: seed.step as usize };
        let Sorted { occupied, starts, ends } = windows.sort();
        let mut table = WordTable {
            layout,
            target: packed,
            target_len: target.len(),
            ranks: ranks(&occupied),
            occupied,
            starts,
            ends,
            is_stale: false,
        };
        if let Some(limit) = seed.word_count_limit {
            word_count::limit(&mut table, limit, seed.step);
        }
        Ok(table)
    }

    /// Takes over masking done to the target since the table was built (6.6): words that touch a base that is no
    /// longer an upper-case A, C, G or T give no more hits. No base may have been unmasked or moved.
    ///
    /// # Panics
    /// If the length of the target changed.
    pub fn update_mask(&mut self, target: &SequenceSet) {
        assert_eq!(target.len(), self.target_len, "masking must not change the length of the target");
        self.target = PackedBases::pack(&target.bases);
        self.is_stale = true;
    }

    /// Bases of the target.
    pub(super) fn target_len(&self) -> usize {
        self.target_len
    }

    /// Windows stored.
    pub fn n_windows(&self) -> usize {
        self.ends.len()
    }

    /// Seed hits of a query base, if all words were equally likely.
    pub(crate) fn likely_hits(&self, transitions: u8) -> f64 {
        self.layout.likely_hits(self.n_windows() as f64, transitions)
    }

    /// `occupied`, `ranks`, `starts` and `ends`.
    pub(crate) fn arrays(&self) -> (&[u64], &[u32], &[u32], &[u32]) {
        (&self.occupied, &self.ranks, &self.starts, &self.ends)
    }

    /// Whether a word occurs.
    #[inline]
    pub(crate) fn occurs(&self, word: u32) -> bool {
        self.occupied[word as usize / 64] >> (word % 64) & 1 != 0
    }

    /// Number of a word that occurs, among those that do.
    #[inline]
    pub(super) fn rank(&self, word: u32) -> u32 {
        let block = word as usize / 64;
        let below = self.occupied[block] & ((1 << (word % 64)) - 1);
        self.ranks[block] + below.count_ones()
    }

    /// Window ends of a word that occurs, newest first.
    #[cfg(test)]
    fn ends_of(&self, word: u32) -> &[u32] {
        let rank = self.rank(word) as usize;
        &self.ends[self.starts[rank] as usize..self.starts[rank + 1] as usize]
    }
}

/// The windows of the target that are to be stored.
struct Windows<'a> {
    layout: &'a WordLayout,
    target: &'a PackedBases,
    len: usize,
    step: usize,
}

struct Sorted {
    occupied: Vec<u64>,
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Windows<'_> {
    /// Calls `store(end, word)` for each stored window whose end is in `ends`, ascending.
    fn for_each(&self, ends: std::ops::Range<usize>, mut store: impl FnMut(usize, u32)) {
        // lastz-semantics 2.2: the end coordinate is a multiple of the step.
        let mut end = ends.start.max(self.layout.len).next_multiple_of(self.step);
        while end < ends.end {
            if let Some(word) = self.layout.word(&self.target.at(end - self.layout.len)) {
                store(end, word);
            }
            end += self.step;
        }
    }

    fn sort(&self) -> Sorted {
        let bits = self.layout.index_bits;
        let low_bits = bits.saturating_sub(HIGH_BITS).clamp(MIN_LOW_BITS, MAX_LOW_BITS);
        let n_buckets = 1 << bits.saturating_sub(low_bits);
        let n_chunks = if self.len < 1 << 16 { 1 } else { rayon::current_num_threads() * 4 };
        let chunk_len = (self.len + 1).div_ceil(n_chunks);
        let chunk = |i: usize| i * chunk_len..((i + 1) * chunk_len).min(self.len + 1);

        let count = |i| {
            let mut counts = vec![0u32; n_buckets];
            self.for_each(chunk(i), |_, word| counts[(word >> low_bits) as usize] += 1);
            counts
        };
        let counts: Vec<Vec<u32>> = (0..n_chunks).into_par_iter().map(count).collect();
        let n_windows = counts.iter().flatten().map(|&n| n as usize).sum();

        let mut ends = vec![0u32; n_windows];
        let mut lows = vec![0u16; n_windows];
        let scatter = |i: usize, mut ends: Vec<Slots<u32>>, mut lows: Vec<Slots<u16>>| {
            self.for_each(chunk(i), |end, word| {
                let bucket = (word >> low_bits) as usize;
                ends[bucket].push(end as u32);
                lows[bucket].push((word & ((1 << low_bits) - 1)) as u16);
            });
        };
        let slots = cut(&mut ends, &counts).into_par_iter().zip(cut(&mut lows, &counts));
        slots.enumerate().for_each(|(i, (ends, lows))| scatter(i, ends, lows));

        let mut occupied = vec![0u64; n_buckets << (low_bits - 6)];
        let lens: Vec<usize> = (0..n_buckets).map(|b| counts.iter().map(|c| c[b] as usize).sum()).collect();
        let mut first = 0;
        let buckets: Vec<Bucket> = split(&mut ends, &lens)
            .into_iter()
            .zip(split(&mut lows, &lens))
            .zip(occupied.chunks_mut(1 << (low_bits - 6)))
            .map(|((ends, lows), occupied)| {
                first += ends.len();
                Bucket { first: (first - ends.len()) as u32, ends, lows, occupied }
            })
            .collect();
        let scratch = || Scratch { counts: vec![0; 1 << low_bits], ends: Vec::new() };
        let starts: Vec<Vec<u32>> = buckets.into_par_iter().map_init(scratch, |s, bucket| bucket.sort(s)).collect();
        drop(lows);
        let mut starts = starts.concat();
        starts.push(n_windows as u32);
        Sorted { occupied, starts, ends }
    }
}

/// A stretch of an array that is filled from its start.
struct Slots<'a, T> {
    slots: std::slice::IterMut<'a, T>,
}

impl<T> Slots<'_, T> {
    #[inline]
    fn push(&mut self, value: T) {
        *self.slots.next().expect("as many windows as were counted") = value;
    }
}

/// Cuts an array into stretches of the given lengths.
fn split<'a, T>(mut rest: &'a mut [T], lens: &[usize]) -> Vec<&'a mut [T]> {
    let take = |&len: &usize| {
        let (head, tail) = std::mem::take(&mut rest).split_at_mut(len);
        rest = tail;
        head
    };
    lens.iter().map(take).collect()
}

/// Cuts an array into one stretch per bucket and chunk, buckets outermost; gives them chunk by chunk.
fn cut<'a, T>(array: &'a mut [T], counts: &[Vec<u32>]) -> Vec<Vec<Slots<'a, T>>> {
    let n_buckets = counts[0].len();
    let lens: Vec<usize> = (0..n_buckets).flat_map(|b| counts.iter().map(move |c| c[b] as usize)).collect();
    let mut per_chunk: Vec<Vec<Slots<T>>> = counts.iter().map(|_| Vec::with_capacity(n_buckets)).collect();
    for (i, stretch) in split(array, &lens).into_iter().enumerate() {
        per_chunk[i % counts.len()].push(Slots { slots: stretch.iter_mut() });
    }
    per_chunk
}

/// Windows whose words share the upper bits, ends ascending.
struct Bucket<'a> {
    first: u32,
    ends: &'a mut [u32],
    lows: &'a mut [u16],
    occupied: &'a mut [u64],
}

struct Scratch {
    counts: Vec<u32>,
    ends: Vec<u32>,
}

impl Bucket<'_> {
    /// Sorts by word, newest first within each; gives where the words start.
    fn sort(self, scratch: &mut Scratch) -> Vec<u32> {
        let counts = &mut scratch.counts;
        for &low in self.lows.iter() {
            counts[low as usize] += 1;
            self.occupied[low as usize / 64] |= 1 << (low % 64);
        }
        let mut starts = Vec::with_capacity(self.occupied.iter().map(|w| w.count_ones() as usize).sum());
        let mut end = 0;
        for_each_bit(self.occupied, |low| {
            starts.push(self.first + end);
            end += counts[low];
            counts[low] = end;
        });
        scratch.ends.clear();
        scratch.ends.extend_from_slice(self.ends);
        for (&end, &low) in scratch.ends.iter().zip(self.lows.iter()) {
            counts[low as usize] -= 1;
            self.ends[counts[low as usize] as usize] = end;
        }
        for_each_bit(self.occupied, |low| counts[low] = 0);
        starts
    }
}

pub(super) fn for_each_bit(words: &[u64], mut f: impl FnMut(usize)) {
    for (i, &word) in words.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            f(i * 64 + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}

/// Set bits before each word.
pub(super) fn ranks(occupied: &[u64]) -> Vec<u32> {
    let mut rank = 0;
    let next = |bits: &u64| {
        rank += bits.count_ones();
        rank - bits.count_ones()
    };
    occupied.iter().map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::SeedPattern;
    use std::collections::BTreeMap;

    fn check(text: &[u8], pattern: &str, word_bits: u32, step: u32) {
        let seed =
            SeedOptions { pattern: SeedPattern::parse(pattern).unwrap(), word_bits, step, ..SeedOptions::default() };
        let table = WordTable::build(&SequenceSet::single("t", text), &seed).unwrap();
        let mut expect: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for end in (pattern.len()..=text.len()).filter(|end| end % step as usize == 0) {
            if let Some(word) = table.layout.word(&table.target.at(end - pattern.len())) {
                expect.entry(word).or_default().insert(0, end as u32);
            }
        }
        let n_words = 1u64 << table.layout.index_bits;
        for word in (0..n_words).map(|word| word as u32) {
            assert_eq!(table.occurs(word), expect.contains_key(&word), "word {word}");
            if let Some(ends) = expect.get(&word) {
                assert_eq!(table.ends_of(word), ends, "word {word}");
            }
        }
        assert_eq!(table.n_windows(), expect.values().map(Vec::len).sum());
    }

    #[test]
    fn every_word_lists_its_windows_newest_first() {
        let mut state = 1u64;
        let mut base = |letters: &[u8]| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            letters[(state >> 33) as usize % letters.len()]
        };
        let text: Vec<u8> = (0..200_000).map(|_| base(b"ACGTACGTACGTACGTn")).collect();
        check(&text, "11", 28, 1);
        check(&text, "1T1", 28, 3);
        check(&text, "111111", 28, 7);
        check(&text, "1101011T01", 28, 1);
        check(&text, "11111111", 12, 2);
        check(&text[..5], "111111", 28, 1);
        check(b"", "111111", 28, 1);
    }
}
