//! The walk over the query: seed hits in LASTZ's order (lastz-semantics 2.3).
//!
//! Order of hits: query window by query window; the exact word, then its transitions; within a word the newest target
//! window first. A walk can pause after any hit, so that callers bound their memory however often a word occurs.

use super::packed::{PackedBases, Planes};
use super::word_table::WordTable;
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
    /// How many of them the walk has passed again.
    hits_skipped: usize,
}

impl Cursor {
    /// Before the first hit of the window that ends at `query_end`.
    pub fn at(query_end: usize) -> Self {
        Cursor { query_end, hits_given: 0, hits_skipped: 0 }
    }
}

/// One query strand against a word table.
pub(crate) struct HitScan<'a> {
    table: &'a WordTable,
    query: &'a PackedBases,
    query_len: usize,
    flips: Vec<u32>,
    /// Those flips that lead to different cache lines of the table's bits.
    line_flips: Vec<u32>,
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
            side: match (options.self_comparison, is_same_strand) {
                (crate::options::SelfComparison::No, _) => None,
                (_, true) => Some(SelfSide::SameStrand),
                (_, false) => Some(SelfSide::OtherStrand { target: target_set, query: query_set }),
            },
        };
        let flips = table.layout.flips(seed.transitions);
        let mut line_flips: Vec<u32> = flips.iter().map(|flip| flip & !(WORDS_PER_LINE - 1)).collect();
        line_flips.sort_unstable();
        line_flips.dedup();
        HitScan {
            table,
            query,
            query_len: query_set.len(),
            flips,
            line_flips,
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
        let mut lookups = vec![Lookup::default(); BLOCK * self.flips.len() + 1];
        let mut left = max_hits;
        let mut at = cursor;
        while at.query_end < end {
            let block_end = end.min(at.query_end + BLOCK);
            let (n_lookups, next) = self.look_up(at.query_end..block_end, &mut lookups);
            for lookup in &lookups[..n_lookups] {
                if lookup.query_end as usize != at.query_end {
                    at = Cursor::at(lookup.query_end as usize);
                }
                let skip = at.hits_given.min(lookup.len());
                at.hits_given -= skip;
                at.hits_skipped += skip;
                let rest = &self.table.ends[lookup.first as usize + skip..lookup.end as usize];
                let rest = &rest[..rest.len().min(left)];
                self.give(lookup, rest, &mut give);
                at.hits_skipped += rest.len();
                left -= rest.len();
                if left == 0 {
                    return Cursor { query_end: at.query_end, hits_given: at.hits_skipped, hits_skipped: 0 };
                }
            }
            at = Cursor::at(next);
        }
        Cursor::at(at.query_end.max(end))
    }

    /// Looks up all words of windows that end in `windows`. Gives the number of words that occur, and where to go on.
    ///
    /// Each step does one kind of memory access for the whole block, so that the processor overlaps them.
    fn look_up(&self, windows: std::ops::Range<usize>, lookups: &mut [Lookup]) -> (usize, usize) {
        let layout = &self.table.layout;
        let mut words = [(0, 0); BLOCK];
        let mut n_words = 0;
        let mut query_end = windows.start;
        while query_end < windows.end {
            let window = self.query.at(query_end - layout.len);
            if let Some(word) = layout.word(&window) {
                words[n_words] = (query_end as u32, word);
                n_words += 1;
                query_end += 1;
            } else {
                // All windows that hold the last special base of this one are void as well.
                let special = window.special & layout.window_mask;
                query_end += 64 - special.leading_zeros() as usize;
            }
        }
        let words = &words[..n_words];
        let touched = words.iter().flat_map(|&(_, word)| self.line_flips.iter().map(move |flip| word ^ flip));
        std::hint::black_box(touched.fold(false, |sum, word| sum ^ self.table.occurs(word)));
        let mut n_lookups = 0;
        for &(query_end, word) in words {
            for &flip in &self.flips {
                let first = word ^ flip;
                lookups[n_lookups] = Lookup { query_end, flip, first, end: 0 };
                n_lookups += usize::from(self.table.occurs(first));
            }
        }
        for lookup in &mut lookups[..n_lookups] {
            lookup.first = self.table.rank(lookup.first);
        }
        for lookup in &mut lookups[..n_lookups] {
            let rank = lookup.first as usize;
            (lookup.first, lookup.end) = (self.table.starts[rank], self.table.starts[rank + 1]);
        }
        let touched = lookups[..n_lookups].iter().map(|lookup| self.table.ends.get(lookup.first as usize));
        std::hint::black_box(touched.fold(0, |sum, end| sum ^ end.copied().unwrap_or(0)));
        (n_lookups, query_end)
    }

    #[inline]
    fn give(&self, lookup: &Lookup, ends: &[u32], give: &mut impl FnMut(SeedHit)) {
        let hits = ends.iter().map(|&target_end| SeedHit { target_end, query_end: lookup.query_end });
        let Some(check) = &self.check else {
            return hits.for_each(give);
        };
        let len = self.table.layout.len;
        let window = self.query.at(lookup.query_end as usize - len);
        let passes = |hit: &SeedHit| {
            let target = self.table.target.at(hit.target_end as usize - len);
            check.passes(*hit, len, &target, &window, lookup.flip.count_ones())
        };
        hits.filter(passes).for_each(give);
    }
}

/// Words whose bits share 64 bytes.
const WORDS_PER_LINE: u32 = 512;

/// Query windows that are looked up together.
const BLOCK: usize = 32;

/// A word of a query window that occurs in the target.
#[derive(Clone, Copy, Debug, Default)]
struct Lookup {
    query_end: u32,
    flip: u32,
    /// First the word, then its rank, then where its windows start in the table.
    first: u32,
    end: u32,
}

impl Lookup {
    fn len(&self) -> usize {
        (self.end - self.first) as usize
    }
}

/// Tests that only some runs need.
struct HitCheck<'a> {
    window_mask: u64,
    resolve_mask: u64,
    transitions: u32,
    masked_later: bool,
    side: Option<SelfSide<'a>>,
}

impl HitCheck<'_> {
    fn is_needed(&self) -> bool {
        self.resolve_mask != 0 || self.masked_later || self.side.is_some()
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
