//! Values of the fields of general for one block (lastz-semantics 7.1).

use std::cell::OnceCell;
use std::io::Write;
use std::ops::Range;

use super::field::{DifferenceLetters, Field, Of, RatioColumns};
use crate::alignment::EditOp;
use crate::error::Result;
use crate::output::RunInfo;
use crate::output::blastn::push_blast_identity;
use crate::output::cigar::push_cigar;
use crate::output::columns::{Counts, PairKind, Placed, Ratio, Row, pair_kind};
use crate::sequence::complement;

/// A block and what its fields share.
pub(super) struct RowContext<'a> {
    run: &'a RunInfo<'a>,
    placed: &'a Placed<'a>,
    rows_before: u64,
    counts: OnceCell<Counts>,
}

impl<'a> RowContext<'a> {
    pub fn new(run: &'a RunInfo<'a>, placed: &'a Placed<'a>, rows_before: u64) -> Self {
        RowContext { run, placed, rows_before, counts: OnceCell::new() }
    }

    fn counts(&self) -> &Counts {
        self.counts.get_or_init(|| self.placed.counts())
    }

    fn row(&self, of: Of) -> &Row<'a> {
        match of {
            Of::Target => &self.placed.target,
            Of::Query => &self.placed.query,
        }
    }

    /// Appends the value of `field`.
    pub fn push_field(&self, out: &mut Vec<u8>, field: Field) -> Result<()> {
        let query = &self.placed.query;
        match field {
            Field::Score => write!(out, "{}", self.placed.block.score)?,
            Field::Name(of) => out.extend_from_slice(self.row(of).name()),
            Field::Number(of) => write!(out, "{}", self.row(of).partition.record)?,
            Field::Strand(of) => write!(out, "{}", self.row(of).set.strand())?,
            Field::Size(of) => write!(out, "{}", self.row(of).full_len())?,
            Field::Start(of) => write!(out, "{}", self.row(of).start() + 1)?,
            Field::ZStart(of) => write!(out, "{}", self.row(of).start())?,
            Field::End(of) => write!(out, "{}", self.row(of).end())?,
            Field::Length(of) => write!(out, "{}", self.row(of).len)?,
            Field::StartPlus => write!(out, "{}", query.forward().0 + 1)?,
            Field::ZStartPlus => write!(out, "{}", query.forward().0)?,
            Field::EndPlus => write!(out, "{}", query.forward().1)?,
            Field::Text(Of::Target, _) => self.placed.push_target_text(out),
            Field::Text(Of::Query, _) => self.placed.push_query_text(out),
            Field::QAlign(of) => self.push_aligned_qualities(out, of),
            Field::Nucs(of) => push_forward_bases(out, self.row(of)),
            Field::Quals(of) => self.push_qualities(out, of),
            Field::NMatch => write!(out, "{}", self.counts().matches)?,
            Field::NMismatch => write!(out, "{}", self.counts().mismatches())?,
            Field::NPair => write!(out, "{}", self.counts().base_pairs)?,
            Field::NColumn => write!(out, "{}", self.counts().columns())?,
            Field::NGap => write!(out, "{}", self.counts().gap_runs)?,
            Field::CGap => write!(out, "{}", self.counts().gap_columns)?,
            Field::Identity(columns) => push_ratio(out, self.counts().identity(), columns)?,
            Field::BlastIdentity => push_blast_identity(out, self.run, self.counts())?,
            Field::Coverage(columns) => push_ratio(out, self.placed.coverage(), columns)?,
            Field::Continuity(columns) => push_ratio(out, self.counts().continuity(), columns)?,
            Field::GapRate => push_ratio(out, self.counts().gap_rate(), RatioColumns::Both)?,
            Field::Diagonal => write!(out, "{}", self.diagonal())?,
            Field::Shingle => self.push_shingle(out)?,
            Field::LineNumber => write!(out, "{}", self.rows_before + 1)?,
            Field::ZLineNumber => write!(out, "{}", self.rows_before)?,
            Field::Cigar(style) => push_cigar(out, self.placed, style)?,
            Field::Differences(letters) => self.push_differences(out, letters),
            Field::NotAvailable | Field::Chore => out.extend_from_slice(b"NA"),
            Field::Tilde => out.push(b'~'),
            Field::Newline => out.push(b'\n'),
        }
        Ok(())
    }

    fn diagonal(&self) -> i64 {
        self.placed.target.start() as i64 - self.placed.query.start() as i64
    }

    /// How far the end of one sequence overlaps the start of the other, if the block lies so (7.1).
    fn push_shingle(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        let loaded = |of: Of| self.row(of).partition.len() as i64;
        let (target_len, query_len) = (loaded(Of::Target), loaded(Of::Query));
        let diagonal = self.diagonal();
        let overlap = match diagonal {
            ..0 => Some(query_len + diagonal).filter(|&overlap| overlap < target_len).map(|overlap| -overlap),
            0 => None,
            1.. => Some(target_len - diagonal).filter(|&overlap| overlap < query_len),
        };
        match overlap {
            Some(overlap) if overlap != 0 => write!(out, "{overlap}"),
            _ => out.write_all(b"NA"),
        }
    }

    fn push_differences(&self, out: &mut Vec<u8>, letters: DifferenceLetters) {
        let [equal, transition, transversion, query_gap, target_gap, other] = letters.0;
        for run in self.placed.runs() {
            match run.op {
                EditOp::Deletion => out.resize(out.len() + run.len(), query_gap),
                EditOp::Insertion => out.resize(out.len() + run.len(), target_gap),
                EditOp::Pair => out.extend(run.target.iter().zip(run.query).map(|(&t, &q)| match pair_kind(t, q) {
                    PairKind::Match => equal,
                    PairKind::Transition => transition,
                    PairKind::Transversion => transversion,
                    PairKind::Other => other,
                })),
            }
        }
    }

    /// Nothing if there are none; the table has refused that.
    fn push_qualities(&self, out: &mut Vec<u8>, of: Of) {
        out.extend_from_slice(self.row(of).partition.qualities.as_deref().unwrap_or_default());
    }

    /// Qualities of the aligned part on the printed strand, `~` in gaps.
    fn push_aligned_qualities(&self, out: &mut Vec<u8>, of: Of) {
        let row = self.row(of);
        let Some(qualities) = &row.partition.qualities else {
            out.push(b'*');
            return;
        };
        let array = row.partition.range.clone();
        for run in self.placed.runs() {
            let (before, letters) = match of {
                Of::Target => (run.target_before, run.target),
                Of::Query => (run.query_before, run.query),
            };
            if letters.is_empty() {
                out.resize(out.len() + run.len(), b'~');
            } else if self.run.gapped {
                let first = row.first + before - array.start;
                push_on_strand(out, qualities, row.set.is_reversed, first..first + letters.len());
            } else {
                push_shifted_qualities(out, row);
            }
        }
    }
}

