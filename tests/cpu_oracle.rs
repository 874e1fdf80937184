//! The CPU engine against aligners that prune nothing: a plain full matrix with LASTZ's recurrence, and the `bio` crate's
//! pairwise aligner with the usual one.
//!
//! The recurrences differ in one point: LASTZ opens no gap from a cell where a gap beats the pair, so that a deletion and
//! an insertion hardly ever touch (lastz-semantics 5.2). A best path without gaps that touch is open to both. So if bio's
//! best path has none, both scores are equal; else LASTZ's is at most bio's.

mod support;

use std::ops::ControlFlow;

use bio::alignment::pairwise::{Aligner, MIN_SCORE, Scoring as BioScoring};
use bio::alignment::{Alignment, AlignmentOperation};
use fastz::alignment::Anchor;
use fastz::cpu::{SideProblem, Ydrop};
use fastz::extend::{Direction, GappedStage, stitch::stitch};
use fastz::options::{Contract, GappedOptions, HspThreshold, Options};
use fastz::scoring::{HOXD70, Scoring};
use fastz::{Block, EditOp, EditScript, SequenceSet};
use support::evolve::{Evolution, evolve};
use support::random::Random;

/// Best diagonal cell of a right run: (score, rows, columns). The recurrence of lastz-semantics 5.2, whole matrix.
fn full_matrix(target: &[u8], query: &[u8], scoring: &Scoring) -> (i64, usize, usize) {
    let dead = i64::MIN / 4;
    let (first, extend) = (i64::from(scoring.gap_open + scoring.gap_extend), i64::from(scoring.gap_extend));
    let mut above: Vec<i64> =
        (0..=query.len() as i64).map(|c| if c == 0 { 0 } else { -first - (c - 1) * extend }).collect();
    let mut deletions: Vec<i64> = above.iter().map(|score| score - first).collect();
    let mut best = (0, 0, 0);
    for (row, &t) in target.iter().enumerate() {
        let mut current = vec![0; above.len()];
        let mut insertion = dead;
        for c in 0..above.len() {
            let pair = if c == 0 { dead } else { above[c - 1] + i64::from(scoring.gapped.get(t, query[c - 1])) };
            let deletion = deletions[c];
            current[c] = pair.max(deletion).max(insertion);
            if deletion > pair || insertion > pair {
                (deletions[c], insertion) = (deletion - extend, insertion - extend);
            } else {
                deletions[c] = (deletion - extend).max(pair - first);
                insertion = (insertion - extend).max(pair - first);
                if pair >= best.0 {
                    best = (pair, row + 1, c);
                }
            }
        }
        above = current;
    }
    best
}

/// Cell by cell, and with each set of vector instructions.
fn all_engines(ydrop: &Ydrop) -> Vec<Ydrop> {
    let mut engines = vec![ydrop.clone().scalar()];
    engines.extend(ydrop.vectorised());
    engines
}

/// With a small Y and dear gaps, cells beside a new best die by the threshold that it has just raised.
#[test]
fn every_row_keeps_the_same_cells() {
    let mut random = Random::new(13);
    let mut workspace = Default::default();
    for case in 0..2000 {
        let target: Vec<u8> = (0..150).map(|_| b"ACGT"[random.below(4)]).collect();
        let query: Vec<u8> =
            target.iter().map(|&base| if random.below(8) == 0 { b"ACGT"[random.below(4)] } else { base }).collect();
        let (t, q) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
        let scoring = Scoring { gap_open: [400, 30][case % 2], ..Scoring::default() };
        let options = GappedOptions { y_drop: 50 + random.below(400) as i32, ..GappedOptions::default() };
        let anchor = Anchor { target: 3, query: 3, hsp_score: 0 };
        let problem = SideProblem { target: &t, query: &q, anchor, direction: Direction::Right };
        let engines = all_engines(&Ydrop::new(&scoring, &options));
        let sides: Vec<_> = engines.iter().map(|ydrop| ydrop.run(&problem, None, &mut workspace)).collect();
        assert!(sides.iter().all(|side| side == &sides[0]), "case {case}: {sides:?}");
    }
}

