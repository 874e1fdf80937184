//! Which hits are extended: the hashed diagonals (lastz-semantics 2.4).
//!
//! One entry per residue of the diagonal modulo 65536, so distant diagonals share entries and hits may be lost, as in
//! LASTZ. Hits of different residues never influence each other: [`Diagonals`] holds every n-th residue, and
//! n of them, each with its own hits in order, give what a single one gives.

use super::SearchCounts;
use super::extension::Extender;
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

#[derive(Clone, Copy)]
struct Entry {
    /// Query position up to which the entry's diagonals have been looked at.
    reach: u32,
    /// The real diagonal, for [`DiagonalRule::Recover`].
    diagonal: u32,
}

/// The entries of residues that are equal modulo a power of two.
pub(super) struct Diagonals {
    rule: DiagonalRule,
    window_len: u32,
    class_bits: u32,
    entries: Vec<Entry>,
}

/// The residue of a hit's diagonal.
#[inline]
pub(super) fn residue(hit: SeedHit) -> u32 {
    hit.target_end.wrapping_sub(hit.query_end) % RESIDUES
}

impl Diagonals {
    /// Entries for one of `1 << class_bits` classes of residues.
    pub fn new(rule: DiagonalRule, window_len: usize, class_bits: u32) -> Self {
        let entries = vec![Entry { reach: 0, diagonal: 0 }; (RESIDUES >> class_bits) as usize];
        Diagonals { rule, window_len: window_len as u32, class_bits, entries }
    }

    /// Whether the hit would be dropped now, and hence later too.
    #[inline]
    pub fn drops(&self, hit: SeedHit) -> bool {
        let entry = self.entries[(residue(hit) >> self.class_bits) as usize];
        self.rule == DiagonalRule::Hashed && entry.reach > hit.query_end - self.window_len
    }

    /// Drops or extends a hit.
    #[inline]
    pub fn visit(&mut self, hit: SeedHit, extender: &Extender, counts: &mut SearchCounts) -> Option<Hsp> {
        let start = hit.query_end - self.window_len;
        let entry = &mut self.entries[(residue(hit) >> self.class_bits) as usize];
        let left_limit = match self.rule {
            DiagonalRule::Off => 0,
            DiagonalRule::Hashed => {
                if entry.reach > start {
                    counts.dropped += 1;
                    return None;
                }
                entry.reach
            }
            DiagonalRule::Recover => {
                let diagonal = hit.target_end.wrapping_sub(hit.query_end);
                if entry.diagonal != diagonal {
                    *entry = Entry { reach: 0, diagonal };
                }
                if entry.reach > start {
                    entry.reach = entry.reach.max(hit.query_end);
                    counts.dropped += 1;
                    return None;
                }
                0
            }
        };
        let extension = extender.extend(hit, left_limit);
        entry.reach = entry.reach.max(extension.reach);
        if self.rule == DiagonalRule::Recover {
            entry.reach = entry.reach.max(hit.query_end);
        }
        counts.extended += 1;
        counts.pairs += extension.n_pairs;
        counts.hsps += u64::from(extension.hsp.is_some());
        extension.hsp
    }
}
