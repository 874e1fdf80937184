//! Waves of anchors that a bulk engine extends while others run ahead.

use std::sync::{MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use super::ahead::{LookAhead, Schedule, State};
use super::bounds::Confiners;
use super::bulk::{BoundedAnchor, BulkExtender, BulkUnit, wants_script};
use super::extension::{Expected, Extension};
use super::pending::Progress;
use super::side::Side;
use super::tasks::Outcome;
use crate::alignment::Anchor;
use crate::error::Result;

/// Anchors for a bulk engine.
#[derive(Default)]
pub(super) struct Wave {
    /// Those far from accepted blocks.
    pub plain: Vec<usize>,
    /// Those beside blocks.
    pub bounded: Vec<Beside>,
}

/// An anchor beside blocks.
pub(super) struct Beside {
    ix: usize,
    /// Rows that its sides will probably look at.
    likely_rows: [u32; 2],
    expected: Expected,
}

impl Wave {
    fn len(&self) -> usize {
        self.plain.len() + self.bounded.len()
    }
}

/// Sides of anchors that a bulk engine was given, and the blocks that they ran under; `None` where it left them to the CPU.
pub(super) type BulkSides = Vec<(usize, Confiners, Option<(Side, Side)>)>;

/// The same, joined.
pub(super) type JoinedSides = Vec<(usize, Option<Box<Extension>>)>;

/// Most anchors that a bulk wave extends: so many that a device has enough to do, and so few that what they find is soon
/// known when the next are chosen.
const MOST_BULK: usize = 1 << 13;
/// Most of them that accepted blocks confine: their limits take memory, 16 bytes a row.
const MOST_BOUNDED: usize = 1 << 11;
/// Fewer of them are left to the CPU, if it may take any.
const LEAST_BOUNDED: usize = 1 << 8;
/// Anchors that are looked at once more for a wave at most: whoever commits waits meanwhile.
const MOST_AGAIN: usize = 1 << 12;
/// Rows that a side beside accepted blocks probably looks at, if it has not been run yet.
const LIKELY_ROWS: [u32; 2] = [1 << 11; 2];
/// Anchors of a wave whose sides are joined in one task.
const JOINED: usize = 512;
/// Anchors under way or waiting for their turn from which on no wave begins.
pub(super) const MOST_PENDING: usize = 1 << 15;

/// Where a panic unwinds, the stage may never come to its end: so the thread for waves must not wait for that.
pub(super) struct EndWavesOnPanic<'s, 'r, 'a>(pub &'s Schedule<'r, 'a>);

impl Drop for EndWavesOnPanic<'_, '_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.waves().take();
        }
    }
}

