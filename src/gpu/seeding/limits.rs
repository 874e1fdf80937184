//! Sizes of the device memory and of pieces. Results do not depend on them.

use super::bases::Chunk;
use super::layout::MAX_POSITIONS;
use super::layout::{
    Candidate, FLIP_BITS, KEY_BITS, LOOKUP_LANES, MAX_PIECES, MAX_RUN_CAP, MOST_SIDE_BY_SIDE, N_SLOTS, N_SORTED,
};
use crate::gpu::context::Gpu;

/// Most workgroups of a dispatch.
const MAX_GROUPS: u32 = 65_535;

/// Sizes of the device memory and of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedLimits {
    /// Hits of a bucket, at most [`N_SORTED`].
    pub bucket_capacity: u32,
    /// Hits of full buckets.
    pub overflow_capacity: u32,
    /// Lookups of frequent words.
    pub frequent_capacity: u32,
    /// Workgroups that work them off.
    pub frequent_groups: u32,
    /// Hits that each of their lanes takes in a piece, at least 1.
    pub frequent_turns: u32,
    /// Workgroups that work off the residues with hits that must be extended anew.
    pub walk_groups: u32,
    /// Hits that each of these extends in a piece, at least 1.
    pub extension_capacity: u32,
    /// Candidates of a batch.
    pub candidate_capacity: u32,
    /// Query windows of the first piece; `None`: as many as a random query would need for well filled buckets.
    pub first_piece: Option<u32>,
    /// Query windows of a piece, at most.
    pub max_piece: u32,
    /// Pieces of a batch, at most [`MAX_PIECES`].
    pub batch: usize,
    /// Pairs from which on a lane gives up, at most [`MAX_RUN_CAP`].
    pub run_cap: u32,
    /// Windows in a part of the target's word table, at least 1.
    pub part_windows: u32,
    /// Chunks of 32 target bases in a binding, at least 1.
    pub page_chunks: u32,
}

impl SeedLimits {
    /// What suits a device.
    pub fn for_device(gpu: &Gpu) -> SeedLimits {
        let is_software = gpu.capabilities().is_software;
        let limits = SeedLimits {
            bucket_capacity: if is_software { 128 } else { N_SORTED },
            // On lavapipe (Mesa 22.3) hits of very crowded buckets were lost: it seems to end loops once an invocation has
            // made 65535 turns in all. Buckets stay small there, and counts must add up everywhere (`add_tallies`).
            overflow_capacity: 1 << if is_software { 12 } else { 19 },
            frequent_capacity: 1 << 18,
            frequent_groups: if is_software { 64 } else { 512 },
            // As many as a lane of `seed_lookup` at most; each takes up to some 350 turns.
            frequent_turns: if is_software { 128 } else { u32::MAX },
            walk_groups: 2048,
            extension_capacity: if is_software { 200 } else { 1 << 12 },
            candidate_capacity: 1 << if is_software { 18 } else { 20 },
            first_piece: None,
            max_piece: 1 << (KEY_BITS - FLIP_BITS),
            batch: MAX_PIECES as usize,
            run_cap: 120,
            part_windows: u32::MAX,
            page_chunks: u32::MAX,
        };
        limits.within(gpu.memory().for_seeding(), gpu.capabilities().max_binding)
    }

    /// The same where the buffers may take about `bytes` in all, and each of them `max_binding`.
    fn within(self, bytes: u64, max_binding: u64) -> SeedLimits {
        let entries = |capacity: u32, bytes: u64, size: usize| (bytes / size as u64).min(capacity.into()).max(1) as u32;
        let (hit, candidate) = (size_of::<[u32; 2]>(), size_of::<Candidate>());
        let limits = SeedLimits {
            overflow_capacity: entries(self.overflow_capacity, bytes / 8, 2 * hit),
            frequent_capacity: entries(self.frequent_capacity, bytes / 16, hit),
            // They are copied for the host.
            candidate_capacity: entries(self.candidate_capacity, bytes / 16, candidate),
            // A part may have as many words as windows, and one start more.
            part_windows: entries(self.part_windows, max_binding - 4, size_of::<u32>()),
            page_chunks: entries(self.page_chunks, max_binding, size_of::<Chunk>()),
            ..self
        };
        let others = hit as u64 * u64::from(limits.listed_words());
        let buckets = max_binding.saturating_sub(others).min(bytes / 2);
        SeedLimits { bucket_capacity: entries(self.bucket_capacity, buckets / u64::from(N_SLOTS), hit), ..limits }
    }

    /// These limits as far as the kernels can go; a query window has `n_flips` lookups.
    pub(super) fn within_kernels(self, n_flips: u32) -> SeedLimits {
        SeedLimits {
            bucket_capacity: self.bucket_capacity.min(N_SORTED),
            max_piece: self.max_piece.min(MAX_POSITIONS).min(MAX_GROUPS * LOOKUP_LANES / n_flips).max(1),
            frequent_groups: self.frequent_groups.clamp(1, MAX_GROUPS),
            frequent_turns: self.frequent_turns.max(1),
            walk_groups: self.walk_groups.clamp(1, MAX_GROUPS),
            extension_capacity: self.extension_capacity.max(1),
            batch: self.batch.clamp(1, MAX_PIECES as usize),
            run_cap: self.run_cap.clamp(1, MAX_RUN_CAP),
            part_windows: self.part_windows.max(1),
            page_chunks: self.page_chunks.max(1),
            ..self
        }
    }

    /// Hits that a piece should put into buckets: so many that few buckets need a workgroup of their own, even if hits are
    /// spread unevenly.
    pub(super) fn wanted_hits(&self) -> u32 {
        N_SLOTS * (MOST_SIDE_BY_SIDE * 5 / 8).min(self.bucket_capacity.div_ceil(2))
    }

    /// Pairs of words of the buckets and of what stands behind them.
    pub(super) fn bucket_words(&self) -> usize {
        N_SLOTS as usize * self.bucket_capacity as usize + self.listed_words() as usize
    }

    fn listed_words(&self) -> u32 {
        2 * self.overflow_capacity + self.frequent_capacity + N_SLOTS
    }
}