fn push_on_strand(out: &mut Vec<u8>, qualities: &[u8], is_reversed: bool, range: Range<usize>) {
    match is_reversed {
        true => out.extend(qualities[qualities.len() - range.end..qualities.len() - range.start].iter().rev()),
        false => out.extend_from_slice(&qualities[range]),
    }
}

/// Without gapped extension LASTZ takes the 1-based start on the whole record for a 0-based array position, so it shows
/// qualities of other bases, those of another sequence included, and NUL where there is no base (1.10).
fn push_shifted_qualities(out: &mut Vec<u8>, row: &Row) {
    let first = row.start() + 1;
    for position in first..first + row.len {
        let partition = row.set.partitions.iter().find(|partition| partition.range.contains(&position));
        match partition.and_then(|partition| Some((partition, partition.qualities.as_deref()?))) {
            Some((partition, qualities)) => {
                let i = position - partition.range.start;
                push_on_strand(out, qualities, row.set.is_reversed, i..i + 1);
            }
            None => out.push(0),
        }
    }
}

/// Appends the loaded bases in the orientation of the file.
fn push_forward_bases(out: &mut Vec<u8>, row: &Row) {
    let bases = &row.set.bases[row.partition.range.clone()];
    match row.set.is_reversed {
        true => out.extend(bases.iter().rev().map(|&base| complement(base))),
        false => out.extend_from_slice(bases),
    }
}

fn push_ratio(out: &mut Vec<u8>, ratio: Ratio, columns: RatioColumns) -> std::io::Result<()> {
    if columns != RatioColumns::Percent {
        ratio.push_fraction(out)?;
    }
    if columns == RatioColumns::Both {
        out.push(b'\t');
    }
    if columns != RatioColumns::Fraction {
        ratio.push_percent(out)?;
    }
    Ok(())
}
