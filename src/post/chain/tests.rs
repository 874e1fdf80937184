use super::*;

fn hsp(target_start: u32, query_start: u32, len: u32, score: i32) -> Hsp {
    Hsp { target_start, query_start, len, score }
}

fn run(hsps: &[Hsp], penalties: ChainPenalties) -> Vec<Hsp> {
    let set = SequenceSet::single("s", &[b'A'; 10_000]);
    chain(hsps.to_vec(), &set, &set, penalties, &Scoring::default())
}

#[test]
fn a_transposed_hsp_is_dropped() {
    let line = [hsp(10, 20, 30, 100), hsp(100, 90, 30, 100), hsp(200, 210, 30, 90)];
    let transposed = hsp(150, 5, 30, 95);
    let all = [line[2], transposed, line[0], line[1]];
    assert_eq!(run(&all, ChainPenalties::default()), line);
}

#[test]
fn penalties_can_break_a_chain() {
    let hsps = [hsp(10, 10, 30, 5), hsp(1000, 5000, 30, 100)];
    assert_eq!(run(&hsps, ChainPenalties::default()).len(), 2);
    assert_eq!(run(&hsps, ChainPenalties { diagonal: 1, anti_diagonal: 0 }), [hsps[1]]);
}

#[test]
fn nothing_worth_more_than_zero_gives_no_chain() {
    assert!(run(&[], ChainPenalties::default()).is_empty());
    assert!(run(&[hsp(1, 1, 5, 0), hsp(9, 9, 5, -4)], ChainPenalties::default()).is_empty());
}

/// The search as an exhaustive one: without penalties the pruning must not lose the best chain.
#[test]
fn chain_score_is_optimal_without_penalties() {
    let mut state = 11u64;
    let mut next = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) % n) as u32
    };
    for _ in 0..200 {
        let n = next(40) + 1;
        let hsps: Vec<Hsp> = (0..n).map(|_| hsp(next(25) * 10, next(25) * 10, 1, next(5) as i32 + 1)).collect();
        let mut sorted = hsps.clone();
        sorted.sort_by_key(position_key);
        let mut totals: Vec<i32> = Vec::new();
        for (i, after) in sorted.iter().enumerate() {
            let before = (0..i)
                .filter(|&j| sorted[j].target_start < after.target_start && sorted[j].query_start < after.query_start)
                .map(|j| totals[j])
                .max();
            totals.push(after.score + before.unwrap_or(0));
        }
        let kept = run(&hsps, ChainPenalties::default());
        assert!(kept.windows(2).all(|w| w[0].target_start < w[1].target_start && w[0].query_start < w[1].query_start));
        assert_eq!(kept.iter().map(|h| h.score).sum::<i32>(), totals.iter().copied().max().unwrap());
    }
}

#[test]
fn many_equal_keys_are_split_in_linear_time() {
    let hsps: Vec<Hsp> = (0..200_000).map(|i| hsp(i, 7, 1, 1)).collect();
    let started = std::time::Instant::now();
    let set = SequenceSet::single("s", &vec![b'A'; 200_001]);
    assert_eq!(chain(hsps, &set, &set, ChainPenalties::default(), &Scoring::default()).len(), 1);
    assert!(started.elapsed().as_secs() < 20, "took {:?}", started.elapsed());
}

#[test]
fn the_shortcut_for_equal_keys_makes_the_same_swaps() {
    let mut state = 3u64;
    for round in 0..2000 {
        let n = 4 + round % 60;
        let keys: Vec<i64> = (0..n)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 40) as i64 % (1 + round as i64 % 5)
            })
            .collect();
        let mut fast: Vec<u32> = (0..n as u32).collect();
        let mut slow = fast.clone();
        let at = split(&mut fast, |ix| keys[ix as usize]);
        assert_eq!(at, split_without_shortcut(&mut slow, &keys));
        assert_eq!(fast, slow);
        let greatest_low = fast[..=at].iter().map(|&ix| keys[ix as usize]).max();
        assert!(fast[at + 1..].iter().all(|&ix| Some(keys[ix as usize]) >= greatest_low));
    }
}

fn split_without_shortcut(order: &mut [u32], keys: &[i64]) -> usize {
    let key = |ix: u32| keys[ix as usize];
    let mut last = order.len() - 1;
    loop {
        let middle = last / 2;
        let (a, b, c) = (key(order[0]), key(order[middle]), key(order[last]));
        if b.clamp(a.min(c), a.max(c)) == b {
            order.swap(0, middle);
        } else if c.clamp(a.min(b), a.max(b)) == c {
            order.swap(0, last);
        }
        let pivot = key(order[0]);
        let at = partition(order, last, pivot, key);
        order.swap(0, at);
        if at < last {
            return at;
        }
        if last == 2 {
            return 1;
        }
        last -= 1;
    }
}
