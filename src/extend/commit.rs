//! Anchors to blocks in LASTZ's order (lastz-semantics 4.3, 5.8).
//!
//! LASTZ takes anchors one by one, and every accepted block confines the later ones. Here extensions run ahead of their
//! turn (`ahead.rs`), under the blocks accepted so far; results are committed strictly in order, and a result is used
//! only if it still holds (`Extension::holds`). Otherwise the anchor is extended again.

use std::ops::ControlFlow;

use super::ahead::{LookAhead, Schedule};
use super::bounds::{AcceptedBlocks, Confiners};
use super::bulk::{BulkExtender, BulkUnit};
use super::extension::{Extension, Truncation};
use super::screened::{AnchorQueue, ScreenTask};
use super::side::{Direction, Side};
use crate::alignment::{Anchor, Block};
use crate::cpu::ydrop::{RunWatch, SideProblem, Workspace, Ydrop};
use crate::error::Result;
use crate::scoring::Scoring;
use crate::sequence::SequenceSet;

/// Gapped extension of the anchors of one unit: target x query sequence x strand.
pub struct GappedStage<'a> {
    /// The target array.
    pub target: &'a SequenceSet,
    /// The query array of the searched strand.
    pub query: &'a SequenceSet,
    /// Scores.
    pub scoring: &'a Scoring,
    /// The engine.
    pub ydrop: &'a Ydrop,
    /// L: least score of a block.
    pub threshold: i64,
    /// Whether rejected blocks bound and cover too (`--allgappedbounds`).
    pub all_bounds: bool,
    /// How far to run ahead, in the current thread pool; `None` is LASTZ's own order of work.
    pub look_ahead: Option<&'a LookAhead>,
    /// Extends many anchors at once, off the CPU. Its runs know no bounds: what accepted blocks touch is run again.
    pub bulk: Option<&'a dyn BulkExtender>,
    /// Told how many anchors are done, out of all.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// Counts of a gapped stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct GappedCounts {
    /// Anchors offered.
    pub anchors: u64,
    /// Anchors dropped because no block of theirs can reach the threshold; they are in no other count below.
    pub screened: u64,
    /// Anchors on an accepted block.
    pub covered: u64,
    /// Anchors extended and committed.
    pub extended: u64,
    /// Extensions thrown away because a later commit touched or covered them.
    pub rerun: u64,
    /// Cells of the committed extensions, as LASTZ counts them.
    pub cells: u64,
    /// One-sided runs cut by the traceback memory.
    pub truncated: u64,
    /// Blocks accepted.
    pub blocks: u64,
}

impl std::ops::AddAssign for GappedCounts {
    fn add_assign(&mut self, other: Self) {
        self.anchors += other.anchors;
        self.screened += other.screened;
        self.covered += other.covered;
        self.extended += other.extended;
        self.rerun += other.rerun;
        self.cells += other.cells;
        self.truncated += other.truncated;
        self.blocks += other.blocks;
    }
}

/// What a gapped stage leaves.
#[derive(Clone, Debug, Default)]
pub struct GappedResult {
    /// Accepted blocks in LASTZ's output order (6.1).
    pub blocks: Vec<Block>,
    /// Cut runs in order of commitment.
    pub truncations: Vec<Truncation>,
    /// Counts.
    pub counts: GappedCounts,
}

/// Sees each block that confines later ones, below the threshold or not, and may stop the stage after it.
pub type OnAccept<'a> = dyn FnMut(&Block) -> ControlFlow<()> + Send + 'a;

thread_local! {
    static WORKSPACE: std::cell::RefCell<Workspace> = std::cell::RefCell::default();
}

