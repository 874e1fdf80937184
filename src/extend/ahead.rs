//! Extensions run ahead of their turn.
//!
//! ```text
//! anchors   0 1 2 ... next ......................... scanned ......... end
//!           committed  │ running, ready, waiting, or     │ not looked at
//!                      │ covered so far                  │
//! ```
//! Every task of the pool runs one side of an anchor under the blocks accepted so far. When it ends, it commits what is ready
//! in order, and starts tasks for the anchors that seem worth it: the one whose turn it is, results that an accepted
//! block touched, and anchors that no earlier one under way will probably cover. Nobody waits for a whole wave; the
//! output does not depend on what ran ahead.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::bounds::AcceptedBlocks;
use super::bulk::BulkUnit;
use super::bulk_wave::MOST_BULK;
use super::commit::{Committed, GappedResult, GappedStage, OnAccept};
use super::extension::Extension;
use super::pending::{Pending, Progress};
use super::screened::AnchorQueue;
use super::side::{Direction, Side};
use crate::alignment::Anchor;
use crate::error::{Error, Result};

/// Shares the threads of a pool among the gapped stages that run ahead at the same time.
#[derive(Debug, Default)]
pub struct LookAhead {
    stages: AtomicUsize,
}

impl LookAhead {
    /// One-sided runs that one stage may have under way.
    fn tasks(&self) -> usize {
        let (threads, stages) = (rayon::current_num_threads(), self.stages.load(Relaxed).max(1));
        // A stage whose next anchor is under way has less to do: some more than the fair share fills the gaps.
        (threads / stages + threads / stages / 2).clamp(1, threads)
    }
}

/// Anchors past the next one that may be looked at, those not counted that a screen dropped.
const MOST_SCANNED: usize = 1 << 14;
/// Results per task that may wait for their turn.
const MOST_READY: usize = 64;
/// So many anchors before its turn, a result is looked into: an accepted block that does not come near it may have become
/// a neighbour, which seldom voids it.
const SOON: [usize; 2] = [128, 16];
/// Anchors dealt with before the lock is given to others.
const TURNS: usize = 64;

/// What a stage has to do next.
enum Turn {
    /// This anchor has to be extended.
    Extend(usize),
    /// The bulk engine has to take up anchors from here on.
    Bulk,
    /// What is needed is under way.
    Wait,
    /// There is more to commit.
    More,
    Done,
}

enum Job {
    Extend(usize),
    /// These anchors in bulk.
    Bulk(Vec<usize>),
}

/// Both sides of an anchor under way. They run as tasks of their own: a task that waits for another may take up a third
/// meanwhile, and keep everyone waiting.
#[derive(Default)]
struct Halves {
    /// The blocks before this number confine both.
    limit: OnceLock<usize>,
    first: Mutex<Option<(Direction, Side)>>,
}

/// What a task was.
enum Outcome {
    /// The first one or a bulk wave.
    Nothing,
    /// The first side of an anchor.
    Half,
    Extended(usize, Box<Extension>),
}

/// The run of one stage.
pub(super) struct Schedule<'r, 'a> {
    pub(super) stage: &'r GappedStage<'a>,
    pub(super) anchors: &'r [Anchor],
    pub(super) most_scanned: usize,
    state: Mutex<State<'r>>,
    pub(super) bulk: Option<Mutex<Box<dyn BulkUnit + 'r>>>,
}

/// How far the run has come.
pub(super) struct State<'r> {
    pub(super) committed: Committed<'r>,
    pub(super) queue: AnchorQueue<'r>,
    on_accept: &'r mut OnAccept<'r>,
    pub(super) next: usize,
    /// Anchors before this one have been looked at.
    pub(super) scanned: usize,
    pub(super) pending: Pending,
    /// Anchors whose results an accepted block touched: they come first.
    pub(super) redo: BTreeSet<usize>,
    /// Anchors before these have been looked into.
    looked: [usize; SOON.len()],
    /// Anchors to look at again, before those not scanned.
    pub(super) again: BTreeSet<usize>,
    /// One-sided runs under way.
    pub(super) running: usize,
    /// Whether somebody commits right now.
    is_committing: bool,
    /// Anchors before this one have had their turn in bulk; what is not ready of them is left to the CPU.
    pub(super) bulk_done: usize,
    pub(super) bulk_running: bool,
    pub(super) stopped: bool,
    pub(super) failure: Option<Error>,
}

