//! The GPU as a [`BulkExtender`]: inspect all, execute what can become a block.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::context::{Gpu, GpuError};
use super::extender::{GpuCounts, GpuExtender};
use super::fault::{FaultLog, OnFault};
use super::relaxed::RelaxedExtender;
use super::several::Engine;
use super::unit::GpuUnit;
use crate::alignment::Anchor;
use crate::error::Result;
use crate::extend::{BulkExtender, BulkUnit, Side};
use crate::options::{Contract, GappedOptions};
use crate::scoring::Scoring;
use crate::sequence::SequenceSet;

/// A GPU that extends anchors of many units, one batch at a time.
pub struct GpuBulk {
    gpu: Gpu,
    scoring: Scoring,
    options: GappedOptions,
    /// Compiled when the first unit comes: that takes longer than many a run.
    extender: Mutex<Option<AnyExtender>>,
    faults: FaultLog,
    takes_all: bool,
}

impl Engine for GpuBulk {
    fn fault(&self) -> Option<String> {
        self.faults.first()
    }
}

/// The kernels of one contract.
enum AnyExtender {
    Exact(Box<GpuExtender>),
    Relaxed(Box<RelaxedExtender>),
}

impl AnyExtender {
    fn new(gpu: Gpu, scoring: &Scoring, options: &GappedOptions) -> std::result::Result<AnyExtender, GpuError> {
        Ok(match options.contract {
            Contract::Exact => AnyExtender::Exact(Box::new(GpuExtender::new(gpu, scoring, options)?)),
            Contract::Relaxed => AnyExtender::Relaxed(Box::new(RelaxedExtender::new(gpu, scoring, options)?)),
        })
    }

    fn counts(&self) -> GpuCounts {
        match self {
            AnyExtender::Exact(extender) => extender.counts(),
            AnyExtender::Relaxed(extender) => extender.counts(),
        }
    }

    fn load<'a>(&self, target: &'a SequenceSet, query: &'a SequenceSet) -> std::result::Result<GpuUnit<'a>, String> {
        match self {
            AnyExtender::Exact(extender) => extender.load(target, query),
            AnyExtender::Relaxed(extender) => extender.load(target, query),
        }
    }

    fn extend(
        &mut self,
        unit: &GpuUnit,
        anchors: &[Anchor],
        wants_script: &dyn Fn(&Side, &Side) -> bool,
    ) -> std::result::Result<Vec<Option<(Side, Side)>>, GpuError> {
        match self {
            AnyExtender::Exact(extender) => extender.extend(unit, anchors, wants_script),
            AnyExtender::Relaxed(extender) => extender.extend(unit, anchors, wants_script),
        }
    }
}

impl GpuBulk {
    /// Keeps a device for units to come; [`GpuExtender::reason_against`] must be `None`.
    pub fn new(gpu: Gpu, scoring: &Scoring, options: &GappedOptions, on_fault: OnFault) -> GpuBulk {
        GpuBulk {
            gpu,
            scoring: scoring.clone(),
            options: options.clone(),
            extender: Mutex::new(None),
            faults: FaultLog::new(on_fault),
            // The user asked for the GPU.
            takes_all: on_fault == OnFault::Fail,
        }
    }

    /// What the device did so far; `None` if it was never needed.
    pub fn counts(&self) -> Option<GpuCounts> {
        self.lock().as_ref().map(AnyExtender::counts)
    }

    /// Takes units of any size, also where they do not pay.
    pub fn take_all(self) -> GpuBulk {
        GpuBulk { takes_all: true, ..self }
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    fn lock(&self) -> MutexGuard<'_, Option<AnyExtender>> {
        self.extender.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` with the extender, and takes note of its failure.
    fn with_extender<T>(
        &self,
        work: impl FnOnce(&mut AnyExtender) -> std::result::Result<T, GpuError>,
    ) -> Result<Option<T>> {
        if self.fault().is_some() {
            return Ok(None);
        }
        let mut slot = self.lock();
        let done = match &mut *slot {
            Some(extender) => work(extender),
            None => AnyExtender::new(self.gpu.clone(), &self.scoring, &self.options).and_then(|mut extender| {
                if let (AnyExtender::Exact(extender), true) = (&mut extender, self.shares_anchors()) {
                    extender.leave_long_runs(LONG_ROWS);
                }
                work(slot.insert(extender))
            }),
        };
        match done {
            Ok(result) => Ok(Some(result)),
            Err(error) => self.faults.note(&error).map(|()| None),
        }
    }
}

/// Anchors of a unit from which on the GPU pays beside the CPU's cores, start-up and compilation included (measured on an
/// H200 beside 16 cores).
const WORTHWHILE_ANCHORS: usize = 1 << 13;

/// Rows from which on a run is left to the CPU, if that may share the work.
const LONG_ROWS: u32 = 1 << 13;

impl BulkExtender for GpuBulk {
    fn least_anchors(&self) -> usize {
        if self.takes_all { 1 } else { WORTHWHILE_ANCHORS }
    }

    fn shares_anchors(&self) -> bool {
        !self.takes_all
    }

    fn open<'a>(&'a self, target: &'a SequenceSet, query: &'a SequenceSet) -> Result<Option<Box<dyn BulkUnit + 'a>>> {
        let unit = self.with_extender(|extender| Ok(extender.load(target, query).ok()))?.flatten();
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
        wants_script: &(dyn Fn(&Side, &Side) -> bool + Sync),
    ) -> Result<Vec<Option<(Side, Side)>>> {
        let extended = self.bulk.with_extender(|extender| extender.extend(&self.unit, anchors, wants_script))?;
        Ok(extended.unwrap_or_else(|| vec![None; anchors.len()]))
    }
}
