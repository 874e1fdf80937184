//! `--chain`: the best colinear chain of HSPs (lastz-semantics 6.3), one per pair of target and query sequence.
//!
//! ```text
//! chain(i) = 100 * score(i) + max over j before i of (chain(j) - penalty(j, i)),  at least 100 * score(i)
//! ```
//! The maximum is found in a k-d tree over (query start, diagonal), in which LASTZ prunes with the best chain of each
//! node. Which of several equal predecessors wins follows from the shape of the tree, and with penalties LASTZ
//! exchanges two arguments below one kind of node, so that its chain can be less than optimal. Both are reproduced.

use crate::alignment::Hsp;
use crate::options::ChainPenalties;
use crate::scoring::Scoring;
use crate::sequence::SequenceSet;
use rayon::prelude::*;

/// Entries of a leaf, at most.
const LEAF: usize = 3;
/// No entry, no node.
const NONE: u32 = u32::MAX;

/// Keeps the best chain of each (target sequence, query sequence) pair. The result is sorted by target start, length
/// and query start, as LASTZ prints it.
pub fn chain(
    mut hsps: Vec<Hsp>,
    target: &SequenceSet,
    query: &SequenceSet,
    penalties: ChainPenalties,
    scoring: &Scoring,
) -> Vec<Hsp> {
    let pair_of = |hsp: &Hsp| {
        let target_ix = target.partition_ix(hsp.target_start as usize);
        (target_ix, query.partition_ix(hsp.query_start as usize))
    };
    let has_pairs = target.partitions.len() > 1 || query.partitions.len() > 1;
    hsps.par_sort_unstable_by_key(position_key);
    if !has_pairs {
        return best_chain(&hsps, penalties, scoring);
    }
    // Stable, so that each group stays sorted by position.
    let mut grouped: Vec<((usize, usize), Hsp)> = hsps.into_iter().map(|hsp| (pair_of(&hsp), hsp)).collect();
    grouped.par_sort_by_key(|&(pair, _)| pair);
    let groups: Vec<&[((usize, usize), Hsp)]> = grouped.chunk_by(|a, b| a.0 == b.0).collect();
    let mut kept: Vec<Hsp> = groups
        .into_par_iter()
        .flat_map_iter(|group| {
            let hsps: Vec<Hsp> = group.iter().map(|&(_, hsp)| hsp).collect();
            best_chain(&hsps, penalties, scoring)
        })
        .collect();
    kept.par_sort_unstable_by_key(position_key);
    kept
}

fn position_key(hsp: &Hsp) -> (u32, u32, u32, i32) {
    (hsp.target_start, hsp.len, hsp.query_start, hsp.score)
}

/// The best chain of HSPs sorted by [`position_key`].
fn best_chain(hsps: &[Hsp], penalties: ChainPenalties, scoring: &Scoring) -> Vec<Hsp> {
    // LASTZ scales the penalty of an overlap by the score of the first row against the first column.
    let match_score = match (scoring.rows.first(), scoring.columns.first()) {
        (Some(&row), Some(&column)) => scoring.gapped.get(row, column),
        _ => scoring.gapped.get(b'A', b'A'),
    };
    let cost =
        Cost { diagonal: penalties.diagonal, anti: penalties.anti_diagonal, overlap: match_score.wrapping_mul(100) };
    let mut tree = Tree::build(hsps);
    let mut chains: Vec<f64> = Vec::with_capacity(hsps.len());
    let mut predecessors: Vec<u32> = Vec::with_capacity(hsps.len());
    let (mut best, mut end) = (0.0, NONE);
    for (i, hsp) in hsps.iter().enumerate() {
        let before = tree.best_predecessor(hsps, &chains, i, cost);
        let total = 100.0 * f64::from(hsp.score) + before.chain;
        if total > best {
            (best, end) = (total, i as u32);
        }
        chains.push(total);
        predecessors.push(before.hsp_ix);
        tree.raise(i, total);
    }
    let mut kept = Vec::new();
    while end != NONE {
        kept.push(hsps[end as usize]);
        end = predecessors[end as usize];
    }
    kept.reverse();
    kept
}

