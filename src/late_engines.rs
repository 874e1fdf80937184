//! The GPU engines of a run, on devices that may still be starting. What `auto` takes is waited for only by work that
//! needs it; the CPU does what it is through with before.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use fastz::align::Aligner;
use fastz::extend::{BulkExtender, BulkUnit};
use fastz::filter::{FoundHsps, HspFinder};
use fastz::gpu::{Gpu, GpuBulk, GpuError, GpuFinder, OnFault, SeedKernels, Several};
use fastz::seed::WordTable;
use fastz::{Options, SequenceSet};

/// A device that has started.
pub struct StartedGpu {
    pub gpu: Gpu,
    /// The kernels of the search, if they are wanted on this device.
    pub kernels: Option<KernelStart>,
}

/// Kernels of the search that are being compiled. Gapped extension does not wait for them.
pub struct KernelStart(JoinHandle<Result<(SeedKernels, f64), GpuError>>);

impl KernelStart {
    /// Compiles the kernels on a thread of its own.
    pub fn spawn(gpu: Gpu) -> KernelStart {
        KernelStart(std::thread::spawn(move || {
            let started = Instant::now();
            let kernels = SeedKernels::compile(&gpu)?;
            Ok((kernels, started.elapsed().as_secs_f64()))
        }))
    }

