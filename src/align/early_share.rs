//! `EarlyShare`: which strands the CPU searches because the device is still starting.

use super::Aligner;
use crate::options::{GapFreeExtension, Options, Strands};
use crate::seed::layout::WordLayout;
use crate::sequence::SequenceSet;

/// Hits that a thread searches while a device starts (measured on an H200 beside 16 cores: 0.15 s).
const EARLY_HITS: f64 = 2e5;

/// Whether the CPU has searched sequences of about these lengths, each strand that is wanted, before a device has started.
/// Without a filter the search is the least of the work, and this is false.
pub fn is_done_early(options: &Options, target_bases: u64, query_bases: u64) -> bool {
    let seed = &options.seed;
    let Ok(layout) = WordLayout::new(&seed.pattern, seed.word_bits) else { return false };
    let strands = if options.strands == Strands::Both { 2.0 } else { 1.0 };
    let n_windows = target_bases as f64 / f64::from(seed.step.max(1));
    let hits_per_base = layout.likely_hits(n_windows, seed.transitions);
    options.gap_free != GapFreeExtension::None
        && strands * query_bases as f64 * hits_per_base <= EARLY_HITS * options.n_threads() as f64
}

/// What the CPU searches while the device starts.
pub(super) struct EarlyShare {
    /// Likely seed hits of a query base.
    hits_per_base: f64,
    /// Hits that may still be taken.
    left: f64,
}

impl EarlyShare {
    /// The share of all threads.
    pub fn new(aligner: &Aligner) -> EarlyShare {
        let transitions = aligner.options.seed.transitions;
        EarlyShare {
            hits_per_base: aligner.table.as_ref().map_or(0.0, |table| table.likely_hits(transitions)),
            left: EARLY_HITS * rayon::current_num_threads() as f64,
        }
    }

    /// Whether there is room for a strand; takes it.
    pub fn takes(&mut self, strand: &SequenceSet) -> bool {
        let hits = self.hits_per_base * strand.len() as f64;
        let fits = hits <= self.left;
        if fits {
            self.left -= hits;
        }
        fits
    }
}
