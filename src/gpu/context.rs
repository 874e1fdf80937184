//! `Gpu`: an opened adapter, the device and its queue.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::adapters::{AdapterChoice, Capabilities, adapters, capabilities};
use super::fault::{Fault, FaultPlan};
use super::memory::{Memory, size_of_adapter};
use super::pipelines::PipelineStore;
use super::shaders::Shader;
use super::staging::StagingPool;
use super::timing::{KernelTime, Timing};
use super::variant::Variant;

/// Why there is no usable GPU, in words for the user.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// No adapter fits the choice.
    #[error("{0}")]
    NoAdapter(String),
    /// The driver refused the device.
    #[error("the GPU driver of {adapter} refused the device: {reason}")]
    Device {
        /// Name of the adapter.
        adapter: String,
        /// The driver's word.
        reason: String,
    },
    /// What is asked for does not fit the device or its kernels.
    #[error("{0}; use --device=cpu to do it without the GPU")]
    OutOfRange(String),
    /// The device has no memory left.
    #[error("no GPU memory is left ({0}); --gpu-memory=<bytes> makes fastz use less")]
    OutOfMemory(String),
    /// The device failed while it worked.
    #[error("the GPU failed: {0}")]
    Lost(String),
}

/// How a device is opened.
#[derive(Clone, Debug, Default)]
pub struct GpuSettings {
    /// Bytes of device memory to stay within; `None`: a safe share, see [`Memory::new`].
    pub memory: Option<u64>,
    /// Bytes of a binding to stay within; `None`: what the device takes.
    pub max_binding: Option<u64>,
    /// Measure the seconds that each kernel takes on the device.
    pub times_kernels: bool,
    /// Folder for compiled kernels, kept from run to run; `None`: they are not kept.
    pub pipeline_folder: Option<PathBuf>,
    /// Whether the kernels check their indices; `None`: in builds with debug assertions.
    pub checks_indices: Option<bool>,
    /// How long to wait for submitted work until the device counts as hung; `None`: long enough for any device.
    pub patience: Option<Duration>,
}

/// Dispatches are made short (0.4 s and less), and a few dozen may wait in front of what is waited for.
const PATIENCE: Duration = Duration::from_secs(120);
/// Software adapters share the processor with everything else.
const PATIENCE_IN_SOFTWARE: Duration = Duration::from_secs(3600);

/// Seconds that opening a device took.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct OpeningSeconds {
    /// Starting the driver and listing the adapters.
    pub adapters: f64,
    /// Opening the device.
    pub device: f64,
    /// Reading compiled kernels from disk.
    pub pipeline_cache: f64,
}

/// A device to run kernels on. Clones are the same device.
#[derive(Clone, Debug)]
pub struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    info: wgpu::AdapterInfo,
    capabilities: Capabilities,
    memory: Memory,
    opening: OpeningSeconds,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    failures: Arc<Failures>,
    patience: Duration,
    checks_indices: bool,
    /// Work was submitted that did not come to its end.
    is_hung: AtomicBool,
    timing: Mutex<Timing>,
    pipelines: Option<PipelineStore>,
    staging: StagingPool,
    fault_plan: Mutex<Option<FaultPlan>>,
}

/// What went wrong. The device keeps it for its reports, so it holds nothing that keeps the device.
#[derive(Debug, Default)]
struct Failures {
    /// Since the last [`Gpu::wait`].
    failure: Mutex<Option<GpuError>>,
    /// Why the device was lost, if it was.
    lost: OnceLock<String>,
}

impl Failures {
    fn note(&self, error: wgpu::Error) {
        let error = match error {
            wgpu::Error::OutOfMemory { source } => GpuError::OutOfMemory(in_one_line(&source.to_string())),
            other => GpuError::Lost(in_one_line(&other.to_string())),
        };
        lock(&self.failure).get_or_insert(error);
    }
}

/// wgpu's messages have several lines.
fn in_one_line(message: &str) -> String {
    message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(": ")
}

/// What a thread that panicked leaves behind is still whole here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What `work` gives, and its seconds.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed().as_secs_f64())
}

/// How long to wait for news of a device that has failed.
const A_WHILE: Duration = Duration::from_millis(500);

impl Gpu {
    /// Opens the chosen adapter with all it offers.
    pub fn open(choice: &AdapterChoice) -> Result<Gpu, GpuError> {
        Gpu::open_with(choice, &GpuSettings::default())
    }

    /// As [`open`](Self::open), with settings.
    pub fn open_with(choice: &AdapterChoice, settings: &GpuSettings) -> Result<Gpu, GpuError> {
        let (adapters, seconds) = timed(adapters);
        Gpu::open_adapter(&choice.pick(adapters)?[0], settings, seconds)
    }

