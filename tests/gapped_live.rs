//! Gapped extension against the installed lastz: its HSPs go in, its blocks must come out, in its order.

#[path = "support/cpu_bulk.rs"]
mod cpu_bulk;

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering::Relaxed;

use cpu_bulk::CpuBulk;
use fastz::cpu::Ydrop;
use fastz::extend::{BulkExtender, GappedStage, LookAhead};
use fastz::options::GappedOptions;
use fastz::scoring::Scoring;
use fastz::{Anchor, EditOp, Hsp, SequenceSet};

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
    fn dna(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| *self.pick(b"ACGT")).collect()
    }
    fn mutate(&mut self, from: &[u8], percent: usize) -> Vec<u8> {
        let mut out = Vec::new();
        for &base in from {
            match self.below(1000) {
                x if x < percent * 8 => out.push(*self.pick(b"ACGT")),
                x if x < percent * 9 => {
                    let n = 1 + self.below(12);
                    out.extend(self.dna(n));
                }
                x if x < percent * 10 => {}
                _ => out.push(base),
            }
        }
        out
    }
}

/// A pair dense in repeats, so that blocks confine each other.
fn pair(rng: &mut Rng) -> (Vec<u8>, Vec<u8>) {
    let units: Vec<Vec<u8>> = (0..3)
        .map(|_| {
            let n = 60 + rng.below(400);
            rng.dna(n)
        })
        .collect();
    let side = |rng: &mut Rng| {
        let mut out = Vec::new();
        for _ in 0..4 + rng.below(8) {
            match rng.below(6) {
                0 => {
                    let n = 20 + rng.below(200);
                    out.extend(rng.dna(n));
                }
                1 => {
                    let unit_len = 3 + rng.below(40);
                    let unit = rng.dna(unit_len);
                    (0..2 + rng.below(8)).for_each(|_| out.extend(&unit));
                }
                2 if rng.below(3) == 0 => out.extend(vec![b'N'; 10 + rng.below(60)]),
                _ => {
                    let unit = rng.pick(&units).clone();
                    let rate = *rng.pick(&[0, 2, 5, 10, 15]);
                    out.extend(rng.mutate(&unit, rate));
                }
            }
        }
        out
    };
    (side(rng), side(rng))
}

