//! From seed hits to HSPs: the gap-free stage (lastz-semantics 2.4 to 2.6, 3).

pub mod adaptive;
mod diagonals;
mod entropy;
mod exact;
mod extension;
mod finder;
mod hit_filter;
mod merge;
pub mod query_best;
mod search;
mod tiles;
mod twins;
mod xdrop;

pub use entropy::entropy_adjusted;
pub use extension::HspAcceptance;
pub use finder::{FoundHsps, HspFinder};
pub use merge::merge_by_diagonal;
pub(crate) use search::needs_merging;
pub use search::{HspSearch, RawHsp, SearchCounts};
