//! Extensions run ahead of their turn.
//!
//! ```text
//! anchors   0 1 2 ... next ......................... scanned ......... end
//!           committed  │ running, ready, waiting, or     │ not looked at
//!                      │ covered so far                  │
//! ```
//! Tasks of the pool run one side of an anchor each; a bulk engine, once it is ready, runs waves of anchors. They run under
//! the blocks accepted so far, and those that earlier anchors near them are expected to leave: these have been extended, and
//! wait for their turn. Where they have not, an anchor waits for them (`order.rs`).
//!
//! Between them somebody commits what is ready, in order (here), and starts tasks for the anchors that seem worth it
//! (`choice.rs`): the one whose turn it is, results that an accepted block touched, and anchors that no earlier one under
//! way will probably cover. How tasks hand this on is in `tasks.rs`. Nobody waits for a whole wave; the output does not
//! depend on what ran ahead: a result counts if it is what a run under the blocks accepted by its turn gives
//! (`extension.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError, mpsc};

use super::bounds::AcceptedBlocks;
use super::bulk::{BulkExtender, BulkUnit};
use super::bulk_wave::{BulkSides, Wave};
use super::commit::{Committed, GappedResult, GappedStage, OnAccept};
use super::extension::{Expected, Extension};
use super::order::Order;
use super::pending::{Pending, Progress};
use super::screened::AnchorQueue;
use super::tasks::Outcome;
use crate::alignment::Anchor;
use crate::error::{Error, Result};

/// Shares the threads of a pool among the gapped stages that run ahead at the same time.
#[derive(Debug, Default)]
pub struct LookAhead {
    stages: AtomicUsize,
    /// Units whose tasks wait for a thread.
    units_to_begin: AtomicUsize,
}

impl LookAhead {
    /// A unit's task was given to the pool. Its threads prefer what they have started themselves: so stages start nothing
    /// ahead until the unit has [`begun`](Self::begun).
    pub fn announce(&self) {
        self.units_to_begin.fetch_add(1, Relaxed);
    }

    /// A unit's task has found its thread.
    pub fn begun(&self) {
        self.units_to_begin.fetch_sub(1, Relaxed);
    }

    /// One-sided runs that one stage may have under way.
    pub(super) fn tasks(&self) -> usize {
        if self.units_to_begin.load(Relaxed) > 0 {
            return 0;
        }
        let (threads, stages) = (rayon::current_num_threads(), self.stages.load(Relaxed).max(1));
        // A stage whose next anchor is under way has less to do: some more than the fair share fills the gaps.
        (threads / stages + threads / stages / 2).clamp(1, threads)
    }
}

/// Anchors past the next one that may be looked at, those not counted that a screen dropped.
const MOST_SCANNED: usize = 1 << 14;
/// So many anchors before its turn, a result is looked into: an accepted block that does not come near it may have become
/// a neighbour, which seldom voids it.
const SOON: [usize; 2] = [128, 16];
/// Anchors dealt with before the inbox is looked into.
const TURNS: usize = 8;

/// What a stage has to do next.
pub(super) enum Turn {
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

/// The run of one stage.
pub(super) struct Schedule<'r, 'a> {
    pub(super) stage: &'r GappedStage<'a>,
    pub(super) anchors: &'r [Anchor],
    pub(super) most_scanned: usize,
    pub(super) accepted: &'r AcceptedBlocks,
    pub(super) state: Mutex<State<'r>>,
    /// What tasks have to tell whoever has the state.
    pub(super) inbox: Mutex<Vec<Outcome>>,
    /// Takes waves for the bulk engine, until all is done.
    pub(super) waves: Mutex<Option<mpsc::Sender<Wave>>>,
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
    /// Anchors whose results an accepted block touched, and the rows that these looked at.
    pub(super) redo: BTreeMap<usize, [u32; 2]>,
    /// Anchors before these have been looked into.
    looked: [usize; SOON.len()],
    /// Anchors that were found to lie on accepted blocks.
    pub(super) is_covered: Vec<bool>,
    /// Anchors to look at again, before those not scanned.
    pub(super) again: BTreeSet<usize>,
    /// Anchors that the bulk engine has left to the CPU.
    pub(super) left: BTreeSet<usize>,
    /// Who had better wait for whom.
    pub(super) order: Order,
    /// One-sided runs under way.
    pub(super) running: usize,
    /// Anchors before this one have had their chance of a bulk wave; those that were not taken are left to the CPU.
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
        let accepted = committed.accepted;
        let order = match stage.look_ahead {
            Some(_) => Order::new(queue.iter_from(0), anchors.len(), stage.likely_look()),
            None => Order::default(),
        };
        let state = State {
            committed,
            queue,
            on_accept,
            next: 0,
            scanned: 0,
            pending: Pending::default(),
            redo: BTreeMap::new(),
            looked: [0; SOON.len()],
            is_covered: vec![false; anchors.len()],
            again: BTreeSet::new(),
            left: BTreeSet::new(),
            order,
            running: 0,
            bulk_done: if bulk.is_some() { 0 } else { usize::MAX },
            bulk_running: false,
            stopped: false,
            failure: None,
        };
        Schedule {
            stage,
            anchors,
            most_scanned,
            accepted,
            state: Mutex::new(state),
            inbox: Mutex::default(),
            waves: Mutex::default(),
            bulk: bulk.map(Mutex::new),
        }
    }

