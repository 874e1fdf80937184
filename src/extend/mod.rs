//! Gapped extension (lastz-semantics 5): anchors become blocks.

pub mod bounds;
pub mod commit;
pub mod side;
pub mod stitch;

pub use commit::{GappedCounts, GappedResult, GappedStage, Truncation};
pub use side::{Direction, Side, Windows};