impl GappedStage<'_> {
    /// Extends `anchors`, which are in LASTZ's order (4.2). `forced` blocks come first, whatever their score (4.4).
    ///
    /// # Errors
    /// Those of `bulk`.
    pub fn run(&self, anchors: &[Anchor], forced: Vec<Block>, on_accept: &mut OnAccept) -> Result<GappedResult> {
        // What a screen leaves holds long runs besides.
        let (mut queue, unit) = self.screen(anchors, 8)?;
        let accepted = AcceptedBlocks::default();
        let mut committed = Committed::new(&accepted, anchors.len());
        for block in forced {
            queue.accept(&block, 0);
            committed.push(block);
        }
        Schedule::new(self, queue, committed, on_accept, unit).run()
    }

    /// Drops the anchors that cannot become blocks. Opens the unit on the device if that is worth while for the rest, of
    /// which one in `left_per_extended` will be extended.
    pub(super) fn screen<'q>(
        &self,
        anchors: &'q [Anchor],
        left_per_extended: usize,
    ) -> Result<(AnchorQueue<'q>, Option<Box<dyn BulkUnit + '_>>)> {
        let screen = ScreenTask {
            target: self.target,
            query: self.query,
            matrix: &self.scoring.gapped,
            y_drop: self.ydrop.y_drop(),
            threshold: self.threshold,
            all_bounds: self.all_bounds,
            bulk: self.bulk,
            left_per_extended,
        };
        screen.run(anchors)
    }

    /// Extends one anchor under the blocks accepted so far.
    pub(super) fn extend(&self, anchor: &Anchor, accepted: &AcceptedBlocks) -> Extension {
        let confiners = accepted.confiners();
        let [left, right] = [Direction::Left, Direction::Right]
            .map(|d| self.extend_side(anchor, d, accepted, &confiners, &RunWatch::default()));
        Extension::new(self, anchor, (left, right), true, (accepted, confiners))
    }

    /// Extends one side of an anchor under these blocks.
    pub(super) fn extend_side(
        &self,
        anchor: &Anchor,
        direction: Direction,
        accepted: &AcceptedBlocks,
        confiners: &Confiners,
        watch: &RunWatch,
    ) -> Side {
        let problem = SideProblem { target: self.target, query: self.query, anchor: *anchor, direction };
        let bounds = accepted.side_bounds(anchor, direction, confiners);
        WORKSPACE.with_borrow_mut(|workspace| self.ydrop.run_watched(&problem, bounds, workspace, watch))
    }

    /// Target rows and diagonals within which the blocks of two anchors probably confine each other: most sides look at
    /// some more columns than the longest gap that survives, and at several times as many rows.
    pub(super) fn likely_look(&self) -> (u32, u32) {
        let longest_gap = self.ydrop.y_drop().max(0) as u32 / self.scoring.gap_extend.max(1) as u32;
        (longest_gap.saturating_mul(5), longest_gap.saturating_add(longest_gap / 4))
    }

    /// Whether a block is accepted, if only to bound and cover others.
    pub(super) fn keeps(&self, block: &Block) -> bool {
        (block.score >= self.threshold || self.all_bounds) && !block.script.is_empty()
    }
}

/// Target bases and diagonals between two anchors.
fn distance_and_drift(a: &Anchor, b: &Anchor) -> (usize, usize) {
    let diagonal = |anchor: &Anchor| i64::from(anchor.target) - i64::from(anchor.query);
    (a.target.abs_diff(b.target) as usize, diagonal(a).abs_diff(diagonal(b)) as usize)
}

/// How far a block is taken to reach before any was accepted.
const FIRST_REACH: usize = 20_000;

/// What has been accepted so far.
pub(super) struct Committed<'a> {
    pub accepted: &'a AcceptedBlocks,
    pub counts: GappedCounts,
    blocks: Vec<Block>,
    truncations: Vec<Truncation>,
    /// Target bases in all accepted blocks.
    covered_bases: usize,
}

impl<'a> Committed<'a> {
    pub fn new(accepted: &'a AcceptedBlocks, n_anchors: usize) -> Self {
        let counts = GappedCounts { anchors: n_anchors as u64, ..GappedCounts::default() };
        Committed { accepted, counts, blocks: Vec::new(), truncations: Vec::new(), covered_bases: 0 }
    }

    pub fn push(&mut self, block: Block) {
        self.accepted.push(&block);
        self.covered_bases += block.script.target_len();
        self.blocks.push(block);
    }

    /// Takes an extension whose turn has come. Returns the block if it was accepted, and whether to go on.
    pub fn commit(&mut self, extension: Extension, on_accept: &mut OnAccept) -> (Option<&Block>, ControlFlow<()>) {
        self.counts.extended += 1;
        self.counts.cells += extension.cells;
        self.counts.truncated += extension.truncations.len() as u64;
        self.truncations.extend(extension.truncations);
        let Some(block) = extension.block else { return (None, ControlFlow::Continue(())) };
        let flow = on_accept(&block);
        self.push(block);
        (self.blocks.last(), flow)
    }

    /// How far along the target a block probably reaches from its anchor: twice the mean of those accepted.
    pub fn likely_reach(&self) -> usize {
        match self.blocks.len() {
            0 => FIRST_REACH,
            n => 2 * (self.covered_bases / n).max(1000),
        }
    }

    /// Whether extending `other` will probably cover `anchor`: it is within `reach`, and near its diagonal.
    pub fn is_likely_covered(anchor: &Anchor, other: &Anchor, reach: usize) -> bool {
        let (distance, drift) = distance_and_drift(anchor, other);
        distance <= reach && drift <= 200 + distance / 8
    }

    /// Whether a block through both would not need unusual gaps.
    pub fn may_cover(anchor: &Anchor, other: &Anchor) -> bool {
        let (distance, drift) = distance_and_drift(anchor, other);
        drift <= 1000 + distance / 2
    }

    pub fn finish(mut self, threshold: i64) -> GappedResult {
        let mut blocks: Vec<Option<Block>> = self.blocks.into_iter().map(Some).collect();
        let blocks: Vec<Block> = self
            .accepted
            .output_order()
            .iter()
            .filter_map(|&b| blocks[b as usize].take())
            .filter(|block| block.score >= threshold)
            .collect();
        self.counts.blocks = blocks.len() as u64;
        GappedResult { blocks, truncations: self.truncations, counts: self.counts }
    }
}
