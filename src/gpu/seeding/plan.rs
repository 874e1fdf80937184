//! What is still to be done of a query array, piece by piece.

use super::batch::BatchResult;
use super::limits::SeedLimits;
use super::pieces::Piece;
use super::words::DeviceWords;

/// Pieces to come.
pub(super) struct Plan {
    /// Pieces to be done first, the next one last.
    open: Vec<Piece>,
    /// End of the first query window after these.
    next_end: u32,
    /// After the last possible window end.
    end: u32,
    /// Query windows of the next piece.
    pub piece_len: u32,
    n_flips: u32,
    n_parts: u32,
}

impl Plan {
    /// Windows that end in `ends`, `piece_len` of them at a time to begin with.
    pub fn new(ends: std::ops::Range<u32>, piece_len: u32, words: &DeviceWords) -> Plan {
        let (n_flips, n_parts) = (words.n_flips, words.parts.len() as u32);
        Plan { open: Vec::new(), next_end: ends.start, end: ends.end, piece_len, n_flips, n_parts }
    }

    /// The next pieces, `most` of them at most; none at the end.
    pub fn batch(&mut self, most: usize) -> Vec<Piece> {
        let mut batch = Vec::with_capacity(most);
        while batch.len() < most {
            if let Some(piece) = self.open.pop() {
                if piece.n_positions > self.piece_len {
                    let rest = piece.n_positions - self.piece_len;
                    let first_end = piece.first_end + self.piece_len;
                    self.open.push(Piece { first_end, n_positions: rest, ..piece });
                }
                batch.push(Piece { n_positions: piece.n_positions.min(self.piece_len), ..piece });
            } else if self.next_end < self.end {
                let n = self.piece_len.min(self.end - self.next_end);
                batch.push(Piece::of_windows(self.next_end, n, self.n_flips, self.n_parts));
                self.next_end += n;
            } else {
                break;
            }
        }
        batch
    }

    /// The first of these did not fit, and the others wait for it.
    pub fn repeat(&mut self, pieces: &[Piece], longest_list: u32) {
        let (failed, waiting) = pieces.split_first().expect("the piece that failed");
        self.open.extend(waiting.iter().rev());
        // Memory for candidates is shared by a batch: the smallest piece may fit when it comes first.
        let pieces = if failed.is_smallest() { vec![*failed] } else { failed.cut(longest_list) };
        self.open.extend(pieces.into_iter().rev());
        self.piece_len = (failed.n_positions / 4).max(1);
    }

    /// Moves the length of pieces towards the wanted number of hits.
    pub fn adapt(&mut self, result: &BatchResult, limits: &SeedLimits) {
        let len = f64::from(self.piece_len);
        let wanted = if result.most_overflow > limits.overflow_capacity / 2 {
            len / 2.0
        } else {
            f64::from(limits.wanted_hits()) / result.most_hits_per_window.max(1e-6)
        };
        self.piece_len = (wanted.clamp(len / 2.0, len * 4.0) as u32).clamp(1, limits.max_piece);
    }
}
