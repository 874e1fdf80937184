//! `GpuExtender`: one-sided runs on the GPU, equal to [`crate::cpu::Ydrop`] bit for bit.
//!
//! **inspect** (in `inspector.rs`) sweeps every run without links: score, end cell, windows, cells. **execute** (in
//! `executor.rs`) gives the paths of those that are wanted. Runs out of the kernels' range come back as `None`: the CPU
//! does them, and [`GpuCounts`] counts them.

use super::bounded::BoundedRun;
pub use super::budget::Budget;
use super::context::{Gpu, GpuError};
use super::counts::{GpuCounts, Switches};
pub use super::form::CompiledForms;
use super::form::{Form, Scratch};
use super::inspector::Inspected;
use super::layout::{BEST_LIMIT, Params, SCORE_LIMIT};
use super::letters::PADDING;
use super::screen::GpuScreen;
use super::two_pass::{TwoPass, both_sides, extend_anchors, extend_runs};
use super::unit::{GpuUnit, OneSided};
use super::variant::Variant;
use crate::alignment::{Anchor, EditScript};
use crate::extend::BoundedAnchor;
use crate::extend::bounds::AcceptedBlocks;
use crate::extend::side::Side;
use crate::options::GappedOptions;
use crate::scoring::{Matrix, ScoreClasses, Scoring};
use crate::sequence::SequenceSet;

/// Runs one-sided extensions on a GPU.
pub struct GpuExtender {
    pub(super) gpu: Gpu,
    /// The form for most runs, and others once they were needed: a wider ring, bounded runs.
    pub(super) forms: Vec<Form>,
    pub(super) compiled: CompiledForms,
    pub(super) scratch: Scratch,
    pub(super) wide: Option<Variant>,
    pub(super) params: Params,
    matrix: Matrix,
    pub(super) has_cell_limit: bool,
    pub(super) most_rows: u32,
    pub(super) budget: Budget,
    /// Entries of the hull log per run that the largest batches so far have needed.
    pub(super) hulls_per_run: usize,
    pub(super) switches: Switches,
    pub(super) counts: GpuCounts,
}

/// Columns that a window may take: most are about twice the longest insertion that survives.
pub fn likely_window(scoring: &Scoring, y_drop: i32) -> u32 {
    let longest = y_drop.max(0) as u32 / scoring.gap_extend.max(1) as u32;
    // HOXD70 with Y = 9400: 768 columns hold all but a few in 100,000 runs (measured on random sequences).
    (longest + 1).saturating_mul(61) / 25
}

/// The form for most runs, and the one for those whose windows are too wide for it.
fn variants(gpu: &Gpu, scoring: &Scoring, options: &GappedOptions) -> [Variant; 2] {
    let variant = gpu.variant(likely_window(scoring, options.y_drop));
    [variant, gpu.variant(variant.ring() + 1)]
}

impl GpuExtender {
    /// Most runs that a device works on at a time.
    pub const RESIDENT_RUNS: u32 = super::form::RESIDENT_RUNS;

    /// Why these options need the CPU, if they do.
    pub fn reason_against(scoring: &Scoring, options: &GappedOptions) -> Option<String> {
        let (open, extend, y_drop) = (scoring.gap_open, scoring.gap_extend, options.y_drop);
        if open < 0 || extend < 1 {
            return Some("the GPU needs a gap open cost of 0 or more and a gap extend cost of 1 or more".to_string());
        }
        if open > SCORE_LIMIT || extend > SCORE_LIMIT || !(0..=SCORE_LIMIT << 4).contains(&y_drop) {
            return Some("gap costs or y-drop are too large for the GPU".to_string());
        }
        if !options.trim_to_peak {
            return Some("--noytrim runs on the CPU".to_string());
        }
        None
    }

    /// Compiles the kernels for these scores and limits; [`reason_against`](Self::reason_against) must be `None`.
    pub fn new(gpu: Gpu, scoring: &Scoring, options: &GappedOptions) -> Result<GpuExtender, GpuError> {
        Self::with_compiled(gpu, CompiledForms::default(), scoring, options)
    }

