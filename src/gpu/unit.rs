//! `GpuUnit`: a target and a query in device memory, and one-sided runs between them.

use super::buffer::GpuVec;
use super::context::Gpu;
use super::kernel::Bound;
use super::layout::Task;
use super::letters::{Letters, Scores};
use super::memory::Reservation;
use crate::alignment::Anchor;
use crate::extend::side::Direction;
use crate::scoring::Matrix;
use crate::sequence::SequenceSet;

/// One side of one anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneSided {
    /// Where the run starts.
    pub anchor: Anchor,
    /// Which way it goes.
    pub direction: Direction,
}

/// A target and a query in device memory.
pub struct GpuUnit<'a> {
    target: &'a SequenceSet,
    query: &'a SequenceSet,
    target_letters: GpuVec<u32>,
    query_letters: GpuVec<u32>,
    scores: GpuVec<Scores>,
    pub(super) can_be_screened: bool,
    _memory: Reservation,
}

impl<'a> GpuUnit<'a> {
    /// Uploads a target and a query; the reason if the GPU cannot hold them.
    pub(super) fn new(
        gpu: &Gpu,
        matrix: &Matrix,
        target: &'a SequenceSet,
        query: &'a SequenceSet,
    ) -> Result<GpuUnit<'a>, String> {
        let letters = Letters::new(matrix, &[&target.bases, &query.bases])?;
        let bytes = (target.len() + query.len()) as u64 / 2;
        let memory = gpu.memory().reserve_input(&format!("{} beside {}", query.file, target.file), bytes)?;
        let upload = |set: &SequenceSet, label: &str| {
            let words = letters.pack(&set.bases);
            let max = gpu.capabilities().max_binding;
            if words.len() as u64 * 4 > max {
                return Err(format!("{label} {} is longer than the GPU takes ({} bases)", set.file, max * 2));
            }
            Ok(GpuVec::from_slice(gpu, label, &words))
        };
        Ok(GpuUnit {
            target,
            query,
            target_letters: upload(target, "target letters")?,
            query_letters: upload(query, "query letters")?,
            scores: GpuVec::uniform(gpu, "scores", letters.scores()),
            can_be_screened: letters.bounds_scores(),
            _memory: memory,
        })
    }

    pub(super) fn bound(&self) -> [Bound<'_>; 3] {
        [
            self.target_letters.bound("target_letters"),
            self.query_letters.bound("query_letters"),
            self.scores.bound("scores"),
        ]
    }

    /// The run as the kernels take it (lastz-semantics 5.1).
    pub(super) fn task(&self, run: &OneSided) -> Task {
        let (target, query) = (run.anchor.target as usize, run.anchor.query as usize);
        let rows = &self.target.partition_at(target).range;
        let columns = &self.query.partition_at(query).range;
        let task = match run.direction {
            Direction::Left => Task {
                target_start: run.anchor.target,
                query_start: run.anchor.query,
                is_left: 1,
                rows: (target + 1 - rows.start) as u32,
                columns: (query + 1 - columns.start) as u32,
                ..Task::default()
            },
            Direction::Right => Task {
                target_start: run.anchor.target + 1,
                query_start: run.anchor.query + 1,
                is_left: 0,
                rows: (rows.end - target - 1) as u32,
                columns: (columns.end - query - 1) as u32,
                ..Task::default()
            },
        };
        Task { stop_row: task.rows, ..task }
    }
}
