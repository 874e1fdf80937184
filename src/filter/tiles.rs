//! The same search on several threads.
//!
//! The query is walked tile by tile. In a tile, workers collect the hits of its parts into one bucket per class of
//! diagonals; then each class, independent of the others, is visited in order; then the HSPs found are put back into
//! the order of discovery. A part that has more hits than its share ends the tile there: memory stays bounded on any
//! repeat, and the next tile is shorter.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::diagonals::{Diagonals, residue};
use super::search::{HspSearch, RawHsp, SearchCounts, visit_in_order};
use crate::seed::SeedHit;
use crate::seed::scan::{Cursor, HitScan};

/// Hits of a tile, at most.
const MAX_HITS: usize = 1 << 21;
/// Query windows of the first tile.
const FIRST_TILE: usize = 1 << 16;
/// Query windows of a tile, at most.
const MAX_TILE: usize = 1 << 22;

/// The hits of a part of a tile.
struct Part {
    buckets: Vec<Vec<SeedHit>>,
    counts: SearchCounts,
    /// Where the part ended.
    cursor: Cursor,
    is_complete: bool,
}

impl HspSearch<'_> {
    /// As [`run`](Self::run), on rayon's current pool. HSPs are handed over tile by tile. `--twins` depends on the order
    /// of all hits, and runs on one thread.
    pub fn run_parallel(&self, found: &mut dyn FnMut(RawHsp) -> ControlFlow<()>) -> SearchCounts {
        let n_threads = rayon::current_num_threads();
        if n_threads == 1 || self.options.seed.twins.is_some() {
            return self.run(found);
        }
        let class_bits = (8 * n_threads).next_power_of_two().trailing_zeros().min(10);
        let n_parts = 4 * n_threads;
        let scan = self.scan();
        let extender = self.extender();
        let new_class = || Diagonals::new(self.diagonal_rule(), self.table.layout.len, class_bits);
        let mut classes: Vec<Diagonals> = (0..1 << class_bits).map(|_| new_class()).collect();
        let mut counts = SearchCounts::default();
        let mut tile_len = FIRST_TILE;
        let mut cursor = scan.start();
        while cursor.query_end < scan.end() {
            let end = scan.end().min(cursor.query_end + tile_len);
            let parts = collect_tile(&scan, &classes, cursor, end, n_parts);
            let n_hits: usize = parts.iter().flat_map(|part| &part.buckets).map(Vec::len).sum();
            let last = parts.last().expect("a tile has parts");
            cursor = last.cursor;
            if !last.is_complete || n_hits > MAX_HITS / 2 {
                tile_len = (tile_len / 2).max(n_parts);
            } else if n_hits < MAX_HITS / 8 {
                tile_len = (tile_len * 2).min(MAX_TILE);
            }
            parts.iter().for_each(|part| counts += part.counts);

            let visit = |(class, diagonals): (usize, &mut Diagonals)| {
                let mut counts = SearchCounts::default();
                let mut found = Vec::new();
                for part in &parts {
                    let _ = visit_in_order(diagonals, &part.buckets[class], &extender, &mut counts, |hit, hsp| {
                        found.push((scan.rank(hit), RawHsp { hsp, query_end: hit.query_end }));
                        ControlFlow::Continue(())
                    });
                }
                (found, counts)
            };
            let visited: Vec<_> = classes.par_iter_mut().enumerate().map(visit).collect();
            let mut hsps = Vec::new();
            for (found, class_counts) in visited {
                hsps.extend(found);
                counts += class_counts;
            }
            hsps.sort_unstable_by_key(|&(rank, _)| rank);
            (self.progress)(cursor.query_end, scan.end());
            if hsps.into_iter().try_for_each(|(_, hsp)| found(hsp)).is_break() {
                break;
            }
        }
        counts
    }
}

/// Collects the hits from `cursor` to `end`, or up to where a part is full.
fn collect_tile(scan: &HitScan, classes: &[Diagonals], cursor: Cursor, end: usize, n_parts: usize) -> Vec<Part> {
    let part_len = (end - cursor.query_end).div_ceil(n_parts);
    let collect_part = |i: usize| {
        let first = cursor.query_end + i * part_len;
        let from = if i == 0 { cursor } else { Cursor::at(first.min(end)) };
        let end = (first + part_len).min(end);
        let mut buckets = vec![Vec::new(); classes.len()];
        let mut counts = SearchCounts::default();
        let cursor = scan.walk(from, end, MAX_HITS / n_parts, |hit| {
            let class = residue(hit) as usize % classes.len();
            counts.hits += 1;
            if classes[class].drops(hit) {
                counts.dropped += 1;
            } else {
                buckets[class].push(hit);
            }
        });
        Part { buckets, counts, cursor, is_complete: cursor.query_end >= end }
    };
    let mut parts: Vec<Part> = (0..n_parts).into_par_iter().map(collect_part).collect();
    let n_usable = parts.iter().position(|part| !part.is_complete).map_or(n_parts, |full| full + 1);
    parts.truncate(n_usable);
    parts
}
