//! A target against queries: both strands of each, in LASTZ's order, in parallel where the order allows it.
//!
//! ```text
//! query --plan--> work per strand --perform--> blocks --settle--> warnings, masking, output
//! ```
//! Planning finds the HSPs first where both strands have to be known before either is extended (adaptive thresholds,
//! `--queryhsplimit`, `--queryhspbest`; those print minus before plus). Planning and performing only read, so queries
//! and strands run in parallel (`align/pipeline.rs`); settling is done in order. With `--masking` each strand changes the target
//! for the next, so everything runs in order.

mod early_share;
mod gate;
mod pipeline;
mod plan;
mod settlement;
mod sides_ahead;

use std::ops::Range;
use std::time::Instant;

use rayon::prelude::*;

pub use self::early_share::is_done_early;
use self::plan::{Plan, Work};
use self::settlement::Settlement;
use self::sides_ahead::SidesAhead;
use crate::alignment::Block;
use crate::cpu::Ydrop;
use crate::error::Result;
use crate::extend::{BulkExtender, LookAhead, Truncation};
use crate::filter::query_best::QueryHsps;
use crate::filter::{HspFinder, SearchCounts};
use crate::options::{Options, Strands};
use crate::output::StrandView;
use crate::post::limits::{DepthLimit, HspLimit, StrandHspCount};
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
    settlement: Settlement,
    progress: Box<dyn Fn(Stage, u64) + Send + Sync>,
    bulk: Option<Box<dyn BulkExtender>>,
    look_ahead: LookAhead,
    finder: Option<Box<dyn HspFinder>>,
}

