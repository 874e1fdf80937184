//! Gap-free extension with an x-drop (lastz-semantics 3.1).
//!
//! A run walks away from the end of the seed, pair by pair, until it is more than X below its best:
//! ```text
//!   left run  <----------- e | e ----------->  right run      (e: end of the seed window; the left run scores the seed)
//! ```
//! Where both letters are A, C, G or T, four pairs at a time are scored by one look at a table: their sum, and the
//! least and the greatest of their four prefix sums. Only the block in which a run ends is looked at pair by pair.

use crate::SequenceSet;
use crate::scoring::Matrix;
use crate::seed::packed::{PackedBases, letter};

/// Pairs per look at the table.
const BLOCK: usize = 4;

/// One side of an extension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// Greatest score of a prefix, at least 0.
    pub best: i32,
    /// Pairs of the shortest prefix that has it.
    pub best_len: usize,
    /// Pairs looked at.
    pub len: usize,
}

/// Two sequences, scores and X.
pub(crate) struct XDrop<'a> {
    target: &'a PackedBases,
    query: &'a PackedBases,
    target_bases: &'a [u8],
    query_bases: &'a [u8],
    matrix: &'a Matrix,
    x_drop: i32,
    blocks: BlockTable,
}

impl<'a> XDrop<'a> {
    pub fn new(
        (target, target_set): (&'a PackedBases, &'a SequenceSet),
        (query, query_set): (&'a PackedBases, &'a SequenceSet),
        matrix: &'a Matrix,
        x_drop: i32,
    ) -> Self {
        let (target_bases, query_bases) = (&target_set.bases[..], &query_set.bases[..]);
        XDrop { target, query, target_bases, query_bases, matrix, x_drop, blocks: BlockTable::new(matrix, x_drop) }
    }

    /// Looks at the target around a position that a run is about to start from, so that it is in the cache.
    #[inline]
    pub fn touch(&self, e1: usize) -> u64 {
        self.target.touch(e1)
    }

    /// The run from target position `e1` and query position `e2` to the end of either sequence.
    #[inline]
    pub fn right(&self, e1: usize, e2: usize) -> Run {
        let limit = (self.target_bases.len() - e1).min(self.query_bases.len() - e2);
        if self.blocks.is_symmetric {
            self.run::<false, true>(e1, e2, limit)
        } else {
            self.run::<false, false>(e1, e2, limit)
        }
    }

    /// The run over at most `limit` pairs before target position `e1` and query position `e2`.
    #[inline]
    pub fn left(&self, e1: usize, e2: usize, limit: usize) -> Run {
        if self.blocks.is_symmetric {
            self.run::<true, true>(e1, e2, limit)
        } else {
            self.run::<true, false>(e1, e2, limit)
        }
    }

    fn run<const LEFT: bool, const SYMMETRIC: bool>(&self, e1: usize, e2: usize, limit: usize) -> Run {
        let Run { mut best, mut best_len, mut len } = Run::default();
        // LASTZ tests before each pair: with a negative X it looks at none.
        if self.x_drop < 0 {
            return Run::default();
        }
        let mut sum = 0i32;
        while len < limit {
            let mut pairs = self.pairs::<LEFT>(e1, e2, len);
            let n_blocks = if best > self.blocks.max_best { 0 } else { pairs.n_plain.min(limit - len) / BLOCK };
            for _ in 0..n_blocks {
                let block = pairs.next_block::<LEFT>();
                let scores = self.blocks.scores[block.index::<SYMMETRIC>()];
                if sum + i32::from(scores.min) < best - self.x_drop {
                    len += self.pairs_to_drop(block, sum, best);
                    return Run { best, best_len, len };
                }
                if sum + i32::from(scores.max) > best {
                    best = sum + i32::from(scores.max);
                    best_len = len + scores.max_len as usize;
                }
                sum += i32::from(scores.sum);
                len += BLOCK;
            }
            // What is left of this window, or a part of it, letter by letter.
            for _ in 0..(64 - n_blocks * BLOCK).min(2 * BLOCK).min(limit - len) {
                let (p1, p2) = if LEFT { (e1 - len - 1, e2 - len - 1) } else { (e1 + len, e2 + len) };
                // LASTZ's scores are 32 bits wide, and wrap (lastz-semantics 10).
                sum = sum.wrapping_add(self.matrix.get(self.target_bases[p1], self.query_bases[p2]));
                len += 1;
                if sum > best {
                    (best, best_len) = (sum, len);
                }
                if sum < best.wrapping_sub(self.x_drop) {
                    return Run { best, best_len, len };
                }
            }
        }
        Run { best, best_len, len }
    }

