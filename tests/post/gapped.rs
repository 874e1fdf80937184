//! What happens to gapped blocks: scores from scratch, filters, masking, mirror images, trivial blocks, depth, `--inner`.

use crate::gap_free::random_filters;
use crate::lastz::{Bench, FORMAT, Random, Run, cases, load, strands};
use fastz::options::OverLimit;
use fastz::post::filters::{FilterStage, retain};
use fastz::post::inner::{Rectangle, interpolate};
use fastz::post::limits::DepthLimit;
use fastz::post::masking::{CounterWidth, TargetCoverage, soft_masked_ranges, write_masking};
use fastz::post::mirror::SelfPair;
use fastz::post::rescore::score_of;
use fastz::post::trivial::{drop_trivial, identical_blocks};
use fastz::scoring::Scoring;
use fastz::{Block, EditOp, SequenceSet};

fn write_inputs(bench: &Bench, random: &mut Random, n_queries: usize) {
    let families: Vec<Vec<u8>> = (0..3)
        .map(|_| {
            let len = random.between(60, 200);
            random.dna(len)
        })
        .collect();
    bench.fasta("t.fa", &[("t", random.repeats(&families, 1500))]);
    let names: Vec<String> = (0..n_queries).map(|i| format!("q{i}")).collect();
    let records: Vec<(&str, Vec<u8>)> = names.iter().map(|name| (&name[..], random.repeats(&families, 700))).collect();
    bench.fasta("q.fa", &records);
}

#[test]
fn scores_from_scratch_differ_at_most_by_the_gap_at_the_anchor() {
    let Some(bench) = Bench::new("scores_from_scratch_differ_at_most_by_the_gap_at_the_anchor") else { return };
    let mut random = Random(20);
    let scoring = Scoring::default();
    let (mut n_equal, mut n_fused) = (0, 0);
    for case in 0..cases(10) {
        write_inputs(&bench, &mut random, 3);
        let run = bench.lastz_ok(&["t.fa", "q.fa", "--hspthresh=2000", FORMAT]);
        let target = &load(&bench, "t.fa")[0];
        for query in strands(load(&bench, "q.fa")) {
            for block in run.blocks(target, &query) {
                let (t, q) = (block.target_start, block.query_start);
                let score = score_of(&block.script, &target.bases, &query.bases, t, q, &scoring);
                // A gap that runs through the anchor was opened twice (lastz-semantics 5.5).
                match score - block.score {
                    0 => n_equal += 1,
                    400 => n_fused += 1,
                    other => panic!("case {case}: {other} for {block:?}"),
                }
            }
        }
    }
    assert!(n_equal > 20 && n_fused * 5 < n_equal, "{n_equal} equal, {n_fused} fused");
}

#[test]
fn filters_on_blocks_equal_those_of_lastz() {
    let Some(bench) = Bench::new("filters_on_blocks_equal_those_of_lastz") else { return };
    let mut random = Random(21);
    let (mut n_kept, mut n_dropped) = (0, 0);
    for case in 0..cases(40) {
        write_inputs(&bench, &mut random, 3);
        let options = ["t.fa", "q.fa", "--hspthresh=2000", FORMAT];
        let all = bench.lastz_ok(&options);
        let (words, filters) = random_filters(&mut random, 90, 150);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let filtered = bench.lastz_ok(&[&options[..], &words].concat());
        let target = &load(&bench, "t.fa")[0];
        for query in strands(load(&bench, "q.fa")) {
            let before = all.blocks(target, &query);
            let mut ours = before.clone();
            retain(&mut ours, &filters, FilterStage::Gapped, target, &query);
            assert_eq!(ours, filtered.blocks(target, &query), "case {case}: {words:?} in {:?}", bench.path(""));
            n_kept += ours.len();
            n_dropped += before.len() - ours.len();
        }
    }
    assert!(n_kept > 20 && n_dropped > 20, "{n_kept} kept, {n_dropped} dropped");
}

