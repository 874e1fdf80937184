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

use std::collections::{BTreeMap, HashMap};
use std::ops::{ControlFlow, Range};

use rayon::prelude::*;

use super::bounds::AcceptedBlocks;
use super::bulk::{BulkExtender, BulkUnit};
use super::screened::{AnchorQueue, has_two_sides};
use super::side::{Direction, Side};
use super::stitch::stitch;
use crate::alignment::{Anchor, Block};
use crate::cpu::ydrop::{SideProblem, Workspace, Ydrop};
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
    /// Most anchors per wave; 1 is LASTZ's own order of work.
    pub wave: usize,
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

/// LASTZ's words: the end is 1-based, the anchor 0-based.
impl std::fmt::Display for Truncation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verb = if self.direction == Direction::Left { "starting" } else { "ending" };
        let (target, query) = (self.end.0 + 1, self.end.1 + 1);
        let Anchor { target: a1, query: a2, .. } = self.anchor;
        write!(f, "truncating alignment {verb} at ({target},{query});  anchor at ({a1},{a2})")
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

/// Both sides of an anchor, and how many blocks were accepted when they ran.
struct Extension {
    left: Side,
    right: Side,
    /// Whether the sides have their scripts; without, the block is known to fail the threshold.
    has_scripts: bool,
    accepted_before: usize,
}

/// The unit on the device that extends in bulk.
struct Bulk<'a> {
    unit: Box<dyn BulkUnit + 'a>,
    /// Anchors before this one have had their turn; what is not ready of them is left to the CPU.
    done: usize,
}

/// Most anchors that a bulk wave extends.
const MOST_BULK: usize = 1 << 15;

thread_local! {
    static WORKSPACE: std::cell::RefCell<Workspace> = std::cell::RefCell::default();
}

