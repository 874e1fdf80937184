//! `Gpu`: the adapter, the device and its queue.

use std::sync::{Arc, Mutex};

use super::variant::Variant;

/// Which adapter to use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AdapterChoice {
    /// The best hardware adapter; none is an error, so that the caller can go on without.
    #[default]
    Auto,
    /// The n-th adapter in the order of `fastz devices`, software included.
    Index(usize),
    /// The first adapter whose name or driver contains this text, software included.
    Name(String),
}

/// Why there is no usable GPU, in words for the user.
#[derive(Debug, thiserror::Error)]
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
    /// The device failed while it worked.
    #[error("the GPU failed: {0}; use --device=cpu to go on without it")]
    Lost(String),
}

/// What of an adapter decides on the form of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Subgroup width, if the adapter has subgroup operations and only one width.
    pub fixed_subgroup: Option<u32>,
    /// Most lanes of a workgroup.
    pub max_workgroup_lanes: u32,
    /// Largest binding in bytes.
    pub max_binding: u64,
    /// Whether passes can be timed.
    pub timestamps: bool,
    /// Whether the adapter is a processor in disguise.
    pub is_software: bool,
}

/// A device to run kernels on.
#[derive(Clone, Debug)]
pub struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    info: wgpu::AdapterInfo,
    capabilities: Capabilities,
    failure: Arc<Mutex<Option<String>>>,
}

/// All adapters in the order of their numbers. Hardware comes first, discrete before integrated.
pub(super) fn adapters() -> Vec<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::PRIMARY;
    let instance = wgpu::Instance::new(descriptor);
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    adapters
}

pub(super) fn capabilities(adapter: &wgpu::Adapter) -> Capabilities {
    let info = adapter.get_info();
    let limits = adapter.limits();
    let has_subgroups = adapter.features().contains(wgpu::Features::SUBGROUP);
    let is_fixed = info.subgroup_min_size == info.subgroup_max_size && info.subgroup_min_size > 1;
    Capabilities {
        fixed_subgroup: (has_subgroups && is_fixed).then_some(info.subgroup_min_size),
        max_workgroup_lanes: limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x),
        // Vulkan and the 32-bit lengths in shaders end at 2 GiB - 1; bindings are whole words.
        max_binding: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min((1 << 31) - 4),
        timestamps: adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY),
        is_software: info.device_type == wgpu::DeviceType::Cpu,
    }
}

impl AdapterChoice {
    /// From the value of `--device`: `auto`, `gpu`, `gpu:<n>` or part of a name; `None` for `cpu`.
    pub fn from_option(text: &str) -> Option<AdapterChoice> {
        match text {
            "cpu" => None,
            "auto" | "gpu" => Some(AdapterChoice::Auto),
            _ => Some(match text.strip_prefix("gpu:").map(str::parse) {
                Some(Ok(index)) => AdapterChoice::Index(index),
                _ => AdapterChoice::Name(text.to_string()),
            }),
        }
    }

    fn pick(&self, adapters: Vec<wgpu::Adapter>) -> Result<wgpu::Adapter, GpuError> {
        let n = adapters.len();
        let found = match self {
            AdapterChoice::Auto => adapters.into_iter().find(|adapter| !capabilities(adapter).is_software),
            AdapterChoice::Index(index) => adapters.into_iter().nth(*index),
            AdapterChoice::Name(part) => {
                let part = part.to_lowercase();
                adapters.into_iter().find(|adapter| {
                    let info = adapter.get_info();
                    format!("{} {} {}", info.name, info.driver, info.driver_info).to_lowercase().contains(&part)
                })
            }
        };
        found.ok_or_else(|| {
            let what = match self {
                AdapterChoice::Auto if n > 0 => "there is no GPU, only a software adapter".to_string(),
                AdapterChoice::Auto => "there is no GPU".to_string(),
                AdapterChoice::Index(index) => format!("there is no GPU number {index} (there are {n})"),
                AdapterChoice::Name(part) => format!("no GPU's name or driver contains '{part}'"),
            };
            GpuError::NoAdapter(format!("{what}; `fastz devices` lists what there is, --device=cpu does without"))
        })
    }
}

impl Gpu {
    /// Opens the chosen adapter with all it offers.
    pub fn open(choice: &AdapterChoice) -> Result<Gpu, GpuError> {
        let adapter = choice.pick(adapters())?;
        let info = adapter.get_info();
        let capabilities = capabilities(&adapter);
        let wanted = wgpu::Features::SUBGROUP | wgpu::Features::TIMESTAMP_QUERY;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("fastz"),
            required_features: adapter.features() & wanted,
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|error| GpuError::Device { adapter: info.name.clone(), reason: error.to_string() })?;
        let failure = Arc::new(Mutex::new(None));
        let (lost, uncaptured) = (failure.clone(), failure.clone());
        device.set_device_lost_callback(move |_, message| {
            lost.lock().unwrap().get_or_insert(format!("the device was lost ({message})"));
        });
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            uncaptured.lock().unwrap().get_or_insert(error.to_string());
        }));
        Ok(Gpu { device, queue, info, capabilities, failure })
    }

    /// Name, driver and backend, for messages.
    pub fn name(&self) -> String {
        format!("{} ({:?}, {})", self.info.name, self.info.backend, self.info.driver)
    }

    /// What decides on the form of the kernels.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The form of the row kernels for windows of about `window` columns.
    pub fn variant(&self, window: u32) -> Variant {
        Variant::choose(&self.capabilities, window)
    }

    /// Waits until all submitted work is done; an error if anything failed since the last call.
    pub fn wait(&self) -> Result<(), GpuError> {
        let polled = self.device.poll(wgpu::PollType::wait_indefinitely());
        if let Some(message) = self.failure.lock().unwrap().take() {
            return Err(GpuError::Lost(message));
        }
        polled.map_err(|error| GpuError::Lost(error.to_string()))?;
        Ok(())
    }
}
