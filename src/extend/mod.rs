//! Gapped extension (lastz-semantics 5): anchors become blocks.

mod ahead;
pub mod bounds;
pub mod bulk;
mod bulk_wave;
mod choice;
pub mod commit;
mod extension;
mod order;
mod pending;
pub mod relaxed;
mod screened;
pub mod side;
pub mod stitch;
mod tasks;

pub use ahead::LookAhead;
pub(crate) use bulk::wants_script;
pub use bulk::{BoundedAnchor, BulkExtender, BulkUnit};
pub use commit::{GappedCounts, GappedResult, GappedStage};
pub use extension::Truncation;
pub use side::{Direction, Side, Windows};
