//! Gapped extension (lastz-semantics 5): anchors become blocks.

pub mod side;

pub use side::{Direction, Side, Windows};
