//! The GPU as an [`HspFinder`]: one query strand at a time.

use std::sync::{Mutex, PoisonError};

use super::context::{Gpu, GpuError};
use super::fault::{FaultLog, OnFault};
use super::seeding::GpuSeeder;
use super::several::Engine;
use crate::alignment::Hsp;
use crate::error::Result;
use crate::filter::{HspFinder, SearchCounts};
use crate::options::Options;
use crate::seed::WordTable;
use crate::sequence::SequenceSet;

/// Query bases from which on the GPU pays where the CPU could do it as well.
const WORTHWHILE_QUERY: usize = 1 << 16;

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

    /// Uploads the target and its words; [`reason_against`](Self::reason_against) must be `None`.
    ///
    /// # Errors
    /// If the device cannot hold them.
    pub fn new(
        gpu: &Gpu,
        target: &SequenceSet,
        table: &WordTable,
        options: &Options,
        on_fault: OnFault,
    ) -> std::result::Result<GpuFinder, GpuError> {
        let seeder = GpuSeeder::new(gpu, target, table, options)?;
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
    fn find(&self, query: &SequenceSet, is_same_strand: bool) -> Result<Option<(Vec<Hsp>, SearchCounts)>> {
        let is_small = query.len() < WORTHWHILE_QUERY && !self.takes_all;
        if is_small || self.fault().is_some() {
            return Ok(None);
        }
        let mut seeder = self.seeder.lock().unwrap_or_else(PoisonError::into_inner);
        if seeder.reason_against_query(query, is_same_strand).is_some() {
            return Ok(None);
        }
        match seeder.find(query, is_same_strand) {
            Ok(found) => Ok(Some(found)),
            Err(error) => self.faults.note(&error).map(|()| None),
        }
    }
}
