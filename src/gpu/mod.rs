//! The GPU side: WGSL kernels (in `shaders/`) and the host code that feeds them. Nothing outside this folder uses wgpu.
//!
//! | file | what |
//! |---|---|
//! | [`adapters`] | the adapters of this machine |
//! | [`context`] | an opened adapter, the device and its queue |
//! | [`memory`] | how much device memory may be used, and by whom |
//! | [`budget`] | sizes of the batches of gapped extension |
//! | [`timing`] | dispatches and seconds of each kernel |
//! | `pipelines` | compiled kernels on disk |
//! | [`devices`] | what `fastz devices` prints |
//! | `diagnosis` | why there is no adapter |
//! | [`variant`] | forms of a kernel for subgroup widths and window sizes |
//! | [`shaders`] | the WGSL files joined to one text |
//! | [`layout`] | structs and constants on both sides of the border |
//! | [`kernel`] | a pipeline with bindings by name |
//! | [`buffer`] | typed device memory |
//! | `staging` | buffers for copies to the host, and the proof that a copy was made |
//! | [`letters`] | sequences and scores for the kernels |
//! | [`queue`] | dispatches of a queue of runs, each short |
//! | [`binning`] | runs sorted into classes of size for the executor |
//! | [`screen`] | upper bounds, to drop anchors before they are extended |
//! | [`mod@unit`] | a target and a query in device memory |
//! | `form` | the exact kernels compiled for one variant |
//! | [`extender`] | both sides of anchors: inspect, then execute what is wanted |
//! | [`bounded`] | the same under the bounds of accepted blocks |
//! | [`relaxed`] | both sides of anchors by the relaxed contract |
//! | `inspector` | sweep runs without links |
//! | `executor` | repeat runs with links, trace back |
//! | [`counts`] | what the extension kernels did |
//! | [`bulk`] | the extender behind the seam to the commit loop |
//! | [`seeding`] | seed hits and the gap-free filter |
//! | [`finder`] | the seeding behind the seam to the stages of a strand |
//! | [`several`] | engines on several GPUs as one |
//! | `parts` | host work on several threads |
//! | `fault` | what happens when a device fails |

pub mod adapters;
pub mod binning;
pub mod bounded;
pub mod budget;
pub mod buffer;
pub mod bulk;
pub mod context;
pub mod counts;
pub mod devices;
mod diagnosis;
mod executor;
pub mod extender;
mod fault;
pub mod finder;
mod form;
mod inspector;
pub mod kernel;
pub mod layout;
pub mod letters;
pub mod memory;
mod parts;
mod pipelines;
pub mod queue;
pub mod relaxed;
pub mod screen;
pub mod seeding;
pub mod several;
pub mod shaders;
mod staging;
pub mod timing;
mod two_pass;
pub mod unit;
pub mod variant;

pub use adapters::AdapterChoice;
pub use bounded::BoundedRun;
pub use bulk::GpuBulk;
pub use context::{Gpu, GpuError, GpuSettings, OpeningSeconds};
pub use counts::{GpuCounts, Switches};
pub use extender::GpuExtender;
pub use fault::OnFault;
#[doc(hidden)]
pub use fault::{Fault, FaultPlan};
pub use finder::GpuFinder;
pub use inspector::Inspected;
pub use relaxed::{InspectedRelaxed, RelaxedExtender};
pub use screen::{GpuScreen, Screened};
pub use seeding::{GpuSeeder, SeedKernels};
pub use several::{Engine, Several};
pub use unit::{GpuUnit, OneSided};
