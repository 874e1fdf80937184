//! `GpuVec`: a typed storage buffer.

use std::marker::PhantomData;
use std::sync::mpsc;

use bytemuck::Pod;

use super::context::{Gpu, GpuError};
use super::memory::Allocation;
use super::staging::TICKET_BYTES;
use super::timing::Collected;

/// Values in device memory.
#[derive(Debug)]
pub struct GpuVec<T> {
    pub(super) buffer: wgpu::Buffer,
    len: usize,
    element: PhantomData<T>,
    _allocation: Allocation,
}

/// What a kernel's uniform or storage binding can be backed by.
const USAGE: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_DST).union(wgpu::BufferUsages::COPY_SRC);

impl<T: Pod> GpuVec<T> {
    /// Room for `len` values. With debug assertions it is filled with a pattern, so that nothing passes by zeros.
    pub fn new(gpu: &Gpu, label: &str, len: usize) -> Self {
        let vec = Self::unfilled(gpu, label, len, USAGE);
        if cfg!(debug_assertions) {
            let poison = vec![0x5a5a_5a5au32; (vec.buffer.size() / 4).min(1 << 22) as usize];
            gpu.queue.write_buffer(&vec.buffer, 0, bytemuck::cast_slice(&poison));
        }
        vec
    }

    /// A copy of `values`.
    pub fn from_slice(gpu: &Gpu, label: &str, values: &[T]) -> Self {
        let vec = Self::unfilled(gpu, label, values.len(), USAGE);
        vec.write(gpu, values);
        vec
    }

    /// A uniform buffer with one value.
    pub fn uniform(gpu: &Gpu, label: &str, value: &T) -> Self {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let vec = Self::unfilled(gpu, label, 1, usage);
        vec.write(gpu, std::slice::from_ref(value));
        vec
    }

    fn unfilled(gpu: &Gpu, label: &str, len: usize, usage: wgpu::BufferUsages) -> Self {
        // A binding cannot be empty.
        let size = (len.max(1) * size_of::<T>()).next_multiple_of(4) as u64;
        gpu.before_allocation();
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: false,
        });
        GpuVec { buffer, len, element: PhantomData, _allocation: gpu.memory().note(size) }
    }

    /// Values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Overwrites the first values.
    pub fn write(&self, gpu: &Gpu, values: &[T]) {
        if !values.is_empty() {
            gpu.queue.write_buffer(&self.buffer, 0, bytemuck::cast_slice(values));
        }
    }

    /// Zeroes all values, before the next dispatch.
    pub fn clear(&self, gpu: &Gpu) {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(&self.buffer, 0, None);
        gpu.queue.submit([encoder.finish()]);
    }

    /// Reads the first `len` values back, after all work submitted before.
    pub fn read(&self, gpu: &Gpu, len: usize) -> Result<Vec<T>, GpuError> {
        self.read_with(gpu, len, <[T]>::to_vec)
    }

    /// What `take` makes of the first `len` values, after all work submitted before.
    pub fn read_with<R>(&self, gpu: &Gpu, len: usize, take: impl FnOnce(&[T]) -> R) -> Result<R, GpuError> {
        let len = len.min(self.len);
        if len == 0 {
            return Ok(take(&[]));
        }
        let size = ((len * size_of::<T>()) as u64).next_multiple_of(4);
        let staging = gpu.staging().take(gpu, size);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        if gpu.before_copy() {
            encoder.copy_buffer_to_buffer(&self.buffer, 0, &staging.buffer, 0, size);
            staging.copy_ticket(&mut encoder, size);
        }
        let (timed, submission) = {
            // Held until the copy is submitted: no other ticket comes between.
            let mut timing = gpu.timing();
            let timed = timing.collect(&gpu.device, &mut encoder);
            staging.write_ticket(gpu);
            (timed, gpu.queue.submit([encoder.finish()]))
        };
        timed.iter().for_each(Collected::request);
        let (sender, receiver) = mpsc::channel();
        let mapped = staging.buffer.slice(..size + TICKET_BYTES);
        mapped.map_async(wgpu::MapMode::Read, move |result| {
            // The receiver waits below; it is gone only if waiting failed, which is reported there.
            let _ = sender.send(result);
        });
        gpu.wait_for(Some(submission))?;
        timed.iter().for_each(|timed| gpu.timing().add(timed));
        let failed = |what: String| gpu.why_failed(format!("reading back failed: {what}"));
        receiver.recv().map_err(|e| failed(e.to_string()))?.map_err(|e| failed(e.to_string()))?;
        let view = mapped.get_mapped_range().map_err(|e| failed(e.to_string()))?;
        let (values, ticket) = view.split_at(size as usize);
        if bytemuck::pod_read_unaligned::<u32>(ticket) != staging.ticket {
            return Err(failed("the copy was not made".to_string()));
        }
        let taken = take(bytemuck::cast_slice(&values[..len * size_of::<T>()]));
        drop(view);
        staging.buffer.unmap();
        gpu.staging().give_back(staging);
        Ok(taken)
    }
}
