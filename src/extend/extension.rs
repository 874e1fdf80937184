//! The extension of one anchor: both sides joined, and whether it still holds when its turn comes.

use std::ops::Range;

use super::bounds::piece::Neighbours;
use super::bounds::reach::rows_reached;
use super::bounds::{AcceptedBlocks, Confiners, Expectation, SideBounds};
use super::commit::GappedStage;
use super::side::{Direction, Side, Windows};
use super::stitch::stitch;
use crate::alignment::{Anchor, Block};
use crate::cpu::ydrop::SideProblem;

/// A one-sided run that the traceback memory cut short (5.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Where the extension began.
    pub anchor: Anchor,
    /// Which side was cut.
    pub direction: Direction,
    /// Array positions of the last pair, target and query.
    pub end: (usize, usize),
}

/// LASTZ's words: the end is 1-based, the anchor 0-based.
impl std::fmt::Display for Truncation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verb = if self.direction == Direction::Left { "starting" } else { "ending" };
        let (target, query) = (self.end.0 + 1, self.end.1 + 1);
        let Anchor { target: a1, query: a2, .. } = self.anchor;
        write!(f, "truncating alignment {verb} at ({target},{query});  anchor at ({a1},{a2})")
    }
}

/// Target rows and query columns that both sides looked at, inclusive, array positions with a margin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Explored {
    pub rows: (i64, i64),
    pub columns: (i64, i64),
}

impl Explored {
    fn new(anchor: &Anchor, left: &Windows, right: &Windows) -> Self {
        let reach = |windows: &Windows| windows.hulls.iter().map(|hull| i64::from(hull.1)).max().unwrap_or(0) + 4;
        let column = i64::from(anchor.query);
        Explored {
            rows: (rows_reached(anchor, Direction::Left, left).0, rows_reached(anchor, Direction::Right, right).1),
            columns: (column - reach(left), column + reach(right)),
        }
    }
}

/// Blocks near an anchor that are expected to be accepted after those before number `limit`.
#[derive(Default)]
pub(super) struct Expected {
    pub limit: usize,
    pub blocks: Vec<Block>,
}

impl Expected {
    /// What confines a run that begins now.
    pub fn confiners(&self, accepted: &AcceptedBlocks) -> Confiners {
        match self.blocks[..] {
            [] => accepted.confiners(),
            _ => accepted.expecting(self.limit, &self.blocks),
        }
    }
}

/// Both sides of an anchor, and the accepted blocks under which they are known to be right.
pub(super) struct Extension {
    /// What is to be kept, if anything is.
    pub block: Option<Block>,
    /// Cells of both sides, as LASTZ counts them.
    pub cells: u64,
    pub truncations: Vec<Truncation>,
    pub explored: Explored,
    /// Target and query positions of the block, or none.
    ranges: [Range<usize>; 2],
    windows: [(Direction, Windows); 2],
    /// It is what a run under these blocks gives.
    confiners: Confiners,
    /// Whether a new neighbour, however far, may change where the traceback memory cuts it.
    is_strict: bool,
    /// Whether it was found not to hold any more.
    pub is_void: bool,
    /// The nearest pieces beside the anchor among these blocks.
    neighbours: Neighbours,
}

