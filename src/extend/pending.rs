//! Anchors that are being extended ahead of their turn, or wait for it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::extension::{Explored, Extension};
use super::side::Direction;
use crate::alignment::{Anchor, Block};
use crate::cpu::ydrop::RunWatch;

/// The runs of both sides of an anchor, left first, while they are under way.
#[derive(Clone, Default)]
pub(super) struct Watches(Arc<[RunWatch; 2]>);

impl Watches {
    pub fn of(&self, direction: Direction) -> &RunWatch {
        &self.0[usize::from(direction == Direction::Right)]
    }
}

/// How far an anchor has come.
pub(super) enum Progress {
    /// In a bulk wave.
    InWave,
    Running,
    Ready(Box<Extension>),
}

/// Anchors under way or waiting for their turn.
#[derive(Default)]
pub(super) struct Pending {
    pub by_anchor: BTreeMap<usize, Progress>,
    pub by_target: BTreeSet<(u32, usize)>,
    pub running: BTreeMap<usize, Watches>,
    /// Anchors that one of these will probably cover.
    waiting: HashMap<usize, Vec<usize>>,
    /// What ready ones explored, by bin of target rows; and some that are not ready any more.
    explored: HashMap<i64, Vec<(usize, Explored)>>,
}

/// Target rows per bin of [`Pending::explored`], as a power of two.
const BIN_SHIFT: i64 = 11;

impl Pending {
    pub fn start(&mut self, ix: usize, anchor: &Anchor, progress: Progress) {
        self.by_anchor.insert(ix, progress);
        self.by_target.insert((anchor.target, ix));
    }

    /// Both sides of an anchor begin.
    pub fn run(&mut self, ix: usize, anchor: &Anchor, watches: Watches) {
        self.running.insert(ix, watches);
        self.start(ix, anchor, Progress::Running);
    }

    /// Keeps a result until its turn; what waited for it is to be looked at again.
    pub fn ready(&mut self, ix: usize, anchor: &Anchor, extension: Box<Extension>, again: &mut BTreeSet<usize>) {
        self.release(ix, again);
        let explored = extension.explored;
        for bin in explored.rows.0 >> BIN_SHIFT..=explored.rows.1 >> BIN_SHIFT {
            let list = self.explored.entry(bin).or_default();
            if list.len() == list.capacity() {
                // Before it grows.
                list.retain(|(ix, _)| matches!(self.by_anchor.get(ix), Some(Progress::Ready(_))));
                list.reserve(list.len() + 4);
            }
            list.push((ix, explored));
        }
        self.running.remove(&ix);
        self.by_anchor.insert(ix, Progress::Ready(extension));
        self.by_target.insert((anchor.target, ix));
    }

    /// Anchor `ix` waits for an earlier one that will probably cover it.
    pub fn wait(&mut self, ix: usize, earlier: usize) {
        self.waiting.entry(earlier).or_default().push(ix);
    }

    pub fn is_running(&self, ix: usize) -> bool {
        self.running.contains_key(&ix)
    }

    /// Forgets an anchor, and stops its tasks; what waited for it is to be looked at again.
    pub fn remove(&mut self, ix: usize, anchor: &Anchor, again: &mut BTreeSet<usize>) -> Option<Progress> {
        let progress = self.by_anchor.remove(&ix)?;
        if let Some(watches) = self.running.remove(&ix) {
            watches.0.iter().for_each(RunWatch::stop);
        }
        self.by_target.remove(&(anchor.target, ix));
        self.release(ix, again);
        Some(progress)
    }

    /// Takes what waited for anchor `ix`.
    fn release(&mut self, ix: usize, again: &mut BTreeSet<usize>) {
        again.extend(self.waiting.remove(&ix).into_iter().flatten());
    }

    /// Ready anchors that a block may touch.
    pub fn near(&self, block: &Block) -> BTreeSet<usize> {
        let rows = (block.target_start as i64, block.target_range().end as i64);
        let columns = (block.query_start as i64, block.query_range().end as i64);
        let meets = |a: (i64, i64), b: (i64, i64)| a.0 <= b.1 && b.0 <= a.1;
        let mut found = BTreeSet::new();
        for bin in rows.0 >> BIN_SHIFT..=rows.1 >> BIN_SHIFT {
            for (ix, explored) in self.explored.get(&bin).into_iter().flatten() {
                let is_near = meets(explored.rows, rows) && meets(explored.columns, columns);
                if is_near && matches!(self.by_anchor.get(ix), Some(Progress::Ready(_))) {
                    found.insert(*ix);
                }
            }
        }
        found
    }
}
