//! `--masking=N`: target bases that N blocks have covered are masked for what is searched later (lastz-semantics 6.6).
//!
//! The same counters serve `--census`, with or without masking.

use crate::alignment::Block;
use crate::sequence::SequenceSet;
use std::io::{self, Write};
use std::ops::Range;

/// The letter that a masked base becomes.
pub const MASKED: u8 = b'x';

/// Widths of LASTZ's counters. They saturate, which the census shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CounterWidth {
    /// Up to 255.
    Bits8,
    /// Up to 65,535 (`--census16`).
    Bits16,
    /// Up to 2^32 - 1 (`--census32`).
    Bits32,
}

impl CounterWidth {
    /// The narrowest counters that can reach the masking threshold.
    pub fn for_threshold(threshold: u32) -> Self {
        match threshold {
            0..255 => CounterWidth::Bits8,
            255..65_535 => CounterWidth::Bits16,
            _ => CounterWidth::Bits32,
        }
    }
}

#[derive(Clone, Debug)]
enum Counters {
    Bits8(Vec<u8>),
    Bits16(Vec<u16>),
    Bits32(Vec<u32>),
}

/// How often each target base was covered.
#[derive(Clone, Debug)]
pub struct TargetCoverage {
    counters: Counters,
    /// 0: count only.
    threshold: u32,
}

impl TargetCoverage {
    /// Counters for a target array of `target_len` positions. A `threshold` of 0 masks nothing; `width` widens the
    /// counters beyond what the threshold needs.
    pub fn new(target_len: usize, threshold: u32, width: Option<CounterWidth>) -> Self {
        let needed = CounterWidth::for_threshold(threshold);
        let counters = match width.map_or(needed, |asked| asked.max(needed)) {
            CounterWidth::Bits8 => Counters::Bits8(vec![0; target_len]),
            CounterWidth::Bits16 => Counters::Bits16(vec![0; target_len]),
            CounterWidth::Bits32 => Counters::Bits32(vec![0; target_len]),
        };
        TargetCoverage { counters, threshold }
    }

    /// Counts the blocks of one query strand, from target start to end with all gaps, and masks in `target` the
    /// upper-case letters that reach the threshold (any letter, also N). Returns the newly masked ranges, sorted.
    pub fn add(&mut self, blocks: &[Block], target: &mut SequenceSet) -> Vec<Range<usize>> {
        let mut masked = Vec::new();
        for block in blocks {
            let range = block.target_range();
            let start = range.start;
            let bases = &mut target.bases[range.clone()];
            let threshold = self.threshold;
            let mut reach = |offset: usize| {
                if bases[offset].is_ascii_uppercase() {
                    bases[offset] = MASKED;
                    masked.push(start + offset);
                }
            };
            match &mut self.counters {
                Counters::Bits8(counts) => count(&mut counts[range], threshold, u8::saturating_add, &mut reach),
                Counters::Bits16(counts) => count(&mut counts[range], threshold, u16::saturating_add, &mut reach),
                Counters::Bits32(counts) => count(&mut counts[range], threshold, u32::saturating_add, &mut reach),
            }
        }
        masked.sort_unstable();
        ranges_of(masked)
    }

    /// Array positions.
    pub fn n_positions(&self) -> usize {
        match &self.counters {
            Counters::Bits8(counts) => counts.len(),
            Counters::Bits16(counts) => counts.len(),
            Counters::Bits32(counts) => counts.len(),
        }
    }

    /// Count of one array position.
    pub fn count(&self, position: usize) -> u32 {
        match &self.counters {
            Counters::Bits8(counts) => counts[position].into(),
            Counters::Bits16(counts) => counts[position].into(),
            Counters::Bits32(counts) => counts[position],
        }
    }

    /// Ranges of array positions that reached the threshold, whatever letter stands there: the `m` stanza of lav. If
    /// there is only a census, the threshold is 0, and all bases have reached it.
    pub fn masked_ranges(&self, target: &SequenceSet) -> Vec<Range<usize>> {
        let is_masked = |&at: &usize| self.count(at) >= self.threshold;
        ranges_of(target.partitions.iter().flat_map(|p| p.range.clone()).filter(is_masked))
    }

    /// `--census`: `name<TAB>position<TAB>count` of every loaded base, positions 1-based in the loaded part.
    pub fn write_census(&self, target: &SequenceSet, out: &mut dyn Write) -> io::Result<()> {
        // Quirk: further separators behind a sequence (`[separator=]`) count as its bases.
        let partitions = target.partitions.iter().map(|partition| partition.range.start);
        let empty_records = target.empty_records.iter().map(|empty| empty.start);
        let mut starts: Vec<usize> = partitions.chain(empty_records).collect();
        starts.sort_unstable();
        starts.push(target.bases.len() + usize::from(!target.is_partitioned));
        for partition in &target.partitions {
            let end = starts[starts.partition_point(|&start| start <= partition.range.start)] - 1;
            for (i, at) in (partition.range.start..end).enumerate() {
                out.write_all(&partition.name)?;
                writeln!(out, "\t{}\t{}", i + 1, self.count(at))?;
            }
        }
        Ok(())
    }
}

