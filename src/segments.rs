//! Reading segments files, `--segments=<file>` (lastz-semantics 4.5): anchors found by another program.
//!
//! ```text
//! # tname tstart tend  qname qstart qend strand [score]      1-based, inclusive, on the printed strand
//! chr1    101    150   read1 1      50   +      4500
//! *       7      26    *     7      26   -                   any target sequence, any query, score 0
//! rewind                                                     the next query reads from the top again
//! ```
//! Lines come in the order in which the query strands are searched. [`SegmentReader::next_strand`] takes the lines of
//! one of them, so that a file of any size is read once; [`SegmentReader::finish`] refuses what is left over.

use crate::alignment::Hsp;
use crate::error::{Error, Result};
use crate::sequence::{Partition, SequenceSet};
use bstr::{BStr, BString, ByteSlice};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek};
use std::path::Path;

/// Longest line that LASTZ reads, without its newline.
const LONGEST_LINE: usize = 1022;
/// Name that stands for every sequence.
const ANY: &str = "*";

/// A segments file being read.
pub struct SegmentReader<R> {
    reader: R,
    file: String,
    line_number: u64,
    line: Vec<u8>,
    /// The line that belongs to a later strand.
    pending: Option<Segment>,
    /// A `rewind` line was met: reading goes on at the top.
    is_rewinding: bool,
    has_rewound: bool,
    partitions_from_name: HashMap<BString, Vec<usize>>,
}

/// A line of the file.
#[derive(Clone, Debug)]
struct Segment {
    line_number: u64,
    target_name: BString,
    query_name: BString,
    /// First and last position, 1-based, on the printed strand.
    target: (u32, u32),
    query: (u32, u32),
    strand: char,
    score: i32,
}

enum Line {
    Segment(Segment),
    Rewind,
    End,
}

impl SegmentReader<BufReader<File>> {
    /// Opens a segments file for anchors in `target`.
    pub fn open(path: &Path, target: &SequenceSet) -> Result<Self> {
        let failed = |source| Error::Io { action: "cannot open the segments file", path: path.to_path_buf(), source };
        let file = File::open(path).map_err(failed)?;
        Self::new(BufReader::new(file), &path.to_string_lossy(), target)
    }
}

impl<R: BufRead + Seek> SegmentReader<R> {
    /// Reads segments from `reader`; messages call it `file`.
    pub fn new(reader: R, file: &str, target: &SequenceSet) -> Result<Self> {
        if target.is_reversed {
            let message = "can't use --segments with the reverse complement of the target: reverse the query instead";
            return Err(Error::input(&target.file, message));
        }
        Ok(SegmentReader {
            reader,
            file: file.to_string(),
            line_number: 0,
            line: Vec::new(),
            pending: None,
            is_rewinding: false,
            has_rewound: false,
            partitions_from_name: partitions_from_name(target),
        })
    }

    /// Segments of the next query strand, in the order of the file. Call it for every searched strand of every query,
    /// in order, with the set that holds that strand. Scores are as the file has them; no threshold applies.
    pub fn next_strand(&mut self, target: &SequenceSet, query: &SequenceSet) -> Result<Vec<Hsp>> {
        let queries_from_name = if query.is_partitioned { partitions_from_name(query) } else { HashMap::new() };
        let mut hsps = Vec::new();
        // A rewind takes effect here, not where it stands: it ends the strand that was being read.
        if self.is_rewinding {
            self.rewind()?;
        }
        while let Some(segment) = self.next_segment(query)? {
            let query_ix = self.query_partition(&segment, query, &queries_from_name)?;
            for target_ix in self.target_partitions(&segment, target)? {
                hsps.push(self.place(&segment, (target, target_ix), (query, query_ix))?);
            }
        }
        Ok(hsps)
    }

    /// After the last query strand: an error if the file holds segments that no strand took. LASTZ finds that out
    /// after all output; call this before the output is published.
    pub fn finish(&mut self) -> Result<()> {
        // Once a file was read again, LASTZ no longer minds the line that waits; it looks at the one behind it.
        let waiting = self.pending.take().filter(|_| !self.has_rewound);
        let extra = match waiting {
            Some(segment) => segment,
            None => match self.read_line()? {
                Line::Segment(segment) => segment,
                Line::Rewind | Line::End => return Ok(()),
            },
        };
        let Segment { target_name, query_name, strand, .. } = &extra;
        let message = format!(
            "extra segment {target_name}/{query_name}{strand}: segments must come in the order of the query file, all \
             + strand segments before the - strand segments of a query, and only for strands that are searched"
        );
        Err(self.error(extra.line_number, &message))
    }

