//! Random option sets over LASTZ's command line (lastz-semantics 1 to 9), weighted so that options meet and interact.

mod input;
mod report;
mod search;

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

    /// Whether an option that starts so has been added.
    fn has(&self, start: &str) -> bool {
        self.options.iter().any(|option| option.starts_with(start))
    }

    /// Whether a side is an array of several sequences.
    fn is_partitioned(&self) -> bool {
        let mut actions = self.target_actions.iter().chain(&self.query_actions);
        actions.any(|action| action.starts_with("mult") || action.starts_with("sep"))
    }

    fn is_gapped(&self) -> bool {
        self.kind != Kind::GapFree && !self.has("--nogapped")
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
        // LASTZ looks for the contig after the last `.2bit/`, and finds none in such a name.
        let can_be_named = matches!(target, Content::TwoBit(_)) && !target.records()[0].header.contains(".2bit");
        if can_be_named && self.percent(25) {
            target_file.push_str(&format!("/{}", target.records()[0].header));
            self.target_actions.retain(|action| !action.starts_with("subset"));
        }
        if matches!(target, Content::TwoBit(_)) {
            self.target_actions.retain(|action| !action.starts_with("nameparse=tag"));
        }
        if matches!(query, Content::TwoBit(_)) {
            self.query_actions.retain(|action| !action.starts_with("nameparse=tag"));
        }
        // LASTZ shows another part of long headers where it looked for names.
        for (records, actions) in
            [(target.records(), &mut self.target_actions), (query.records(), &mut self.query_actions)]
        {
            if records.iter().any(|record| record.header.len() > 900) {
                actions.retain(|action| !action.starts_with("subset"));
            }
        }
        // LASTZ looks for the names of a subset by another rule than that of the tag.
        for actions in [&mut self.target_actions, &mut self.query_actions] {
            if actions.iter().any(|action| action.starts_with("subset")) {
                actions.retain(|action| !action.starts_with("nameparse=tag"));
            }
        }
        // LASTZ cannot read a FASTQ file that has a nickname.
        if !matches!(target, Content::Fastq(_)) && self.percent(6) {
            if self.percent(50) {
                target_file = format!("nick::{target_file}");
            } else {
                self.target_actions.push("nickname=nick".into());
            }
        }
        let (target_reversed, query_reversed) = (self.percent(4) && self.kind != Kind::Segments, self.percent(5));
        // LASTZ joins the texts of both action lists, so that `file[multiple]-` and `--action1=unmask` become one bad one.
        let reversed =
            [(target_reversed, ["--action1", "--action:target"]), (query_reversed, ["--action2", "--action:query"])];
        for (_, names) in reversed.into_iter().filter(|(is_reversed, _)| *is_reversed) {
            self.options.retain(|option| !names.iter().any(|name| option.starts_with(name)));
        }
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
        let names_fit = records.iter().all(|record| {
            !record.header.is_empty()
                && !record.letters.is_empty()
                && record.header.is_ascii()
                && record.header.len() < 256
        });
        let letters_fit =
            records.iter().all(|record| record.letters.iter().all(|letter| b"ACGTNacgt".contains(letter)));
        let mut names: Vec<&str> = records.iter().map(|record| record.header.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let names_differ = names.len() == records.len();
        let records = std::mem::take(records);
        match self.random.below(100) {
            0..12 if names_fit && letters_fit && names_differ => Content::TwoBit(records),
            // With --self LASTZ loses the qualities of the reverse strand and prints undefined memory.
            12..20 if names_fit && letters_fit && self.kind != Kind::SelfComparison => Content::Fastq(records),
            _ => Content::Fasta(records, 10 + self.random.below(90)),
        }
    }
}