/// Lower-case letters, and array positions that reached a threshold (`--outputmasking:soft`).
pub fn soft_masked_ranges(coverage: Option<&TargetCoverage>, target: &SequenceSet) -> Vec<Range<usize>> {
    let coverage = coverage.filter(|coverage| coverage.threshold > 0);
    let is_reached = |at: usize| coverage.is_some_and(|coverage| coverage.count(at) >= coverage.threshold);
    let is_masked = |&at: &usize| target.bases[at].is_ascii_lowercase() || is_reached(at);
    ranges_of(target.partitions.iter().flat_map(|p| p.range.clone()).filter(is_masked))
}

/// `--outputmasking`: `start end`, 1-based on the whole sequence; with the name before it for `--outputmasking+`.
pub fn write_masking(
    ranges: &[Range<usize>],
    target: &SequenceSet,
    with_names: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    for range in ranges {
        let partition = target.partition_at(range.start);
        // Quirks: the bases before the loaded part on the file's strand, also if the other strand is loaded; a piece between
        // separators counts from its own start on.
        let in_record = partition.piece_of.as_ref().map_or(0, |record| partition.range.start - record.range.start);
        let before = partition.offset - in_record;
        let start = range.start - partition.range.start + before + 1;
        let end = range.end - partition.range.start + before;
        if with_names {
            out.write_all(&partition.name)?;
            out.write_all(b" ")?;
        }
        writeln!(out, "{start} {end}")?;
    }
    Ok(())
}

/// Raises the counters by one and tells which of them just came to the threshold.
fn count<C: Copy + PartialEq + From<u8> + TryFrom<u32>>(
    counts: &mut [C],
    threshold: u32,
    add: fn(C, C) -> C,
    reach: &mut impl FnMut(usize),
) {
    let threshold = C::try_from(threshold).ok().filter(|_| threshold > 0);
    for (offset, count) in counts.iter_mut().enumerate() {
        let before = *count;
        *count = add(before, C::from(1));
        if Some(*count) == threshold && before != *count {
            reach(offset);
        }
    }
}

/// Runs of consecutive positions.
fn ranges_of(sorted: impl IntoIterator<Item = usize>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for at in sorted {
        match ranges.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => ranges.push(at..at + 1),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::EditScript;

    fn block(start: usize, len: u32) -> Block {
        Block { target_start: start, query_start: 0, script: EditScript::pairs(len), score: 0 }
    }

    #[test]
    fn upper_case_letters_are_masked_when_they_reach_the_threshold() {
        let mut target = SequenceSet::single("t", b"ACgtNXAC");
        let mut coverage = TargetCoverage::new(8, 2, None);
        assert!(coverage.add(&[block(0, 7)], &mut target).is_empty());
        assert_eq!(coverage.add(&[block(1, 7)], &mut target), [1..2, 4..7]);
        assert_eq!(target.bases, b"AxgtxxxC");
        assert!(coverage.add(&[block(1, 3)], &mut target).is_empty());
        // Lower case counts in the list but was not changed.
        assert_eq!(coverage.masked_ranges(&target), vec![1..7]);
    }

    #[test]
    fn counters_saturate_at_their_width() {
        let mut target = SequenceSet::single("t", b"A");
        let blocks = vec![block(0, 1); 300];
        for (width, seen) in [(None, 255), (Some(CounterWidth::Bits16), 300), (Some(CounterWidth::Bits32), 300)] {
            let mut coverage = TargetCoverage::new(1, 0, width);
            assert!(coverage.add(&blocks, &mut target).is_empty());
            assert_eq!(coverage.count(0), seen);
        }
        let mut coverage = TargetCoverage::new(1, 255, None);
        assert_eq!(coverage.add(&blocks, &mut target), vec![0..1]);
        assert_eq!(coverage.count(0), 300, "255 needs 16 bits");
    }

    #[test]
    fn lists_use_the_coordinates_of_lastz() {
        let mut target = SequenceSet::single("t", b"aCGTA");
        target.partitions[0].offset = 19;
        target.partitions[0].full_len = 100;
        let mut coverage = TargetCoverage::new(5, 1, None);
        coverage.add(&[block(2, 2)], &mut target);
        let mut text = Vec::new();
        write_masking(&coverage.masked_ranges(&target), &target, false, &mut text).unwrap();
        write_masking(&soft_masked_ranges(Some(&coverage), &target), &target, true, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "22 23\nt 20 20\nt 22 23\n");
        let mut census = Vec::new();
        coverage.write_census(&target, &mut census).unwrap();
        assert_eq!(String::from_utf8(census).unwrap(), "t\t1\t0\nt\t2\t0\nt\t3\t1\nt\t4\t1\nt\t5\t0\n");
    }
}
