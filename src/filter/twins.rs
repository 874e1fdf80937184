//! `--twins`: a hit is extended only if an earlier one lies on its diagonal at the right distance (lastz-semantics
//! 2.6).
//!
//! The last hits are kept in a ring, chained by hashed diagonal, newest first. Where an extension looked further than
//! its hit, a block entry says how far.

use super::SearchCounts;
use super::diagonals::residue;
use super::extension::Extender;
use super::search::HitVisitor;
use crate::Hsp;
use crate::options::Twins;
use crate::seed::SeedHit;

const NONE: u64 = u64::MAX;

#[derive(Clone, Copy)]
struct Entry {
    /// Target minus query position, modulo 2³².
    diagonal: u32,
    /// Query position after the hit's window, or how far a block was looked at.
    end: u32,
    /// The entry before this one in its chain, numbered from the first ever.
    before: u64,
    is_block: bool,
}

/// The ring and its chains.
pub(super) struct TwinHits {
    window_len: u32,
    min_span: i64,
    max_span: i64,
    ring: Vec<Entry>,
    capacity: u64,
    n_entries: u64,
    newest: Vec<u64>,
    reach: Vec<u32>,
}

impl TwinHits {
    pub fn new(twins: Twins, window_len: usize, capacity: usize) -> Self {
        let two_windows = 2 * window_len as i64;
        TwinHits {
            window_len: window_len as u32,
            min_span: two_windows + i64::from(twins.min_gap),
            max_span: two_windows + i64::from(twins.max_gap),
            ring: Vec::new(),
            capacity: capacity.max(1) as u64,
            n_entries: 0,
            newest: vec![NONE; 1 << 16],
            reach: vec![0; 1 << 16],
        }
    }

    /// An entry, unless the ring has dropped it.
    fn entry(&self, number: u64) -> Option<Entry> {
        let is_kept = number != NONE && number + self.capacity >= self.n_entries;
        is_kept.then(|| self.ring[(number % self.capacity) as usize])
    }

    fn append(&mut self, slot: usize, diagonal: u32, end: u32, is_block: bool) {
        let entry = Entry { diagonal, end, before: self.newest[slot], is_block };
        let place = (self.n_entries % self.capacity) as usize;
        if place == self.ring.len() {
            self.ring.push(entry);
        } else {
            self.ring[place] = entry;
        }
        self.newest[slot] = self.n_entries;
        self.n_entries += 1;
    }
}

impl HitVisitor for TwinHits {
    fn touch(&self, hit: SeedHit) -> u32 {
        self.reach[residue(hit) as usize]
    }

    /// Remembers a hit, or extends it if it has a twin.
    fn visit(&mut self, hit: SeedHit, extender: &Extender, counts: &mut SearchCounts) -> Option<Hsp> {
        if !extender.wants(hit) {
            counts.dropped += 1;
            return None;
        }
        let slot = residue(hit) as usize;
        let diagonal = hit.target_end.wrapping_sub(hit.query_end);
        let start = hit.query_end - self.window_len;
        let mut number = self.newest[slot];
        while let Some(entry) = self.entry(number) {
            number = entry.before;
            // From the start of the one window to the end of the other. In 32 bits without sign: a block that reaches
            // further than the hit's end gives a huge span, and ends the walk without dropping the hit.
            let span = hit.query_end.wrapping_sub(entry.end.wrapping_sub(self.window_len));
            if i64::from(span) > self.max_span {
                break;
            }
            if entry.diagonal != diagonal {
                continue;
            }
            if entry.is_block {
                if start <= entry.end {
                    counts.dropped += 1;
                    return None;
                }
                break;
            }
            if i64::from(span) >= self.min_span {
                let reach = self.reach[slot];
                let extension = extender.extend(hit, span, reach);
                counts.extended += 1;
                counts.pairs += extension.n_pairs;
                counts.hsps += u64::from(extension.hsp.is_some());
                // Colliding diagonals may have reached further; a hit that is not extended sets its entry all the same.
                if extension.reach > reach || extender.is_window() {
                    self.reach[slot] = extension.reach;
                    self.append(slot, diagonal, extension.reach, true);
                    // The block need not reach as far as the hit, which can still be a twin of a later one.
                    if extender.is_by_matches() && extension.hsp.is_none() {
                        self.append(slot, diagonal, hit.query_end, false);
                    }
                }
                return extension.hsp;
            }
        }
        self.append(slot, diagonal, hit.query_end, false);
        None
    }
}
