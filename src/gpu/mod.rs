//! The GPU side: WGSL kernels (in `shaders/`) and the host code that feeds them. Nothing outside this folder uses wgpu.
//!
//! | file | what |
//! |---|---|
//! | [`context`] | the adapter, the device and its queue |
//! | [`devices`] | what `fastz devices` prints |
//! | [`variant`] | forms of a kernel for subgroup widths and window sizes |
//! | [`shaders`] | the WGSL files joined to one text |
//! | [`layout`] | structs and constants on both sides of the border |
//! | [`kernel`] | a pipeline with bindings by name |
//! | [`buffer`] | typed device memory |
//! | [`letters`] | sequences and scores for the kernels |
//! | [`queue`] | dispatches of a queue of runs, each short |
//! | [`binning`] | runs sorted into classes of size for the executor |
//! | [`extender`] | inspect, execute, trace back |
//! | [`seeding`] | seed hits and the gap-free filter |

pub mod binning;
pub mod buffer;
pub mod context;
pub mod devices;
pub mod extender;
pub mod kernel;
pub mod layout;
pub mod letters;
pub mod queue;
pub mod seeding;
pub mod shaders;
pub mod variant;

pub use context::{AdapterChoice, Gpu, GpuError};
pub use extender::{GpuExtender, GpuUnit, OneSided};
pub use seeding::GpuSeeder;
