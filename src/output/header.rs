//! What the headers of lav, axt, maf, text and gfa say about a run (lastz-semantics 7, 3.6, 9).

use std::io::Write;

use crate::options::{GapFreeExtension, GappedThreshold, HspThreshold, Options};
use crate::output::RunInfo;
use crate::scoring::Scoring;

/// A score threshold as headers show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// A score (or a length, for `--exact` and `--mismatch`).
    Score(i32),
    /// `top<n>`: the best HSPs covering n bases.
    TopBases(u64),
}

impl Threshold {
    /// How headers show K for a target of `counted_len` bases (`SequenceSet::counted_len`).
    pub fn from_hsp_threshold(threshold: HspThreshold, counted_len: usize) -> Self {
        match threshold {
            HspThreshold::Score(score) => Threshold::Score(score),
            HspThreshold::TopBases(bases) => Threshold::TopBases(bases),
            HspThreshold::TopPercent(percent) => {
                Threshold::TopBases((percent / 100.0 * counted_len as f64 + 0.5) as u64)
            }
        }
    }
}

impl std::fmt::Display for Threshold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Threshold::Score(score) => write!(f, "{score}"),
            Threshold::TopBases(bases) => write!(f, "top{bases}"),
        }
    }
}

/// Thresholds that headers show. LASTZ shows X and Y even where the run does not use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// K, the HSP threshold.
    pub hsp: Threshold,
    /// L, the gapped threshold; `TopBases` if it comes from the adaptive HSP threshold.
    pub gapped: Threshold,
    /// X.
    pub x_drop: i32,
    /// Y.
    pub y_drop: i32,
}

/// L where neither it nor a score K is given (`--exact`, `--mismatch`, `--nogfextend`).
const DEFAULT_GAPPED_THRESHOLD: i32 = 3000;

impl Thresholds {
    /// What LASTZ shows for `options` and a target of `counted_len` bases. What the options do not hold gets the
    /// default: X (no x-drop stage) 10 times the first diagonal score, Y (`--nogapped`) O + 300 E, K 0 with
    /// `--nogfextend`, L 3000 without a score K. `--match` and score files have other defaults for these cases: set the
    /// fields then.
    pub fn from_options(options: &Options, counted_len: usize) -> Self {
        let scoring = &options.scoring;
        let score_based = matches!(options.gap_free, GapFreeExtension::XDrop { .. });
        let hsp = match (options.gap_free, options.hsp_threshold) {
            (GapFreeExtension::Exact(min_len), _) | (GapFreeExtension::Mismatch { min_len, .. }, _) => {
                Threshold::Score(min_len as i32)
            }
            (GapFreeExtension::None, _) => Threshold::Score(0),
            (_, threshold) => Threshold::from_hsp_threshold(threshold, counted_len),
        };
        let gapped = match options.gapped.as_ref().map(|gapped| gapped.threshold) {
            Some(GappedThreshold::Score(score)) => Threshold::Score(score),
            _ if score_based => hsp,
            _ => Threshold::Score(DEFAULT_GAPPED_THRESHOLD),
        };
        let first_score = match (scoring.rows.first(), scoring.columns.first()) {
            (Some(&row), Some(&column)) => scoring.gapped.get(row, column),
            _ => 0,
        };
        let x_drop = match options.gap_free {
            GapFreeExtension::XDrop { x_drop, .. } => x_drop,
            _ => 10 * first_score,
        };
        let y_drop = match &options.gapped {
            Some(gapped) => gapped.y_drop,
            None => scoring.gap_open + 300 * scoring.gap_extend,
        };
        Thresholds { hsp, gapped, x_drop, y_drop }
    }
}

/// The seed as headers show it: `1110100110010101111 w/transition`.
pub fn seed_text(pattern: &str, transitions: u8) -> String {
    match transitions {
        0 => pattern.to_string(),
        1 => format!("{pattern} w/transition"),
        n => format!("{pattern} w/{n} transitions"),
    }
}

