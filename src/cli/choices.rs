//! What several options decide together: how hits are extended, chaining, the format.

use std::path::PathBuf;

use anyhow::{Result, bail};
use fastz::options::ChainPenalties;

use super::arguments::{Arguments, GapFreeMode};
use super::values::Chain;

/// How seed hits become HSPs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// X-drop extension.
    XDrop,
    /// `--exact`.
    Exact,
    /// `--mismatch`.
    Mismatch,
    /// `--nogfextend`.
    Hits,
}

/// Decisions that follow from several options.
#[derive(Debug)]
pub struct Choices {
    /// How seed hits become HSPs.
    pub mode: Mode,
    /// Whether there is gapped extension. Output of segments excludes it.
    pub gapped: bool,
    /// HSPs are written as segments, by `--writesegments` or a `--format=segments`, even one that a later format undoes.
    pub writes_segments: bool,
    /// `--anyornone` or `--limitperquery`: HSPs are extended at once, up to a number of blocks.
    pub stops_early: bool,
    /// Chaining and its penalties.
    pub chain: Option<ChainPenalties>,
    /// A penalty was given without `--chain` (`G=`, `R=`).
    pub stray_chain_penalty: bool,
    /// The last `--format`.
    pub format: String,
    /// Each run of pairs of a gapped block is printed as a segment: a format that does so is given, even one that a later
    /// format undoes.
    pub prints_runs: bool,
    /// Dot plot beside the output, and whether it has scores.
    pub rdotplot: Option<(PathBuf, bool)>,
}

impl Choices {
    pub fn from_arguments(arguments: &Arguments) -> Result<Choices> {
        let hsps = &arguments.hsps;
        let mode = match hsps.gfextend {
            _ if hsps.nogfextend => Mode::Hits,
            Some(GapFreeMode::Exact) => Mode::Exact,
            Some(GapFreeMode::Mismatch) => Mode::Mismatch,
            Some(GapFreeMode::XDrop) | None => Mode::XDrop,
        };
        let output = &arguments.output;
        let writes_segments = output.writesegments.is_some() || output.format.iter().any(|format| format == "segments");
        let (chain, stray_chain_penalty) = fold_chain(&hsps.chain);
        let plots = output.rdotplot.iter().map(|path| (path.clone(), false));
        let plots: Vec<_> = plots.chain(output.rdotplot_score.iter().map(|path| (path.clone(), true))).collect();
        if plots.len() > 1 {
            bail!("--rdotplot is given twice: keep one");
        }
        Ok(Choices {
            mode,
            gapped: !arguments.gapped.nogapped && !writes_segments,
            writes_segments,
            stops_early: arguments.limits.anyornone || arguments.limits.limitperquery.is_some(),
            chain,
            stray_chain_penalty,
            format: output.format.last().cloned().unwrap_or_else(|| "lav".to_string()),
            prints_runs: output.format.iter().any(|format| prints_runs(format)),
            rdotplot: plots.into_iter().next(),
        })
    }

    fn format_starts(&self, names: &[&str]) -> bool {
        starts(&self.format, names)
    }

    /// sam or softsam, with or without header.
    pub fn is_sam(&self) -> bool {
        self.format_starts(&["sam", "softsam"])
    }

    /// A lav kind.
    pub fn is_lav(&self) -> bool {
        self.format_starts(&["lav"])
    }

    /// gfa, which like lav cannot express several sequences in one.
    pub fn is_gfa(&self) -> bool {
        self.format_starts(&["gfa"])
    }
}

fn starts(format: &str, names: &[&str]) -> bool {
    names.iter().any(|name| format.to_ascii_lowercase().starts_with(name))
}

/// Whether a format prints each run of pairs of a gapped block as a line or block of its own.
fn prints_runs(format: &str) -> bool {
    starts(format, &["rdotplot", "mafsegments", "genseg"])
}

/// Chaining in effect, and whether a penalty was given though chaining is off.
fn fold_chain(settings: &[Chain]) -> (Option<ChainPenalties>, bool) {
    let mut is_on = false;
    let mut penalties = ChainPenalties::default();
    for &setting in settings {
        match setting {
            Chain::On => is_on = true,
            Chain::Off => is_on = false,
            Chain::Penalties(diagonal, anti_diagonal) => {
                is_on = true;
                penalties = ChainPenalties { diagonal, anti_diagonal };
            }
            Chain::Diagonal(penalty) => penalties.diagonal = penalty,
            Chain::AntiDiagonal(penalty) => penalties.anti_diagonal = penalty,
        }
    }
    match is_on {
        true => (Some(penalties), false),
        false => (None, penalties != ChainPenalties::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_penalties_survive_being_switched_off() {
        let penalties = |diagonal, anti_diagonal| Some(ChainPenalties { diagonal, anti_diagonal });
        assert_eq!(fold_chain(&[Chain::Penalties(5, 6), Chain::Off, Chain::On]), (penalties(5, 6), false));
        assert_eq!(fold_chain(&[Chain::Diagonal(7), Chain::On]), (penalties(7, 0), false));
        assert_eq!(fold_chain(&[Chain::AntiDiagonal(7)]), (None, true));
        assert_eq!(fold_chain(&[Chain::Penalties(5, 6), Chain::Off]), (None, true));
        assert_eq!(fold_chain(&[Chain::Diagonal(0)]), (None, false));
        assert_eq!(fold_chain(&[]), (None, false));
    }
}