impl<'r, 'a> Schedule<'r, 'a> {
    pub fn new(
        stage: &'r GappedStage<'a>,
        queue: AnchorQueue<'r>,
        committed: Committed<'r>,
        on_accept: &'r mut OnAccept<'r>,
        bulk: Option<Box<dyn BulkUnit + 'r>>,
    ) -> Self {
        let anchors = queue.anchors();
        // Dropped anchors lie everywhere among the others.
        let most_scanned = MOST_SCANNED.saturating_mul(anchors.len()) / queue.n_open().max(1);
        let state = State {
            committed,
            queue,
            on_accept,
            next: 0,
            scanned: 0,
            pending: Pending::default(),
            redo: BTreeSet::new(),
            looked: [0; SOON.len()],
            again: BTreeSet::new(),
            running: 0,
            is_committing: false,
            bulk_done: if bulk.is_some() { 0 } else { usize::MAX },
            bulk_running: false,
            stopped: false,
            failure: None,
        };
        Schedule { stage, anchors, most_scanned, state: Mutex::new(state), bulk: bulk.map(Mutex::new) }
    }

    /// Deals with all anchors.
    pub fn run(self) -> Result<GappedResult> {
        match self.stage.look_ahead {
            Some(look_ahead) if rayon::current_num_threads() > 1 => {
                look_ahead.stages.fetch_add(1, Relaxed);
                rayon::scope_fifo(|scope| self.go_on(scope, look_ahead, Outcome::Nothing));
                look_ahead.stages.fetch_sub(1, Relaxed);
            }
            _ => self.run_in_order(),
        }
        (self.stage.progress)(self.anchors.len(), self.anchors.len());
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.failure {
            Some(error) => Err(error),
            None => {
                let mut result = state.committed.finish(self.stage.threshold);
                result.counts.screened = state.queue.n_dropped() as u64;
                Ok(result)
            }
        }
    }

    /// One anchor after the other.
    fn run_in_order(&self) {
        loop {
            let mut state = self.lock();
            match self.commit(&mut state) {
                Turn::Extend(ix) => {
                    let extension = self.stage.extend(&self.anchors[ix], state.committed.accepted);
                    state.ready(ix, &self.anchors[ix], extension);
                }
                Turn::Bulk => {
                    let chosen = self.choose_bulk(&mut state);
                    drop(state);
                    self.extend_bulk(chosen);
                }
                Turn::More => {}
                Turn::Wait => unreachable!("nothing is under way"),
                Turn::Done => return,
            }
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State<'r>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the result of a task, commits what is ready, and starts what is worth it.
    fn go_on<'s>(&'s self, scope: &rayon::ScopeFifo<'s>, look_ahead: &'s LookAhead, mut outcome: Outcome) {
        loop {
            let mut state = self.lock();
            state.running -= if matches!(outcome, Outcome::Nothing) { 0 } else { 1 };
            if let Outcome::Extended(ix, mut extension) = std::mem::replace(&mut outcome, Outcome::Nothing) {
                let anchor = &self.anchors[ix];
                match state.pending.is_running(ix) {
                    true if extension.holds(anchor, state.committed.accepted) => {
                        state.ready(ix, anchor, *extension);
                    }
                    true => state.redo(ix, anchor),
                    // It was covered meanwhile.
                    false => state.committed.counts.rerun += 1,
                }
            }
            let mut jobs = Vec::new();
            let mut has_more = false;
            if !state.is_committing {
                match self.commit(&mut state) {
                    Turn::Extend(ix) => {
                        state.start(ix, &self.anchors[ix]);
                        jobs.push(Job::Extend(ix));
                    }
                    Turn::Bulk => jobs.push(Job::Bulk(self.choose_bulk(&mut state))),
                    Turn::More => has_more = true,
                    Turn::Wait => {}
                    Turn::Done => return,
                }
                state.is_committing = has_more;
            }
            let accepted = state.committed.accepted;
            let tasks = look_ahead.tasks();
            let most_pending = tasks * MOST_READY + if self.bulk.is_some() { MOST_BULK } else { 0 };
            while state.running < tasks && state.pending.by_anchor.len() < most_pending {
                let Some(ix) = self.choose(&mut state).or_else(|| self.choose_unlikely(&mut state, tasks)) else {
                    break;
                };
                state.start(ix, &self.anchors[ix]);
                jobs.push(Job::Extend(ix));
            }
            drop(state);
            for job in jobs {
                match job {
                    Job::Extend(ix) => {
                        let halves = Arc::new(Halves::default());
                        for direction in [Direction::Left, Direction::Right] {
                            let halves = halves.clone();
                            scope.spawn_fifo(move |scope| {
                                let outcome = self.extend_side(ix, direction, accepted, &halves);
                                self.go_on(scope, look_ahead, outcome);
                            });
                        }
                    }
                    Job::Bulk(chosen) => scope.spawn_fifo(move |scope| {
                        self.extend_bulk(chosen);
                        self.go_on(scope, look_ahead, Outcome::Nothing);
                    }),
                }
            }
            if !has_more {
                return;
            }
            self.lock().is_committing = false;
        }
    }

    /// Runs one side of an anchor; the second one to end joins them.
    fn extend_side(&self, ix: usize, direction: Direction, accepted: &AcceptedBlocks, halves: &Halves) -> Outcome {
        let anchor = &self.anchors[ix];
        let limit = *halves.limit.get_or_init(|| accepted.len());
        let side = self.stage.extend_side(anchor, direction, accepted, limit);
        let mut first = halves.first.lock().unwrap_or_else(PoisonError::into_inner);
        let sides = match first.take() {
            None => {
                *first = Some((direction, side));
                return Outcome::Half;
            }
            Some((Direction::Left, left)) => (left, side),
            Some((Direction::Right, right)) => (side, right),
        };
        Outcome::Extended(ix, Box::new(Extension::new(self.stage, anchor, sides, true, (accepted, limit))))
    }
}

impl State<'_> {
    fn start(&mut self, ix: usize, anchor: &Anchor) {
        self.pending.start(ix, anchor);
        self.running += 2;
    }

