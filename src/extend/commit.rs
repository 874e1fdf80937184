//! Anchors to blocks in LASTZ's order, extended in parallel waves (lastz-semantics 4.3, 5.8, 11a).
//!
//! LASTZ takes anchors one by one, and every accepted block confines the later ones. Here a **wave** of anchors is
//! extended in parallel under the bounds known so far; results are then committed strictly in order. A result is used
//! only if it is certain to equal the one that LASTZ gets at that point:
//! 1. no block was accepted since its wave began, or
//! 2. no block accepted since has a row in common with what it explored, or
//! 3. no accepted block at all comes near what it explored, so that bounds cannot matter.
//!
//! Otherwise the anchor opens the next wave. The first anchor of a wave is always usable, so each wave makes progress,
//! and the output does not depend on the size of waves or the number of threads.

use std::collections::HashMap;
use std::ops::ControlFlow;

use rayon::prelude::*;

use super::bounds::AcceptedBlocks;
use super::side::{Direction, Side};
use super::stitch::stitch;
use crate::alignment::{Anchor, Block};
use crate::cpu::ydrop::{SideProblem, Workspace, Ydrop};
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
    /// Most anchors per wave; 1 is LASTZ's own order of work.
    pub wave: usize,
}

/// Counts of a gapped stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct GappedCounts {
    /// Anchors offered.
    pub anchors: u64,
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
        self.covered += other.covered;
        self.extended += other.extended;
        self.rerun += other.rerun;
        self.cells += other.cells;
        self.truncated += other.truncated;
        self.blocks += other.blocks;
    }
}

/// A one-sided run that the traceback memory cut short (5.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Where the extension began.
    pub anchor: Anchor,
    /// Which side was cut.
    pub direction: Direction,
    /// Array positions of the last pair, target and query.
    pub end: (usize, usize),
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

/// Both sides of an anchor, and how many blocks were accepted when they ran.
struct Extension {
    left: Side,
    right: Side,
    accepted_before: usize,
}

thread_local! {
    static WORKSPACE: std::cell::RefCell<Workspace> = std::cell::RefCell::default();
}

impl GappedStage<'_> {
    /// Extends `anchors`, which are in LASTZ's order (4.2). `forced` blocks come first, whatever their score (4.4).
    /// `accepted` sees each block as it is accepted and may stop the stage after it.
    pub fn run(
        &self,
        anchors: &[Anchor],
        forced: Vec<Block>,
        accepted: &mut dyn FnMut(&Block) -> ControlFlow<()>,
    ) -> GappedResult {
        let mut state = Committed::default();
        state.counts.anchors = anchors.len() as u64;
        for block in forced {
            let stop = accepted(&block).is_break();
            state.push(block);
            if stop {
                return state.finish(self.threshold);
            }
        }
        let mut ready: HashMap<usize, Extension> = HashMap::new();
        let mut next = 0;
        while next < anchors.len() {
            let anchor = &anchors[next];
            if state.bounds.covers(anchor) {
                state.counts.covered += 1;
                state.counts.rerun += u64::from(ready.remove(&next).is_some());
                next += 1;
                continue;
            }
            let extension = match ready.remove(&next) {
                Some(extension) if self.is_usable(anchor, &extension, &state.bounds) => extension,
                outdated => {
                    state.counts.rerun += u64::from(outdated.is_some());
                    self.extend_wave(anchors, next, &state, &mut ready);
                    continue;
                }
            };
            next += 1;
            if self.commit(anchor, extension, &mut state, accepted).is_break() {
                break;
            }
        }
        state.finish(self.threshold)
    }

    /// Extends the anchor `first` and up to `wave - 1` later ones that are not ready yet.
    fn extend_wave(&self, anchors: &[Anchor], first: usize, state: &Committed, ready: &mut HashMap<usize, Extension>) {
        let mut chosen = vec![first];
        // Look only so far ahead: results of distant anchors would wait, and most anchors get covered.
        for (ix, anchor) in anchors.iter().enumerate().skip(first + 1).take(self.wave * 64) {
            if chosen.len() >= self.wave {
                break;
            }
            let near = chosen.iter().any(|&other| state.is_likely_covered(anchor, &anchors[other]));
            if !near && !ready.contains_key(&ix) && !state.bounds.covers(anchor) {
                chosen.push(ix);
            }
        }
        let extend = |&ix: &usize| (ix, self.extend(&anchors[ix], &state.bounds));
        if self.wave == 1 {
            ready.extend(chosen.iter().map(extend));
        } else {
            ready.par_extend(chosen.par_iter().with_max_len(1).map(extend));
        }
    }

    fn extend(&self, anchor: &Anchor, bounds: &AcceptedBlocks) -> Extension {
        let run = |direction| {
            let problem = SideProblem { target: self.target, query: self.query, anchor: *anchor, direction };
            let bounds = bounds.side_bounds(anchor, direction);
            // The workspace is taken out for the run: a waiting thread may start another run on the same thread.
            let mut workspace = WORKSPACE.take();
            let side = self.ydrop.run(&problem, bounds, &mut workspace);
            WORKSPACE.set(workspace);
            side
        };
        let (left, right) = if self.wave == 1 {
            (run(Direction::Left), run(Direction::Right))
        } else {
            rayon::join(|| run(Direction::Left), || run(Direction::Right))
        };
        Extension { left, right, accepted_before: bounds.len() }
    }

    fn is_usable(&self, anchor: &Anchor, extension: &Extension, bounds: &AcceptedBlocks) -> bool {
        let before = extension.accepted_before;
        before == bounds.len()
            || [(Direction::Left, &extension.left), (Direction::Right, &extension.right)].iter().all(
                |&(direction, side)| {
                    !bounds.meets_rows(anchor, direction, &side.windows, before)
                        || !bounds.touches(anchor, direction, &side.windows, 0)
                },
            )
    }

    fn commit(
        &self,
        anchor: &Anchor,
        extension: Extension,
        state: &mut Committed,
        accepted: &mut dyn FnMut(&Block) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Extension { left, right, .. } = extension;
        state.counts.extended += 1;
        state.counts.cells += left.cells + right.cells;
        state.note_truncation(anchor, Direction::Left, &left);
        state.note_truncation(anchor, Direction::Right, &right);
        let Some(block) = stitch(anchor, &left, &right, self.target, self.query, self.scoring) else {
            return ControlFlow::Continue(());
        };
        let passes = block.score >= self.threshold && !block.script.is_empty();
        if !passes && (!self.all_bounds || block.script.is_empty()) {
            return ControlFlow::Continue(());
        }
        let flow = if passes { accepted(&block) } else { ControlFlow::Continue(()) };
        state.push(block);
        flow
    }
}