    /// As [`new`](Self::new), with kernels that were compiled before, as far as they were.
    pub fn with_compiled(
        gpu: Gpu,
        compiled: CompiledForms,
        scoring: &Scoring,
        options: &GappedOptions,
    ) -> Result<GpuExtender, GpuError> {
        let [variant, wide] = variants(&gpu, scoring, options);
        let mut extender = Self::with_forms(gpu, compiled, variant, scoring, options)?;
        extender.wide = (wide.ring() > variant.ring()).then_some(wide);
        Ok(extender)
    }

    /// Compiles the kernels that [`with_compiled`](Self::with_compiled) will need, those for wide windows only if they are
    /// not [left](Self::leave_wide_runs).
    pub fn compile(
        gpu: &Gpu,
        compiled: &CompiledForms,
        scoring: &Scoring,
        options: &GappedOptions,
        takes_wide: bool,
    ) -> Result<(), GpuError> {
        let variants = variants(gpu, scoring, options);
        // Who takes no wide runs takes no bounded ones either.
        let bounded = variants.map(|variant| Variant { is_bounded: true, ..variant });
        let variants = variants.into_iter().chain(bounded).take(if takes_wide { 4 } else { 1 });
        variants.map(|variant| compiled.get(gpu, variant)).try_for_each(|kernels| kernels.map(|_| ()))
    }

    /// As [`new`](Self::new), with a given form of the kernels only.
    pub fn with_variant(
        gpu: Gpu,
        variant: Variant,
        scoring: &Scoring,
        options: &GappedOptions,
    ) -> Result<GpuExtender, GpuError> {
        Self::with_forms(gpu, CompiledForms::default(), variant, scoring, options)
    }

    fn with_forms(
        gpu: Gpu,
        compiled: CompiledForms,
        variant: Variant,
        scoring: &Scoring,
        options: &GappedOptions,
    ) -> Result<GpuExtender, GpuError> {
        Ok(GpuExtender {
            forms: vec![Form::new(&gpu, &compiled, variant)?],
            compiled,
            scratch: Scratch::default(),
            wide: None,
            params: params(scoring, options),
            matrix: scoring.gapped.clone(),
            most_rows: u32::MAX,
            has_cell_limit: options.traceback_bytes.is_some_and(|bytes| bytes as u64 <= MOST_CELLS),
            switches: Switches::default(),
            budget: Budget::for_device(&gpu),
            hulls_per_run: LIKELY_HULLS,
            counts: GpuCounts::default(),
            gpu,
        })
    }

    /// The form of the kernels for most runs.
    pub fn variant(&self) -> &Variant {
        &self.forms[0].variant
    }

    /// What was done so far.
    pub fn counts(&self) -> GpuCounts {
        GpuCounts {
            dispatches: self.forms.iter().map(|form| form.queue.dispatches).sum(),
            busy: self.forms.iter().map(|form| form.queue.busy).sum(),
            ..self.counts
        }
    }

    /// A screen for the same scores, on the same device.
    pub fn screen(&self) -> Result<GpuScreen, GpuError> {
        GpuScreen::new(self.gpu.clone(), *self.variant(), self.params)
    }

    /// Memory limits of batches.
    pub fn budget_mut(&mut self) -> &mut Budget {
        &mut self.budget
    }

    /// Leaves runs that look at more rows to the CPU: one subgroup has not the speed of a core, and makes others wait.
    pub fn leave_long_runs(&mut self, most_rows: u32) {
        self.most_rows = most_rows;
    }

    /// Leaves runs whose windows are wider than the ring to the CPU.
    pub fn leave_wide_runs(&mut self) {
        self.wide = None;
    }

    /// Optimisations that are on.
    pub fn switches_mut(&mut self) -> &mut Switches {
        &mut self.switches
    }