    /// The next 64 pairs of a run that has looked at `len` pairs.
    #[inline]
    fn pairs<const LEFT: bool>(&self, e1: usize, e2: usize, len: usize) -> Pairs {
        let (target, query) = if LEFT {
            (self.target.before(e1 - len), self.query.before(e2 - len))
        } else {
            (self.target.at(e1 + len), self.query.at(e2 + len))
        };
        let special = target.special | query.special;
        let planes = [
            target.transition ^ query.transition,
            target.class ^ query.class,
            target.transition ^ target.class,
            target.class,
        ];
        if LEFT {
            let [a, b, c, d] = planes;
            let planes = [reverse_nibbles(a), reverse_nibbles(b), reverse_nibbles(c), reverse_nibbles(d)];
            Pairs { planes, n_plain: special.leading_zeros() as usize }
        } else {
            Pairs { planes, n_plain: special.trailing_zeros() as usize }
        }
    }

    /// Pairs of the block up to the one that falls below `best` - X.
    #[inline]
    fn pairs_to_drop(&self, block: Block, mut sum: i32, best: i32) -> usize {
        for i in 0..BLOCK {
            sum += self.blocks.pairs[block.pair(i)];
            if sum < best - self.x_drop {
                return i + 1;
            }
        }
        unreachable!("the block's least prefix sum falls below")
    }
}

/// 64 pairs as bit planes; the next pair of a right run is bit 0, that of a left run the lowest of the top four bits.
struct Pairs {
    /// Transition bits differ; class bits differ; the target's transition bit xor class bit; its class bit.
    planes: [u64; 4],
    /// Pairs before the first special one.
    n_plain: usize,
}

impl Pairs {
    #[inline]
    fn next_block<const LEFT: bool>(&mut self) -> Block {
        let nibble = |plane: &mut u64| {
            let nibble = if LEFT { *plane >> 60 } else { *plane & 15 };
            *plane = if LEFT { *plane << 4 } else { *plane >> 4 };
            nibble as u16
        };
        let [a, b, c, d] = &mut self.planes;
        Block([nibble(a), nibble(b), nibble(c), nibble(d)])
    }
}

/// Four pairs: four bits of each plane, the pair next to the seed lowest.
#[derive(Clone, Copy)]
struct Block([u16; 4]);

impl Block {
    #[inline]
    fn index<const SYMMETRIC: bool>(self) -> usize {
        let [a, b, c, d] = self.0;
        let index = a | b << 4 | c << 8;
        usize::from(if SYMMETRIC { index } else { index | d << 12 })
    }

    fn pair(self, i: usize) -> usize {
        self.0.iter().enumerate().map(|(plane, bits)| usize::from(bits >> i & 1) << plane).sum()
    }
}

/// Reverses the order of the bits in each group of four.
#[inline]
fn reverse_nibbles(word: u64) -> u64 {
    const ODD: u64 = 0x5555_5555_5555_5555;
    const LOW: u64 = 0x3333_3333_3333_3333;
    let word = (word >> 1 & ODD) | (word & ODD) << 1;
    (word >> 2 & LOW) | (word & LOW) << 2
}

/// What four pairs add to a run.
#[derive(Clone, Copy, Default)]
struct BlockScores {
    sum: i16,
    /// Least sum of the first 1, 2, 3 or 4 pairs.
    min: i16,
    /// Greatest such sum.
    max: i16,
    /// Fewest pairs that have it.
    max_len: u16,
}

struct BlockTable {
    scores: Box<[BlockScores; 1 << 16]>,
    /// Scores of a single pair, by its four plane bits.
    pairs: [i32; 16],
    /// Whether the score of a pair is that of its complement, as in all usual matrices: then the fourth plane is not
    /// needed, and the part of the table that is used fits into the innermost cache.
    is_symmetric: bool,
    /// Blocks are not used above this score: near the end of 32 bits, or always if the scores do not allow them.
    max_best: i32,
}