/// LASTZ's costs are products of 32-bit integers, which wrap around, and sums of doubles, which do not.
#[derive(Clone, Copy)]
struct Cost {
    diagonal: i32,
    anti: i32,
    overlap: i32,
}

impl Cost {
    /// Penalty of `after` following `before`, within the range of 32-bit integers.
    fn of(self, before: &Hsp, after: &Hsp) -> f64 {
        let diagonals = after.diagonal() - before.diagonal();
        let gap = if diagonals >= 0 {
            i64::from(after.query_start) - i64::from(before.query_end())
        } else {
            i64::from(after.target_start) - i64::from(before.target_end())
        };
        let along = if gap >= 0 { product(gap, self.anti) } else { product(-gap, self.overlap) };
        (product(diagonals.abs(), self.diagonal) + along).clamp(f64::from(i32::MIN), f64::from(i32::MAX))
    }
}

/// The low 32 bits of `distance * cost`, as a signed integer.
fn product(distance: i64, cost: i32) -> f64 {
    f64::from((distance as i32).wrapping_mul(cost))
}

/// A candidate for the predecessor: its chain less the penalty.
#[derive(Clone, Copy)]
struct Predecessor {
    hsp_ix: u32,
    chain: f64,
}

/// One node of the tree over `order[first..=last]`.
struct Node {
    first: u32,
    last: u32,
    /// Low and high son, [`NONE`] in a leaf. The high son's keys are at least `cut`.
    sons: [u32; 2],
    cut: i64,
    parent: u32,
    /// Best chain that ends in this node.
    max: f64,
    /// Least query start. A node without any earlier query start is skipped; LASTZ walks all of it and finds nothing.
    min_query: u32,
}

struct Tree {
    nodes: Vec<Node>,
    /// HSP indices in tree order.
    order: Vec<u32>,
    leaf_from_hsp: Vec<u32>,
}

/// What the search orders by: axis 1 is the query start, any other the diagonal.
fn key(hsp: &Hsp, axis: i64) -> i64 {
    if axis == 1 { i64::from(hsp.query_start) } else { hsp.diagonal() }
}

impl Tree {
    fn build(hsps: &[Hsp]) -> Tree {
        let mut order: Vec<u32> = (0..hsps.len() as u32).collect();
        let mut nodes: Vec<Node> = Vec::new();
        let mut leaf_from_hsp = vec![NONE; hsps.len()];
        // (first, last, axis, parent, which son)
        let mut todo = Vec::new();
        if !hsps.is_empty() {
            todo.push((0, hsps.len() - 1, 1, NONE, 0));
        }
        while let Some((first, last, axis, parent, side)) = todo.pop() {
            let ix = nodes.len() as u32;
            if parent != NONE {
                nodes[parent as usize].sons[side] = ix;
            }
            let mut node = Node {
                first: first as u32,
                last: last as u32,
                sons: [NONE; 2],
                cut: 0,
                parent,
                max: f64::NEG_INFINITY,
                min_query: order[first..=last].iter().map(|&ix| hsps[ix as usize].query_start).min().unwrap_or(0),
            };
            if last - first < LEAF {
                order[first..=last].iter().for_each(|&hsp_ix| leaf_from_hsp[hsp_ix as usize] = ix);
            } else {
                let middle = first + split(&mut order[first..=last], |hsp_ix| key(&hsps[hsp_ix as usize], axis));
                node.cut = key(&hsps[order[middle] as usize], axis);
                todo.push((middle + 1, last, 1 - axis, ix, 1));
                todo.push((first, middle, 1 - axis, ix, 0));
            }
            nodes.push(node);
        }
        Tree { nodes, order, leaf_from_hsp }
    }

    /// Makes a finished chain known to every node that contains its last HSP.
    fn raise(&mut self, hsp_ix: usize, chain: f64) {
        let mut at = self.leaf_from_hsp[hsp_ix];
        while at != NONE && self.nodes[at as usize].max < chain {
            self.nodes[at as usize].max = chain;
            at = self.nodes[at as usize].parent;
        }
    }

