//! Later stages, formats and the rest (lastz-semantics 6, 7, 9).

use super::super::trial::Content;
use super::{Draft, Kind};

/// Formats that any run may ask for.
const FORMATS: &str = "\
    axt axt+ axt:size2 maf maf- maf+ paf paf:wfmash paf:minimap2 sam sam- cigar differences \
    mapping rdotplot rdotplot+score text ztext blastn blastn- none mafsegments genseg \
    general general- ~maf differences-";

/// Fields of `general`.
const FIELDS: &str = "\
    score name1 number1 strand1 size1 start1 zstart1 end1 length1 name2 number2 strand2 \
    size2 start2 zstart2 end2 start2+ zstart2+ end2+ length2 nmatch nmismatch npair ncolumn \
    ngap cgap identity idfrac id% blastid% coverage covfrac cov% continuity confrac con% \
    gaprate diagonal shingle number znumber cigar cigar- cigarx cigarx- cigarx1 cigarx1- \
    diff text1 text2 align1 align2 qalign1 qalign2 nucs1 nucs2 NA n1 s1 e2 id cov con gap diag";

impl Draft<'_> {
    pub(super) fn post(&mut self) {
        if self.kind == Kind::SelfComparison {
            self.option("--self");
            if self.percent(25) {
                self.option("--nomirror");
            } else if self.is_gapped() || self.is_partitioned() {
                // LASTZ turns some gaps at the anti-diagonal the wrong way, by no rule that is known. Gap-free segments
                // of several sequences it mirrors at the ends of the whole array.
                self.option("--strand=plus");
            }
        }
        if !self.has("--strand") {
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
        // With images the limit has rules of its own.
        let likely = if self.kind == Kind::SelfComparison { 18 } else { 6 };
        if self.percent(6) {
            let text = format!("--queryhspbest={}", self.between(1, 12));
            self.option(text);
        } else if ![Kind::Adaptive, Kind::Segments].contains(&self.kind) && self.percent(likely) {
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

    pub(super) fn format(&mut self) {
        let is_multiple = self.is_partitioned();
        let mut formats: Vec<&str> = FORMATS.split_whitespace().collect();
        if !is_multiple || self.percent(4) {
            formats.extend(["lav", "lav", "lav+", "lav+text", "gfa"]);
        }
        // blastn calls the query by the last header that was read, also if that record is left out.
        let leaves_out = self.query_actions.iter().any(|action| action.starts_with("subsample"))
            || self.query.iter().any(|record| record.letters.is_empty());
        if is_multiple && leaves_out {
            formats.retain(|format| !format.starts_with("blastn"));
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
            if format.starts_with("lav") {
                self.maybe(10, &["--census", "--show=defaults"]);
            }
            self.option(format!("--format={format}"));
        }
    }

    fn general_fields(&mut self) -> String {
        let usual = "score,name1,strand1,zstart1,end1,name2,strand2,zstart2,end2,cigar";
        if self.percent(50) {
            return usual.to_string();
        }
        let all: Vec<&str> = FIELDS.split_whitespace().collect();
        let count = 1 + self.random.below(14);
        let mut fields: Vec<&str> = (0..count).map(|_| self.random.pick(&all)).collect();
        let mut seen = std::collections::HashSet::new();
        fields.retain(|field| seen.insert(*field));
        fields.join(",")
    }

    pub(super) fn rare(&mut self) {
        self.maybe(3, &["--markend"]);
        self.maybe(3, &["--output=out.txt"]);
        self.maybe(2, &["--rdotplot=dots.txt", "--rdotplot+score=dots.txt"]);
        self.maybe(2, &["--census=counts.txt", "--census16=counts.txt", "--census32=counts.txt", "c=1"]);
        self.maybe(2, &["--show=defaults", "--outputmasking:soft=soft.txt", "--outputmasking+:soft=soft.txt"]);
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
                "--format=general:score,quals1",
                "--format=general-:score,quals2",
                "--seed=match9",
                "--nogfextend",
                "--gfextend",
                "--ydrop=500",
                "--hspthresh=2.5K",
                "--mirror",
            ];
            let option = self.pick(&likely_refused);
            let at = self.random.below(self.options.len() + 1);
            if option != "--mirror" || self.kind != Kind::SelfComparison {
                self.options.insert(at, option);
            }
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
}
