//! From records to a [`SequenceSet`]: masks, names, separators and reversal, in LASTZ's order.
//!
//! The order is: subrange, `unmask`, soft, X and N masks, separators, and at last the reverse complement of every
//! partition in its place (lastz-semantics 1.5, 1.8).

use bstr::{BStr, ByteSlice};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::Arc;

use super::ReadOptions;
use super::mask::{Mask, MaskKind};
use super::name::{Heading, NameRule};
use super::record::{Extent, RecordReader};
use super::selection::{Selected, Selection};
use super::specifier::Specifier;
use crate::error::Result;
use crate::sequence::{EmptyRecord, Partition, SEPARATOR, STAND_IN_NAMES, SequenceSet, SplitRecord, complement};

/// Which side of the comparison a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Target,
    Query,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::Target => "target",
            Role::Query => "query",
        }
    }

    /// The name of a sequence that has none.
    fn nameless(self) -> &'static str {
        match self {
            Role::Target => STAND_IN_NAMES[0],
            Role::Query => STAND_IN_NAMES[1],
        }
    }
}

/// Turns the selected records of a file into sets.
pub(super) struct Assembler {
    spec: Specifier,
    options: ReadOptions,
    role: Role,
    selection: Selection,
    masks: Vec<Mask>,
    /// The record after the last one read, if already looked for.
    upcoming: Option<Option<Selected>>,
    /// Hashes of the names so far.
    names: HashSet<u64>,
    hashes: RandomState,
    has_warned_of_name: bool,
    /// The most bases that can come, if known.
    max_bases: Option<u64>,
}

impl Assembler {
    pub fn open(spec: &Specifier, options: &ReadOptions, role: Role) -> Result<Assembler> {
        if let (Some(contig), Some(_)) = (&spec.contig, &spec.subset) {
            return Err(spec.error(format!("/{contig} and [subset=] exclude each other: drop one of them")));
        }
        let mut masks = spec.masks.clone();
        masks.sort_by_key(|mask| match mask.kind {
            MaskKind::Soft => 0,
            MaskKind::X => 1,
            MaskKind::N => 2,
        });
        let masks = masks.iter().map(Mask::read).collect::<Result<_>>()?;
        let (reader, max_bases) = RecordReader::open(spec, options.iupac)?;
        check_format(spec, &reader)?;
        let selects = spec.subset.is_some() || spec.subsample.is_some();
        let picks_parts = spec.subrange.is_some() || selects;
        let mut assembler = Assembler {
            spec: spec.clone(),
            options: *options,
            role,
            selection: Selection::new(reader, spec)?,
            masks,
            upcoming: None,
            names: HashSet::new(),
            hashes: RandomState::new(),
            has_warned_of_name: false,
            max_bases: max_bases.filter(|_| !picks_parts),
        };
        if !assembler.has_more()? {
            let what = if selects { "no selected sequence" } else { "no sequence" };
            let message = format!(
                "the {} file contains {what}: give a FASTA, FASTQ or 2bit file with at least one record",
                role.name()
            );
            return Err(spec.error(message));
        }
        Ok(assembler)
    }

    pub fn is_multiple(&self) -> bool {
        self.spec.is_multiple()
    }

    /// Whether another record is selected.
    pub fn has_more(&mut self) -> Result<bool> {
        if self.upcoming.is_none() {
            self.upcoming = Some(self.selection.next()?);
        }
        Ok(matches!(self.upcoming, Some(Some(_))))
    }

    /// The next record as a set of its own; `None` if it is empty or there is none.
    pub fn read_next(&mut self, warn: &mut dyn FnMut(String)) -> Result<Option<SequenceSet>> {
        let mut set = self.empty_set();
        if self.role == Role::Target {
            self.reserve(&mut set);
        }
        self.append_record(&mut set, warn)?;
        if set.partitions.is_empty() {
            return Ok(None);
        }
        Ok(Some(finish(set)))
    }

    /// All records as one set.
    pub fn read_all(&mut self, warn: &mut dyn FnMut(String)) -> Result<SequenceSet> {
        let mut set = self.empty_set();
        self.reserve(&mut set);
        while self.has_more()? {
            self.append_record(&mut set, warn)?;
        }
        Ok(finish(set))
    }

    fn empty_set(&self) -> SequenceSet {
        let is_partitioned = self.spec.is_partitioned();
        SequenceSet {
            bases: if is_partitioned { vec![SEPARATOR] } else { Vec::new() },
            partitions: Vec::new(),
            empty_records: Vec::new(),
            is_partitioned,
            file: self.spec.file().to_string(),
            is_reversed: self.spec.is_reversed(),
            has_full_names: self.spec.full_names,
        }
    }

    /// Asks for the memory of a whole file at once. Growing by doubling could copy, and hold two copies.
    fn reserve(&self, set: &mut SequenceSet) {
        if let Some(max_bases) = self.max_bases {
            set.bases.reserve_exact(max_bases as usize + 1);
        }
    }