    /// The best predecessor of HSP `i`; its chain is 0 if there is none.
    fn best_predecessor(&self, hsps: &[Hsp], chains: &[f64], i: usize, cost: Cost) -> Predecessor {
        let after = &hsps[i];
        let mut found = Predecessor { hsp_ix: NONE, chain: 0.0 };
        // (node, axis, lower bound of the penalty), the next one last
        let mut todo: Vec<(u32, i64, f64)> = vec![(0, 1, 0.0)];
        while let Some((ix, axis, bound)) = todo.pop() {
            let node = &self.nodes[ix as usize];
            if found.chain >= node.max - bound || node.min_query >= after.query_start {
                continue;
            }
            let [low, high] = node.sons;
            if low == NONE {
                self.search_leaf(node, hsps, chains, after, cost, &mut found);
            } else if axis == 1 {
                // LASTZ passes the bound as the axis and the other way round (6.3, quirk).
                let axis = bound as i64;
                todo.push((low, axis, 0.0));
                if i64::from(after.query_start) >= node.cut {
                    todo.push((high, axis, 0.0));
                }
            } else {
                let distance = (after.diagonal() - node.cut) as f64;
                if distance >= 0.0 {
                    todo.push((low, 1 - axis, distance * f64::from(cost.diagonal)));
                    todo.push((high, 1 - axis, bound));
                } else {
                    todo.push((high, 1 - axis, -distance * f64::from(cost.anti)));
                    todo.push((low, 1 - axis, bound));
                }
            }
        }
        found
    }

    fn search_leaf(&self, leaf: &Node, hsps: &[Hsp], chains: &[f64], after: &Hsp, cost: Cost, found: &mut Predecessor) {
        for &hsp_ix in &self.order[leaf.first as usize..=leaf.last as usize] {
            let before = &hsps[hsp_ix as usize];
            if before.target_start < after.target_start && before.query_start < after.query_start {
                let chain = chains[hsp_ix as usize] - cost.of(before, after);
                if chain > found.chain {
                    *found = Predecessor { hsp_ix, chain };
                }
            }
        }
    }
}

/// LASTZ's partition step: reorders `order` so that no key up to the returned index exceeds one after it. The exact
/// swaps decide the tree. (The key at the returned index need not be the greatest of the low part.)
fn split(order: &mut [u32], key: impl Fn(u32) -> i64) -> usize {
    let mut last = order.len() - 1;
    // The greatest key of order[..=last] is at most this. A pivot equal to it needs no scan, which keeps many equal
    // keys linear; LASTZ scans all of them anew for every one.
    let mut ceiling = None;
    loop {
        let middle = last / 2;
        let (a, b, c) = (key(order[0]), key(order[middle]), key(order[last]));
        if (a <= b && b <= c) || (c <= b && b <= a) {
            order.swap(0, middle);
        } else if (a <= c && c <= b) || (b <= c && c <= a) {
            order.swap(0, last);
        }
        let pivot = key(order[0]);
        let at = if ceiling == Some(pivot) { last } else { partition(order, last, pivot, &key) };
        order.swap(0, at);
        if at < last {
            return at;
        }
        ceiling = Some(pivot);
        if last == 2 {
            return 1;
        }
        last -= 1;
    }
}

/// Moves keys up to `pivot` before greater ones in `order[1..=last]`; the index of the last one that is not greater.
fn partition(order: &mut [u32], last: usize, pivot: i64, key: impl Fn(u32) -> i64) -> usize {
    let (mut i, mut j) = (0, last + 1);
    loop {
        i += 1;
        while i <= last && key(order[i]) <= pivot {
            i += 1;
        }
        j -= 1;
        while key(order[j]) > pivot {
            j -= 1;
        }
        if i >= j {
            return j;
        }
        order.swap(i, j);
    }
}

#[cfg(test)]
mod tests;
