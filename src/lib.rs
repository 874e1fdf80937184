//! fastz: whole-genome pairwise alignment that gives LASTZ's alignments, byte for byte.
#![warn(missing_docs)]

pub mod align;
pub mod alignment;
pub mod anchor;
pub mod cpu;
pub mod error;
pub mod extend;
pub mod filter;
pub mod input;
pub mod gpu;
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
pub use sequence::{Partition, SequenceSet};
