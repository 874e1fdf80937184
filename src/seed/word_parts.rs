//! Parts of a word table, for devices that cannot hold it at a stretch: each has the windows that end in a range of the
//! target.
//!
//! ```text
//! table   word a  91 88 40 12 | word b  95 41 40 7         ends, newest first
//! parts   [50, 100)   a  91 88 | b  95
//!         [0, 50)     a  40 12 | b  41 40 7
//! ```
//! The newest range comes first: what the parts list of a word, one after the other, is what the table lists.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::word_table::{WordTable, for_each_bit, ranks};

/// The arrays of a [`WordTable`] or of a part of one.
pub(crate) struct WordArrays<'a> {
    pub occupied: Cow<'a, [u64]>,
    pub ranks: Cow<'a, [u32]>,
    pub starts: Cow<'a, [u32]>,
    pub ends: Cow<'a, [u32]>,
}

/// Blocks of 64 words that a thread takes at a time.
const CHUNK: usize = 1 << 8;
/// Stretches that a range is made of, at least: so much of it may stay empty, at most.
const STRETCHES: usize = 16;

impl WordTable {
    /// Ranges of window ends that cover the table, newest first, with at most `most` (at least 1) windows in each.
    pub(crate) fn ranges(&self, most: usize) -> Vec<Range<u32>> {
        let ends = self.arrays().3;
        let mut range_end = self.target_len() as u32 + 1;
        let mut ranges = Vec::new();
        if ends.len() > most {
            let stretch = (most / STRETCHES).max(1);
            let mut n = 0;
            for (i, count) in self.count_stretches(stretch).into_iter().enumerate().rev() {
                if n + count > most {
                    let start = ((i + 1) * stretch) as u32;
                    ranges.push(start..range_end);
                    (range_end, n) = (start, 0);
                }
                n += count;
            }
        }
        ranges.push(0..range_end);
        ranges
    }

    /// Windows that end in each stretch of so many bases.
    fn count_stretches(&self, len: usize) -> Vec<usize> {
        let zeros = || vec![0; self.target_len() / len + 1];
        let counted = |mut counts: Vec<usize>, &end: &u32| {
            counts[end as usize / len] += 1;
            counts
        };
        let added = |mut sums: Vec<usize>, counts: Vec<usize>| {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            sums
        };
        self.arrays().3.par_iter().with_min_len(1 << 20).fold(zeros, counted).reduce(zeros, added)
    }

    /// The part of the table with the windows that end in `range`.
    pub(crate) fn part(&self, range: &Range<u32>) -> WordArrays<'_> {
        let (occupied, whole_ranks, starts, ends) = self.arrays();
        if range.start == 0 && range.end as usize > self.target_len() {
            let (ranks, starts) = (whole_ranks.into(), starts.into());
            return WordArrays { occupied: occupied.into(), ranks, starts, ends: ends.into() };
        }
        let part_of_chunk = |(chunk, blocks): (usize, &[u64])| {
            let mut part = (vec![0; blocks.len()], Vec::new(), Vec::new());
            let mut rank = whole_ranks[chunk * CHUNK] as usize;
            for_each_bit(blocks, |word| {
                let list = &ends[starts[rank] as usize..starts[rank + 1] as usize];
                rank += 1;
                let list = &list[list.partition_point(|&end| end >= range.end)..];
                let list = &list[..list.partition_point(|&end| end >= range.start)];
                if !list.is_empty() {
                    part.0[word / 64] |= 1 << (word % 64);
                    part.1.push(part.2.len() as u32);
                    part.2.extend_from_slice(list);
                }
            });
            part
        };
        let chunks: Vec<(Vec<u64>, Vec<u32>, Vec<u32>)> =
            occupied.par_chunks(CHUNK).enumerate().map(part_of_chunk).collect();
        let (mut occupied, mut starts, mut ends) = (Vec::with_capacity(occupied.len()), Vec::new(), Vec::new());
        ends.reserve_exact(chunks.iter().map(|chunk| chunk.2.len()).sum());
        starts.reserve_exact(chunks.iter().map(|chunk| chunk.1.len()).sum::<usize>() + 1);
        for chunk in chunks {
            let first = ends.len() as u32;
            occupied.extend(chunk.0);
            starts.extend(chunk.1.iter().map(|start| first + start));
            ends.extend(chunk.2);
        }
        starts.push(ends.len() as u32);
        WordArrays {
            ranks: ranks(&occupied).into(),
            occupied: occupied.into(),
            starts: starts.into(),
            ends: ends.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SequenceSet;
    use crate::options::SeedOptions;
    use crate::seed::SeedPattern;

    /// The lists of all words, by word.
    fn lists(arrays: &WordArrays) -> Vec<Vec<u32>> {
        let mut lists = vec![Vec::new(); 64 * arrays.occupied.len()];
        let mut rank = 0;
        for_each_bit(&arrays.occupied, |word| {
            if word % 64 == 0 || arrays.occupied[word / 64] << (64 - word % 64) == 0 {
                assert_eq!(arrays.ranks[word / 64] as usize, rank);
            }
            lists[word] = arrays.ends[arrays.starts[rank] as usize..arrays.starts[rank + 1] as usize].to_vec();
            rank += 1;
        });
        assert_eq!((rank + 1, arrays.starts[rank] as usize), (arrays.starts.len(), arrays.ends.len()));
        lists
    }

    #[test]
    fn parts_list_one_after_the_other_what_the_table_lists() {
        let mut state = 1u64;
        let mut letter = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            b"ACGTACGTACGTACGTn"[(state >> 33) as usize % 17]
        };
        let text: Vec<u8> = (0..3000).map(|_| letter()).collect();
        for step in [1, 7] {
            let pattern = SeedPattern::parse("11T1011").unwrap();
            let seed = SeedOptions { pattern, step, ..SeedOptions::default() };
            let table = WordTable::build(&SequenceSet::single("t", &text), &seed).unwrap();
            let expected = lists(&table.part(&(0..u32::MAX)));
            let n = table.n_windows();
            for most in [1, 2, 3, 50, 100, n / 2, n - 1, n, n + 1] {
                let ranges = table.ranges(most);
                assert_eq!((ranges[0].end, ranges[ranges.len() - 1].start), (3001, 0));
                assert!(ranges.windows(2).all(|pair| pair[1].end == pair[0].start));
                assert!(ranges.len() <= n.div_ceil(most) * 3 / 2 + 1, "{} parts of {most}", ranges.len());
                let mut found = vec![Vec::new(); expected.len()];
                for range in &ranges {
                    let part = table.part(range);
                    assert!(part.ends.len() <= most && part.ends.iter().all(|end| range.contains(end)));
                    found.iter_mut().zip(lists(&part)).for_each(|(list, more)| list.extend(more));
                }
                assert_eq!(found, expected, "parts of {most}");
            }
        }
    }
}
