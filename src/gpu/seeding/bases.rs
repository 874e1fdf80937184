//! Bases for the seeding kernels: four bit planes, 32 bases to a chunk (`shaders/common/seed_bases.wgsl`), and the scores
//! of all pairs of kinds.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::layout::{BASES_PADDING, GAP_KIND};
use crate::scoring::{Matrix, ScoreClasses};

/// Kinds of bases that four bits can tell apart: A, G, C, T, seven special ones and the gap.
const N_KINDS: usize = 16;
/// A special base has this bit, and bits 0, 1 and 3 for its kind.
const SPECIAL: u8 = 4;
/// Kinds of special bases.
const MAX_SPECIAL: usize = 7;
/// Largest score, separators aside: then sums over a block of pairs stay far from the end of 32 bits.
const SCORE_LIMIT: i32 = 1 << 20;

/// 32 bases: planes x, y, z, w.
pub type Chunk = [u32; 4];

/// Bases of a chunk.
pub const PER_CHUNK: usize = 32;
/// [`GAP_KIND`] everywhere.
const BEYOND: Chunk = [u32::MAX; 4];
const _: () = assert!(GAP_KIND == 15);

/// Sequences packed by [`Kinds::pack`].
pub struct PackedArray {
    /// Chunks, the first of them gaps.
    pub chunks: Vec<Chunk>,
    /// Where each sequence starts, in bases after the first gaps.
    pub starts: Vec<u32>,
    /// After the last base.
    pub end: u32,
}

/// Chunks of a sequence and the gap after it.
pub fn chunks_with_gap(len: usize) -> usize {
    len / PER_CHUNK + 1
}

/// Three pairs of plain bases under a matrix that scores complements alike: three bits each.
const N_TRIPLES: usize = 512;

/// Twin of `SeedScores` in `shaders/common/seed_scores.wgsl`: score of (target kind, query kind) at 16 * target + query, and
/// of three pairs at a time (`shaders/common/seed_run.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct SeedScores {
    table: [i32; N_KINDS * N_KINDS],
    triples: [u32; N_TRIPLES],
}

impl SeedScores {
    /// The table of three pairs; `None` if the scores do not fit it or those of complements differ.
    fn triples(&self) -> Option<[u32; N_TRIPLES]> {
        // Kind of a plain base: transition bit, class bit above.
        let score = |t: usize, q: usize| self.table[t * N_KINDS + q];
        let is_symmetric = (0..16).all(|pair| score(pair / 4, pair % 4) == score(3 - pair / 4, 3 - pair % 4));
        let fits = (0..16).all(|pair| score(pair / 4, pair % 4).abs() <= 511 / 3);
        let pair = |transition: usize, class: usize, strong: usize| score(strong, strong ^ transition ^ class << 1);
        let triple = |place: usize| {
            let bit = |plane: usize, i: usize| place >> (3 * plane + i) & 1;
            let (mut sum, mut least, mut most) = (0, i32::MAX, i32::MIN);
            for i in 0..3 {
                sum += pair(bit(0, i), bit(1, i), bit(2, i));
                (least, most) = (least.min(sum), most.max(sum));
            }
            (least as u32 & 0x3ff) | (most as u32 & 0x3ff) << 10 | (sum as u32) << 20
        };
        (is_symmetric && fits).then(|| std::array::from_fn(triple))
    }
}

/// How bytes become kinds on the device.
#[derive(Clone, Debug)]
pub struct Kinds {
    kind_from_byte: [u8; 256],
    scores: SeedScores,
    greatest: i32,
    deepest: i32,
    has_triples: bool,
}

impl Kinds {
    /// Kinds for all bytes under the gap-free matrix; the reason if the kernels cannot hold them.
    pub fn new(matrix: &Matrix) -> Result<Kinds, String> {
        let classes = ScoreClasses::new(matrix);
        let mut representatives: Vec<(u8, u8)> = b"AGCT".iter().zip(0..).map(|(&base, kind)| (base, kind)).collect();
        let mut kind_from_byte = [SPECIAL; 256];
        for (&base, kind) in b"AGCT".iter().zip(0..) {
            kind_from_byte[base as usize] = kind;
        }
        for byte in (0..=255u8).filter(|byte| !b"AGCT".contains(byte)) {
            let specials = &representatives[4..];
            let known = specials.iter().find(|(other, _)| classes.class(*other) == classes.class(byte));
            kind_from_byte[byte as usize] = match known {
                Some(&(_, kind)) => kind,
                None => {
                    let n = specials.len();
                    if n == MAX_SPECIAL {
                        return Err(format!("more than {MAX_SPECIAL} kinds of special letters score differently"));
                    }
                    let kind = (n as u8 & 3) | SPECIAL | (n as u8 & 4) << 1;
                    representatives.push((byte, kind));
                    kind
                }
            };
        }
        let mut scores = SeedScores::zeroed();
        let mut greatest = 0;
        for &(target, t) in &representatives {
            for &(query, q) in &representatives {
                let score = matrix.get(target, query);
                if target != crate::sequence::SEPARATOR && query != crate::sequence::SEPARATOR {
                    if score.abs() > SCORE_LIMIT {
                        return Err(format!("the score {score} is too large for seeding on the GPU"));
                    }
                    greatest = greatest.max(score.abs());
                }
                scores.table[t as usize * N_KINDS + q as usize] = score;
            }
        }
        let triples = scores.triples();
        scores.triples = triples.unwrap_or(scores.triples);
        let plain = (0..4).flat_map(|t| &scores.table[t * N_KINDS..][..4]);
        let deepest = -plain.copied().min().unwrap_or(0);
        Ok(Kinds { kind_from_byte, scores, greatest, deepest, has_triples: triples.is_some() })
    }

