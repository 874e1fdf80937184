//! The GPU as a [`BulkExtender`]: inspect all, execute what can become a block.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::context::{Gpu, GpuError};
use super::extender::{GpuCounts, GpuExtender};
use super::fault::{FaultLog, OnFault};
use super::unit::GpuUnit;
use crate::alignment::Anchor;
use crate::error::Result;
use crate::extend::{BulkExtender, BulkUnit, Side};
use crate::options::GappedOptions;
use crate::scoring::Scoring;
use crate::sequence::SequenceSet;

/// A GPU that extends anchors of many units, one batch at a time.
pub struct GpuBulk {
    extender: Mutex<GpuExtender>,
    faults: FaultLog,
}

impl GpuBulk {
    /// Compiles the kernels; [`GpuExtender::reason_against`] must be `None`.
    ///
    /// # Errors
    /// If the device refuses a kernel.
    pub fn new(
        gpu: Gpu,
        scoring: &Scoring,
        options: &GappedOptions,
        on_fault: OnFault,
    ) -> std::result::Result<GpuBulk, GpuError> {
        let extender = GpuExtender::new(gpu, scoring, options)?;
        Ok(GpuBulk { extender: Mutex::new(extender), faults: FaultLog::new(on_fault) })
    }

    /// What the device did so far.
    pub fn counts(&self) -> GpuCounts {
        self.lock().counts()
    }

    /// Why the device was given up, if it was.
    pub fn fault(&self) -> Option<String> {
        self.faults.first()
    }

    fn lock(&self) -> MutexGuard<'_, GpuExtender> {
        self.extender.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Anchors of a unit from which on the GPU pays beside a few CPU cores: below, the latency of its long runs counts.
const WORTHWHILE_ANCHORS: usize = 2048;

impl BulkExtender for GpuBulk {
    fn least_anchors(&self) -> usize {
        match self.faults.on_fault() {
            OnFault::UseCpu => WORTHWHILE_ANCHORS,
            // The user asked for the GPU.
            OnFault::Fail => 1,
        }
    }

    fn open<'a>(&'a self, target: &'a SequenceSet, query: &'a SequenceSet) -> Result<Option<Box<dyn BulkUnit + 'a>>> {
        if self.fault().is_some() {
            return Ok(None);
        }
        let unit = self.lock().load(target, query).ok();
        Ok(unit.map(|unit| Box::new(GpuBulkUnit { bulk: self, unit }) as Box<dyn BulkUnit + 'a>))
    }
}

struct GpuBulkUnit<'a> {
    bulk: &'a GpuBulk,
    unit: GpuUnit<'a>,
}

impl BulkUnit for GpuBulkUnit<'_> {
    fn extend(
        &mut self,
        anchors: &[Anchor],
        wants_script: &dyn Fn(&Side, &Side) -> bool,
    ) -> Result<Vec<Option<(Side, Side)>>> {
        if self.bulk.fault().is_some() {
            return Ok(vec![None; anchors.len()]);
        }
        match self.bulk.lock().extend(&self.unit, anchors, wants_script) {
            Ok(extended) => Ok(extended),
            Err(error) => self.bulk.faults.note(&error).map(|()| vec![None; anchors.len()]),
        }
    }
}