    /// The next segment of this query strand; the first of another one waits.
    fn next_segment(&mut self, query: &SequenceSet) -> Result<Option<Segment>> {
        if self.pending.is_none() && !self.is_rewinding {
            match self.read_line()? {
                Line::Segment(segment) => self.pending = Some(segment),
                Line::Rewind => self.is_rewinding = true,
                Line::End => {}
            }
        }
        let is_ours = |segment: &mut Segment| {
            let name_fits = query.is_partitioned
                || segment.query_name == ANY
                // A query without a name answers to any.
                || query.partitions.first().is_some_and(|p| p.name == segment.query_name || p.is_nameless());
            segment.strand == query.strand() && name_fits
        };
        Ok(self.pending.take_if(is_ours))
    }

    fn rewind(&mut self) -> Result<()> {
        self.is_rewinding = false;
        self.has_rewound = true;
        self.line_number = 0;
        let failed = |source| Error::Io { action: "cannot rewind", path: self.file.clone().into(), source };
        self.reader.rewind().map_err(failed)
    }

    /// The next line that says something.
    fn read_line(&mut self) -> Result<Line> {
        loop {
            self.line.clear();
            let failed = |source| Error::Io { action: "cannot read", path: self.file.clone().into(), source };
            if self.reader.read_until(b'\n', &mut self.line).map_err(failed)? == 0 {
                return Ok(Line::End);
            }
            self.line_number += 1;
            if self.line.last() == Some(&b'\n') {
                self.line.pop();
            }
            if self.line.len() > LONGEST_LINE {
                let message = format!("the line is too long: at most {LONGEST_LINE} characters, comments included");
                return Err(self.error(self.line_number, &message));
            }
            let content = self.line.split(|&b| b == b'#').next().unwrap_or_default();
            // Blank lines and `rewind` may have spaces and tabs around them, not C's other blanks (as in CRLF files).
            match content.trim_with(|letter| matches!(letter, ' ' | '\t')) {
                b"" => continue,
                b"rewind" => return Ok(Line::Rewind),
                content => {
                    let parsed = Segment::parse(content, self.line_number);
                    return parsed.map(Line::Segment).map_err(|message| self.error(self.line_number, &message));
                }
            }
        }
    }

    fn error(&self, line_number: u64, message: &str) -> Error {
        Error::input(&self.file, format!("line {line_number}: {message}"))
    }

    fn query_partition(
        &self,
        segment: &Segment,
        query: &SequenceSet,
        queries_from_name: &HashMap<BString, Vec<usize>>,
    ) -> Result<usize> {
        if !query.is_partitioned {
            return Ok(0);
        }
        let name = &segment.query_name;
        if name == ANY {
            let message = "bad query sequence name: * cannot be used with a [multiple] query, name the sequence";
            return Err(self.error(segment.line_number, message));
        }
        let Some(same_name) = queries_from_name.get(name) else {
            return Err(
                self.error(segment.line_number, &format!("bad query sequence name: the query has no \"{name}\""))
            );
        };
        Ok(partition_that_holds(query, same_name, segment.query))
    }

    /// The sequences that a segment names: one, or with `*` all.
    fn target_partitions(&self, segment: &Segment, target: &SequenceSet) -> Result<Vec<usize>> {
        if !target.is_partitioned {
            return Ok(vec![0]);
        }
        let name = &segment.target_name;
        if name == ANY {
            return Ok((0..target.partitions.len()).collect());
        }
        match self.partitions_from_name.get(name) {
            Some(same_name) => Ok(vec![partition_that_holds(target, same_name, segment.target)]),
            None => {
                let message = format!("bad target sequence name: the target has no \"{name}\"");
                Err(self.error(segment.line_number, &message))
            }
        }
    }

