//! FastZ's own contract (`--relaxed`): every anchor is extended alone, and anchors on an accepted block are skipped.
//!
//! **One side of an anchor.** Rows are target bases away from the anchor, columns are query bases; C, D, I, ties and
//! row 0 are LASTZ's (lastz-semantics 5.2), so a gap opens only from a diagonal cell, or from row 0. What differs is
//! pruning. Rows 1 to [`STRIPE_ROWS`] are stripe 1, and so on. Over the whole stripe
//! ```text
//! T = best - Y      best: the greatest diagonal cell of all earlier stripes, and 0
//! ```
//! and in every row divisible by [`PRUNE_ROWS`] the cells with C < T die: they have no C, D and I. No other cell dies,
//! and nothing else ends a row or a column, but the ends of the two sequences. The run ends with the last row that has
//! a living cell. Its end is the greatest diagonal cell, the last one in row-major order among equals, as in LASTZ.
//!
//! LASTZ prunes in every row, and by the best cell of this very moment, which is never below the best of the earlier
//! stripes: with the value that a cell dies of here, it dies in LASTZ too. So a run looks at more cells than LASTZ, and
//! mostly finds the same or a longer path; but a cell which lives only here can stand in the way of a gap opening (C = D >
//! P) that LASTZ makes. What LASTZ opens from an insertion past the edge of the row above (5.4) is not opened here.
//!
//! The definition knows neither windows nor lanes: any way to evaluate the cells that can matter gives the same answer,
//! so the answer does not depend on the device, the number of lanes or the height of what they sweep at a time.
//!
//! **The screen** (`screened.rs`) drops anchors here too, for good: no block bounds or masks a run, so none comes back. Its
//! bound M has the standard recurrence, in which a gap may open from any cell, and sees all cells on paths whose cells are
//! all at or above `-Y'`. It is an upper bound here with
//! ```text
//! Y' = Y + open + (PRUNE_ROWS - 1) max      max: the most that a pair scores, at least 0
//! ```
//! Proof. T >= -Y always. Let the cells of M die in rows divisible by [`PRUNE_ROWS`] if they are below -Y: by induction,
//! what lives here lives there, with a value that is not lower. Take a best path of M to its best cell. In a row in which
//! cells die its cells are at or above -Y; the path itself may be in a gap that is lower, but not below -Y - open, or one
//! that opens there would be better. From k rows above such a row, k < [`PRUNE_ROWS`], a path gains k max at most, and the
//! best cell is at or above 0: so all cells of the path are at or above -Y'. That a dropped anchor has no empty side is
//! proved in `screened.rs`: the first [`STRIPE_ROWS`] rows are pruned by T = -Y, and the pairs that are looked at stay
//! above that.
//!
//! **Anchors to blocks.** In LASTZ's order (4.2); no block bounds another one, and no traceback memory cuts a run. An
//! anchor on an accepted block (4.3) is skipped. So an extension depends on its anchor alone, and anchors can be
//! extended in any order and number ahead: the output is the same.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::bounds::AcceptedBlocks;
use super::bulk::{BulkExtender, BulkUnit, wants_script};
use super::commit::{Committed, GappedResult, GappedStage, OnAccept};
use super::screened::AnchorQueue;
use super::side::{Direction, Side};
use super::stitch::stitch;
use crate::alignment::{Anchor, Block};
use crate::cpu::ydrop::{SideProblem, Workspace};
use crate::error::Result;

/// Rows that share one threshold.
pub const STRIPE_ROWS: usize = 256;
/// Cells die in rows divisible by this.
pub const PRUNE_ROWS: usize = 8;

/// An extended anchor: its block, unless that is empty or known to fail the threshold.
struct Extended {
    block: Option<Block>,
    cells: u64,
}

/// How many anchors to extend at once: more while few of them turn out to be covered.
struct WaveSize {
    size: usize,
    least: usize,
    most: usize,
    /// Extended anchors that were covered, up to the last wave.
    wasted: u64,
    /// Which of [`NEIGHBOURHOODS`] the next wave spares.
    neighbourhood: usize,
}

/// Wave sizes on a device, whose latency counts, ...
const BULK_WAVES: (usize, usize) = (1 << 12, 1 << 17);
/// ... and on the CPU, per thread.
const CPU_WAVES: (usize, usize) = (2, 256);
/// A wave looks this many anchors ahead for each one that it extends.
const LOOK_AHEAD: usize = 64;
/// Of near anchors, which often share a block, a wave extends the first: one in so many rows and diagonals, as powers of
/// two. Waves that do not fill get smaller neighbourhoods: anchors in repeats have blocks of their own.
const NEIGHBOURHOODS: [(u32, u32); 4] = [(13, 10), (11, 8), (9, 6), (7, 4)];
/// Waves smaller than this, per thread, are faster on the CPU, if that may share the work.
const SMALL_WAVE: usize = 4;

thread_local! {
    static WORKSPACE: std::cell::RefCell<Workspace> = std::cell::RefCell::default();
}

