//! A software adapter helps the CPU: nobody waits for its kernels, and once they are ready it gets some of the anchors.

mod gpu_support;
mod support;

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastz::align::{Aligner, Query, Sink};
use fastz::error::Result;
use fastz::extend::{BulkExtender, BulkUnit, Truncation};
use fastz::gpu::{GpuBulk, OnFault};
use fastz::options::HspThreshold;
use fastz::output::StrandView;
use fastz::{Block, Options, SequenceSet};
use gpu_support::gpu_or_skip;
use support::evolve::{Evolution, evolve};
use support::random::Random;

/// Most time that the kernels take, with checked indices and nothing in Mesa's cache.
const LIMIT: Duration = Duration::from_secs(300);

/// An engine that the test can ask what it did.
struct Watched(Arc<GpuBulk>);

impl BulkExtender for Watched {
    fn least_anchors(&self) -> usize {
        self.0.least_anchors()
    }

    fn least_screened(&self) -> usize {
        self.0.least_screened()
    }

    fn most_anchors(&self) -> usize {
        self.0.most_anchors()
    }

    fn shares_anchors(&self) -> bool {
        self.0.shares_anchors()
    }

    fn get_ready(&self) -> bool {
        self.0.get_ready()
    }

    fn open<'a>(&'a self, target: &'a SequenceSet, query: &'a SequenceSet) -> Result<Option<Box<dyn BulkUnit + 'a>>> {
        self.0.open(target, query)
    }
}

#[derive(Default)]
struct Blocks(Vec<Vec<Block>>);

impl Sink for Blocks {
    fn strand(&mut self, _: &StrandView, blocks: &[Block]) -> Result<()> {
        self.0.push(blocks.to_vec());
        Ok(())
    }

    fn masked(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    fn truncated(&mut self, _: &Truncation) {}

    fn warn(&mut self, _: String) {}
}

#[test]
fn a_software_adapter_helps_once_its_kernels_are_ready() {
    let test = "a_software_adapter_helps_once_its_kernels_are_ready";
    let Some(gpu) = gpu_or_skip(test) else { return };
    if !gpu.capabilities().is_software {
        // Past the capture of the test harness, so that it is seen.
        let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {} is no software", gpu.name());
        return;
    }
    let plan = Evolution { breaks: 800.0, ..Evolution::mammal(400_000) };
    let pair = evolve(&mut Random::new(83), &plan);
    let (target, query) = (SequenceSet::single("t", &pair.target), SequenceSet::single("q", &pair.query));
    let mut options = Options { hsp_threshold: HspThreshold::Score(2000), ..Options::default() };
    let gapped = options.gapped.as_mut().expect("gapped extension");
    gapped.y_drop = 3000;
    let bulk = Arc::new(GpuBulk::new(gpu, &options.scoring, gapped, OnFault::Fail));
    let align = |bulk: Option<&Arc<GpuBulk>>| {
        let mut aligner = Aligner::new(target.clone(), options.clone()).expect("a table");
        if let Some(bulk) = bulk {
            aligner = aligner.with_bulk_extender(Box::new(Watched(bulk.clone())));
        }
        let mut sink = Blocks::default();
        let query = Query { sequences: query.clone(), segments: None };
        aligner.align(vec![query], &mut sink).expect("alignments");
        (sink.0, aligner.counts().gapped)
    };
    let (expected, counts) = align(None);
    assert!(counts.anchors > 1000 && counts.extended > 200, "too little to share: {counts:?}");
    assert_eq!(align(Some(&bulk)).0, expected, "while the kernels are translated");
    let started = Instant::now();
    while !bulk.get_ready() {
        assert!(started.elapsed() < LIMIT, "the kernels are never ready");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(align(Some(&bulk)).0, expected, "with the kernels");
    let counts = bulk.counts().expect("waves");
    assert!(counts.inspected > 0 && counts.executed.iter().sum::<u64>() > 0, "it helped with nothing: {counts:?}");
}