    /// Deals with all anchors.
    pub fn run(self) -> Result<GappedResult> {
        match self.stage.look_ahead {
            Some(look_ahead) if rayon::current_num_threads() > 1 => {
                look_ahead.stages.fetch_add(1, Relaxed);
                rayon::scope_fifo(|scope| match &self.bulk {
                    Some(_) => self.run_with_waves(scope, look_ahead),
                    None => self.tell(scope, look_ahead, Outcome::Nothing),
                });
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
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match self.commit(&mut state) {
                Turn::Extend(ix) => {
                    let extension = self.stage.extend(&self.anchors[ix], state.committed.accepted);
                    state.ready(ix, &self.anchors[ix], Box::new(extension));
                }
                Turn::Bulk => {
                    let wave = self.choose_bulk(&mut state);
                    let mut note = |extended: Result<BulkSides>| {
                        let joined = extended.map(|sides| Outcome::Joined(self.join_bulk(sides)));
                        self.note(joined.unwrap_or_else(Outcome::Failed), &mut state);
                    };
                    note(self.extend_bounded(&wave.bounded));
                    note(self.extend_plain(&wave.plain));
                }
                Turn::More => {}
                Turn::Wait => unreachable!("nothing is under way"),
                Turn::Done => return,
            }
        }
    }
}

impl State<'_> {
    pub(super) fn ready(&mut self, ix: usize, anchor: &Anchor, extension: Box<Extension>) {
        self.pending.ready(ix, anchor, extension, &mut self.again);
        self.order.know(ix, &mut self.again);
    }

    /// The blocks of earlier anchors near this one that are expected to be accepted after those so far.
    pub(super) fn expected(&self, ix: usize) -> Expected {
        let block = |&earlier: &u32| match self.pending.by_anchor.get(&(earlier as usize)) {
            Some(Progress::Ready(extension)) => extension.block.clone(),
            _ => None,
        };
        let blocks = self.order.earlier(ix).iter().filter_map(block).collect();
        Expected { limit: self.committed.accepted.len(), blocks }
    }

    /// A block touched a result: the anchor needs another one.
    pub(super) fn redo(&mut self, ix: usize, anchor: &Anchor, rows: [u32; 2]) {
        self.pending.remove(ix, anchor, &mut self.again);
        self.committed.counts.rerun += 1;
        self.redo.insert(ix, rows);
    }

    /// Gives up what an anchor has so far.
    fn give_up(&mut self, ix: usize, anchor: &Anchor) {
        if let Some(Progress::Ready(_) | Progress::Running) = self.pending.remove(ix, anchor, &mut self.again) {
            self.committed.counts.rerun += 1;
        }
    }

    /// Stops the tasks of anchors on the last accepted block.
    fn stop_covered(&mut self, anchors: &[Anchor], rows: Range<usize>, columns: Range<usize>) {
        let accepted = self.committed.accepted;
        let is_covered = |&ix: &usize| {
            let anchor = &anchors[ix];
            let is_inside = rows.contains(&(anchor.target as usize)) && columns.contains(&(anchor.query as usize));
            is_inside && accepted.covers(anchor)
        };
        let covered: Vec<usize> = self.pending.running.keys().copied().filter(is_covered).collect();
        for ix in covered {
            self.is_covered[ix] = true;
            self.order.know(ix, &mut self.again);
            self.give_up(ix, &anchors[ix]);
        }
    }
}

impl Schedule<'_, '_> {
    /// Commits what is ready, in order, and says what stands in the way of the rest.
    pub(super) fn commit(&self, state: &mut State) -> Turn {
        for _ in 0..TURNS {
            let Some(ix) = state.queue.next(state.next).filter(|_| !state.stopped) else { return Turn::Done };
            state.next = ix;
            state.order.pass(ix, &mut state.again);
            let anchor = &self.anchors[ix];
            (self.stage.progress)(ix, self.anchors.len());
            if state.is_covered[ix] || state.committed.accepted.covers(anchor) {
                state.committed.counts.covered += 1;
                state.give_up(ix, anchor);
                state.next += 1;
                continue;
            }
            match state.pending.by_anchor.get_mut(&ix) {
                Some(Progress::InWave) if !self.waits_for_bulk() => return Turn::Extend(ix),
                Some(Progress::InWave | Progress::Running) => return Turn::Wait,
                Some(Progress::Ready(extension)) => {
                    if !extension.holds(anchor, state.committed.accepted) || extension.is_expecting() {
                        state.give_up(ix, anchor);
                        return Turn::Extend(ix);
                    }
                }
                None if ix >= state.bulk_done && state.bulk_running && self.waits_for_bulk() => return Turn::Wait,
                None if ix >= state.bulk_done && !state.bulk_running && self.bulk_is_ready() => return Turn::Bulk,
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
        let ranges = accepted.map(|block| (block.target_range(), block.query_range()));
        state.stopped |= flow == ControlFlow::Break(());
        if let Some((rows, columns)) = ranges {
            state.stop_covered(self.anchors, rows, columns);
        }
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
                let rows = extension.rows();
                state.redo(ix, anchor, rows);
            }
        }
    }

    /// Whether the bulk engine extends anchors beside accepted blocks.
    pub(super) fn takes_bounded(&self) -> bool {
        self.bulk.is_some() && self.stage.bulk.is_some_and(BulkExtender::takes_bounded)
    }

    /// Whether the bulk engine, if there is one, would begin with a wave at once.
    pub(super) fn bulk_is_ready(&self) -> bool {
        self.stage.bulk.is_some_and(BulkExtender::get_ready)
    }

    /// Whether the CPU leaves everything to the bulk engine that it may still answer.
    pub(super) fn waits_for_bulk(&self) -> bool {
        self.stage.look_ahead.is_none() || self.stage.bulk.is_some_and(|bulk| !bulk.shares_anchors())
    }
}