impl BlockTable {
    fn new(matrix: &Matrix, x_drop: i32) -> Self {
        let pairs: [i32; 16] = std::array::from_fn(|bits| {
            let (class, transition) = (bits >> 3 & 1, (bits >> 2 ^ bits >> 3) & 1);
            let target = letter(transition != 0, class != 0);
            let query = letter(transition ^ bits & 1 != 0, class ^ bits >> 1 & 1 != 0);
            matrix.get(target, query)
        });
        let greatest = pairs.iter().map(|score| score.unsigned_abs()).max().unwrap_or(0);
        let deepest = -i64::from(pairs.into_iter().min().unwrap_or(0));
        // A run must not be able to raise its best and to end within the same block.
        if greatest > i16::MAX as u32 / BLOCK as u32 || BLOCK as i64 * deepest > i64::from(x_drop) {
            let scores = Box::new([BlockScores::default(); 1 << 16]);
            return BlockTable { scores, pairs, is_symmetric: true, max_best: -1 };
        }
        let scores = (0..1u16 << 15).chain(1 << 15..=u16::MAX).map(|index| {
            let block = Block([index & 15, index >> 4 & 15, index >> 8 & 15, index >> 12]);
            let mut scores = BlockScores { min: i16::MAX, max: i16::MIN, ..Default::default() };
            for i in 0..BLOCK {
                scores.sum += pairs[block.pair(i)] as i16;
                scores.min = scores.min.min(scores.sum);
                if scores.sum > scores.max {
                    (scores.max, scores.max_len) = (scores.sum, i as u16 + 1);
                }
            }
            scores
        });
        let scores: Box<[BlockScores]> = scores.collect();
        BlockTable {
            scores: scores.try_into().unwrap_or_else(|_| unreachable!("65536 blocks")),
            pairs,
            is_symmetric: pairs[..8] == pairs[8..],
            max_best: i32::MAX - 64 * greatest as i32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::Scoring;

    /// The rule of 3.1, pair by pair.
    fn plain_run(pairs: impl Iterator<Item = (u8, u8)>, matrix: &Matrix, x_drop: i32) -> Run {
        let (mut run, mut sum) = (Run::default(), 0);
        for (t, q) in pairs {
            sum += matrix.get(t, q);
            run.len += 1;
            if sum > run.best {
                (run.best, run.best_len) = (sum, run.len);
            }
            if sum < run.best - x_drop {
                break;
            }
        }
        run
    }

    fn check(scoring: &Scoring, x_drop: i32) {
        let mut state = 7u64;
        let mut next = move |n: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % n
        };
        for _ in 0..60 {
            let target: Vec<u8> = (0..200 + next(200)).map(|_| b"ACGT"[next(4)]).collect();
            let mut query = target[next(50)..].to_vec();
            for _ in 0..next(80) {
                let at = next(query.len());
                query[at] = b"ACGTACGTACGTNa\0X"[next(16)];
            }
            let (t, q) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
            let (packed_t, packed_q) = (PackedBases::pack(&target), PackedBases::pack(&query));
            let xdrop = XDrop::new((&packed_t, &t), (&packed_q, &q), &scoring.gap_free, x_drop);
            for _ in 0..60 {
                let (e1, e2) = (next(target.len() + 1), next(query.len() + 1));
                let after = target[e1..].iter().copied().zip(query[e2..].iter().copied());
                assert_eq!(xdrop.right(e1, e2), plain_run(after, &scoring.gap_free, x_drop), "right of {e1}, {e2}");
                let limit = next(e1.min(e2) + 1);
                let before = target[..e1].iter().rev().copied().zip(query[..e2].iter().rev().copied()).take(limit);
                assert_eq!(
                    xdrop.left(e1, e2, limit),
                    plain_run(before, &scoring.gap_free, x_drop),
                    "left of {e1}, {e2}"
                );
            }
        }
    }

    #[test]
    fn blocks_give_what_pairs_give() {
        check(&Scoring::default(), 910);
        check(&Scoring::default(), 5000);
    }

    #[test]
    fn a_matrix_that_complements_do_not_share_uses_all_planes() {
        let scores = [[91, -90, -31, -123], [-114, 80, -125, -20], [-7, -125, 100, -114], [-123, -31, -60, 70]];
        check(&Scoring::from_acgt(&scores, -100, -1000, 400, 30), 700);
    }

    #[test]
    fn a_small_x_goes_pair_by_pair() {
        check(&Scoring::default(), 300);
        check(&Scoring::from_acgt(&[[30_000; 4]; 4], -100, -1000, 400, 30), 910);
    }
}