fn lastz(dir: &Path, args: &[String]) -> Option<String> {
    let out = Command::new("lastz").args(args).current_dir(dir).output().ok()?;
    assert!(out.status.success(), "lastz {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    Some(String::from_utf8(out.stdout).expect("text"))
}

fn cigar(script: &fastz::EditScript) -> String {
    let letter = |op| match op {
        EditOp::Pair => 'M',
        EditOp::Insertion => 'I',
        EditOp::Deletion => 'D',
    };
    script.runs().iter().map(|&(op, n)| format!("{n}{}", letter(op))).collect()
}

/// The peak of an HSP (lastz-semantics 4.1).
fn anchor(hsp: &Hsp, target: &[u8], query: &[u8], scoring: &Scoring) -> Anchor {
    let (t, q, n) = (hsp.target_start as usize, hsp.query_start as usize, hsp.len as usize);
    let sum = |at: usize| (at..at + 31).map(|i| scoring.gapped.get(target[t + i], query[q + i])).sum::<i32>();
    let offset = if n <= 31 { n / 2 } else { (0..=n - 31).rev().max_by_key(|&at| sum(at)).unwrap() + 15 };
    Anchor { target: (t + offset) as u32, query: (q + offset) as u32, hsp_score: hsp.score }
}

/// A name, the engine, how far it runs ahead, and what else takes part.
type Work<'a> = (&'a str, &'a Ydrop, Option<&'a LookAhead>, Option<&'a dyn BulkExtender>);

#[test]
fn blocks_equal_lastz_block_for_block() {
    if Command::new("lastz").arg("--version").output().is_err() {
        // Past the capture of the test harness, so that it is seen.
        let _ = writeln!(std::io::stderr(), "SKIPPED: lastz is not installed (apt-get install lastz)");
        return;
    }
    let cases = std::env::var("FASTZ_FUZZ_CASES").map_or(60, |n| n.parse::<u64>().expect("a number"));
    let seed = std::env::var("FASTZ_FUZZ_SEED").map_or(1, |n| n.parse::<u64>().expect("a number"));
    let dir = tempfile::tempdir().unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let (mut blocks_seen, mut given_late, mut given_shared) = (0, 0, [0, 0]);
    for case in seed..seed + cases {
        let mut rng = Rng(case);
        let (target, query) = pair(&mut rng);
        std::fs::write(dir.path().join("t.fa"), [b">t\n", &target[..], b"\n"].concat()).unwrap();
        std::fs::write(dir.path().join("q.fa"), [b">q\n", &query[..], b"\n"].concat()).unwrap();
        let mut scoring = Scoring::default();
        let mut options = GappedOptions::default();
        let threshold = *rng.pick(&[800, 1000, 1500, 3000]);
        let mut gapped_args = Vec::new();
        if rng.below(2) == 0 {
            let (open, extend) = *rng.pick(&[(200, 10), (400, 30), (100, 50), (600, 150), (0, 60), (2500, 5)]);
            gapped_args.push(format!("--gap={open},{extend}"));
            (scoring.gap_open, scoring.gap_extend) = (open, extend);
        }
        options.y_drop = scoring.gap_open + 300 * scoring.gap_extend;
        if rng.below(2) == 0 {
            options.y_drop = *rng.pick(&[300, 1000, 1500, 3000, 4000, 9400, 15000]);
            gapped_args.push(format!("--ydrop={}", options.y_drop));
        }
        if rng.below(4) == 0 {
            gapped_args.push("--noytrim".into());
            options.trim_to_peak = false;
        }
        if rng.below(4) == 0 {
            gapped_args.push("--allgappedbounds".into());
            options.all_bounds = true;
        }
        if rng.below(3) == 0 {
            gapped_args.push("--allocate:traceback=100K".into());
            options.traceback_bytes = Some(100 << 10);
        }
        let common: Vec<String> = ["t.fa", "q.fa", "--strand=plus", &format!("--hspthresh={threshold}"), "--notrivial"]
            .map(String::from)
            .into();
        let fields = "--format=general-:score,zstart1,end1,zstart2,end2,cigar";
        let hsps = lastz(dir.path(), &[common.clone(), vec!["--nogapped".into(), fields.into()]].concat()).unwrap();
        let gapped_args = [common, gapped_args, vec![fields.into()]].concat();
        let expected = lastz(dir.path(), &gapped_args).unwrap();

        let (t, q) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
        let mut anchors: Vec<Anchor> = hsps
            .lines()
            .map(|line| {
                let f: Vec<&str> = line.split('\t').collect();
                let n = |i: usize| f[i].parse::<u32>().unwrap();
                let score = f[0].parse().unwrap();
                let hsp = Hsp { target_start: n(1), query_start: n(3), len: n(2) - n(1), score };
                anchor(&hsp, &target, &query, &scoring)
            })
            .collect();
        anchors.sort_by_key(|a| (-a.hsp_score, a.query, a.target));
        let look_ahead = LookAhead::default();
        let vectorised = Ydrop::new(&scoring, &options);
        let scalar = vectorised.clone().scalar();
        let bulk = |shares_anchors, takes_bounded, unready| {
            let bulk = CpuBulk::new(&vectorised, shares_anchors, takes_bounded);
            bulk.unready.store(unready, Relaxed);
            bulk
        };
        let (sharing, alone) = (bulk(true, false, 0), bulk(false, false, 0));
        let (sharing_bounded, alone_bounded) = (bulk(true, true, 0), bulk(false, true, 0));
        let late = [(); 4].map(|()| bulk(rng.below(2) == 0, rng.below(2) == 0, 1 + rng.below(8)));
        let never = [bulk(true, true, usize::MAX), bulk(false, true, usize::MAX)];
        let works: [Work; 16] = [
            ("scalar, in order", &scalar, None, None),
            ("in order", &vectorised, None, None),
            ("ahead", &vectorised, Some(&look_ahead), None),
            ("bulk, in order", &vectorised, None, Some(&alone)),
            ("bulk, ahead", &vectorised, Some(&look_ahead), Some(&alone)),
            ("bulk, shared, ahead", &vectorised, Some(&look_ahead), Some(&sharing)),
            ("bounded bulk, in order", &vectorised, None, Some(&alone_bounded)),
            ("bounded bulk, ahead", &vectorised, Some(&look_ahead), Some(&alone_bounded)),
            ("bounded bulk, shared, ahead", &vectorised, Some(&look_ahead), Some(&sharing_bounded)),
            ("late bulk, in order", &vectorised, None, Some(&late[0])),
            ("late bulk, ahead", &vectorised, Some(&look_ahead), Some(&late[1])),
            ("late bulk, ahead", &vectorised, Some(&look_ahead), Some(&late[2])),
            ("late bulk, ahead", &vectorised, Some(&look_ahead), Some(&late[3])),
            ("no bulk yet, in order", &vectorised, None, Some(&never[1])),
            ("no bulk yet, ahead", &vectorised, Some(&look_ahead), Some(&never[1])),
            ("no bulk yet, shared, ahead", &vectorised, Some(&look_ahead), Some(&never[0])),
        ];
        for (work, ydrop, look_ahead, bulk) in works {
            let stage = GappedStage {
                target: &t,
                query: &q,
                scoring: &scoring,
                ydrop,
                threshold,
                all_bounds: options.all_bounds,
                look_ahead,
                bulk,
                progress: &|_, _| {},
            };
            let result = pool.install(|| stage.run(&anchors, vec![], &mut |_| ControlFlow::Continue(())).unwrap());
            let found: String = result
                .blocks
                .iter()
                .map(|b| {
                    let (t, q) = (b.target_range(), b.query_range());
                    format!("{}\t{}\t{}\t{}\t{}\t{}\n", b.score, t.start, t.end, q.start, q.end, cigar(&b.script))
                })
                .collect();
            if found != expected {
                std::fs::create_dir_all("target/gapped_live").unwrap();
                for name in ["t.fa", "q.fa"] {
                    std::fs::copy(dir.path().join(name), Path::new("target/gapped_live").join(name)).unwrap();
                }
            }
            let short = |text: &str| text.lines().map(|line| line.chars().take(70).collect()).collect::<Vec<String>>();
            let first_difference = found.lines().zip(expected.lines()).position(|(f, e)| f != e);
            assert!(
                found == expected,
                "case {case}, {work}: lastz {}\nfirst different block: {first_difference:?}\n\
                 found {:#?}\nexpected {:#?}",
                gapped_args.join(" "),
                short(&found),
                short(&expected)
            );
            blocks_seen += result.blocks.len();
        }
        for (sum, sharing) in given_shared.iter_mut().zip([&sharing, &sharing_bounded]) {
            *sum += sharing.given.load(Relaxed);
        }
        given_late += late.iter().map(|bulk| bulk.given.load(Relaxed)).sum::<usize>();
        assert!(never.iter().all(|bulk| bulk.given.load(Relaxed) == 0), "case {case}: an engine that is not ready");
    }
    assert!(blocks_seen > cases as usize && given_late > 0, "{blocks_seen} blocks, {given_late} anchors given late");
    assert!(
        given_shared.iter().all(|&given| given > cases as usize),
        "{given_shared:?} anchors given to engines that share"
    );
}
