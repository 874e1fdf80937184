//! The tasks of a stage that runs ahead, and how they hand the work on.
//!
//! ```text
//! pool:   sides ──────┐
//! pool:   joins ──────┼──> inbox ──> whoever gets the state: note, commit, start ──> more tasks
//! device: waves ──────┘
//! ```
//! A task leaves its outcome in the inbox. If nobody has the state, its thread takes it, and deals with the inbox until
//! there is nothing more to do; otherwise it goes on with another task. Nobody waits for the state.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use super::ahead::{LookAhead, Schedule, State, Turn};
use super::bounds::Confiners;
use super::bulk_wave::{BulkSides, EndWavesOnPanic, JoinedSides, MOST_PENDING};
use super::extension::{Expected, Extension};
use super::pending::{Progress, Watches};
use super::side::{Direction, Side};
use crate::error::Error;

/// Results per task that may wait for their turn.
const MOST_READY: usize = 64;

/// What a task was.
pub(super) enum Outcome {
    /// The first one.
    Nothing,
    /// The first side of an anchor, or one that was stopped.
    Half,
    Extended(usize, Box<Extension>),
    /// Sides that a bulk engine has run, to be joined.
    Sides(BulkSides),
    /// The same, joined.
    Joined(JoinedSides),
    /// The bulk engine has nothing to do.
    WaveOver,
    /// A bulk engine failed.
    Failed(Error),
}

/// Both sides of an anchor under way. They run as tasks of their own: a task that waits for another may take up a third
/// meanwhile, and keep everyone waiting.
#[derive(Default)]
struct Halves {
    expected: Expected,
    /// What confines both.
    confiners: OnceLock<Confiners>,
    first: Mutex<Option<(Direction, Side)>>,
    watches: Watches,
}

impl<'r> Schedule<'r, '_> {
    pub(super) fn inbox(&self) -> MutexGuard<'_, Vec<Outcome>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells what a task did. If nobody has the state, this thread commits what is ready, and starts what is worth it.
    pub(super) fn tell<'s>(&'s self, scope: &rayon::ScopeFifo<'s>, look_ahead: &'s LookAhead, outcome: Outcome) {
        self.inbox().push(outcome);
        self.attend(scope, look_ahead);
    }

    /// Deals with the inbox, if nobody else does.
    pub(super) fn attend<'s>(&'s self, scope: &rayon::ScopeFifo<'s>, look_ahead: &'s LookAhead) {
        // Nobody waits for the state: who has it looks into the inbox after giving it up.
        while !self.inbox().is_empty() {
            let mut state = match self.state.try_lock() {
                Ok(state) => state,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            self.go_on(scope, look_ahead, &mut state);
        }
    }

    /// Takes what tasks have told, commits what is ready, and starts what is worth it, as long as there is more to do.
    fn go_on<'s>(&'s self, scope: &rayon::ScopeFifo<'s>, look_ahead: &'s LookAhead, state: &mut State<'r>) {
        loop {
            for outcome in std::mem::take(&mut *self.inbox()) {
                match outcome {
                    Outcome::Sides(sides) => scope.spawn_fifo(move |scope| {
                        let _watch = EndWavesOnPanic(self);
                        let joined = self.join_bulk(sides);
                        self.tell(scope, look_ahead, Outcome::Joined(joined));
                    }),
                    outcome => self.note(outcome, state),
                }
            }
            let turn = self.commit(state);
            match turn {
                Turn::Extend(ix) => self.start(scope, look_ahead, state, ix),
                Turn::Bulk => self.start_wave(state),
                Turn::More | Turn::Wait => {}
                Turn::Done => {
                    self.waves().take();
                    return;
                }
            }
            let tasks = look_ahead.tasks();
            let most_pending = tasks * MOST_READY + if self.bulk.is_some() { MOST_PENDING } else { 0 };
            let has_room = state.pending.by_anchor.len() < MOST_PENDING;
            if !state.bulk_running && has_room && self.has_wave(state) && self.bulk_is_ready() {
                self.start_wave(state);
            }
            while state.running < tasks && state.pending.by_anchor.len() < most_pending {
                let Some(ix) = self.choose(state) else { break };
                self.start(scope, look_ahead, state, ix);
            }
            if !matches!(turn, Turn::More | Turn::Bulk) && self.inbox().is_empty() {
                return;
            }
        }
    }

    /// Starts both sides of an anchor.
    fn start<'s>(&'s self, scope: &rayon::ScopeFifo<'s>, look_ahead: &'s LookAhead, state: &mut State<'r>, ix: usize) {
        let halves = Arc::new(Halves { expected: state.expected(ix), ..Halves::default() });
        state.pending.run(ix, &self.anchors[ix], halves.watches.clone());
        state.running += 2;
        for direction in [Direction::Left, Direction::Right] {
            let halves = halves.clone();
            scope.spawn_fifo(move |scope| {
                let _watch = EndWavesOnPanic(self);
                let outcome = self.extend_side(ix, direction, &halves);
                self.tell(scope, look_ahead, outcome);
            });
        }
    }

    /// Takes the outcome of a task.
    pub(super) fn note(&self, outcome: Outcome, state: &mut State) {
        match outcome {
            Outcome::Nothing | Outcome::Sides(_) => {}
            Outcome::Half => state.running -= 1,
            Outcome::Extended(ix, mut extension) => {
                state.running -= 1;
                let anchor = &self.anchors[ix];
                match state.pending.is_running(ix) {
                    true if extension.holds(anchor, state.committed.accepted) => state.ready(ix, anchor, extension),
                    true => state.redo(ix, anchor, extension.rows()),
                    // It was covered meanwhile.
                    false => {}
                }
            }
            Outcome::Joined(extended) => {
                for (ix, extension) in extended {
                    // The CPU may have been quicker.
                    if matches!(state.pending.by_anchor.get(&ix), Some(Progress::InWave)) {
                        match extension {
                            Some(extension) if extension.is_void => state.redo(ix, &self.anchors[ix], extension.rows()),
                            Some(extension) => state.ready(ix, &self.anchors[ix], extension),
                            None => {
                                state.pending.remove(ix, &self.anchors[ix], &mut state.again);
                                state.left.insert(ix);
                            }
                        }
                    }
                }
            }
            Outcome::WaveOver => state.bulk_running = false,
            Outcome::Failed(error) => {
                state.failure = Some(error);
                state.stopped = true;
            }
        }
    }

    /// Runs one side of an anchor; the second one to end joins them.
    fn extend_side(&self, ix: usize, direction: Direction, halves: &Halves) -> Outcome {
        let (anchor, accepted) = (&self.anchors[ix], self.accepted);
        let confiners = halves.confiners.get_or_init(|| halves.expected.confiners(accepted));
        let watch = halves.watches.of(direction);
        let side = self.stage.extend_side(anchor, direction, accepted, confiners, watch);
        if watch.is_stopped() {
            return Outcome::Half;
        }
        let mut first = halves.first.lock().unwrap_or_else(PoisonError::into_inner);
        let sides = match first.take() {
            None => {
                *first = Some((direction, side));
                return Outcome::Half;
            }
            Some((Direction::Left, left)) => (left, side),
            Some((Direction::Right, right)) => (side, right),
        };
        let mut extension = Extension::new(self.stage, anchor, sides, true, (accepted, confiners.clone()));
        // Whoever commits has the less to look at.
        extension.holds(anchor, accepted);
        Outcome::Extended(ix, Box::new(extension))
    }
}
