//! `Form`: the exact kernels compiled for one [`Variant`], and `Scratch`: the device memory that dispatches of all forms
//! reuse.

use std::sync::{Arc, Mutex, PoisonError};

use super::buffer::GpuVec;
use super::context::{Gpu, GpuError};
use super::kernel::Kernel;
use super::layout::Hull;
use super::queue::RunQueue;
use super::shaders::Shader;
use super::variant::Variant;

/// Runs that a device works on at a time. Measured on an H200: more bring nothing.
pub(super) const RESIDENT_RUNS: u32 = 2112;

/// The exact kernels for one variant.
#[derive(Clone, Debug)]
pub(super) struct FormKernels {
    pub inspector: Kernel,
    pub executor: Kernel,
    pub traceback: Kernel,
}

impl FormKernels {
    fn compile(gpu: &Gpu, variant: Variant) -> Result<FormKernels, GpuError> {
        let shaders = [Shader::ExactInspector, Shader::ExactExecutor, Shader::Traceback];
        let compile = |shader| move || Kernel::new(gpu, shader, &variant);
        let [inspector, executor, traceback] = match gpu.capabilities().is_software {
            // Others work on the same cores meanwhile.
            true => shaders.map(|shader| compile(shader)()),
            // Drivers take seconds for a kernel: compile them side by side.
            false => std::thread::scope(|scope| {
                shaders
                    .map(|shader| scope.spawn(compile(shader)))
                    .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            }),
        };
        Ok(FormKernels { inspector: inspector?, executor: executor?, traceback: traceback? })
    }
}

/// The exact kernels that were compiled for a device. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct CompiledForms(Arc<Mutex<Vec<(Variant, Slot)>>>);

/// Kernels, once they were compiled.
type Slot = Arc<Mutex<Option<FormKernels>>>;

impl CompiledForms {
    /// The kernels for a variant, compiled the first time they are asked for.
    pub(super) fn get(&self, gpu: &Gpu, variant: Variant) -> Result<FormKernels, GpuError> {
        let slot = {
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match slots.iter().find(|(other, _)| *other == variant) {
                Some((_, slot)) => slot.clone(),
                None => {
                    slots.push((variant, Slot::default()));
                    slots[slots.len() - 1].1.clone()
                }
            }
        };
        // Whoever asks for the same meanwhile waits.
        let mut kernels = slot.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kernels {
            Some(kernels) => Ok(kernels.clone()),
            None => Ok(kernels.insert(FormKernels::compile(gpu, variant)?).clone()),
        }
    }
}

/// The exact kernels for one variant, and the runs that are under way in them.
pub(super) struct Form {
    pub variant: Variant,
    pub kernels: FormKernels,
    pub queue: RunQueue,
}

/// Large buffers that only one batch at a time needs.
#[derive(Default)]
pub(super) struct Scratch {
    hulls: Option<GpuVec<Hull>>,
    links: Option<GpuVec<u32>>,
}

impl Form {
    pub fn new(gpu: &Gpu, compiled: &CompiledForms, variant: Variant) -> Result<Form, GpuError> {
        let kernels = compiled.get(gpu, variant)?;
        Ok(Form { variant, kernels, queue: RunQueue::new(gpu, RESIDENT_RUNS, "saved", variant.saved_words()) })
    }
}

impl Scratch {
    /// Room for `n` hulls.
    pub fn hulls(&mut self, gpu: &Gpu, n: usize) -> &GpuVec<Hull> {
        room(&mut self.hulls, gpu, "hulls", n)
    }

    /// Room for `n` words of links.
    pub fn links(&mut self, gpu: &Gpu, n: usize) -> &GpuVec<u32> {
        room(&mut self.links, gpu, "links", n)
    }
}

/// The buffer if it is large enough, else a new one. Allocating and clearing large buffers takes milliseconds.
pub(super) fn room<'a, T: bytemuck::Pod>(
    held: &'a mut Option<GpuVec<T>>,
    gpu: &Gpu,
    label: &str,
    n: usize,
) -> &'a GpuVec<T> {
    if held.as_ref().is_none_or(|held| held.len() < n) {
        // The old one goes first: both may not fit.
        *held = None;
    }
    held.get_or_insert_with(|| GpuVec::new(gpu, label, n))
}