#[test]
fn gapped_mirrors_follow_all_originals() {
    let Some(bench) = Bench::new("gapped_mirrors_follow_all_originals") else { return };
    let mut random = Random(22);
    let scoring = Scoring::default();
    let (mut n_mirrored, mut n_completed) = (0, 0);
    for case in 0..cases(25) {
        let family = random.dna(120);
        // Imperfect palindromes with gaps near the middle.
        let mut palindrome = random.dna(90);
        let other = random.mutate(&SequenceSet::single("p", &palindrome).reverse_complement().bases, 60, 30);
        let middle = random.below(30);
        palindrome.extend(random.dna(middle));
        palindrome.extend(other);
        let families = [family, palindrome];
        bench.fasta("one.fa", &[("t", random.repeats(&families, 1200))]);
        let several: Vec<(&str, Vec<u8>)> =
            ["a", "b", "c"].iter().map(|name| (*name, random.repeats(&families, 500))).collect();
        bench.fasta("several.fa", &several);
        let word = random.pick(&["one.fa", "several.fa[multiple]"]);
        let options = [word, "--self", "--hspthresh=2000", FORMAT];
        let one_sided = bench.lastz_ok(&[&options[..], &["--nomirror"]].concat());
        let mirrored = bench.lastz_ok(&options);
        let target = &load(&bench, word)[0];
        for query in strands(load(&bench, word)) {
            let originals = one_sided.blocks(target, &query);
            let n_originals = originals.len();
            let ours = SelfPair { target, query: &query }.mirror_blocks(originals, &scoring);
            assert_eq!(ours, mirrored.blocks(target, &query), "case {case} {word} in {:?}", bench.path(""));
            n_mirrored += ours.len().saturating_sub(n_originals);
            n_completed += one_sided.blocks(target, &query).iter().filter(|&b| !ours.contains(b)).count();
        }
    }
    assert!(n_mirrored > 30 && n_completed > 5, "{n_mirrored} mirrored, {n_completed} cut or dropped");
}

#[test]
fn masking_counts_and_letters_equal_those_of_lastz() {
    let Some(bench) = Bench::new("masking_counts_and_letters_equal_those_of_lastz") else { return };
    let mut random = Random(23);
    let mut n_masked = 0;
    for case in 0..cases(12) {
        let n_queries = random.between(3, 6);
        write_inputs(&bench, &mut random, n_queries);
        let mode = random.pick(&["--gapped", "--nogapped"]);
        let threshold = [1, 2, 3, 5, 255, 300][random.below(6)];
        let masking = format!("--masking={threshold}");
        let options = ["t.fa", "q.fa", "--hspthresh=2000", &masking[..], mode];
        let run = bench.lastz_ok(&[&options[..], &[FORMAT]].concat());
        let width = random.pick(&["", "16", "32"]);
        let census = format!("--census{width}=census.txt");
        let lav = bench.lastz_ok(&[&options[..], &["--format=lav", "--outputmasking=hard.txt", &census]].concat());
        let soft = bench.lastz_ok(&[&options[..], &["--format=none", "--outputmasking+:soft=soft.txt"]].concat());
        assert!(soft.is_ok);
        let mut target = load(&bench, "t.fa").remove(0);
        let width = match width {
            "16" => Some(CounterWidth::Bits16),
            "32" => Some(CounterWidth::Bits32),
            _ => None,
        };
        let mut coverage = TargetCoverage::new(target.len(), threshold, width);
        let mut newly_masked = Vec::new();
        for query in strands(load(&bench, "q.fa")) {
            let blocks = run.blocks(&target, &query);
            let masked: usize = coverage.add(&blocks, &mut target).iter().map(|range| range.len()).sum();
            if mode == "--nogapped" || !blocks.is_empty() {
                newly_masked.push(masked);
            }
            n_masked += masked;
        }
        let context = format!("case {case}: {options:?} in {:?}", bench.path(""));
        assert_eq!(newly_masked, stanza_numbers(&lav, 'x'), "{context}");
        let ranges = coverage.masked_ranges(&target);
        assert_eq!(stanza_numbers(&lav, 'm'), [ranges.len()], "{context}");
        let mut hard = Vec::new();
        write_masking(&ranges, &target, false, &mut hard).unwrap();
        assert_eq!(hard, std::fs::read(bench.path("hard.txt")).unwrap(), "{context}");
        let mut soft = Vec::new();
        write_masking(&soft_masked_ranges(Some(&coverage), &target), &target, true, &mut soft).unwrap();
        assert_eq!(soft, std::fs::read(bench.path("soft.txt")).unwrap(), "{context}");
        let mut counts = Vec::new();
        coverage.write_census(&target, &mut counts).unwrap();
        assert_eq!(counts, std::fs::read(bench.path("census.txt")).unwrap(), "{context}");
    }
    assert!(n_masked > 100, "only {n_masked} bases masked");
}

