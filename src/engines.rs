//! The GPU engines of a run: which devices, which stages, and what the user hears about them.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use anyhow::Context;

use fastz::align::Aligner;
use fastz::gpu::{
    AdapterChoice, FaultPlan, Gpu, GpuBulk, GpuError, GpuExtender, GpuFinder, GpuSettings, OnFault, SeedKernels,
    Several,
};

use crate::cli::{Device, Invocation};

/// Query bases below which `auto` does without a GPU: starting it takes longer.
const FEW_BASES: u64 = 1 << 15;

/// Devices that are being started while sequences are read. `auto` takes the CPU where there is no GPU, or it cannot do
/// what is asked.
pub struct GpuStart {
    trial: Trial,
    extends: bool,
    started: JoinHandle<Result<Vec<StartedGpu>, GpuError>>,
}

/// A device, and the kernels of the search if they are wanted.
type StartedGpu = (Gpu, Option<SeedKernels>, f64);

impl GpuStart {
    /// Starts the devices for the stages that they can do; `None` if there is nothing for them to do. `query_bases` is
    /// about the length of the query file, if that is known ahead. `warn` gets whole lines.
    pub fn spawn(invocation: &Invocation, query_bases: Option<u64>, warn: &dyn Fn(&str)) -> Option<GpuStart> {
        let trial = Trial::from_environment();
        let is_auto = invocation.device == Device::Auto;
        let choices = match &invocation.device {
            Device::Cpu => return None,
            Device::Auto => vec![trial.auto.clone().unwrap_or_default()],
            Device::Gpus(choices) => choices.clone(),
        };
        if is_auto && trial.auto.is_none() && query_bases.is_some_and(|bases| bases < FEW_BASES) {
            return None;
        }
        let options = &invocation.options;
        let is_possible = |stage: &str, reason: Option<String>| {
            if let Some(reason) = &reason
                && !is_auto
            {
                warn(&format!("fastz: {stage} runs on the CPU: {reason}"));
            }
            reason.is_none()
        };
        let searches = invocation.segments.is_none() && is_possible("the search", GpuFinder::reason_against(options));
        let extends = options.gapped.as_ref().is_some_and(|gapped| {
            is_possible("gapped extension", GpuExtender::reason_against(&options.scoring, gapped))
        });
        let settings = GpuSettings {
            memory: invocation.gpu_memory,
            times_kernels: invocation.report.is_some(),
            pipeline_folder: pipeline_folder(),
            ..GpuSettings::default()
        };
        let fault = trial.fault;
        let start = move || {
            let gpus = Gpu::open_each(&choices, &settings)?;
            if let (Some(plan), Some(gpu)) = (fault, gpus.first()) {
                gpu.inject(plan);
            }
            let with_kernels = |gpu: Gpu| {
                let started = Instant::now();
                let kernels = if searches { Some(SeedKernels::compile(&gpu)?) } else { None };
                Ok((gpu, kernels, started.elapsed().as_secs_f64()))
            };
            gpus.into_iter().map(with_kernels).collect()
        };
        (searches || extends).then(|| GpuStart { trial, extends, started: std::thread::spawn(start) })
    }
}

/// What runs on GPUs.
#[derive(Default)]
pub struct GpuEngines {
    gpus: Vec<Gpu>,
    /// Of each, compiling the kernels of the search, and giving it the target.
    seconds: Vec<[f64; 2]>,
    finder: Option<Arc<Several<GpuFinder>>>,
    bulk: Option<Arc<Several<GpuBulk>>>,
}

