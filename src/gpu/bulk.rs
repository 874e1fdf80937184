//! The GPU as a [`BulkExtender`]: screen, inspect, execute what can become a block.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use super::budget::Budget;
use super::context::{Gpu, GpuError};
use super::counts::GpuCounts;
use super::extender::{CompiledForms, GpuExtender, likely_window, params};
use super::fault::{FaultLog, OnFault};
use super::relaxed::{RelaxedExtender, of_relaxed_screen};
use super::screen::{GpuScreen, Screened};
use super::several::Engine;
use super::unit::GpuUnit;
use crate::alignment::Anchor;
use crate::error::Result;
use crate::extend::bounds::AcceptedBlocks;
use crate::extend::{BoundedAnchor, BulkExtender, BulkUnit, Side};
use crate::options::{Contract, GappedOptions};
use crate::scoring::Scoring;
use crate::sequence::SequenceSet;

/// A GPU that extends anchors of many units, one batch at a time.
pub struct GpuBulk {
    gpu: Gpu,
    scoring: Scoring,
    options: GappedOptions,
    /// Both are compiled when they are first needed: that takes longer than many a run.
    extenders: [Mutex<Option<AnyExtender>>; WAVES],
    turn: AtomicUsize,
    screen: Mutex<Option<GpuScreen>>,
    compiled: CompiledForms,
    /// The thread that compiles them ahead, if that has begun.
    compiling: OnceLock<Option<JoinHandle<std::result::Result<(), GpuError>>>>,
    faults: FaultLog,
    /// Units that it could not hold.
    units_left: AtomicU64,
    takes_all: bool,
    /// It has no other cores than the CPU engine, which is faster. So it only helps: nobody waits until its kernels are
    /// compiled, and it is given few anchors at a time, and no wide runs.
    is_helper: bool,
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
    fn new(
        gpu: Gpu,
        compiled: CompiledForms,
        scoring: &Scoring,
        options: &GappedOptions,
    ) -> std::result::Result<AnyExtender, GpuError> {
        Ok(match options.contract {
            Contract::Exact => {
                AnyExtender::Exact(Box::new(GpuExtender::with_compiled(gpu, compiled, scoring, options)?))
            }
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

    fn extend_bounded(
        &mut self,
        unit: &GpuUnit,
        anchors: &[BoundedAnchor],
        accepted: &AcceptedBlocks,
        wants_script: &dyn Fn(&Side, &Side) -> bool,
    ) -> std::result::Result<Vec<Option<(Side, Side)>>, GpuError> {
        match self {
            AnyExtender::Exact(extender) => extender.extend_bounded(unit, anchors, accepted, wants_script),
            // Its contract knows no bounds.
            AnyExtender::Relaxed(_) => Ok(vec![None; anchors.len()]),
        }
    }
}

impl GpuBulk {
    /// Keeps a device for units to come; [`GpuExtender::reason_against`] must be `None`.
    pub fn new(gpu: Gpu, scoring: &Scoring, options: &GappedOptions, on_fault: OnFault) -> GpuBulk {
        let is_software = gpu.capabilities().is_software;
        GpuBulk {
            gpu,
            scoring: scoring.clone(),
            options: options.clone(),
            extenders: Default::default(),
            turn: AtomicUsize::new(0),
            screen: Mutex::new(None),
            compiled: CompiledForms::default(),
            compiling: OnceLock::new(),
            faults: FaultLog::new(on_fault),
            units_left: AtomicU64::new(0),
            // The user asked for the GPU.
            takes_all: on_fault == OnFault::Fail,
            is_helper: is_software && options.contract == Contract::Exact,
        }
    }

    /// What the device did so far; `None` if it was never needed.
    pub fn counts(&self) -> Option<GpuCounts> {
        let of_extenders = self.extenders.iter().filter_map(|extender| Some(lock(extender).as_ref()?.counts()));
        let of_extenders = of_extenders.reduce(|mut sum, counts| {
            sum += counts;
            sum
        });
        let screen_busy = lock(&self.screen).as_ref().map(GpuScreen::busy);
        let units_left = self.units_left.load(Ordering::Relaxed);
        if of_extenders.is_none() && screen_busy.is_none() && units_left == 0 {
            return None;
        }
        Some(GpuCounts { units_left, screen_busy: screen_busy.unwrap_or_default(), ..of_extenders.unwrap_or_default() })
    }

    /// Begins to compile the kernels on a thread of its own, if that has not been done yet. A failure comes up when they
    /// are needed.
    pub fn compile_ahead(&self) {
        if self.options.contract == Contract::Exact {
            self.compiling();
        }
    }

    /// The thread that compiles the exact kernels ahead. `None`: it could not be started, and they are compiled when they are
    /// needed.
    fn compiling(&self) -> Option<&JoinHandle<std::result::Result<(), GpuError>>> {
        let thread = self.compiling.get_or_init(|| {
            let (gpu, compiled) = (self.gpu.clone(), self.compiled.clone());
            let (scoring, options, takes_wide) = (self.scoring.clone(), self.options.clone(), !self.is_helper);
            let compile = move || GpuExtender::compile(&gpu, &compiled, &scoring, &options, takes_wide);
            std::thread::Builder::new().spawn(compile).ok()
        });
        thread.as_ref()
    }

    /// Takes units of any size, also where they do not pay. A software adapter does so only [in large
    /// waves](Self::in_large_waves).
    pub fn take_all(self) -> GpuBulk {
        GpuBulk { takes_all: true, ..self }
    }

    /// Makes a software adapter do what others do, also where that costs more than it gains: otherwise it only helps the
    /// CPU.
    pub fn in_large_waves(self) -> GpuBulk {
        GpuBulk { is_helper: false, ..self }
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
        let mut extender = AnyExtender::new(self.gpu.clone(), self.compiled.clone(), &self.scoring, &self.options)?;
        if let AnyExtender::Exact(extender) = &mut extender {
            *extender.budget_mut() = Budget::of_each(&self.gpu, WAVES as u64);
        }
        if let (AnyExtender::Exact(extender), true) = (&mut extender, self.shares_anchors()) {
            extender.leave_long_runs(LONG_ROWS);
        }
        if let (AnyExtender::Exact(extender), true) = (&mut extender, self.is_helper) {
            // The wider form costs more time to compile than the CPU needs for these runs.
            extender.leave_wide_runs();
        }
        Ok(extender)
    }

    /// One that nobody uses, or else each in turn.
    fn free_extender(&self) -> &Mutex<Option<AnyExtender>> {
        if self.options.contract == Contract::Relaxed {
            // Its waves come one by one.
            return &self.extenders[0];
        }
        let turn = || &self.extenders[self.turn.fetch_add(1, Ordering::Relaxed) % WAVES];
        self.extenders.iter().find(|extender| extender.try_lock().is_ok()).unwrap_or_else(turn)
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

/// Waves under way at a time: while the device works on one, the host makes ready or takes up another.
const WAVES: usize = 2;

fn lock<E>(engine: &Mutex<Option<E>>) -> MutexGuard<'_, Option<E>> {
    engine.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Anchors of a unit from which on the GPU pays beside the CPU's cores, start-up and compilation included (measured on an
/// H200 beside 16 cores).
const WORTHWHILE_ANCHORS: usize = 1 << 13;
/// Anchors from which on the screen pays: in unrelated sequence each takes a core most of a millisecond.
const WORTHWHILE_SCREEN: usize = 1 << 13;

/// Most anchors to give to a software adapter at a time: it runs no more sides at a time than there are cores, and of many
/// anchors most lie on alignments of the first ones. Of yeast chr I, S. cerevisiae x S. mikatae, it then sweeps 2 M rows
/// instead of 18 M in a ring of 1,024 columns.
const FEW_ANCHORS: usize = 2;

/// Anchors of a unit from which on such an adapter may have something to do: the CPU is through with fewer before a kernel
/// is translated.
const HELPER_ANCHORS: usize = 1 << 8;

/// Rows from which on a run is left to the CPU, if that may share the work.
const LONG_ROWS: u32 = 1 << 13;

impl BulkExtender for GpuBulk {
    fn least_anchors(&self) -> usize {
        if self.is_helper { HELPER_ANCHORS } else { GpuBulk::worthwhile_anchors(self.takes_all) }
    }

    fn least_screened(&self) -> usize {
        if self.is_helper { usize::MAX } else { GpuBulk::worthwhile_screen(self.takes_all) }
    }

    fn most_anchors(&self) -> usize {
        if self.is_helper { FEW_ANCHORS } else { usize::MAX }
    }

    fn shares_anchors(&self) -> bool {
        !self.takes_all || self.is_helper
    }

    fn get_ready(&self) -> bool {
        !self.is_helper || self.compiling().is_none_or(JoinHandle::is_finished)
    }

    fn takes_bounded(&self) -> bool {
        self.options.contract == Contract::Exact && !self.is_helper
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
        let extended = bulk.with(bulk.free_extender(), || bulk.new_extender(), work)?;
        Ok(extended.unwrap_or_else(|| vec![None; anchors.len()]))
    }

    fn extend_bounded(
        &mut self,
        anchors: &[BoundedAnchor],
        accepted: &AcceptedBlocks,
        wants_script: &(dyn Fn(&Side, &Side) -> bool + Sync),
    ) -> Result<Vec<Option<(Side, Side)>>> {
        let bulk = self.bulk;
        let work = |extender: &mut AnyExtender| extender.extend_bounded(&self.unit, anchors, accepted, wants_script);
        let extended = bulk.with(bulk.free_extender(), || bulk.new_extender(), work)?;
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
