//! The GPU as a [`BulkExtender`]: inspect all, execute what can become a block.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::context::{Gpu, GpuError};
use super::extender::{GpuCounts, GpuExtender};
use super::fault::{FaultLog, OnFault};
use super::relaxed::RelaxedExtender;
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
    extender: Mutex<Option<Engine>>,
    faults: FaultLog,
}

/// The kernels of one contract.
enum Engine {
    Exact(Box<GpuExtender>),
    Relaxed(Box<RelaxedExtender>),
}

impl Engine {
    fn new(gpu: Gpu, scoring: &Scoring, options: &GappedOptions) -> std::result::Result<Engine, GpuError> {
        Ok(match options.contract {
            Contract::Exact => Engine::Exact(Box::new(GpuExtender::new(gpu, scoring, options)?)),
            Contract::Relaxed => Engine::Relaxed(Box::new(RelaxedExtender::new(gpu, scoring, options)?)),
        })
    }

    fn counts(&self) -> GpuCounts {
        match self {
            Engine::Exact(extender) => extender.counts(),
            Engine::Relaxed(extender) => extender.counts(),
        }
    }

    fn load<'a>(&self, target: &'a SequenceSet, query: &'a SequenceSet) -> std::result::Result<GpuUnit<'a>, String> {
        match self {
            Engine::Exact(extender) => extender.load(target, query),
            Engine::Relaxed(extender) => extender.load(target, query),
        }
    }

    fn extend(
        &mut self,
        unit: &GpuUnit,
        anchors: &[Anchor],
        wants_script: &dyn Fn(&Side, &Side) -> bool,
    ) -> std::result::Result<Vec<Option<(Side, Side)>>, GpuError> {
        match self {
            Engine::Exact(extender) => extender.extend(unit, anchors, wants_script),
            Engine::Relaxed(extender) => extender.extend(unit, anchors, wants_script),
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
        }
    }

    /// What the device did so far; `None` if it was never needed.
    pub fn counts(&self) -> Option<GpuCounts> {
        self.lock().as_ref().map(Engine::counts)
    }

    /// Why the device was given up, if it was.
    pub fn fault(&self) -> Option<String> {
        self.faults.first()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Engine>> {
        self.extender.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` with the extender, and takes note of its failure.
    fn with_extender<T>(
        &self,
        work: impl FnOnce(&mut Engine) -> std::result::Result<T, GpuError>,
    ) -> Result<Option<T>> {
        if self.fault().is_some() {
            return Ok(None);
        }
        let mut slot = self.lock();
        let done = match &mut *slot {
            Some(extender) => work(extender),
            None => Engine::new(self.gpu.clone(), &self.scoring, &self.options).and_then(|mut engine| {
                if let (Engine::Exact(extender), OnFault::UseCpu) = (&mut engine, self.faults.on_fault()) {
                    extender.leave_long_runs(LONG_ROWS);
                }
                work(slot.insert(engine))
            }),
        };
        match done {
            Ok(result) => Ok(Some(result)),
            Err(error) => self.faults.note(&error).map(|()| None),
        }
    }
}

/// Anchors of a unit from which on the GPU pays beside the CPU's cores. Fewer are mostly long runs, which the commit
/// order strings together; then latency counts, and the CPU's is lower (measured on an H200 beside 16 cores).
const WORTHWHILE_ANCHORS: usize = 1 << 16;

/// Rows from which on a run is left to the CPU, if that may share the work.
const LONG_ROWS: u32 = 1 << 13;

impl BulkExtender for GpuBulk {
    fn least_anchors(&self) -> usize {
        match self.faults.on_fault() {
            OnFault::UseCpu => WORTHWHILE_ANCHORS,
            // The user asked for the GPU.
            OnFault::Fail => 1,
        }
    }

    fn shares_anchors(&self) -> bool {
        self.faults.on_fault() == OnFault::UseCpu
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
        wants_script: &dyn Fn(&Side, &Side) -> bool,
    ) -> Result<Vec<Option<(Side, Side)>>> {
        let extended = self.bulk.with_extender(|extender| extender.extend(&self.unit, anchors, wants_script))?;
        Ok(extended.unwrap_or_else(|| vec![None; anchors.len()]))
    }
}
