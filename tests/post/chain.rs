//! `--chain` on HSPs, with and without penalties, ties wanted.

use crate::lastz::{Bench, FORMAT, Random, cases, load, strands};
use fastz::options::ChainPenalties;
use fastz::post::chain::chain;
use fastz::scoring::{HOXD70, Scoring};

/// Options that give many HSPs, with the score set they mean.
fn setups() -> Vec<(Vec<&'static str>, Scoring)> {
    let first_is_g = Scoring { rows: b"GACT".to_vec(), columns: b"GACT".to_vec(), ..Scoring::default() };
    vec![
        (
            vec!["--match=1", "--hspthresh=12", "--seed=match5", "--noentropy"],
            Scoring::from_acgt(&[[1, -1, -1, -1], [-1, 1, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 1]], -1, -10, 4, 1),
        ),
        (vec!["--hspthresh=700", "--seed=match6", "--noentropy"], Scoring::default()),
        (vec!["--hspthresh=900", "--seed=match6", "--scores=g_first.q"], first_is_g),
    ]
}

/// HOXD70 with the rows in the order G A C T: the overlap penalty uses the first row's score.
fn g_first() -> String {
    let order = [2, 0, 1, 3];
    let rows = order.map(|row| {
        let scores: Vec<String> = order.iter().map(|&column| HOXD70[row][column].to_string()).collect();
        format!("{} {}\n", b"ACGT"[row] as char, scores.join(" "))
    });
    format!("G A C T\n{}", rows.concat())
}

#[test]
fn chains_equal_those_of_lastz() {
    let Some(bench) = Bench::new("chains_equal_those_of_lastz") else { return };
    bench.write("g_first.q", g_first().as_bytes());
    let mut random = Random(1);
    let mut n_kept = 0;
    for case in 0..cases(25) {
        let families: Vec<Vec<u8>> = (0..random.between(1, 4))
            .map(|_| {
                let len = random.between(15, 80);
                random.dna(len)
            })
            .collect();
        let mut records = |prefix: &str, n: usize| -> Vec<(String, Vec<u8>)> {
            let record = |i| {
                let len = random.between(200, 1200);
                (format!("{prefix}{i}"), random.repeats(&families, len))
            };
            (0..n).map(record).collect()
        };
        for (file, prefix, n) in [("t.fa", "t", 3), ("q.fa", "q", 3), ("one.fa", "one", 1)] {
            let made = records(prefix, n);
            let borrowed: Vec<(&str, Vec<u8>)> = made.iter().map(|(name, bases)| (&name[..], bases.clone())).collect();
            bench.fasta(file, &borrowed);
        }
        let target_word = random.pick(&["t.fa[multiple]", "one.fa"]);
        let query_word = random.pick(&["q.fa", "q.fa[multiple]"]);
        let setups = setups();
        let (options, scoring) = &setups[case % setups.len()];
        let penalties = match case % 4 {
            0 => ChainPenalties::default(),
            // Products with distances pass 32 bits.
            1 => ChainPenalties {
                diagonal: [0, 1_000_003, 40_000_000, 2_000_000_011, i32::MAX, -900_000_001][random.below(6)],
                anti_diagonal: [0, 2_000_003, 70_000_000, 1_800_000_001, i32::MAX, -700_000_001][random.below(6)],
            },
            _ => ChainPenalties {
                diagonal: [0, 1, 1, 7, 30, 100, 1000][random.below(7)],
                anti_diagonal: [0, 0, 1, 5, 13, 50, 300][random.below(7)],
            },
        };
        let mut args = vec![target_word, query_word, "--nogapped", FORMAT];
        args.extend(options);
        let all = bench.lastz_ok(&args);
        let option = format!("--chain={},{}", penalties.diagonal, penalties.anti_diagonal);
        args.push(&option);
        let chained = bench.lastz_ok(&args);
        let target = &load(&bench, target_word)[0];
        for query in strands(load(&bench, query_word)) {
            let expected = chained.hsps(target, &query);
            let ours = chain(all.hsps(target, &query), target, &query, penalties, scoring);
            assert_eq!(ours, expected, "case {case}: lastz {args:?} in {:?}", bench.path(""));
            n_kept += ours.len();
        }
    }
    assert!(n_kept > 20, "only {n_kept} HSPs chained: the test lost its input");
}
