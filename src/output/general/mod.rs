//! general and the tables built on it: `general-`, `genseg`, mapping, segments (lastz-semantics 7, 7.1).

mod field;
mod row;

use std::io::Write;

pub use field::{DifferenceLetters, Field, Of, RatioColumns};

use crate::alignment::Block;
use crate::error::{Error, Result};
use crate::output::columns::Placed;
use crate::output::{AlignmentWriter, DotPlot, RunInfo, StrandView, refuse_reversed_target};
use row::RowContext;

const GENERAL_FIELDS: &str =
    "score,name1,strand1,size1,zstart1,end1,name2,strand2,size2,zstart2,end2,identity,coverage";
const MAPPING_FIELDS: &str = "name1,zstart1,end1,name2,strand2,zstart2+,end2+,identity,coverage,cigarx-";
const SEGMENT_FIELDS: &str = "name1,start1,end1,name2,start2,end2,strand2,score";

/// A table of alignments: which columns, and what makes a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    fields: Vec<Field>,
    headers: Vec<String>, // of each field; two columns are joined by a tab
    has_header: bool,
    of_segments: bool, // of every gap-free run of a block
}

impl Table {
    /// general with `fields` (comma-separated names), or its default fields.
    ///
    /// # Errors
    /// [`Error::Options`] for an unknown name, no name at all, or two difference rows.
    pub fn general(fields: Option<&str>, has_header: bool) -> Result<Table> {
        let names = match fields {
            None => GENERAL_FIELDS,
            Some("") => {
                return Err(Error::options("the fields are missing: name them after the colon"));
            }
            Some(names) => names,
        };
        let mut table = Table { fields: Vec::new(), headers: Vec::new(), has_header, of_segments: false };
        for name in names.split(',') {
            let (field, header) = Field::parse(name)?;
            let is_differences = |field: &Field| matches!(field, Field::Differences(_));
            if is_differences(&field) && table.fields.iter().any(is_differences) {
                return Err(Error::options("duplicate field name: name diff once"));
            }
            table.fields.push(field);
            table.headers.push(header);
        }
        Ok(table)
    }

    /// The same columns, with a row for every gap-free run (`genseg`).
    pub fn of_segments(self) -> Table {
        Table { of_segments: true, ..self }
    }

    /// Whether it has a row for every gap-free run.
    pub fn is_of_segments(&self) -> bool {
        self.of_segments
    }

    /// `mapping`.
    pub fn mapping(has_header: bool) -> Table {
        Table::general(Some(MAPPING_FIELDS), has_header).expect("fields of mapping are known")
    }

    /// `segments`, which `--segments` reads back.
    pub fn segments() -> Table {
        Table::general(Some(SEGMENT_FIELDS), true).expect("fields of segments are known")
    }

    /// The columns.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// `#name1<TAB>name2...`: a `#` also after each tilde and newline field.
    fn push_header(&self, out: &mut Vec<u8>) {
        let mut after_separator = true;
        for (field, header) in self.fields.iter().zip(&self.headers) {
            if after_separator {
                out.push(b'#');
            } else if !field.is_separator() {
                out.push(b'\t');
            }
            match field {
                Field::Tilde => out.push(b'~'),
                _ => out.extend_from_slice(header.as_bytes()),
            }
            after_separator = field.is_separator();
        }
        out.push(b'\n');
    }
}

/// Writer of tables.
#[derive(Debug)]
pub(crate) struct GeneralWriter {
    table: Table,
    rows: u64, // written so far
    line: Vec<u8>,
}

impl GeneralWriter {
    pub fn new(table: Table) -> Self {
        GeneralWriter { table, rows: 0, line: Vec::new() }
    }

    fn write_row(&mut self, run: &RunInfo, placed: &Placed, out: &mut dyn Write) -> Result<()> {
        self.line.clear();
        let context = RowContext::new(run, placed, self.rows);
        let mut needs_tab = false;
        for &field in &self.table.fields {
            if needs_tab && !field.is_separator() {
                self.line.push(b'\t');
            }
            context.push_field(&mut self.line, field)?;
            needs_tab = !field.is_separator();
        }
        self.line.push(b'\n');
        out.write_all(&self.line)?;
        self.rows += 1;
        Ok(())
    }

    /// Refuses fields of qualities for a file without them, even where there is no row.
    fn require_qualities(&self, view: &StrandView) -> Result<()> {
        for field in &self.table.fields {
            let (set, number) = match field {
                Field::Quals(Of::Target) => (view.target, 1),
                Field::Quals(Of::Query) => (view.query, 2),
                _ => continue,
            };
            if set.partitions.iter().any(|partition| partition.qualities.is_none()) {
                return Err(Error::Format(format!(
                    "{} has no base-call qualities (required for --format=general:quals{number}): use a FASTQ file or \
                     leave the field out",
                    set.file
                )));
            }
        }
        Ok(())
    }
}

impl AlignmentWriter for GeneralWriter {
    fn begin(&mut self, _: &RunInfo, out: &mut dyn Write) -> Result<()> {
        if self.table.has_header {
            self.line.clear();
            self.table.push_header(&mut self.line);
            out.write_all(&self.line)?;
        }
        Ok(())
    }

    fn strand(&mut self, run: &RunInfo, view: &StrandView, blocks: &[Block], out: &mut dyn Write) -> Result<()> {
        self.require_qualities(view)?;
        let mut plotted = 0;
        for block in blocks {
            if !run.gapped {
                refuse_reversed_target(view, "a table of gap-free segments")?;
            }
            let placed = Placed::new(view, block);
            if run.gapped {
                self.write_row(run, &placed, out)?;
                match run.dot_plot {
                    DotPlot::None => {}
                    DotPlot::AfterStrand => plotted += placed.pair_runs().count() as u64,
                    DotPlot::AfterBlock => self.rows += placed.pair_runs().count() as u64,
                }
            } else {
                self.write_row(run, &placed, out)?;
                // A dot plot has the run too.
                self.rows += u64::from(run.dot_plot != DotPlot::None);
            }
        }
        self.rows += plotted;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(fields: &str) -> String {
        let mut out = Vec::new();
        Table::general(Some(fields), true).unwrap().push_header(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn separators_restart_the_header() {
        assert_eq!(header("score,~,name1"), "#score~#name1\n");
        assert_eq!(header("~,~,s"), "#~#~#score\n");
        assert_eq!(header("score,"), "#score\n\n");
        assert_eq!(header(","), "#\n#\n\n");
        assert_eq!(header("score,,,n1"), "#score\n#\n#name1\n");
        assert_eq!(header("score,,~,NA,~,,"), "#score\n#~#~#\n#\n\n");
        assert_eq!(header("NA,NA"), "#\t\n");
        assert_eq!(header("id,~,cov,~,gap"), "#identity\tidPct~#coverage\tcovPct~#gaprate\tgapPct\n");
        assert_eq!(header("t1,a2,cigarx1-,diffabcdef"), "#text1\talign2\tcigarx1-\tdiff\n");
    }

    #[test]
    fn a_second_difference_row_is_refused() {
        assert!(Table::general(Some("diff,score,diff.:xyzw"), true).is_err());
        assert!(Table::general(Some("score,score"), true).is_ok());
    }
}
