//! fastz: whole-genome pairwise alignment that gives LASTZ's alignments, byte for byte.
//!
//! ```text
//! read -> index -> seed -> filter -> anchor -> extend ahead, commit in order -> post -> write
//! ```
//! [`align::align`] does it in memory for one target and one query; [`align::Aligner`] for many queries, with a
//! [`align::Sink`] for what is found. [`Options`] decides what is found; its defaults are LASTZ's.
//!
//! `README.md` has the table from the steps of the papers to files, shaders and tests.
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
pub use sequence::{EmptyRecord, Partition, SequenceSet, SplitRecord};
