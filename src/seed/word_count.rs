//! Removal of frequent words from the table (`--maxwordcount`, lastz-semantics 2.7).

use super::word_table::WordTable;
use crate::options::WordCountLimit;

/// Removes the windows of words that exceed the limit; the words stay known, with fewer windows or none.
pub(super) fn limit(table: &mut WordTable, limit: WordCountLimit, step: u32) {
    let (max, spacing) = match limit {
        WordCountLimit::Count(max) => (max, None),
        WordCountLimit::CountWithSpacing(max, spacing) => (max, Some(spacing)),
        WordCountLimit::Percent(percent) => (count_that_covers(table, percent), None),
        WordCountLimit::PercentWithSpacing(percent, spacing) => (count_that_covers(table, percent), Some(spacing)),
    };
    let survivors = spacing.map(|spacing| survivors(table, max, spacing, step));
    let survives = |end: u32| survivors.as_ref().is_some_and(|s| s.contains(end / step));
    let mut n_kept = 0;
    for word in 0..table.starts.len() - 1 {
        let windows = table.starts[word] as usize..table.starts[word + 1] as usize;
        table.starts[word] = n_kept;
        let is_frequent = windows.len() > max as usize;
        for i in windows {
            let end = table.ends[i];
            if !is_frequent || survives(end) {
                table.ends[n_kept as usize] = end;
                n_kept += 1;
            }
        }
    }
    *table.starts.last_mut().expect("one entry more than words") = n_kept;
    table.ends.truncate(n_kept as usize);
    table.ends.shrink_to_fit();
}

fn counts(table: &WordTable) -> impl Iterator<Item = u32> {
    table.starts.windows(2).map(|start| start[1] - start[0])
}

/// The smallest count such that words with at most that many windows hold this percentage of all windows.
fn count_that_covers(table: &WordTable, percent: f64) -> u32 {
    let mut sorted: Vec<u32> = counts(table).collect();
    sorted.sort_unstable();
    let wanted = percent * table.ends.len() as f64;
    let mut covered = 0u64;
    for count in sorted {
        covered += u64::from(count);
        if covered as f64 * 100.0 >= wanted {
            return count;
        }
    }
    u32::MAX
}

/// Windows of frequent words that stay. In each run of n neighbouring windows that would all go, as many stay, evenly
/// spaced, as leave no more than `spacing` bases without a window. Windows count in units of the step; none stays if
/// the spacing is less than that.
fn survivors(table: &WordTable, max: u32, spacing: u32, step: u32) -> WindowSet {
    let last = table.ends.iter().copied().max().unwrap_or(0) / step;
    let mut removed = WindowSet::up_to(last);
    for word in table.starts.windows(2).filter(|word| word[1] - word[0] > max) {
        table.ends[word[0] as usize..word[1] as usize].iter().for_each(|end| removed.insert(end / step));
    }
    let mut survivors = WindowSet::up_to(last);
    let mut unit = 0;
    while unit <= last {
        if !removed.contains(unit) {
            unit += 1;
            continue;
        }
        let first = unit;
        while unit <= last && removed.contains(unit) {
            unit += 1;
        }
        let run = u64::from(unit - first);
        let n_staying = if spacing < step { 0 } else { run / (u64::from(spacing / step) + 1) };
        for i in 1..=n_staying {
            // first - 1 + i * (run + 1) / (n_staying + 1), rounded half up
            let offset = (2 * i * (run + 1) + n_staying + 1) / (2 * (n_staying + 1));
            survivors.insert(first + offset as u32 - 1);
        }
    }
    survivors
}

/// A set of windows, by end position in units of the step.
struct WindowSet {
    bits: Vec<u64>,
}

impl WindowSet {
    fn up_to(last: u32) -> Self {
        WindowSet { bits: vec![0; last as usize / 64 + 1] }
    }
    fn insert(&mut self, unit: u32) {
        self.bits[unit as usize / 64] |= 1 << (unit % 64);
    }
    fn contains(&self, unit: u32) -> bool {
        self.bits[unit as usize / 64] >> (unit % 64) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use crate::options::{SeedOptions, WordCountLimit};
    use crate::seed::{SeedPattern, WordTable};
    use crate::sequence::SequenceSet;

    /// Ends that survive in a run of 60 A, then 100 bases in which every word of six occurs once.
    fn survivors(limit: WordCountLimit, step: u32) -> Vec<u32> {
        let mut text = vec![b'A'; 60];
        text.extend_from_slice(
            b"CATTGCAGGTCCATACGTTAGACCTGATCGCCGAATGTGGCTTACTCAAGTAGCGATTCTGTTTGAGAGCACTATCACCCGTGCTAAGGCGTCGGA",
        );
        let seed = SeedOptions {
            pattern: SeedPattern::contiguous(6).unwrap(),
            step,
            word_count_limit: Some(limit),
            ..SeedOptions::default()
        };
        let table = WordTable::build(&SequenceSet::single("t", &text), &seed).unwrap();
        let mut ends: Vec<u32> = table.ends.into_iter().filter(|&end| end <= 60).collect();
        ends.sort_unstable();
        ends
    }

    // The expected numbers are LASTZ's own, seen with --tableonly.
    #[test]
    fn frequent_words_go_and_leave_evenly_spaced_survivors() {
        assert_eq!(survivors(WordCountLimit::Count(55), 1).len(), 55);
        assert_eq!(survivors(WordCountLimit::Count(54), 1), []);
        assert_eq!(survivors(WordCountLimit::Percent(50.0), 1), []);
        assert_eq!(survivors(WordCountLimit::Percent(99.0), 1).len(), 55);
        assert_eq!(survivors(WordCountLimit::PercentWithSpacing(50.0, 10), 1), [14, 24, 33, 42, 52]);
        assert_eq!(survivors(WordCountLimit::CountWithSpacing(2, 10), 1), [14, 24, 33, 42, 52]);
        assert_eq!(survivors(WordCountLimit::CountWithSpacing(2, 10), 7), [14, 28, 35, 49]);
        assert_eq!(survivors(WordCountLimit::CountWithSpacing(2, 6), 7), []);
    }
}
