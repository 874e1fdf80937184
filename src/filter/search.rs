//! The search of one query strand, hit by hit in LASTZ's order.

use std::ops::ControlFlow;

use super::diagonals::{DiagonalRule, Diagonals};
use super::extension::Extender;
use super::merge::merge_by_diagonal;
use super::twins::TwinHits;
use crate::options::GapFreeExtension;
use crate::seed::packed::PackedBases;
use crate::seed::scan::HitScan;
use crate::seed::{SeedHit, WordTable};
use crate::{Hsp, Options, SequenceSet};

/// Hits that are collected before they are extended: enough to let their memory accesses overlap.
const BATCH: usize = 4096;

/// A gap-free segment as it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawHsp {
    /// The segment. With a fixed threshold it has passed, with its final score; with an adaptive one the score is
    /// raw. Under `--exact` and `--mismatch` the score is the length, under `--nogfextend` 0 (3.5).
    pub hsp: Hsp,
    /// End of the query window of the hit. All HSPs of a query window follow each other.
    pub query_end: u32,
}

/// Hits whose memory is touched ahead of their extension.
const AHEAD: usize = 32;

/// Decides which hits are extended.
pub(super) trait HitVisitor {
    /// Brings what the visit of a hit reads first into the cache; the value means nothing.
    fn touch(&self, hit: SeedHit) -> u32;

    /// Drops, remembers or extends a hit; gives the HSP that passes.
    fn visit(&mut self, hit: SeedHit, extender: &Extender, counts: &mut SearchCounts) -> Option<Hsp>;
}