impl Extension {
    /// Joins the sides of an anchor that ran under these blocks. Sides without scripts are known to fail the threshold.
    pub fn new(
        stage: &GappedStage,
        anchor: &Anchor,
        (left, right): (Side, Side),
        has_scripts: bool,
        (accepted, confiners): (&AcceptedBlocks, Confiners),
    ) -> Self {
        let joined = || stitch(anchor, &left, &right, stage.target, stage.query, stage.scoring);
        let sides = [(Direction::Left, &left), (Direction::Right, &right)];
        let truncation = |(direction, side): (Direction, &Side)| {
            let (rows, columns) = (side.rows as usize, side.columns as usize);
            let (a1, a2) = (anchor.target as usize, anchor.query as usize);
            let end = match direction {
                Direction::Left => (a1 + 1 - rows, a2 + 1 - columns),
                Direction::Right => (a1 + rows, a2 + columns),
            };
            side.truncated.then_some(Truncation { anchor: *anchor, direction, end })
        };
        let block = if has_scripts { joined() } else { None }.filter(|block| stage.keeps(block));
        let is_strict = sides.into_iter().any(|(direction, side)| {
            let problem = SideProblem { target: stage.target, query: stage.query, anchor: *anchor, direction };
            stage.ydrop.may_be_cut_past_end(&problem, side)
        });
        Extension {
            ranges: block.as_ref().map(|block| [block.target_range(), block.query_range()]).unwrap_or_default(),
            block,
            cells: left.cells + right.cells,
            truncations: sides.into_iter().filter_map(truncation).collect(),
            explored: Explored::new(anchor, &left.windows, &right.windows),
            is_void: false,
            is_strict,
            neighbours: accepted.neighbours(anchor, &confiners),
            confiners,
            windows: [(Direction::Left, left.windows), (Direction::Right, right.windows)],
        }
    }

    /// Whether a run under all accepted blocks gives the same result. Blocks accepted since change nothing if none of
    /// them comes near what was explored, so that no further cell is masked, and the limits left and right are where they
    /// were. These follow the nearest pieces beside the anchor and their stored neighbours, which are older.
    pub fn holds(&mut self, anchor: &Anchor, accepted: &AcceptedBlocks) -> bool {
        self.is_void = self.is_void || !self.still_holds(anchor, accepted);
        !self.is_void
    }

    fn still_holds(&mut self, anchor: &Anchor, accepted: &AcceptedBlocks) -> bool {
        let now = accepted.confiners();
        if self.confiners.has_expected() {
            return self.meets_expectations(anchor, accepted, now);
        }
        let before = self.confiners.limit();
        if before == now.limit() {
            return true;
        }
        let is_touched =
            |from| self.windows.iter().any(|(direction, windows)| accepted.touches(anchor, *direction, windows, from));
        if is_touched(before) {
            return false;
        }
        let neighbours = accepted.neighbours(anchor, &now);
        if self.is_strict && neighbours != self.neighbours {
            return false;
        }
        // Where no block at all comes near, there are no limits to compare.
        if neighbours != self.neighbours && is_touched(0) && !self.is_confined_alike(anchor, accepted, &now) {
            return false;
        }
        (self.confiners, self.neighbours) = (now, neighbours);
        true
    }

    /// The same where blocks were expected: those accepted since that come near what was explored are these, one after the
    /// other. Once all are there, nothing is expected any more.
    fn meets_expectations(&mut self, anchor: &Anchor, accepted: &AcceptedBlocks, now: Confiners) -> bool {
        match accepted.expectation(anchor, &self.windows, &self.confiners) {
            Expectation::Open => return true,
            Expectation::Met if !self.is_strict && self.is_confined_alike(anchor, accepted, &now) => {}
            Expectation::Met | Expectation::Failed => return false,
        }
        self.neighbours = accepted.neighbours(anchor, &now);
        self.confiners = now;
        true
    }

    /// Whether blocks are expected that were not accepted so far.
    pub fn is_expecting(&self) -> bool {
        self.confiners.has_expected()
    }

    /// Whether the blocks `now` set the limits left and right that this ran under.
    fn is_confined_alike(&self, anchor: &Anchor, accepted: &AcceptedBlocks, now: &Confiners) -> bool {
        self.windows.iter().all(|(direction, windows)| {
            let bounds = |confiners| SideBounds::new(accepted, anchor, *direction, confiners);
            bounds(now).confines_as(bounds(&self.confiners), windows)
        })
    }

    /// Rows that each side looked at, left and right.
    pub fn rows(&self) -> [u32; 2] {
        [self.windows[0].1.rows, self.windows[1].1.rows]
    }

