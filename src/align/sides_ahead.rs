//! Sides of anchors that were run ahead of their strand's gapped stage: those of many short strands make one unit for a
//! bulk engine, which a strand alone would not keep busy.
//!
//! Which anchors are run is a guess; what they give is not. A stage asks for what it wants ([`SidesAhead`] is its bulk
//! engine) and runs the rest itself.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use super::Aligner;
use crate::alignment::{Anchor, Hsp};
use crate::error::Result;
use crate::extend::{BulkExtender, BulkUnit, Side};
use crate::sequence::{Partition, SEPARATOR, SequenceSet};

/// Strands of which it is worth while to make one unit.
const LEAST_STRANDS: usize = 3;
/// Anchors of all strands from which on it is, once the engine is ready.
const LEAST_ANCHORS: usize = 1 << 8;
/// Target bases that a block probably covers on either side of its anchor.
const LIKELY_REACH: u32 = 2000;

/// Both sides of anchors of one strand, without bounds.
#[derive(Debug, Default)]
pub(super) struct SidesAhead(Mutex<HashMap<(u32, u32), (Side, Side)>>);

/// Runs anchors of strands whose HSPs are known; `None` where that does not pay or cannot be done. `n_seen` counts anchors
/// from call to call: many must have come before the engine is started for them.
pub(super) fn run(
    aligner: &Aligner,
    strands: &[(&SequenceSet, &[Hsp])],
    n_seen: &mut usize,
) -> Result<Option<Vec<SidesAhead>>> {
    let (Some(bulk), Some(gapped)) = (aligner.bulk.as_deref(), &aligner.options.gapped) else { return Ok(None) };
    if strands.len() < LEAST_STRANDS {
        return Ok(None);
    }
    let chosen: Vec<Vec<Anchor>> =
        strands.iter().map(|(query, hsps)| choose(&aligner.comparison(query).anchors(hsps))).collect();
    let n_chosen: usize = chosen.iter().map(Vec::len).sum();
    *n_seen += n_chosen;
    if *n_seen < bulk.least_anchors() || n_chosen < bulk.least_anchors().min(LEAST_ANCHORS) {
        return Ok(None);
    }
    let (joined, starts) = join(strands);
    let Some(mut unit) = bulk.open(&aligner.target, &joined)? else { return Ok(None) };
    let moved = |(anchors, start): (&Vec<Anchor>, &u32)| {
        let moved = |anchor: &Anchor| Anchor { query: anchor.query + start, ..*anchor };
        anchors.iter().map(moved).collect::<Vec<_>>()
    };
    let anchors: Vec<Anchor> = chosen.iter().zip(&starts).flat_map(moved).collect();
    let threshold = aligner.comparison(&joined).gapped_threshold(None);
    let wants_script = crate::extend::wants_script(gapped.all_bounds, threshold);
    let mut sides = unit.extend(&anchors, &wants_script)?.into_iter();
    let of_strand = |anchors: Vec<Anchor>| {
        let found = anchors.iter().zip(sides.by_ref());
        let found = found.filter_map(|(anchor, sides)| Some(((anchor.target, anchor.query), sides?)));
        SidesAhead(Mutex::new(found.collect()))
    };
    Ok(Some(chosen.into_iter().map(of_strand).collect()))
}

/// Anchors that none of the earlier ones will probably cover.
fn choose(anchors: &[Anchor]) -> Vec<Anchor> {
    let mut by_target = BTreeSet::new();
    let diagonal = |target: u32, query: u32| i64::from(target) - i64::from(query);
    let mut is_alone = |anchor: &&Anchor| {
        let near = (anchor.target.saturating_sub(LIKELY_REACH), 0)..=(anchor.target + LIKELY_REACH, u32::MAX);
        let is_near = by_target.range(near).any(|&(target, query): &(u32, u32)| {
            let drift = diagonal(target, query).abs_diff(diagonal(anchor.target, anchor.query));
            drift <= u64::from(200 + anchor.target.abs_diff(target) / 8)
        });
        !is_near && by_target.insert((anchor.target, anchor.query))
    };
    anchors.iter().filter(|anchor| is_alone(anchor)).copied().collect()
}

/// One query of all strands, each with its partitions; and where each starts.
fn join(strands: &[(&SequenceSet, &[Hsp])]) -> (SequenceSet, Vec<u32>) {
    let n_bases: usize = strands.iter().map(|(query, _)| query.len() + 1).sum();
    let mut joined = SequenceSet { is_partitioned: true, file: "queries".to_string(), ..SequenceSet::default() };
    joined.bases.reserve(n_bases + 1);
    joined.bases.push(SEPARATOR);
    let mut starts = Vec::with_capacity(strands.len());
    for (query, _) in strands {
        let start = joined.bases.len();
        let moved = |partition: &Partition| Partition {
            range: start + partition.range.start..start + partition.range.end,
            full_len: partition.full_len,
            ..Partition::default()
        };
        joined.partitions.extend(query.partitions.iter().map(moved));
        joined.bases.extend_from_slice(&query.bases);
        joined.bases.push(SEPARATOR);
        starts.push(start as u32);
    }
    (joined, starts)
}

impl BulkExtender for SidesAhead {
    fn least_anchors(&self) -> usize {
        1
    }

    fn shares_anchors(&self) -> bool {
        true
    }

    fn open<'a>(&'a self, _: &'a SequenceSet, _: &'a SequenceSet) -> Result<Option<Box<dyn BulkUnit + 'a>>> {
        Ok(Some(Box::new(self)))
    }
}

impl BulkUnit for &SidesAhead {
    fn extend(
        &mut self,
        anchors: &[Anchor],
        _: &(dyn Fn(&Side, &Side) -> bool + Sync),
    ) -> Result<Vec<Option<(Side, Side)>>> {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(anchors.iter().map(|anchor| found.remove(&(anchor.target, anchor.query))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_near_an_earlier_one_are_left_out() {
        let at = |target, query| Anchor { target, query, hsp_score: 0 };
        let anchors = [at(5000, 100), at(6000, 1200), at(6000, 1700), at(7001, 2101), at(7000, 2100)];
        assert_eq!(choose(&anchors), [anchors[0], anchors[2], anchors[3]]);
    }

    #[test]
    fn strands_are_joined_with_their_partitions() {
        let query = SequenceSet::single("q", b"ACGT");
        let empty = SequenceSet::single("e", b"");
        let (joined, starts) = join(&[(&query, &[]), (&empty, &[]), (&query, &[])]);
        assert_eq!((&joined.bases[..], &starts[..]), (&b"\0ACGT\0\0ACGT\0"[..], &[1, 6, 7][..]));
        let ranges: Vec<_> = joined.partitions.iter().map(|partition| partition.range.clone()).collect();
        assert_eq!(ranges, [1..5, 6..6, 7..11]);
    }
}
