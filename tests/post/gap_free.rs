//! What happens to HSPs: anchors, the adaptive table, the best of a query, limits, merging, mirror images, filters.

use crate::lastz::{Bench, FORMAT, Random, Run, cases, load, strands};
use fastz::anchor::{anchor_of, anchors, sort_anchors};
use fastz::filter::adaptive::AdaptiveTable;
use fastz::filter::merge_by_diagonal;
use fastz::filter::query_best::{QueryHsps, keep_best};
use fastz::options::{BlockFilters, HspThreshold, MatchCount, OverLimit, RatioRange};
use fastz::post::filters::{FilterStage, ratio_of_percent, retain};
use fastz::post::limits::{HspLimit, QueryHspCount, StrandHspCount};
use fastz::post::mirror::SelfPair;
use fastz::scoring::Scoring;
use fastz::{Anchor, Block, Hsp, SequenceSet};

const DENSE: [&str; 4] = ["--nogapped", "--hspthresh=700", "--seed=match6", "--noentropy"];

/// Related files `t.fa` (one sequence) and `q.fa` (several).
fn write_inputs(bench: &Bench, random: &mut Random, n_queries: usize, len: usize) {
    let families: Vec<Vec<u8>> = (0..3)
        .map(|_| {
            let len = random.between(30, 90);
            random.dna(len)
        })
        .collect();
    bench.fasta("t.fa", &[("t", random.repeats(&families, len))]);
    let names: Vec<String> = (0..n_queries).map(|i| format!("q{i}")).collect();
    let records: Vec<(&str, Vec<u8>)> =
        names.iter().map(|name| (&name[..], random.repeats(&families, len / 2))).collect();
    bench.fasta("q.fa", &records);
}

/// The lines of a query in the order `-`, `+`.
fn minus_then_plus(run: &Run, target: &SequenceSet, query: &SequenceSet) -> (Vec<Hsp>, Vec<Hsp>) {
    let minus = query.reverse_complement();
    (run.hsps(target, &minus), run.hsps(target, query))
}

#[test]
fn anchors_equal_the_debug_report() {
    let Some(bench) = Bench::new("anchors_equal_the_debug_report") else { return };
    let mut random = Random(3);
    let mut n_anchors = 0;
    for case in 0..cases(10) {
        write_inputs(&bench, &mut random, 1, 1500);
        let options = ["t.fa", "q.fa", "--strand=plus", "--hspthresh=700", "--seed=match6", "--noentropy"];
        let all = bench.lastz_ok(&[&options[..], &["--nogapped", FORMAT]].concat());
        let debug = bench.lastz_ok(&[&options[..], &["--debug=segments", "--format=none"]].concat());
        let target = &load(&bench, "t.fa")[0];
        let query = &load(&bench, "q.fa")[0];
        let hsps = all.hsps(target, query);
        let matrix = &Scoring::default().gapped;
        let mut ours: Vec<Anchor> =
            hsps.iter().filter_map(|hsp| anchor_of(hsp, &target.bases, &query.bases, matrix)).collect();
        // `[0] t 144 144 q 150 150   15325`, before they are sorted.
        let expected: Vec<Anchor> = debug
            .stderr
            .lines()
            .filter(|line| line.starts_with('['))
            .map(|line| {
                let fields: Vec<&str> = line.split_whitespace().collect();
                let number = |i: usize| fields[i].parse::<i64>().expect("a number");
                Anchor { target: number(2) as u32, query: number(5) as u32, hsp_score: number(fields.len() - 1) as i32 }
            })
            .collect();
        assert_eq!(ours, expected, "case {case}");
        sort_anchors(&mut ours);
        assert_eq!(ours, anchors(&hsps, &target.bases, &query.bases, matrix));
        n_anchors += ours.len();
    }
    assert!(n_anchors > 50, "only {n_anchors} anchors");
}