    /// Rows per workgroup and dispatch to start with, for tests of runs that go over several dispatches.
    pub fn set_row_budget(&mut self, rows: u32) {
        self.forms[0].queue.set_row_budget(rows);
    }

    /// Uploads a target and a query; the reason if the GPU cannot hold them.
    pub fn load<'a>(&self, target: &'a SequenceSet, query: &'a SequenceSet) -> Result<GpuUnit<'a>, String> {
        GpuUnit::new(&self.gpu, &self.matrix, target, query)
    }

    /// Both sides of each anchor, with scripts where `wants_script` says so. `None`: left to the CPU. If the device has
    /// less memory left than its budget, batches get smaller.
    pub fn extend(
        &mut self,
        unit: &GpuUnit,
        anchors: &[Anchor],
        wants_script: &dyn Fn(&Side, &Side) -> bool,
    ) -> Result<Vec<Option<(Side, Side)>>, GpuError> {
        extend_anchors(self, unit, anchors, wants_script)
    }

    /// The same under the bounds of accepted blocks.
    pub fn extend_bounded(
        &mut self,
        unit: &GpuUnit,
        anchors: &[BoundedAnchor],
        accepted: &AcceptedBlocks,
        wants_script: &dyn Fn(&Side, &Side) -> bool,
    ) -> Result<Vec<Option<(Side, Side)>>, GpuError> {
        let runs: Vec<OneSided> = anchors.iter().flat_map(|bounded| both_sides(&bounded.anchor)).collect();
        let bounded = |(run_ix, &run): (usize, &OneSided)| {
            let anchor = &anchors[run_ix / 2];
            BoundedRun { run, likely_rows: anchor.likely_rows[run_ix % 2], confiners: &anchor.confiners }
        };
        let bounded: Vec<BoundedRun> = runs.iter().enumerate().map(bounded).collect();
        let inspect = |engine: &mut Self| engine.inspect_bounded(unit, &bounded, accepted);
        extend_runs(self, unit, &runs, &inspect, wants_script)
    }
}

impl TwoPass for GpuExtender {
    type Inspected = Inspected;

    fn inspect(&mut self, unit: &GpuUnit, runs: &[OneSided]) -> Result<Vec<Option<Inspected>>, GpuError> {
        self.inspect(unit, runs)
    }

    fn execute(
        &mut self,
        unit: &GpuUnit,
        runs: &[(OneSided, &Inspected)],
    ) -> Result<Vec<Option<EditScript>>, GpuError> {
        self.execute(unit, runs)
    }

    fn shrink(&mut self) -> bool {
        self.scratch = Scratch::default();
        self.gpu.staging().clear();
        self.budget.halve()
    }
}

/// Entries of the hull log per run to begin with: most runs take 20 to 130.
const LIKELY_HULLS: usize = 160;

/// The kernels count cells in 32 bits.
const MOST_CELLS: u64 = 1 << 31;

pub(super) fn params(scoring: &Scoring, options: &GappedOptions) -> Params {
    let gap_first = scoring.gap_open + scoring.gap_extend;
    let reserve = u64::from((options.y_drop / scoring.gap_extend + 6) as u32);
    let memory = options.traceback_bytes.map_or(MOST_CELLS, |bytes| (bytes as u64).min(MOST_CELLS));
    Params {
        gap_open_extend: gap_first,
        gap_extend: scoring.gap_extend,
        y_drop: options.y_drop,
        row0_last: match options.y_drop - gap_first {
            left @ 0.. => (left / scoring.gap_extend) as u32 + 1,
            _ => 0,
        },
        // LASTZ's test before a row (lastz-semantics 5.10).
        cell_limit: memory.saturating_sub(7 + reserve) as u32,
        target_origin: PADDING as u32,
        query_origin: PADDING as u32,
        best_limit: BEST_LIMIT,
        max_score: ScoreClasses::new(&scoring.gapped).max_score().clamp(0, SCORE_LIMIT),
        ..Params::default()
    }
}
