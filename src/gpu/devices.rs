//! What `fastz devices` prints.

use std::fmt::Write;

use super::adapters::{adapters, capabilities};
use super::diagnosis;
use super::memory::{Memory, size_of_adapter};
use super::variant::Variant;

/// Columns of a window that LASTZ's default scores need with few exceptions.
pub const DEFAULT_WINDOW: u32 = 768;

/// All adapters with what decides on their kernels, or why there is none.
pub fn describe() -> String {
    let adapters = adapters();
    if adapters.is_empty() {
        return format!(
            "No GPU found: this program can open no Vulkan (Linux, Windows), Direct3D 12 or Metal device.\n{}Without a \
             GPU everything runs on the CPU (--device=cpu).\n",
            diagnosis::explain(false)
        );
    }
    let mut text = String::new();
    for (number, adapter) in adapters.iter().enumerate() {
        let (info, limits, capabilities) = (adapter.get_info(), adapter.limits(), capabilities(adapter));
        let subgroups = match (capabilities.fixed_subgroup, info.subgroup_min_size, info.subgroup_max_size) {
            (Some(width), ..) => format!("subgroups of {width}"),
            (None, 0..=1, _) => "no subgroup operations".to_string(),
            (None, least, most) => format!("subgroups of {least} to {most}"),
        };
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete GPU",
            wgpu::DeviceType::IntegratedGpu => "integrated GPU",
            wgpu::DeviceType::VirtualGpu => "virtual GPU",
            wgpu::DeviceType::Cpu => "software: used only on request",
            wgpu::DeviceType::Other => "other",
        };
        let size = size_of_adapter(adapter);
        let own = size.map_or("size unknown".to_string(), |size| format!("{} MiB", size >> 20));
        let budget = Memory::new(size, info.device_type == wgpu::DeviceType::DiscreteGpu, None).budget() >> 20;
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "gpu:{number}  {} ({kind})\n  backend   {:?}, driver {} {}\n  lanes     {subgroups}, at most {} per workgroup\n  \
             memory    {own}, of which {budget} MiB are used at most (--gpu-memory); {} MiB per binding, {} KiB workgroup memory, {} storage buffers per kernel\n  kernels   {}\n",
            info.name,
            info.backend,
            info.driver,
            info.driver_info,
            capabilities.max_workgroup_lanes,
            capabilities.max_binding >> 20,
            limits.max_compute_workgroup_storage_size >> 10,
            limits.max_storage_buffers_per_shader_stage,
            Variant::choose(&capabilities, DEFAULT_WINDOW),
        );
    }
    if adapters.iter().all(|adapter| capabilities(adapter).is_software) {
        text.push_str(&diagnosis::explain(true));
    }
    text
}