impl GappedStage<'_> {
    /// Extends `anchors`, which are in LASTZ's order (4.2). `forced` blocks come first, whatever their score (4.4).
    /// `accepted` sees each other block as it is accepted and may stop the stage after it.
    ///
    /// # Errors
    /// Those of `bulk`.
    pub fn run(
        &self,
        anchors: &[Anchor],
        forced: Vec<Block>,
        accepted: &mut dyn FnMut(&Block) -> ControlFlow<()>,
    ) -> Result<GappedResult> {
        let mut state = Committed::default();
        state.counts.anchors = anchors.len() as u64;
        let (mut queue, mut bulk) = self.screen(anchors)?;
        for block in forced {
            queue.accept(&block, 0);
            state.push(block);
        }
        let mut ready: HashMap<usize, Extension> = HashMap::new();
        let mut waves = WaveSize { size: self.wave.min(2), wasted: 0 };
        let mut next = 0;
        while let Some(ix) = queue.next(next) {
            next = ix;
            (self.progress)(next, anchors.len());
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
                    match &mut bulk {
                        Some(bulk) if next >= bulk.done => self.extend_bulk(&queue, next, bulk, &state, &mut ready)?,
                        _ => {
                            waves.adapt(state.counts.rerun, self.wave);
                            let ahead = bulk.as_ref().map_or(anchors.len(), |bulk| bulk.done);
                            self.extend_wave(&queue, next..ahead, waves.size, &state, &mut ready);
                        }
                    }
                    continue;
                }
            };
            next += 1;
            let n_blocks = state.blocks.len();
            let flow = self.commit(anchor, extension, &mut state, accepted);
            state.blocks[n_blocks..].iter().for_each(|block| queue.accept(block, next));
            if flow.is_break() {
                break;
            }
        }
        state.counts.screened = queue.n_dropped() as u64;
        (self.progress)(anchors.len(), anchors.len());
        Ok(state.finish(self.threshold))
    }

    /// Drops the anchors that cannot become blocks, if there are enough to make that worth while. Opens the unit on the
    /// device for the rest, likewise.
    fn screen<'q>(&self, anchors: &'q [Anchor]) -> Result<(AnchorQueue<'q>, Option<Bulk<'_>>)> {
        let mut queue = AnchorQueue::new(anchors);
        let Some(bulk) = self.bulk else { return Ok((queue, None)) };
        // An HSP that reaches the threshold makes its anchor pass.
        let is_doubtful = |anchor: &Anchor| {
            i64::from(anchor.hsp_score) < self.threshold
                && has_two_sides(self.target, self.query, &self.scoring.gapped, self.ydrop.y_drop(), anchor)
        };
        let doubtful: Vec<usize> = match self.all_bounds || anchors.len() < bulk.least_screened() {
            true => Vec::new(),
            false => (0..anchors.len()).into_par_iter().filter(|&ix| is_doubtful(&anchors[ix])).collect(),
        };
        let is_worth_while = doubtful.len() >= bulk.least_screened().max(1);
        if !is_worth_while && anchors.len() < bulk.least_anchors() {
            return Ok((queue, None));
        }
        let Some(mut unit) = bulk.open(self.target, self.query)? else { return Ok((queue, None)) };
        if is_worth_while {
            let positions: Vec<Anchor> = doubtful.iter().map(|&ix| anchors[ix]).collect();
            let hopeless = unit.screen(&positions, self.threshold)?;
            queue.drop_all(doubtful.into_iter().zip(hopeless).filter(|&(_, hopeless)| hopeless).map(|(ix, _)| ix));
        }
        let bulk = (queue.n_open() >= bulk.least_anchors()).then_some(Bulk { unit, done: 0 });
        Ok((queue, bulk))
    }

    /// Extends the anchor at the start of `places` and up to `wave - 1` later ones there that are not ready yet, or
    /// outdated.
    fn extend_wave(
        &self,
        queue: &AnchorQueue,
        places: Range<usize>,
        wave: usize,
        state: &Committed,
        ready: &mut HashMap<usize, Extension>,
    ) {
        let anchors = queue.anchors();
        let mut chosen = vec![places.start];
        // Look only so far ahead: results of distant anchors would wait, and most anchors get covered.
        let later = queue.iter_from(places.start + 1).take_while(|(ix, _)| *ix < places.end);
        for (ix, anchor) in later.take(wave * 64) {
            if chosen.len() >= wave {
                break;
            }
            let near = chosen.iter().any(|&other| state.is_likely_covered(anchor, &anchors[other]));
            let is_ready = |extension: &Extension| self.is_usable(anchor, extension, &state.bounds);
            if !near && !ready.get(&ix).is_some_and(is_ready) && !state.bounds.covers(anchor) {
                chosen.push(ix);
            }
        }
        let extend = |&ix: &usize| (ix, self.extend(&anchors[ix], &state.bounds));
        if wave == 1 {
            ready.extend(chosen.iter().map(extend));
        } else {
            ready.par_extend(chosen.par_iter().with_max_len(1).map(extend));
        }
    }

    /// Extends the anchor `first` and many later ones off the CPU.
    fn extend_bulk(
        &self,
        queue: &AnchorQueue,
        first: usize,
        bulk: &mut Bulk,
        state: &Committed,
        ready: &mut HashMap<usize, Extension>,
    ) -> Result<()> {
        let mut chosen = Vec::new();
        let mut positions: Vec<Anchor> = Vec::new();
        // By target position, to look up what is near.
        let mut by_target: BTreeMap<(u32, u32), Anchor> = BTreeMap::new();
        let mut end = first;
        for (ix, anchor) in queue.iter_from(first) {
            if chosen.len() >= MOST_BULK {
                break;
            }
            end = ix + 1;
            let reach = state.likely_reach() as u32;
            let near = (anchor.target.saturating_sub(reach), 0)..=(anchor.target.saturating_add(reach), u32::MAX);
            let is_first = ix == first;
            let is_near = || by_target.range(near).any(|(_, other)| state.is_likely_covered(anchor, other));
            if is_first || (!state.bounds.covers(anchor) && !is_near()) {
                chosen.push(ix);
                positions.push(*anchor);
                by_target.insert((anchor.target, anchor.query), *anchor);
            }
        }
        bulk.done = end;
        // A side without a column may leave a gap at the end of the block, whose score then rises (5.5).
        let is_empty = |side: &Side| side.rows == 0 && side.columns == 0;
        let wants_script = |left: &Side, right: &Side| {
            self.all_bounds || left.score + right.score >= self.threshold || is_empty(left) || is_empty(right)
        };
        let extended = bulk.unit.extend(&positions, &wants_script)?;
        for (ix, sides) in chosen.into_iter().zip(extended) {
            let Some((left, right)) = sides else { continue };
            let has_scripts = wants_script(&left, &right);
            ready.insert(ix, Extension { left, right, has_scripts, accepted_before: 0 });
        }
        Ok(())
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
        Extension { left, right, has_scripts: true, accepted_before: bounds.len() }
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
        let Extension { left, right, has_scripts, .. } = extension;
        state.counts.extended += 1;
        state.counts.cells += left.cells + right.cells;
        state.note_truncation(anchor, Direction::Left, &left);
        state.note_truncation(anchor, Direction::Right, &right);
        if !has_scripts {
            return ControlFlow::Continue(());
        }
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

/// How many anchors to extend at once: more while their results get used, fewer when they are thrown away.
struct WaveSize {
    size: usize,
    /// Extensions thrown away up to the last wave.
    wasted: u64,
}

impl WaveSize {
    fn adapt(&mut self, wasted: u64, most: usize) {
        let last = wasted - std::mem::replace(&mut self.wasted, wasted);
        self.size = if last > 0 { (self.size / 2).max(1) } else { (self.size * 2).min(most) };
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

    /// How far along the target a block probably reaches from its anchor: twice the mean of those accepted.
    fn likely_reach(&self) -> usize {
        2 * (self.covered_bases / self.blocks.len().max(1)).max(1000)
    }

    /// Whether extending `other` will probably cover `anchor`: they are near each other for the blocks seen so far.
    fn is_likely_covered(&self, anchor: &Anchor, other: &Anchor) -> bool {
        let distance = anchor.target.abs_diff(other.target) as usize;
        let diagonal = |a: &Anchor| i64::from(a.target) - i64::from(a.query);
        let drift = diagonal(anchor).abs_diff(diagonal(other)) as usize;
        distance <= self.likely_reach() && drift <= 200 + distance / 8
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
