//! Seeding: spaced words of the target, looked up for every query position (lastz-semantics 2).

pub(crate) mod layout;
pub(crate) mod packed;
mod pattern;
pub(crate) mod scan;
mod word_count;
pub(crate) mod word_parts;
mod word_table;

pub use pattern::{Care, SeedPattern};
pub use scan::SeedHit;
pub use word_table::WordTable;