/// The blocks of a query's strands.
#[derive(Default)]
struct Outcome {
    plan_found: Vec<(bool, StrandHspCount)>,
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
        aligner.settlement.counts.seconds.index = started.elapsed().as_secs_f64();
        Ok(aligner)
    }

    /// Prepares a target for queries that bring their segments along.
    pub fn for_segments(target: SequenceSet, options: Options) -> Aligner {
        let limits = options.limits;
        Aligner {
            table: None,
            ydrop: options.gapped.as_ref().map(|gapped| Ydrop::new(&options.scoring, gapped)),
            coverage: (options.masking > 0).then(|| TargetCoverage::new(target.len(), options.masking, None)),
            settlement: Settlement {
                hsp_limit: limits.hsp_limit.map(|(limit, over)| HspLimit::new(limit, over)),
                depth_limit: limits.depth.and_then(|(depth, over)| DepthLimit::new(depth, over)),
                counts_runs: options.gapped.is_none() || limits.counts_runs,
                counts: Counts::default(),
            },
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
        &self.settlement.counts
    }

    /// The closing remark about limits, if any query exceeded one.
    pub fn limit_summary(&self) -> Option<String> {
        self.hsp_limit().and_then(HspLimit::summary)
    }

    fn hsp_limit(&self) -> Option<&HspLimit> {
        self.settlement.hsp_limit.as_ref()
    }

    /// Aligns queries, given in the order of their output.
    ///
    /// # Errors
    /// Those of [`align_all`](Self::align_all).
    pub fn align(&mut self, queries: Vec<Query>, sink: &mut dyn Sink) -> Result<()> {
        self.align_all(queries.into_iter().map(Ok), sink)
    }

    /// Aligns queries as they come, in the order of their output. Another thread asks for them ahead of their turn, so
    /// that reading, searching, extending and output overlap.
    ///
    /// # Errors
    /// The first error among the queries, after the output of those before it; those of the sink, of a device that the
    /// CPU may not stand in for, and of `--inner`'s second search.
    pub fn align_all(
        &mut self,
        queries: impl Iterator<Item = Result<Query>> + Send,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        if self.coverage.is_some() {
            if let (Some(finder), Some(table)) = (&self.finder, &self.table) {
                finder.prepare(&self.target, table);
            }
            for query in queries {
                self.align_in_order(&query?, sink)?;
            }
            return Ok(());
        }
        let mut settlement = self.settlement.clone();
        let done = pipeline::run(self, &mut settlement, queries, sink);
        self.settlement = settlement;
        done
    }

    /// Plans and performs a query whose strands do not influence each other.
    fn outcome(&self, query: &Query, other: Option<&SequenceSet>) -> Result<Outcome> {
        let parallel = rayon::current_num_threads() > 1;
        let plan = self.plan(query, other, parallel);
        let perform = |(is_other, work): (bool, Work)| {
            let strand = if is_other { other } else { None }.unwrap_or(&query.sequences);
            self.perform(strand, work, None).map(|(found, search)| (is_other, found, search))
        };
        let strands: Vec<_> = match parallel {
            true => plan.strands.into_par_iter().with_max_len(1).map(perform).collect::<Result<_>>()?,
            false => plan.strands.into_iter().map(perform).collect::<Result<_>>()?,
        };
        let mut outcome =
            Outcome { plan_found: plan.found, strands: Vec::with_capacity(strands.len()), search: plan.search };
        for (is_other, found, search) in strands {
            outcome.search += search;
            outcome.strands.push((is_other, found));
        }
        Ok(outcome)
    }

    /// As [`align`](Self::align) for one query, each strand seeing what the one before it masked.
    fn align_in_order(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<()> {
        let other = self.other_strand(&query.sequences);
        let mut plan = self.plan(query, other.as_ref(), false);
        self.search_on_device(query, other.as_ref(), &mut plan)?;
        self.settlement.counts.search += plan.search;
        if !self.settlement.settle_hsp_limit(&query.sequences, other.as_ref(), &plan.found, sink) {
            return Ok(());
        }
        let mut room = self.settlement.room();
        for (is_other, work) in plan.strands {
            let strand = if is_other { other.as_ref() } else { None }.unwrap_or(&query.sequences);
            let (mut found, search) = self.perform(strand, work, None)?;
            self.settlement.counts.search += search;
            let view = StrandView { target: &self.target, query: strand };
            self.settlement.settle(&view, &mut found, room.as_mut(), sink)?;
            let Some(coverage) = self.coverage.as_mut() else { continue };
            let counted = if found.uncounted { &[] } else { &found.blocks[..] };
            let masked = coverage.add(counted, &mut self.target);
            if !masked.is_empty()
                && let Some(table) = &mut self.table
            {
                table.update_mask(&self.target);
            }
            if self.options.gapped.is_none() && !found.uncounted || !counted.is_empty() {
                sink.masked(masked.iter().map(Range::len).sum())?;
            }
        }
        Ok(())
    }

    /// Has the strands of a plan searched by the finder, where there is one and it can.
    fn search_on_device(&self, query: &Query, other: Option<&SequenceSet>, plan: &mut Plan) -> Result<()> {
        let Some(finder) = self.finder.as_ref().filter(|_| self.searches_each_strand(query)) else { return Ok(()) };
        let strands: Vec<&SequenceSet> = self.strands(&query.sequences, other).iter().map(|strand| strand.1).collect();
        let found = finder.find_many(&self.target, &strands)?;
        plan.search += found.counts;
        for ((_, work), hsps) in plan.strands.iter_mut().zip(found.hsps) {
            if let Some(hsps) = hsps {
                *work = Work::Extend(GivenHsps { hsps, ..GivenHsps::default() });
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
            is_searched: self.table.is_some(),
            counts_coverage: self.coverage.is_some(),
            progress: &self.progress,
        }
    }

    /// Does what a strand needs; `sides` of its anchors may have been run ahead.
    fn perform(
        &self,
        strand: &SequenceSet,
        work: Work,
        sides: Option<&SidesAhead>,
    ) -> Result<(StrandBlocks, SearchCounts)> {
        let mut comparison = self.comparison(strand);
        if let Some(sides) = sides {
            comparison.bulk = Some(sides);
        }
        let depth = self.settlement.depth_limit.as_ref().map(|limit| limit.strand(strand));
        let started = Instant::now();
        match (work, &self.table) {
            (Work::Done(found), _) => {
                (self.progress)(Stage::Extension, strand.len() as u64);
                Ok((*found, SearchCounts::default()))
            }
            (Work::Search, Some(table)) => {
                let (hsps, search) = comparison.hsps(table);
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
}
