//! Gapped extension (lastz-semantics 5): anchors become blocks.

pub mod bounds;
pub mod bulk;
pub mod commit;
pub mod screened;
pub mod side;
pub mod stitch;

pub use bulk::{BulkExtender, BulkUnit};
pub use commit::{GappedCounts, GappedResult, GappedStage, Truncation};
pub use side::{Direction, Side, Windows};
