//! A bulk engine on the CPU, to test what the gapped stage does with one.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use fastz::cpu::Ydrop;
use fastz::cpu::ydrop::SideProblem;
use fastz::extend::bounds::{AcceptedBlocks, Confiners};
use fastz::extend::{BoundedAnchor, BulkExtender, BulkUnit, Direction, Side};
use fastz::{Anchor, SequenceSet};

/// A bulk engine on the CPU, which leaves every fifth anchor to the stage.
pub struct CpuBulk {
    ydrop: Ydrop,
    shares_anchors: bool,
    takes_bounded: bool,
    /// How often it will still say that it is not ready.
    pub unready: AtomicUsize,
    /// Anchors that it was given.
    pub given: AtomicUsize,
    /// Those of them beside blocks.
    pub given_bounded: AtomicUsize,
}

impl CpuBulk {
    pub fn new(ydrop: &Ydrop, shares_anchors: bool, takes_bounded: bool) -> CpuBulk {
        let ydrop = ydrop.clone();
        let [unready, given, given_bounded] = Default::default();
        CpuBulk { ydrop, shares_anchors, takes_bounded, unready, given, given_bounded }
    }
}

impl BulkExtender for CpuBulk {
    fn least_anchors(&self) -> usize {
        1
    }

    fn shares_anchors(&self) -> bool {
        self.shares_anchors
    }

    fn takes_bounded(&self) -> bool {
        self.takes_bounded
    }

    fn get_ready(&self) -> bool {
        self.unready.fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1)).is_err()
    }

    fn open<'a>(
        &'a self,
        target: &'a SequenceSet,
        query: &'a SequenceSet,
    ) -> fastz::error::Result<Option<Box<dyn BulkUnit + 'a>>> {
        Ok(Some(Box::new(CpuUnit { bulk: self, target, query })))
    }
}

struct CpuUnit<'a> {
    bulk: &'a CpuBulk,
    target: &'a SequenceSet,
    query: &'a SequenceSet,
}

impl CpuUnit<'_> {
    fn run(
        &self,
        anchor: &Anchor,
        blocks: Option<(&AcceptedBlocks, &Confiners)>,
        wants_script: &WantsScript,
    ) -> (Side, Side) {
        let mut workspace = Default::default();
        let mut side = |direction| {
            let problem = SideProblem { target: self.target, query: self.query, anchor: *anchor, direction };
            let bounds = blocks.and_then(|(accepted, confiners)| accepted.side_bounds(anchor, direction, confiners));
            self.bulk.ydrop.run(&problem, bounds, &mut workspace)
        };
        let (mut left, mut right) = (side(Direction::Left), side(Direction::Right));
        if !wants_script(&left, &right) {
            (left.script, right.script) = Default::default();
        }
        (left, right)
    }
}

type WantsScript<'a> = dyn Fn(&Side, &Side) -> bool + Sync + 'a;

impl BulkUnit for CpuUnit<'_> {
    fn extend(
        &mut self,
        anchors: &[Anchor],
        wants_script: &WantsScript,
    ) -> fastz::error::Result<Vec<Option<(Side, Side)>>> {
        self.bulk.given.fetch_add(anchors.len(), Relaxed);
        let run = |(ix, anchor): (usize, &Anchor)| (ix % 5 != 4).then(|| self.run(anchor, None, wants_script));
        Ok(anchors.iter().enumerate().map(run).collect())
    }

    fn extend_bounded(
        &mut self,
        anchors: &[BoundedAnchor],
        accepted: &AcceptedBlocks,
        wants_script: &WantsScript,
    ) -> fastz::error::Result<Vec<Option<(Side, Side)>>> {
        self.bulk.given.fetch_add(anchors.len(), Relaxed);
        self.bulk.given_bounded.fetch_add(anchors.len(), Relaxed);
        let run = |(ix, bounded): (usize, &BoundedAnchor)| {
            (ix % 5 != 4).then(|| self.run(&bounded.anchor, Some((accepted, &bounded.confiners)), wants_script))
        };
        Ok(anchors.iter().enumerate().map(run).collect())
    }
}
