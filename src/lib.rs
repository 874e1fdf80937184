//! fastz: whole-genome pairwise alignment that gives LASTZ's alignments, byte for byte.
//!
//! ```text
//! read -> index -> seed -> filter -> anchor -> extend ahead, commit in order -> post -> write
//! ```
//! [`align::align`] does it in memory for one target and one query; [`align::Aligner`] for many queries, with a
//! [`align::Sink`] for what is found. [`Options`] decides what is found; its defaults are LASTZ's.
//!
//! | paper or LASTZ step | CPU and host | shader | proof |
//! |---|---|---|---|
//! | sequences, specifiers, subranges | `src/input/` | – | `tests/bad_input.rs` |
//! | spaced-word table, seed hits | `src/seed/` | `shaders/seed_lookup.wgsl` | `tests/hsps/`, `tests/gpu_seeding.rs` |
//! | gap-free x-drop, entropy, adaptive thresholds | `src/filter/` | `shaders/seed_walk.wgsl` | `tests/hsps/`, `tests/gpu_seeding.rs` |
//! | anchors: the peak of each HSP | `src/anchor.rs` | – | `tests/lastz_cases.rs` |
//! | y-drop affine extension | `src/cpu/ydrop.rs`, `src/cpu/row_vector.rs` | `shaders/common/row.wgsl` | `tests/cpu_oracle.rs`, `tests/gapped_live.rs`, `tests/gpu_exact.rs` |
//! | FastZ's inspector (score only) | `src/gpu/inspector.rs` | `shaders/exact_inspector.wgsl` | `tests/gpu_exact.rs` |
//! | grouping by size, executor trimming | `src/gpu/binning.rs` | – | `tests/gpu_exact.rs` |
//! | FastZ's executor (with links) | `src/gpu/executor.rs` | `shaders/exact_executor.wgsl` | `tests/gpu_exact.rs` |
//! | traceback | `src/cpu/traceback.rs` | `shaders/traceback.wgsl` | `tests/gpu_exact.rs` |
//! | upper bounds that drop hopeless anchors | `src/gpu/screen.rs` | `shaders/screen.wgsl`, `shaders/common/stripe.wgsl` | `tests/gpu_screen.rs` |
//! | bounds and masks of accepted blocks | `src/extend/bounds.rs` | `shaders/common/bounded.wgsl` | `tests/gapped_live.rs`, `tests/gpu_bounded.rs` |
//! | LASTZ's order: covered, bounded, accepted | `src/extend/commit.rs` | – | `tests/lastz_live.rs` |
//! | `--inner`, `--chain`, masking, mirrors, filters | `src/post/` | – | `tests/post/` |
//! | formats | `src/output/` | – | `tests/output/` |
//! | the command line | `src/cli/` | – | `tests/cli_options.rs` |
#![warn(missing_docs)]

pub mod align;
pub mod alignment;
pub mod anchor;
pub mod cpu;
pub mod error;
pub mod extend;
pub mod filter;
pub mod gpu;
pub mod input;
pub mod options;
pub mod output;
pub mod post;
pub mod report;
pub mod scoring;
pub mod seed;
pub mod segments;
pub mod sequence;
mod strand;

pub use alignment::{Anchor, Block, EditOp, EditScript, Hsp};
pub use error::{Error, Result};
pub use options::Options;
pub use sequence::{Partition, SequenceSet, SplitRecord};
