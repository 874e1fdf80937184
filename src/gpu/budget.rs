//! `Budget`: how large the batches of gapped extension are, so that they stay within their share of the memory.

use super::context::Gpu;
use super::layout::{Hull, Task, Verdict};

/// Limits of the memory that batches take. Results do not depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Runs per batch.
    pub tasks: usize,
    /// Entries of the hull log.
    pub hulls: usize,
    /// Words of links per batch of the executor. Limits of bounded runs get half of it.
    pub link_words: u64,
    /// Columns of all rows that the relaxed inspector keeps for the executor.
    pub kept_rows: usize,
}

impl Budget {
    /// What suits a device. Of its share for extension a quarter goes to links, an eighth to limits or to kept rows, a quarter to hulls
    /// and their copy for the host; the rest to tasks, verdicts, scripts, and runs under way (see [`RunQueue`]).
    ///
    /// [`RunQueue`]: super::queue::RunQueue
    pub fn for_device(gpu: &Gpu) -> Budget {
        Budget::of_each(gpu, 1)
    }

    /// The same for each of `n` extenders that work on a device at a time.
    pub(super) fn of_each(gpu: &Gpu, n: u64) -> Budget {
        let max_binding = gpu.capabilities().max_binding;
        let share = gpu.memory().for_extension() / n;
        let link_words: u64 = if gpu.capabilities().is_software { 1 << 24 } else { 1 << 29 };
        let (of_run, of_hull) = ((size_of::<Task>() + size_of::<Verdict>()) as u64, size_of::<Hull>() as u64);
        Budget {
            tasks: (share / 32 / of_run).clamp(1, 1 << 17) as usize,
            hulls: (share / 8 / of_hull).clamp(1, (max_binding / of_hull).min(1 << 24)) as usize,
            link_words: (share / 4 / 4).clamp(1, link_words.min(max_binding / 4)),
            kept_rows: (share / 8 / 8).clamp(1, link_words.min(max_binding) / 8) as usize,
        }
    }

    /// How many of the first `runs` make a batch, if each takes so many words of links. None takes more than the budget.
    pub(super) fn batch_len<T>(&self, runs: &[T], link_words: impl Fn(&T) -> u64) -> usize {
        let mut words = 0;
        let fits = |run: &&T| {
            words += link_words(run);
            words <= self.link_words
        };
        runs.iter().take(self.tasks).take_while(fits).count()
    }

    /// Batches of half the size; `false` if they are small already.
    pub(super) fn halve(&mut self) -> bool {
        const FEW_LINKS: u64 = 1 << 20;
        *self = Budget {
            tasks: self.tasks.div_ceil(2),
            hulls: self.hulls.div_ceil(2),
            link_words: self.link_words / 2,
            kept_rows: self.kept_rows.div_ceil(2),
        };
        self.link_words >= FEW_LINKS
    }
}