    pub(super) fn ready(&mut self, ix: usize, anchor: &Anchor, extension: Extension) {
        self.pending.ready(ix, anchor, extension, &mut self.again);
    }

    /// A block touched a result: the anchor needs another one.
    fn redo(&mut self, ix: usize, anchor: &Anchor) {
        self.pending.remove(ix, anchor, &mut self.again);
        self.committed.counts.rerun += 1;
        self.redo.insert(ix);
    }

    fn drop_ready(&mut self, ix: usize, anchor: &Anchor) {
        if let Some(Progress::Ready(_)) = self.pending.remove(ix, anchor, &mut self.again) {
            self.committed.counts.rerun += 1;
        }
    }
}

impl Schedule<'_, '_> {
    /// Commits what is ready, in order, and says what stands in the way of the rest.
    fn commit(&self, state: &mut State) -> Turn {
        for _ in 0..TURNS {
            let Some(ix) = state.queue.next(state.next).filter(|_| !state.stopped) else { return Turn::Done };
            state.next = ix;
            let anchor = &self.anchors[ix];
            (self.stage.progress)(ix, self.anchors.len());
            if state.committed.accepted.covers(anchor) {
                state.committed.counts.covered += 1;
                state.drop_ready(ix, anchor);
                state.next += 1;
                continue;
            }
            match state.pending.by_anchor.get_mut(&ix) {
                Some(Progress::Running) => return Turn::Wait,
                Some(Progress::Ready(extension)) => {
                    if !extension.holds(anchor, state.committed.accepted) {
                        state.drop_ready(ix, anchor);
                        return Turn::Extend(ix);
                    }
                }
                None if state.bulk_running && self.waits_for_bulk() => return Turn::Wait,
                None if ix >= state.bulk_done && !state.bulk_running => return Turn::Bulk,
                None => return Turn::Extend(ix),
            }
            state.next += 1;
            let Some(Progress::Ready(extension)) = state.pending.remove(ix, anchor, &mut state.again) else { continue };
            self.accept(state, *extension);
            if !state.redo.is_empty() {
                // These start before their turn comes.
                return Turn::More;
            }
        }
        Turn::More
    }

    /// Commits an extension whose turn has come, and finds out which of the others it touches.
    fn accept(&self, state: &mut State, extension: Extension) {
        let State { committed, on_accept, queue, again, .. } = state;
        let (accepted, flow) = committed.commit(extension, on_accept);
        again.extend(accepted.map(|block| queue.accept(block, state.next)).unwrap_or_default());
        let mut near = accepted.map(|block| state.pending.near(block)).unwrap_or_default();
        state.stopped |= flow == ControlFlow::Break(());
        for (looked, soon) in state.looked.iter_mut().zip(SOON) {
            let from = (*looked).max(state.next);
            *looked = state.next + soon;
            near.extend(state.pending.by_anchor.range(from..*looked).map(|(&ix, _)| ix));
        }
        for ix in near {
            let anchor = &self.anchors[ix];
            if let Some(Progress::Ready(extension)) = state.pending.by_anchor.get_mut(&ix)
                && !extension.holds(anchor, state.committed.accepted)
            {
                state.redo(ix, anchor);
            }
        }
    }

    /// Whether the CPU leaves everything to the bulk engine that it may still answer.
    pub(super) fn waits_for_bulk(&self) -> bool {
        self.stage.look_ahead.is_none() || self.stage.bulk.is_some_and(|bulk| !bulk.shares_anchors())
    }
}
