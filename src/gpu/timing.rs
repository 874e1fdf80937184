//! Dispatches and seconds of each kernel, by timestamps around its passes where the device has them.

use super::shaders::Shader;

/// Passes between two read-backs whose times are kept; more go untimed.
const PASSES: u32 = 1024;
const STAMPS: u64 = 2 * PASSES as u64;

/// What a kernel did.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct KernelTime {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Dispatches.
    pub dispatches: u64,
    /// Those of them that were timed.
    pub timed: u64,
    /// Seconds on the device of those that were timed.
    pub seconds: f64,
}

/// Counts and times of the kernels of one device.
#[derive(Debug)]
pub(super) struct Timing {
    totals: Vec<KernelTime>,
    stamps: Option<Stamps>,
}

#[derive(Debug)]
struct Stamps {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    seconds_per_tick: f64,
    /// Kernels of the passes since the last read-back.
    passes: Vec<Shader>,
}

/// Timestamps on their way to the host.
pub(super) struct Collected {
    staging: wgpu::Buffer,
    passes: Vec<Shader>,
}

impl Collected {
    /// Asks for them; to be called once their encoder is submitted.
    pub fn request(&self) {
        // Whether it worked shows when they are read.
        self.staging.slice(..).map_async(wgpu::MapMode::Read, |_| {});
    }
}

impl Timing {
    /// With timestamps if the device was opened with the feature for it.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Timing {
        let of_kernel = |shader: &Shader| KernelTime { kernel: shader.name(), dispatches: 0, timed: 0, seconds: 0.0 };
        let stamps = device.features().contains(wgpu::Features::TIMESTAMP_QUERY).then(|| Stamps {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count: STAMPS as u32,
            }),
            resolved: device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("timestamps"),
                size: 8 * STAMPS,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
            seconds_per_tick: f64::from(queue.get_timestamp_period()) * 1e-9,
            passes: Vec::new(),
        });
        Timing { totals: Shader::ALL.iter().map(of_kernel).collect(), stamps }
    }

    /// What all kernels that ran did.
    pub fn totals(&self) -> Vec<KernelTime> {
        self.totals.iter().filter(|total| total.dispatches > 0).copied().collect()
    }

    fn total(&mut self, shader: Shader) -> &mut KernelTime {
        let of_kernel = self.totals.iter_mut().find(|total| total.kernel == shader.name());
        of_kernel.expect("a total for every kernel")
    }

    /// Counts a pass of `shader`; where its timestamps go.
    pub fn begin(&mut self, shader: Shader) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        self.total(shader).dispatches += 1;
        let stamps = self.stamps.as_mut().filter(|stamps| stamps.passes.len() < PASSES as usize)?;
        let first = 2 * stamps.passes.len() as u32;
        stamps.passes.push(shader);
        Some(wgpu::ComputePassTimestampWrites {
            query_set: &stamps.queries,
            beginning_of_pass_write_index: Some(first),
            end_of_pass_write_index: Some(first + 1),
        })
    }

    /// Sends the timestamps of all passes so far to the host, at the end of `encoder`.
    pub fn collect(&mut self, device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder) -> Option<Collected> {
        let stamps = self.stamps.as_mut().filter(|stamps| !stamps.passes.is_empty())?;
        let passes = std::mem::take(&mut stamps.passes);
        let n = 2 * passes.len() as u32;
        let size = 8 * u64::from(n);
        let staging = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("timestamps"),
            size,
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        encoder.resolve_query_set(&stamps.queries, 0..n, &stamps.resolved, 0);
        encoder.copy_buffer_to_buffer(&stamps.resolved, 0, &staging, 0, size);
        Some(Collected { staging, passes })
    }

    /// Adds timestamps that have arrived. Those that got lost are missed by nobody: their passes count as untimed.
    pub fn add(&mut self, collected: &Collected) {
        let seconds_per_tick = self.stamps.as_ref().map_or(0.0, |stamps| stamps.seconds_per_tick);
        let Ok(view) = collected.staging.slice(..).get_mapped_range() else { return };
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&view);
        for (&shader, stamps) in collected.passes.iter().zip(ticks.chunks_exact(2)) {
            let total = self.total(shader);
            total.timed += 1;
            total.seconds += stamps[1].saturating_sub(stamps[0]) as f64 * seconds_per_tick;
        }
    }
}
