//! Gapped extension (lastz-semantics 5): anchors become blocks.

pub mod bounds;
pub mod bulk;
pub mod commit;
pub mod relaxed;
pub mod side;
pub mod stitch;

pub use bulk::{BulkExtender, BulkUnit};
pub use commit::{GappedCounts, GappedResult, GappedStage, Truncation};
pub use relaxed::RelaxedStage;
pub use side::{Direction, Side, Windows};