/// Costs and scores at the ends of what 16 bits hold, and beyond, where cells are evaluated one by one.
#[test]
fn every_row_is_right_at_the_ends_of_its_range() {
    let mut random = Random::new(17);
    let mut workspace = Default::default();
    let mut n_vectorised = 0;
    for case in 0..1500 {
        let target: Vec<u8> = (0..250).map(|_| b"ACGT"[random.below(4)]).collect();
        let mut query = target.clone();
        for _ in 0..random.below(12) {
            let at = random.below(query.len() - 30);
            match random.below(3) {
                0 => drop(query.drain(at..at + 1 + random.below(30))),
                1 => drop(query.splice(at..at, (0..1 + random.below(30)).map(|i| b"ACGT"[i % 4]))),
                _ => query[at] = b"ACGT"[random.below(4)],
            }
        }
        let mut pick = |values: &[i32]| values[random.below(values.len())];
        let (reward, penalty) = (pick(&[0, 1, 91, 1000, 2000, 2001]), -pick(&[0, 90, 3000, 29_000, 2_000_000]));
        let mut acgt = [[penalty; 4]; 4];
        (0..4).for_each(|base| acgt[base][base] = reward);
        let gap_extend = pick(&[0, 1, 30, 699, 700, 701, 1000]);
        let gap_open = pick(&[0, 1, 400, 7300, 8000 - gap_extend, 8001 - gap_extend]);
        let scoring = Scoring::from_acgt(&acgt, penalty, penalty, gap_open, gap_extend);
        let y_drop = pick(&[0, 500, 9400, 19_000, 20_000, 20_001]);
        for contract in [Contract::Exact, Contract::Relaxed] {
            let options = GappedOptions { y_drop, contract, ..GappedOptions::default() };
            let engines = all_engines(&Ydrop::new(&scoring, &options));
            n_vectorised += engines.len() - 1;
            let (t, q) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
            let anchor = Anchor { target: 40, query: 40, hsp_score: 0 };
            let mut sides = engines.iter().map(|ydrop| ydrop.run_both(&t, &q, &anchor, &mut workspace));
            let expected = sides.next().expect("the scalar row");
            let what =
                format!("case {case}: {reward} {penalty}, gaps {gap_open} {gap_extend}, Y {y_drop}, {contract:?}");
            assert!(sides.all(|both| both == expected), "{what}");
        }
    }
    assert!(n_vectorised > 1000, "{n_vectorised}");
}

/// Repeats in other places and orders: blocks mask cells of each other's windows.
#[test]
fn every_row_gives_the_same_blocks_among_blocks() {
    let mut random = Random::new(11);
    let (mut n_blocks, mut n_masked) = (0, 0);
    for case in 0..60 {
        let pieces: Vec<Vec<u8>> =
            (0..4).map(|_| (0..100 + random.below(500)).map(|_| b"ACGT"[random.below(4)]).collect()).collect();
        let mut patchwork = |n: usize| {
            let mut bases = Vec::new();
            for _ in 0..n {
                let from = bases.len();
                bases.extend_from_slice(&pieces[random.below(4)]);
                for _ in 0..(bases.len() - from) / 15 {
                    let at = from + random.below(bases.len() - from);
                    match random.below(4) {
                        0 => drop(bases.remove(at)),
                        1 => bases.insert(at, b"ACGTN"[random.below(5)]),
                        _ => bases[at] = b"ACGT"[random.below(4)],
                    }
                }
            }
            bases
        };
        let (t, q) = (patchwork(8), patchwork(8));
        let anchors: Vec<Anchor> = (0..40)
            .map(|_| Anchor { target: random.below(t.len()) as u32, query: random.below(q.len()) as u32, hsp_score: 0 })
            .collect();
        let (target, query) = (SequenceSet::single("t", &t), SequenceSet::single("q", &q));
        let scoring =
            Scoring { gap_open: [400, 0, 30][case % 3], gap_extend: [30, 40, 1][case % 3], ..Scoring::default() };
        let options = GappedOptions { y_drop: [9400, 910, 150][case / 3 % 3], ..GappedOptions::default() };
        let results: Vec<_> = all_engines(&Ydrop::new(&scoring, &options))
            .iter()
            .map(|ydrop| {
                let stage = GappedStage {
                    target: &target,
                    query: &query,
                    scoring: &scoring,
                    ydrop,
                    threshold: 500,
                    all_bounds: false,
                    look_ahead: None,
                    bulk: None,
                    progress: &|_, _| {},
                };
                stage
                    .run(&anchors, Vec::new(), &mut |_| ControlFlow::Continue(()))
                    .expect("the CPU engine does not fail")
            })
            .collect();
        for result in &results[1..] {
            assert_eq!((&result.blocks, result.counts), (&results[0].blocks, results[0].counts), "case {case}");
        }
        n_blocks += results[0].blocks.len();
        n_masked += usize::from(results[0].blocks.len() > 3);
    }
    assert!(n_blocks > 200 && n_masked > 20, "{n_blocks} blocks, {n_masked} cases with several");
}

