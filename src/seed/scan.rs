//! The walk over the query: seed hits in LASTZ's order (lastz-semantics 2.3).
//!
//! Order of hits: query window by query window; the exact word, then its transitions; within a word the newest target
//! window first. A walk can pause after any hit, so that callers bound their memory however often a word occurs.

use super::packed::{PackedBases, Planes};
use super::word_table::WordTable;
use crate::options::SeedHitFilter;
use crate::{Options, SequenceSet};

/// A target and a query window with (nearly) the same word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeedHit {
    /// Array position after the target window.
    pub target_end: u32,
    /// Array position after the query window.
    pub query_end: u32,
}

/// Where a walk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// End of the query window.
    pub query_end: usize,
    /// How many of its hits were given already.
    hits_given: usize,
}

impl Cursor {
    /// Before the first hit of the window that ends at `query_end`.
    pub fn at(query_end: usize) -> Self {
        Cursor { query_end, hits_given: 0 }
    }
}

/// One query strand against a word table.
pub(crate) struct HitScan<'a> {
    table: &'a WordTable,
    query: &'a PackedBases,
    query_len: usize,
    flips: Vec<u32>,
    check: Option<HitCheck<'a>>,
}

impl<'a> HitScan<'a> {
    /// `query` is `query_set` packed; `is_same_strand` says which rule of `--self` holds.
    pub fn new(
        table: &'a WordTable,
        (target_set, query_set): (&'a SequenceSet, &'a SequenceSet),
        query: &'a PackedBases,
        options: &Options,
        is_same_strand: bool,
    ) -> Self {
        let seed = &options.seed;
        let check = HitCheck {
            window_mask: table.layout.window_mask,
            resolve_mask: table.layout.resolve_mask,
            transitions: u32::from(seed.transitions),
            masked_later: table.is_stale,
            filter: seed.hit_filter.clone().map(|filter| {
                let mask = if filter.cares_only { table.layout.care_mask } else { table.layout.window_mask };
                (filter, mask)
            }),
            side: match (options.self_comparison, is_same_strand) {
                (crate::options::SelfComparison::No, _) => None,
                (_, true) => Some(SelfSide::SameStrand),
                (_, false) => Some(SelfSide::OtherStrand { target: target_set, query: query_set }),
            },
        };
        HitScan {
            table,
            query,
            query_len: query_set.len(),
            flips: table.layout.flips(seed.transitions),
            check: check.is_needed().then_some(check),
        }
    }

    /// The first window.
    pub fn start(&self) -> Cursor {
        Cursor::at(self.table.layout.len)
    }

    /// After the last possible window end.
    pub fn end(&self) -> usize {
        self.query_len + 1
    }

    /// Sorts hits into the order of the walk: query window, place of the word among the lookups, newest target first.
    pub fn rank(&self, hit: SeedHit) -> (u32, usize, std::cmp::Reverse<u32>) {
        let layout = &self.table.layout;
        let target = layout.word(&self.table.target.at(hit.target_end as usize - layout.len));
        let query = layout.word(&self.query.at(hit.query_end as usize - layout.len));
        let flip = target.zip(query).map(|(target, query)| target ^ query);
        let lookup = self.flips.iter().position(|&f| Some(f) == flip).expect("the words of a hit differ by a flip");
        (hit.query_end, lookup, std::cmp::Reverse(hit.target_end))
    }

    /// Walks from `cursor` over windows that end before `end`; gives at most `max_hits` hits, and says where to go
    /// on: `query_end >= end` when all were given.
    pub fn walk(&self, cursor: Cursor, end: usize, max_hits: usize, mut give: impl FnMut(SeedHit)) -> Cursor {
        let layout = &self.table.layout;
        let mut left = max_hits;
        let mut skip = cursor.hits_given;
        let mut query_end = cursor.query_end;
        let mut words = vec![(0u32, 0u32); self.flips.len()];
        while query_end < end {
            let start = query_end - layout.len;
            let window = self.query.at(start);
            let Some(word) = layout.word(&window) else {
                // All windows that hold the last special base of this one are void as well.
                let special = window.special & layout.window_mask;
                query_end += 64 - special.leading_zeros() as usize;
                continue;
            };
            let mut n_words = 0;
            for &flip in &self.flips {
                words[n_words] = (word ^ flip, flip);
                n_words += usize::from(self.table.occurs(word ^ flip));
            }
            let mut given = 0;
            for &(word, flip) in &words[..n_words] {
                let ends = self.table.ends_of(word);
                if skip >= ends.len() {
                    skip -= ends.len();
                    given += ends.len();
                    continue;
                }
                given += skip;
                let rest = &ends[skip..];
                skip = 0;
                let rest = &rest[..rest.len().min(left)];
                let hits = rest.iter().map(|&target_end| SeedHit { target_end, query_end: query_end as u32 });
                match &self.check {
                    None => hits.for_each(&mut give),
                    Some(check) => {
                        let passes = |hit: &SeedHit| {
                            let target = self.table.target.at(hit.target_end as usize - layout.len);
                            check.passes(*hit, layout.len, &target, &window, flip.count_ones())
                        };
                        hits.filter(passes).for_each(&mut give)
                    }
                }
                given += rest.len();
                left -= rest.len();
                if left == 0 {
                    return Cursor { query_end, hits_given: given };
                }
            }
            query_end += 1;
        }
        Cursor::at(query_end.max(end))
    }
}

/// Tests that only some runs need.
struct HitCheck<'a> {
    window_mask: u64,
    resolve_mask: u64,
    transitions: u32,
    masked_later: bool,
    filter: Option<(SeedHitFilter, u64)>,
    side: Option<SelfSide<'a>>,
}

impl HitCheck<'_> {
    fn is_needed(&self) -> bool {
        self.resolve_mask != 0 || self.masked_later || self.filter.is_some() || self.side.is_some()
    }

    fn passes(&self, hit: SeedHit, len: usize, target: &Planes, query: &Planes, n_flips: u32) -> bool {
        if self.masked_later && target.special & self.window_mask != 0 {
            return false;
        }
        let other = (target.transition ^ query.transition) | (target.class ^ query.class);
        // Places indexed by class only may use the transitions that the word lookup did not use.
        if (other & self.resolve_mask).count_ones() + n_flips > self.transitions {
            return false;
        }
        if let Some((filter, mask)) = &self.filter {
            let transversions = ((target.class ^ query.class) & mask).count_ones();
            if (!other & mask).count_ones() < filter.min_matches
                || filter.max_transversions.is_some_and(|max| transversions > max)
            {
                return false;
            }
        }
        self.side.as_ref().is_none_or(|side| side.holds(hit, len))
    }
}

/// Which hits `--self` keeps: those on one side of the diagonal (2.3).
enum SelfSide<'a> {
    SameStrand,
    OtherStrand { target: &'a SequenceSet, query: &'a SequenceSet },
}

impl SelfSide<'_> {
    fn holds(&self, hit: SeedHit, len: usize) -> bool {
        match self {
            SelfSide::SameStrand => hit.target_end < hit.query_end,
            SelfSide::OtherStrand { target, query } => {
                let (start1, start2) = (hit.target_end as usize - len, hit.query_end as usize - len);
                let (ix1, ix2) = (target.partition_ix(start1), query.partition_ix(start2));
                if ix1 != ix2 {
                    return ix1 < ix2;
                }
                // Separators stand at range.start - 1 and range.end; without partitions that is -1 and the length.
                let range = &target.partitions[ix1].range;
                start1 + start2 + 1 < range.start + range.end
            }
        }
    }
}
