//! Gapped extension on the CPU: the exact engine, the oracle of the GPU kernels, and their fallback.
//!
//! | file | what |
//! |---|---|
//! | [`ydrop`] | the sweep over rows, and LASTZ's recurrence written out cell by cell |
//! | `row_scalar` | one row, cell by cell: LASTZ's recurrence |
//! | `row_avx2` | the same row, sixteen columns at a time |
//! | `relaxed` | the sweep of `--relaxed`, pruned stripe by stripe |

mod relaxed;
#[cfg(target_arch = "x86_64")]
mod row_avx2;
mod row_scalar;
mod traceback;
pub mod ydrop;

pub use ydrop::{SideProblem, Ydrop};