/// Visits hits in order until `found` breaks.
pub(super) fn visit_in_order(
    visitor: &mut impl HitVisitor,
    hits: &[SeedHit],
    extender: &Extender,
    counts: &mut SearchCounts,
    mut found: impl FnMut(SeedHit, Hsp) -> ControlFlow<()>,
) -> ControlFlow<()> {
    for group in hits.chunks(AHEAD) {
        let touched = group.iter().map(|&hit| extender.touch(hit) ^ u64::from(visitor.touch(hit)));
        std::hint::black_box(touched.fold(0, |sum, value| sum ^ value));
        for &hit in group {
            if let Some(hsp) = visitor.visit(hit, extender, counts) {
                found(hit, hsp)?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct SearchCounts {
    /// Seed hits.
    pub hits: u64,
    /// Hits dropped by `--filter`, or because their diagonal had been looked at.
    pub dropped: u64,
    /// Hits extended.
    pub extended: u64,
    /// Segments that passed.
    pub hsps: u64,
    /// Pairs looked at by extensions.
    pub pairs: u64,
}

impl std::ops::AddAssign for SearchCounts {
    fn add_assign(&mut self, other: SearchCounts) {
        self.hits += other.hits;
        self.dropped += other.dropped;
        self.extended += other.extended;
        self.hsps += other.hsps;
        self.pairs += other.pairs;
    }
}

/// One query strand against an indexed target.
pub struct HspSearch<'a> {
    pub(super) table: &'a WordTable,
    target: &'a SequenceSet,
    query: &'a SequenceSet,
    packed_query: PackedBases,
    pub(super) options: &'a Options,
    is_same_strand: bool,
    /// Told of the query position reached and of the last one.
    pub(super) progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl<'a> HspSearch<'a> {
    /// `table` indexes `target` by `options.seed`; `is_same_strand` says whether target and query hold the same strand
    /// of a sequence compared with itself, and matters under `--self` only.
    pub fn new(
        table: &'a WordTable,
        target: &'a SequenceSet,
        query: &'a SequenceSet,
        options: &'a Options,
        is_same_strand: bool,
    ) -> Self {
        let packed_query = PackedBases::pack(&query.bases);
        HspSearch { table, target, query, packed_query, options, is_same_strand, progress: &|_, _| {} }
    }

    /// Calls `progress` now and then with the query position reached and the last one.
    pub fn with_progress(self, progress: &'a (dyn Fn(usize, usize) + Sync)) -> Self {
        HspSearch { progress, ..self }
    }

    /// Whether the HSPs are to be merged by [`merge_by_diagonal`] before they are used (3.7). `run` and
    /// `run_parallel` give them unmerged, in the order of discovery; `find` and `find_parallel` merge.
    pub fn needs_merging(&self) -> bool {
        needs_merging(self.options)
    }

    /// Calls `found` for each HSP, in the order of discovery, until it breaks.
    pub fn run(&self, found: &mut dyn FnMut(RawHsp) -> ControlFlow<()>) -> SearchCounts {
        match self.options.seed.twins {
            Some(twins) => {
                let mut hits = TwinHits::new(twins, self.table.layout.len, self.options.seed.seed_queue);
                self.visit_all(&mut hits, found)
            }
            None => {
                let mut diagonals = Diagonals::new(self.diagonal_rule(), self.table.layout.len, 0);
                self.visit_all(&mut diagonals, found)
            }
        }
    }

    /// All HSPs in the order in which `--nogapped` prints them without further stages (3.7).
    pub fn find(&self) -> (Vec<Hsp>, SearchCounts) {
        self.collect(|found| self.run(found))
    }

    /// As [`find`](Self::find), with [`run_parallel`](Self::run_parallel).
    pub fn find_parallel(&self) -> (Vec<Hsp>, SearchCounts) {
        self.collect(|found| self.run_parallel(found))
    }

    fn collect(
        &self,
        run: impl FnOnce(&mut dyn FnMut(RawHsp) -> ControlFlow<()>) -> SearchCounts,
    ) -> (Vec<Hsp>, SearchCounts) {
        let mut hsps = Vec::new();
        let counts = run(&mut |raw| {
            hsps.push(raw.hsp);
            ControlFlow::Continue(())
        });
        (if self.needs_merging() { merge_by_diagonal(hsps) } else { hsps }, counts)
    }

    fn visit_all(
        &self,
        visitor: &mut impl HitVisitor,
        found: &mut dyn FnMut(RawHsp) -> ControlFlow<()>,
    ) -> SearchCounts {
        let extender = self.extender();
        let scan = self.scan();
        let mut counts = SearchCounts::default();
        let mut hits = Vec::with_capacity(BATCH);
        let mut cursor = scan.start();
        while cursor.query_end < scan.end() {
            hits.clear();
            cursor = scan.walk(cursor, scan.end(), BATCH, |hit| hits.push(hit));
            counts.hits += hits.len() as u64;
            let visited = visit_in_order(visitor, &hits, &extender, &mut counts, |hit, hsp| {
                found(RawHsp { hsp, query_end: hit.query_end })
            });
            (self.progress)(cursor.query_end, scan.end());
            if visited.is_break() {
                break;
            }
        }
        counts
    }

    pub(super) fn scan(&self) -> HitScan<'_> {
        let sets = (self.target, self.query);
        HitScan::new(self.table, sets, &self.packed_query, self.options, self.is_same_strand)
    }

    pub(super) fn extender(&self) -> Extender<'_> {
        Extender::new(
            (&self.table.target, self.target),
            (&self.packed_query, self.query),
            &self.table.layout,
            self.options,
        )
    }

    pub(super) fn diagonal_rule(&self) -> DiagonalRule {
        diagonal_rule(self.options)
    }
}

fn diagonal_rule(options: &Options) -> DiagonalRule {
    if options.gap_free == GapFreeExtension::None && options.gapped.is_none() {
        DiagonalRule::Off
    } else if options.seed.recover_hits {
        DiagonalRule::Recover
    } else {
        DiagonalRule::Hashed
    }
}

/// Whether HSPs found with these options are to be merged by [`merge_by_diagonal`] before they are used (3.7).
pub(crate) fn needs_merging(options: &Options) -> bool {
    options.seed.twins.is_some() || diagonal_rule(options) == DiagonalRule::Recover
}