/// The numbers in the `  n <number>` lines of one kind of lav stanza.
fn stanza_numbers(run: &Run, kind: char) -> Vec<usize> {
    let mut is_inside = false;
    let mut numbers = Vec::new();
    for line in run.stdout.lines() {
        if line.ends_with('{') {
            is_inside = line.starts_with(kind);
        } else if let Some(number) = line.strip_prefix("  n ").filter(|_| is_inside) {
            numbers.push(number.parse().expect("a number"));
        }
    }
    numbers
}

#[test]
fn identical_sequences_are_forced_and_dropped_as_lastz_does() {
    let Some(bench) = Bench::new("identical_sequences_are_forced_and_dropped_as_lastz_does") else { return };
    let mut random = Random(24);
    let scoring = Scoring::default();
    let (mut n_forced, mut n_dropped) = (0, 0);
    for case in 0..cases(40) {
        let families = [random.dna(80)];
        let bases: Vec<Vec<u8>> = (0..3).map(|_| random.repeats(&families, 300)).collect();
        let headers = ["a", "b", "c x"];
        let target: Vec<(&str, Vec<u8>)> = headers.iter().copied().zip(bases.clone()).collect();
        bench.fasta("t.fa", &target);
        bench.fasta("one.fa", &target[random.below(3)..][..1]);
        let mut query = target.clone();
        for (record, other) in query.iter_mut().zip(["d", "e", "f"]) {
            match random.below(6) {
                0 => record.1.make_ascii_uppercase(),
                1 => record.1 = random.mutate(&record.1, 20, 0),
                2 => record.0 = other,
                _ => {}
            }
        }
        if random.chance(30) {
            query.swap(0, 1);
        }
        query.truncate(random.between(1, 3));
        bench.fasta("q.fa", &query);
        let target_word = random.pick(&["t.fa[multiple]", "one.fa"]);
        let query_word = random.pick(&["q.fa", "q.fa[multiple]"]);
        let threshold = [3000, 60_000][random.below(2)];
        let thresh_word = format!("--gappedthresh={threshold}");
        let options = [target_word, query_word, &thresh_word[..], FORMAT];
        let all = bench.lastz_ok(&options);
        let dropped = bench.lastz_ok(&[&options[..], &["--notrivial"]].concat());
        let target = &load(&bench, target_word)[0];
        for query in strands(load(&bench, query_word)) {
            let before = all.blocks(target, &query);
            let forced = identical_blocks(target, &query, threshold, &scoring);
            let context = format!("case {case}: {options:?} {} in {:?}", query.strand(), bench.path(""));
            assert!(forced.iter().all(|block| before.contains(block)), "{context}: {forced:?} not in {before:?}");
            let mut ours = before.clone();
            drop_trivial(&mut ours, &forced, target, &query);
            let expected = dropped.blocks(target, &query);
            let is_in = |block: &&Block| ours.contains(block) != expected.contains(block);
            let other: Vec<&Block> = before.iter().filter(is_in).collect();
            assert_eq!(ours, expected, "{context}: forced {forced:?}; one of us alone keeps {other:?}");
            n_forced += forced.len();
            n_dropped += before.len() - ours.len();
            if threshold == 60_000 {
                assert_eq!(before.len(), forced.len(), "{context}: only forced blocks reach the threshold");
            }
        }
    }
    assert!(n_forced > 10 && n_dropped > n_forced / 2, "{n_forced} forced, {n_dropped} dropped");
}

