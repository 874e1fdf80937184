//! Per-query limits: `--queryhsplimit` and `--querydepth` (lastz-semantics 6.8), with LASTZ's words on stderr (9.4).

use crate::alignment::{Block, EditOp, EditScript};
use crate::options::OverLimit;
use crate::sequence::SequenceSet;
use bstr::{BStr, ByteSlice};

/// `--queryhsplimit`: the most HSPs of a query. One value serves a whole run.
#[derive(Clone, Debug)]
pub struct HspLimit {
    limit: u64,
    over: OverLimit,
    /// Query strands that exceeded the limit so far.
    exceeded: u64,
    has_explained: bool,
}

/// HSPs of one strand.
#[derive(Clone, Copy, Debug)]
pub struct StrandHspCount {
    /// Found by the search.
    pub found: u64,
    /// Put into the list: with `--self --nogapped` also the mirror images of those found.
    pub listed: u64,
}

/// HSPs of one query so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueryHspCount {
    listed: u64,
    is_over: bool,
}

impl HspLimit {
    /// A limit of `limit` HSPs per query.
    pub fn new(limit: u32, over: OverLimit) -> Self {
        HspLimit { limit: u64::from(limit), over, exceeded: 0, has_explained: false }
    }

    /// The limit of the next strand: its search stops after the first query position at which more than this many
    /// HSPs have been found. What the first strand listed counts against the second, which may always find one.
    pub fn strand_limit(&self, so_far: QueryHspCount) -> u64 {
        self.limit.saturating_sub(so_far.listed).max(1)
    }

    /// Takes note of a searched strand. False: the next strand need not be searched.
    pub fn add_strand(
        &mut self,
        so_far: &mut QueryHspCount,
        count: StrandHspCount,
        query: &SequenceSet,
        warn: &mut dyn FnMut(String),
    ) -> bool {
        let is_exceeded = count.found > self.strand_limit(*so_far);
        so_far.listed += count.listed;
        so_far.is_over |= is_exceeded || count.listed > self.limit;
        if is_exceeded {
            self.exceeded += 1;
            self.warn(query, warn);
        }
        self.over.keep || !so_far.is_over
    }

    fn warn(&mut self, query: &SequenceSet, warn: &mut dyn FnMut(String)) {
        if !self.over.warn {
            return;
        }
        // Of a `[multiple]` query LASTZ names the sequence that it read last.
        let name = query.partitions.last().map_or(BStr::new(""), |p| p.name.as_bstr());
        warn(format!("WARNING. Query \"{name}\" contains more than {} HSPs.", with_commas(self.limit)));
        if !self.has_explained {
            self.has_explained = true;
            warn("All HSPs for this query are discarded and the query is not processed further.".to_string());
        }
    }

    /// Whether the query is processed at all. The second strand can be within its own limit of at least one, and images
    /// are not seen by the search, and still the total is over the limit: such a query is dropped without a warning.
    pub fn keeps(&self, so_far: QueryHspCount) -> bool {
        self.over.keep || so_far.listed <= self.limit
    }

    /// Most lines per query with `--nogapped`, and most strand lists per query otherwise.
    pub fn most_kept(&self) -> u64 {
        self.limit
    }

    /// The line at the end of the run, which LASTZ prints even if told not to warn.
    pub fn summary(&self) -> Option<String> {
        match self.exceeded {
            0 => None,
            1 => Some("1 query exceeded the HSP limit".to_string()),
            n => Some(format!("{} queries exceeded the HSP limit", with_commas(n))),
        }
    }
}

/// The first `most` runs of pairs of a block, and their number. Two gaps that touch have an empty run between them, as in
/// the formats that print run by run.
pub fn first_runs(block: &Block, most: u64) -> (Block, u64) {
    let (mut count, mut after_gap) = (0, false);
    let mut kept = EditScript::default();
    for &(op, len) in block.script.runs() {
        let is_gap = op != EditOp::Pair;
        if !is_gap || std::mem::replace(&mut after_gap, true) {
            if count == most {
                break;
            }
            count += 1;
        }
        after_gap = is_gap;
        kept.push_apart(op, len);
    }
    (Block { script: kept, ..block.clone() }, count)
}

/// Blocks up to `room` runs of pairs, which it uses up; the last block may be cut.
pub fn cut_to_room(blocks: &[Block], room: &mut u64) -> Vec<Block> {
    let mut kept = Vec::new();
    for block in blocks {
        if *room == 0 {
            break;
        }
        let (block, used) = first_runs(block, *room);
        *room -= used;
        kept.push(block);
    }
    kept
}

/// `--querydepth`: the most paired bases of a query strand. One value serves a whole run.
#[derive(Clone, Debug)]
pub struct DepthLimit {
    depth: f64,
    over: OverLimit,
    has_explained: bool,
}

/// Paired bases of one query strand.
#[derive(Clone, Copy, Debug)]
pub struct StrandDepth {
    limit: f32,
    pairs: u64,
}

impl StrandDepth {
    /// Counts a block that was just accepted; false: the strand is over its limit, no further anchor is extended.
    pub fn accept(&mut self, block: &Block) -> bool {
        self.pairs += block.script.counts().0;
        !self.is_exceeded()
    }

    /// Whether the limit was exceeded.
    pub fn is_exceeded(&self) -> bool {
        self.pairs > self.limit as u64
    }
}

impl DepthLimit {
    /// A limit of `depth` times the query length; `None` if `depth` is not positive, which turns it off.
    pub fn new(depth: f64, over: OverLimit) -> Option<Self> {
        (depth > 0.0).then_some(DepthLimit { depth, over, has_explained: false })
    }