#[test]
fn unpruned_runs_equal_the_full_matrix() {
    let scoring = Scoring::default();
    // Nothing in these short pairs falls this far below the best score.
    let options = GappedOptions { y_drop: 20_000, ..GappedOptions::default() };
    let engines = all_engines(&Ydrop::new(&scoring, &options));
    let mut workspace = Default::default();
    let mut random = Random::new(7);
    let mut with_gaps = 0;
    for case in 0..400 {
        let letters = if case % 5 == 0 { &b"ACGTN"[..] } else { &b"ACGT"[..] };
        let len = 2 + random.below(110);
        let target: Vec<u8> = (0..len).map(|_| letters[random.below(letters.len())]).collect();
        let mut query = target.clone();
        for _ in 0..random.below(8) {
            let at = random.below(query.len());
            match random.below(3) {
                0 => query[at] = letters[random.below(letters.len())],
                1 if query.len() > 8 => drop(query.drain(at..(at + 1 + random.below(6)).min(query.len()))),
                _ => query.insert(at, b'A'),
            }
        }
        let (t, q) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
        let anchor = Anchor { target: 0, query: 0, hsp_score: 0 };
        let expected = full_matrix(&target[1..], &query[1..], &scoring);
        for ydrop in &engines {
            let problem = SideProblem { target: &t, query: &q, anchor, direction: Direction::Right };
            let side = ydrop.run(&problem, None, &mut workspace);
            assert_eq!((side.score, side.rows as usize, side.columns as usize), expected, "case {case}");
            let (rows, columns) = (&target[1..][..expected.1], &query[1..][..expected.2]);
            let own = path_score(&side.script, rows, columns, &scoring);
            assert_eq!(own, expected.0, "case {case}: the path's own score");
            with_gaps += usize::from(side.script.runs().len() > 1);
        }
    }
    assert!(with_gaps > 100, "only {with_gaps} paths have gaps");
}

/// bio's best alignment. A gap of n costs bio `open + (n - 1) * extend`, LASTZ `open + n * extend`.
fn by_bio(target: &[u8], query: &[u8], scoring: &Scoring, ends: Ends) -> Alignment {
    let score = |t: u8, q: u8| scoring.gapped.get(t, q);
    let (first, extend) = (-(scoring.gap_open + scoring.gap_extend), -scoring.gap_extend);
    let clip = if ends == Ends::Free { 0 } else { MIN_SCORE };
    let scoring = BioScoring::new(first, extend, score).xclip_suffix(clip).yclip_suffix(clip);
    Aligner::with_capacity_and_scoring(target.len(), query.len(), scoring).custom(target, query)
}

/// Where an alignment that begins at both starts may end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// Anywhere, as an extension.
    Free,
    /// At both ends.
    Global,
}

/// Whether an insertion stands beside a deletion.
fn has_touching_gaps(alignment: &Alignment) -> bool {
    use AlignmentOperation::{Del, Ins};
    alignment.operations.windows(2).any(|pair| matches!(pair, [Ins, Del] | [Del, Ins]))
}