#[test]
fn adaptive_threshold_keeps_and_orders_as_lastz() {
    let Some(bench) = Bench::new("adaptive_threshold_keeps_and_orders_as_lastz") else { return };
    let mut random = Random(4);
    let mut n_kept = 0;
    for case in 0..cases(40) {
        write_inputs(&bench, &mut random, 1, 900);
        // A unit match makes ties frequent. Every extension scores at least 0, so threshold 0 shows all of them.
        let scores = random.pick(&["--match=1", "--match=3,2", "--ambiguous=n"]);
        let seed = random.pick(&["--seed=match5", "--seed=match7", "--seed=12of19"]);
        let target_word = random.pick(&["t.fa", "t.fa[multiple]"]);
        let options = [target_word, "q.fa", "--nogapped", scores, seed, FORMAT];
        let all = bench.lastz_ok(&[&options[..], &["--hspthresh=0", "--noentropy"]].concat());
        let has_entropy = random.chance(50);
        let entropy = if has_entropy { "--entropy" } else { "--noentropy" };
        let (top, threshold) = match random.below(4) {
            0 => {
                let percent = random.between(1, 120);
                (format!("--hspthresh=top{percent}%"), HspThreshold::TopPercent(percent as f64))
            }
            1 if random.chance(20) => ("--hspthresh=top0".to_string(), HspThreshold::TopBases(0)),
            _ => {
                let bases = random.between(1, 1500);
                (format!("--hspthresh=top{bases}"), HspThreshold::TopBases(bases as u64))
            }
        };
        let args = [&options[..], &[entropy, &top]].concat();
        let adaptive = bench.lastz_ok(&args);
        let target = &load(&bench, target_word)[0];
        let query = &load(&bench, "q.fa")[0];
        let (minus, plus) = minus_then_plus(&all, target, query);
        let mut table = AdaptiveTable::for_threshold(threshold, target).unwrap();
        let other = query.reverse_complement();
        for (hsps, strand) in [(plus, query), (minus, &other)] {
            for mut hsp in hsps {
                if has_entropy && table.wants_entropy(hsp.score) {
                    hsp.score = (f64::from(hsp.score) * entropy_factor(&hsp, target, strand)) as i32;
                }
                table.offer(hsp, strand.is_reversed);
            }
        }
        let ours = (table.strand(true), table.strand(false));
        assert_eq!(ours, minus_then_plus(&adaptive, target, query), "case {case}: {args:?} in {:?}", bench.path(""));
        n_kept += ours.0.len() + ours.1.len();
    }
    assert!(n_kept > 100, "only {n_kept} HSPs kept");
}

/// lastz-semantics 3.3.
fn entropy_factor(hsp: &Hsp, target: &SequenceSet, query: &SequenceSet) -> f64 {
    let mut counts = [0u32; 4];
    for i in 0..hsp.len {
        let (a, b) = (target.bases[(hsp.target_start + i) as usize], query.bases[(hsp.query_start + i) as usize]);
        if let Some(ix) = b"ACGT".iter().position(|&base| base == a && base == b) {
            counts[ix] += 1;
        }
    }
    if counts.iter().sum::<u32>() < 20 {
        return 1.0;
    }
    let share = |n: u32| f64::from(n) / f64::from(hsp.len);
    -counts.iter().filter(|&&n| n > 0).map(|&n| share(n) * share(n).ln()).sum::<f64>() / 4f64.ln()
}

#[test]
fn the_best_of_a_query_are_kept_in_score_order() {
    let Some(bench) = Bench::new("the_best_of_a_query_are_kept_in_score_order") else { return };
    let mut random = Random(5);
    for case in 0..cases(20) {
        write_inputs(&bench, &mut random, 3, 900);
        let scores = ["--nogapped", "--match=1", "--hspthresh=11", "--seed=match6", "--noentropy", FORMAT];
        let dense = [&DENSE[..], &[FORMAT]].concat();
        let options = if random.chance(50) { &scores[..] } else { &dense[..] };
        let query_word = random.pick(&["q.fa", "q.fa[multiple]"]);
        let all = bench.lastz_ok(&[&["t.fa", query_word], options].concat());
        let best = random.between(1, 40);
        let option = format!("--queryhspbest={best}");
        let kept = bench.lastz_ok(&[&["t.fa", query_word, &option], options].concat());
        let target = &load(&bench, "t.fa")[0];
        for query in load(&bench, query_word) {
            let (minus, plus) = minus_then_plus(&all, target, &query);
            let ours = keep_best(QueryHsps { plus, minus }, best as u32);
            let (minus, plus) = minus_then_plus(&kept, target, &query);
            assert_eq!(ours, QueryHsps { plus, minus }, "case {case}, {option} {query_word}");
        }
    }
}