    /// Opens all adapters that are chosen. The same one twice gives two devices.
    pub fn open_each(choices: &[AdapterChoice], settings: &GpuSettings) -> Result<Vec<Gpu>, GpuError> {
        let (adapters, seconds) = timed(adapters);
        let mut gpus = Vec::new();
        for choice in choices {
            for adapter in choice.pick(adapters)? {
                gpus.push(Gpu::open_adapter(&adapter, settings, seconds)?);
            }
        }
        Ok(gpus)
    }

    /// `seconds`: what listing the adapters took.
    fn open_adapter(adapter: &wgpu::Adapter, settings: &GpuSettings, seconds: f64) -> Result<Gpu, GpuError> {
        /// One at a time: NVIDIA's driver crashes when several threads open devices.
        static OPENING: Mutex<()> = Mutex::new(());
        let info = adapter.get_info();
        let mut capabilities = capabilities(adapter);
        capabilities.max_binding = capabilities.max_binding.min(settings.max_binding.unwrap_or(u64::MAX));
        let is_dedicated = info.device_type == wgpu::DeviceType::DiscreteGpu;
        let memory = Memory::new(size_of_adapter(adapter), is_dedicated, settings.memory);
        let mut wanted = wgpu::Features::SUBGROUP;
        wanted.set(wgpu::Features::TIMESTAMP_QUERY, settings.times_kernels);
        wanted.set(wgpu::Features::PIPELINE_CACHE, settings.pipeline_folder.is_some());
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("fastz"),
            required_features: adapter.features() & wanted,
            required_limits: adapter.limits(),
            // Blocks grow with what is needed: pinning the large ones of the other choice takes longer than a small search.
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        };
        let (opened, device_seconds) = timed(|| {
            let _alone = lock(&OPENING);
            pollster::block_on(adapter.request_device(&descriptor))
        });
        let (device, queue) =
            opened.map_err(|error| GpuError::Device { adapter: info.name.clone(), reason: error.to_string() })?;
        let folder = settings.pipeline_folder.as_deref();
        let (pipelines, cache_seconds) =
            timed(|| folder.and_then(|folder| PipelineStore::open(&device, &info, folder)));
        let failures = Arc::new(Failures::default());
        let (lost, uncaptured) = (failures.clone(), failures.clone());
        let state = Arc::new(State {
            failures,
            patience: settings.patience.unwrap_or(match capabilities.is_software {
                true => PATIENCE_IN_SOFTWARE,
                false => PATIENCE,
            }),
            checks_indices: settings.checks_indices.unwrap_or(cfg!(debug_assertions)),
            is_hung: AtomicBool::new(false),
            timing: Mutex::new(Timing::new(&device, &queue)),
            pipelines,
            staging: StagingPool::new(&device),
            fault_plan: Mutex::new(None),
        });
        device.set_device_lost_callback(move |_, message| {
            // Only the first reason counts.
            let _ = lost.lost.set(format!("the device was lost ({})", in_one_line(&message)));
        });
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| uncaptured.note(error)));
        let opening = OpeningSeconds { adapters: seconds, device: device_seconds, pipeline_cache: cache_seconds };
        Ok(Gpu { device, queue, info, capabilities, memory, opening, state })
    }

    /// Name, driver and backend, for messages.
    pub fn name(&self) -> String {
        format!("{} ({:?}, {})", self.info.name, self.info.backend, self.info.driver)
    }

    /// What opening it took.
    pub fn opening(&self) -> OpeningSeconds {
        self.opening
    }

    /// What decides on the form of the kernels.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Its memory, and how much of it may be used.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The form of the row kernels for windows of about `window` columns.
    pub fn variant(&self, window: u32) -> Variant {
        Variant::choose(&self.capabilities, window)
    }

    /// Dispatches and seconds of the kernels that ran.
    pub fn kernel_times(&self) -> Vec<KernelTime> {
        self.timing().totals()
    }

    /// Keeps the kernels that were compiled for the next run, where the settings name a folder.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn save_pipelines(&self) -> std::io::Result<()> {
        self.state.pipelines.as_ref().map_or(Ok(()), PipelineStore::save)
    }

    pub(super) fn checks_indices(&self) -> bool {
        self.state.checks_indices
    }

    pub(super) fn pipeline_cache(&self) -> Option<&wgpu::PipelineCache> {
        self.state.pipelines.as_ref().map(PipelineStore::cache)
    }

    pub(super) fn staging(&self) -> &StagingPool {
        &self.state.staging
    }

    pub(super) fn timing(&self) -> MutexGuard<'_, Timing> {
        lock(&self.state.timing)
    }

    /// Waits until all submitted work is done; an error if anything failed since the last call, or if it takes so long
    /// that the device must be taken for hung. A device that was lost or does wrong stays so.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.wait_for(None)
    }

    /// The same for the work up to a submission.
    pub fn wait_for(&self, submission: Option<wgpu::SubmissionIndex>) -> Result<(), GpuError> {
        let patience = self.state.patience;
        let hung = || GpuError::Lost(format!("its work did not come to an end within {} s", patience.as_secs_f32()));
        if self.state.is_hung.load(Ordering::Relaxed) {
            return Err(hung());
        }
        let polled = self.device.poll(wgpu::PollType::Wait { submission_index: submission, timeout: Some(patience) });
        let failure = match &mut *lock(&self.state.failures.failure) {
            broken @ Some(GpuError::Lost(_)) => broken.clone(),
            other => other.take(),
        };
        // What failed because the device is lost says less.
        let lost = self.state.failures.lost.get().map(|reason| GpuError::Lost(reason.clone()));
        match (lost.or(failure), polled) {
            (Some(GpuError::Lost(reason)), _) => Err(self.why_failed(reason)),
            (Some(failure), _) => Err(failure),
            (None, Ok(_)) => Ok(()),
            (None, Err(wgpu::PollError::Timeout)) => {
                self.state.is_hung.store(true, Ordering::Relaxed);
                // Closing a device waits for its work, and this one may never end.
                std::mem::forget(self.clone());
                Err(hung())
            }
            // A device that was lost before it took the work has no such submission.
            (None, Err(error)) => Err(self.why_failed(error.to_string())),
        }
    }

    /// Why something failed: `what` it says itself, unless the device turns out to be lost. That is only told when nothing
    /// is under way there any more, and perhaps to another thread.
    pub(super) fn why_failed(&self, what: String) -> GpuError {
        let end = Instant::now() + A_WHILE;
        while self.state.failures.lost.get().is_none() && Instant::now() < end {
            let _ = self.device.poll(wgpu::PollType::Wait { submission_index: None, timeout: Some(A_WHILE) });
            std::thread::sleep(A_WHILE / 100);
        }
        GpuError::Lost(self.state.failures.lost.get().cloned().unwrap_or_else(|| in_one_line(&what)))
    }

    /// Lets the device fail, for tests.
    #[doc(hidden)]
    pub fn inject(&self, plan: FaultPlan) {
        *lock(&self.state.fault_plan) = Some(plan);
    }

    /// To be called before each dispatch: brings about the fault that is due. Whether to dispatch.
    pub(super) fn before_dispatch(&self, shader: Shader) -> bool {
        match FaultPlan::at_dispatch(&mut lock(&self.state.fault_plan), shader) {
            Some(Fault::Lost) => self.device.destroy(),
            Some(Fault::Hang) => self.state.is_hung.store(true, Ordering::Relaxed),
            Some(Fault::Unfinished) => return false,
            Some(Fault::OutOfMemory | Fault::Uncopied) | None => {}
        }
        true
    }

    /// The same before each copy to the host. Whether to copy.
    pub(super) fn before_copy(&self) -> bool {
        FaultPlan::at_copy(&mut lock(&self.state.fault_plan)).is_none()
    }

    /// The same before each allocation.
    pub(super) fn before_allocation(&self) {
        if let Some(Fault::OutOfMemory) = FaultPlan::at_allocation(&mut lock(&self.state.fault_plan)) {
            self.state.failures.note(wgpu::Error::OutOfMemory { source: "brought about by a test".into() });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// What the device keeps must not keep the device: drivers hold a limited number.
    #[test]
    fn a_device_is_closed_when_nobody_has_it_any_more() {
        let name = std::env::var("FASTZ_TEST_DEVICE").unwrap_or("gpu:0".to_string());
        let gpu = match Gpu::open(&AdapterChoice::from_option(&name).expect("not the CPU")) {
            Ok(gpu) => gpu,
            Err(error) if std::env::var("FASTZ_REQUIRE_GPU").is_ok_and(|value| value == "1") => panic!("{error}"),
            Err(error) => {
                // Past the capture of the test harness, so that it is seen.
                let _ = writeln!(std::io::stderr(), "SKIPPED a_device_is_closed_when_nobody_has_it_any_more: {error}");
                return;
            }
        };
        let kept_by_device = Arc::downgrade(&gpu.state.failures);
        drop(gpu);
        assert!(kept_by_device.upgrade().is_none());
    }
}
