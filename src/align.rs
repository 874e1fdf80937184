//! A target against queries: both strands of each, in LASTZ's order, in parallel where the order allows it.
//!
//! ```text
//! query --plan--> work per strand --perform--> blocks --settle--> warnings, masking, output
//! ```
//! Planning finds the HSPs first where both strands have to be known before either is extended (adaptive thresholds,
//! `--queryhsplimit`, `--queryhspbest`; those print minus before plus). Planning and performing only read, so queries
//! and strands run in parallel; settling is done in order. With `--masking` each strand changes the target for the
//! next, so everything runs in order.

use std::ops::Range;
use std::time::Instant;

use rayon::prelude::*;

use crate::alignment::Block;
use crate::cpu::Ydrop;
use crate::error::Result;
use crate::extend::{BulkExtender, LookAhead, Truncation};
use crate::filter::adaptive::AdaptiveTable;
use crate::filter::query_best::{QueryHsps, keep_best};
use crate::filter::{HspFinder, SearchCounts};
use crate::options::{Options, Strands};
use crate::output::StrandView;
use crate::post::limits::{DepthLimit, HspLimit, QueryHspCount, cut_to_room};
use crate::post::masking::TargetCoverage;
use crate::report::Counts;
use crate::seed::WordTable;
use crate::sequence::SequenceSet;
use crate::strand::{GivenHsps, StrandBlocks, StrandComparison};

/// What is being done for a query strand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Seeding and gap-free extension.
    Search,
    /// Gapped extension and all that follows.
    Extension,
}

/// A query, and its segments if they come from a file instead of a search.
#[derive(Clone, Debug)]
pub struct Query {
    /// The sequences as given.
    pub sequences: SequenceSet,
    /// Segments of each searched strand (`--segments`).
    pub segments: Option<QueryHsps>,
}

/// Receives what a run produces, in the order of the output.
pub trait Sink {
    /// The blocks of one searched strand, in their final order; may be empty.
    fn strand(&mut self, view: &StrandView, blocks: &[Block]) -> Result<()>;
    /// After a strand under `--masking` or `--census`: how many target bases it masked.
    fn masked(&mut self, newly_masked: usize) -> Result<()>;
    /// A one-sided run was cut by the traceback memory.
    fn truncated(&mut self, truncation: &Truncation);
    /// A warning for the user.
    fn warn(&mut self, message: String);
}

/// The alignments of one strand of a query.
#[derive(Clone, Debug)]
pub struct StrandAlignments {
    /// The query on the strand that was searched.
    pub query: SequenceSet,
    /// Its blocks, in LASTZ's order.
    pub blocks: Vec<Block>,
}

/// Aligns one query with a target, both in memory.
///
/// # Errors
/// If the options exclude each other or the seed cannot be used.
pub fn align(target: &SequenceSet, query: &SequenceSet, options: &Options) -> Result<Vec<StrandAlignments>> {
    struct Collect(Vec<StrandAlignments>);
    impl Sink for Collect {
        fn strand(&mut self, view: &StrandView, blocks: &[Block]) -> Result<()> {
            self.0.push(StrandAlignments { query: view.query.clone(), blocks: blocks.to_vec() });
            Ok(())
        }
        fn masked(&mut self, _: usize) -> Result<()> {
            Ok(())
        }
        fn truncated(&mut self, _: &Truncation) {}
        fn warn(&mut self, _: String) {}
    }
    let mut sink = Collect(Vec::new());
    let mut aligner = Aligner::new(target.clone(), options.clone())?;
    aligner.align(vec![Query { sequences: query.clone(), segments: None }], &mut sink)?;
    Ok(sink.0)
}

/// A target prepared for queries.
pub struct Aligner {
    options: Options,
    target: SequenceSet,
    table: Option<WordTable>,
    ydrop: Option<Ydrop>,
    coverage: Option<TargetCoverage>,
    hsp_limit: Option<HspLimit>,
    depth_limit: Option<DepthLimit>,
    counts: Counts,
    progress: Box<dyn Fn(Stage, u64) + Send + Sync>,
    bulk: Option<Box<dyn BulkExtender>>,
    look_ahead: LookAhead,
    finder: Option<Box<dyn HspFinder>>,
}

