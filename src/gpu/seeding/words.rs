//! The word table in device memory (`shaders/common/seed_lookup.wgsl`).

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::layout::FLIP_BITS;
use crate::gpu::buffer::GpuVec;
use crate::gpu::context::{Gpu, GpuError};
use crate::seed::WordTable;
use crate::seed::word_parts::WordArrays;

/// Most lookups of a query window.
const MAX_FLIPS: usize = 1 << FLIP_BITS;
/// Most groups of neighbouring places that go to an index.
const MAX_GROUPS: usize = 32;

/// Twin of `SeedWords` in `shaders/common/seed_lookup.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct SeedWords {
    flips: [u32; MAX_FLIPS],
    groups: [[u32; 4]; MAX_GROUPS],
}

/// A word table in device memory. Where it is too large for a binding it stands there in parts, each a table of a range of
/// the target; a piece of the search goes through them one after the other.
#[derive(Debug)]
pub struct DeviceWords {
    /// How a window becomes words.
    pub words: GpuVec<SeedWords>,
    /// Parts, that of the newest windows first.
    pub parts: Vec<DevicePart>,
    /// Lookups of a query window in each part.
    pub n_flips: u32,
    /// Groups of places.
    pub n_groups: u32,
}

/// A part of a word table in device memory.
#[derive(Debug)]
pub struct DevicePart {
    /// Per 32 words: which occur, and how many occur before.
    pub blocks: GpuVec<[u32; 2]>,
    /// Starts of the lists of words that occur.
    pub starts: GpuVec<u32>,
    /// Ends of target windows.
    pub ends: GpuVec<u32>,
}

impl DeviceWords {
    /// Bytes that a table takes in so many parts, at most.
    pub fn bytes(table: &WordTable, n_parts: usize) -> u64 {
        let (occupied, _, starts, ends) = table.arrays();
        let n_starts = (starts.len() * n_parts).min(ends.len() + n_parts);
        (16 * occupied.len() * n_parts + 4 * n_starts + 4 * ends.len()) as u64
    }

    /// Uploads the parts of a table that end in these ranges.
    ///
    /// # Errors
    /// [`GpuError::OutOfRange`] if the device cannot hold them.
    pub fn upload(
        gpu: &Gpu,
        table: &WordTable,
        ranges: &[Range<u32>],
        transitions: u8,
    ) -> Result<DeviceWords, GpuError> {
        let layout = &table.layout;
        let (flips, groups) = (layout.flips(transitions), layout.groups());
        if layout.len > 32 || flips.len() > MAX_FLIPS || groups.len() > MAX_GROUPS {
            let reason = format!("a seed of {} places and {} lookups is too long for the GPU", layout.len, flips.len());
            return Err(GpuError::OutOfRange(reason));
        }
        let (needed, max) = (16 * table.arrays().0.len() as u64, gpu.capabilities().max_binding);
        if needed > max {
            let (needed, max) = (needed.div_ceil(1 << 20), max >> 20);
            let reason = format!("so large words need {needed} MiB of GPU memory at a stretch; the GPU takes {max}");
            return Err(GpuError::OutOfRange(reason));
        }
        let mut words = SeedWords::zeroed();
        words.flips[..flips.len()].copy_from_slice(&flips);
        for (entry, &(shift, mask, to, plane)) in words.groups.iter_mut().zip(&groups) {
            *entry = [shift, mask as u32, to, plane];
        }
        let mut parts = Vec::with_capacity(ranges.len());
        for range in ranges {
            parts.push(DevicePart::upload(gpu, &table.part(range)));
            if ranges.len() > 1 {
                // What is under way takes memory of its own.
                gpu.queue.submit([]);
                gpu.wait()?;
            }
        }
        let words = GpuVec::uniform(gpu, "words", &words);
        Ok(DeviceWords { words, parts, n_flips: flips.len() as u32, n_groups: groups.len() as u32 })
    }
}

impl DevicePart {
    fn upload(gpu: &Gpu, part: &WordArrays) -> DevicePart {
        let halves = |(&bits, &rank): (&u64, &u32)| {
            let low = bits as u32;
            [[low, rank], [(bits >> 32) as u32, rank + low.count_ones()]]
        };
        let blocks: Vec<[[u32; 2]; 2]> = part.occupied.par_iter().zip(&part.ranks[..]).map(halves).collect();
        DevicePart {
            blocks: GpuVec::from_slice(gpu, "word blocks", blocks.as_flattened()),
            starts: GpuVec::from_slice(gpu, "word starts", &part.starts),
            ends: GpuVec::from_slice(gpu, "word ends", &part.ends),
        }
    }
}
