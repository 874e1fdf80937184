//! Random option sets over LASTZ's command line (lastz-semantics 1 to 9), weighted so that options meet and interact.

use super::random::Random;
use super::trial::{Content, Record, Specifier, Trial};
use super::worlds::world;

/// What the rest of the options is built around; most refused combinations are avoided by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Gapped,
    GapFree,
    Segments,
    SelfComparison,
    AnyOrNone,
    Adaptive,
}

struct Draft<'r> {
    random: &'r mut Random,
    kind: Kind,
    target: Vec<Record>,
    query: Vec<Record>,
    target_actions: Vec<String>,
    query_actions: Vec<String>,
    extra: Vec<(String, Content)>,
    options: Vec<String>,
    /// About the score of one matching pair.
    unit: i64,
    /// Seeding by something else than x-drop extension.
    is_x_drop: bool,
    has_query_subrange: bool,
}

/// A random run on random sequences.
pub fn trial(random: &mut Random) -> Trial {
    let kind = match random.below(100) {
        0..55 => Kind::Gapped,
        55..68 => Kind::GapFree,
        68..76 => Kind::Segments,
        76..85 => Kind::SelfComparison,
        85..90 => Kind::AnyOrNone,
        _ => Kind::Adaptive,
    };
    let (target, query) = world(random);
    let mut draft = Draft {
        random,
        kind,
        target,
        query,
        target_actions: Vec::new(),
        query_actions: Vec::new(),
        extra: Vec::new(),
        options: Vec::new(),
        unit: 91,
        is_x_drop: true,
        has_query_subrange: false,
    };
    draft.actions();
    draft.scoring();
    draft.seeding();
    draft.gap_free();
    draft.gapped();
    draft.post();
    draft.format();
    draft.rare();
    draft.finish()
}

