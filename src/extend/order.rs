//! Which anchors had better wait for which: a run beside an earlier anchor whose block is not known yet is probably in vain,
//! since that block will confine it.

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::alignment::Anchor;

/// For each anchor the earlier ones near it, and how many of them are not known: extended, or past their turn.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// By anchor. Empty: nobody waits.
    n_unknown: Vec<u32>,
    earlier: Lists,
    later: Lists,
    is_known: Vec<bool>,
    /// The anchors before this one have had their turn.
    passed: usize,
    /// By anchor: whether it was left out because it had to wait.
    was_left_out: Vec<bool>,
}

/// A list for each anchor: `items[starts[ix]..starts[ix + 1]]`.
#[derive(Debug, Default)]
struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Of pairs of an anchor and an item; the items of each in the order given.
    fn new(n: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Lists {
        let mut starts = vec![0u32; n + 2];
        pairs.clone().for_each(|(ix, _)| starts[ix as usize + 2] += 1);
        for ix in 1..starts.len() {
            starts[ix] += starts[ix - 1];
        }
        let mut items = vec![0; starts[n + 1] as usize];
        for (ix, item) in pairs {
            let at = &mut starts[ix as usize + 1];
            items[*at as usize] = item;
            *at += 1;
        }
        Lists { starts, items }
    }

    fn of(&self, ix: usize) -> &[u32] {
        match self.starts.get(ix..ix + 2) {
            Some(&[start, end]) => &self.items[start as usize..end as usize],
            _ => &[],
        }
    }
}

/// Most earlier anchors that one waits for, the last of them.
const MOST_EARLIER: usize = 16;
/// Most anchors of a stretch of diagonals that are looked at for one; in tandem repeats there are many more.
const MOST_LOOKED_AT: usize = 512;

/// An anchor among those of neighbouring diagonals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    stretch: i32,
    target: u32,
    ix: u32,
    diagonal: i64,
}

impl Order {
    /// Of these anchors, by their places among all `n`. Blocks of anchors within `rows` and `diagonals` of each other
    /// probably confine one another.
    pub fn new<'a>(
        anchors: impl Iterator<Item = (usize, &'a Anchor)>,
        n: usize,
        (rows, diagonals): (u32, u32),
    ) -> Order {
        let width = i64::from(diagonals) + 1;
        let place = |(ix, anchor): (usize, &Anchor)| {
            let diagonal = i64::from(anchor.target) - i64::from(anchor.query);
            Placed { stretch: diagonal.div_euclid(width) as i32, target: anchor.target, ix: ix as u32, diagonal }
        };
        let mut placed: Vec<Placed> = anchors.map(place).collect();
        placed.par_sort_unstable();
        // Earlier anchors near each one.
        let earlier = |one: &Placed| {
            let mut earlier = Vec::new();
            for stretch in one.stretch - 1..=one.stretch + 1 {
                let from = (stretch, one.target.saturating_sub(rows));
                let first = placed.partition_point(|other| (other.stretch, other.target) < from);
                let end = one.target.saturating_add(rows);
                let reached = placed[first..].iter().take_while(|o| o.stretch == stretch && o.target <= end);
                let near = reached.take(MOST_LOOKED_AT).filter(|other| {
                    other.ix < one.ix && (other.diagonal - one.diagonal).unsigned_abs() <= u64::from(diagonals)
                });
                earlier.extend(near.map(|other| other.ix));
            }
            let n = earlier.len();
            if n > MOST_EARLIER {
                earlier.select_nth_unstable(n - MOST_EARLIER);
                earlier.drain(..n - MOST_EARLIER);
            }
            earlier.sort_unstable();
            (one.ix, earlier)
        };
        let earlier: Vec<(u32, Vec<u32>)> = placed.par_iter().with_min_len(256).map(earlier).collect();
        let pairs = || earlier.iter().flat_map(|(ix, list)| list.iter().map(|&other| (*ix, other)));
        let mut n_unknown = vec![0; n];
        earlier.iter().for_each(|(ix, list)| n_unknown[*ix as usize] = list.len() as u32);
        Order {
            n_unknown,
            later: Lists::new(n, pairs().map(|(ix, other)| (other, ix))),
            earlier: Lists::new(n, pairs()),
            is_known: vec![false; n],
            passed: 0,
            was_left_out: vec![false; n],
        }
    }