    /// Turns positions on sequences into array positions.
    fn place(
        &self,
        segment: &Segment,
        (target, target_ix): (&SequenceSet, usize),
        (query, query_ix): (&SequenceSet, usize),
    ) -> Result<Hsp> {
        let start_in = |role: &str, set: &SequenceSet, ix: usize, interval: (u32, u32)| {
            let partition = &set.partitions[ix];
            let (first, last) = positions(partition, set);
            if u64::from(interval.0) < first || u64::from(interval.1) > last {
                let strand = if set.is_reversed { " on the - strand" } else { "" };
                let message = format!(
                    "{role} interval out of range: {}..{} is not within {first}..{last} of \"{}\"{strand}",
                    interval.0, interval.1, partition.name
                );
                return Err(self.error(segment.line_number, &message));
            }
            Ok((partition.range.start as u64 + u64::from(interval.0) - first) as u32)
        };
        Ok(Hsp {
            target_start: start_in("target", target, target_ix, segment.target)?,
            query_start: start_in("query", query, query_ix, segment.query)?,
            len: segment.target.1 - segment.target.0 + 1,
            score: segment.score,
        })
    }
}

impl Segment {
    /// Any blanks of C stand between fields. The first field begins with the line, and so it is empty if the line
    /// begins with one of them (other than spaces and tabs, which are gone by now).
    fn parse(line: &[u8], line_number: u64) -> Result<Segment, String> {
        let is_blank = |letter| matches!(letter, ' ' | '\t'..='\r');
        let name_len = line.find_byteset(b" \t\n\x0b\x0c\r").unwrap_or(line.len());
        let target_name = line[..name_len].into();
        let mut fields = line[name_len..].fields_with(is_blank).map(|field| field.as_bstr());
        let mut next = |what: &str| fields.next().ok_or_else(|| format!("the line has too few fields: no {what}"));
        let target = (position(next("target start")?)?, position(next("target end")?)?);
        let query_name = next("query name")?.to_owned();
        let query = (position(next("query start")?)?, position(next("query end")?)?);
        for (role, (start, end)) in [("target", target), ("query", query)] {
            if start > end {
                return Err(format!("bad {role} interval: {start} is greater than {end}"));
            }
        }
        let lens = (target.1 - target.0 + 1, query.1 - query.0 + 1);
        if lens.0 != lens.1 {
            return Err(format!("the intervals have different lengths: {} and {}", lens.0, lens.1));
        }
        let strand = match next("strand")? {
            sign if sign == "+" => '+',
            sign if sign == "-" => '-',
            other => return Err(format!("bad strand \"{other}\": use + or -")),
        };
        let score = match fields.next() {
            None => 0,
            Some(field) => {
                parsed(field).ok_or_else(|| format!("bad field \"{field}\": the score must be a 32-bit integer"))?
            }
        };
        match fields.next() {
            Some(field) => Err(format!("the line has too many fields: \"{field}\" follows the score")),
            None => Ok(Segment { line_number, target_name, query_name, target, query, strand, score }),
        }
    }
}

fn parsed<T: std::str::FromStr>(field: &BStr) -> Option<T> {
    field.to_str().ok()?.parse().ok()
}

fn position(field: &BStr) -> Result<u32, String> {
    let position = parsed(field).filter(|&position| position < u32::MAX);
    position.ok_or_else(|| format!("bad field \"{field}\": a position is a whole number from 1 on"))
}

/// The sequences of each name that segments can name: the first, and those with the same name right behind it, as LASTZ
/// looks them up. Another record between, empty or not, hides the others.
fn partitions_from_name(set: &SequenceSet) -> HashMap<BString, Vec<usize>> {
    let mut map: HashMap<BString, Vec<usize>> = HashMap::new();
    for (ix, partition) in set.partitions.iter().enumerate() {
        let same_name = map.entry(partition.name.clone()).or_default();
        let follows = |last: usize| {
            let between = set.partitions[last].range.end..partition.range.start;
            last + 1 == ix && !set.empty_records.iter().any(|empty| between.contains(&empty.start))
        };
        if same_name.last().is_none_or(|&last| follows(last)) {
            same_name.push(ix);
        }
    }
    map
}

/// First and last loaded position, 1-based, on the strand that the set holds.
fn positions(partition: &Partition, set: &SequenceSet) -> (u64, u64) {
    let start = partition.strand_start(set.is_reversed) as u64;
    (start + 1, start + partition.len() as u64)
}

/// Of sequences with the same name, the first that holds the interval's start on the forward strand; else the first,
/// so that the message about the range can name it.
fn partition_that_holds(set: &SequenceSet, same_name: &[usize], interval: (u32, u32)) -> usize {
    let position = u64::from(if set.is_reversed { interval.1 } else { interval.0 });
    let holds = |&&ix: &&usize| {
        let (first, last) = positions(&set.partitions[ix], set);
        (first..=last).contains(&position)
    };
    *same_name.iter().find(holds).unwrap_or(&same_name[0])
}

#[cfg(test)]
mod tests;
