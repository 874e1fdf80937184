//! Runs sorted into classes of size for the executor (paper: grouping by size), and where their links go.
//!
//! The links of a run take what its windows cover, not the rectangle around them: 32 rows share a [`Span`] of
//! lane-blocks, and a run's memory is exact before the executor starts.

use super::layout::Span;
use super::variant::Variant;
use crate::extend::side::{Side, WINDOW_ROWS};

/// Longest side of the smallest class; each class is four times larger than the one before.
pub const SMALLEST_CLASS: u32 = 512;
/// Number of classes; the last takes everything longer.
pub const N_SIZE_CLASSES: usize = 8;

/// Size class of a path of `rows` x `columns`.
pub fn size_class(rows: u32, columns: u32) -> usize {
    let mut class = 0;
    let mut longest = SMALLEST_CLASS;
    while rows.max(columns) > longest && class + 1 < N_SIZE_CLASSES {
        longest *= 4;
        class += 1;
    }
    class
}

/// The spans of the rows 0 to `last_row` of a run, and the words of links that they need.
pub fn spans(side: &Side, last_row: u32, variant: &Variant) -> (Vec<Span>, u64) {
    let n_spans = last_row as usize / WINDOW_ROWS + 1;
    let mut words = 0u64;
    let spans = side.windows.hulls[..n_spans]
        .iter()
        .map(|&(first, end)| {
            let first_block = first / variant.columns;
            let n_blocks = end.div_ceil(variant.columns) - first_block;
            let span = Span { first_block, n_blocks, link_start: words as u32 };
            words += WINDOW_ROWS as u64 * u64::from(n_blocks * variant.words());
            span
        })
        .collect();
    (spans, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_grow_by_four_and_include_their_limit() {
        assert_eq!([1, 512, 513, 2048, 2049, 8192, 8193].map(|n| size_class(n, 1)), [0, 0, 1, 1, 2, 2, 3]);
        assert_eq!(size_class(1, u32::MAX), N_SIZE_CLASSES - 1);
    }
}
