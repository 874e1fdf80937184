//! K, L, X and Y with the defaults that depend on other options (lastz-semantics 3.6, 5.8, 8, 9.4).

use fastz::options::{GapFreeExtension, GappedOptions, HspThreshold};
use fastz::scoring::Scoring;
use fastz::scoring::score_file::ScoreFile;
use fastz::scoring::setup::{BaseScores, ScoringSetup};

use super::arguments::Arguments;
use super::choices::{Choices, Mode};
use super::invocation::HeaderSettings;

/// K, L, X, Y: the command line, else the score file, else defaults that depend on the mode and on `--match`.
pub(super) struct Thresholds {
    pub gap_free: GapFreeExtension,
    /// K as headers show it.
    hsp: HspThreshold,
    /// L. `None`: follows from an adaptive K.
    pub gapped: Option<i32>,
    /// L as headers show it.
    shown_gapped: HspThreshold,
    pub x_drop: i32,
    pub y_drop: i32,
    /// Neither the command line nor the score file gives K; L.
    is_hsp_default: bool,
    is_gapped_default: bool,
}

impl Thresholds {
    pub fn new(arguments: &Arguments, choices: &Choices, setup: &ScoringSetup, scoring: &Scoring) -> Self {
        let file = match &setup.base {
            BaseScores::File(file) => Some(file),
            _ => None,
        };
        let hsps = &arguments.hsps;
        let x_drop = hsps.xdrop.or(file.and_then(|file| file.x_drop)).unwrap_or_else(|| setup.default_x_drop(scoring));
        let y_drop = arguments.gapped.ydrop.or(file.and_then(|file| file.y_drop));
        let y_drop = y_drop.unwrap_or_else(|| setup.default_y_drop(scoring, x_drop));
        let given_hsp = hsps.hspthresh.or(file.and_then(|file| file.hsp_threshold).map(HspThreshold::Score));
        let given_gapped = file.and_then(|file| file.gapped_threshold).map(HspThreshold::Score);
        let given_gapped = arguments.gapped.gappedthresh.or(given_gapped);
        let default_hsp = setup.default_hsp_threshold();
        let (mismatches, mismatch_length) = hsps.mismatch.unwrap_or_default();
        let length = hsps.exact.unwrap_or_default();
        let (gap_free, hsp, default_gapped) = match choices.mode {
            Mode::XDrop => {
                // `--exact=n --gfextend` is an x-drop extension with K = n.
                let hsp = given_hsp.unwrap_or(HspThreshold::Score(default_hsp));
                let gapped = match hsp {
                    HspThreshold::Score(score) => Some(score),
                    HspThreshold::TopBases(_) | HspThreshold::TopPercent(_) => None,
                };
                (GapFreeExtension::XDrop { x_drop, entropy: !hsps.noentropy }, hsp, gapped)
            }
            // Quirk: --match changes the default L with --exact, but not with --mismatch and --nogfextend.
            Mode::Exact => {
                let threshold = HspThreshold::Score(length as i32);
                (GapFreeExtension::Exact(length), threshold, Some(default_hsp))
            }
            Mode::Mismatch => {
                let extension = GapFreeExtension::Mismatch { mismatches, min_len: mismatch_length };
                (extension, HspThreshold::Score(mismatch_length as i32), Some(3000))
            }
            Mode::Hits => {
                // Quirk: headers show the K that --match would have given.
                let shown = if let BaseScores::Match { .. } = setup.base { default_hsp } else { 0 };
                (GapFreeExtension::None, given_hsp.unwrap_or(HspThreshold::Score(shown)), Some(3000))
            }
        };
        // An adaptive L has no meaning of its own: it follows from K, whatever its number.
        let shown_gapped = given_gapped.unwrap_or(default_gapped.map_or(hsp, HspThreshold::Score));
        let gapped = match shown_gapped {
            HspThreshold::Score(score) => Some(score),
            HspThreshold::TopBases(_) | HspThreshold::TopPercent(_) => None,
        };
        Thresholds {
            gap_free,
            hsp,
            gapped,
            shown_gapped,
            x_drop,
            y_drop,
            is_hsp_default: given_hsp.is_none(),
            is_gapped_default: given_gapped.is_none(),
        }
    }

    /// K of the search: seed hits that are not extended have no threshold.
    pub fn hsp_threshold(&self) -> HspThreshold {
        match self.gap_free {
            GapFreeExtension::None => HspThreshold::Score(i32::MIN),
            _ => self.hsp,
        }
    }

    /// What headers show.
    pub fn for_headers(&self, arguments: &Arguments, mode: Mode, seed_pattern: String) -> HeaderSettings {
        HeaderSettings {
            hsp_threshold: self.hsp,
            gapped_threshold: self.shown_gapped,
            x_drop: self.x_drop,
            y_drop: self.y_drop,
            entropy: !arguments.hsps.noentropy && mode != Mode::Hits,
            traceback_bytes: traceback_bytes(arguments),
            seed_pattern,
        }
    }

    /// LASTZ's warning that a score file's scale does not suit a default threshold (9.4).
    pub fn scale_warning(&self, file: &ScoreFile, mode: Mode) -> Option<String> {
        match mode {
            Mode::XDrop if self.is_hsp_default => file.scale_warning("--hspthresh=3000"),
            Mode::Hits if self.is_hsp_default && self.is_gapped_default => file.scale_warning("--gappedthresh=3000"),
            _ => None,
        }
    }
}

/// LASTZ's traceback memory, which cuts long extensions; `None`: nothing is cut.
pub(super) fn traceback_bytes(arguments: &Arguments) -> Option<usize> {
    match arguments.gapped.untruncated {
        true => None,
        false => arguments.gapped.traceback.or(GappedOptions::default().traceback_bytes),
    }
}