impl Draft<'_> {
    fn percent(&mut self, percent: u32) -> bool {
        self.random.percent(percent)
    }

    fn pick(&mut self, items: &[&str]) -> String {
        self.random.pick(items).to_string()
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        self.random.between(low, high)
    }

    fn option(&mut self, text: impl Into<String>) {
        self.options.push(text.into());
    }

    /// Adds the option in this many of 100 drafts.
    fn maybe(&mut self, percent: u32, choices: &[&str]) {
        if self.percent(percent) {
            let choice = self.pick(choices);
            self.option(choice);
        }
    }

    fn is_gapped(&self) -> bool {
        self.kind != Kind::GapFree
    }

    // -- 1: input ------------------------------------------------------------------------------------------------

    fn actions(&mut self) {
        let multiple = |draft: &mut Self, count: usize, most: u32| count > 1 && draft.percent(most);
        if multiple(self, self.target.len(), 96) || self.percent(15) {
            self.target_actions.push(self.random.pick(&["multiple", "multi"]).to_string());
        }
        if self.kind != Kind::SelfComparison && (multiple(self, self.query.len(), 20) || self.percent(4)) {
            self.query_actions.push("multiple".into());
        }
        if self.percent(12) {
            self.target_actions.push("unmask".into());
        }
        if self.percent(12) {
            self.query_actions.push("unmask".into());
        }
        if self.percent(25) {
            let parse =
                ["nameparse=darkspace", "nameparse=alphanum", "nameparse=full", "nameparse=tag:tag=", "fullnames"];
            let parse = self.pick(&parse);
            self.target_actions.push(parse.clone());
            self.query_actions.push(parse);
        }
        if self.percent(4) {
            self.target_actions.push("nickname=nick".into());
        }
        if self.percent(12) && self.kind != Kind::Segments {
            let text = subrange(self.random, &self.target);
            self.target_actions.push(text);
        }
        if self.percent(12) && self.kind != Kind::SelfComparison {
            let text = subrange(self.random, &self.query);
            self.has_query_subrange = true;
            self.query_actions.push(text);
        }
        self.file_actions();
        if self.percent(2) {
            self.query_actions.push(format!("subsample={}/{}", self.random.below(3) + 1, 3));
        }
    }

    /// Actions that read a file: names, or intervals to mask.
    fn file_actions(&mut self) {
        for side in ["target", "query"] {
            if self.percent(4) {
                let records = if side == "target" { &self.target } else { &self.query };
                let mut names: Vec<&str> = records.iter().map(|record| record.header.as_str()).collect();
                let keep = 1 + self.random.below(names.len());
                names.truncate(keep);
                let file = format!("{side}.names");
                self.extra.push((file.clone(), Content::Text(names.join("\n") + "\n")));
                self.push_action(side, format!("subset={file}"));
            }
            if self.percent(3) {
                let records = if side == "target" { &self.target } else { &self.query };
                let len = records[0].letters.len().max(2);
                let name = records[0].header.split_whitespace().next().unwrap_or("").to_string();
                let with_name = records.len() > 1;
                let mut text = String::new();
                for _ in 0..1 + self.random.below(3) {
                    let start = 1 + self.random.below(len);
                    let end = (start + self.random.below(80)).min(len);
                    if with_name {
                        text.push_str(&format!("{name} "));
                    }
                    text.push_str(&format!("{start} {end}\n"));
                }
                let file = format!("{side}.mask");
                self.extra.push((file.clone(), Content::Text(text)));
                let action = self.pick(&["softmask", "xmask", "nmask", "softmask=keep:", "xmask=keep:"]);
                let action = if action.ends_with(':') { format!("{action}{file}") } else { format!("{action}={file}") };
                self.push_action(side, action);
            }
        }
    }

    fn push_action(&mut self, side: &str, action: String) {
        if side == "target" { self.target_actions.push(action) } else { self.query_actions.push(action) }
    }

    // -- 8: scoring ----------------------------------------------------------------------------------------------

    fn scoring(&mut self) {
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
        self.maybe(10, &["--ambiguous=n", "--ambiguous=iupac", "--ambiguous=iupac,100,100", "--ambiguous=n,50"]);
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
        text.push_str("    A    C    G    T\n");
        let (transition, transversion) = (self.between(-60, 10), self.between(-140, -60));
        for (row, letter) in "ACGT".chars().enumerate() {
            if self.percent(80) {
                text.push(letter);
            }
            for column in 0..4 {
                let score = match row ^ column {
                    0 => self.between(85, 105),
                    2 => transition,
                    _ => transversion,
                };
                text.push_str(&format!(" {score:4}"));
            }
            text.push('\n');
        }
        self.extra.push(("scores.q".into(), Content::Text(text)));
        let option = self.pick(&["--scores=scores.q", "Q=scores.q"]);
        self.option(option);
    }

    // -- 2: seeding ----------------------------------------------------------------------------------------------

    fn seeding(&mut self) {
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
            let text = match self.random.below(3) {
                0 => format!("--maxwordcount={}", self.between(1, 12)),
                1 => format!("--maxwordcount={},{}", self.between(1, 6), self.between(1, 200)),
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
        self.maybe(3, &["--word=20", "--word=16", "--word=24"]);
    }

    /// Anchors from a file, mostly in the order that LASTZ demands (4.5).
    fn segments(&mut self) {
        let mut text = String::new();
        let strand = self.pick(&["both", "both", "both", "plus", "minus"]);
        for query in &self.query {
            for sign in ['+', '-'] {
                if (sign == '-' && strand == "plus") || (sign == '+' && strand == "minus") {
                    continue;
                }
                for _ in 0..self.random.below(6) {
                    let target = &self.target[self.random.below(self.target.len())];
                    let short = target.letters.len().min(query.letters.len());
                    if short < 2 {
                        continue;
                    }
                    let len = 1 + self.random.below(short.min(60));
                    let at = |random: &mut Random, all: usize| 1 + random.below(all - len + 1);
                    let (t, q) = (at(self.random, target.letters.len()), at(self.random, query.letters.len()));
                    let name = |record: &Record| record.header.split_whitespace().next().unwrap_or("x").to_string();
                    let score = if self.random.percent(70) {
                        format!(" {}", self.random.between(-50, 9000))
                    } else {
                        String::new()
                    };
                    text.push_str(&format!(
                        "{} {t} {} {} {q} {} {sign}{score}\n",
                        name(target),
                        t + len - 1,
                        name(query),
                        q + len - 1
                    ));
                }
            }
        }
        if self.percent(15) {
            text.push_str("# a comment\n\n");
        }
        self.extra.push(("anchors.seg".into(), Content::Text(text)));
        self.option("--segments=anchors.seg");
        self.option(format!("--strand={strand}"));
    }

    // -- 3: gap-free extension -----------------------------------------------------------------------------------

    fn gap_free(&mut self) {
        match self.kind {
            Kind::Segments => {
                if self.percent(20) {
                    self.kind = Kind::GapFree;
                    self.option("--nogapped");
                }
                return;
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

    // -- 5: gapped extension -------------------------------------------------------------------------------------

    fn gapped(&mut self) {
        if !self.is_gapped() {
            return self.maybe(8, &["--chain", "--chain=10,5", "--chain=1,1"]);
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
        self.maybe(12, &["--noytrim"]);
        self.maybe(10, &["--allgappedbounds"]);
        self.maybe(15, &["--allocate:traceback=100K", "m=101K", "--traceback=110000", "--traceback=200K"]);
        if self.kind != Kind::AnyOrNone {
            if self.percent(12) {
                let text = format!("{}{}", self.pick(&["--inner=", "H="]), (self.unit * self.between(7, 25)).max(8));
                self.option(text);
            }
            if self.kind != Kind::Segments {
                self.maybe(10, &["--chain", "--chain=10,5", "--chain=100,50", "C=2", "--chain=0,3"]);
            }
        } else {
            self.maybe(100, &["--anyornone", "--limitperquery=2", "--limitperquery=5", "--stopafterone"]);
        }
    }

    // -- 6: later stages -----------------------------------------------------------------------------------------

    fn post(&mut self) {
        if self.kind == Kind::SelfComparison {
            self.option("--self");
            self.maybe(25, &["--nomirror"]);
        }
        if !self.options.iter().any(|option| option.starts_with("--strand")) {
            self.maybe(22, &["--strand=plus", "--strand=minus", "--strand=both", "B=0", "B=-1", "--plus", "--minus"]);
        }
        self.maybe(10, &["--notrivial"]);
        for name in ["--identity=", "--coverage=", "--continuity=", "--filter=identity:", "--filter=coverage:"] {
            if self.percent(3) {
                let low = self.between(1, 95);
                let text = match self.random.below(3) {
                    0 => format!("{name}{low}"),
                    1 => format!("{name}{low}..{}", low + self.between(0, 100 - low)),
                    _ => format!("{name}..{low}%"),
                };
                self.option(text);
            }
        }
        if self.percent(4) {
            let text = match self.random.below(3) {
                0 => format!("--matchcount={}", self.between(10, 200)),
                1 => format!("--filter=nmatch:{}%", self.between(1, 60)),
                _ => format!("--matchcount={}%", self.between(1, 60)),
            };
            self.option(text);
        }
        for name in ["nmismatch", "ngap", "cgap"] {
            if self.percent(3) {
                let text = format!("--filter={name}:{}..{}", self.pick(&["0", ""]), self.between(0, 60));
                self.option(text);
            }
        }
        if self.percent(9) {
            let text =
                format!("{}{}", self.pick(&["--masking=", "M="]), self.pick(&["1", "2", "3", "50", "254", "300"]));
            self.option(text);
            self.maybe(15, &["--outputmasking=masked.txt", "--outputmasking+=masked.txt"]);
        }
        self.query_limits();
    }

    fn query_limits(&mut self) {
        if self.percent(6) {
            let text = format!("--queryhspbest={}", self.between(1, 12));
            self.option(text);
        } else if self.kind != Kind::Adaptive && self.kind != Kind::Segments && self.percent(6) {
            let how = self.pick(&["=", "=nowarn:", "=keep,nowarn:", "+=", "=warn:"]);
            let text = format!("--queryhsplimit{how}{}", self.between(1, 30));
            self.option(text);
        }
        if self.is_gapped() && self.percent(6) {
            let how = self.pick(&["", "keep:", "nowarn:", "keep,nowarn:", "discard:"]);
            let text = format!("--querydepth={how}{}.{}", self.between(0, 2), self.between(1, 9));
            self.option(text);
        }
    }

    // -- 7: formats ----------------------------------------------------------------------------------------------

    fn format(&mut self) {
        let is_multiple =
            self.target_actions.iter().chain(&self.query_actions).any(|action| action.starts_with("mult"));
        let mut formats = vec![
            "axt",
            "axt+",
            "axt:size2",
            "maf",
            "maf-",
            "maf+",
            "paf",
            "paf:wfmash",
            "paf:minimap2",
            "sam",
            "sam-",
            "cigar",
            "differences",
            "mapping",
            "rdotplot",
            "rdotplot+score",
            "text",
            "ztext",
            "blastn",
            "blastn-",
            "none",
            "mafsegments",
            "genseg",
            "general",
            "general-",
            "~maf",
            "differences-",
        ];
        if !is_multiple || self.percent(4) {
            formats.extend(["lav", "lav", "lav+", "lav+text", "gfa"]);
        }
        // softsam prints undefined memory for bases that a query subrange leaves out (7.2).
        if !self.has_query_subrange {
            formats.extend(["softsam", "softsam-"]);
        }
        if !self.is_gapped() && self.percent(30) {
            formats = vec!["segments"];
        }
        if self.percent(45) {
            let fields = self.general_fields();
            let headless = self.pick(&["", "-"]);
            return self.option(format!("--format=general{headless}:{fields}"));
        }
        if self.percent(94) || is_multiple {
            let format = self.pick(&formats);
            self.option(format!("--format={format}"));
        }
    }

    fn general_fields(&mut self) -> String {
        let usual = "score,name1,strand1,zstart1,end1,name2,strand2,zstart2,end2,cigar";
        if self.percent(50) {
            return usual.to_string();
        }
        let all = [
            "score",
            "name1",
            "number1",
            "strand1",
            "size1",
            "start1",
            "zstart1",
            "end1",
            "length1",
            "name2",
            "number2",
            "strand2",
            "size2",
            "start2",
            "zstart2",
            "end2",
            "start2+",
            "zstart2+",
            "end2+",
            "length2",
            "nmatch",
            "nmismatch",
            "npair",
            "ncolumn",
            "ngap",
            "cgap",
            "identity",
            "idfrac",
            "id%",
            "blastid%",
            "coverage",
            "covfrac",
            "cov%",
            "continuity",
            "confrac",
            "con%",
            "gaprate",
            "diagonal",
            "shingle",
            "number",
            "znumber",
            "cigar",
            "cigar-",
            "cigarx",
            "cigarx-",
            "cigarx1",
            "cigarx1-",
            "diff",
            "text1",
            "text2",
            "align1",
            "align2",
            "nucs1",
            "nucs2",
            "NA",
            "n1",
            "s1",
            "e2",
            "id",
            "cov",
            "con",
            "gap",
            "diag",
        ];
        let count = 1 + self.random.below(14);
        let mut fields: Vec<&str> = (0..count).map(|_| self.random.pick(&all)).collect();
        let mut seen = std::collections::HashSet::new();
        fields.retain(|field| seen.insert(*field));
        fields.join(",")
    }

    // -- 9: the rest ---------------------------------------------------------------------------------------------

    fn rare(&mut self) {
        self.maybe(3, &["--markend"]);
        self.maybe(3, &["--output=out.txt"]);
        self.maybe(2, &["--rdotplot=dots.txt", "--rdotplot+score=dots.txt"]);
        self.maybe(2, &["--notruncationreport", "--allocate:target=10M", "--progress=10", "--verbosity=1"]);
        self.maybe(2, &["--action1=unmask", "--action2=[unmask]", "--action:query=unmask", "--action:target=multiple"]);
        if self.percent(1) && self.is_gapped() && self.unit == 91 {
            let text = format!("--yasra{}", self.pick(&["98", "95", "90", "85", "75", "95short", "85short"]));
            self.option(text);
        }
        if self.percent(4) {
            let likely_refused = [
                "--chain=5",
                "T=5",
                "C=4",
                "--step=0",
                "--xdrop=0",
                "--gap=-500,30",
                "--identity=..",
                "--filter=ngap:3",
                "--nogapped",
                "--inner=1000",
                "--exact=20",
                "--self",
                "--queryhspbest=0",
                "--masking=-1",
                "--bogus",
                "--format=bogus",
                "--seed=match9",
                "--nogfextend",
                "--ydrop=500",
                "--hspthresh=2.5K",
                "--mirror",
            ];
            let option = self.pick(&likely_refused);
            let at = self.random.below(self.options.len() + 1);
            self.options.insert(at, option);
        }
        if self.percent(12) && self.options.len() > 1 {
            let count = self.options.len();
            let (a, b) = (self.random.below(count), self.random.below(count));
            self.options.swap(a, b);
        }
        if self.percent(2) && self.options.len() > 3 {
            let words: Vec<String> = self.options.drain(..2).collect();
            self.extra.push(("more.options".into(), Content::Text(words.join("\n  ") + "\n")));
            self.options.insert(0, "--include=more.options".into());
        }
    }

    fn finish(mut self) -> Trial {
        let target = self.content(true);
        let query = self.content(false);
        let name = |content: &Content, side: &str| match content {
            Content::TwoBit(_) => format!("{side}.2bit"),
            Content::Fastq(_) => format!("{side}.fq"),
            _ => format!("{side}.fa"),
        };
        let (target_name, query_name) = (name(&target, "t"), name(&query, "q"));
        let mut target_file = target_name.clone();
        if matches!(target, Content::TwoBit(_)) && self.percent(25) {
            target_file.push_str(&format!("/{}", target.records()[0].header));
            self.target_actions.retain(|action| !action.starts_with("subset"));
        }
        if self.percent(3) {
            target_file = format!("nick::{target_file}");
        }
        let (target_reversed, query_reversed) = (self.percent(4) && self.kind != Kind::Segments, self.percent(5));
        let has_query = self.kind != Kind::SelfComparison;
        let query_on_stdin =
            has_query && !matches!(query, Content::TwoBit(_)) && self.query_actions.is_empty() && self.percent(5);
        let query_word = Specifier { file: query_name.clone(), actions: self.query_actions, reversed: query_reversed };
        let mut files = vec![(target_name, target), (query_name, query)];
        files.extend(self.extra);
        Trial {
            files,
            target: Specifier { file: target_file, actions: self.target_actions, reversed: target_reversed },
            query: (has_query && !query_on_stdin).then_some(query_word),
            query_on_stdin,
            options: self.options,
        }
    }

    fn content(&mut self, is_target: bool) -> Content {
        let records = if is_target { &mut self.target } else { &mut self.query };
        let names_fit = records.iter().all(|record| !record.header.is_empty() && !record.letters.is_empty());
        let letters_fit =
            records.iter().all(|record| record.letters.iter().all(|letter| b"ACGTNacgt".contains(letter)));
        let mut names: Vec<&str> = records.iter().map(|record| record.header.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let names_differ = names.len() == records.len();
        let records = std::mem::take(records);
        match self.random.below(100) {
            0..12 if names_fit && letters_fit && names_differ => Content::TwoBit(records),
            12..20 if names_fit && letters_fit => Content::Fastq(records),
            _ => Content::Fasta(records, 10 + self.random.below(90)),
        }
    }
}

/// A part of the first sequences, in one of LASTZ's spellings (1.7).
fn subrange(random: &mut Random, records: &[Record]) -> String {
    let shortest = records.iter().map(|record| record.letters.len()).min().unwrap_or(0).max(4);
    let len = if random.percent(5) { shortest * 2 } else { shortest };
    let (a, b) = (1 + random.below(len), 1 + random.below(len));
    match random.below(8) {
        0 => format!("{a}.."),
        1 => format!("..{b}"),
        2 => format!("{a}#{}", 1 + random.below(len)),
        3 => format!("{a}^{}", 1 + random.below(len)),
        4 => format!("{a},{b}"),
        5 => format!("{}..{}+{}%", a.min(b), a.max(b), random.below(60)),
        _ => format!("{}..{}", a.min(b), a.max(b)),
    }
}
