//! Post stages: what happens to HSPs and blocks after they are found and before they are written (lastz-semantics 6).
//!
//! | file | step |
//! |---|---|
//! | `chain.rs` | one best colinear chain of HSPs (6.3) |
//! | `trivial.rs` | blocks of identical sequences, and dropping them (4.4) |
//! | `rescore.rs` | score of a path from scratch, loose end gaps, column counts (5.5, 7.1) |
//! | `filters.rs` | identity, coverage and the other back-end filters (6.2) |
//! | `inner.rs` | rectangles between blocks that are searched again (6.4) |
//! | `masking.rs` | target bases covered too often (6.6) |
//! | `mirror.rs` | mirror images of a self comparison (6.7) |
//! | `limits.rs` | per-query limits on HSPs and depth (6.8) |

pub mod chain;
pub mod filters;
pub mod inner;
pub mod limits;
pub mod masking;
pub mod mirror;
pub mod rescore;
pub mod trivial;
