//! One query strand against the target, stage by stage: HSPs, anchors, gapped blocks, post stages.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use crate::align::Stage;
use crate::alignment::{Anchor, Block, Hsp};
use crate::anchor::{anchor_of, anchors};
use crate::cpu::Ydrop;
use crate::error::Result;
use crate::extend::stitch::stitch;
use crate::extend::{BulkExtender, GappedCounts, GappedStage, LookAhead, Truncation};
use crate::filter::adaptive::AdaptiveTable;
use crate::filter::{HspSearch, SearchCounts, entropy_adjusted, merge_by_diagonal, needs_merging};
use crate::options::{
    Contract, GapFreeExtension, GappedOptions, GappedThreshold, HspThreshold, InnerSearch, Options, QueryLimits,
    SelfComparison, Strands,
};
use crate::post::filters::{self, FilterStage};
use crate::post::inner::{Rectangle, interpolate};
use crate::post::limits::{StrandDepth, StrandHspCount, first_runs};
use crate::post::mirror::SelfPair;
use crate::post::{chain, trivial};
use crate::report::Seconds;
use crate::scoring::WORST_SCORE;
use crate::seed::{SeedPattern, WordTable};
use crate::sequence::{Partition, SequenceSet};

/// L when neither it nor K applies.
const DEFAULT_GAPPED_THRESHOLD: i64 = 3000;

/// Everything that the stages of one strand share.
#[derive(Clone, Copy)]
pub(crate) struct StrandComparison<'a> {
    pub options: &'a Options,
    pub target: &'a SequenceSet,
    /// The query on the searched strand.
    pub query: &'a SequenceSet,
    pub ydrop: Option<&'a Ydrop>,
    pub bulk: Option<&'a dyn BulkExtender>,
    /// How far gapped extension runs ahead; `None`: one anchor after the other.
    pub look_ahead: Option<&'a LookAhead>,
    /// Whether HSPs come from a search; otherwise they are given (`--segments`).
    pub is_searched: bool,
    /// Whether covered target bases are counted (`--masking`, `--census`).
    pub counts_coverage: bool,
    /// Told of query bases as they are dealt with: half of them by the search, half by extension.
    pub progress: &'a (dyn Fn(Stage, u64) + Sync),
}

/// Half of the query bases of a strand, told of step by step.
struct HalfProgress<'a> {
    stage: Stage,
    report: &'a (dyn Fn(Stage, u64) + Sync),
    half: u64,
    told: AtomicU64,
}

impl HalfProgress<'_> {
    /// `done` of `all` steps are done.
    fn reach(&self, done: usize, all: usize) {
        let reached = self.half * done as u64 / (all as u64).max(1);
        let before = self.told.fetch_max(reached, Relaxed);
        if reached > before {
            (self.report)(self.stage, reached - before);
        }
    }
}

/// Blocks of one strand, in the order of the output, and what it took to find them.
#[derive(Default)]
pub(crate) struct StrandBlocks {
    pub blocks: Vec<Block>,
    /// Printed one by one as they were found (`--anyornone`, `--limitperquery`): LASTZ neither counts nor masks them.
    pub uncounted: bool,
    /// Found when `--anyornone` or `--limitperquery` had enough: LASTZ counts and masks them, and prints none.
    pub unprinted: bool,
    pub truncations: Vec<Truncation>,
    pub gapped: GappedCounts,
    /// Blocks that came from the second search between blocks (`--inner`).
    pub inner_blocks: u64,
    /// Paired bases, if `--querydepth` limits them.
    pub depth: Option<StrandDepth>,
    pub seconds: Seconds,
}

/// HSPs to be extended.
#[derive(Clone, Debug, Default)]
pub(crate) struct GivenHsps {
    pub hsps: Vec<Hsp>,
    /// L, if it comes from an adaptive table, which may say that there is none.
    pub derived_threshold: Option<Option<i32>>,
    /// LASTZ scores the first strand anew, without entropy, where it searched both before it extends either.
    pub rescored: bool,
    /// Whether they were selected before overlapping ones were merged.
    pub unmerged: bool,
    /// Whether mirror images (`--self`, gap-free) are among them.
    pub has_images: bool,
}