/// Asserts what the two recurrences have in common; true if the scores had to be equal.
fn assert_agree(lastz: i64, bio: &Alignment, context: &str) -> bool {
    let best = i64::from(bio.score);
    match has_touching_gaps(bio) {
        true => assert!(lastz <= best, "{context}: {lastz} beats the best score {best}"),
        false => assert_eq!(lastz, best, "{context}"),
    }
    !has_touching_gaps(bio)
}

/// A sequence and a copy with some substitutions, insertions and deletions. `foreign`: and a stretch that has nothing in
/// common, which gaps on both sides may skip.
fn relatives(random: &mut Random, len: usize, edits: usize, foreign: bool) -> (Vec<u8>, Vec<u8>) {
    let mut target = random.bases(len);
    let mut query = target.clone();
    for _ in 0..edits {
        let at = random.below(query.len());
        match random.below(3) {
            0 => query[at] = random.base(),
            1 if query.len() > 8 => drop(query.drain(at..(at + 1 + random.below(6)).min(query.len()))),
            _ => query.insert(at, random.base()),
        }
    }
    if foreign {
        let (t, q) = (random.below(target.len()), random.below(query.len()));
        let lens = (1 + random.below(25), 1 + random.below(25));
        target.splice(t..t, random.bases(lens.0));
        query.splice(q..q, random.bases(lens.1));
    }
    (target, query)
}

/// Score sets between which gaps are dear and cheap.
fn score_sets() -> Vec<Scoring> {
    let unit = [[1, -1, -1, -1], [-1, 1, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 1]];
    let strict_unit = [[1, -3, -3, -3], [-3, 1, -3, -3], [-3, -3, 1, -3], [-3, -3, -3, 1]];
    vec![
        Scoring::default(),
        Scoring::from_acgt(&unit, -1, -10, 4, 1),
        Scoring::from_acgt(&strict_unit, -3, -10, 1, 1),
        Scoring::from_acgt(&HOXD70, -100, -1000, 60, 10),
    ]
}

#[test]
fn full_matrix_equals_bio_where_the_recurrences_agree() {
    let mut random = Random::new(3);
    let mut ever_below = 0;
    for scoring in &score_sets() {
        let (mut equal, mut below) = (0, 0);
        for case in 0..300 {
            let (len, edits) = (1 + random.below(120), random.below(12));
            let (target, query) = relatives(&mut random, len, edits, case % 3 == 0);
            let (ours, ..) = full_matrix(&target, &query, scoring);
            let bio = by_bio(&target, &query, scoring, Ends::Free);
            match assert_agree(ours, &bio, &format!("case {case}, O={} E={}", scoring.gap_open, scoring.gap_extend)) {
                true => equal += 1,
                false => below += usize::from(ours < i64::from(bio.score)),
            }
        }
        println!("O={} E={}: {equal} equal, {below} below bio", scoring.gap_open, scoring.gap_extend);
        assert!(equal > 100, "only {equal} of 300 cases decide anything");
        ever_below += below;
    }
    assert!(ever_below > 0, "no case shows where the recurrences differ");
}

