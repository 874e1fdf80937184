//! sam and softsam (lastz-semantics 7.2). Every block is a full record; flags are 0 or 16 only.

use std::io::Write;
use std::ops::Range;

use crate::alignment::Block;
use crate::error::Result;
use crate::output::cigar::{CigarStyle, push_cigar};
use crate::output::columns::{Placed, Row};
use crate::output::{AlignmentWriter, RunInfo, SamKind, StrandView, refuse_reversed_target};
use crate::sequence::SequenceSet;

/// Flag of a query on its reverse strand.
const REVERSE_STRAND: u32 = 16;
/// SAM's mapping quality for "missing".
const MISSING_QUALITY: u32 = 255;
/// Stands for a clipped base that a subrange did not load.
const UNLOADED_BASE: u8 = b'n';
/// Stands for the quality of such a base.
const UNLOADED_QUALITY: u8 = b'!';

/// Writer of the sam kinds.
#[derive(Debug)]
pub(crate) struct SamWriter {
    kind: SamKind,
    sequences_listed: bool, // whether the @SQ lines are out
    text: Vec<u8>,
}

impl SamWriter {
    pub fn new(kind: SamKind) -> Self {
        SamWriter { kind, sequences_listed: false, text: Vec::new() }
    }

    fn push_record(&mut self, run: &RunInfo, placed: &Placed) -> std::io::Result<()> {
        let (target, query) = (&placed.target, &placed.query);
        let flag = if query.set.is_reversed { REVERSE_STRAND } else { 0 };
        let text = &mut self.text;
        text.extend_from_slice(query.name());
        write!(text, "\t{flag}\t")?;
        text.extend_from_slice(target.name());
        write!(text, "\t{}\t{MISSING_QUALITY}\t", target.start() + 1)?;
        let clips = [query.start(), query.full_len() - query.end()];
        let clip_letter = if self.kind.soft_clips { 'S' } else { 'H' };
        push_clip(text, clips[0], clip_letter)?;
        push_cigar(text, placed, if self.kind.splits_pairs { CigarStyle::EXTENDED } else { CigarStyle::PLAIN })?;
        push_clip(text, clips[1], clip_letter)?;
        text.extend_from_slice(b"\t*\t0\t0\t");
        self.push_sequence(query);
        self.text.push(b'\t');
        self.push_qualities(query);
        if let Some(id) = run.read_group.and_then(read_group_id) {
            write!(self.text, "\t{id}")?;
        }
        self.text.push(b'\n');
        Ok(())
    }

    /// Aligned bases in upper case; with soft clips the clipped ones around them in lower case.
    fn push_sequence(&mut self, query: &Row) {
        let text = &mut self.text;
        let aligned = query.first..query.first + query.len;
        let record = Record::of(query);
        if self.kind.soft_clips {
            text.resize(text.len() + record.unloaded[0], UNLOADED_BASE);
            text.extend(query.set.bases[record.loaded.start..aligned.start].iter().map(u8::to_ascii_lowercase));
        }
        text.extend(query.bases().iter().map(u8::to_ascii_uppercase));
        if self.kind.soft_clips {
            text.extend(query.set.bases[aligned.end..record.loaded.end].iter().map(u8::to_ascii_lowercase));
            text.resize(text.len() + record.unloaded[1], UNLOADED_BASE);
        }
    }

    fn push_qualities(&mut self, query: &Row) {
        let Some(qualities) = qualities_of_record(query) else {
            self.text.push(b'*');
            return;
        };
        let record = Record::of(query);
        if self.kind.soft_clips {
            let text = &mut self.text;
            text.resize(text.len() + record.unloaded[0], UNLOADED_QUALITY);
            text.extend_from_slice(&qualities);
            text.resize(text.len() + record.unloaded[1], UNLOADED_QUALITY);
        } else {
            let first = query.first - record.loaded.start;
            self.text.extend_from_slice(&qualities[first..first + query.len]);
        }
    }
}

/// The record that a row lies on: with soft clips LASTZ prints the array from its start to its end. So a piece between
/// separators has around it the NULs and the other pieces, in the order of the file on either strand, and may stand
/// elsewhere than its clips say.
struct Record {
    loaded: Range<usize>,
    /// Bases that a subrange left out, before and behind, on the strand of the array.
    unloaded: [usize; 2],
}

impl Record {
    fn of(row: &Row) -> Self {
        let partition = row.partition;
        let loaded = partition.piece_of.as_ref().map_or(&partition.range, |record| &record.range).clone();
        let before = partition.offset - (partition.range.start - loaded.start);
        let after = partition.full_len - before - loaded.len();
        let unloaded = if row.set.is_reversed { [after, before] } else { [before, after] };
        Record { loaded, unloaded }
    }
}

/// Qualities of what is loaded of the record, each piece on the strand of the array.
fn qualities_of_record(row: &Row) -> Option<Vec<u8>> {
    let partition = row.partition;
    let (range, pieces) = match &partition.piece_of {
        Some(record) => (&record.range, row.set.partitions_within(&record.range)),
        None => (&partition.range, std::slice::from_ref(partition)),
    };
    let qualities = partition.piece_of.as_ref().map_or(&partition.qualities, |record| &record.qualities);
    let mut qualities = qualities.clone()?;
    if row.set.is_reversed {
        for piece in pieces {
            qualities[piece.range.start - range.start..piece.range.end - range.start].reverse();
        }
    }
    Some(qualities)
}

fn push_clip(out: &mut Vec<u8>, count: usize, letter: char) -> std::io::Result<()> {
    if count > 0 {
        write!(out, "{count}{letter}")?;
    }
    Ok(())
}

/// The `ID:..` part of a read group; records carry it as it stands (7.2).
fn read_group_id(read_group: &str) -> Option<&str> {
    read_group.split('\t').find(|part| part.starts_with("ID:"))
}

fn push_target_sequences(out: &mut Vec<u8>, target: &SequenceSet) -> std::io::Result<()> {
    let mut empty_records = target.empty_records.iter().peekable();
    for partition in &target.partitions {
        while let Some(empty) = empty_records.next_if(|empty| empty.start < partition.range.start) {
            push_target_sequence(out, &empty.name, 0)?;
        }
        push_target_sequence(out, &partition.name, partition.full_len)?;
    }
    empty_records.try_for_each(|empty| push_target_sequence(out, &empty.name, 0))
}

fn push_target_sequence(out: &mut Vec<u8>, name: &[u8], full_len: usize) -> std::io::Result<()> {
    out.extend_from_slice(b"@SQ\tSN:");
    out.extend_from_slice(name);
    writeln!(out, "\tLN:{full_len}")
}

impl AlignmentWriter for SamWriter {
    fn begin(&mut self, run: &RunInfo, out: &mut dyn Write) -> Result<()> {
        if self.kind.header {
            out.write_all(b"@HD\tVN:1.0\tSO:unsorted\n")?;
            if let Some(read_group) = run.read_group {
                writeln!(out, "@RG\t{read_group}")?;
            }
        }
        Ok(())
    }

    fn strand(&mut self, run: &RunInfo, view: &StrandView, blocks: &[Block], out: &mut dyn Write) -> Result<()> {
        for block in blocks {
            self.text.clear();
            if self.kind.header && !self.sequences_listed {
                push_target_sequences(&mut self.text, view.target)?;
                self.sequences_listed = true;
            }
            if view.target.is_reversed {
                out.write_all(&self.text)?;
                refuse_reversed_target(view, "sam")?;
            }
            self.push_record(run, &Placed::new(view, block))?;
            out.write_all(&self.text)?;
        }
        Ok(())
    }
}