impl<'r> Schedule<'r, '_> {
    /// Runs the stage, its waves on a thread of their own: a wave mostly waits for the device, and would keep a thread of
    /// the pool from work. The present thread works in the pool until there are no more waves.
    pub(super) fn run_with_waves<'s>(&'s self, scope: &rayon::ScopeFifo<'s>, look_ahead: &'s LookAhead) {
        let (sender, receiver) = mpsc::channel();
        *self.waves() = Some(sender);
        std::thread::scope(|threads| {
            let _watch = EndWavesOnPanic(self);
            let waves = threads.spawn(|| receiver.into_iter().for_each(|wave| self.run_wave(wave)));
            self.tell(scope, look_ahead, Outcome::Nothing);
            while !waves.is_finished() {
                self.attend(scope, look_ahead);
                if rayon::yield_now() != Some(rayon::Yield::Executed) {
                    std::thread::sleep(Duration::from_micros(500));
                }
            }
        });
    }

    /// Extends a bulk wave. What this thread would start in the pool would wait for long: the pool's threads prefer what
    /// they have started themselves. So it leaves everything in the inbox.
    fn run_wave(&self, wave: Wave) {
        // Those beside accepted blocks have the earlier turns.
        self.leave(self.extend_bounded(&wave.bounded));
        self.leave(self.extend_plain(&wave.plain));
        self.inbox().push(Outcome::WaveOver);
    }

    /// Leaves what the bulk engine found in the inbox, for several to join.
    fn leave(&self, extended: Result<BulkSides>) {
        let mut inbox = self.inbox();
        match extended {
            Ok(sides) => {
                let mut sides = sides.into_iter();
                inbox.extend(std::iter::from_fn(|| {
                    let part: BulkSides = sides.by_ref().take(JOINED).collect();
                    (!part.is_empty()).then_some(Outcome::Sides(part))
                }));
            }
            Err(error) => inbox.push(Outcome::Failed(error)),
        }
    }

    /// Gives the next wave to the thread for waves.
    pub(super) fn start_wave(&self, state: &mut State) {
        let wave = self.choose_bulk(state);
        if wave.len() > 0
            && let Some(waves) = &*self.waves()
        {
            state.bulk_running = true;
            // The receiver waits as long as there is a sender.
            let _ = waves.send(wave);
        }
    }

    pub(super) fn waves(&self) -> MutexGuard<'_, Option<mpsc::Sender<Wave>>> {
        self.waves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Extends these anchors off the CPU, without bounds.
    pub(super) fn extend_plain(&self, chosen: &[usize]) -> Result<BulkSides> {
        if chosen.is_empty() {
            return Ok(BulkSides::default());
        }
        let anchors: Vec<Anchor> = chosen.iter().map(|&ix| self.anchors[ix]).collect();
        let wants_script = wants_script(self.stage.all_bounds, self.stage.threshold);
        let extended = self.unit().extend(&anchors, &wants_script)?;
        Ok(chosen.iter().zip(extended).map(|(&ix, sides)| (ix, Confiners::default(), sides)).collect())
    }

    /// Extends these anchors off the CPU, under the blocks accepted so far and those expected.
    pub(super) fn extend_bounded(&self, chosen: &[Beside]) -> Result<BulkSides> {
        if chosen.is_empty() {
            return Ok(BulkSides::default());
        }
        let bounded = |beside: &Beside| BoundedAnchor {
            anchor: self.anchors[beside.ix],
            likely_rows: beside.likely_rows,
            confiners: beside.expected.confiners(self.accepted),
        };
        let anchors: Vec<BoundedAnchor> = chosen.iter().map(bounded).collect();
        let wants_script = wants_script(self.stage.all_bounds, self.stage.threshold);
        let extended = self.unit().extend_bounded(&anchors, self.accepted, &wants_script)?;
        let done = chosen.iter().zip(anchors).zip(extended);
        Ok(done.map(|((beside, anchor), sides)| (beside.ix, anchor.confiners, sides)).collect())
    }

    fn unit(&self) -> MutexGuard<'_, Box<dyn BulkUnit + 'r>> {
        let bulk = self.bulk.as_ref().expect("only called with a bulk engine");
        bulk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins the sides of anchors that a bulk engine has extended; the others are left to the CPU.
    pub(super) fn join_bulk(&self, extended: BulkSides) -> JoinedSides {
        let wants_script = wants_script(self.stage.all_bounds, self.stage.threshold);
        let join = |ix: usize, confiners: Confiners, sides: (Side, Side)| {
            let has_scripts = wants_script(&sides.0, &sides.1);
            let mut extension =
                Extension::new(self.stage, &self.anchors[ix], sides, has_scripts, (self.accepted, confiners));
            extension.holds(&self.anchors[ix], self.accepted);
            Box::new(extension)
        };
        let join = |(ix, confiners, sides): (usize, _, Option<_>)| (ix, sides.map(|sides| join(ix, confiners, sides)));
        extended.into_iter().map(join).collect()
    }

    /// Anchors before this one are not for a wave: the CPU, if it shares them, begins with them meanwhile.
    fn begin_of_bulk(&self, state: &State) -> usize {
        if self.waits_for_bulk() { state.next } else { self.soon(state) }
    }

    /// Whether there is enough for a wave.
    pub(super) fn has_wave(&self, state: &State) -> bool {
        let begin = self.begin_of_bulk(state);
        let again = || state.redo.range(begin..).map(|(&ix, _)| ix).chain(state.again.range(begin..).copied());
        state.bulk_done < self.anchors.len()
            || (self.takes_bounded() && again().take(LEAST_BOUNDED).count() == LEAST_BOUNDED)
    }

    /// The next bulk wave: anchors that are probably covered by none of those under way. Without an engine that takes
    /// bounds, those beside accepted blocks are left to the CPU, if it may take any: a run without bounds would be in vain.
    pub(super) fn choose_bulk(&self, state: &mut State) -> Wave {
        let most = self.stage.bulk.map_or(1, BulkExtender::most_anchors).clamp(1, MOST_BULK);
        let mut wave = Wave::default();
        if self.takes_bounded() {
            self.choose_again(state, &mut wave);
        }
        let mut from = state.bulk_done.max(self.begin_of_bulk(state));
        state.bulk_done = self.anchors.len();
        while let Some(ix) = state.queue.next(from) {
            from = ix + 1;
            if wave.len() >= most || wave.bounded.len() >= MOST_BOUNDED {
                state.bulk_done = ix;
                break;
            }
            if self.is_settled(state, ix) {
                continue;
            }
            let is_free = |state: &mut State| !state.order.has_to_wait(ix) && self.likely_cover(state, ix).is_none();
            if (ix == state.next || is_free(state)) && self.add_to_wave(state, &mut wave, ix) {
                state.pending.start(ix, &self.anchors[ix], Progress::InWave);
            }
        }
        if wave.bounded.len() < LEAST_BOUNDED && !self.waits_for_bulk() {
            for Beside { ix, .. } in wave.bounded.drain(..) {
                state.pending.remove(ix, &self.anchors[ix], &mut state.again);
                state.left.insert(ix);
            }
        }
        wave
    }

    /// Puts an anchor into a wave, if it is for the bulk engine.
    fn add_to_wave(&self, state: &State, wave: &mut Wave, ix: usize) -> bool {
        let expected = state.expected(ix);
        let is_near = !expected.blocks.is_empty() || self.accepted.is_near(&self.anchors[ix]);
        match is_near {
            true if self.takes_bounded() => {
                wave.bounded.push(Beside { ix, likely_rows: LIKELY_ROWS, expected });
            }
            true if !self.waits_for_bulk() && ix != state.next => return false,
            _ => wave.plain.push(ix),
        }
        true
    }

    /// Anchors that were looked at before: those whose results accepted blocks have touched, and those that waited for
    /// others which do not cover them.
    fn choose_again(&self, state: &mut State, wave: &mut Wave) {
        let begin = self.begin_of_bulk(state);
        let touched: Vec<(usize, [u32; 2])> =
            state.redo.range(begin..).take(MOST_BOUNDED).map(|(&ix, &rows)| (ix, rows)).collect();
        for (ix, rows) in touched {
            state.redo.remove(&ix);
            if !self.is_settled(state, ix) {
                state.pending.start(ix, &self.anchors[ix], Progress::InWave);
                wave.bounded.push(Beside { ix, likely_rows: rows, expected: state.expected(ix) });
            }
        }
        let again: Vec<usize> = state.again.range(begin..).take(MOST_AGAIN).copied().collect();
        for ix in again {
            if wave.bounded.len() >= MOST_BOUNDED {
                break;
            }
            let is_settled = self.is_settled(state, ix);
            if !is_settled && (state.order.has_to_wait(ix) || self.likely_cover(state, ix).is_some()) {
                continue;
            }
            state.again.remove(&ix);
            if !is_settled && self.add_to_wave(state, wave, ix) {
                state.pending.start(ix, &self.anchors[ix], Progress::InWave);
            }
        }
    }
}
