//! What the search finds: gap-free [`Hsp`]s and gapped [`Block`]s, in array positions of [`crate::SequenceSet`].

use std::ops::Range;

/// A gap-free segment pair. It covers `len` bases of both sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hsp {
    /// Array position of the first target base.
    pub target_start: u32,
    /// Array position of the first query base, on the searched strand.
    pub query_start: u32,
    /// Pairs.
    pub len: u32,
    /// Score after the entropy factor (or the length, under `--exact` before rescoring).
    pub score: i32,
}

impl Hsp {
    /// Target position minus query position.
    pub fn diagonal(&self) -> i64 {
        i64::from(self.target_start) - i64::from(self.query_start)
    }
    /// Array position after the last target base.
    pub fn target_end(&self) -> u32 {
        self.target_start + self.len
    }
    /// Array position after the last query base.
    pub fn query_end(&self) -> u32 {
        self.query_start + self.len
    }
}

/// One point of an HSP, where gapped extension starts (lastz-semantics 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Anchor {
    /// Array position in the target.
    pub target: u32,
    /// Array position in the query, on the searched strand.
    pub query: u32,
    /// Score of the HSP; orders the anchors.
    pub hsp_score: i32,
}

/// A column kind of an alignment. Rows are the target, columns the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EditOp {
    /// One target base against one query base (match or mismatch): CIGAR `M`.
    Pair,
    /// One query base against a gap in the target: CIGAR `I`.
    Insertion,
    /// One target base against a gap in the query: CIGAR `D`.
    Deletion,
}

/// Runs of equal columns, in sequence order. Neighbours differ, and no run is empty, except that of [`pairs`](Self::pairs)
/// without a pair.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EditScript {
    runs: Vec<(EditOp, u32)>,
}

impl EditScript {
    /// A script of `len` pairs. With none it still is a run, as an HSP without a pair is printed (lastz-semantics 3.6).
    pub fn pairs(len: u32) -> Self {
        EditScript { runs: vec![(EditOp::Pair, len)] }
    }

    /// Appends `len` columns, joining them to the last run if it is of the same kind.
    pub fn push(&mut self, op: EditOp, len: u32) {
        if len == 0 {
            return;
        }
        match self.runs.last_mut() {
            Some((last, n)) if *last == op => *n += len,
            _ => self.runs.push((op, len)),
        }
    }

    /// Appends `len` columns as a run of their own.
    pub fn push_apart(&mut self, op: EditOp, len: u32) {
        if len > 0 {
            self.runs.push((op, len));
        }
    }

    /// The runs in order.
    pub fn runs(&self) -> &[(EditOp, u32)] {
        &self.runs
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.runs.iter().all(|&(_, len)| len == 0)
    }

    /// The same columns from the other end.
    pub fn reversed(&self) -> EditScript {
        EditScript { runs: self.runs.iter().rev().copied().collect() }
    }

    /// Columns of each kind: (pairs, insertions, deletions).
    pub fn counts(&self) -> (u64, u64, u64) {
        let mut counts = (0, 0, 0);
        for &(op, len) in &self.runs {
            match op {
                EditOp::Pair => counts.0 += u64::from(len),
                EditOp::Insertion => counts.1 += u64::from(len),
                EditOp::Deletion => counts.2 += u64::from(len),
            }
        }
        counts
    }

    /// Target bases consumed.
    pub fn target_len(&self) -> usize {
        let (pairs, _, deletions) = self.counts();
        (pairs + deletions) as usize
    }

    /// Query bases consumed.
    pub fn query_len(&self) -> usize {
        let (pairs, insertions, _) = self.counts();
        (pairs + insertions) as usize
    }
}

impl FromIterator<(EditOp, u32)> for EditScript {
    fn from_iter<I: IntoIterator<Item = (EditOp, u32)>>(runs: I) -> Self {
        let mut script = EditScript::default();
        runs.into_iter().for_each(|(op, len)| script.push(op, len));
        script
    }
}

/// An alignment of one partition of the target with one of the query. A gap-free one is a single run of pairs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// Array position of the first target base.
    pub target_start: usize,
    /// Array position of the first query base, on the searched strand.
    pub query_start: usize,
    /// The columns.
    pub script: EditScript,
    /// LASTZ's score (the two halves at the anchor are summed: 5.5).
    pub score: i64,
}

impl Block {
    /// Target array positions covered.
    pub fn target_range(&self) -> Range<usize> {
        self.target_start..self.target_start + self.script.target_len()
    }
    /// Query array positions covered.
    pub fn query_range(&self) -> Range<usize> {
        self.query_start..self.query_start + self.script.query_len()
    }
    /// Whether these array positions are a pair of it.
    pub fn has_pair(&self, target: usize, query: usize) -> bool {
        if !(self.target_range().contains(&target) && self.query_range().contains(&query)) {
            return false;
        }
        let (mut row, mut column) = (self.target_start, self.query_start);
        for &(op, len) in self.script.runs() {
            let len = len as usize;
            if op == EditOp::Pair && (row..row + len).contains(&target) {
                return query == column + (target - row);
            }
            row += if op == EditOp::Insertion { 0 } else { len };
            column += if op == EditOp::Deletion { 0 } else { len };
        }
        false
    }
}

impl From<&Hsp> for Block {
    fn from(hsp: &Hsp) -> Block {
        Block {
            target_start: hsp.target_start as usize,
            query_start: hsp.query_start as usize,
            script: EditScript::pairs(hsp.len),
            score: i64::from(hsp.score),
        }
    }
}
