//! `--twins`: a hit is extended only if an earlier one lies on its diagonal at the right distance (lastz-semantics
//! 2.6).
//!
//! The last hits are kept in a ring, chained by hashed diagonal, newest first. Where an extension looked further than
//! its hit, a block entry says how far.

use super::SearchCounts;
use super::diagonals::residue;
use super::extension::Extender;
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
    window_len: i64,
    spans: std::ops::RangeInclusive<i64>,
    ring: Vec<Entry>,
    capacity: u64,
    n_entries: u64,
    newest: Vec<u64>,
    reach: Vec<u32>,
}

impl TwinHits {
    pub fn new(twins: Twins, window_len: usize, capacity: usize) -> Self {
        let window_len = window_len as i64;
        TwinHits {
            window_len,
            spans: 2 * window_len + i64::from(twins.min_gap)..=2 * window_len + i64::from(twins.max_gap),
            ring: Vec::new(),
            capacity: capacity.max(1) as u64,
            n_entries: 0,
            newest: vec![NONE; 1 << 16],
            reach: vec![0; 1 << 16],
        }
    }

    /// Remembers a hit, or extends it if it has a twin.
    pub fn visit(&mut self, hit: SeedHit, extender: &Extender, counts: &mut SearchCounts) -> Option<Hsp> {
        let v: u32 = std::env::var("TW").map_or(0, |v| v.parse().unwrap());
        let slot = residue(hit) as usize;
        let diagonal = hit.target_end.wrapping_sub(hit.query_end);
        let end = i64::from(hit.query_end);
        let mut number = self.newest[slot];
        while let Some(entry) = self.entry(number) {
            number = entry.before;
            let span = end - (i64::from(entry.end) - self.window_len);
            if span > *self.spans.end() {
                break;
            }
            if entry.diagonal != diagonal {
                continue;
            }
            if entry.is_block {
                if end - self.window_len <= i64::from(entry.end) {
                    counts.dropped += 1;
                    return None;
                }
                if v == 1 {
                } else if v == 2 {
                    continue;
                } else {
                    break;
                }
            }
            if span >= *self.spans.start() {
                let reach = self.reach[slot];
                let extension = extender.extend(hit, reach);
                counts.extended += 1;
                counts.pairs += extension.n_pairs;
                counts.hsps += u64::from(extension.hsp.is_some());
                if extension.reach > reach {
                    self.reach[slot] = extension.reach;
                    let e = match v {
                        3 => hit.query_end,
                        4 => extension.hsp.map_or(extension.reach, |h| h.query_end()),
                        5 => extension.reach - 1,
                        _ => extension.reach,
                    };
                    self.append(slot, diagonal, e, true);
                } else if v == 6 {
                    self.append(slot, diagonal, hit.query_end, false);
                } else if v == 7 {
                    self.append(slot, diagonal, self.reach[slot], true);
                }
                return extension.hsp;
            }
        }
        self.append(slot, diagonal, hit.query_end, false);
        None
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
