//! Extension by matches instead of scores: `--exact` and `--mismatch` (lastz-semantics 3.5).

use crate::SequenceSet;
use crate::seed::SeedHit;
use crate::sequence::SEPARATOR;

/// A gap-free segment around a hit: pairs before and after the end of the seed window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub left: usize,
    pub right: usize,
}

/// Letters that match: equal ACGT, case ignored.
fn matches(target: u8, query: u8) -> bool {
    target.eq_ignore_ascii_case(&query) && matches!(target.to_ascii_uppercase(), b'A' | b'C' | b'G' | b'T')
}

/// How far a run of pairs reaches with 0, 1, ... mismatches: the number of pairs before the first, second, ... one, at
/// most `max_mismatches` + 1 numbers. A separator ends it.
fn reaches<'a>(
    target: impl Iterator<Item = &'a u8>,
    query: impl Iterator<Item = &'a u8>,
    max_mismatches: usize,
) -> Vec<usize> {
    let mut reaches = Vec::with_capacity(max_mismatches + 1);
    let mut len = 0;
    for (t, q) in target.zip(query).take_while(|&(&t, &q)| t != SEPARATOR && q != SEPARATOR) {
        if !matches(*t, *q) {
            reaches.push(len);
            if reaches.len() > max_mismatches {
                return reaches;
            }
        }
        len += 1;
    }
    reaches.push(len);
    reaches
}

/// The longest segment around the end of a hit that has at most `max_mismatches`, and holds the whole window; it does
/// not reach further left than `max_left` pairs, unless the window does. Of equally long ones the leftmost.
pub(crate) fn longest_with_mismatches(
    (target, query): (&SequenceSet, &SequenceSet),
    hit: SeedHit,
    window_len: usize,
    max_left: usize,
    max_mismatches: usize,
) -> Option<Segment> {
    let (e1, e2) = (hit.target_end as usize, hit.query_end as usize);
    let max_left = max_left.max(window_len);
    let (target_before, query_before) = (&target.bases[e1 - max_left..e1], &query.bases[e2 - max_left..e2]);
    let lefts = reaches(target_before.iter().rev(), query_before.iter().rev(), max_mismatches);
    let rights = reaches(target.bases[e1..].iter(), query.bases[e2..].iter(), max_mismatches);
    let mut longest: Option<Segment> = None;
    for (n_left, &left) in lefts.iter().enumerate().rev().filter(|&(_, &left)| left >= window_len) {
        let n_right = (max_mismatches - n_left).min(rights.len() - 1);
        let segment = Segment { left, right: rights[n_right] };
        if longest.is_none_or(|best| segment.left + segment.right > best.left + best.right) {
            longest = Some(segment);
        }
    }
    longest
}

/// Query position up to which a diagonal has been looked at by a hit without a long enough segment: where the first
/// mismatch after the start of the window stands, in the window or right of it; of more than `max_mismatches` in the
/// window, the one before the last `max_mismatches`. No later hit over all of them can do better.
pub(crate) fn reach_without_segment(
    (target, query): (&SequenceSet, &SequenceSet),
    hit: SeedHit,
    window_len: usize,
    max_mismatches: usize,
) -> usize {
    let (e1, e2) = (hit.target_end as usize, hit.query_end as usize);
    let window = target.bases[e1 - window_len..e1].iter().zip(&query.bases[e2 - window_len..e2]);
    let mismatches = window.rev().enumerate().filter(|&(_, (&t, &q))| !matches(t, q));
    match mismatches.take(max_mismatches + 1).last() {
        Some((n_after, _)) => e2 - n_after - 1,
        None => e2 + reaches(target.bases[e1..].iter(), query.bases[e2..].iter(), 0)[0],
    }
}