/// Writes the score matrix as lav shows it, or as a comment with row letters:
///
/// ```text
///      A    C        #        A    C
///     91 -114        #   A   91 -114
/// ```
pub(crate) fn write_matrix(out: &mut Vec<u8>, scoring: &Scoring, as_comment: bool) -> std::io::Result<()> {
    out.extend_from_slice(if as_comment { b"#    " } else { b" " });
    for &column in &scoring.columns {
        write!(out, " {:>4}", char::from(column))?;
    }
    out.push(b'\n');
    for &row in &scoring.rows {
        match as_comment {
            true => write!(out, "#   {}", char::from(row))?,
            false => out.push(b' '),
        }
        for &column in &scoring.columns {
            write!(out, " {:>4}", scoring.gapped.get(row, column))?;
        }
        out.push(b'\n');
    }
    Ok(())
}

/// The comment lines that axt and maf headers share, from the line with the program's name on.
/// `names_derivation` says how they show a gapped threshold that follows from the HSPs: in words, or as these.
pub(crate) fn write_comment_header(out: &mut Vec<u8>, run: &RunInfo, names_derivation: bool) -> std::io::Result<()> {
    out.extend_from_slice(b"# ");
    run.push_command(out);
    out.extend_from_slice(b"\n#\n");
    let thresholds = &run.thresholds;
    writeln!(out, "# hsp_threshold      = {}", thresholds.hsp)?;
    match thresholds.gapped {
        Threshold::TopBases(_) if names_derivation => {
            out.extend_from_slice(b"# gapped_threshold   = (derived from hsp_threshold)\n");
        }
        threshold => writeln!(out, "# gapped_threshold   = {threshold}")?,
    }
    writeln!(out, "# x_drop             = {}", thresholds.x_drop)?;
    writeln!(out, "# y_drop             = {}", thresholds.y_drop)?;
    writeln!(out, "# gap_open_penalty   = {}", run.scoring.gap_open)?;
    writeln!(out, "# gap_extend_penalty = {}", run.scoring.gap_extend)?;
    write_matrix(out, run.scoring, true)
}

/// The seed and step lines, each with `prefix`.
pub(crate) fn write_seed_and_step(out: &mut Vec<u8>, run: &RunInfo, prefix: &str) -> std::io::Result<()> {
    write!(out, "{prefix}seed={}\n{prefix}step={}\n", run.seed, run.step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adaptive_thresholds_are_named() {
        let scoring = Scoring { rows: b"AC".to_vec(), columns: b"ACN".to_vec(), ..Scoring::default() };
        let (hsp, gapped) = (Threshold::TopBases(2500), Threshold::TopBases(2500));
        let run = RunInfo {
            program: "lastz.v1.04.22",
            arguments: &["--hspthresh=top2.5K".to_string(), "--format=axt".to_string()],
            target_file: "t.fa",
            query_file: "q.fa",
            scoring: &scoring,
            thresholds: Thresholds { hsp, gapped, x_drop: 910, y_drop: 9400 },
            gapped: true,
            seed: seed_text("1101", 2),
            step: 20,
            masking: 0,
            ambiguous: false,
            read_group: None,
            blank_lines: true,
            expand: 0,
            dot_plot: crate::output::DotPlot::None,
            mark_end: false,
            header_marks: true,
        };
        let mut out = Vec::new();
        write_comment_header(&mut out, &run, true).unwrap();
        write_seed_and_step(&mut out, &run, "# ").unwrap();
        let expected = "\
            # lastz.v1.04.22 --hspthresh=top2.5K --format=axt \n\
            #\n\
            # hsp_threshold      = top2500\n\
            # gapped_threshold   = (derived from hsp_threshold)\n\
            # x_drop             = 910\n\
            # y_drop             = 9400\n\
            # gap_open_penalty   = 400\n\
            # gap_extend_penalty = 30\n\
            #        A    C    N\n\
            #   A   91 -114 -100\n\
            #   C -114  100 -100\n\
            # seed=1101 w/2 transitions\n\
            # step=20\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
