//! Which hits are extended: the hashed diagonals (lastz-semantics 2.4).
//!
//! One entry per residue of the diagonal modulo 65536, so distant diagonals share entries and hits may be lost, as in
//! LASTZ. Hits of different residues never influence each other: [`Diagonals`] holds every n-th residue, and
//! n of them, each with its own hits in order, give what a single one gives.

use super::SearchCounts;
use super::extension::Extender;
use super::search::HitVisitor;
use crate::Hsp;
use crate::seed::SeedHit;

/// Residues in all.
const RESIDUES: u32 = 1 << 16;

/// How the entries are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiagonalRule {
    /// Every hit is extended (`--nogfextend --nogapped`).
    Off,
    /// A hit is dropped if its window starts before the reach of its entry.
    Hashed,
    /// As `Hashed`, but another diagonal takes the entry over (`--recoverseeds`).
    Recover,
}

/// The entries of residues that are equal modulo a power of two.
pub(super) struct Diagonals {
    rule: DiagonalRule,
    window_len: u32,
    class_bits: u32,
    /// Query positions up to which the diagonals of an entry have been looked at.
    reaches: Vec<u32>,
    /// The real diagonals, for [`DiagonalRule::Recover`].
    diagonals: Vec<u32>,
}

/// The residue of a hit's diagonal.
#[inline]
pub(super) fn residue(hit: SeedHit) -> u32 {
    hit.target_end.wrapping_sub(hit.query_end) % RESIDUES
}

impl Diagonals {
    /// Entries for one of `1 << class_bits` classes of residues.
    pub fn new(rule: DiagonalRule, window_len: usize, class_bits: u32) -> Self {
        let n = (RESIDUES >> class_bits) as usize;
        let diagonals = if rule == DiagonalRule::Recover { vec![0; n] } else { Vec::new() };
        Diagonals { rule, window_len: window_len as u32, class_bits, reaches: vec![0; n], diagonals }
    }

    /// Whether the hit would be dropped now, and hence later too.
    #[inline]
    pub fn drops(&self, hit: SeedHit) -> bool {
        let reach = self.reaches[(residue(hit) >> self.class_bits) as usize];
        self.rule == DiagonalRule::Hashed && reach > hit.query_end - self.window_len
    }
}

impl HitVisitor for Diagonals {
    #[inline]
    fn touch(&self, hit: SeedHit) -> u32 {
        self.reaches[(residue(hit) >> self.class_bits) as usize]
    }

    #[inline]
    fn visit(&mut self, hit: SeedHit, extender: &Extender, counts: &mut SearchCounts) -> Option<Hsp> {
        let start = hit.query_end - self.window_len;
        let entry = (residue(hit) >> self.class_bits) as usize;
        let reach = &mut self.reaches[entry];
        let left_limit = match self.rule {
            DiagonalRule::Off => 0,
            DiagonalRule::Hashed => {
                if *reach > start {
                    counts.dropped += 1;
                    return None;
                }
                *reach
            }
            DiagonalRule::Recover => {
                // The reach that another diagonal has left drops nothing, but it stays.
                let diagonal = hit.target_end.wrapping_sub(hit.query_end);
                let is_same = std::mem::replace(&mut self.diagonals[entry], diagonal) == diagonal;
                if is_same && *reach > start {
                    *reach = (*reach).max(hit.query_end);
                    counts.dropped += 1;
                    return None;
                }
                0
            }
        };
        if !extender.wants(hit) {
            counts.dropped += 1;
            if self.rule == DiagonalRule::Recover {
                *reach = (*reach).max(hit.query_end);
            }
            return None;
        }
        let extension = extender.extend(hit, self.window_len, left_limit);
        *reach = (*reach).max(extension.reach);
        counts.extended += 1;
        counts.pairs += extension.n_pairs;
        counts.hsps += u64::from(extension.hsp.is_some());
        extension.hsp
    }
}