#[test]
fn query_hsp_limit_warns_and_drops_as_lastz() {
    let Some(bench) = Bench::new("query_hsp_limit_warns_and_drops_as_lastz") else { return };
    let mut random = Random(6);
    let mut n_lines = 0;
    for case in 0..cases(25) {
        write_inputs(&bench, &mut random, 4, 700);
        let query_word = random.pick(&["q.fa", "q.fa", "q.fa[multiple]"]);
        let all = bench.lastz_ok(&[&["t.fa", query_word, FORMAT], &DENSE[..]].concat());
        let (prefix, over) = [
            ("=", OverLimit { keep: false, warn: true }),
            ("=nowarn:", OverLimit { keep: false, warn: false }),
            ("+=", OverLimit { keep: true, warn: true }),
            ("=keep,nowarn:", OverLimit { keep: true, warn: false }),
        ][random.below(4)];
        let n = random.between(1, 25) as u32;
        let option = format!("--queryhsplimit{prefix}{n}");
        let limited = bench.lastz_ok(&[&["t.fa", query_word, &option, FORMAT], &DENSE[..]].concat());
        let mut limit = HspLimit::new(n, over);
        let mut stderr = Vec::new();
        let target = &load(&bench, "t.fa")[0];
        for query in load(&bench, query_word) {
            let mut count = QueryHspCount::default();
            let mut lists = Vec::new();
            for strand in strands(vec![query.clone()]) {
                let mut hsps = all.hsps(target, &strand);
                // The search stops somewhere beyond the limit.
                hsps.truncate(limit.strand_limit(count) as usize + 1);
                lists.push(hsps.clone());
                let found = StrandHspCount { found: hsps.len() as u64, listed: hsps.len() as u64 };
                if !limit.add_strand(&mut count, found, &strand, &mut |line| stderr.push(line)) {
                    break;
                }
            }
            let (minus, plus) = minus_then_plus(&limited, target, &query);
            let printed = minus.len() + plus.len();
            if !limit.keeps(count) {
                assert_eq!(printed, 0, "case {case}, {option}");
            } else {
                assert!(printed <= limit.most_kept() as usize);
                // One query position can bring several HSPs beyond the limit, so a printed list may be longer.
                for (ours, printed) in lists.iter().zip([plus, minus]) {
                    let n = ours.len().min(printed.len());
                    assert_eq!(ours[..n], printed[..n], "case {case}, {option}");
                }
            }
        }
        stderr.extend(limit.summary());
        assert_eq!(stderr, limited.stderr.lines().collect::<Vec<_>>(), "case {case}, {option}");
        n_lines += stderr.len();
    }
    assert!(n_lines > 10, "only {n_lines} lines on stderr");
}

#[test]
fn recovered_hsps_are_merged_and_sorted() {
    let Some(bench) = Bench::new("recovered_hsps_are_merged_and_sorted") else { return };
    let mut random = Random(7);
    for case in 0..cases(8) {
        write_inputs(&bench, &mut random, 2, 900);
        // Without hash collisions --recoverseeds finds what the default finds.
        let all = bench.lastz_ok(&[&["t.fa", "q.fa", FORMAT], &DENSE[..]].concat());
        let recovered = bench.lastz_ok(&[&["t.fa", "q.fa", "--recoverseeds", FORMAT], &DENSE[..]].concat());
        let target = &load(&bench, "t.fa")[0];
        for query in strands(load(&bench, "q.fa")) {
            let expected = recovered.hsps(target, &query);
            // It extends to the left without a block, so merge what lastz itself merged: nothing may change.
            let again = merge_by_diagonal(expected.iter().rev().copied().collect());
            assert_eq!(again, expected, "case {case}");
            let ours = merge_by_diagonal(all.hsps(target, &query));
            let covers = |list: &[Hsp], hsp: &Hsp| {
                list.iter().any(|m| {
                    m.diagonal() == hsp.diagonal()
                        && m.query_start <= hsp.query_start
                        && hsp.query_end() <= m.query_end()
                })
            };
            assert!(ours.iter().all(|hsp| covers(&expected, hsp)), "case {case}");
        }
    }
}