    /// Whether the block, if it stays as it is, covers `other`, which then needs no extension of its own. Anchors on its
    /// gaps do not count.
    pub fn is_over(&self, other: &Anchor) -> bool {
        let (target, query) = (other.target as usize, other.query as usize);
        let is_inside = self.ranges[0].contains(&target) && self.ranges[1].contains(&query);
        is_inside && self.block.as_ref().is_some_and(|block| block.has_pair(target, query))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::{EditOp, EditScript};
    use crate::cpu::Ydrop;
    use crate::cpu::ydrop::RunWatch;
    use crate::options::GappedOptions;
    use crate::scoring::Scoring;
    use crate::sequence::{Partition, SequenceSet};

    /// Seeded random numbers below `n`.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % n
        }
    }

    const LEN: usize = 300;

    /// A path with wide gaps, which need not be a good alignment.
    fn block(random: &mut Random) -> Block {
        let (target_start, query_start) = (random.below(LEN / 2), random.below(LEN / 2));
        let (mut script, mut row, mut column) = (EditScript::default(), target_start, query_start);
        script.push(EditOp::Pair, 1);
        (row, column) = (row + 1, column + 1);
        loop {
            let (pairs, gap) = (1 + random.below(40), 1 + random.below(50));
            if row.max(column) + pairs + gap > LEN {
                break Block { target_start, query_start, script, score: 0 };
            }
            script.push(EditOp::Pair, pairs as u32);
            (row, column) = (row + pairs, column + pairs);
            let op = if random.below(2) == 0 { EditOp::Insertion } else { EditOp::Deletion };
            if row.max(column) + gap + 1 < LEN {
                script.push(op, gap as u32);
                script.push(EditOp::Pair, 1);
                row += 1 + if op == EditOp::Deletion { gap } else { 0 };
                column += 1 + if op == EditOp::Insertion { gap } else { 0 };
            }
        }
    }

    /// A block beside an anchor on the main diagonal, `far` columns off it, that a gap brings to `near` columns off it
    /// some rows later or earlier; and one between the two in the anchor's row, of a few pairs.
    fn approaching(random: &mut Random, anchor: usize) -> [Block; 2] {
        let (far, near, rows) = (20 + random.below(30), random.below(20), 2 + random.below(30));
        let (is_right, is_later) = (random.below(2) == 0, random.below(2) == 0);
        let between = near.max(10) + random.below(far - near.max(10));
        // Columns off the diagonal at the start, pairs, gap and pairs up to the end.
        let (first, last) = if is_later { (far, near) } else { (near, far) };
        let (back, pairs) = if is_later { (5, 5 + rows) } else { (rows + far, rows - 1) };
        let grows = last > first;
        let op = if grows == is_right { EditOp::Insertion } else { EditOp::Deletion };
        let script = [(EditOp::Pair, pairs), (op, first.abs_diff(last)), (EditOp::Pair, 40)];
        let at = |row: usize, off: usize, script: &[(EditOp, usize)]| Block {
            target_start: row,
            query_start: if is_right { row + off } else { row - off },
            script: script.iter().map(|&(op, len)| (op, len as u32)).collect(),
            score: 0,
        };
        [at(anchor - back, first, &script), at(anchor - 1, between, &[(EditOp::Pair, 3)])]
    }

    /// The pairs of a path are what it covers; its gaps are covered too.
    #[test]
    fn a_block_covers_its_pairs() {
        for seed in 0..50 {
            let block = block(&mut Random(seed));
            let accepted = AcceptedBlocks::default();
            accepted.push(&block);
            let mut n_pairs = 0;
            for (target, query) in (0..LEN).flat_map(|target| (0..LEN).map(move |query| (target, query))) {
                let anchor = Anchor { target: target as u32, query: query as u32, hsp_score: 0 };
                let has_pair = block.has_pair(target, query);
                assert!(!has_pair || accepted.covers(&anchor), "seed {seed}: {anchor:?}");
                n_pairs += u64::from(has_pair);
            }
            assert_eq!(n_pairs, block.script.counts().0, "seed {seed}");
        }
    }

    /// A stage that keeps every block, in LASTZ's own order of work.
    fn stage<'a>(
        target: &'a SequenceSet,
        query: &'a SequenceSet,
        scoring: &'a Scoring,
        ydrop: &'a Ydrop,
    ) -> GappedStage<'a> {
        GappedStage {
            target,
            query,
            scoring,
            ydrop,
            threshold: 0,
            all_bounds: false,
            look_ahead: None,
            bulk: None,
            progress: &|_, _| {},
        }
    }

    /// Calls `check` with many stages whose windows are narrow, and random numbers.
    fn in_narrow_windows(mut check: impl FnMut(u64, &mut Random, &GappedStage)) {
        let scoring = Scoring { gap_open: 30, gap_extend: 20, ..Scoring::default() };
        let options = GappedOptions { y_drop: 150, ..GappedOptions::default() };
        let ydrop = Ydrop::new(&scoring, &options);
        for seed in 0..20_000 {
            let mut random = Random(seed);
            let bases: Vec<u8> = (0..LEN).map(|_| b"ACGT"[random.below(4)]).collect();
            let (target, query) = (SequenceSet::single("t", &bases), SequenceSet::single("q", &bases));
            let stage = stage(&target, &query, &scoring, &ydrop);
            check(seed, &mut random, &stage);
        }
    }

    /// A block that an anchor at `place` runs beside, with wide gaps: many become neighbours without coming near.
    fn beside(random: &mut Random, place: usize, seed: u64) -> [Block; 2] {
        match seed % 2 {
            0 => [block(random), block(random)],
            _ => approaching(random, place),
        }
    }

    /// A block in the way of an anchor's right side: no neighbour, but it masks.
    fn ahead(random: &mut Random, place: usize) -> Block {
        let script = [(EditOp::Pair, 5 + random.below(30) as u32)].into_iter().collect();
        let (target_start, query_start) = (place + 3 + random.below(20), place + 3 + random.below(20));
        Block { target_start, query_start, script, score: 0 }
    }

    fn facts(extension: &Extension) -> (Option<Block>, u64, [(Direction, Windows); 2]) {
        (extension.block.clone(), extension.cells, extension.windows.clone())
    }

    #[test]
    fn what_holds_is_what_a_new_run_gives() {
        let (mut n_new_neighbours, mut n_refused) = (0, 0);
        in_narrow_windows(|seed, random, stage| {
            let place = 120 + random.below(60);
            let [earlier, later] = beside(random, place, seed);
            let accepted = AcceptedBlocks::default();
            [earlier, block(random)].iter().for_each(|block| accepted.push(block));
            let anchor = Anchor { target: place as u32, query: place as u32, hsp_score: 0 };
            let mut extension = stage.extend(&anchor, &accepted);
            let (before, neighbours) = (accepted.len(), extension.neighbours);
            accepted.push(&later);
            let is_touched = extension.windows.iter().any(|(d, w)| accepted.touches(&anchor, *d, w, before));
            let has_new_neighbours = neighbours != accepted.neighbours(&anchor, &accepted.confiners()) && !is_touched;
            if extension.holds(&anchor, &accepted) {
                assert_eq!(facts(&extension), facts(&stage.extend(&anchor, &accepted)), "seed {seed}: {anchor:?}");
                n_new_neighbours += usize::from(has_new_neighbours);
            } else {
                n_refused += usize::from(has_new_neighbours);
            }
        });
        assert!(n_new_neighbours > 100 && n_refused > 20, "{n_new_neighbours} {n_refused}");
    }

    // The expected blocks come, or one of them does not, or another one comes between or after them.
    #[test]
    fn what_was_expected_and_came_is_what_a_new_run_gives() {
        let (mut n_near, mut n_open, mut n_refused) = (0, 0, 0);
        in_narrow_windows(|seed, random, stage| {
            let place = 120 + random.below(60);
            let [earlier, first] = beside(random, place, seed);
            let [second, _] = beside(random, place, seed / 2);
            let other = ahead(random, place);
            let accepted = AcceptedBlocks::default();
            accepted.push(&earlier);
            let anchor = Anchor { target: place as u32, query: place as u32, hsp_score: 0 };
            let confiners = accepted.expecting(accepted.len(), &[first.clone(), second.clone()]);
            let [left, right] = [Direction::Left, Direction::Right]
                .map(|direction| stage.extend_side(&anchor, direction, &accepted, &confiners, &RunWatch::default()));
            let mut extension = Extension::new(stage, &anchor, (left, right), true, (&accepted, confiners));
            let is_near = [&first, &second].iter().any(|block| {
                let alone = AcceptedBlocks::default();
                alone.push(block);
                extension.windows.iter().any(|(d, w)| alone.touches(&anchor, *d, w, 0))
            });
            let come: &[&Block] = match seed % 7 {
                0..3 => &[&first, &second],
                3 => &[&first],
                4 => &[&second, &first],
                5 => &[&first, &other, &second],
                _ => &[&first, &second, &other],
            };
            let mut holds = extension.holds(&anchor, &accepted);
            for block in come {
                accepted.push(block);
                holds = holds && (seed % 3 > 0 || extension.holds(&anchor, &accepted));
            }
            holds = holds && extension.holds(&anchor, &accepted);
            match (holds, extension.is_expecting()) {
                (true, false) => {
                    assert_eq!(facts(&extension), facts(&stage.extend(&anchor, &accepted)), "seed {seed}: {anchor:?}");
                    n_near += usize::from(is_near);
                }
                (true, true) => n_open += 1,
                (false, _) => n_refused += 1,
            }
        });
        assert!(n_near > 1000 && n_open > 100 && n_refused > 100, "{n_near} {n_open} {n_refused}");
    }

    // A block in the next query sequence, beside the anchor, changes nothing but how many cells LASTZ counts past the end.
    #[test]
    fn a_neighbour_past_the_end_may_cut_a_run() {
        const END: usize = LEN / 2;
        let scoring = Scoring { gap_open: 30, gap_extend: 2, ..Scoring::default() };
        let (mut n_holding, mut n_refused) = (0, 0);
        for seed in 0..3000 {
            let mut random = Random(seed);
            let mut bases: Vec<u8> = (0..LEN).map(|_| b"ACGT"[random.below(4)]).collect();
            let target = SequenceSet::single("t", &bases);
            bases[END] = 0;
            let mut query = SequenceSet::single("q", &bases);
            query.is_partitioned = true;
            query.partitions = [0..END, END + 1..LEN].map(|range| Partition { range, ..Partition::default() }).to_vec();
            let bytes = 2000 + random.below(60_000);
            let options = GappedOptions { y_drop: 150, traceback_bytes: Some(bytes), ..GappedOptions::default() };
            let ydrop = Ydrop::new(&scoring, &options);
            let stage = stage(&target, &query, &scoring, &ydrop);
            let accepted = AcceptedBlocks::default();
            let place = 20 + random.below(100);
            let anchor = Anchor { target: place as u32, query: place as u32, hsp_score: 0 };
            let mut extension = stage.extend(&anchor, &accepted);
            let script = [(EditOp::Pair, 40)].into_iter().collect();
            let (target_start, query_start) = (place - 5, END + 10 + random.below(80));
            accepted.push(&Block { target_start, query_start, script, score: 0 });
            if extension.holds(&anchor, &accepted) {
                let new = stage.extend(&anchor, &accepted);
                let facts = |e: &Extension| (e.block.clone(), e.truncations.clone(), e.windows.clone());
                assert_eq!(facts(&extension), facts(&new), "seed {seed}: {anchor:?}, {bytes} bytes");
                n_holding += 1;
            } else {
                n_refused += 1;
            }
        }
        assert!(n_holding > 100 && n_refused > 100, "{n_holding} {n_refused}");
    }
}
