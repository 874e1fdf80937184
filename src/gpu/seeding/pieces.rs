//! Pieces of a search: what one set of dispatches does. A piece whose hits do not fit the device is cut, and its parts
//! are done in its place, in order.

use super::layout::FLIP_BITS;

/// Query windows, lookups of each, parts of the word table, entries of each word's list there. More than one of something
/// only if the next are whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// End of the first query window.
    pub first_end: u32,
    /// Query windows.
    pub n_positions: u32,
    /// First lookup.
    pub first_flip: u32,
    /// Lookups.
    pub n_flips: u32,
    /// First part of the table.
    pub first_part: u32,
    /// Parts.
    pub n_parts: u32,
    /// Entries of lists, newest first.
    pub list: (u32, u32),
}

/// Pieces that a piece is cut into, at most.
const CUTS: u32 = 8;

impl Piece {
    /// Whole query windows.
    pub fn of_windows(first_end: u32, n_positions: u32, n_flips: u32, n_parts: u32) -> Piece {
        Piece { first_end, n_positions, first_flip: 0, n_flips, first_part: 0, n_parts, list: (0, u32::MAX) }
    }

    /// Order keys shifted right by this are less than 256.
    pub fn range_shift(&self) -> u32 {
        let last = (self.n_positions << FLIP_BITS) - 1;
        (32 - last.leading_zeros()).saturating_sub(8)
    }

    /// Smaller pieces that do the same one after the other. Lists are no longer than `longest_list`.
    pub fn cut(&self, longest_list: u32) -> Vec<Piece> {
        if self.n_positions > 1 {
            let stretches = stretches(self.first_end, self.n_positions);
            return stretches.map(|(first_end, n_positions)| Piece { first_end, n_positions, ..*self }).collect();
        }
        if self.n_flips > 1 {
            let stretches = stretches(self.first_flip, self.n_flips);
            return stretches.map(|(first_flip, n_flips)| Piece { first_flip, n_flips, ..*self }).collect();
        }
        if self.n_parts > 1 {
            let stretches = stretches(self.first_part, self.n_parts);
            return stretches.map(|(first_part, n_parts)| Piece { first_part, n_parts, ..*self }).collect();
        }
        let end = self.list.1.min(longest_list);
        let stretches = stretches(self.list.0, end.saturating_sub(self.list.0).max(1));
        stretches.map(|(first, n)| Piece { list: (first, first + n), ..*self }).collect()
    }

    /// Whether it cannot be cut.
    pub fn is_smallest(&self) -> bool {
        self.n_positions == 1 && self.n_flips == 1 && self.n_parts == 1 && self.list.1 - self.list.0 == 1
    }
}

fn stretches(first: u32, n: u32) -> impl Iterator<Item = (u32, u32)> {
    let len = n.div_ceil(CUTS);
    (0..n.div_ceil(len)).map(move |i| (first + i * len, len.min(n - i * len)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_lead_to_single_hits_in_order() {
        let mut open = vec![Piece::of_windows(19, 3, 2, 10)];
        let mut done = Vec::new();
        while let Some(piece) = open.pop() {
            if piece.is_smallest() {
                done.push((piece.first_end, piece.first_flip, piece.first_part, piece.list.0));
            } else {
                open.extend(piece.cut(20).into_iter().rev());
            }
        }
        let all = 0..3 * 2 * 10 * 20;
        let expected: Vec<_> = all.map(|i| (19 + i / 400, i / 200 % 2, i / 20 % 10, i % 20)).collect();
        assert_eq!(done, expected);
    }

    #[test]
    fn order_keys_fall_into_256_ranges() {
        for n in [1, 2, 255, 256, 257, 1 << 20] {
            let piece = Piece::of_windows(19, n, 13, 1);
            let last = ((n - 1) << FLIP_BITS) | 255;
            assert!(last >> piece.range_shift() < 256, "{n}");
            assert!(n == 1 || last >> piece.range_shift() >= 127, "{n}");
        }
    }
}
