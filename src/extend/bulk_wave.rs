//! Waves of anchors that a bulk engine extends while others run ahead.

use std::sync::{MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use super::ahead::{LookAhead, Schedule, State};
use super::bounds::AcceptedBlocks;
use super::bulk::{BulkExtender, wants_script};
use super::extension::Extension;
use super::pending::Progress;
use super::side::Side;
use super::tasks::Outcome;
use crate::alignment::Anchor;
use crate::error::Result;

/// Sides of anchors that a bulk engine was given; `None` where it left them to the CPU.
pub(super) type BulkSides = Vec<(usize, Option<(Side, Side)>)>;

/// The same, joined.
pub(super) type JoinedSides = Vec<(usize, Option<Box<Extension>>)>;

/// Most anchors that a bulk wave extends: so many that a device has enough to do, and so few that what they find is soon
/// known when the next are chosen.
const MOST_BULK: usize = 1 << 13;
/// Anchors before those that a slow engine is given, if the CPU shares them.
const SLOW_LEAD: usize = 64;
/// Anchors of a wave whose sides are joined in one task.
const JOINED: usize = 512;
/// Anchors under way or waiting for their turn from which on no wave begins.
pub(super) const MOST_PENDING: usize = 1 << 15;

impl Schedule<'_, '_> {
    /// Runs the stage, its waves on a thread of their own: a wave mostly waits for the device, and would keep a thread of
    /// the pool from work. The present thread works in the pool until there are no more waves.
    pub(super) fn run_with_waves<'s>(&'s self, scope: &rayon::ScopeFifo<'s>, look_ahead: &'s LookAhead) {
        let (sender, receiver) = mpsc::channel();
        *self.waves() = Some(sender);
        std::thread::scope(|threads| {
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
    fn run_wave(&self, chosen: Vec<usize>) {
        let extended = self.extend_bulk(&chosen);
        let mut inbox = self.inbox();
        match extended {
            Ok(extended) => {
                let mut sides = chosen.into_iter().zip(extended);
                inbox.extend(std::iter::from_fn(|| {
                    let part: BulkSides = sides.by_ref().take(JOINED).collect();
                    (!part.is_empty()).then_some(Outcome::Sides(part))
                }));
                inbox.push(Outcome::WaveOver);
            }
            Err(error) => inbox.push(Outcome::Failed(error)),
        }
    }

    /// Gives the next wave to the thread for waves.
    pub(super) fn start_wave(&self, state: &mut State) {
        let chosen = self.choose_bulk(state);
        if !chosen.is_empty()
            && let Some(waves) = &*self.waves()
        {
            state.bulk_running = true;
            // The receiver waits as long as there is a sender.
            let _ = waves.send(chosen);
        }
    }

    pub(super) fn waves(&self) -> MutexGuard<'_, Option<mpsc::Sender<Vec<usize>>>> {
        self.waves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Extends these anchors off the CPU.
    pub(super) fn extend_bulk(&self, chosen: &[usize]) -> Result<Vec<Option<(Side, Side)>>> {
        let positions: Vec<Anchor> = chosen.iter().map(|&ix| self.anchors[ix]).collect();
        let wants_script = wants_script(self.stage.all_bounds, self.stage.threshold);
        let bulk = self.bulk.as_ref().expect("only called with a bulk engine");
        bulk.lock().unwrap_or_else(PoisonError::into_inner).extend(&positions, &wants_script)
    }

    /// Joins the sides of anchors that a bulk engine has extended; the others are left to the CPU.
    pub(super) fn join_bulk(&self, extended: BulkSides, accepted: &AcceptedBlocks) -> JoinedSides {
        let wants_script = wants_script(self.stage.all_bounds, self.stage.threshold);
        let join = |ix: usize, sides: (Side, Side)| {
            let has_scripts = wants_script(&sides.0, &sides.1);
            let mut extension = Extension::new(self.stage, &self.anchors[ix], sides, has_scripts, (accepted, 0));
            extension.holds(&self.anchors[ix], accepted);
            Box::new(extension)
        };
        extended.into_iter().map(|(ix, sides)| (ix, sides.map(|sides| join(ix, sides)))).collect()
    }

    /// The next bulk wave: anchors that are probably covered by none of those under way. Those beside accepted blocks are
    /// left to the CPU, if it may take any: a run without bounds would be in vain.
    pub(super) fn choose_bulk(&self, state: &mut State) -> Vec<usize> {
        let most = self.stage.bulk.map_or(1, BulkExtender::most_anchors).clamp(1, MOST_BULK);
        let mut chosen = Vec::new();
        // An engine that takes few at a time is slow: the CPU would be through with the next ones before.
        let lead = if most < MOST_BULK && !self.waits_for_bulk() { SLOW_LEAD } else { 0 };
        let first = state.bulk_done.max(state.next + lead);
        state.bulk_done = self.anchors.len();
        for (ix, anchor) in state.queue.iter_from(first) {
            if chosen.len() >= most {
                state.bulk_done = ix;
                break;
            }
            let is_free = || self.waits_for_bulk() || !state.committed.accepted.is_near(anchor);
            let is_alone = || self.likely_cover(state, ix).is_none() && is_free();
            if !self.is_settled(state, ix) && (ix == state.next || is_alone()) {
                state.pending.start(ix, anchor, Progress::InWave);
                chosen.push(ix);
            }
        }
        chosen
    }
}