/// One strand's work.
enum Work {
    /// Find HSPs, then extend them.
    Search,
    /// Extend these HSPs.
    Extend(GivenHsps),
    /// Nothing: these are the blocks.
    Done(Box<StrandBlocks>),
}

/// What a query needs, strand by strand in the order of the output.
#[derive(Default)]
struct Plan {
    /// Whether the strand is the reverse complement of the query as given, and its work.
    strands: Vec<(bool, Work)>,
    /// HSPs found per searched strand, if a limit has to be settled.
    found: Vec<(bool, u64)>,
    search: SearchCounts,
}

/// The blocks of a query's strands.
struct Outcome {
    other: Option<SequenceSet>,
    plan_found: Vec<(bool, u64)>,
    strands: Vec<(bool, StrandBlocks)>,
    search: SearchCounts,
}

impl Aligner {
    /// Prepares a target for a search: builds its word table.
    ///
    /// # Errors
    /// If the seed or the word count limit cannot be used.
    pub fn new(target: SequenceSet, options: Options) -> Result<Aligner> {
        let started = Instant::now();
        let table = WordTable::build(&target, &options.seed)?;
        let mut aligner = Self::for_segments(target, options);
        aligner.table = Some(table);
        aligner.counts.seconds.index = started.elapsed().as_secs_f64();
        Ok(aligner)
    }

    /// Prepares a target for queries that bring their segments along.
    pub fn for_segments(target: SequenceSet, options: Options) -> Aligner {
        let limits = options.limits;
        Aligner {
            table: None,
            ydrop: options.gapped.as_ref().map(|gapped| Ydrop::new(&options.scoring, gapped)),
            coverage: (options.masking > 0).then(|| TargetCoverage::new(target.len(), options.masking, None)),
            hsp_limit: limits.hsp_limit.map(|(limit, over)| HspLimit::new(limit, over)),
            depth_limit: limits.depth.and_then(|(depth, over)| DepthLimit::new(depth, over)),
            counts: Counts::default(),
            progress: Box::new(|_, _| {}),
            bulk: None,
            look_ahead: LookAhead::default(),
            finder: None,
            target,
            options,
        }
    }

    /// Counts how often target bases are covered even without `--masking` (`--census`).
    pub fn with_coverage(mut self, coverage: TargetCoverage) -> Aligner {
        self.coverage = Some(coverage);
        self
    }

    /// Calls `progress` with the stage at work and the query bases dealt with since its last call, one per base and
    /// searched strand in all. It is called from all threads.
    pub fn with_progress(mut self, progress: impl Fn(Stage, u64) + Send + Sync + 'static) -> Aligner {
        self.progress = Box::new(progress);
        self
    }

    /// Extends anchors on another device where that pays.
    pub fn with_bulk_extender(mut self, bulk: Box<dyn BulkExtender>) -> Aligner {
        self.bulk = Some(bulk);
        self
    }

    /// Searches query strands on another device where that pays.
    pub fn with_hsp_finder(mut self, finder: Box<dyn HspFinder>) -> Aligner {
        self.finder = Some(finder);
        self
    }

    /// The words of the target; none if queries bring their segments along.
    pub fn table(&self) -> Option<&WordTable> {
        self.table.as_ref()
    }

    /// The target; masked bases are `x`.
    pub fn target(&self) -> &SequenceSet {
        &self.target
    }

    /// How often target bases are covered, if that is counted.
    pub fn coverage(&self) -> Option<&TargetCoverage> {
        self.coverage.as_ref()
    }

    /// Masked target ranges in array positions.
    pub fn masked_ranges(&self) -> Vec<Range<usize>> {
        self.coverage.as_ref().map_or(Vec::new(), |coverage| coverage.masked_ranges(&self.target))
    }

    /// What the run did so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The closing remark about limits, if any query exceeded one.
    pub fn limit_summary(&self) -> Option<String> {
        self.hsp_limit.as_ref().and_then(HspLimit::summary)
    }

