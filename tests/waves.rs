//! Bulk waves beside blocks: clusters of repeats, in which each block confines the next ones.

#[path = "support/cpu_bulk.rs"]
mod cpu_bulk;
#[path = "support/random.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod random;

use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;

use cpu_bulk::CpuBulk;
use fastz::cpu::Ydrop;
use fastz::extend::{BulkExtender, GappedResult, GappedStage, LookAhead};
use fastz::options::GappedOptions;
use fastz::scoring::Scoring;
use fastz::{Anchor, SequenceSet};
use random::Random;

const UNIT: usize = 90;
const CLUSTERS: usize = 11;
const COPIES: usize = 4;

/// A sequence with clusters of tandem copies of a unit, and where these are.
fn clusters(random: &mut Random, unit: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let (mut bases, mut starts) = (random.bases(300), Vec::new());
    for _ in 0..CLUSTERS {
        for _ in 0..COPIES {
            starts.push(bases.len());
            let mutated = unit.iter().map(|&base| if random.percent(9) { random.base() } else { base });
            bases.extend(mutated.collect::<Vec<u8>>());
        }
        bases.extend(random.bases(900));
    }
    (bases, starts)
}

fn run(stage: &GappedStage, anchors: &[Anchor]) -> GappedResult {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    pool.install(|| stage.run(anchors, Vec::new(), &mut |_| ControlFlow::Continue(())).unwrap())
}

#[test]
fn clusters_come_out_alike_whoever_extends_them() {
    for seed in 0..3 {
        let mut random = Random::new(seed);
        let unit = random.bases(UNIT);
        let (target, in_target) = clusters(&mut random, &unit);
        let (query, in_query) = clusters(&mut random, &unit);
        // Like the scores of copies, the order mixes clusters, and has neighbours one after the other.
        let mut anchors: Vec<Anchor> = Vec::new();
        for &t in &in_target {
            for &q in &in_query {
                let shift = random.below(UNIT);
                let score = random.between(30, 60) as i32 * 100;
                anchors.push(Anchor { target: (t + shift) as u32, query: (q + shift) as u32, hsp_score: score });
            }
        }
        anchors.sort_by_key(|anchor| (-anchor.hsp_score, anchor.query, anchor.target));
        let (target, query) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
        let scoring = Scoring::default();
        let options = GappedOptions { y_drop: 3400, ..GappedOptions::default() };
        let ydrop = Ydrop::new(&scoring, &options);
        let look_ahead = LookAhead::default();
        let bulks = [false, true].map(|shares_anchors| (shares_anchors, CpuBulk::new(&ydrop, shares_anchors, true)));
        let stage = |look_ahead, bulk| GappedStage {
            target: &target,
            query: &query,
            scoring: &scoring,
            ydrop: &ydrop,
            threshold: 3000,
            all_bounds: false,
            look_ahead,
            bulk,
            progress: &|_, _| {},
        };
        let in_order = run(&stage(None, None), &anchors);
        assert!(in_order.blocks.len() > anchors.len() / 4, "{} blocks", in_order.blocks.len());
        let ahead = run(&stage(Some(&look_ahead), None), &anchors);
        assert_eq!(in_order.blocks, ahead.blocks, "seed {seed}");
        for (shares_anchors, bulk) in &bulks {
            let found = run(&stage(Some(&look_ahead), Some(bulk as &dyn BulkExtender)), &anchors);
            assert_eq!(in_order.blocks, found.blocks, "seed {seed}, shares {shares_anchors}");
            let n_bounded = bulk.given_bounded.load(Relaxed);
            // How many an engine that shares is given depends on who is quicker.
            assert!(*shares_anchors || n_bounded > 500, "seed {seed}: {n_bounded} of {} anchors", anchors.len());
        }
    }
}

/// A panic in the middle ends the stage, whether on a thread of the pool or on that for waves: nobody waits for what does not
/// come any more.
#[test]
fn a_panic_ends_the_stage() {
    let mut random = Random::new(7);
    let unit = random.bases(UNIT);
    let (target, in_target) = clusters(&mut random, &unit);
    let (query, in_query) = clusters(&mut random, &unit);
    let anchors: Vec<Anchor> = in_target
        .iter()
        .flat_map(|&t| in_query.iter().map(move |&q| (t, q)))
        .map(|(t, q)| Anchor { target: t as u32 + 40, query: q as u32 + 40, hsp_score: 3000 })
        .collect();
    let (target, query) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
    for (shares_anchors, panics_at) in [(false, 0), (true, 0), (false, 40), (true, 40), (true, anchors.len() - 1)] {
        let (target, query, anchors) = (target.clone(), query.clone(), anchors.clone());
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let scoring = Scoring::default();
            let ydrop = Ydrop::new(&scoring, &GappedOptions { y_drop: 3400, ..GappedOptions::default() });
            let bulk = CpuBulk::new(&ydrop, shares_anchors, true);
            let stage = GappedStage {
                target: &target,
                query: &query,
                scoring: &scoring,
                ydrop: &ydrop,
                threshold: 3000,
                all_bounds: false,
                look_ahead: Some(&LookAhead::default()),
                bulk: Some(&bulk),
                progress: &|done, _| assert!(done < panics_at, "as planned"),
            };
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&stage, &anchors)));
            let _ = sender.send(ended.is_err());
        });
        let panicked = receiver.recv_timeout(std::time::Duration::from_secs(120)).expect("an end");
        assert!(panicked, "shares {shares_anchors}, at {panics_at}");
    }
}
