//! Which anchors run ahead of their turn.

use super::ahead::{Schedule, State};
use super::commit::Committed;
use super::pending::Progress;

impl Schedule<'_, '_> {
    /// The next anchor worth extending ahead of its turn.
    pub(super) fn choose(&self, state: &mut State) -> Option<usize> {
        if state.bulk_running && self.waits_for_bulk() {
            return None;
        }
        while let Some(ix) = state.redo.pop_first() {
            if !self.is_settled(state, ix) {
                return Some(ix);
            }
        }
        // What the bulk engine will be asked for is not the CPU's, unless they share.
        let of_cpu = if self.waits_for_bulk() { state.bulk_done } else { usize::MAX };
        let end = self.anchors.len().min(of_cpu).min(state.next.saturating_add(self.most_scanned));
        loop {
            let ix = match state.again.pop_first() {
                Some(ix) => ix,
                None => {
                    let scanned = state.queue.next(state.scanned.max(state.next)).filter(|&ix| ix < end)?;
                    state.scanned = scanned + 1;
                    scanned
                }
            };
            if self.is_settled(state, ix) {
                continue;
            }
            match self.likely_cover(state, ix) {
                Some(earlier) => state.pending.wait(ix, earlier),
                None => return Some(ix),
            }
        }
    }

    /// The next anchor that will probably be covered: if it is not, its turn finds nothing to wait for. Half of the
    /// tasks at most are for such.
    pub(super) fn choose_unlikely(&self, state: &mut State, tasks: usize) -> Option<usize> {
        if state.running >= tasks / 2 || (state.bulk_running && self.waits_for_bulk()) {
            return None;
        }
        while let Some(ix) = state.pending.in_wait.pop_first() {
            if !self.is_settled(state, ix) {
                return Some(ix);
            }
        }
        None
    }

    /// Whether an anchor needs no run, or has one.
    pub(super) fn is_settled(&self, state: &State, ix: usize) -> bool {
        ix < state.next
            || state.pending.by_anchor.contains_key(&ix)
            || state.committed.accepted.covers(&self.anchors[ix])
    }

    /// An earlier anchor under way whose block will probably cover anchor `ix`.
    pub(super) fn likely_cover(&self, state: &State, ix: usize) -> Option<usize> {
        let anchor = &self.anchors[ix];
        let reach = state.committed.likely_reach() as u32;
        let near = (anchor.target.saturating_sub(reach), 0)..=(anchor.target.saturating_add(reach), usize::MAX);
        let others = state.pending.by_target.range(near).map(|&(_, other)| other).filter(|&other| other < ix);
        // Copies of a repeat lie somewhere else in the query: no need to look at what they found.
        let mut others = others.filter(|&other| Committed::may_cover(anchor, &self.anchors[other]));
        others.find(|other| match state.pending.by_anchor.get(other) {
            Some(Progress::Ready(extension)) => extension.is_over(anchor),
            _ => state.committed.is_likely_covered(anchor, &self.anchors[*other]),
        })
    }
}
