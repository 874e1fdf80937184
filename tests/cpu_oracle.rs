//! The CPU engine against a plain full-matrix aligner that prunes nothing: same score, same end, and a path worth it.

mod support;

use fastz::alignment::Anchor;
use fastz::cpu::{SideProblem, Ydrop};
use fastz::extend::Direction;
use fastz::options::GappedOptions;
use fastz::scoring::Scoring;
use fastz::{EditOp, SequenceSet};
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

#[test]
fn unpruned_runs_equal_the_full_matrix() {
    let scoring = Scoring::default();
    // Nothing in these short pairs falls this far below the best score.
    let options = GappedOptions { y_drop: 20_000, ..GappedOptions::default() };
    let engines = [Ydrop::new(&scoring, &options), Ydrop::new(&scoring, &options).scalar()];
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
            let (mut row, mut column, mut score) = (1, 1, 0);
            for &(op, n) in side.script.runs() {
                let n = n as usize;
                match op {
                    EditOp::Pair => {
                        let pairs = target[row..row + n].iter().zip(&query[column..column + n]);
                        score += pairs.map(|(&t, &q)| i64::from(scoring.gapped.get(t, q))).sum::<i64>();
                        (row, column) = (row + n, column + n);
                    }
                    EditOp::Insertion => (score, column) = (score - scoring.gap_cost(n as u32), column + n),
                    EditOp::Deletion => (score, row) = (score - scoring.gap_cost(n as u32), row + n),
                }
            }
            assert_eq!((score, row - 1, column - 1), expected, "case {case}: the path's own score and ends");
            with_gaps += usize::from(side.script.runs().len() > 1);
        }
    }
    assert!(with_gaps > 100, "only {with_gaps} paths have gaps");
}
