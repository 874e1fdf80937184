//! A block laid over its two sequences: coordinates, runs of letters, and counts of columns.
//!
//! Blocks carry array positions; this is the one place that turns them into what files show (lastz-semantics 7).

use std::io::Write;

use crate::alignment::{Block, EditOp};
use crate::output::StrandView;
use crate::post::rescore::ColumnCounts;
use crate::scoring::Matrix;
use crate::sequence::{Partition, SequenceSet};

/// Class of every byte that is not A, C, G or T in either case.
const OTHER: u8 = 4;

/// A 0, C 1, G 2, T 3 in either case: a transition flips bit 1.
const CLASS: [u8; 256] = {
    let mut table = [OTHER; 256];
    let letters = *b"ACGT";
    let mut i = 0;
    while i < letters.len() {
        table[letters[i] as usize] = i as u8;
        table[letters[i].to_ascii_lowercase() as usize] = i as u8;
        i += 1;
    }
    table
};

/// What a column with two letters shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairKind {
    /// The same base of A, C, G, T; case does not matter.
    Match,
    /// A against G, C against T.
    Transition,
    /// Another pair of two bases.
    Transversion,
    /// At least one letter is no base (N, X, IUPAC code, digit).
    Other,
}

/// What the pair of letters shows.
pub(crate) fn pair_kind(target: u8, query: u8) -> PairKind {
    let (t, q) = (CLASS[target as usize], CLASS[query as usize]);
    match (t | q < OTHER, t ^ q) {
        (false, _) => PairKind::Other,
        (true, 0) => PairKind::Match,
        (true, 2) => PairKind::Transition,
        (true, _) => PairKind::Transversion,
    }
}

/// Whether both letters are the same base of A, C, G, T.
#[inline]
pub(crate) fn is_match(target: u8, query: u8) -> bool {
    let class = CLASS[target as usize];
    class < OTHER && class == CLASS[query as usize]
}

/// Whether `differences` lists the pair: the bases differ, or a base stands against another letter. Two letters that are
/// no bases never differ. With `--ambiguous` only two bases can differ.
pub(crate) fn is_difference(target: u8, query: u8, ambiguous: bool) -> bool {
    let (t, q) = (CLASS[target as usize], CLASS[query as usize]);
    t != q && (!ambiguous || t | q < OTHER)
}

/// Matches among the pairs of two equally long slices.
pub(crate) fn match_count(target: &[u8], query: &[u8]) -> usize {
    target.iter().zip(query).filter(|&(&t, &q)| is_match(t, q)).count()
}

/// Pairs of two bases of A, C, G, T.
pub(crate) fn base_pair_count(target: &[u8], query: &[u8]) -> usize {
    target.iter().zip(query).filter(|&(&t, &q)| CLASS[t as usize] | CLASS[q as usize] < OTHER).count()
}

/// Sum of the scores of all pairs.
pub(crate) fn pair_score(matrix: &Matrix, target: &[u8], query: &[u8]) -> i64 {
    target.iter().zip(query).map(|(&t, &q)| i64::from(matrix.get(t, q))).sum()
}

/// One row of a block: which sequence, and where on it.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    /// The sequences of this side.
    pub set: &'a SequenceSet,
    /// The sequence that the block lies on.
    pub partition: &'a Partition,
    /// Array position of the first base.
    pub first: usize,
    /// Bases of the block.
    pub len: usize,
}

impl<'a> Row<'a> {
    fn new(set: &'a SequenceSet, first: usize, len: usize) -> Self {
        Row { set, partition: set.partition_at(first), first, len }
    }

    /// The letters, without gaps.
    pub fn bases(&self) -> &'a [u8] {
        &self.set.bases[self.first..self.first + self.len]
    }

    /// 0-based start on the printed strand, counted over the whole record.
    pub fn start(&self) -> usize {
        self.partition.strand_start(self.set.is_reversed) + self.loaded_start()
    }

    /// 0-based exclusive end (the same number as the 1-based inclusive one).
    pub fn end(&self) -> usize {
        self.start() + self.len
    }

    /// 0-based start within the loaded part, on the printed strand.
    pub fn loaded_start(&self) -> usize {
        self.first - self.partition.range.start
    }

    /// 0-based `(start, end)` on the forward strand of the file, start <= end.
    pub fn forward(&self) -> (usize, usize) {
        match self.set.is_reversed {
            true => (self.partition.full_len - self.end(), self.partition.full_len - self.start()),
            false => (self.start(), self.end()),
        }
    }

    /// Bases of the whole record.
    pub fn full_len(&self) -> usize {
        self.partition.full_len
    }

    /// Short name; the bytes of the file, which need not be text.
    pub fn name(&self) -> &'a [u8] {
        &self.partition.name
    }
}

/// Columns of one kind, with their letters. The slice of the gapped side is empty.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    /// Kind of the columns.
    pub op: EditOp,
    /// Target letters.
    pub target: &'a [u8],
    /// Query letters.
    pub query: &'a [u8],
    /// Target bases of the block before this run.
    pub target_before: usize,
    /// Query bases of the block before this run.
    pub query_before: usize,
}

impl Run<'_> {
    /// Columns.
    pub fn len(&self) -> usize {
        self.target.len().max(self.query.len())
    }
}

/// A block with its sequences.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'a> {
    /// The block.
    pub block: &'a Block,
    /// Its target row.
    pub target: Row<'a>,
    /// Its query row.
    pub query: Row<'a>,
}

