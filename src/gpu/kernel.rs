//! `Kernel`: a compute pipeline whose bindings are found by reflection and bound by name.

use super::buffer::GpuVec;
use super::context::{Gpu, GpuError};
use super::shaders::{Shader, ShaderText, assemble};
use super::variant::Variant;

/// A compiled kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    pipeline: wgpu::ComputePipeline,
    bindings: Vec<Binding>,
    shader: Shader,
}

/// A kernel with its buffers, ready to be dispatched any number of times.
#[derive(Clone, Debug)]
pub struct BoundKernel {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    shader: Shader,
}

/// A binding of a kernel, as its WGSL declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Name of the variable.
    pub name: String,
    /// `@binding` number.
    pub number: u32,
    /// Uniform, storage to read, or storage to write.
    pub kind: BindingKind,
}

/// What a binding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingKind {
    /// `var<uniform>`
    Uniform,
    /// `var<storage, read>`
    Read,
    /// `var<storage, read_write>`
    ReadWrite,
}

/// A buffer and the name of the binding it goes to.
pub type Bound<'a> = (&'a str, &'a wgpu::Buffer);

impl<T> GpuVec<T> {
    /// This buffer for the binding `name`.
    pub fn bound<'a>(&'a self, name: &'a str) -> Bound<'a> {
        (name, &self.buffer)
    }
}

/// The bindings of a WGSL module; the parser's message with file and line if it is no WGSL.
pub fn reflect(text: &ShaderText) -> Result<Vec<Binding>, String> {
    parse(text).map(|module| bindings_of(&module))
}

fn parse(text: &ShaderText) -> Result<naga::Module, String> {
    naga::front::wgsl::parse_str(&text.text).map_err(|error| {
        let place = error.location(&text.text).map(|location| text.origin(location.line_number));
        format!("{}: {error}", place.unwrap_or_default())
    })
}

fn bindings_of(module: &naga::Module) -> Vec<Binding> {
    let mut bindings: Vec<Binding> = module
        .global_variables
        .iter()
        .filter_map(|(_, variable)| {
            let number = variable.binding.as_ref()?.binding;
            let kind = match variable.space {
                naga::AddressSpace::Uniform => BindingKind::Uniform,
                naga::AddressSpace::Storage { access } if access.contains(naga::StorageAccess::STORE) => {
                    BindingKind::ReadWrite
                }
                _ => BindingKind::Read,
            };
            Some(Binding { name: variable.name.clone()?, number, kind })
        })
        .collect();
    bindings.sort_by_key(|binding| binding.number);
    bindings
}

impl Kernel {
    /// Compiles `shader` for `variant`.
    pub fn new(gpu: &Gpu, shader: Shader, variant: &Variant) -> Result<Kernel, GpuError> {
        let text = assemble(shader, variant);
        let failed = |reason: String| GpuError::Lost(format!("kernel {} ({variant}): {reason}", shader.name()));
        let module = parse(&text).map_err(failed)?;
        let bindings = bindings_of(&module);
        let scope = gpu.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let module = create_module(gpu, shader.name(), module);
        let layout = create_layout(gpu, shader.name(), &bindings);
        let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(shader.name()),
            layout: Some(&gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(shader.name()),
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            })),
            module: &module,
            entry_point: None,
            compilation_options: wgpu::PipelineCompilationOptions {
                // Workgroup memory is always written before it is read.
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: gpu.pipeline_cache(),
        });
        match pollster::block_on(scope.pop()) {
            Some(error) => Err(failed(error.to_string())),
            None => Ok(Kernel { pipeline, bindings, shader }),
        }
    }

    /// Dispatches `workgroups` workgroups with the given buffers.
    ///
    /// # Panics
    /// If a binding of the kernel has no buffer.
    pub fn run(&self, gpu: &Gpu, workgroups: u32, buffers: &[Bound]) {
        run_all(gpu, &[Step::Dispatch(&self.bind(gpu, buffers), workgroups)]);
    }

    /// Binds buffers by name; those that the kernel does not know are passed over.
    ///
    /// # Panics
    /// If a binding of the kernel has no buffer.
    pub fn bind(&self, gpu: &Gpu, buffers: &[Bound]) -> BoundKernel {
        let entries: Vec<wgpu::BindGroupEntry> = self
            .bindings
            .iter()
            .map(|binding| {
                let found = buffers.iter().find(|(name, _)| *name == binding.name);
                let (_, buffer) =
                    found.unwrap_or_else(|| panic!("{}: no buffer for {}", self.shader.name(), binding.name));
                wgpu::BindGroupEntry { binding: binding.number, resource: buffer.as_entire_binding() }
            })
            .collect();
        let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(self.shader.name()),
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        BoundKernel { pipeline: self.pipeline.clone(), group, shader: self.shader }
    }
}

/// A step of a submission.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// So many workgroups of a kernel.
    Dispatch(&'a BoundKernel, u32),
    /// Zeroes a word of a buffer.
    Clear(&'a GpuVec<u32>, u32),
}

/// Submits steps; every one sees what those before it wrote.
pub fn run_all(gpu: &Gpu, steps: &[Step]) {
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    // Held until the passes are submitted: whoever collects timestamps finds them written.
    let mut timing = gpu.timing();
    for step in steps {
        let (kernel, workgroups) = match *step {
            Step::Dispatch(kernel, workgroups) => (kernel, workgroups),
            Step::Clear(words, place) => {
                encoder.clear_buffer(&words.buffer, 4 * u64::from(place), Some(4));
                continue;
            }
        };
        if gpu.before_dispatch(kernel.shader) {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some(kernel.shader.name()),
                timestamp_writes: timing.begin(kernel.shader),
            });
            pass.set_pipeline(&kernel.pipeline);
            pass.set_bind_group(0, &kernel.group, &[]);
            pass.dispatch_workgroups(workgroups, 1, 1);
        }
    }
    gpu.queue.submit([encoder.finish()]);
}

fn create_module(gpu: &Gpu, label: &str, module: naga::Module) -> wgpu::ShaderModule {
    let source = wgpu::ShaderSource::Naga(std::borrow::Cow::Owned(module));
    let descriptor = wgpu::ShaderModuleDescriptor { label: Some(label), source };
    let mut checks = wgpu::ShaderRuntimeChecks::unchecked();
    // Loops are not counted even then: in that form NVIDIA's driver (580) ends the kernels of `--relaxed` at once.
    checks.bounds_checks = gpu.checks_indices();
    // SAFETY: the module is our own. Builds with debug assertions run the same kernels with indices checked; indices are
    // kept in range by the hosts' sizes (padding of the letters, spans, links) and by the guards in the text, loops end
    // by their row and lane counts, and nothing divides by a variable.
    unsafe { gpu.device.create_shader_module_trusted(descriptor, checks) }
}

fn create_layout(gpu: &Gpu, label: &str, bindings: &[Binding]) -> wgpu::BindGroupLayout {
    let entries: Vec<wgpu::BindGroupLayoutEntry> = bindings
        .iter()
        .map(|binding| wgpu::BindGroupLayoutEntry {
            binding: binding.number,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: match binding.kind {
                    BindingKind::Uniform => wgpu::BufferBindingType::Uniform,
                    BindingKind::Read => wgpu::BufferBindingType::Storage { read_only: true },
                    BindingKind::ReadWrite => wgpu::BufferBindingType::Storage { read_only: false },
                },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        })
        .collect();
    gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries: &entries })
}
