//! The gate before the pipeline: it holds the reader back while many bases are under way.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bases of queries that are under way while more than `MIN_QUERIES` are.
const MAX_BASES: usize = 32 << 20;
/// Queries that may be under way however long they are: one is settled while the next is searched.
const MIN_QUERIES: usize = 2;
/// Most queries under way.
const MAX_QUERIES: usize = 1 << 14;

/// Bounds what is under way; it can be closed for good.
#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<GateState>,
    opens: Condvar,
}

#[derive(Default)]
struct GateState {
    n_queries: usize,
    n_bases: usize,
    is_closed: bool,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a query in. If there is no room for it, waits for some, or gives false; false also if the gate was closed.
    pub fn enter(&self, n_bases: usize, waits: bool) -> bool {
        let has_no_room = |state: &mut GateState| {
            let is_full = state.n_queries >= MIN_QUERIES && state.n_bases + n_bases > MAX_BASES;
            (is_full || state.n_queries >= MAX_QUERIES) && !state.is_closed
        };
        let mut state = self.lock();
        if has_no_room(&mut state) {
            if !waits {
                return false;
            }
            state = self.opens.wait_while(state, has_no_room).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_closed {
            return false;
        }
        state.n_queries += 1;
        state.n_bases += n_bases;
        true
    }

    /// A query has left.
    pub fn leave(&self, n_bases: usize) {
        let mut state = self.lock();
        state.n_queries -= 1;
        state.n_bases -= n_bases;
        self.opens.notify_one();
    }

    /// Nobody enters any more, and nobody waits.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.opens.notify_one();
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.lock().is_closed
    }
}

/// Closes a gate, however its scope ends.
pub(super) struct CloseOnDrop<'a>(pub &'a Gate);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
