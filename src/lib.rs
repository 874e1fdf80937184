//! fastz: whole-genome pairwise alignment that gives LASTZ's alignments, byte for byte.
#![warn(missing_docs)]

pub mod alignment;
pub mod cpu;
pub mod error;
pub mod extend;
pub mod gpu;
pub mod options;
pub mod output;
pub mod scoring;
pub mod seed;
pub mod sequence;

pub use alignment::{Anchor, Block, EditOp, EditScript, Hsp};
pub use error::{Error, Result};
pub use options::Options;
pub use sequence::{Partition, SequenceSet};