#[test]
fn gap_free_mirrors_follow_their_originals() {
    let Some(bench) = Bench::new("gap_free_mirrors_follow_their_originals") else { return };
    let mut random = Random(8);
    let mut n_mirrored = 0;
    for case in 0..cases(15) {
        let family = random.dna(70);
        let mut palindrome = random.dna(25);
        palindrome.extend(SequenceSet::single("p", &palindrome).reverse_complement().bases);
        let families = [family, palindrome];
        bench.fasta("one.fa", &[("t", random.repeats(&families, 900))]);
        let several: Vec<(&str, Vec<u8>)> =
            ["a", "b", "c"].iter().map(|name| (*name, random.repeats(&families, 400))).collect();
        bench.fasta("several.fa", &several);
        let word = random.pick(&["one.fa", "several.fa[multiple]"]);
        let strand = if word == "one.fa" { "--strand=both" } else { "--strand=plus" };
        let options = [&[word, "--self", strand, FORMAT], &DENSE[..]].concat();
        let one_sided = bench.lastz_ok(&[&options[..], &["--nomirror"]].concat());
        let mirrored = bench.lastz_ok(&options);
        let target = &load(&bench, word)[0];
        for query in strands(load(&bench, word)) {
            if query.is_partitioned && query.is_reversed {
                // LASTZ mirrors these at the ends of the whole array: wrong positions, or it stops.
                continue;
            }
            let pair = SelfPair { target, query: &query };
            let with_image = |hsp: Hsp| std::iter::once(hsp).chain(pair.mirror_hsp(&hsp));
            let ours: Vec<Hsp> = one_sided.hsps(target, &query).into_iter().flat_map(with_image).collect();
            assert_eq!(ours, mirrored.hsps(target, &query), "case {case} {word} {}", query.strand());
            n_mirrored += ours.len();
        }
    }
    assert!(n_mirrored > 50, "only {n_mirrored} HSPs");
}

#[test]
fn filters_on_hsps_equal_those_of_lastz() {
    let Some(bench) = Bench::new("filters_on_hsps_equal_those_of_lastz") else { return };
    let mut random = Random(9);
    let (mut n_kept, mut n_dropped) = (0, 0);
    for case in 0..cases(40) {
        write_inputs(&bench, &mut random, 2, 900);
        let all = bench.lastz_ok(&[&["t.fa", "q.fa", FORMAT], &DENSE[..]].concat());
        let (options, filters) = random_filters(&mut random, 90, 40);
        let words: Vec<&str> = options.iter().map(String::as_str).collect();
        let filtered = bench.lastz_ok(&[&["t.fa", "q.fa", FORMAT], &DENSE[..], &words].concat());
        let target = &load(&bench, "t.fa")[0];
        for query in strands(load(&bench, "q.fa")) {
            let before = all.blocks(target, &query);
            let mut ours = before.clone();
            retain(&mut ours, &filters, FilterStage::GapFreeAtOnce, target, &query);
            assert_eq!(ours, filtered.blocks(target, &query), "case {case}: {words:?} in {:?}", bench.path(""));
            n_kept += ours.len();
            n_dropped += before.len() - ours.len();
        }
    }
    assert!(n_kept > 20 && n_dropped > 20, "{n_kept} kept, {n_dropped} dropped");
}