impl<'a> Placed<'a> {
    /// Lays `block` over the sequences of `view`.
    pub fn new(view: &StrandView<'a>, block: &'a Block) -> Self {
        let target = Row::new(view.target, block.target_start, block.script.target_len());
        let query = Row::new(view.query, block.query_start, block.script.query_len());
        Placed { block, target, query }
    }

    /// The runs of columns in order.
    pub fn runs(&self) -> impl Iterator<Item = Run<'a>> + use<'a> {
        let (target, query) = (self.target.bases(), self.query.bases());
        let (mut target_before, mut query_before) = (0, 0);
        self.block.script.runs().iter().map(move |&(op, len)| {
            let len = len as usize;
            let target_len = if op == EditOp::Insertion { 0 } else { len };
            let query_len = if op == EditOp::Deletion { 0 } else { len };
            let run = Run {
                op,
                target: &target[target_before..target_before + target_len],
                query: &query[query_before..query_before + query_len],
                target_before,
                query_before,
            };
            target_before += target_len;
            query_before += query_len;
            run
        })
    }

    /// The runs of pairs in order. LASTZ has an empty one between two gaps that touch.
    pub fn pair_runs(&self) -> impl Iterator<Item = Run<'a>> + use<'a> {
        let mut after_gap = false;
        self.runs().filter_map(move |run| {
            let is_gap = run.op != EditOp::Pair;
            let between_gaps = std::mem::replace(&mut after_gap, is_gap) && is_gap;
            let empty = Run { op: EditOp::Pair, target: &[], query: &[], ..run };
            if is_gap { between_gaps.then_some(empty) } else { Some(run) }
        })
    }

    /// The runs of pairs as blocks of their own, each with the sum of its pair scores.
    pub fn segments(&self, matrix: &'a Matrix) -> impl Iterator<Item = Block> + use<'a> {
        let (target_start, query_start) = (self.block.target_start, self.block.query_start);
        self.pair_runs().map(move |run| Block {
            target_start: target_start + run.target_before,
            query_start: query_start + run.query_before,
            script: crate::alignment::EditScript::pairs(run.len() as u32),
            score: pair_score(matrix, run.target, run.query),
        })
    }

    /// Appends the target row with dashes.
    pub fn push_target_text(&self, out: &mut Vec<u8>) {
        self.runs().for_each(|run| push_letters_or_gap(out, run.target, run.len()));
    }

    /// Appends the query row with dashes.
    pub fn push_query_text(&self, out: &mut Vec<u8>) {
        self.runs().for_each(|run| push_letters_or_gap(out, run.query, run.len()));
    }

    /// Counts of columns.
    pub fn counts(&self) -> Counts {
        let counts = ColumnCounts::of(self.block, &self.target.set.bases, &self.query.set.bases);
        Counts {
            pair_columns: counts.pairs as usize,
            base_pairs: counts.acgt_pairs as usize,
            matches: counts.matches as usize,
            gap_columns: counts.gap_columns() as usize,
            gap_runs: counts.gaps as usize,
        }
    }

    /// Covered and full length of the shorter sequence, the query if equal (7.1 `coverage`).
    pub fn coverage(&self) -> Ratio {
        match self.target.full_len() < self.query.full_len() {
            true => Ratio { part: self.target.len, whole: self.target.full_len() },
            false => Ratio { part: self.query.len, whole: self.query.full_len() },
        }
    }
}

fn push_letters_or_gap(out: &mut Vec<u8>, letters: &[u8], columns: usize) {
    match letters.is_empty() {
        true => out.resize(out.len() + columns, b'-'),
        false => out.extend_from_slice(letters),
    }
}

/// Counts of columns of a block (7.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Columns with two letters.
    pub pair_columns: usize,
    /// Those where both letters are one of A, C, G, T.
    pub base_pairs: usize,
    /// Those where they are equal.
    pub matches: usize,
    /// Columns with a gap.
    pub gap_columns: usize,
    /// Runs of such columns.
    pub gap_runs: usize,
}

impl Counts {
    /// All columns.
    pub fn columns(&self) -> usize {
        self.pair_columns + self.gap_columns
    }

    /// Base pairs that are no matches.
    pub fn mismatches(&self) -> usize {
        self.base_pairs - self.matches
    }

    /// Matches of base pairs.
    pub fn identity(&self) -> Ratio {
        Ratio { part: self.matches, whole: self.base_pairs }
    }

    /// Columns without a gap.
    pub fn continuity(&self) -> Ratio {
        Ratio { part: self.pair_columns, whole: self.columns() }
    }

    /// Gap columns against columns without a gap.
    pub fn gap_rate(&self) -> Ratio {
        Ratio { part: self.gap_columns, whole: self.pair_columns }
    }
}

/// A ratio that files show as `part/whole` and as a percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ratio {
    /// Numerator.
    pub part: usize,
    /// Denominator; 0 shows as `NA`.
    pub whole: usize,
}

impl Ratio {
    /// Appends `part/whole`.
    pub fn push_fraction(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        write!(out, "{}/{}", self.part, self.whole)
    }

    /// Appends the percentage with one decimal, or `NA`.
    pub fn push_percent(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        match self.whole {
            0 => out.write_all(b"NA"),
            whole => write!(out, "{:.1}%", 100.0 * self.part as f64 / whole as f64),
        }
    }
}
