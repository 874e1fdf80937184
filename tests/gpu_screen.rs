//! The screen never drops an anchor that could be accepted, and drops nearly all anchors in unrelated sequence.

mod gpu_support;

use fastz::alignment::Anchor;
use fastz::cpu::Ydrop;
use fastz::gpu::screen::Screened;
use fastz::gpu::variant::Variant;
use fastz::gpu::{Gpu, GpuExtender};
use fastz::options::GappedOptions;
use fastz::scoring::Scoring;
use fastz::sequence::SequenceSet;
use gpu_support::{SplitMix64, both_sides, cpu_sides, gpu_or_skip};

/// Screens anchors in related and in unrelated sequence. Returns (dropped, all) among the unrelated ones.
fn check(what: &str, gpu: Gpu, variant: Variant, seed: u64, goal: i64) -> (usize, usize) {
    let mut rng = SplitMix64(seed);
    let (scoring, options) = (Scoring::default(), GappedOptions::default());
    let (mut target, mut query) = (rng.bases(500), rng.bases(700));
    let shared = rng.bases(300);
    let places = (target.len(), query.len());
    target.extend(&shared);
    query.extend(rng.mutated(&shared, 12));
    target.extend(b"NNNNNNNNNNNNNNNNNNNN");
    target.extend(rng.bases(600));
    query.extend(rng.bases(400));
    query.extend(b"NNNNN");
    query.extend(rng.bases(30));
    let mut anchors: Vec<(usize, usize)> = (0..10).map(|i| (places.0 + 25 * i, places.1 + 25 * i)).collect();
    anchors.extend([(0, 0), (target.len() - 1, query.len() - 1), (805, 1130), (0, 300)]);
    let n_related = anchors.len();
    // Unrelated ones, far from the shared piece, on two matching pairs as seeds have them.
    let (far_t, far_q) = (target.len() + 1500, query.len() + 1500);
    let (more_t, more_q) = (rng.bases(3000), rng.bases(3000));
    target.extend(more_t);
    query.extend(more_q);
    while anchors.len() < n_related + 20 {
        let (t, q) = (far_t + rng.below(1000), far_q + rng.below(1000));
        if target[t..t + 2] == query[q..q + 2] {
            anchors.push((t, q));
        }
    }
    let (target, query) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));

    let extender = GpuExtender::with_variant(gpu, variant, &scoring, &options).unwrap();
    let unit = extender.load(&target, &query).unwrap();
    let anchors: Vec<Anchor> =
        anchors.iter().map(|&(t, q)| Anchor { target: t as u32, query: q as u32, hsp_score: 0 }).collect();
    let screened = extender.screen().unwrap().run(&unit, &anchors, goal).unwrap();
    let ydrop = Ydrop::new(&scoring, &options);
    let mut dropped = 0;
    for (ix, (anchor, screened)) in anchors.iter().zip(screened).enumerate() {
        let runs = both_sides(anchor.target as usize, anchor.query as usize);
        let sides = cpu_sides(&ydrop, &target, &query, &runs);
        if let Screened::Dropped { left, right } = screened {
            assert!(
                sides[0].score <= i64::from(left) && sides[1].score <= i64::from(right),
                "{what}, {variant}, seed {seed}: {anchor:?} bounds {left}, {right}; exact {}, {}",
                sides[0].score,
                sides[1].score
            );
            assert!(sides[0].score + sides[1].score < goal, "{what}, {variant}, seed {seed}: {anchor:?} was dropped");
            dropped += usize::from(ix >= n_related);
        }
    }
    (dropped, anchors.len() - n_related)
}

#[test]
fn bounds_hold_and_unrelated_anchors_are_dropped() {
    let test = "bounds_hold_and_unrelated_anchors_are_dropped";
    let (mut dropped, mut all) = (0, 0);
    for seed in 0..3 {
        let Some(gpu) = gpu_or_skip(test) else { return };
        let variant = gpu.variant(768);
        let (d, a) = check(test, gpu, variant, seed, 3000);
        (dropped, all) = (dropped + d, all + a);
    }
    assert!(dropped * 2 > all, "only {dropped} of {all} unrelated anchors were dropped");
}

#[test]
fn workgroup_variant_and_other_stripe_heights() {
    let test = "workgroup_variant_and_other_stripe_heights";
    for (variant, seed) in [
        (Variant::workgroup(32, 8), 7),
        (Variant { stripe_rows: 1, ..Variant::workgroup(64, 8) }, 8),
        (Variant { stripe_rows: 4, ..Variant::workgroup(32, 8) }, 9),
    ] {
        let Some(gpu) = gpu_or_skip(test) else { return };
        let (dropped, _) = check(test, gpu, variant, seed, 4000);
        assert!(dropped > 0);
    }
}