    /// The earlier anchors near this one, ascending.
    pub fn earlier(&self, ix: usize) -> &[u32] {
        self.earlier.of(ix)
    }

    /// Whether an anchor had better wait. Who asks leaves it out, if so.
    pub fn has_to_wait(&mut self, ix: usize) -> bool {
        let waits = self.n_unknown.get(ix).is_some_and(|&n| n > 0);
        if waits {
            self.was_left_out[ix] = true;
        }
        waits
    }

    /// An anchor was extended: adds those to `freed` that were left out and need not wait any more.
    pub fn know(&mut self, ix: usize, freed: &mut BTreeSet<usize>) {
        if ix >= self.is_known.len() || std::mem::replace(&mut self.is_known[ix], true) {
            return;
        }
        for &later in self.later.of(ix) {
            let later = later as usize;
            self.n_unknown[later] -= 1;
            if self.n_unknown[later] == 0 && self.was_left_out[later] {
                freed.insert(later);
            }
        }
    }

    /// The anchors before number `next` have had their turn.
    pub fn pass(&mut self, next: usize, freed: &mut BTreeSet<usize>) {
        while self.passed < next {
            self.know(self.passed, freed);
            self.passed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(anchors: &[(u32, u32)]) -> Order {
        let anchors: Vec<Anchor> =
            anchors.iter().map(|&(target, query)| Anchor { target, query, hsp_score: 0 }).collect();
        Order::new(anchors.iter().enumerate(), anchors.len(), (1000, 300))
    }

    #[test]
    fn anchors_wait_for_earlier_ones_near_them() {
        // Off the first by rows and diagonals: far along, far beside, near, near on the other side.
        let mut order = order(&[(5000, 5000), (6001, 6001), (5000, 5301), (6000, 6300), (4500, 4200)]);
        let waiting: Vec<bool> = (0..5).map(|ix| order.has_to_wait(ix)).collect();
        assert_eq!(waiting, [false, false, false, true, true]);
        assert_eq!([order.earlier(3), order.earlier(4)], [&[0, 1, 2][..], &[0]]);
        let mut freed = BTreeSet::new();
        order.pass(1, &mut freed);
        assert_eq!(freed, BTreeSet::from([4]));
        // The fourth waits for the first three, of which one is extended before its turn.
        order.know(2, &mut freed);
        order.know(2, &mut freed);
        assert_eq!(freed, BTreeSet::from([4]));
        order.pass(3, &mut freed);
        assert_eq!(freed, BTreeSet::from([3, 4]));
        assert!((0..5).all(|ix| !order.has_to_wait(ix)));
    }

    #[test]
    fn those_that_nobody_left_out_are_not_handed_back() {
        let mut order = order(&[(5000, 5000), (5010, 5010)]);
        let mut freed = BTreeSet::new();
        order.pass(2, &mut freed);
        assert!(freed.is_empty());
    }

    #[test]
    fn of_many_the_last_count() {
        let anchors: Vec<(u32, u32)> = (0..40).map(|i| (5000 + i, 5000 + i)).collect();
        let mut order = order(&anchors);
        assert!(order.has_to_wait(39));
        assert_eq!(order.earlier(39), (23..39).collect::<Vec<u32>>());
        let mut freed = BTreeSet::new();
        order.pass(38, &mut freed);
        assert!(freed.is_empty());
        order.pass(39, &mut freed);
        assert_eq!(freed, BTreeSet::from([39]));
    }
}
