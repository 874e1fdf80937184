//! The GPU as a [`BulkExtender`]: inspect all, execute what can become a block.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::context::{Gpu, GpuError};
use super::extender::{GpuCounts, GpuExtender};
use super::unit::GpuUnit;
use crate::alignment::Anchor;
use crate::error::{Error, Result};
use crate::extend::{BulkExtender, BulkUnit, Side};
use crate::options::GappedOptions;
use crate::scoring::Scoring;
use crate::sequence::SequenceSet;

/// What happens when the device fails in the middle of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFault {
    /// The CPU does what is left, and the run says so at its end.
    UseCpu,
    /// The run ends with an error.
    Fail,
}

/// A GPU that extends anchors of many units, one batch at a time.
pub struct GpuBulk {
    extender: Mutex<GpuExtender>,
    on_fault: OnFault,
    /// The first fault; after it nothing more is sent to the device.
    fault: Mutex<Option<String>>,
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
        Ok(GpuBulk { extender: Mutex::new(extender), on_fault, fault: Mutex::new(None) })
    }

    /// What the device did so far.
    pub fn counts(&self) -> GpuCounts {
        self.lock().counts()
    }

    /// Why the device was given up, if it was.
    pub fn fault(&self) -> Option<String> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lock(&self) -> MutexGuard<'_, GpuExtender> {
        self.extender.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a fault; an error if the CPU may not step in.
    fn give_up(&self, error: &GpuError) -> Result<()> {
        let message = error.to_string();
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message.clone());
        match self.on_fault {
            OnFault::UseCpu => Ok(()),
            OnFault::Fail => Err(Error::Device(message)),
        }
    }
}

/// Anchors of a unit from which on the GPU pays beside a few CPU cores: below, the latency of its long runs counts.
const WORTHWHILE_ANCHORS: usize = 2048;

impl BulkExtender for GpuBulk {
    fn least_anchors(&self) -> usize {
        match self.on_fault {
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
            Err(error) => self.bulk.give_up(&error).map(|()| vec![None; anchors.len()]),
        }
    }
}
