//! Specifiers, the files they name, and anchors from a file (lastz-semantics 1, 4.5).

use super::super::random::Random;
use super::super::trial::{Content, Record};
use super::{Draft, Kind};

impl Draft<'_> {
    pub(super) fn actions(&mut self) {
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
            let target = self.pick(&parse);
            let query = if self.percent(60) { target.clone() } else { self.pick(&parse) };
            let sides = [[true, true], [true, true], [true, false], [false, true]][self.random.below(4)];
            self.target_actions.extend(sides[0].then_some(target));
            self.query_actions.extend(sides[1].then_some(query));
        }
        if self.percent(12) && self.kind != Kind::Segments {
            let text = subrange(self.random, &self.target);
            self.has_query_subrange |= self.kind == Kind::SelfComparison;
            self.target_actions.push(text);
        }
        if self.percent(12) && self.kind != Kind::SelfComparison {
            let text = subrange(self.random, &self.query);
            self.has_query_subrange = true;
            self.query_actions.push(text);
        }
        self.file_actions();
        self.maybe_separator();
        if self.query.len() > 1 && self.percent(6) {
            self.query_actions.push(format!("subsample={}/2", self.random.below(2) + 1));
        }
    }

    /// Sequences that are cut at their Ns.
    fn maybe_separator(&mut self) {
        for side in ["target", "query"] {
            if self.kind != Kind::Segments && self.percent(3) {
                let action = self.pick(&["separator=N", "sep=n", "separator=X"]);
                self.push_action(side, action);
            }
        }
    }

    /// Actions that read a file: names, or intervals to mask.
    fn file_actions(&mut self) {
        for side in ["target", "query"] {
            if self.percent(4) {
                let records = if side == "target" { &self.target } else { &self.query };
                let mut names: Vec<&str> = records.iter().map(short_name).collect();
                let keep = 1 + self.random.below(names.len());
                names.truncate(keep);
                let file = format!("{side}.names");
                let mut text = names.join("\n") + "\n";
                match self.random.below(8) {
                    0 => text.insert_str(0, "# names\n\n"),
                    1 => text = text.replace('\n', " # comment\n"),
                    2 => text.push_str("nobody\n"),
                    _ => {}
                }
                self.extra.push((file.clone(), Content::Text(text)));
                self.push_action(side, format!("subset={file}"));
            }
            let records = if side == "target" { &self.target } else { &self.query };
            if records.len() == 1 && self.random.percent(4) {
                let len = records[0].letters.len().max(2);
                let mut text = String::new();
                for _ in 0..1 + self.random.below(3) {
                    let start = 1 + self.random.below(len);
                    let end = (start + self.random.below(80)).min(len);
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

    /// Anchors from a file, mostly in the order that LASTZ demands (4.5).
    pub(super) fn segments(&mut self) {
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
                    let score = if self.random.percent(70) {
                        format!(" {}", self.random.between(-50, 9000))
                    } else {
                        String::new()
                    };
                    text.push_str(&format!(
                        "{} {t} {} {} {q} {} {sign}{score}\n",
                        short_name(target),
                        t + len - 1,
                        short_name(query),
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
        5 => {
            let zoom = random.below(120) as f64 - 20.0;
            let zoom = if random.percent(30) { zoom + random.below(1000) as f64 / 1000.0 } else { zoom };
            format!("{}..{}+{zoom}%", a.min(b), a.max(b))
        }
        _ => format!("{}..{}", a.min(b), a.max(b)),
    }
}

/// The name that most headers have by LASTZ's default rule (1.6).
fn short_name(record: &Record) -> &str {
    record.header.split([' ', '|', ':']).next().filter(|name| !name.is_empty()).unwrap_or("x")
}