    /// Aligns a batch of queries, given in the order of their output.
    ///
    /// # Errors
    /// Those of the sink, and of `--inner`'s second search.
    pub fn align(&mut self, queries: Vec<Query>, sink: &mut dyn Sink) -> Result<()> {
        if self.coverage.is_some() {
            for query in &queries {
                self.align_in_order(query, sink)?;
            }
            return Ok(());
        }
        let outcomes: Vec<Result<Outcome>> = match queries.len() {
            1 => vec![self.outcome(&queries[0], rayon::current_num_threads() > 1)],
            _ => queries.par_iter().map(|query| self.outcome(query, false)).collect(),
        };
        for (query, outcome) in queries.iter().zip(outcomes) {
            let outcome = outcome?;
            self.counts.search += outcome.search;
            let keeps = self.settle_hsp_limit(&query.sequences, outcome.other.as_ref(), &outcome.plan_found, sink);
            let mut room = self.run_room();
            for (is_other, mut found) in outcome.strands.into_iter().filter(|_| keeps) {
                let strand = if is_other { outcome.other.as_ref() } else { None }.unwrap_or(&query.sequences);
                self.settle(strand, &mut found, room.as_mut(), sink)?;
            }
        }
        Ok(())
    }

    /// Plans and performs a query whose strands do not influence each other.
    fn outcome(&self, query: &Query, parallel: bool) -> Result<Outcome> {
        let other = self.other_strand(&query.sequences);
        let plan = self.plan(query, other.as_ref(), parallel);
        let perform = |(is_other, work): (bool, Work)| {
            let strand = if is_other { other.as_ref() } else { None }.unwrap_or(&query.sequences);
            self.perform(strand, work).map(|(found, search)| (is_other, found, search))
        };
        let strands: Vec<_> = match parallel {
            true => plan.strands.into_par_iter().with_max_len(1).map(perform).collect::<Result<_>>()?,
            false => plan.strands.into_iter().map(perform).collect::<Result<_>>()?,
        };
        let mut outcome =
            Outcome { other, plan_found: plan.found, strands: Vec::with_capacity(strands.len()), search: plan.search };
        for (is_other, found, search) in strands {
            outcome.search += search;
            outcome.strands.push((is_other, found));
        }
        Ok(outcome)
    }