/// Some filters with values that split the blocks; `identity` and `matches` say where the interesting values start.
pub fn random_filters(random: &mut Random, identity: usize, matches: usize) -> (Vec<String>, BlockFilters) {
    let mut options = Vec::new();
    let mut filters = BlockFilters::default();
    let range = |random: &mut Random, low: usize| {
        let (min, max) = (random.between(low, 100), random.between(low, 100));
        let (min, max) = (min.min(max), min.max(max));
        let ratio = |percent: usize| ratio_of_percent(percent as f64);
        (format!("{min}..{max}"), Some(RatioRange { min: ratio(min), max: ratio(max) }))
    };
    if random.chance(40) {
        let (text, value) = range(random, identity.saturating_sub(20));
        options.push(format!("--identity={text}"));
        filters.identity = value;
    }
    if random.chance(30) {
        let (text, value) = range(random, 2);
        options.push(format!("--coverage={text}"));
        filters.coverage = value;
    }
    if random.chance(30) {
        let (text, value) = range(random, 70);
        options.push(format!("--continuity={text}"));
        filters.continuity = value;
    }
    if random.chance(30) {
        if random.chance(50) {
            let n = random.between(matches / 2, matches);
            options.push(format!("--filter=nmatch:{n}"));
            filters.min_matches = Some(MatchCount::Count(n as u64));
        } else {
            let percent = random.between(3, 20);
            options.push(format!("--matchcount={percent}%"));
            filters.min_matches = Some(MatchCount::OfQuery(percent as f64 / 100.0));
        }
    }
    let most = |random: &mut Random, name: &str, options: &mut Vec<String>| {
        random.chance(25).then(|| {
            let n = random.below(12);
            options.push(format!("--filter={name}:0..{n}"));
            n as u64
        })
    };
    filters.max_mismatches = most(random, "nmismatch", &mut options);
    filters.max_gaps = most(random, "ngap", &mut options);
    filters.max_gap_columns = most(random, "cgap", &mut options);
    (options, filters)
}

/// One border in single precision that double precision would judge the other way.
#[test]
fn ratio_borders_fall_as_in_single_precision() {
    let Some(bench) = Bench::new("ratio_borders_fall_as_in_single_precision") else { return };
    let mut random = Random(10);
    let mut n_checked = 0;
    for case in 0..cases(25) {
        let len = random.between(60, 300);
        let t = random.dna(len);
        let mut q = t.clone();
        let n_changed = random.between(1, len / 12);
        for _ in 0..n_changed {
            let at = random.between(20, len - 1);
            q[at] = fastz::sequence::complement(q[at]);
        }
        bench.fasta("t.fa", &[("t", t)]);
        bench.fasta("q.fa", &[("q", q)]);
        let options = ["t.fa", "q.fa", "--nogapped", "--strand=plus", "--xdrop=3000", "--hspthresh=1000", FORMAT];
        let all = bench.lastz_ok(&options);
        let target = &load(&bench, "t.fa")[0];
        let query = &load(&bench, "q.fa")[0];
        let blocks: Vec<Block> = all.blocks(target, query);
        for block in blocks.iter().take(2) {
            // The very ratio of this block, with as many digits as a float shows.
            let counts = fastz::post::rescore::ColumnCounts::of(block, &target.bases, &query.bases);
            let percent = 100.0 * counts.matches as f64 / counts.acgt_pairs as f64;
            for text in [format!("{percent:.4}"), format!("{percent:.6}"), format!("{percent:.2}")] {
                let min = ratio_of_percent(text.parse().unwrap());
                let filters = BlockFilters { identity: Some(RatioRange { min, max: 1.0 }), ..BlockFilters::default() };
                let option = format!("--identity={text}");
                let filtered = bench.lastz_ok(&[&options[..], &[&option]].concat());
                let mut ours = blocks.clone();
                retain(&mut ours, &filters, FilterStage::GapFree, target, query);
                assert_eq!(ours, filtered.blocks(target, query), "case {case} {option}");
                n_checked += 1;
            }
        }
    }
    assert!(n_checked > 20, "only {n_checked} borders");
}
