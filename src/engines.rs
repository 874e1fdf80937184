//! The GPU engines of a run: which devices, which stages, and what the user hears about them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread::JoinHandle;

use anyhow::anyhow;

use fastz::align::{Aligner, is_done_early};
use fastz::gpu::{AdapterChoice, FaultPlan, Gpu, GpuExtender, GpuFinder, GpuSettings, OnFault};

use crate::cli::{Device, Invocation};
use crate::late_engines::{EnginePlan, GpuEngines, KernelStart, StartResult, StartedGpu};

/// Query bases below which `auto` does without a GPU, whatever is done with them: starting it takes longer.
const FEW_BASES: u64 = 1 << 15;

/// Devices that are being started while sequences are read. `auto` takes the CPU where there is no GPU, or it cannot do
/// what is asked.
pub struct GpuStart {
    trial: Trial,
    searches: bool,
    extends: bool,
    /// Whether a software adapter gets what the CPU does faster, too.
    all_on_device: bool,
    /// Stages that the kernels cannot do with these options, and why.
    left_to_cpu: BTreeMap<&'static str, String>,
    /// `None`: there is nothing for devices to do.
    started: Option<JoinHandle<StartResult>>,
}

impl GpuStart {
    /// Starts the devices for the stages that they can do; `None` if no device is wanted. `target_bases`
    /// and `query_bases` are about the lengths of the files, if they are known ahead. `warn` gets whole lines.
    pub fn spawn(
        invocation: &Invocation,
        [target_bases, query_bases]: [Option<u64>; 2],
        warn: &dyn Fn(&str),
    ) -> Option<GpuStart> {
        let trial = Trial::from_environment();
        let is_auto = invocation.device == Device::Auto;
        let choices = match &invocation.device {
            Device::Cpu => return None,
            Device::Auto => vec![trial.auto.clone().unwrap_or_default()],
            Device::Gpus(choices) => choices.clone(),
        };
        let is_small = || {
            let is_done_early =
                |(target, query)| invocation.segments.is_none() && is_done_early(&invocation.options, target, query);
            query_bases.is_some_and(|bases| bases < FEW_BASES)
                || target_bases.zip(query_bases).is_some_and(is_done_early)
        };
        if is_auto && trial.auto.is_none() && is_small() {
            return None;
        }
        let options = &invocation.options;
        let mut left_to_cpu = BTreeMap::new();
        let mut is_possible = |stage: &'static str, reason: Option<String>| {
            let Some(reason) = reason else { return true };
            if !is_auto {
                warn(&format!("fastz: {stage} runs on the CPU: {reason}"));
            }
            left_to_cpu.insert(stage, reason);
            false
        };
        let searches = invocation.segments.is_none() && is_possible("the search", GpuFinder::reason_against(options));
        let extends = options.gapped.as_ref().is_some_and(|gapped| {
            is_possible("gapped extension", GpuExtender::reason_against(&options.scoring, gapped))
        });
        let settings = GpuSettings {
            memory: invocation.gpu_memory,
            max_binding: trial.binding,
            times_kernels: invocation.report.is_some(),
            pipeline_folder: pipeline_folder(),
            ..GpuSettings::default()
        };
        let fault = trial.fault;
        let all_on_device = trial.auto.is_some() || invocation.all_on_device;
        let start = move || -> StartResult {
            let gpus = Gpu::open_each(&choices, &settings)?;
            if let (Some(plan), Some(gpu)) = (fault, gpus.first()) {
                gpu.inject(plan);
            }
            let with_kernels = |gpu: Gpu| {
                let searches = searches && (all_on_device || !gpu.capabilities().is_software);
                let kernels = searches.then(|| KernelStart::spawn(gpu.clone()));
                StartedGpu { gpu, kernels }
            };
            Ok(gpus.into_iter().map(with_kernels).collect())
        };
        let started = (searches || extends).then(|| std::thread::spawn(start));
        Some(GpuStart { trial, searches, extends, all_on_device, left_to_cpu, started })
    }

    /// The engines of these devices. Those that `auto` takes need not be there yet: see [`GpuEngines`]. `warn` gets whole
    /// lines.
    ///
    /// # Errors
    /// If a device that was asked for cannot be used.
    pub fn engines(
        start: Option<GpuStart>,
        invocation: &Invocation,
        aligner: &Aligner,
        warn: &dyn Fn(&str),
    ) -> anyhow::Result<GpuEngines> {
        let Some(GpuStart { trial, searches, extends, all_on_device, left_to_cpu, started }) = start else {
            return Ok(GpuEngines::default());
        };
        let is_auto = invocation.device == Device::Auto;
        let takes_all = trial.auto.is_some() || !is_auto;
        let on_fault = if is_auto { OnFault::UseCpu } else { OnFault::Fail };
        let options = invocation.options.clone();
        let plan = EnginePlan { options, searches, extends, left_to_cpu, takes_all, all_on_device, on_fault };
        let engines = GpuEngines::new(plan, started);
        if takes_all && !trial.is_late {
            let cannot = |error| anyhow!("cannot use the GPU: {error}; --device=cpu runs without it");
            engines.complete(aligner).map_err(cannot)?;
            engines.take_warnings().iter().for_each(|warning| warn(warning));
        }
        Ok(engines)
    }
}

/// Where compiled kernels are kept: the folder in `FASTZ_CACHE_DIR`, nowhere if that is empty, else the user's cache.
fn pipeline_folder() -> Option<PathBuf> {
    match std::env::var_os("FASTZ_CACHE_DIR") {
        Some(folder) => (!folder.is_empty()).then(|| folder.into()),
        None => Some(dirs::cache_dir()?.join("fastz")),
    }
}

/// What tests ask of a build with debug assertions; a released program has none of it.
#[derive(Default)]
struct Trial {
    /// `FASTZ_TEST_AUTO`: the adapter that `auto` takes, whatever the size of the work.
    auto: Option<AdapterChoice>,
    /// `FASTZ_TEST_LATE`: that adapter is not waited for.
    is_late: bool,
    /// `FASTZ_TEST_BINDING`: bytes of a binding, at most.
    binding: Option<u64>,
    /// `FASTZ_TEST_FAULT`: how the first device fails ([`FaultPlan::parse`]).
    fault: Option<FaultPlan>,
}

impl Trial {
    fn from_environment() -> Trial {
        if !cfg!(debug_assertions) {
            return Trial::default();
        }
        let variable = |name: &str| std::env::var(name).ok();
        let auto = variable("FASTZ_TEST_AUTO").and_then(|name| AdapterChoice::from_option(&name));
        let fault = variable("FASTZ_TEST_FAULT").map(|text| FaultPlan::parse(&text).expect("a fault"));
        let binding = variable("FASTZ_TEST_BINDING").map(|bytes| bytes.parse().expect("a number of bytes"));
        Trial { auto, is_late: variable("FASTZ_TEST_LATE").is_some(), binding, fault }
    }
}
