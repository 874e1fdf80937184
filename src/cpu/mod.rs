//! Gapped extension on the CPU: the exact engine, the oracle of the GPU kernels, and their fallback.
//!
//! | file | what |
//! |---|---|
//! | [`ydrop`] | the sweep over rows, and LASTZ's recurrence written out cell by cell |
//! | `row_scalar` | one row, cell by cell: LASTZ's recurrence |
//! | `row_vector` | the same row, a vector of columns at a time |
//! | `lanes` | the vectors: AVX2, AVX-512, NEON |
//! | `relaxed` | the sweep of `--relaxed`, pruned stripe by stripe |

mod lanes;
mod relaxed;
mod row_scalar;
mod row_vector;
mod traceback;
pub mod ydrop;

pub use ydrop::{SideProblem, Ydrop};