    /// A fresh count for one query strand.
    pub fn strand(&self, query: &SequenceSet) -> StrandDepth {
        // In single precision: 1.1 times 790 is 869.
        StrandDepth { limit: (self.depth as f32 * query.counted_len() as f32).ceil(), pairs: 0 }
    }

    /// After a strand: warns if it went over, and says whether its blocks are kept.
    pub fn keeps(&mut self, strand: StrandDepth, query: &SequenceSet, warn: &mut dyn FnMut(String)) -> bool {
        if !strand.is_exceeded() {
            return true;
        }
        if self.over.warn {
            let name = match query.is_partitioned {
                true => BStr::new("seq2"),
                false => query.partitions.first().map_or(BStr::new(""), |p| p.name.as_bstr()),
            };
            let limit = counted(strand.limit as u64, "paired base");
            warn(format!("WARNING. Query {name} ({} strand) contains more than {limit}.", query.strand()));
            if !self.has_explained {
                self.has_explained = true;
                let lines = match self.over.keep {
                    true => [
                        "Any gapped alignments already found for this query/strand are reported but the",
                        "query/strand is not processed further.",
                    ],
                    false => [
                        "All gapped alignments for this query/strand are discarded and the query/strand",
                        "is not processed further.",
                    ],
                };
                lines.into_iter().for_each(|line| warn(line.to_string()));
            }
        }
        self.over.keep
    }
}

/// A number of things: `1 paired base`, `1,202 paired bases`.
fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", with_commas(number), if number == 1 { "" } else { "s" })
}

/// `1234567` as `1,234,567`.
pub fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::{EditOp, EditScript};

    const KEEP: OverLimit = OverLimit { keep: true, warn: true };
    const DROP: OverLimit = OverLimit { keep: false, warn: true };

    fn without_images(found: u64) -> StrandHspCount {
        StrandHspCount { found, listed: found }
    }

    #[test]
    fn numbers_have_thousands_commas() {
        assert_eq!([0, 999, 1000, 123_456, 1_234_567].map(with_commas), ["0", "999", "1,000", "123,456", "1,234,567"]);
    }

    #[test]
    fn hsp_limit_without_keep_skips_the_second_strand_and_explains_once() {
        let query = SequenceSet::single("q1", b"ACGT");
        let mut lines = Vec::new();
        let mut limit = HspLimit::new(2, DROP);
        for _ in 0..2 {
            let mut count = QueryHspCount::default();
            assert!(!limit.add_strand(&mut count, without_images(3), &query, &mut |line| lines.push(line)));
            assert!(!limit.keeps(count));
        }
        let warning = "WARNING. Query \"q1\" contains more than 2 HSPs.";
        let explanation = "All HSPs for this query are discarded and the query is not processed further.";
        assert_eq!(lines, [warning, explanation, warning]);
        assert_eq!(limit.summary().unwrap(), "2 queries exceeded the HSP limit");
    }

    #[test]
    fn a_full_first_strand_leaves_one_hsp_to_the_second() {
        let query = SequenceSet::single("q1", b"ACGT");
        let mut limit = HspLimit::new(7, DROP);
        let mut count = QueryHspCount::default();
        let mut warn = |line: String| panic!("no warning expected: {line}");
        assert!(limit.add_strand(&mut count, without_images(7), &query, &mut warn));
        assert_eq!(limit.strand_limit(count), 1);
        assert!(limit.add_strand(&mut count, without_images(1), &query, &mut warn));
        assert!(!limit.keeps(count), "8 HSPs in all");
        assert_eq!(limit.summary(), None);
    }

    #[test]
    fn images_are_no_finds_but_use_up_the_limit() {
        let query = SequenceSet::single("q1", b"ACGT");
        let mut lines = Vec::new();
        let mut warn = |line: String| lines.push(line);
        let both = StrandHspCount { found: 41, listed: 82 };

        let (mut limit, mut count) = (HspLimit::new(41, DROP), QueryHspCount::default());
        assert!(!limit.add_strand(&mut count, both, &query, &mut warn), "82 listed: the second strand is not searched");
        assert!(!limit.keeps(count));

        let (mut limit, mut count) = (HspLimit::new(82, KEEP), QueryHspCount::default());
        assert!(limit.add_strand(&mut count, both, &query, &mut warn));
        assert!(limit.keeps(count));
        assert_eq!(limit.strand_limit(count), 1);
        assert!(lines.is_empty(), "41 found");
    }

    #[test]
    fn depth_is_rounded_in_single_precision() {
        let query = SequenceSet::single("q1", &[b'A'; 790]);
        assert_eq!(DepthLimit::new(1.1, KEEP).unwrap().strand(&query).limit, 869.0);
    }

    #[test]
    fn depth_counts_pairs_only_and_keeps_the_last_block() {
        let query = SequenceSet::single("q1", &[b'A'; 1001]);
        let script: EditScript =
            [(EditOp::Pair, 600), (EditOp::Insertion, 900), (EditOp::Pair, 1)].into_iter().collect();
        let block = Block { target_start: 0, query_start: 0, script, score: 0 };
        let mut depth = DepthLimit::new(1.2, KEEP).unwrap();
        let mut strand = depth.strand(&query);
        assert!(strand.accept(&block));
        assert!(strand.accept(&block), "1202 is the ceiling of 1201.2");
        assert!(!strand.accept(&block));
        let mut lines = Vec::new();
        assert!(depth.keeps(strand, &query, &mut |line| lines.push(line)));
        assert_eq!(lines[0], "WARNING. Query q1 (+ strand) contains more than 1,202 paired bases.");
        assert_eq!(lines.len(), 3);
        assert!(DepthLimit::new(0.0, KEEP).is_none());
    }
}
