//! The GPU as a [`BulkExtender`]: screen, inspect, execute what can become a block.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::context::{Gpu, GpuError};
use super::counts::GpuCounts;
use super::extender::{GpuExtender, likely_window, params};
use super::fault::{FaultLog, OnFault};
use super::relaxed::{RelaxedExtender, of_relaxed_screen};
use super::screen::{GpuScreen, Screened};
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
    /// Both are compiled when they are first needed: that takes longer than many a run.
    extender: Mutex<Option<AnyExtender>>,
    screen: Mutex<Option<GpuScreen>>,
    faults: FaultLog,
    /// Units that it could not hold.
    units_left: AtomicU64,
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
            screen: Mutex::new(None),
            faults: FaultLog::new(on_fault),
            units_left: AtomicU64::new(0),
            // The user asked for the GPU.
            takes_all: on_fault == OnFault::Fail,
        }
    }

    /// What the device did so far; `None` if it was never needed.
    pub fn counts(&self) -> Option<GpuCounts> {
        let of_extender = lock(&self.extender).as_ref().map(AnyExtender::counts);
        let screen_busy = lock(&self.screen).as_ref().map(GpuScreen::busy);
        let units_left = self.units_left.load(Ordering::Relaxed);
        if of_extender.is_none() && screen_busy.is_none() && units_left == 0 {
            return None;
        }
        Some(GpuCounts { units_left, screen_busy: screen_busy.unwrap_or_default(), ..of_extender.unwrap_or_default() })
    }

    /// Takes units of any size, also where they do not pay.
    pub fn take_all(self) -> GpuBulk {
        GpuBulk { takes_all: true, ..self }
    }

    /// Anchors of a unit from which on a device pays; all if it `takes_all`.
    pub fn worthwhile_anchors(takes_all: bool) -> usize {
        if takes_all { 1 } else { WORTHWHILE_ANCHORS }
    }

    /// Anchors from which on the screen pays; all if the device `takes_all`.
    pub fn worthwhile_screen(takes_all: bool) -> usize {
        if takes_all { 1 } else { WORTHWHILE_SCREEN }
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    fn new_extender(&self) -> std::result::Result<AnyExtender, GpuError> {
        let mut extender = AnyExtender::new(self.gpu.clone(), &self.scoring, &self.options)?;
        if let (AnyExtender::Exact(extender), true) = (&mut extender, self.shares_anchors()) {
            extender.leave_long_runs(LONG_ROWS);
        }
        Ok(extender)
    }

    fn new_screen(&self) -> std::result::Result<GpuScreen, GpuError> {
        let variant = self.gpu.variant(likely_window(&self.scoring, self.options.y_drop));
        let params = params(&self.scoring, &self.options);
        let params = match self.options.contract {
            Contract::Exact => params,
            Contract::Relaxed => of_relaxed_screen(params),
        };
        GpuScreen::new(self.gpu.clone(), variant, params)
    }

    /// Runs `work` with an engine, which `make` compiles if it is the first time, and takes note of its failure.
    fn with<E, T>(
        &self,
        engine: &Mutex<Option<E>>,
        make: impl FnOnce() -> std::result::Result<E, GpuError>,
        work: impl FnOnce(&mut E) -> std::result::Result<T, GpuError>,
    ) -> Result<Option<T>> {
        if self.fault().is_some() {
            return Ok(None);
        }
        let mut slot = lock(engine);
        let done = match &mut *slot {
            Some(engine) => work(engine),
            None => make().and_then(|engine| work(slot.insert(engine))),
        };
        match done {
            Ok(result) => Ok(Some(result)),
            Err(error) => self.faults.note(&error).map(|()| None),
        }
    }
}

fn lock<E>(engine: &Mutex<Option<E>>) -> MutexGuard<'_, Option<E>> {
    engine.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Anchors of a unit from which on the GPU pays beside the CPU's cores, start-up and compilation included (measured on an
/// H200 beside 16 cores).
const WORTHWHILE_ANCHORS: usize = 1 << 13;
/// Anchors from which on the screen pays: in unrelated sequence each takes a core most of a millisecond.
const WORTHWHILE_SCREEN: usize = 1 << 13;

/// Rows from which on a run is left to the CPU, if that may share the work.
const LONG_ROWS: u32 = 1 << 13;

impl BulkExtender for GpuBulk {
    fn least_anchors(&self) -> usize {
        GpuBulk::worthwhile_anchors(self.takes_all)
    }

    fn least_screened(&self) -> usize {
        GpuBulk::worthwhile_screen(self.takes_all)
    }

    fn shares_anchors(&self) -> bool {
        !self.takes_all
    }

    fn open<'a>(&'a self, target: &'a SequenceSet, query: &'a SequenceSet) -> Result<Option<Box<dyn BulkUnit + 'a>>> {
        if self.fault().is_some() {
            return Ok(None);
        }
        let Ok(unit) = GpuUnit::new(&self.gpu, &self.scoring.gapped, target, query) else {
            self.units_left.fetch_add(1, Ordering::Relaxed);
            return Ok(None);
        };
        Ok(Some(Box::new(GpuBulkUnit { bulk: self, unit })))
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
        let bulk = self.bulk;
        let work = |extender: &mut AnyExtender| extender.extend(&self.unit, anchors, wants_script);
        let extended = bulk.with(&bulk.extender, || bulk.new_extender(), work)?;
        Ok(extended.unwrap_or_else(|| vec![None; anchors.len()]))
    }

    fn screen(&mut self, anchors: &[Anchor], goal: i64) -> Result<Vec<bool>> {
        let bulk = self.bulk;
        let work = |screen: &mut GpuScreen| screen.run(&self.unit, anchors, goal);
        let screened = bulk.with(&bulk.screen, || bulk.new_screen(), work)?;
        Ok(match screened {
            Some(screened) => screened.into_iter().map(|screened| screened != Screened::Kept).collect(),
            None => vec![false; anchors.len()],
        })
    }
}