/// What has been accepted so far.
#[derive(Default)]
struct Committed {
    bounds: AcceptedBlocks,
    blocks: Vec<Block>,
    truncations: Vec<Truncation>,
    counts: GappedCounts,
    /// Target bases in all accepted blocks.
    covered_bases: usize,
}

impl Committed {
    fn push(&mut self, block: Block) {
        self.bounds.push(&block);
        self.covered_bases += block.script.target_len();
        self.blocks.push(block);
    }

    /// Whether extending `other` will probably cover `anchor`: they are near each other for the blocks seen so far.
    fn is_likely_covered(&self, anchor: &Anchor, other: &Anchor) -> bool {
        let mean = self.covered_bases / self.blocks.len().max(1);
        let distance = anchor.target.abs_diff(other.target) as usize;
        let diagonal = |a: &Anchor| i64::from(a.target) - i64::from(a.query);
        let drift = diagonal(anchor).abs_diff(diagonal(other)) as usize;
        distance <= 2 * mean.max(1000) && drift <= 200 + distance / 8
    }

    fn note_truncation(&mut self, anchor: &Anchor, direction: Direction, side: &Side) {
        if side.truncated {
            let (rows, columns) = (side.rows as usize, side.columns as usize);
            let (target, query) = (anchor.target as usize, anchor.query as usize);
            let end = match direction {
                Direction::Left => (target + 1 - rows, query + 1 - columns),
                Direction::Right => (target + rows, query + columns),
            };
            self.counts.truncated += 1;
            self.truncations.push(Truncation { anchor: *anchor, direction, end });
        }
    }

    fn finish(mut self, threshold: i64) -> GappedResult {
        let mut blocks: Vec<Option<Block>> = self.blocks.into_iter().map(Some).collect();
        let blocks: Vec<Block> = self
            .bounds
            .output_order()
            .iter()
            .filter_map(|&b| blocks[b as usize].take())
            .filter(|block| block.score >= threshold)
            .collect();
        self.counts.blocks = blocks.len() as u64;
        GappedResult { blocks, truncations: self.truncations, counts: self.counts }
    }
}
