//! Scores, seeds, HSPs and gapped extension (lastz-semantics 2, 3, 5, 8).

use super::super::trial::Content;
use super::{Draft, Kind};

impl Draft<'_> {
    pub(super) fn scoring(&mut self) {
        match self.random.below(100) {
            0..16 => {
                let (reward, penalty) = (self.between(1, 3), self.between(1, 5));
                self.unit = reward;
                let text = match self.random.below(4) {
                    0 => format!("--match={reward}"),
                    1 => format!("U={reward},{penalty}"),
                    _ => format!("--match={reward},{penalty}"),
                };
                self.option(text);
            }
            16..18 => {
                self.unit = 1;
                self.option("--unitscores");
            }
            18..30 => self.score_file(),
            30..33 => {
                let text = format!("{}:{}", self.pick(&["AC", "AG", "CT", "TA"]), self.between(-200, 20));
                self.option(text);
            }
            _ => {}
        }
        let ambiguous = [
            "--ambiguous=n",
            "--ambiguous=iupac",
            "--ambiguous=iupac,100,100",
            "--ambiguous=n,50",
            "--ambiguous=n,9,30",
        ];
        self.maybe(10, &ambiguous);
        if self.options.iter().any(|option| option.starts_with("--ambiguous")) {
            self.maybe(30, &ambiguous);
        }
        if self.options.iter().any(|option| option.starts_with("--ambiguous=iupac")) {
            for record in self.target.iter_mut().chain(&mut self.query) {
                for letter in record.letters.iter_mut().filter(|letter| **letter == b'N') {
                    *letter = b"BDHKMRSVWYN"[self.random.below(11)];
                }
            }
        }
    }

    fn score_file(&mut self) {
        let mut text = String::from("# random scores\n");
        let names =
            ["gap_open_penalty", "gap_extend_penalty", "hsp_threshold", "x_drop", "y_drop", "bad_score", "fill_score"];
        let values = [(200, 700), (10, 60), (900, 2600), (500, 1200), (1500, 9000), (-1200, -500), (-150, -50)];
        for (name, (low, high)) in names.iter().zip(values) {
            if self.percent(35) {
                text.push_str(&format!("{name} = {}\n", self.between(low, high)));
            }
        }
        let (mut rows, mut columns) = (b"ACGT".to_vec(), b"ACGT".to_vec());
        if self.percent(15) {
            self.random.shuffle(&mut columns);
        }
        if self.percent(12) {
            columns.push(b'N');
        }
        text.push_str(&columns.iter().map(|&letter| format!("    {}", letter as char)).collect::<String>());
        text.push('\n');
        let (transition, transversion) = (self.between(-60, 10), self.between(-140, -60));
        let has_row_letters = self.percent(80);
        match has_row_letters {
            false => rows = columns.clone(),
            true if self.percent(15) => self.random.shuffle(&mut rows),
            true => {}
        }
        for &row in &rows {
            if has_row_letters {
                text.push(row as char);
            }
            for &column in &columns {
                let score = match [row, column] {
                    [b'N', _] | [_, b'N'] => self.between(-200, 50),
                    [a, b] if a == b => self.between(85, 105),
                    [b'A', b'G'] | [b'G', b'A'] | [b'C', b'T'] | [b'T', b'C'] => transition,
                    _ => transversion,
                };
                text.push_str(&format!(" {score:4}"));
            }
            text.push('\n');
        }
        self.extra.push(("scores.q".into(), Content::Text(text)));
        let option = self.pick(&["--scores=scores.q", "Q=scores.q"]);
        self.option(option);
        if self.percent(8) {
            let text = format!("{}:{}", self.pick(&["AC", "AG", "CT", "TA"]), self.between(-200, 20));
            self.option(text);
        }
    }

    pub(super) fn seeding(&mut self) {
        if self.kind == Kind::Segments {
            return self.segments();
        }
        match self.random.below(100) {
            0..12 => {
                let text = format!("{}{}", self.pick(&["--seed=match", "W="]), self.between(4, 12));
                self.option(text);
            }
            12..16 => self.option("--seed=14of22"),
            16..20 => {
                let text = format!("T={}", self.between(0, 4));
                self.option(text);
            }
            20..23 => {
                let text = format!("--seed=half{}", self.between(8, 18));
                self.option(text);
            }
            23..32 => {
                let kinds: &[u8] = if self.percent(25) { b"10T" } else { b"110" };
                let len = self.between(8, 20);
                let pattern: String = (0..len).map(|_| kinds[self.random.below(3)] as char).collect();
                self.option(format!("--seed=1{pattern}1"));
            }
            _ => {}
        }
        self.maybe(16, &["--notransition", "--transition", "--transition=2", "--transition=0", "--transition=1"]);
        if self.percent(20) {
            let text = format!("{}{}", self.pick(&["--step=", "Z="]), self.between(1, 20));
            self.option(text);
        }
        if self.percent(8) {
            let low = self.between(-15, 10);
            let text = format!("--twins={low}..{}", low + self.between(0, 60));
            self.option(text);
            self.maybe(20, &["--seedqueue=100", "--seedqueue=5000"]);
        } else {
            self.maybe(10, &["--recoverseeds", "--recoverhits", "--norecoverseeds"]);
        }
        if self.percent(10) {
            let text = match self.random.below(4) {
                0 => format!("--maxwordcount={}", self.between(1, 12)),
                1 => format!("--maxwordcount={},{}", self.between(1, 6), self.between(1, 200)),
                2 => format!("--maxwordcount={}%,{}", self.between(30, 100), self.between(1, 200)),
                _ => format!("--maxwordcount={}%", self.between(50, 100)),
            };
            self.option(text);
        }
        if self.percent(6) {
            let text = match self.random.below(3) {
                0 => format!("--filter={}", self.between(6, 14)),
                1 => format!("--filter={},{}", self.between(0, 2), self.between(6, 14)),
                _ => format!("--filter=cares:{},{}", self.between(0, 1), self.between(6, 12)),
            };
            self.option(text);
        }
        if self.percent(5) {
            let text = format!("--word={}", self.between(14, 28));
            self.option(text);
        }
    }

    pub(super) fn gap_free(&mut self) {
        match self.kind {
            Kind::Segments => {
                if self.percent(20) {
                    self.kind = Kind::GapFree;
                    self.option("--nogapped");
                }
                return;
            }
            Kind::SelfComparison => {
                let is_gap_free = self.percent(25);
                self.maybe(if is_gap_free { 100 } else { 0 }, &["--nogapped"]);
                if is_gap_free && self.percent(20) {
                    let text = format!("K=top{}%", self.between(1, 60));
                    return self.option(text);
                }
            }
            Kind::GapFree => self.maybe(100, &["--nogapped", "--nogapped", "--ungapped", "--nogx", "C=3"]),
            Kind::Adaptive => {
                let text = match self.random.below(3) {
                    0 => format!("--hspthresh=top{}%", self.between(1, 60)),
                    1 => format!("K=top{}", self.between(1, 3000)),
                    _ => format!("--hspthresh=top0.{}K", self.between(1, 9)),
                };
                self.option(text);
                if self.percent(20) {
                    self.option("--nogapped");
                    self.kind = Kind::GapFree;
                }
                self.maybe(20, &["--noentropy"]);
                return;
            }
            _ => {}
        }
        match self.random.below(100) {
            0..6 => {
                let text = format!("--exact={}", self.between(8, 40));
                self.option(text);
                self.is_x_drop = false;
            }
            6..11 => {
                let text = format!("--mismatch={},{}", self.between(1, 4), self.between(15, 50));
                self.option(text);
                self.is_x_drop = false;
            }
            11..16 => {
                let text = self.pick(&["--nogfextend", "--nogfx"]);
                self.option(text);
                self.is_x_drop = false;
            }
            _ => self.x_drop(),
        }
    }

    fn x_drop(&mut self) {
        // Thresholds near what a seed hit gets make many HSPs, which then bound each other.
        let threshold = match self.random.below(10) {
            0..6 => Some(self.between(1000, 1500)),
            6..8 => Some(self.between(1800, 2600)),
            _ => None,
        };
        if let Some(threshold) = threshold {
            let text = format!("{}{}", self.pick(&["--hspthresh=", "K="]), (threshold * self.unit / 91).max(8));
            self.option(text);
        }
        if self.percent(20) {
            let text = format!("{}{}", self.pick(&["--xdrop=", "X="]), self.unit * self.between(2, 14));
            self.option(text);
        }
        self.maybe(20, &["--noentropy", "P=0", "--entropy", "P=1"]);
    }

    pub(super) fn gapped(&mut self) {
        if !self.is_gapped() {
            return self.maybe(18, &["--chain", "--chain=10,5", "--chain=1,1", "--chain=2000003,40000000"]);
        }
        if self.percent(30) {
            let (open, extend) = *self
                .random
                .pick(&[&[(1, 1), (3, 1), (2, 0), (5, 2), (6, 1), (0, 1), (4, 1)]])
                .get(self.random.below(7))
                .expect("seven pairs");
            let scale = if self.unit > 10 { 91 } else { 1 };
            let (open, extend) = (open * scale + self.between(0, scale), extend * scale / 3 + self.between(0, 3));
            let text = if self.percent(30) { format!("O={open}") } else { format!("--gap={open},{extend}") };
            self.option(text);
        } else if self.unit > 10 {
            self.maybe(5, &["--gap=-20,30", "--gap=2500,5", "E=50", "--gap=600,150"]);
        }
        if self.percent(45) {
            let drop = self.unit
                * *self.random.pick(&[&[3, 8, 12, 16, 22, 33, 45, 100]]).get(self.random.below(8)).expect("eight");
            let text = format!("{}{drop}", self.pick(&["--ydrop=", "Y="]));
            self.option(text);
        }
        if self.percent(18) {
            let text = format!("{}{}", self.pick(&["--gappedthresh=", "L="]), self.unit * self.between(5, 90));
            self.option(text);
        }
        // With --inner, LASTZ's untrimmed alignments can run from the last base of a target sequence into the next one.
        let is_untrimmed = self.percent(12);
        if is_untrimmed {
            self.option("--noytrim");
        }
        self.maybe(10, &["--allgappedbounds"]);
        self.maybe(15, &["--allocate:traceback=100K", "m=101K", "--traceback=110000", "--traceback=200K"]);
        if self.kind != Kind::AnyOrNone {
            if self.percent(12) && !(is_untrimmed && self.is_partitioned()) {
                let text = format!("{}{}", self.pick(&["--inner=", "H="]), (self.unit * self.between(7, 25)).max(8));
                self.option(text);
            }
            if self.kind != Kind::Segments {
                self.maybe(
                    10,
                    &["--chain", "--chain=10,5", "--chain=100,50", "C=2", "--chain=0,3", "--chain=200000,900000"],
                );
            }
        } else {
            self.maybe(100, &["--anyornone", "--limitperquery=2", "--limitperquery=5", "--stopafterone"]);
        }
    }
}