    /// The kernels, and the seconds that compiling them took.
    fn wait(self) -> Result<(SeedKernels, f64), GpuError> {
        self.0.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// What starting devices gives.
pub type StartResult = Result<Vec<StartedGpu>, GpuError>;

/// What the devices are for.
pub struct EnginePlan {
    pub options: Options,
    pub searches: bool,
    pub extends: bool,
    /// Stages that the devices cannot do with these options, and why.
    pub left_to_cpu: BTreeMap<&'static str, String>,
    /// Work of any size goes to the devices.
    pub takes_all: bool,
    /// A software adapter gets what the CPU does faster, too.
    pub all_on_device: bool,
    pub on_fault: OnFault,
}

/// What runs on GPUs. Clones are the same.
#[derive(Clone, Default)]
pub struct GpuEngines(Option<Arc<Late>>);

/// Engines to come.
struct Late {
    plan: EnginePlan,
    start: Mutex<Option<JoinHandle<StartResult>>>,
    /// Kernels for the finders, device by device.
    kernels: Mutex<Vec<Option<KernelStart>>>,
    devices: OnceLock<Devices>,
    finder: OnceLock<Finder>,
    warnings: Mutex<Vec<String>>,
}

/// The devices; none if they could not be started.
#[derive(Default)]
struct Devices {
    gpus: Vec<Gpu>,
    bulk: Option<Several<GpuBulk>>,
}

/// The search on the devices, if they can do it.
#[derive(Default)]
struct Finder {
    several: Option<Several<GpuFinder>>,
    /// Why the devices are not for it.
    reason_against: Option<&'static str>,
    /// Seconds of compiling the kernels, device by device.
    kernel_seconds: Vec<f64>,
    /// Seconds of giving the devices the target.
    target_seconds: f64,
}

impl GpuEngines {
    /// Engines on devices that `start` brings, if there is anything to do for them.
    pub fn new(plan: EnginePlan, start: Option<JoinHandle<StartResult>>) -> GpuEngines {
        GpuEngines(Some(Arc::new(Late {
            plan,
            start: Mutex::new(start),
            kernels: Mutex::default(),
            devices: OnceLock::new(),
            finder: OnceLock::new(),
            warnings: Mutex::default(),
        })))
    }

    /// Waits for the devices and gives them the target.
    ///
    /// # Errors
    /// If a device that may not be done without cannot be used.
    pub fn complete(&self, aligner: &Aligner) -> Result<(), GpuError> {
        let Some(late) = &self.0 else { return Ok(()) };
        let devices = late.start()?;
        if late.devices.set(devices).is_ok()
            && let Some(table) = aligner.table()
        {
            let finder = late.new_finder(aligner.target(), table)?;
            // Nobody else has it yet.
            let _ = late.finder.set(finder);
        }
        Ok(())
    }

    /// Gives the aligner what runs on GPUs.
    pub fn attach(&self, mut aligner: Aligner) -> Aligner {
        let Some(late) = &self.0 else { return aligner };
        let has_none = late.finder.get().is_some_and(|finder| finder.several.is_none());
        if late.plan.searches && aligner.table().is_some() && !has_none {
            aligner = aligner.with_hsp_finder(Box::new(LateFinder(late.clone())));
        }
        if late.plan.extends && late.devices.get().is_none_or(|devices| devices.bulk.is_some()) {
            aligner = aligner.with_bulk_extender(Box::new(LateBulk(late.clone())));
        }
        aligner
    }

    /// Lines for the user, each given once.
    pub fn take_warnings(&self) -> Vec<String> {
        self.0.as_ref().map_or(Vec::new(), |late| std::mem::take(&mut *lock(&late.warnings)))
    }

    /// Why GPUs were given up, of those that were.
    pub fn faults(&self) -> Vec<String> {
        let Some(late) = &self.0 else { return Vec::new() };
        let finder = late.finder.get().and_then(|finder| finder.several.as_ref());
        let bulk = late.devices.get().and_then(|devices| devices.bulk.as_ref());
        let of_finder = finder.into_iter().flat_map(Several::faults);
        let mut faults: Vec<String> = of_finder.chain(bulk.into_iter().flat_map(Several::faults)).collect();
        faults.dedup();
        faults
    }

    /// Keeps compiled kernels for the next run. They are only an aid: a folder that cannot be written is no trouble.
    pub fn save_pipelines(&self) {
        for gpu in self.gpus() {
            let _ = gpu.save_pipelines();
        }
    }

    /// What each device did, for `--report`. One that nobody waited for is missing.
    pub fn report(&self) -> serde_json::Value {
        let Some((late, devices)) = self.0.as_ref().and_then(|late| Some((late, late.devices.get()?))) else {
            return serde_json::json!([]);
        };
        let finder = late.finder.get();
        let target_seconds = finder.map_or(0.0, |finder| finder.target_seconds);
        let kernel_seconds = |ix: usize| finder.and_then(|finder| finder.kernel_seconds.get(ix)).unwrap_or(&0.0);
        let extension = |ix: usize| devices.bulk.as_ref().and_then(|bulk| bulk.engines()[ix].counts());
        let of_device = |(ix, gpu): (usize, &Gpu)| {
            let memory = gpu.memory();
            serde_json::json!({
                "name": gpu.name(),
                "start": { "open": gpu.opening(), "kernels": kernel_seconds(ix), "target": target_seconds },
                "memory": { "size": memory.size(), "budget": memory.budget(), "peak": memory.peak() },
                "kernels": gpu.kernel_times(),
                "extension": extension(ix),
            })
        };
        devices.gpus.iter().enumerate().map(of_device).collect()
    }

    /// Stages that devices were wanted for and cannot do, and why, for `--report`.
    pub fn left_to_cpu(&self) -> serde_json::Value {
        let Some(late) = &self.0 else { return serde_json::json!({}) };
        let mut left = late.plan.left_to_cpu.clone();
        let reason = late.finder.get().and_then(|finder| finder.reason_against);
        left.extend(reason.map(|reason| ("the search", reason.to_string())));
        serde_json::json!(left)
    }

    fn gpus(&self) -> &[Gpu] {
        self.0.as_ref().and_then(|late| late.devices.get()).map_or(&[], |devices| &devices.gpus)
    }
}

impl Late {
    /// Waits for the devices. Where the CPU may stand in for them, failures leave warnings.
    fn start(&self) -> Result<Devices, GpuError> {
        let Some(start) = lock(&self.start).take() else { return Ok(Devices::default()) };
        let started = match start.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
            Ok(started) => started,
            Err(error) if self.plan.on_fault == OnFault::Fail => return Err(error),
            // A machine without a GPU is no reason for a warning.
            Err(GpuError::NoAdapter(_)) => return Ok(Devices::default()),
            Err(error) => {
                self.warn(format!("fastz: the GPU is not used: {error}"));
                return Ok(Devices::default());
            }
        };
        let plan = &self.plan;
        let mut devices = Devices::default();
        for StartedGpu { gpu, kernels } in started {
            devices.gpus.push(gpu);
            lock(&self.kernels).push(kernels);
        }
        let gapped = plan.options.gapped.as_ref().filter(|_| plan.extends);
        let new_bulk = |gpu: &Gpu, gapped| {
            let bulk = GpuBulk::new(gpu.clone(), &plan.options.scoring, gapped, plan.on_fault);
            let bulk = if plan.all_on_device { bulk.in_large_waves() } else { bulk };
            if plan.takes_all {
                return bulk.take_all();
            }
            bulk.compile_ahead();
            bulk
        };
        devices.bulk =
            gapped.map(|gapped| Several::new(devices.gpus.iter().map(|gpu| new_bulk(gpu, gapped)).collect()));
        Ok(devices)
    }

    /// The devices, waited for.
    fn devices(&self) -> &Devices {
        // A device that may not be done without is there before anybody asks (`GpuEngines::complete`).
        self.devices.get_or_init(|| self.start().unwrap_or_default())
    }

    /// Gives the devices the target, where they can hold it.
    fn new_finder(&self, target: &SequenceSet, table: &WordTable) -> Result<Finder, GpuError> {
        let plan = &self.plan;
        // The kernels come with the devices.
        let gpus = &self.devices().gpus;
        let starts = std::mem::take(&mut *lock(&self.kernels));
        if !plan.searches || gpus.is_empty() {
            return Ok(Finder::default());
        }
        if starts.iter().all(Option::is_none) {
            let reason = "a software adapter is slower than the CPU (--all-on-device sends it all)";
            self.warn(format!("fastz: the search runs on the CPU: {reason}"));
            return Ok(Finder { reason_against: Some(reason), ..Finder::default() });
        }
        let mut finder = Finder { kernel_seconds: vec![0.0; gpus.len()], ..Finder::default() };
        let new_finder = |(ix, start): (usize, KernelStart)| {
            let (kernels, seconds) = start.wait()?;
            finder.kernel_seconds[ix] = seconds;
            let started = Instant::now();
            let found = GpuFinder::new(&gpus[ix], kernels, (target, table), &plan.options, plan.on_fault)?;
            finder.target_seconds += started.elapsed().as_secs_f64();
            Ok(if plan.takes_all { found.take_all() } else { found })
        };
        let starts = starts.into_iter().enumerate().filter_map(|(ix, start)| Some((ix, start?)));
        let finders = starts.map(new_finder).collect::<Result<Vec<GpuFinder>, GpuError>>();
        match finders {
            Ok(finders) => Ok(Finder { several: Some(Several::new(finders)), ..finder }),
            Err(error) if plan.on_fault == OnFault::Fail && !matches!(error, GpuError::OutOfRange(_)) => Err(error),
            Err(error) => {
                let reason = match error {
                    GpuError::OutOfRange(reason) => reason,
                    error => error.to_string(),
                };
                self.warn(format!("fastz: the search runs on the CPU: {reason}"));
                Ok(Finder::default())
            }
        }
    }

    fn warn(&self, warning: String) {
        lock(&self.warnings).push(warning);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The search on devices to come.
struct LateFinder(Arc<Late>);

impl HspFinder for LateFinder {
    fn prepare(&self, target: &SequenceSet, table: &WordTable) {
        /// Lets those who wait go on without a finder if it cannot be made.
        struct SetOnDrop<'a>(&'a OnceLock<Finder>);
        impl Drop for SetOnDrop<'_> {
            fn drop(&mut self) {
                // It is usually there.
                let _ = self.0.set(Finder::default());
            }
        }
        let late = &*self.0;
        if late.finder.get().is_none() {
            let _guard = SetOnDrop(&late.finder);
            let _ = late.finder.set(late.new_finder(target, table).unwrap_or_default());
        }
    }

    fn is_ready(&self) -> bool {
        self.0.finder.get().is_some()
    }

    fn find_many(&self, target: &SequenceSet, strands: &[&SequenceSet]) -> fastz::Result<FoundHsps> {
        match &self.0.finder.wait().several {
            Some(finder) => finder.find_many(target, strands),
            None => Ok(FoundHsps { hsps: vec![None; strands.len()], ..FoundHsps::default() }),
        }
    }

    fn n_devices(&self) -> usize {
        self.0.devices.get().map_or(1, |devices| devices.gpus.len().max(1))
    }
}

/// Gapped extension on devices to come.
struct LateBulk(Arc<Late>);

impl LateBulk {
    /// Devices that the user asked for, which are there before any work is.
    fn asked_for(&self) -> Option<&Several<GpuBulk>> {
        if self.0.plan.takes_all { self.0.devices().bulk.as_ref() } else { None }
    }
}

impl BulkExtender for LateBulk {
    fn least_anchors(&self) -> usize {
        self.asked_for().map_or(GpuBulk::worthwhile_anchors(false), BulkExtender::least_anchors)
    }

    fn least_screened(&self) -> usize {
        self.asked_for().map_or(GpuBulk::worthwhile_screen(false), BulkExtender::least_screened)
    }

    fn most_anchors(&self) -> usize {
        // Asked for units that a device has taken up.
        self.0.devices().bulk.as_ref().map_or(1, BulkExtender::most_anchors)
    }

    fn shares_anchors(&self) -> bool {
        self.asked_for().is_none_or(BulkExtender::shares_anchors)
    }

    fn get_ready(&self) -> bool {
        // Asked for units that a device has taken up.
        self.0.devices().bulk.as_ref().is_none_or(BulkExtender::get_ready)
    }

    fn takes_bounded(&self) -> bool {
        self.0.devices().bulk.as_ref().is_some_and(BulkExtender::takes_bounded)
    }

    fn open<'a>(
        &'a self,
        target: &'a SequenceSet,
        query: &'a SequenceSet,
    ) -> fastz::Result<Option<Box<dyn BulkUnit + 'a>>> {
        self.0.devices().bulk.as_ref().map_or(Ok(None), |bulk| bulk.open(target, query))
    }
}
