//! Which anchors run ahead of their turn.

use std::collections::BTreeSet;

use super::ahead::{Schedule, State};
use super::commit::Committed;
use super::pending::{Progress, Watches};
use super::side::Direction;

/// Anchors so near their turn are the CPU's: a wave of the bulk engine would come too late for them.
const SOON: usize = 512;
/// Of few anchors only one in so many.
const SOON_OF_FEW: usize = 16;

impl Schedule<'_, '_> {
    /// The next anchor worth extending ahead of its turn.
    pub(super) fn choose(&self, state: &mut State) -> Option<usize> {
        if state.bulk_running && self.waits_for_bulk() {
            return None;
        }
        let soon = if self.takes_bounded() { self.soon(state) } else { usize::MAX };
        self.choose_touched(state, soon)
            .or_else(|| self.choose_new(state))
            // The bulk engine may have no use for so few.
            .or_else(|| self.choose_touched(state, usize::MAX))
    }

    /// Anchors before this one are near their turn.
    pub(super) fn soon(&self, state: &State) -> usize {
        state.next + SOON.min(self.anchors.len() / SOON_OF_FEW)
    }

    /// The next anchor before number `end` whose result was touched.
    fn choose_touched(&self, state: &mut State, end: usize) -> Option<usize> {
        while let Some((&ix, _)) = state.redo.first_key_value().filter(|&(&ix, _)| ix < end) {
            state.redo.remove(&ix);
            if !self.is_settled(state, ix) {
                return Some(ix);
            }
        }
        None
    }

    /// The next anchor that nobody has extended yet, and that no earlier one under way will probably cover.
    fn choose_new(&self, state: &mut State) -> Option<usize> {
        // What the bulk engine will be asked for is not the CPU's, unless they share.
        let of_cpu = if self.waits_for_bulk() { state.bulk_done } else { usize::MAX };
        let end = self.anchors.len().min(of_cpu).min(state.next.saturating_add(self.most_scanned));
        loop {
            let seen = [&mut state.left, &mut state.again].into_iter().filter(|list| !list.is_empty());
            let ix = match seen.min_by_key(|list| list.first().copied()).and_then(BTreeSet::pop_first) {
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
                Some(earlier) => {
                    if matches!(state.pending.by_anchor.get(&earlier), Some(Progress::Ready(_))) {
                        // It is covered for all that is known: no block of its own will confine others.
                        state.order.know(ix, &mut state.again);
                    }
                    state.pending.wait(ix, earlier);
                }
                None if state.order.has_to_wait(ix) => {}
                None => return Some(ix),
            }
        }
    }

    /// Whether an anchor needs no run, or has one.
    pub(super) fn is_settled(&self, state: &mut State, ix: usize) -> bool {
        if ix < state.next || state.pending.by_anchor.contains_key(&ix) {
            return true;
        }
        if !state.is_covered[ix] && state.committed.accepted.covers(&self.anchors[ix]) {
            state.is_covered[ix] = true;
            // No block of its own will confine others.
            state.order.know(ix, &mut state.again);
        }
        state.is_covered[ix]
    }

    /// An earlier anchor under way whose block will probably cover anchor `ix`.
    pub(super) fn likely_cover(&self, state: &State, ix: usize) -> Option<usize> {
        let anchor = &self.anchors[ix];
        let likely_reach = state.committed.likely_reach();
        // What has come far goes on, probably.
        let will_be_over = |&(&other, watches): &(&usize, &Watches)| {
            let other = &self.anchors[other];
            let direction = if anchor.target < other.target { Direction::Left } else { Direction::Right };
            let reach = likely_reach.max(2 * watches.of(direction).rows() as usize);
            Committed::is_likely_covered(anchor, other, reach)
        };
        if let Some((&running, _)) = state.pending.running.range(..ix).find(will_be_over) {
            return Some(running);
        }
        let reach = likely_reach as u32;
        let near = (anchor.target.saturating_sub(reach), 0)..=(anchor.target.saturating_add(reach), usize::MAX);
        let others = state.pending.by_target.range(near).map(|&(_, other)| other).filter(|&other| other < ix);
        // Copies of a repeat lie somewhere else in the query: no need to look at what they found.
        let mut others = others.filter(|&other| Committed::may_cover(anchor, &self.anchors[other]));
        others.find(|other| match state.pending.by_anchor.get(other) {
            Some(Progress::Ready(extension)) => extension.is_over(anchor),
            _ => Committed::is_likely_covered(anchor, &self.anchors[*other], likely_reach),
        })
    }
}