impl<'a> StrandComparison<'a> {
    fn gapped(&self) -> Option<&'a GappedOptions> {
        self.options.gapped.as_ref()
    }

    fn half_progress(&self, stage: Stage) -> HalfProgress<'a> {
        HalfProgress { stage, report: self.progress, half: self.query.len() as u64 / 2, told: AtomicU64::new(0) }
    }

    fn search(&self, table: &'a WordTable) -> HspSearch<'a> {
        let is_same_strand = self.target.is_reversed == self.query.is_reversed;
        HspSearch::new(table, self.target, self.query, self.options, is_same_strand)
    }

    /// All HSPs of the strand, in LASTZ's order of discovery.
    pub fn hsps(&self, table: &'a WordTable) -> (Vec<Hsp>, SearchCounts) {
        let progress = self.half_progress(Stage::Search);
        let reach = |done, all| progress.reach(done, all);
        let search = self.search(table).with_progress(&reach);
        let found = if rayon::current_num_threads() > 1 { search.find_parallel() } else { search.find() };
        progress.reach(1, 1);
        found
    }

    /// Calls `take` with an HSP and with its mirror image, if `--self` prints it: LASTZ puts the two into its lists as
    /// soon as they are found, so that all later stages see both.
    fn with_image(&self, hsp: Hsp, mut take: impl FnMut(Hsp)) {
        take(hsp);
        if self.prints_images() {
            let pair = SelfPair { target: self.target, query: self.query };
            pair.mirror_hsp(&hsp).into_iter().for_each(take);
        }
    }

    fn prints_images(&self) -> bool {
        self.gapped().is_none() && self.options.self_comparison == SelfComparison::Mirrored
    }

    /// HSPs with their images.
    fn with_images(&self, hsps: Vec<Hsp>) -> Vec<Hsp> {
        let mut all = Vec::with_capacity(2 * hsps.len());
        hsps.into_iter().for_each(|hsp| self.with_image(hsp, |hsp| all.push(hsp)));
        let seed = &self.options.seed;
        let has_diagonals = self.options.gap_free != GapFreeExtension::None;
        if seed.twins.is_some() || seed.recover_hits && has_diagonals { merge_by_diagonal(all) } else { all }
    }

    /// As [`hsps`](Self::hsps), not merged where LASTZ selects among them first.
    pub fn unmerged_hsps(&self, table: &'a WordTable) -> (Vec<Hsp>, SearchCounts) {
        let mut hsps = Vec::new();
        let counts = self.search(table).run_parallel(&mut |found| {
            self.with_image(found.hsp, |hsp| hsps.push(hsp));
            ControlFlow::Continue(())
        });
        (hsps, counts)
    }

    /// Offers every extension to an adaptive table (3.6).
    pub fn offer_hsps(&self, table: &'a WordTable, adaptive: &mut AdaptiveTable, is_minus: bool) -> SearchCounts {
        let uses_entropy = matches!(self.options.gap_free, GapFreeExtension::XDrop { entropy: true, .. });
        self.search(table).run(&mut |mut found| {
            if uses_entropy && adaptive.wants_entropy(found.hsp.score) {
                found.hsp.score = entropy_adjusted(self.target, self.query, &found.hsp);
            }
            self.with_image(found.hsp, |hsp| adaptive.offer(hsp, is_minus));
            ControlFlow::Continue(())
        })
    }

    /// HSPs up to the first query position at which more than `limit` have been found (`--queryhsplimit`), and how many
    /// that were before merging. Images do not count as found, nor does what `--twins` finds: it is over no limit before
    /// all is listed.
    pub fn hsps_up_to(&self, table: &'a WordTable, limit: u64) -> (Vec<Hsp>, StrandHspCount, SearchCounts) {
        let mut hsps = Vec::new();
        let (mut position, mut n_found) = (0, 0);
        let search = self.search(table);
        let stops = self.options.seed.twins.is_none();
        let counts = search.run(&mut |found| {
            if n_found > limit && found.query_end != position {
                return ControlFlow::Break(());
            }
            position = found.query_end;
            n_found += u64::from(stops);
            self.with_image(found.hsp, |hsp| hsps.push(hsp));
            ControlFlow::Continue(())
        });
        let count = StrandHspCount { found: n_found, listed: hsps.len() as u64 };
        (if search.needs_merging() { merge_by_diagonal(hsps) } else { hsps }, count, counts)
    }

    /// Blocks in order of discovery until `room` for blocks, or for runs of pairs, is used up, each HSP extended at once
    /// and alone (`--anyornone`).
    pub fn first_blocks(&self, table: &'a WordTable, room: &mut u64) -> (StrandBlocks, SearchCounts) {
        let mut found_blocks = StrandBlocks { uncounted: true, ..StrandBlocks::default() };
        // LASTZ does not report two blocks with the same ends.
        let mut seen = HashSet::new();
        let threshold = self.gapped_threshold(None);
        let mut workspace = Default::default();
        let stage = match self.gapped() {
            Some(_) => FilterStage::GappedUntilEnough,
            None => FilterStage::GapFreeUntilEnough,
        };
        let mut extend = |hsp: &Hsp| match (self.gapped(), self.ydrop) {
            (Some(_), Some(ydrop)) => {
                anchor_of(hsp, &self.target.bases, &self.query.bases, &self.options.scoring.gapped)
                    .and_then(|anchor| {
                        let (left, right) = ydrop.run_both(self.target, self.query, &anchor, &mut workspace);
                        stitch(&anchor, &left, &right, self.target, self.query, &self.options.scoring)
                    })
                    .filter(|block| block.score >= threshold && !block.script.is_empty())
            }
            _ => Some(Block::from(hsp)),
        };
        let counts = self.search(table).run(&mut |found| {
            self.with_image(found.hsp, |hsp| {
                let is_new = |block: &Block| seen.insert((block.target_range(), block.query_range()));
                let block = extend(&hsp).filter(|block| self.passes(block, stage)).filter(is_new);
                if let Some(block) = block.filter(|_| *room > 0) {
                    let counts_runs = self.options.limits.counts_runs;
                    let (block, used) = if counts_runs { first_runs(&block, *room) } else { (block, 1) };
                    *room -= used;
                    found_blocks.blocks.push(block);
                }
            });
            if *room == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (found_blocks, counts)
    }

    /// The blocks that need no anchor (4.4), if they are not trivial by the options.
    pub fn forced_blocks(&self) -> StrandBlocks {
        let is_wanted = !self.options.no_trivial && self.options.self_comparison == SelfComparison::No;
        if self.gapped().is_none() || !is_wanted {
            return StrandBlocks::default();
        }
        let threshold = self.gapped_threshold(None);
        let mut blocks = trivial::identical_blocks(self.target, self.query, threshold, &self.options.scoring);
        filters::retain(&mut blocks, &self.options.filters, FilterStage::Gapped, self.target, self.query);
        StrandBlocks { blocks, ..StrandBlocks::default() }
    }

    /// Everything after the HSPs.
    pub fn blocks(&self, given: GivenHsps, depth: Option<StrandDepth>) -> Result<StrandBlocks> {
        let GivenHsps { mut hsps, derived_threshold, rescored, unmerged, has_images } = given;
        let progress = self.half_progress(Stage::Extension);
        if self.prints_images() && !has_images {
            hsps = self.with_images(hsps);
        }
        if unmerged && (!self.is_searched || needs_merging(self.options)) {
            hsps = merge_by_diagonal(hsps);
        }
        // Segments that were found without x-drop carry a length; chains and anchors need a score (3.5). Those of
        // --segments keep their own.
        let is_by_length = self.is_searched && !matches!(self.options.gap_free, GapFreeExtension::XDrop { .. });
        let rescored = rescored || is_by_length;
        if rescored && (self.options.chain.is_some() || self.options.gapped.is_some()) {
            self.rescore(&mut hsps);
        }
        if self.gapped().is_none() {
            hsps.retain(|hsp| self.passes(&Block::from(hsp), self.gap_free_stage()));
        }
        if let Some(penalties) = self.options.chain {
            hsps = chain::chain(hsps, self.target, self.query, penalties, &self.options.scoring);
        }
        let Some((gapped, ydrop)) = self.gapped().zip(self.ydrop) else {
            progress.reach(1, 1);
            let blocks = hsps.iter().map(Block::from).collect();
            return Ok(StrandBlocks { blocks, ..StrandBlocks::default() });
        };
        let threshold = self.gapped_threshold(derived_threshold);
        let forced = match hsps.is_empty() && self.is_fill() {
            true => Vec::new(),
            false => trivial::identical_blocks(self.target, self.query, threshold, &self.options.scoring),
        };
        let anchors = self.anchors(&hsps);
        drop(hsps);
        let progress = |done: usize, all: usize| progress.reach(done, all);
        let (target, query, scoring, all_bounds) = (self.target, self.query, &self.options.scoring, gapped.all_bounds);
        let (look_ahead, bulk, progress) = (self.look_ahead, self.bulk, &progress);
        let mut depth = depth;
        let mut accepted = |block: &Block| {
            let goes_on = depth.as_mut().is_none_or(|depth| depth.accept(block));
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let stage = GappedStage { target, query, scoring, ydrop, threshold, all_bounds, look_ahead, bulk, progress };
        let result = match gapped.contract {
            Contract::Exact => stage.run(&anchors, forced.clone(), &mut accepted),
            Contract::Relaxed => stage.run_relaxed(&anchors, forced.clone(), &mut accepted),
        }?;
        let mut found = StrandBlocks {
            blocks: result.blocks,
            truncations: result.truncations,
            gapped: result.counts,
            depth,
            ..StrandBlocks::default()
        };
        filters::retain(&mut found.blocks, &self.options.filters, FilterStage::Gapped, self.target, self.query);
        let drop_trivial = |blocks: &mut Vec<Block>| {
            if self.options.no_trivial || self.options.self_comparison != SelfComparison::No {
                trivial::drop_trivial(blocks, &forced, self.target, self.query);
            }
        };
        drop_trivial(&mut found.blocks);
        if let Some(inner) = gapped.inner {
            let started = Instant::now();
            let are_partitioned = self.target.is_partitioned && self.query.is_partitioned;
            let drops_trivial = self.options.no_trivial && (forced.is_empty() || !are_partitioned);
            self.fill(&mut found, gapped, inner, drops_trivial)?;
            found.seconds.inner = started.elapsed().as_secs_f64();
            // The second search finds identical sequences too. What was forced before it finds again, and LASTZ keeps that
            // where both sides are partitioned.
            if forced.is_empty() {
                drop_trivial(&mut found.blocks);
            }
        }
        if self.options.self_comparison == SelfComparison::Mirrored {
            let pair = SelfPair { target: self.target, query: self.query };
            found.blocks = pair.mirror_blocks(found.blocks, &self.options.scoring);
        }
        Ok(found)
    }

    fn passes(&self, block: &Block, stage: FilterStage) -> bool {
        filters::passes(block, &self.options.filters, stage, self.target, self.query)
    }

    /// LASTZ filters HSPs otherwise if it prints them as it finds them.
    fn gap_free_stage(&self) -> FilterStage {
        let options = self.options;
        let at_once = !self.counts_coverage
            && options.chain.is_none()
            && !(options.seed.recover_hits && options.gap_free != GapFreeExtension::None)
            && options.seed.twins.is_none()
            && self.is_searched
            && matches!(options.hsp_threshold, HspThreshold::Score(_))
            && options.limits == QueryLimits::default();
        if at_once { FilterStage::GapFreeAtOnce } else { FilterStage::GapFree }
    }

    /// Anchors in LASTZ's order.
    pub fn anchors(&self, hsps: &[Hsp]) -> Vec<Anchor> {
        anchors(hsps, &self.target.bases, &self.query.bases, &self.options.scoring.gapped)
    }

    /// Scores HSPs from scratch by the gap-free matrix.
    fn rescore(&self, hsps: &mut [Hsp]) {
        for hsp in hsps {
            let (t, q, n) = (hsp.target_start as usize, hsp.query_start as usize, hsp.len as usize);
            let pairs = self.target.bases[t..t + n].iter().zip(&self.query.bases[q..q + n]);
            let score: i64 = pairs.map(|(&t, &q)| i64::from(self.options.scoring.gap_free.get(t, q))).sum();
            hsp.score = score.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        }
    }

    /// L (5.8). An adaptive HSP threshold gives the lowest kept score, or no threshold at all (3.6).
    pub fn gapped_threshold(&self, derived: Option<Option<i32>>) -> i64 {
        let threshold = self.gapped().map_or(GappedThreshold::FromHsps, |gapped| gapped.threshold);
        match (threshold, derived, self.options.hsp_threshold, self.options.gap_free) {
            (GappedThreshold::Score(score), ..) => score.into(),
            (_, Some(derived), ..) => derived.unwrap_or(WORST_SCORE).into(),
            (_, None, HspThreshold::Score(score), GapFreeExtension::XDrop { .. }) => score.into(),
            _ => DEFAULT_GAPPED_THRESHOLD,
        }
    }

    /// Whether this is a rectangle of the second search: it has no strands of its own.
    fn is_fill(&self) -> bool {
        self.target.file.is_empty()
    }

    /// The second search between and beside blocks (6.4).
    fn fill(
        &self,
        found: &mut StrandBlocks,
        gapped: &GappedOptions,
        inner: InnerSearch,
        drops_trivial: bool,
    ) -> Result<()> {
        let mut options = self.fill_options(gapped, inner);
        options.no_trivial = drops_trivial;
        let outer = found.blocks.len();
        let blocks = std::mem::take(&mut found.blocks);
        found.blocks =
            interpolate(blocks, self.target, self.query, |rectangle| self.fill_rectangle(rectangle, &options))?;
        found.inner_blocks = (found.blocks.len() - outer) as u64;
        Ok(())
    }

    fn fill_options(&self, gapped: &GappedOptions, inner: InnerSearch) -> Options {
        let InnerSearch { threshold, x_drop } = inner;
        let mut options = Options {
            strands: Strands::Plus,
            scoring: self.options.scoring.clone(),
            gap_free: GapFreeExtension::XDrop { x_drop, entropy: false },
            hsp_threshold: HspThreshold::Score(threshold),
            chain: Some(self.options.chain.unwrap_or_default()),
            gapped: Some(GappedOptions { threshold: GappedThreshold::Score(threshold), inner: None, ..gapped.clone() }),
            ..Options::default()
        };
        options.seed.pattern = SeedPattern::contiguous(7).expect("seven is a word length");
        options.seed.transitions = 0;
        options
    }

    fn fill_rectangle(&self, part: &Rectangle, options: &Options) -> Result<Vec<Block>> {
        // Without a strand, as LASTZ copies them: identical ones are forced on either strand.
        let cut = |set: &SequenceSet, range: std::ops::Range<usize>| SequenceSet {
            bases: set.bases[range.clone()].to_vec(),
            partitions: vec![Partition { range: 0..range.len(), full_len: range.len(), ..Partition::default() }],
            ..SequenceSet::default()
        };
        let target = cut(self.target, part.target.clone());
        let query = cut(self.query, part.query.clone());
        let table = WordTable::build(&target, &options.seed)?;
        let inner = StrandComparison {
            options,
            target: &target,
            query: &query,
            is_searched: true,
            bulk: None,
            look_ahead: None,
            progress: &|_, _| {},
            ..*self
        };
        let (hsps, _) = inner.search(&table).find();
        let mut found = inner.blocks(GivenHsps { hsps, ..GivenHsps::default() }, None)?;
        for block in &mut found.blocks {
            block.target_start += part.target.start;
            block.query_start += part.query.start;
        }
        Ok(found.blocks)
    }
}