impl GpuEngines {
    /// Waits for the devices and gives them the target. `warn` gets whole lines.
    pub fn open(
        start: Option<GpuStart>,
        invocation: &Invocation,
        aligner: &Aligner,
        warn: &dyn Fn(&str),
    ) -> anyhow::Result<GpuEngines> {
        let Some(GpuStart { trial, extends, started }) = start else { return Ok(GpuEngines::default()) };
        let is_auto = invocation.device == Device::Auto;
        let options = &invocation.options;
        let started = match started.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
            Ok(started) => started,
            // A machine without a GPU is no reason for a warning.
            Err(GpuError::NoAdapter(_)) if is_auto => return Ok(GpuEngines::default()),
            Err(error) if is_auto => {
                warn(&format!("fastz: the GPU is not used: {error}"));
                return Ok(GpuEngines::default());
            }
            Err(error) => return Err(error).context("cannot use the GPU; --device=cpu runs without it"),
        };
        let on_fault = if is_auto { OnFault::UseCpu } else { OnFault::Fail };
        let takes_all = trial.auto.is_some();
        let mut seconds: Vec<[f64; 2]> = started.iter().map(|started| [started.2, 0.0]).collect();
        let (gpus, kernels): (Vec<Gpu>, Vec<Option<SeedKernels>>) =
            started.into_iter().map(|(gpu, kernels, _)| (gpu, kernels)).unzip();
        let opened = Instant::now();
        let new_finder = |(gpu, kernels): (&Gpu, SeedKernels), table| {
            let finder = GpuFinder::new(gpu, kernels, (aligner.target(), table), options, on_fault)?;
            Ok(if takes_all { finder.take_all() } else { finder })
        };
        let kernels: Option<Vec<SeedKernels>> = kernels.into_iter().collect();
        let finders = kernels.zip(aligner.table()).map(|(kernels, table)| {
            gpus.iter().zip(kernels).map(|gpu| new_finder(gpu, table)).collect::<Result<_, GpuError>>()
        });
        let finder = match finders.transpose() {
            Ok(finders) => finders.map(|finders| Arc::new(Several::new(finders))),
            Err(GpuError::OutOfRange(reason)) => {
                warn(&format!("fastz: the search runs on the CPU: {reason}"));
                None
            }
            Err(error) if is_auto => {
                warn(&format!("fastz: the search runs on the CPU: {error}"));
                None
            }
            Err(error) => return Err(error).context("cannot use the GPU; --device=cpu runs without it"),
        };
        seconds.iter_mut().for_each(|seconds| seconds[1] = opened.elapsed().as_secs_f64());
        let gapped = options.gapped.as_ref().filter(|_| extends);
        let new_bulk = |gpu: &Gpu, gapped| {
            let bulk = GpuBulk::new(gpu.clone(), &options.scoring, gapped, on_fault);
            if takes_all { bulk.take_all() } else { bulk }
        };
        let bulk = gapped.map(|gapped| Arc::new(Several::new(gpus.iter().map(|gpu| new_bulk(gpu, gapped)).collect())));
        Ok(GpuEngines { gpus, seconds, finder, bulk })
    }

    /// Gives the aligner what runs on GPUs.
    pub fn attach(&self, mut aligner: Aligner) -> Aligner {
        if let Some(finder) = &self.finder {
            aligner = aligner.with_hsp_finder(Box::new(finder.clone()));
        }
        if let Some(bulk) = &self.bulk {
            aligner = aligner.with_bulk_extender(Box::new(bulk.clone()));
        }
        aligner
    }

    /// Why GPUs were given up, of those that were.
    pub fn faults(&self) -> Vec<String> {
        let of_finder = self.finder.iter().flat_map(|finder| finder.faults());
        let mut faults: Vec<String> = of_finder.chain(self.bulk.iter().flat_map(|bulk| bulk.faults())).collect();
        faults.dedup();
        faults
    }

    /// Keeps compiled kernels for the next run. They are only an aid: a folder that cannot be written is no trouble.
    pub fn save_pipelines(&self) {
        for gpu in &self.gpus {
            let _ = gpu.save_pipelines();
        }
    }

    /// What each device did, for `--report`.
    pub fn report(&self) -> serde_json::Value {
        let extension = |ix: usize| self.bulk.as_ref().and_then(|bulk| bulk.engines()[ix].counts());
        let of_device = |(ix, gpu): (usize, &Gpu)| {
            let memory = gpu.memory();
            serde_json::json!({
                "name": gpu.name(),
                "start": { "open": gpu.opening(), "kernels": self.seconds[ix][0], "target": self.seconds[ix][1] },
                "memory": { "size": memory.size(), "budget": memory.budget(), "peak": memory.peak() },
                "kernels": gpu.kernel_times(),
                "extension": extension(ix),
            })
        };
        self.gpus.iter().enumerate().map(of_device).collect()
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
        Trial { auto, fault }
    }
}
