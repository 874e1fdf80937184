//! What each strand of a query needs. Where both strands' HSPs must be known before either is extended, they are found here.

use rayon::prelude::*;

use super::{Aligner, Query};
use crate::filter::SearchCounts;
use crate::filter::adaptive::AdaptiveTable;
use crate::filter::query_best::{QueryHsps, keep_best};
use crate::options::Strands;
use crate::post::limits::{HspLimit, QueryHspCount, StrandHspCount};
use crate::seed::WordTable;
use crate::sequence::SequenceSet;
use crate::strand::{GivenHsps, StrandBlocks};

/// One strand's work.
pub(super) enum Work {
    /// Find HSPs, then extend them.
    Search,
    /// Extend these HSPs.
    Extend(GivenHsps),
    /// Nothing: these are the blocks.
    Done(Box<StrandBlocks>),
}

/// What a query needs, strand by strand in the order of the output.
#[derive(Default)]
pub(super) struct Plan {
    /// Whether the strand is the reverse complement of the query as given, and its work.
    pub strands: Vec<(bool, Work)>,
    /// HSPs found per searched strand, if a limit has to be settled.
    pub found: Vec<(bool, StrandHspCount)>,
    pub search: SearchCounts,
}

impl Aligner {
    /// Whether each strand of a query is searched and extended for itself, whatever the other one gives.
    pub(super) fn searches_each_strand(&self, query: &Query) -> bool {
        let limits = &self.options.limits;
        let is_fixed = AdaptiveTable::for_threshold(self.options.hsp_threshold, &self.target).is_none();
        let is_unlimited = limits.blocks.is_none() && limits.hsp_best.is_none() && self.hsp_limit().is_none();
        self.table.is_some() && query.segments.is_none() && is_fixed && is_unlimited
    }

    /// The strands of a query that are searched, and whether they are the reverse complement of what was given.
    pub(super) fn strands<'q>(
        &self,
        query: &'q SequenceSet,
        other: Option<&'q SequenceSet>,
    ) -> Vec<(bool, &'q SequenceSet)> {
        match self.options.strands {
            Strands::Plus => vec![(false, query)],
            Strands::Minus => other.map(|other| (true, other)).into_iter().collect(),
            Strands::Both => std::iter::once((false, query)).chain(other.map(|o| (true, o))).collect(),
        }
    }

    /// Finds out which strands to work on. Where both strands' HSPs must be known first, it finds them.
    pub(super) fn plan(&self, query: &Query, other: Option<&SequenceSet>, parallel: bool) -> Plan {
        let strands = self.strands(&query.sequences, other);
        let limits = &self.options.limits;
        let adaptive = AdaptiveTable::for_threshold(self.options.hsp_threshold, &self.target);
        if let (Some(table), Some(adaptive)) = (&self.table, adaptive) {
            return self.plan_adaptive(&strands, table, adaptive);
        }
        if let (Some(table), Some(most)) = (&self.table, limits.blocks) {
            return self.plan_until_enough(&strands, table, most.into());
        }
        if let (Some(table), Some(limit)) = (&self.table, self.hsp_limit()) {
            return self.plan_limited(&strands, table, limit);
        }
        let given = query.segments.clone();
        if given.is_none() && limits.hsp_best.is_none() {
            let work = |(is_other, _)| (is_other, Work::Search);
            return Plan { strands: strands.into_iter().map(work).collect(), ..Plan::default() };
        }
        let is_given = given.is_some();
        let (hsps, search) = match (given, &self.table) {
            (None, Some(table)) => self.find_both(&strands, table, parallel),
            // LASTZ takes the segments of both strands for segments of the first.
            (Some(given), _) if limits.hsp_best.is_some() && strands.len() == 2 => {
                let plus = [given.plus, given.minus].concat();
                (QueryHsps { plus, minus: Vec::new() }, SearchCounts::default())
            }
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
            let unmerged = minus_first || is_given;
            let given = GivenHsps { hsps, derived_threshold: None, rescored, unmerged, has_images: true };
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
        let mut hsps = QueryHsps { plus: adaptive.strand(false), minus: adaptive.strand(true) };
        if let Some(best) = self.options.limits.hsp_best.filter(|_| strands.len() == 2) {
            hsps = keep_best(hsps, best);
        }
        let derived_threshold = Some(hsps.derived_gapped_threshold());
        for &(is_other, _) in strands.iter().rev() {
            let hsps = std::mem::take(if is_other { &mut hsps.minus } else { &mut hsps.plus });
            let rescored = strands.len() == 2 && !is_other;
            let given = GivenHsps { hsps, derived_threshold, rescored, unmerged: true, has_images: true };
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
        // Then LASTZ goes on with no anchors left: identical sequences make a block without one.
        for &(is_other, strand) in strands.iter().rev() {
            let found = StrandBlocks { unprinted: room == 0, ..self.comparison(strand).forced_blocks() };
            plan.strands.push((is_other, Work::Done(Box::new(found))));
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
            plan.strands.push((is_other, Work::Extend(GivenHsps { hsps, has_images: true, ..GivenHsps::default() })));
            if !goes_on {
                break;
            }
        }
        plan.strands.reverse();
        if !limit.keeps(so_far) {
            plan.strands.clear();
        }
        plan
    }
}
