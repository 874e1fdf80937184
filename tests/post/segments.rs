//! `--segments`: what is read for each query strand, in which order, and what is refused.

use crate::lastz::{Bench, FORMAT, Random, cases, load, strands};
use fastz::filter::merge_by_diagonal;
use fastz::segments::SegmentReader;

const REFUSALS: [&str; 8] = [
    "extra segment",
    "bad target sequence name",
    "bad query sequence name",
    "interval out of range",
    "different lengths",
    "bad field",
    "bad strand",
    "too few fields",
];

#[test]
fn segments_are_read_as_lastz_reads_them() {
    let Some(bench) = Bench::new("segments_are_read_as_lastz_reads_them") else { return };
    let mut random = Random(2);
    let (mut n_accepted, mut n_refused, mut n_segments) = (0, 0, 0);
    for case in 0..cases(150) {
        let names = ["q", "r", "q", "x"];
        let queries: Vec<(&str, Vec<u8>)> =
            names[..random.between(1, 4)].iter().map(|&name| (name, random.dna(60))).collect();
        bench.fasta("q.fa", &queries);
        bench.fasta("t.fa", &[("a", random.dna(80)), ("b", random.dna(70))]);
        bench.fasta("one.fa", &[("a", random.dna(80))]);
        let target_word = random.pick(&["t.fa[multiple]", "one.fa"]);
        // Output names of equal queries cannot be told apart, so [multiple] gets distinct ones.
        let query_word = if queries.len() < 3 { random.pick(&["q.fa", "q.fa[multiple]"]) } else { "q.fa" };
        let text = segments_text(&mut random, &queries);
        bench.write("s.txt", text.as_bytes());
        let strand = random.pick(&["--strand=both", "--strand=both", "--strand=plus", "--strand=minus"]);
        let args = [target_word, query_word, "--segments=s.txt", "--nogapped", strand, FORMAT];
        let run = bench.lastz(&args);

        let target = &load(&bench, target_word)[0];
        let mut reader = SegmentReader::open(&bench.path("s.txt"), target).unwrap();
        let mut lines = String::new();
        let mut error = None;
        for query in strands(load(&bench, query_word)) {
            if (strand == "--strand=plus" && query.is_reversed) || (strand == "--strand=minus" && !query.is_reversed) {
                continue;
            }
            match reader.next_strand(target, &query) {
                Ok(hsps) => {
                    n_segments += hsps.len();
                    for hsp in merge_by_diagonal(hsps) {
                        let t = target.partition_at(hsp.target_start as usize);
                        let q = query.partition_at(hsp.query_start as usize);
                        lines += &format!(
                            "{}\t{}\t{}\t{}\t{}\t{}\t{}M\n",
                            hsp.score,
                            t.name,
                            hsp.target_start as usize - t.range.start,
                            q.name,
                            query.strand(),
                            hsp.query_start as usize - q.range.start,
                            hsp.len
                        );
                    }
                }
                Err(e) => {
                    error = Some(e);
                    break;
                }
            }
        }
        let error = error.or_else(|| reader.finish().err()).map(|e| e.to_string());
        let context = format!("case {case}: lastz {args:?}, segments:\n{text}lastz says: {}", run.stderr);
        assert_eq!(error.is_none(), run.is_ok, "{context}ours: {error:?}");
        assert_eq!(lines, run.stdout, "{context}");
        match &error {
            None => n_accepted += 1,
            Some(error) => {
                n_refused += 1;
                let reason = REFUSALS.iter().find(|reason| error.contains(*reason));
                let reason = reason.unwrap_or_else(|| panic!("no known reason in {error}"));
                // LASTZ puts start positions outside a [multiple] sequence down to the name.
                let is_range = *reason == "interval out of range" && run.stderr.contains("name/position");
                assert!(is_range || run.stderr.contains(reason), "{context}ours: {error}");
                let line = error.split(": ").nth(1).unwrap_or("");
                assert!(run.stderr.contains(line), "{context}ours: {error}");
            }
        }
    }
    assert!(n_accepted * 5 > cases(150) && n_refused * 5 > cases(150), "{n_accepted} accepted, {n_refused} refused");
    assert!(n_segments > n_accepted, "{n_segments} segments");
}

/// Mostly lines in the right order, some out of it, some broken.
fn segments_text(random: &mut Random, queries: &[(&str, Vec<u8>)]) -> String {
    let mut text = String::new();
    let errors = if random.chance(30) { 4 } else { 0 };
    for (name, _) in queries {
        for strand in ["+", "-"] {
            for _ in 0..random.below(4) {
                let len = random.between(5, 25);
                let (t, q) = (random.between(1, 50 - len), random.between(1, 50 - len));
                let (t_end, mut q_end) = (t + len - 1, q + len - 1);
                let mut name = if random.chance(15) { "*" } else { name };
                let mut target = random.pick(&["a", "b", "a", "b", "*"]);
                let mut strand = strand;
                let mut score = random.pick(&["", "", "7", "12", "-3", "0"]);
                let (mut t, mut t_end) = (t, t_end);
                if random.chance(errors) {
                    match random.below(7) {
                        0 => name = "z",
                        1 => target = "z",
                        2 => strand = random.pick(&["+", "-", "x"]),
                        3 => score = "5.5",
                        4 => q_end += 1,
                        5 => (t, t_end) = (t + 65, t_end + 65),
                        _ => text += "a 1 20 q 1 20\n",
                    }
                }
                text += &format!("{target} {t} {t_end}\t{name} {q} {q_end} {strand} {score}\n");
            }
            if random.chance(7) {
                text += "# comment\n\nrewind # again\n";
            }
        }
    }
    if random.chance(50) {
        text += "rewind\n";
    }
    if random.chance(10) {
        text += random.pick(&["a 1 20 q 1 20 +\n", "\n#\n", "rewind\n", "b 1 5 x 1 5 -\n"]);
    }
    text
}
