//! The adapters of this machine, what they can do, and which of them are meant.

use std::sync::LazyLock;

use super::context::GpuError;

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
    /// All hardware adapters. Where one is wanted, the first of them.
    All,
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
    /// Storage bindings of a kernel, at most.
    pub max_storage_bindings: u32,
    /// Whether passes can be timed.
    pub timestamps: bool,
    /// Whether the adapter is a processor in disguise.
    pub is_software: bool,
}

/// All adapters in the order of their numbers. Hardware comes first, discrete before integrated.
///
/// They are listed once in the life of a process: NVIDIA's driver crashes when several threads start it.
pub(super) fn adapters() -> &'static [wgpu::Adapter] {
    static ADAPTERS: LazyLock<Vec<wgpu::Adapter>> = LazyLock::new(|| {
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
    });
    &ADAPTERS
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
        max_storage_bindings: limits.max_storage_buffers_per_shader_stage,
        timestamps: adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY),
        is_software: info.device_type == wgpu::DeviceType::Cpu,
    }
}

impl AdapterChoice {
    /// From a value of `--device`: `auto`, `gpu`, `gpu:<n>`, `all` or part of a name; `None` for `cpu`.
    pub fn from_option(text: &str) -> Option<AdapterChoice> {
        match text {
            "cpu" => None,
            "auto" | "gpu" => Some(AdapterChoice::Auto),
            "all" => Some(AdapterChoice::All),
            _ => Some(match text.strip_prefix("gpu:").map(str::parse) {
                Some(Ok(index)) => AdapterChoice::Index(index),
                _ => AdapterChoice::Name(text.to_string()),
            }),
        }
    }

    fn fits(&self, number: usize, adapter: &wgpu::Adapter) -> bool {
        match self {
            AdapterChoice::Auto | AdapterChoice::All => !capabilities(adapter).is_software,
            AdapterChoice::Index(index) => number == *index,
            AdapterChoice::Name(part) => {
                let info = adapter.get_info();
                let names = format!("{} {} {}", info.name, info.driver, info.driver_info);
                names.to_lowercase().contains(&part.to_lowercase())
            }
        }
    }

    /// The adapters that are meant: several only for [`All`](Self::All), and at least one.
    pub(super) fn pick(&self, adapters: &[wgpu::Adapter]) -> Result<Vec<wgpu::Adapter>, GpuError> {
        let n = adapters.len();
        let most = if *self == AdapterChoice::All { n } else { 1 };
        let fitting = adapters.iter().enumerate().filter(|(number, adapter)| self.fits(*number, adapter));
        let found: Vec<wgpu::Adapter> = fitting.map(|(_, adapter)| adapter.clone()).take(most).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let what = match self {
            AdapterChoice::Auto | AdapterChoice::All if n > 0 => "there is no GPU, only a software adapter".to_string(),
            AdapterChoice::Auto | AdapterChoice::All => "there is no GPU".to_string(),
            AdapterChoice::Index(_) if n == 0 => "there is no GPU at all".to_string(),
            AdapterChoice::Index(index) => format!("there is no GPU number {index} (the last is gpu:{})", n - 1),
            AdapterChoice::Name(part) => format!("no GPU's name or driver contains '{part}'"),
        };
        Err(GpuError::NoAdapter(format!("{what}; `fastz devices` lists what there is")))
    }
}
