//! The word table in device memory (`shaders/common/seed_lookup.wgsl`).

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::layout::FLIP_BITS;
use crate::gpu::buffer::GpuVec;
use crate::gpu::context::Gpu;
use crate::seed::WordTable;

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

/// A word table in device memory.
#[derive(Debug)]
pub struct DeviceWords {
    /// How a window becomes words.
    pub words: GpuVec<SeedWords>,
    /// Per 32 words: which occur, and how many occur before.
    pub blocks: GpuVec<[u32; 2]>,
    /// Starts of the lists of words that occur.
    pub starts: GpuVec<u32>,
    /// Ends of target windows.
    pub ends: GpuVec<u32>,
    /// Lookups of a query window.
    pub n_flips: u32,
    /// Groups of places.
    pub n_groups: u32,
}

impl DeviceWords {
    /// Bytes that a table takes.
    pub fn bytes(table: &WordTable) -> u64 {
        let (occupied, _, starts, ends) = table.arrays();
        (16 * occupied.len() + 4 * starts.len() + 4 * ends.len()) as u64
    }

    /// Uploads a table; the reason if the device cannot hold it.
    pub fn upload(gpu: &Gpu, table: &WordTable, transitions: u8) -> Result<DeviceWords, String> {
        let layout = &table.layout;
        let (flips, groups) = (layout.flips(transitions), layout.groups());
        if layout.len > 32 || flips.len() > MAX_FLIPS || groups.len() > MAX_GROUPS {
            return Err(format!("a seed of {} places and {} lookups is too long for the GPU", layout.len, flips.len()));
        }
        let (occupied, ranks, starts, ends) = table.arrays();
        let largest = (8 * 2 * occupied.len()).max(4 * starts.len()).max(4 * ends.len()) as u64;
        let max = gpu.capabilities().max_binding;
        if largest > max {
            let (needed, max) = (largest >> 20, max >> 20);
            return Err(format!("the target's word table needs {needed} MiB at a stretch; the GPU takes {max}"));
        }
        let mut words = SeedWords::zeroed();
        words.flips[..flips.len()].copy_from_slice(&flips);
        for (entry, &(shift, mask, to, plane)) in words.groups.iter_mut().zip(&groups) {
            *entry = [shift, mask as u32, to, plane];
        }
        let halves = |(&bits, &rank): (&u64, &u32)| {
            let low = bits as u32;
            [[low, rank], [(bits >> 32) as u32, rank + low.count_ones()]]
        };
        let blocks: Vec<[[u32; 2]; 2]> = occupied.par_iter().zip(ranks).map(halves).collect();
        Ok(DeviceWords {
            words: GpuVec::uniform(gpu, "words", &words),
            blocks: GpuVec::from_slice(gpu, "word blocks", blocks.as_flattened()),
            starts: GpuVec::from_slice(gpu, "word starts", starts),
            ends: GpuVec::from_slice(gpu, "word ends", ends),
            n_flips: flips.len() as u32,
            n_groups: groups.len() as u32,
        })
    }
}
