//! Mask files: intervals of bases to hide (`softmask=`, `xmask=`, `nmask=`, `{file}`; lastz-semantics 1.2).
//!
//! ```text
//! 1001 2000   # first and last base, 1-based, counted on the whole record; more words are ignored
//! ```
//!
//! The same intervals apply to every record of the sequence file. What lies beyond a record is cut off, and an interval
//! whose end is left of its start is empty.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};

/// What replaces the bases of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MaskKind {
    /// Lower case.
    Soft,
    /// `X`.
    X,
    /// `N`.
    N,
}

/// A mask action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MaskAction {
    pub kind: MaskKind,
    /// Mask everything except the intervals (`keep:`).
    pub keeps_intervals: bool,
    pub file: String,
}

/// A mask file that has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mask {
    kind: MaskKind,
    keeps_intervals: bool,
    /// 0-based, half-open, sorted, disjoint.
    intervals: Vec<(u64, u64)>,
}

impl Mask {
    /// Reads the file of an action.
    pub fn read(action: &MaskAction) -> Result<Mask> {
        let path = Path::new(&action.file);
        let text = fs::read(path).map_err(|source| Error::Io { action: "cannot read", path: path.into(), source })?;
        let mut intervals = Vec::new();
        for (line_ix, line) in text.split(|&b| b == b'\n').enumerate() {
            let line = String::from_utf8_lossy(line.split(|&b| b == b'#').next().unwrap_or_default());
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            match (words[0].parse::<u64>(), words.get(1).and_then(|word| word.parse::<u64>().ok())) {
                (Ok(first), Some(last)) => intervals.push((first.max(1) - 1, last)),
                _ => {
                    return Err(Error::input(
                        &action.file,
                        format!(
                            "line {}: bad interval \"{}\": two numbers are needed, first and last base (1-based); \
                             names are not supported here",
                            line_ix + 1,
                            line.trim()
                        ),
                    ));
                }
            }
        }
        Ok(Mask { kind: action.kind, keeps_intervals: action.keeps_intervals, intervals: union(intervals) })
    }

    /// Masks `bases`, which begin at base `offset` (0-based) of their record.
    pub fn apply(&self, bases: &mut [u8], offset: usize) {
        let end = offset as u64 + bases.len() as u64;
        let first = self.intervals.partition_point(|&(_, e)| e <= offset as u64);
        let mut position = offset as u64;
        for &(from, to) in &self.intervals[first..] {
            if from >= end {
                break;
            }
            let (from, to) = (from.max(position), to.min(end));
            let (masked_from, masked_to) = if self.keeps_intervals { (position, from) } else { (from, to) };
            self.hide(&mut bases[(masked_from as usize - offset)..(masked_to as usize - offset)]);
            position = to;
        }
        if self.keeps_intervals {
            self.hide(&mut bases[(position as usize - offset)..]);
        }
    }

    fn hide(&self, bases: &mut [u8]) {
        match self.kind {
            MaskKind::Soft => bases.make_ascii_lowercase(),
            MaskKind::X => bases.fill(b'X'),
            MaskKind::N => bases.fill(b'N'),
        }
    }
}

/// Sorted, disjoint, without the empty ones.
fn union(mut intervals: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    intervals.retain(|&(from, to)| from < to);
    intervals.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::with_capacity(intervals.len());
    for (from, to) in intervals {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn masked(text: &str, kind: MaskKind, keeps_intervals: bool, bases: &str, offset: usize) -> Result<String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let mask = Mask::read(&MaskAction { kind, keeps_intervals, file: file.path().display().to_string() })?;
        let mut bases = bases.as_bytes().to_vec();
        mask.apply(&mut bases, offset);
        Ok(String::from_utf8(bases).unwrap())
    }

    #[test]
    fn intervals_are_one_based_and_closed() {
        for (text, expected) in [
            ("2 4\n", "AXXXACGT"),
            ("0 2\n", "XXGTACGT"),
            ("1 1", "XCGTACGT"),
            ("7 500\n", "ACGTACXX"),
            ("20 30\n", "ACGTACGT"),
            ("4 2\n", "ACGTACGT"),
            ("0 0\n", "ACGTACGT"),
            ("6 7\n1 2\n", "XXGTAXXT"),
            ("1 3\n2 5\n5 5\n", "XXXXXCGT"),
            ("# c\n\n  2\t4 x # d\n", "AXXXACGT"),
            ("2 4\r\n", "AXXXACGT"),
            ("2 4 6 7\n", "AXXXACGT"),
            ("", "ACGTACGT"),
        ] {
            assert_eq!(masked(text, MaskKind::X, false, "ACGTACGT", 0).unwrap(), expected, "{text:?}");
        }
        assert_eq!(masked("2 4", MaskKind::Soft, false, "ACGTACGT", 0).unwrap(), "AcgtACGT");
        assert_eq!(masked("2 4", MaskKind::N, false, "ACGTACGT", 0).unwrap(), "ANNNACGT");
    }

    #[test]
    fn keep_masks_the_rest() {
        assert_eq!(masked("2 3\n5 5\n", MaskKind::X, true, "ACGTACGT", 0).unwrap(), "XCGXAXXX");
        assert_eq!(masked("", MaskKind::N, true, "ACGT", 0).unwrap(), "NNNN");
        assert_eq!(masked("9 9", MaskKind::Soft, true, "ACGT", 0).unwrap(), "acgt");
    }

    #[test]
    fn coordinates_are_those_of_the_whole_record() {
        assert_eq!(masked("5 14\n", MaskKind::X, false, "ACGTACGT", 10).unwrap(), "XXXXACGT");
        assert_eq!(masked("5 6\n13 14\n", MaskKind::X, true, "ACGTACGT", 10).unwrap(), "XXGTXXXX");
    }

    #[test]
    fn bad_lines_are_named() {
        for text in ["chr1 5 10", "5", "5 x", "5,10", "5..10", ">e", "5 1e1", "1.5 2", "1K 2K"] {
            let error = masked(&format!("1 2\n{text}\n"), MaskKind::X, false, "ACGT", 0).unwrap_err().to_string();
            assert!(error.contains("line 2: bad interval"), "{error}");
            assert_eq!(error.lines().count(), 1);
        }
    }
}