/// Both sides of an anchor by the CPU engine, which is given no reason to prune, joined to a block.
#[test]
fn blocks_without_pruning_have_bios_score_on_both_sides() {
    let mut random = Random::new(11);
    let mut workspace = Default::default();
    for scoring in &score_sets() {
        let options = GappedOptions { y_drop: 1_000_000, ..GappedOptions::default() };
        let engines = [Ydrop::new(scoring, &options), Ydrop::new(scoring, &options).scalar()];
        let mut equal = 0;
        for case in 0..150 {
            let (len, edits) = (20 + random.below(200), random.below(15));
            let (target, query) = relatives(&mut random, len, edits, case % 3 == 0);
            let at = random.below(target.len().min(query.len()));
            let backwards = |letters: &[u8]| letters[..=at].iter().rev().copied().collect::<Vec<u8>>();
            let left = by_bio(&backwards(&target), &backwards(&query), scoring, Ends::Free);
            let right = by_bio(&target[at + 1..], &query[at + 1..], scoring, Ends::Free);
            let (t, q) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
            let anchor = Anchor { target: at as u32, query: at as u32, hsp_score: 0 };
            for ydrop in &engines {
                let (our_left, our_right) = ydrop.run_both(&t, &q, &anchor, &mut workspace);
                let both = assert_agree(our_left.score, &left, &format!("case {case}, left of {at}"))
                    & assert_agree(our_right.score, &right, &format!("case {case}, right of {at}"));
                let Some(block) = stitch(&anchor, &our_left, &our_right, &t, &q, scoring) else { continue };
                // Gaps at the ends are cut off, and then the block is worth more.
                let is_whole = block.script.target_len() as u32 == our_left.rows + our_right.rows
                    && block.script.query_len() as u32 == our_left.columns + our_right.columns;
                let sum = our_left.score + our_right.score;
                assert!(if is_whole { block.score == sum } else { block.score > sum }, "case {case}: {block:?}, {sum}");
                assert_block_within_bio(&block, &target, &query, scoring);
                equal += usize::from(both);
            }
        }
        assert!(equal > 100, "only {equal} of 300 runs decide anything");
    }
}

/// No alignment of a block's whole rectangle beats the best one, and the block's path is worth its score, or more by
/// one gap opening: a gap that crosses the anchor pays twice (5.5).
fn assert_block_within_bio(block: &Block, target: &[u8], query: &[u8], scoring: &Scoring) -> i64 {
    let (rows, columns) = (&target[block.target_range()], &query[block.query_range()]);
    let best = i64::from(by_bio(rows, columns, scoring, Ends::Global).score);
    assert!(block.score <= best, "{block:?} beats the best score {best} of its rectangle");
    let own = path_score(&block.script, rows, columns, scoring);
    let crossing = own - block.score;
    assert!(crossing == 0 || crossing == i64::from(scoring.gap_open), "{block:?} is worth {own}");
    best - block.score
}

/// Score of a path from the first letters to the last ones.
fn path_score(script: &EditScript, target: &[u8], query: &[u8], scoring: &Scoring) -> i64 {
    let (mut row, mut column, mut score) = (0, 0, 0);
    for &(op, n) in script.runs() {
        let cost = scoring.gap_cost(n);
        let n = n as usize;
        match op {
            EditOp::Pair => {
                let pairs = target[row..row + n].iter().zip(&query[column..column + n]);
                score += pairs.map(|(&t, &q)| i64::from(scoring.gapped.get(t, q))).sum::<i64>();
                (row, column) = (row + n, column + n);
            }
            EditOp::Insertion => (score, column) = (score - cost, column + n),
            EditOp::Deletion => (score, row) = (score - cost, row + n),
        }
    }
    assert_eq!((row, column), (target.len(), query.len()), "the path ends at the last letters");
    score
}

/// The blocks of a whole run, with its pruning, bounds and anchors.
#[test]
fn accepted_blocks_do_not_beat_bio_and_mostly_equal_it() {
    let (scoring, mut blocks, mut best) = (Scoring::default(), 0, 0);
    for seed in 0..12 {
        let pair = evolve(&mut Random::new(seed), &Evolution::mammal(12_000));
        let (t, q) = (SequenceSet::single("t", &pair.target), SequenceSet::single("q", &pair.query));
        let options = Options { hsp_threshold: HspThreshold::Score(1500), ..Options::default() };
        for strand in fastz::align::align(&t, &q, &options).expect("align") {
            // bio keeps the whole matrix of a rectangle.
            for block in strand.blocks.iter().filter(|block| block.target_range().len() < 3000) {
                let short_of_best = assert_block_within_bio(block, &pair.target, &strand.query.bases, &scoring);
                blocks += 1;
                best += usize::from(short_of_best == 0);
            }
        }
    }
    println!("{best} of {blocks} blocks have the best score of their rectangle");
    assert!(blocks > 20 && best * 10 >= blocks * 8, "{best} of {blocks} blocks have the best score");
}
