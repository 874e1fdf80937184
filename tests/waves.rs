//! Bulk waves beside blocks: clusters of repeats, in which each block confines the next ones.

#[path = "support/cpu_bulk.rs"]
mod cpu_bulk;
#[path = "support/random.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod random;

use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::time::Duration;

use cpu_bulk::CpuBulk;
use fastz::cpu::Ydrop;
use fastz::error::Result;
use fastz::extend::{BulkExtender, BulkUnit, GappedResult, GappedStage, LookAhead, Side};
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

/// Clusters in two sequences, with an anchor somewhere in each pair of copies.
struct World {
    target: SequenceSet,
    query: SequenceSet,
    scoring: Scoring,
    ydrop: Ydrop,
    anchors: Vec<Anchor>,
}

impl World {
    fn new(seed: u64) -> World {
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
        let scoring = Scoring::default();
        let options = GappedOptions { y_drop: 3400, ..GappedOptions::default() };
        World {
            target: SequenceSet::single("t", &target),
            query: SequenceSet::single("q", &query),
            ydrop: Ydrop::new(&scoring, &options),
            scoring,
            anchors,
        }
    }

    fn run(
        &self,
        look_ahead: Option<&LookAhead>,
        bulk: Option<&dyn BulkExtender>,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> GappedResult {
        let stage = GappedStage {
            target: &self.target,
            query: &self.query,
            scoring: &self.scoring,
            ydrop: &self.ydrop,
            threshold: 3000,
            all_bounds: false,
            look_ahead,
            bulk,
            progress,
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        pool.install(|| stage.run(&self.anchors, Vec::new(), &mut |_| ControlFlow::Continue(())).unwrap())
    }
}

#[test]
fn clusters_come_out_alike_whoever_extends_them() {
    for seed in 0..3 {
        let world = World::new(seed);
        let n_anchors = world.anchors.len();
        let look_ahead = LookAhead::default();
        let in_order = world.run(None, None, &|_, _| {});
        assert!(in_order.blocks.len() > n_anchors / 4, "{} blocks", in_order.blocks.len());
        let ahead = world.run(Some(&look_ahead), None, &|_, _| {});
        assert_eq!(in_order.blocks, ahead.blocks, "seed {seed}");
        for shares_anchors in [false, true] {
            let bulk = CpuBulk::new(&world.ydrop, shares_anchors, true);
            let found = world.run(Some(&look_ahead), Some(&bulk), &|_, _| {});
            assert_eq!(in_order.blocks, found.blocks, "seed {seed}, shares {shares_anchors}");
            let n_bounded = bulk.given_bounded.load(Relaxed);
            // How many an engine that shares is given depends on who is quicker.
            assert!(shares_anchors || n_bounded > 500, "seed {seed}: {n_bounded} of {n_anchors} anchors");
        }
    }
}

/// An engine that panics at its first wave.
struct Panicking {
    shares_anchors: bool,
}

impl BulkExtender for Panicking {
    fn least_anchors(&self) -> usize {
        1
    }

    fn shares_anchors(&self) -> bool {
        self.shares_anchors
    }

    fn open<'a>(&'a self, _: &'a SequenceSet, _: &'a SequenceSet) -> Result<Option<Box<dyn BulkUnit + 'a>>> {
        Ok(Some(Box::new(self)))
    }
}

impl BulkUnit for &Panicking {
    fn extend(&mut self, _: &[Anchor], _: &(dyn Fn(&Side, &Side) -> bool + Sync)) -> Result<Vec<Option<(Side, Side)>>> {
        panic!("as planned")
    }
}

/// A panic in the middle ends the stage, whether on a thread of the pool or on that for waves: nobody waits for what does not
/// come any more.
#[test]
fn a_panic_ends_the_stage() {
    let panics = |name: String, run: Box<dyn FnOnce() + Send>| {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
            let _ = sender.send(ended.is_err());
        });
        assert_eq!(receiver.recv_timeout(Duration::from_secs(120)), Ok(true), "{name}");
    };
    let last = World::new(7).anchors.len() - 1;
    for shares_anchors in [false, true] {
        for panics_at in [0, 40, last] {
            let run = move || {
                let world = World::new(7);
                let bulk = CpuBulk::new(&world.ydrop, shares_anchors, true);
                let progress = |done, _| assert!(done < panics_at, "as planned");
                world.run(Some(&LookAhead::default()), Some(&bulk), &progress);
            };
            panics(format!("shares {shares_anchors}, at {panics_at}"), Box::new(run));
        }
        let run = move || {
            World::new(7).run(Some(&LookAhead::default()), Some(&Panicking { shares_anchors }), &|_, _| {});
        };
        panics(format!("shares {shares_anchors}, in a wave"), Box::new(run));
    }
}