impl GappedStage<'_> {
    /// As [`run`](Self::run), by the relaxed contract. Nothing depends on `look_ahead`.
    ///
    /// # Errors
    /// Those of `bulk`.
    pub fn run_relaxed(
        &self,
        anchors: &[Anchor],
        forced: Vec<Block>,
        on_accept: &mut OnAccept,
    ) -> Result<GappedResult> {
        // Looked up for what they cover; they bound nothing.
        let accepted = AcceptedBlocks::default();
        let mut committed = Committed::new(&accepted, anchors.len());
        forced.into_iter().for_each(|block| committed.push(block));
        let (queue, mut bulk) = self.screen(anchors, 1)?;
        committed.counts.screened = queue.n_dropped() as u64;
        let mut waves = WaveSize::new(bulk.is_some());
        let mut ready: HashMap<usize, Extended> = HashMap::new();
        let mut next = queue.next(0);
        while let Some(ix) = next {
            (self.progress)(ix, anchors.len());
            if accepted.covers(&anchors[ix]) {
                committed.counts.covered += 1;
                committed.counts.rerun += u64::from(ready.remove(&ix).is_some());
                next = queue.next(ix + 1);
                continue;
            }
            let Some(extended) = ready.remove(&ix) else {
                waves.adapt(committed.counts.rerun);
                let chosen = choose(&queue, ix, &waves, &accepted, &ready);
                waves.refine(chosen.len());
                let extended = self.extend_wave(anchors, &chosen, bulk.as_deref_mut())?;
                ready.extend(chosen.into_iter().zip(extended));
                continue;
            };
            next = queue.next(ix + 1);
            committed.counts.extended += 1;
            committed.counts.cells += extended.cells;
            let Some(block) = extended.block else { continue };
            let flow = on_accept(&block);
            committed.push(block);
            if flow.is_break() {
                break;
            }
        }
        (self.progress)(anchors.len(), anchors.len());
        Ok(committed.finish(self.threshold))
    }

    /// Extends the anchors `chosen`, on the device where it can.
    fn extend_wave(
        &self,
        anchors: &[Anchor],
        chosen: &[usize],
        bulk: Option<&mut (dyn BulkUnit + '_)>,
    ) -> Result<Vec<Extended>> {
        let positions: Vec<Anchor> = chosen.iter().map(|&ix| anchors[ix]).collect();
        let is_small = chosen.len() < SMALL_WAVE * rayon::current_num_threads();
        let may_pass = wants_script(self.all_bounds, self.threshold);
        let sides = match bulk {
            Some(unit) if !(is_small && self.bulk.is_some_and(BulkExtender::shares_anchors)) => {
                unit.extend(&positions, &may_pass)?
            }
            _ => vec![None; positions.len()],
        };
        let extend = |(anchor, sides): (&Anchor, Option<(Side, Side)>)| {
            let (left, right) = sides.unwrap_or_else(|| self.extend_relaxed(anchor));
            let cells = left.cells + right.cells;
            // The device gives scripts to these only.
            let block = may_pass(&left, &right)
                .then(|| stitch(anchor, &left, &right, self.target, self.query, self.scoring))
                .flatten()
                .filter(|block| self.keeps(block));
            Extended { block, cells }
        };
        Ok(positions.par_iter().zip(sides).with_max_len(16).map(extend).collect())
    }

    /// Both sides of an anchor, on the CPU.
    fn extend_relaxed(&self, anchor: &Anchor) -> (Side, Side) {
        let run = |direction| {
            let problem = SideProblem { target: self.target, query: self.query, anchor: *anchor, direction };
            // The workspace is taken out for the run: a waiting thread may start another run on the same thread.
            let mut workspace = WORKSPACE.take();
            let side = self.ydrop.run_relaxed(&problem, &mut workspace);
            WORKSPACE.set(workspace);
            side
        };
        rayon::join(|| run(Direction::Left), || run(Direction::Right))
    }
}

/// The anchor `first`, and later ones that are probably on no block of an earlier one, as many as a wave takes.
fn choose(
    queue: &AnchorQueue,
    first: usize,
    waves: &WaveSize,
    accepted: &AcceptedBlocks,
    ready: &HashMap<usize, Extended>,
) -> Vec<usize> {
    // What will be accepted of those that are extended, as far as it is known.
    let expected = accepted.clone();
    let (rows, diagonals) = NEIGHBOURHOODS[waves.neighbourhood];
    let mut neighbourhoods = HashSet::new();
    let mut is_far = |anchor: &Anchor| {
        let diagonal = i64::from(anchor.target) - i64::from(anchor.query);
        neighbourhoods.insert((anchor.target >> rows, diagonal >> diagonals))
    };
    let mut chosen = Vec::new();
    for (ix, anchor) in queue.iter_from(first).take(waves.size.saturating_mul(LOOK_AHEAD)) {
        if expected.covers(anchor) {
            continue;
        }
        match ready.get(&ix) {
            Some(Extended { block: Some(block), .. }) => expected.push(block),
            Some(_) => {}
            None if is_far(anchor) => chosen.push(ix),
            None => {}
        }
        if chosen.len() == waves.size {
            break;
        }
    }
    chosen
}

impl WaveSize {
    fn new(is_bulk: bool) -> WaveSize {
        let threads = rayon::current_num_threads();
        let (least, most) = match is_bulk {
            true => BULK_WAVES,
            false if threads == 1 => (1, 1),
            false => (CPU_WAVES.0 * threads, CPU_WAVES.1 * threads),
        };
        WaveSize { size: least, least, most, wasted: 0, neighbourhood: 0 }
    }

    /// After a wave of `n` anchors.
    fn refine(&mut self, n: usize) {
        self.neighbourhood = match n < self.least {
            true => (self.neighbourhood + 1).min(NEIGHBOURHOODS.len() - 1),
            false => self.neighbourhood.saturating_sub(1),
        };
    }

    fn adapt(&mut self, wasted: u64) {
        let last = (wasted - std::mem::replace(&mut self.wasted, wasted)) as usize;
        let size = if last > self.size / 2 { self.size / 2 } else { self.size * 2 };
        self.size = size.clamp(self.least, self.most);
    }
}
