//! Gap-free stage (lastz-semantics 3): which seed hits become HSPs, and which HSPs are kept.

pub mod adaptive;
pub mod query_best;
