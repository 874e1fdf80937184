//! Waves of anchors that a bulk engine extends while others run ahead.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use rayon::prelude::*;

use super::ahead::{Schedule, State};
use super::bulk::wants_script;
use super::extension::Extension;
use super::side::Side;
use crate::alignment::Anchor;
use crate::error::Result;

/// Most anchors that a bulk wave extends.
pub(super) const MOST_BULK: usize = 1 << 15;

impl Schedule<'_, '_> {
    /// Extends the chosen anchors off the CPU.
    pub(super) fn extend_bulk(&self, chosen: Vec<usize>) {
        let accepted = self.lock().committed.accepted;
        let positions: Vec<Anchor> = chosen.iter().map(|&ix| self.anchors[ix]).collect();
        let stage = self.stage;
        let wants_script = wants_script(stage.all_bounds, stage.threshold);
        let bulk = self.bulk.as_ref().expect("only called with a bulk engine");
        let extended = bulk.lock().unwrap_or_else(PoisonError::into_inner).extend(&positions, &wants_script);
        let extended: Result<Vec<(usize, Extension)>> = extended.map(|extended| {
            let join = |(&ix, sides): (&usize, Option<(Side, Side)>)| {
                let sides = sides?;
                let has_scripts = wants_script(&sides.0, &sides.1);
                Some((ix, Extension::new(stage, &self.anchors[ix], sides, has_scripts, (accepted, 0))))
            };
            chosen.par_iter().zip(extended).filter_map(join).collect()
        });
        let mut state = self.lock();
        state.bulk_running = false;
        match extended {
            Ok(extended) => {
                for (ix, extension) in extended {
                    if ix >= state.next && !state.pending.by_anchor.contains_key(&ix) {
                        state.ready(ix, &self.anchors[ix], extension);
                    }
                }
            }
            Err(error) => {
                state.failure = Some(error);
                state.stopped = true;
            }
        }
    }

    /// Begins the next bulk wave: the next anchor, and later ones that are probably covered by none of the others.
    pub(super) fn choose_bulk(&self, state: &mut State) -> Vec<usize> {
        state.bulk_running = true;
        let mut chosen = Vec::new();
        // By target position, to look up what is near.
        let mut by_target: BTreeSet<(u32, usize)> = BTreeSet::new();
        let reach = state.committed.likely_reach() as u32;
        for (ix, anchor) in state.queue.iter_from(state.next) {
            if chosen.len() >= MOST_BULK {
                break;
            }
            state.bulk_done = ix + 1;
            let near = (anchor.target.saturating_sub(reach), 0)..=(anchor.target.saturating_add(reach), usize::MAX);
            let is_likely_covered = |other: usize| state.committed.is_likely_covered(anchor, &self.anchors[other]);
            let is_near = || by_target.range(near).any(|&(_, other)| is_likely_covered(other));
            if ix == state.next || (!state.committed.accepted.covers(anchor) && !is_near()) {
                chosen.push(ix);
                by_target.insert((anchor.target, ix));
            }
        }
        chosen
    }
}
