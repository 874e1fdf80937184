//! The GPU engines of a run: which devices, which stages, and what the user hears about them.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;

use fastz::align::Aligner;
use fastz::gpu::{
    AdapterChoice, FaultPlan, Gpu, GpuBulk, GpuError, GpuExtender, GpuFinder, GpuSettings, OnFault, Several,
};

use crate::cli::{Device, Invocation};

/// What runs on GPUs. `auto` takes the CPU where there is no GPU, or it cannot do what is asked.
#[derive(Default)]
pub struct GpuEngines {
    gpus: Vec<Gpu>,
    finder: Option<Arc<Several<GpuFinder>>>,
    bulk: Option<Arc<Several<GpuBulk>>>,
}

impl GpuEngines {
    /// Opens the devices for the stages that they can do. `warn` gets whole lines.
    pub fn open(invocation: &Invocation, aligner: &Aligner, warn: &dyn Fn(&str)) -> anyhow::Result<GpuEngines> {
        let trial = Trial::from_environment();
        let is_auto = invocation.device == Device::Auto;
        let choices = match &invocation.device {
            Device::Cpu => return Ok(GpuEngines::default()),
            Device::Auto => vec![trial.auto.clone().unwrap_or_default()],
            Device::Gpus(choices) => choices.clone(),
        };
        let options = &invocation.options;
        let is_possible = |stage: &str, reason: Option<String>| {
            if let Some(reason) = &reason
                && !is_auto
            {
                warn(&format!("fastz: {stage} runs on the CPU: {reason}"));
            }
            reason.is_none()
        };
        let table = aligner.table().filter(|_| is_possible("the search", GpuFinder::reason_against(options)));
        let gapped = options
            .gapped
            .as_ref()
            .filter(|gapped| is_possible("gapped extension", GpuExtender::reason_against(&options.scoring, gapped)));
        if table.is_none() && gapped.is_none() {
            return Ok(GpuEngines::default());
        }
        let settings = GpuSettings {
            memory: invocation.gpu_memory,
            times_kernels: invocation.report.is_some(),
            pipeline_folder: pipeline_folder(),
            ..GpuSettings::default()
        };
        let gpus = match Gpu::open_each(&choices, &settings) {
            Ok(gpus) => gpus,
            // A machine without a GPU is no reason for a warning.
            Err(GpuError::NoAdapter(_)) if is_auto => return Ok(GpuEngines::default()),
            Err(error) if is_auto => {
                warn(&format!("fastz: the GPU is not used: {error}"));
                return Ok(GpuEngines::default());
            }
            Err(error) => return Err(error).context("cannot use the GPU; --device=cpu runs without it"),
        };
        if let (Some(plan), Some(gpu)) = (trial.fault, gpus.first()) {
            gpu.inject(plan);
        }
        let on_fault = if is_auto { OnFault::UseCpu } else { OnFault::Fail };
        let takes_all = trial.auto.is_some();
        let new_finder = |gpu: &Gpu, table| {
            let finder = GpuFinder::new(gpu, aligner.target(), table, options, on_fault)?;
            Ok(if takes_all { finder.take_all() } else { finder })
        };
        let finders = table.map(|table| gpus.iter().map(|gpu| new_finder(gpu, table)).collect::<Result<_, GpuError>>());
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
        let new_bulk = |gpu: &Gpu, gapped| {
            let bulk = GpuBulk::new(gpu.clone(), &options.scoring, gapped, on_fault);
            if takes_all { bulk.take_all() } else { bulk }
        };
        let bulk = gapped.map(|gapped| Arc::new(Several::new(gpus.iter().map(|gpu| new_bulk(gpu, gapped)).collect())));
        Ok(GpuEngines { gpus, finder, bulk })
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