    /// As [`align`](Self::align) for one query, each strand seeing what the one before it masked.
    fn align_in_order(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<()> {
        let other = self.other_strand(&query.sequences);
        let plan = self.plan(query, other.as_ref(), false);
        self.counts.search += plan.search;
        if !self.settle_hsp_limit(&query.sequences, other.as_ref(), &plan.found, sink) {
            return Ok(());
        }
        let mut room = self.run_room();
        for (is_other, work) in plan.strands {
            let strand = if is_other { other.as_ref() } else { None }.unwrap_or(&query.sequences);
            let (mut found, search) = self.perform(strand, work)?;
            self.counts.search += search;
            self.settle(strand, &mut found, room.as_mut(), sink)?;
            // With --anyornone and --limitperquery LASTZ neither counts nor masks.
            let Some(coverage) = self.coverage.as_mut().filter(|_| self.options.limits.blocks.is_none()) else {
                continue;
            };
            let masked = coverage.add(&found.blocks, &mut self.target);
            if !masked.is_empty()
                && let Some(table) = &mut self.table
            {
                table.update_mask(&self.target);
            }
            if self.options.gapped.is_none() || !found.blocks.is_empty() {
                sink.masked(masked.iter().map(Range::len).sum())?;
            }
        }
        Ok(())
    }

    /// The reverse complement of a query, if it is searched.
    fn other_strand(&self, query: &SequenceSet) -> Option<SequenceSet> {
        (self.options.strands != Strands::Plus).then(|| query.reverse_complement())
    }

    fn comparison<'a>(&'a self, query: &'a SequenceSet) -> StrandComparison<'a> {
        StrandComparison {
            options: &self.options,
            target: &self.target,
            query,
            ydrop: self.ydrop.as_ref(),
            bulk: self.bulk.as_deref(),
            look_ahead: Some(&self.look_ahead),
            finder: self.finder.as_deref(),
            is_searched: self.table.is_some(),
            progress: &self.progress,
        }
    }

    /// Finds out which strands to work on. Where both strands' HSPs must be known first, it finds them.
    fn plan(&self, query: &Query, other: Option<&SequenceSet>, parallel: bool) -> Plan {
        let strands: Vec<(bool, &SequenceSet)> = match self.options.strands {
            Strands::Plus => vec![(false, &query.sequences)],
            Strands::Minus => other.map(|other| (true, other)).into_iter().collect(),
            Strands::Both => std::iter::once((false, &query.sequences)).chain(other.map(|o| (true, o))).collect(),
        };
        let limits = &self.options.limits;
        let adaptive = AdaptiveTable::for_threshold(self.options.hsp_threshold, &self.target);
        if let (Some(table), Some(adaptive)) = (&self.table, adaptive) {
            return self.plan_adaptive(&strands, table, adaptive);
        }
        if let (Some(table), Some(most)) = (&self.table, limits.blocks) {
            return self.plan_until_enough(&strands, table, most.into());
        }
        if let (Some(table), Some(limit)) = (&self.table, &self.hsp_limit) {
            return self.plan_limited(&strands, table, limit);
        }
        let given = query.segments.clone();
        if given.is_none() && limits.hsp_best.is_none() {
            let work = |(is_other, _)| (is_other, Work::Search);
            return Plan { strands: strands.into_iter().map(work).collect(), ..Plan::default() };
        }
        let (hsps, search) = match (given, &self.table) {
            (None, Some(table)) => self.find_both(&strands, table, parallel),
            (given, _) => (given.unwrap_or_default(), SearchCounts::default()),
        };
        let (hsps, minus_first) = match limits.hsp_best {
            Some(best) if strands.len() == 2 => (keep_best(hsps, best), true),
            Some(_) => (hsps, true),
            None => (hsps, false),
        };
        let mut work = Vec::new();
        let n_strands = strands.len();
        for (is_other, _) in strands {
            let hsps = if is_other { hsps.minus.clone() } else { hsps.plus.clone() };
            let rescored = minus_first && n_strands == 2 && !is_other;
            let given = GivenHsps { hsps, derived_threshold: None, rescored, unmerged: minus_first };
            work.push((is_other, Work::Extend(given)));
        }
        if minus_first {
            work.reverse();
        }
        Plan { strands: work, found: Vec::new(), search }
    }

    fn find_both(
        &self,
        strands: &[(bool, &SequenceSet)],
        table: &WordTable,
        parallel: bool,
    ) -> (QueryHsps, SearchCounts) {
        let find =
            |&(is_other, strand): &(bool, &SequenceSet)| (is_other, self.comparison(strand).unmerged_hsps(table));
        let found: Vec<_> = match parallel {
            true => strands.par_iter().with_max_len(1).map(find).collect(),
            false => strands.iter().map(find).collect(),
        };
        let (mut hsps, mut search) = (QueryHsps::default(), SearchCounts::default());
        for (is_other, (list, counts)) in found {
            search += counts;
            *(if is_other { &mut hsps.minus } else { &mut hsps.plus }) = list;
        }
        (hsps, search)
    }

    /// One adaptive table for both strands (3.6).
    fn plan_adaptive(&self, strands: &[(bool, &SequenceSet)], table: &WordTable, mut adaptive: AdaptiveTable) -> Plan {
        let mut plan = Plan::default();
        for &(is_other, strand) in strands {
            plan.search += self.comparison(strand).offer_hsps(table, &mut adaptive, is_other);
        }
        let derived_threshold = Some(adaptive.derived_gapped_threshold());
        let mut hsps = QueryHsps { plus: adaptive.strand(false), minus: adaptive.strand(true) };
        if let Some(best) = self.options.limits.hsp_best.filter(|_| strands.len() == 2) {
            hsps = keep_best(hsps, best);
        }
        for &(is_other, _) in strands.iter().rev() {
            let hsps = std::mem::take(if is_other { &mut hsps.minus } else { &mut hsps.plus });
            let rescored = strands.len() == 2 && !is_other;
            let given = GivenHsps { hsps, derived_threshold, rescored, unmerged: true };
            plan.strands.push((is_other, Work::Extend(given)));
        }
        plan
    }

    /// `--anyornone` and `--limitperquery` (6.8): the second strand is searched only if the first one left room.
    fn plan_until_enough(&self, strands: &[(bool, &SequenceSet)], table: &WordTable, mut room: u64) -> Plan {
        let mut plan = Plan::default();
        for &(is_other, strand) in strands {
            let (found, search) = self.comparison(strand).first_blocks(table, &mut room);
            plan.search += search;
            plan.strands.push((is_other, Work::Done(Box::new(found))));
            if room == 0 {
                break;
            }
        }
        plan
    }

    /// `--queryhsplimit` (6.8): the second strand's limit is what the first one left.
    fn plan_limited(&self, strands: &[(bool, &SequenceSet)], table: &WordTable, limit: &HspLimit) -> Plan {
        let mut plan = Plan::default();
        let mut silent = limit.clone();
        let mut so_far = QueryHspCount::default();
        for &(is_other, strand) in strands {
            let (hsps, found, search) = self.comparison(strand).hsps_up_to(table, silent.strand_limit(so_far));
            plan.search += search;
            plan.found.push((is_other, found));
            let goes_on = silent.add_strand(&mut so_far, found, strand, &mut |_| {});
            plan.strands.push((is_other, Work::Extend(GivenHsps { hsps, ..GivenHsps::default() })));
            if !goes_on {
                break;
            }
        }
        plan.strands.reverse();
        if !limit.keeps(so_far) {
            plan.strands.clear();
        }
        if self.run_room().is_some() {
            return plan;
        }
        // LASTZ counts what it keeps as it prints: whole lists of anchors.
        let mut room = limit.most_kept();
        for (_, work) in &mut plan.strands {
            let Work::Extend(GivenHsps { hsps, .. }) = work else { continue };
            if room == 0 {
                hsps.clear();
            }
            room -= u64::from(!hsps.is_empty());
        }
        plan
    }

    fn perform(&self, strand: &SequenceSet, work: Work) -> Result<(StrandBlocks, SearchCounts)> {
        let comparison = self.comparison(strand);
        let depth = self.depth_limit.as_ref().map(|limit| limit.strand(strand));
        let started = Instant::now();
        match (work, &self.table) {
            (Work::Done(found), _) => {
                (self.progress)(Stage::Extension, strand.len() as u64);
                Ok((*found, SearchCounts::default()))
            }
            (Work::Search, Some(table)) => {
                let (hsps, search) = comparison.hsps(table)?;
                let searched = started.elapsed().as_secs_f64();
                let given = GivenHsps { hsps, ..GivenHsps::default() };
                let mut found = comparison.blocks(given, depth)?;
                found.seconds.search = searched;
                found.seconds.extend = started.elapsed().as_secs_f64() - searched;
                Ok((found, search))
            }
            (Work::Search, None) => Ok(Default::default()),
            (Work::Extend(given), _) => {
                (self.progress)(Stage::Search, strand.len() as u64 / 2);
                let mut found = comparison.blocks(given, depth)?;
                found.seconds.extend = started.elapsed().as_secs_f64();
                Ok((found, SearchCounts::default()))
            }
        }
    }

    /// Warnings of `--queryhsplimit`; false if the query is to be dropped.
    fn settle_hsp_limit(
        &mut self,
        query: &SequenceSet,
        other: Option<&SequenceSet>,
        found: &[(bool, u64)],
        sink: &mut dyn Sink,
    ) -> bool {
        let Some(limit) = &mut self.hsp_limit else { return true };
        let mut so_far = QueryHspCount::default();
        for &(is_other, n) in found {
            let strand = if is_other { other } else { None }.unwrap_or(query);
            limit.add_strand(&mut so_far, n, strand, &mut |message| sink.warn(message));
        }
        limit.keeps(so_far)
    }

    /// HSPs, or runs of pairs, that `--queryhsplimit` lets a query print, if it counts these.
    fn run_room(&self) -> Option<u64> {
        let counts_runs = self.options.gapped.is_none() || self.options.limits.counts_runs;
        self.hsp_limit.as_ref().filter(|_| counts_runs).map(HspLimit::most_kept)
    }

    /// Warnings and output of a strand, with `room` for so many runs of pairs.
    fn settle(
        &mut self,
        strand: &SequenceSet,
        found: &mut StrandBlocks,
        room: Option<&mut u64>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        self.counts.gapped += found.gapped;
        self.counts.seconds += found.seconds;
        self.counts.inner_blocks += found.inner_blocks;
        found.truncations.iter().for_each(|truncation| sink.truncated(truncation));
        if let (Some(limit), Some(depth)) = (&mut self.depth_limit, found.depth)
            && !limit.keeps(depth, strand, &mut |message| sink.warn(message))
        {
            found.blocks.clear();
        }
        let within_room = room.map(|room| cut_to_room(&found.blocks, room));
        let blocks = within_room.as_ref().unwrap_or(&found.blocks);
        self.counts.output_blocks += blocks.len() as u64;
        sink.strand(&StrandView { target: &self.target, query: strand }, blocks)
    }
}
