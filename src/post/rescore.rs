//! A path seen from scratch: its score, its loose ends, and the counts of its columns.

use crate::alignment::{Block, EditOp, EditScript};
use crate::scoring::{Scoring, WORST_SCORE};

/// Score of a path that starts at the given array positions: MATCH of every pair, open and extend for every gap run
/// (lastz-semantics 5.5). A path without a pair gets the worst score.
pub fn score_of(
    script: &EditScript,
    target: &[u8],
    query: &[u8],
    target_start: usize,
    query_start: usize,
    scoring: &Scoring,
) -> i64 {
    let (mut t, mut q) = (target_start, query_start);
    let mut score = 0;
    let mut has_pairs = false;
    for &(op, len) in script.runs() {
        let n = len as usize;
        match op {
            EditOp::Pair => {
                has_pairs = true;
                let pairs = target[t..t + n].iter().zip(&query[q..q + n]);
                score += pairs.map(|(&a, &b)| i64::from(scoring.gapped.get(a, b))).sum::<i64>();
                t += n;
                q += n;
            }
            EditOp::Insertion => {
                score -= scoring.gap_cost(len);
                q += n;
            }
            EditOp::Deletion => {
                score -= scoring.gap_cost(len);
                t += n;
            }
        }
    }
    if has_pairs { score } else { i64::from(WORST_SCORE) }
}

/// Cuts gap runs off both ends of a block; if there were any, the rest is scored from scratch (5.5). A block of gaps
/// only ends up empty with the worst score.
pub fn trim_end_gaps(block: &mut Block, target: &[u8], query: &[u8], scoring: &Scoring) {
    let runs = block.script.runs();
    let is_pair = |&(op, _): &(EditOp, u32)| op == EditOp::Pair;
    let first = runs.iter().position(is_pair).unwrap_or(runs.len());
    let end = runs.iter().rposition(is_pair).map_or(first, |last| last + 1);
    if first == 0 && end == runs.len() {
        return;
    }
    for &(op, len) in &runs[..first] {
        match op {
            EditOp::Insertion => block.query_start += len as usize,
            _ => block.target_start += len as usize,
        }
    }
    block.script = runs[first..end].iter().copied().collect();
    block.score = score_of(&block.script, target, query, block.target_start, block.query_start, scoring);
}

/// What the columns of a block are (lastz-semantics 7.1). Filters and writers use it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnCounts {
    /// Pairs of one target base and one query base, whatever they are: CIGAR `M`.
    pub pairs: u64,
    /// Pairs where both are A, C, G or T in any case (`npair`).
    pub acgt_pairs: u64,
    /// Equal ones among them (`nmatch`).
    pub matches: u64,
    /// Target bases against a gap.
    pub deleted: u64,
    /// Query bases against a gap.
    pub inserted: u64,
    /// Runs of insertions and runs of deletions (`ngap`); where they touch they are two.
    pub gaps: u64,
}

impl ColumnCounts {
    /// Counts the columns of `block`.
    pub fn of(block: &Block, target: &[u8], query: &[u8]) -> Self {
        let (mut t, mut q) = (block.target_start, block.query_start);
        let mut counts = ColumnCounts::default();
        for &(op, len) in block.script.runs() {
            let n = len as usize;
            match op {
                EditOp::Pair => {
                    counts.pairs += u64::from(len);
                    for (&a, &b) in target[t..t + n].iter().zip(&query[q..q + n]) {
                        let (a, b) = (BASE[a as usize], BASE[b as usize]);
                        let is_acgt = a | b < NO_BASE;
                        counts.acgt_pairs += u64::from(is_acgt);
                        counts.matches += u64::from(is_acgt & (a == b));
                    }
                    t += n;
                    q += n;
                }
                EditOp::Insertion => {
                    counts.inserted += u64::from(len);
                    q += n;
                }
                EditOp::Deletion => {
                    counts.deleted += u64::from(len);
                    t += n;
                }
            }
            counts.gaps += u64::from(op != EditOp::Pair);
        }
        counts
    }

    /// Pairs of different ACGT bases (`nmismatch`).
    pub fn mismatches(&self) -> u64 {
        self.acgt_pairs - self.matches
    }

    /// Gap columns (`cgap`).
    pub fn gap_columns(&self) -> u64 {
        self.deleted + self.inserted
    }

    /// All columns (`ncolumn`).
    pub fn columns(&self) -> u64 {
        self.pairs + self.gap_columns()
    }
}

/// Whether a letter is A, C, G or T in any case.
pub fn is_acgt(base: u8) -> bool {
    BASE[base as usize] < NO_BASE
}

/// What [`BASE`] holds for bytes other than A, C, G and T.
const NO_BASE: u8 = 4;

/// Number of each base, in any case.
const BASE: [u8; 256] = {
    let mut table = [NO_BASE; 256];
    let mut number = 0;
    while number < 4 {
        let base = b"ACGT"[number];
        table[base as usize] = number as u8;
        table[base.to_ascii_lowercase() as usize] = number as u8;
        number += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use EditOp::{Deletion, Insertion, Pair};

    fn block(target_start: usize, query_start: usize, runs: &[(EditOp, u32)]) -> Block {
        Block { target_start, query_start, script: runs.iter().copied().collect(), score: 1 }
    }

    #[test]
    fn every_gap_run_pays_its_opening() {
        let script: EditScript = [(Pair, 2), (Insertion, 3), (Deletion, 1), (Pair, 1)].into_iter().collect();
        let score = score_of(&script, b"ACGT", b"ACTTTT", 0, 0, &Scoring::default());
        assert_eq!(score, 91 + 100 - (400 + 90) - (400 + 30) + 91);
    }

    #[test]
    fn end_gaps_are_cut_and_the_rest_rescored() {
        let scoring = Scoring::default();
        let mut cut = block(1, 0, &[(Insertion, 2), (Deletion, 1), (Pair, 2), (Deletion, 2)]);
        trim_end_gaps(&mut cut, b"AAACGG", b"TTACG", &scoring);
        assert_eq!(cut, Block { score: 191, ..block(2, 2, &[(Pair, 2)]) });
        let mut whole = block(2, 2, &[(Pair, 2)]);
        trim_end_gaps(&mut whole, b"AAACGG", b"TTACG", &scoring);
        assert_eq!(whole.score, 1, "nothing to cut: the score stays");
        let mut gaps = block(0, 0, &[(Insertion, 2), (Deletion, 1)]);
        trim_end_gaps(&mut gaps, b"AAACGG", b"TTACG", &scoring);
        assert!(gaps.script.is_empty());
        assert_eq!(gaps.score, i64::from(WORST_SCORE));
    }

    #[test]
    fn columns_are_counted_as_lastz_does() {
        let runs = [(Pair, 4), (Insertion, 2), (Deletion, 1), (Pair, 2), (Deletion, 3), (Pair, 1)];
        let counts = ColumnCounts::of(&block(0, 0, &runs), b"aCNxGTTGGGA", b"AgNNccTAA");
        let expected = ColumnCounts { pairs: 7, acgt_pairs: 5, matches: 3, deleted: 4, inserted: 2, gaps: 3 };
        assert_eq!(counts, expected);
        assert_eq!((counts.mismatches(), counts.gap_columns(), counts.columns()), (2, 6, 13));
    }
}
