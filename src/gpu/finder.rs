//! The GPU as an [`HspFinder`].

use std::sync::{Mutex, PoisonError};

use super::context::{Gpu, GpuError};
use super::fault::{FaultLog, OnFault};
use super::seeding::{GpuSeeder, SeedKernels, SeedLimits};
use super::several::Engine;
use crate::error::Result;
use crate::filter::{FoundHsps, HspFinder};
use crate::options::Options;
use crate::seed::WordTable;
use crate::sequence::SequenceSet;

/// Bases of all strands together from which on the GPU pays where the CPU could do it as well.
const WORTHWHILE_BASES: usize = 1 << 16;

/// A GPU that searches query strands for HSPs.
pub struct GpuFinder {
    seeder: Mutex<GpuSeeder>,
    faults: FaultLog,
    takes_all: bool,
}

impl Engine for GpuFinder {
    fn fault(&self) -> Option<String> {
        self.faults.first()
    }
}

impl GpuFinder {
    /// Why these options need the CPU, if they do.
    pub fn reason_against(options: &Options) -> Option<String> {
        match options.masking {
            0 => GpuSeeder::reason_against(options),
            _ => Some("--masking changes the words between strands: they are searched on the CPU".to_string()),
        }
    }

    /// Uploads the target and its words, for kernels that were compiled before; [`reason_against`](Self::reason_against)
    /// must be `None`.
    ///
    /// # Errors
    /// If the device cannot hold them.
    pub fn new(
        gpu: &Gpu,
        kernels: SeedKernels,
        (target, table): (&SequenceSet, &WordTable),
        options: &Options,
        on_fault: OnFault,
    ) -> std::result::Result<GpuFinder, GpuError> {
        let limits = SeedLimits::for_device(gpu);
        let seeder = GpuSeeder::with_kernels(gpu, kernels, (target, table), options, limits)?;
        // Whoever fails without the GPU asked for it.
        let takes_all = on_fault == OnFault::Fail;
        Ok(GpuFinder { seeder: Mutex::new(seeder), faults: FaultLog::new(on_fault), takes_all })
    }

    /// Takes query strands of any size, also where they do not pay.
    pub fn take_all(self) -> GpuFinder {
        GpuFinder { takes_all: true, ..self }
    }
}

impl HspFinder for GpuFinder {
    fn find_many(&self, target: &SequenceSet, strands: &[&SequenceSet]) -> Result<FoundHsps> {
        let nothing = FoundHsps { hsps: vec![None; strands.len()], ..FoundHsps::default() };
        let n_bases: usize = strands.iter().map(|strand| strand.len()).sum();
        let is_small = n_bases < WORTHWHILE_BASES && !self.takes_all;
        if is_small || self.fault().is_some() {
            return Ok(nothing);
        }
        let mut seeder = self.seeder.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same_strand = |strand: &SequenceSet| strand.is_reversed == target.is_reversed;
        let (places, possible): (Vec<usize>, Vec<(&SequenceSet, bool)>) = strands
            .iter()
            .enumerate()
            .map(|(place, &strand)| (place, (strand, is_same_strand(strand))))
            .filter(|(_, (strand, same))| seeder.reason_against_query(target, strand, *same).is_none())
            .unzip();
        let mut found = nothing;
        match seeder.find_many(target, &possible) {
            Ok((hsps, counts)) => {
                found.counts = counts;
                for (place, hsps) in places.into_iter().zip(hsps) {
                    found.hsps[place] = Some(hsps);
                }
            }
            Err(error) => self.faults.note(&error)?,
        }
        Ok(found)
    }
}