#[test]
fn query_depth_warns_and_drops_as_lastz() {
    let Some(bench) = Bench::new("query_depth_warns_and_drops_as_lastz") else { return };
    let mut random = Random(25);
    let mut n_lines = 0;
    for case in 0..cases(20) {
        write_inputs(&bench, &mut random, 3);
        let query_word = random.pick(&["q.fa", "q.fa[multiple]"]);
        let options = ["t.fa", query_word, "--hspthresh=2000", FORMAT];
        let all = bench.lastz_ok(&options);
        let depth = random.between(1, 200) as f64 / 100.0;
        let (prefix, over) = [
            ("", OverLimit { keep: false, warn: true }),
            ("nowarn:", OverLimit { keep: false, warn: false }),
            ("keep:", OverLimit { keep: true, warn: true }),
            ("keep,nowarn:", OverLimit { keep: true, warn: false }),
        ][random.below(4)];
        let option = format!("--querydepth={prefix}{depth}");
        let limited = bench.lastz_ok(&[&options[..], &[&option]].concat());
        let target = &load(&bench, "t.fa")[0];
        let mut limit = DepthLimit::new(depth, over).unwrap();
        let mut stderr = Vec::new();
        for query in strands(load(&bench, query_word)) {
            let blocks = all.blocks(target, &query);
            let mut strand = limit.strand(&query);
            blocks.iter().for_each(|block| {
                strand.accept(block);
            });
            let printed = limited.blocks(target, &query);
            if !limit.keeps(strand, &query, &mut |line| stderr.push(line)) {
                assert!(printed.is_empty(), "case {case} {option}");
            } else if !strand.is_exceeded() {
                assert_eq!(printed, blocks, "case {case} {option}");
            } else {
                // What was accepted until the limit was passed: over it with the last block only.
                let mut again = limit.strand(&query);
                printed.iter().for_each(|block| {
                    again.accept(block);
                });
                assert!(again.is_exceeded(), "case {case} {option}");
                assert!(printed.iter().all(|block| blocks.contains(block)), "case {case} {option}");
            }
        }
        assert_eq!(stderr, limited.stderr.lines().collect::<Vec<_>>(), "case {case} {option}");
        n_lines += stderr.len();
    }
    assert!(n_lines > 10, "only {n_lines} lines on stderr");
}