    /// The scores as the kernels take them.
    pub fn scores(&self) -> &SeedScores {
        &self.scores
    }

    /// Above this best score, the sum over a block could leave 32 bits.
    pub fn best_limit(&self) -> i32 {
        i32::MAX - 64 * self.greatest.max(1)
    }

    /// Whether three pairs may be scored at a time: they must not be able to raise a run's best and to end it.
    pub fn has_triples(&self, x_drop: i32) -> bool {
        self.has_triples && 3 * self.deepest <= x_drop
    }

    /// Packs sequences one after the other into one array of chunks, with gaps before and after it and at least one base of
    /// gap between them. Sequence i begins at array position `starts[i]`.
    pub fn pack<'s>(&self, sequences: &[&'s [u8]]) -> PackedArray {
        let before = BASES_PADDING as usize / PER_CHUNK;
        let mut starts = Vec::with_capacity(sequences.len());
        let mut n_chunks = 0;
        for bases in sequences {
            starts.push((n_chunks * PER_CHUNK) as u32);
            n_chunks += chunks_with_gap(bases.len());
        }
        let mut chunks = vec![BEYOND; before + n_chunks + 2];
        let mut rest = &mut chunks[before..];
        let take = |bases: &&'s [u8]| {
            let (own, others) = std::mem::take(&mut rest).split_at_mut(chunks_with_gap(bases.len()));
            rest = others;
            (own, *bases)
        };
        let parts: Vec<(&mut [Chunk], &[u8])> = sequences.iter().map(take).collect();
        parts.into_par_iter().for_each(|(own, bases)| {
            let packed = bases.par_chunks(PER_CHUNK).with_min_len(1 << 12).map(|letters| self.pack_chunk(letters));
            own.par_iter_mut().with_min_len(1 << 12).zip(packed).for_each(|(chunk, planes)| *chunk = planes);
        });
        let end = starts.last().zip(sequences.last()).map_or(0, |(start, bases)| start + bases.len() as u32);
        PackedArray { chunks, starts, end }
    }

    fn pack_chunk(&self, letters: &[u8]) -> Chunk {
        let mut planes = [if letters.len() < PER_CHUNK { u32::MAX << letters.len() } else { 0 }; 4];
        for (i, &letter) in letters.iter().enumerate() {
            let kind = u32::from(self.kind_from_byte[letter as usize]);
            for (bit, plane) in planes.iter_mut().enumerate() {
                *plane |= (kind >> bit & 1) << i;
            }
        }
        planes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::Scoring;

    #[test]
    fn kinds_score_as_their_letters() {
        let matrix = Scoring::default().gap_free;
        let kinds = Kinds::new(&matrix).unwrap();
        let letters = b"ACGTacgtnNxXRrYq\0";
        let packed = kinds.pack(&[letters, &[b'A'; 32], b"", b"C"]);
        assert_eq!((&packed.starts[..], packed.end), (&[0, 32, 96, 128][..], 129));
        let chunks = packed.chunks;
        assert_eq!((chunks[0], chunks.len()), (BEYOND, 8));
        assert_eq!((chunks[2], chunks[3], chunks[4]), ([0; 4], BEYOND, BEYOND));
        let kind = |i: usize| (0..4).map(|bit| (chunks[1][bit] >> i & 1) << bit).sum::<u32>() as usize;
        for (i, &target) in letters.iter().enumerate() {
            assert_eq!(kind(i) >= 4, !b"ACGT".contains(&target));
            for (k, &query) in letters.iter().enumerate() {
                assert_eq!(kinds.scores.table[kind(i) * N_KINDS + kind(k)], matrix.get(target, query));
            }
        }
        assert!(chunks[1].iter().all(|plane| plane >> letters.len() == u32::MAX >> letters.len()));
    }
}
