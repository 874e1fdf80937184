//! blastn and `blastn-` (lastz-semantics 7.2).

use std::io::Write;

use crate::alignment::Block;
use crate::error::Result;
use crate::output::columns::{Counts, Placed};
use crate::output::{AlignmentWriter, RunInfo, StrandView, refuse_reversed_target};

/// Bits per unit of score.
const BITS_PER_SCORE: f64 = 0.0205;
/// Expected hits at 0 bits.
const EVALUE_SCALE: f64 = 3.0e9;

const FIELDS: &str = "# Fields: query id, subject id, % identity, alignment length, mismatches, gap opens, q. start, \
                      q. end, s. start, s. end, evalue, bit score";

/// Writer of the blastn kinds.
#[derive(Debug)]
pub(crate) struct BlastnWriter {
    with_headers: bool,
    text: Vec<u8>,
}

impl BlastnWriter {
    pub fn new(with_headers: bool) -> Self {
        BlastnWriter { with_headers, text: Vec::new() }
    }

    fn push_header(&mut self, run: &RunInfo, view: &StrandView) -> Result<()> {
        self.text.extend_from_slice(b"# ");
        run.push_command(&mut self.text);
        // With [multiple] it is the last sequence that was read, whatever the blocks are (7.2).
        self.text.extend_from_slice(b"\n# Query: ");
        self.text.extend_from_slice(match view.query.partitions.last() {
            // LASTZ has another stand-in here than elsewhere.
            Some(partition) if partition.is_nameless() || partition.name.is_empty() => b"query",
            last => last.map_or(b"", |partition| &partition.name),
        });
        writeln!(self.text, "\n# Database: {}\n{FIELDS}", run.target_file)?;
        Ok(())
    }
}

impl AlignmentWriter for BlastnWriter {
    fn strand(&mut self, run: &RunInfo, view: &StrandView, blocks: &[Block], out: &mut dyn Write) -> Result<()> {
        self.text.clear();
        if self.with_headers && !blocks.is_empty() {
            self.push_header(run, view)?;
        }
        for block in blocks {
            if !run.gapped && view.target.is_reversed {
                out.write_all(&self.text)?;
                refuse_reversed_target(view, "blastn of gap-free segments")?;
            }
            push_line(&mut self.text, run, &Placed::new(view, block))?;
            out.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }
}

fn push_line(line: &mut Vec<u8>, run: &RunInfo, placed: &Placed) -> std::io::Result<()> {
    let (target, query) = (&placed.target, &placed.query);
    let counts = placed.counts();
    for row in [query, target] {
        line.extend_from_slice(row.name());
        line.push(b'\t');
    }
    push_blast_identity(line, run, &counts)?;
    write!(line, "\t{}\t{}\t{}\t", counts.columns(), counts.mismatches(), counts.gap_runs)?;
    let (query_start, query_end) = query.forward();
    write!(line, "{}\t{query_end}\t", query_start + 1)?;
    let (target_start, target_end) = (target.start() + 1, target.end());
    match target.set.is_reversed == query.set.is_reversed {
        true => write!(line, "{target_start}\t{target_end}\t")?,
        false => write!(line, "{target_end}\t{target_start}\t")?,
    }
    let bits = BITS_PER_SCORE * placed.block.score as f64;
    push_two_digits(line, EVALUE_SCALE * (-bits * std::f64::consts::LN_2).exp())?;
    writeln!(line, "\t{bits:.1}")
}

/// Appends `blastid%`: matches among all columns; without gapped extension among the base pairs (7.1).
pub(crate) fn push_blast_identity(out: &mut Vec<u8>, run: &RunInfo, counts: &Counts) -> std::io::Result<()> {
    let whole = if run.gapped { counts.columns() } else { counts.base_pairs };
    match whole {
        0 => out.write_all(b"NA"),
        whole => write!(out, "{:.2}", 100.0 * counts.matches as f64 / whole as f64),
    }
}

/// Appends a number as C's `%.2g` does: two significant digits, an exponent below 1e-4 and from 1e2 on.
fn push_two_digits(out: &mut Vec<u8>, value: f64) -> std::io::Result<()> {
    let scientific = format!("{value:.1e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return write!(out, "{value}") };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value != 0.0 && !(-4..2).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return write!(out, "{}e{sign}{:02}", mantissa.trim_end_matches(".0"), exponent.abs());
    }
    let decimals = (1 - exponent).max(0) as usize;
    let fixed = format!("{value:.decimals$}");
    let trimmed = if decimals > 0 { fixed.trim_end_matches('0').trim_end_matches('.') } else { &fixed };
    out.write_all(trimmed.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_as_c_prints_them() {
        let cases = [
            (4.4123e-20, "4.4e-20"),
            (0.00019, "0.00019"),
            (0.00010001, "0.0001"),
            (0.000099, "9.9e-05"),
            (0.14, "0.14"),
            (0.998, "1"),
            (9.96, "10"),
            (99.4, "99"),
            (99.6, "1e+02"),
            (3.0e9, "3e+09"),
            (0.0, "0"),
            (1e-300, "1e-300"),
        ];
        for (value, expected) in cases {
            let mut out = Vec::new();
            push_two_digits(&mut out, value).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{value}");
        }
    }
}