#[test]
fn inner_rectangles_searched_by_lastz_give_its_inner_blocks() {
    let Some(bench) = Bench::new("inner_rectangles_searched_by_lastz_give_its_inner_blocks") else { return };
    let mut random = Random(26);
    let mut n_new = 0;
    for case in 0..cases(8) {
        // Conserved islands in diverged surroundings, with a few moved or repeated ones.
        let islands: Vec<Vec<u8>> = (0..4)
            .map(|_| {
                let len = random.between(90, 160);
                random.dna(len)
            })
            .collect();
        let (mut t, mut q) = (random.dna(300), random.dna(300));
        for _ in 0..random.between(5, 12) {
            // Weak homology, found by the second search only.
            let between = random.between(60, 200);
            let linker = random.dna(between);
            t.extend(random.mutate(&linker, 170, 10));
            q.extend(random.mutate(&linker, 170, 10));
            let between = random.between(30, 90);
            t.extend(random.dna(between));
            q.extend(random.dna(between));
            if random.chance(15) {
                let n = random.between(10_000, 25_000);
                t.extend(vec![b'N'; n]);
            }
            // Strong one, now and then moved or repeated.
            let (a, b) = (random.below(4), random.below(4));
            let b = if random.chance(70) { a } else { b };
            t.extend(random.mutate(&islands[a], 50, 3));
            q.extend(random.mutate(&islands[b], 50, 3));
        }
        // One sequence, or one cut into several that LASTZ keeps in one array.
        let words = ["t", "q"].map(|name| {
            let bases = if name == "t" { &t } else { &q };
            let n_cuts = random.below(3);
            let mut cuts: Vec<usize> = (0..n_cuts).map(|_| random.between(1, bases.len() - 1)).collect();
            cuts.extend([0, bases.len()]);
            cuts.sort_unstable();
            cuts.dedup();
            let names: Vec<String> = (0..cuts.len()).map(|i| format!("{name}{i}")).collect();
            let records: Vec<(&str, Vec<u8>)> =
                cuts.windows(2).zip(&names).map(|(w, name)| (&name[..], bases[w[0]..w[1]].to_vec())).collect();
            bench.fasta(&format!("{name}.fa"), &records);
            format!("{name}.fa{}", if n_cuts == 0 { "" } else { "[multiple]" })
        });
        let options = [&words[0][..], &words[1][..], "--hspthresh=5000", "--ydrop=2000", FORMAT];
        let outer = bench.lastz_ok(&options);
        let least = ["1200", "1500", "2000"][random.below(3)];
        let inner = format!("--inner={least}");
        let filled = bench.lastz_ok(&[&options[..], &[&inner]].concat());
        let target = &load(&bench, &words[0])[0];
        for query in strands(load(&bench, &words[1])) {
            let blocks = outer.blocks(target, &query);
            n_new += filled.blocks(target, &query).len() - blocks.len();
            let ours = interpolate(blocks, target, &query, |part| Ok(fill(&bench, target, &query, part, least)));
            let context = format!("case {case}: {options:?} {inner} {} in {:?}", query.strand(), bench.path(""));
            assert_eq!(ours.unwrap(), filled.blocks(target, &query), "{context}");
        }
    }
    assert!(n_new > 10, "only {n_new} inner blocks");
}

/// Searches a rectangle by a run of lastz on its two sides (lastz-semantics 6.4).
fn fill(bench: &Bench, target: &SequenceSet, query: &SequenceSet, part: &Rectangle, least: &str) -> Vec<Block> {
    // Rectangles are searched at the same time: each has its own files.
    let place = format!("{:?}-{:?}", part.target, part.query);
    let (rows, columns) = (format!("rows-{place}.fa"), format!("columns-{place}.fa"));
    bench.fasta(&rows, &[("t", target.bases[part.target.clone()].to_vec())]);
    bench.fasta(&columns, &[("q", query.bases[part.query.clone()].to_vec())]);
    let thresholds = [format!("--hspthresh={least}"), format!("--gappedthresh={least}")];
    let run = bench.lastz_ok(&[
        &rows,
        &columns,
        "--strand=plus",
        "--seed=match7",
        "--notransition",
        "--noentropy",
        "--ydrop=2000",
        "--chain",
        &thresholds[0],
        &thresholds[1],
        FORMAT,
    ]);
    let mut blocks = run.blocks(&SequenceSet::single("t", &[]), &SequenceSet::single("q", &[]));
    for block in &mut blocks {
        block.target_start += part.target.start;
        block.query_start += part.query.start;
    }
    blocks
}

#[test]
fn scripts_of_lastz_use_both_kinds_of_gaps() {
    let Some(bench) = Bench::new("scripts_of_lastz_use_both_kinds_of_gaps") else { return };
    let mut random = Random(27);
    write_inputs(&bench, &mut random, 4);
    let run = bench.lastz_ok(&["t.fa", "q.fa", "--hspthresh=2000", FORMAT]);
    let target = &load(&bench, "t.fa")[0];
    let ops: Vec<EditOp> = strands(load(&bench, "q.fa"))
        .iter()
        .flat_map(|query| run.blocks(target, query))
        .flat_map(|block| block.script.runs().to_vec())
        .map(|(op, _)| op)
        .collect();
    assert!(ops.contains(&EditOp::Insertion) && ops.contains(&EditOp::Deletion), "the oracle's CIGAR was misread");
}