    fn append_record(&mut self, set: &mut SequenceSet, warn: &mut dyn FnMut(String)) -> Result<()> {
        let selected = match self.upcoming.take() {
            Some(selected) => selected,
            None => self.selection.next()?,
        };
        let Some(selected) = selected else { return Ok(()) };
        let start = set.bases.len();
        let extent = self.selection.load(&mut set.bases)?;
        let loaded = &mut set.bases[start..];
        if self.spec.unmask {
            loaded.make_ascii_uppercase();
        }
        for mask in &self.masks {
            mask.apply(loaded, extent.offset);
        }
        let split_record = self.spec.separator.is_some().then(|| {
            let range = start..start + loaded.len();
            Arc::new(SplitRecord { range, qualities: extent.qualities.clone() })
        });
        let pieces = match self.spec.separator {
            None if loaded.is_empty() => Vec::new(),
            None => std::iter::once(start..start + loaded.len()).collect(),
            Some(separator) => separate(loaded, separator, start),
        };
        if pieces.is_empty() {
            warn(self.empty_warning(&selected.heading));
            let name = self.partition(&selected, &extent, start..start, start).name;
            set.empty_records.push(EmptyRecord { name, start });
        }
        let first = set.partitions.len();
        for range in pieces {
            let partition = self.partition(&selected, &extent, range, start);
            set.partitions.push(Partition { piece_of: split_record.clone(), ..partition });
        }
        if let Some(partition) = set.partitions.get(first).filter(|partition| !partition.is_nameless()) {
            self.watch_name(partition.name.as_bstr(), warn);
        }
        if set.is_partitioned {
            // Also behind an empty record: LASTZ leaves two separators then.
            set.bases.push(SEPARATOR);
        }
        Ok(())
    }

    /// The partition of a record, or of a piece of it; `start` is where the record begins in the array.
    fn partition(&self, selected: &Selected, extent: &Extent, range: Range<usize>, start: usize) -> Partition {
        let nickname = self.spec.nickname.as_ref().map(|name| Heading::unmarked(name.as_bytes()));
        let rule = self.spec.name_rule.as_ref().unwrap_or(&NameRule::Default);
        let tagged = match rule {
            NameRule::Tag(tag) => selected.heading.behind_tag(tag),
            _ => None,
        };
        let heading = nickname.as_ref().or(tagged.as_ref()).unwrap_or(&selected.heading);
        let mut name = match (self.spec.full_names, self.options.bare_full_names) {
            (true, false) => heading.full(),
            (true, true) => heading.text.clone(),
            (false, _) if tagged.is_some() && nickname.is_none() => heading.text.clone(),
            (false, _) => heading.short_name(rule),
        };
        // LASTZ leaves nameless partitions nameless.
        if name.is_empty() && (!self.spec.is_partitioned() || heading.is_absent) {
            name = self.role.nameless().into();
        }
        let piece = range.start - start..range.end - start;
        Partition {
            name,
            header: if heading.is_absent { "(no header)".into() } else { heading.text.clone() },
            has_header_mark: heading.has_mark,
            record: selected.record,
            offset: extent.offset + piece.start,
            full_len: extent.full_len,
            qualities: extent.qualities.as_ref().map(|qualities| qualities[piece].to_vec()),
            range,
            piece_of: None,
        }
    }

    /// Warns of the first name that comes twice: names are all that most formats say about a sequence. A nickname is
    /// for all on purpose.
    fn watch_name(&mut self, name: &BStr, warn: &mut dyn FnMut(String)) {
        if self.has_warned_of_name || self.spec.nickname.is_some() || name.is_empty() {
            return;
        }
        // Hashes are enough for a warning, and small where there are millions of names.
        if !self.names.insert(self.hashes.hash_one(name)) {
            self.has_warned_of_name = true;
            let file = self.spec.file();
            warn(format!(
                "WARNING. {file} contains two sequences named \"{name}\": their alignments look alike; rename one, or \
                 have more of the header in names, as with [nameparse=full]"
            ));
        }
    }

    /// LASTZ's own words, in its two lines.
    fn empty_warning(&self, heading: &Heading) -> String {
        let file = self.spec.file();
        match heading.is_absent {
            true => format!("WARNING. {file} contains an empty sequence"),
            false => format!("WARNING. {file} contains an empty sequence:\n{}", heading.full()),
        }
    }
}

fn check_format(spec: &Specifier, reader: &RecordReader) -> Result<()> {
    let is_two_bit = matches!(reader, RecordReader::TwoBit(_));
    match (&spec.contig, &spec.name_rule) {
        (Some(contig), _) if !is_two_bit => {
            let message =
                format!("/{contig} can choose a sequence of 2bit files only: use [subset=] with a file of names");
            Err(spec.error(message))
        }
        (_, Some(NameRule::Tag(_))) if is_two_bit => {
            Err(spec.error("nameparse=tag: is only valid for FASTA and FASTQ, as 2bit has no header lines: drop it"))
        }
        _ => Ok(()),
    }
}

/// Replaces the separators in a record by NULs, in place, and gives the pieces between them as array ranges.
fn separate(loaded: &mut [u8], separator: u8, start: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for piece in loaded.split_mut(|&base| base == separator) {
        if !piece.is_empty() {
            pieces.push(start + at..start + at + piece.len());
        }
        at += piece.len() + 1;
    }
    loaded.iter_mut().filter(|base| **base == separator).for_each(|base| *base = SEPARATOR);
    pieces
}

/// Reverses what is to be reversed and gives back unused memory.
fn finish(mut set: SequenceSet) -> SequenceSet {
    if set.is_reversed {
        for partition in &set.partitions {
            let bases = &mut set.bases[partition.range.clone()];
            bases.reverse();
            bases.iter_mut().for_each(|base| *base = complement(*base));
        }
    }
    set.bases.shrink_to_fit();
    set
}
