//! Sequence specifiers: which file, which part of it, and what to do with it while reading (lastz-semantics 1.2).
//!
//! ```text
//! [nickname::]file[/contig][{maskfile}][actions][-|+]
//! chr1::hg38.2bit/chr1[1..1000000,unmask]-
//! ```
//!
//! Several bracketed lists make one; only the first may hold commas: `[a,b][c][d]`, but not `[a][b,c]`.

use super::mask::{MaskAction, MaskKind};
use super::name::NameRule;
use super::subrange::{Parsed, Subrange};
use crate::error::{Error, Result};

/// A parsed sequence specifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specifier {
    /// `None` is the standard input.
    pub(super) path: Option<String>,
    pub(super) contig: Option<String>,
    pub(super) nickname: Option<String>,
    pub(super) name_rule: Option<NameRule>,
    pub(super) full_names: bool,
    pub(super) multiple: bool,
    pub(super) separator: Option<u8>,
    pub(super) unmask: bool,
    pub(super) reversed: bool,
    pub(super) subrange: Option<Subrange>,
    pub(super) subset: Option<String>,
    /// `(k, n)`: the k-th of every n records, k from 1.
    pub(super) subsample: Option<(usize, usize)>,
    pub(super) masks: Vec<MaskAction>,
    pub(super) format: Option<FileFormat>,
    has_actions: bool,
}

/// The file formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileFormat {
    Fasta,
    Fastq,
    TwoBit,
}

impl Specifier {
    /// The query of a run without a query word.
    pub fn standard_input() -> Specifier {
        Specifier {
            path: None,
            contig: None,
            nickname: None,
            name_rule: None,
            full_names: false,
            multiple: false,
            separator: None,
            unmask: false,
            reversed: false,
            subrange: None,
            subset: None,
            subsample: None,
            masks: Vec::new(),
            format: None,
            has_actions: false,
        }
    }

    /// Parses a specifier as typed on the command line.
    pub fn parse(text: &str) -> Result<Specifier> {
        let mut spec = Specifier::standard_input();
        let mut rest = text;
        let brackets_at = rest.find('[').unwrap_or(rest.len());
        if let Some(at) = rest[..brackets_at].find("::") {
            if at == 0 {
                return Err(Error::options(format!("{text}: the nickname before \"::\" is empty")));
            }
            spec.nickname = Some(rest[..at].to_string());
            rest = &rest[at + 2..];
        }
        if let Some(shorter) = rest.strip_suffix(['-', '+']) {
            spec.reversed = rest.ends_with('-');
            rest = shorter;
        }
        let mut actions = None;
        if let Some(at) = rest.find('[') {
            if !rest.ends_with(']') {
                let message = match rest.contains(']') {
                    true => "the [actions] must end the specifier; only - or + may follow",
                    false => "the closing ] of the [actions] is missing",
                };
                return Err(Error::options(format!("{text}: {message}")));
            }
            actions = Some(&rest[at + 1..rest.len() - 1]);
            rest = &rest[..at];
        }
        if let Some(at) = rest.find('{') {
            let Some(file) = rest[at + 1..].strip_suffix('}').filter(|file| !file.is_empty()) else {
                return Err(Error::options(format!(
                    "{text}: a mask file needs braces, as in {}{{intervals}}",
                    &rest[..at]
                )));
            };
            spec.masks.push(MaskAction { kind: MaskKind::X, keeps_intervals: false, file: file.to_string() });
            rest = &rest[..at];
        }
        match rest.rsplit_once('/') {
            Some((file, contig)) if file.ends_with(".2bit") || file.ends_with(".hsx") => {
                spec.contig = Some(contig.to_string());
                rest = file;
            }
            _ => {}
        }
        if rest.is_empty() {
            return Err(Error::options(format!("\"{text}\" names no sequence file")));
        }
        spec.path = Some(rest.to_string());
        if let Some(actions) = actions {
            spec.add_action_list(actions)?;
        }
        Ok(spec)
    }

    /// Adds actions given apart from the specifier (`--action:target=`); brackets are optional.
    pub fn add_actions(&mut self, text: &str) -> Result<()> {
        let list = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        self.add_action_list(list)
    }

    /// The file as LASTZ names it in headers and messages: without contig and actions; `(stdin)` for the standard input.
    pub fn file(&self) -> &str {
        self.path.as_deref().unwrap_or("(stdin)")
    }

    /// All files that are read: sequences, masks, names.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let masks = self.masks.iter().map(|mask| mask.file.as_str());
        self.path.as_deref().into_iter().chain(masks).chain(self.subset.as_deref())
    }

    /// The sequence wanted from a 2bit file (`file.2bit/contig`).
    pub fn contig(&self) -> Option<&str> {
        self.contig.as_deref()
    }

    /// Whether all records become one partitioned array (`[multiple]`).
    pub fn is_multiple(&self) -> bool {
        self.multiple
    }

    /// Whether arrays are partitioned (`[multiple]` or `[separator=]`); the lav and gfa formats refuse that.
    pub fn is_partitioned(&self) -> bool {
        self.multiple || self.separator.is_some()
    }

    /// Whether the array will hold the reverse complement of the file. `-`, `[revcomp]` and a subrange with descending
    /// limits each turn the strand, so two of them cancel.
    pub fn is_reversed(&self) -> bool {
        self.reversed
    }

    /// Whether this is the standard input.
    pub fn is_standard_input(&self) -> bool {
        self.path.is_none()
    }

    /// Adds a list without its outer brackets; `][` inside it begins another one.
    fn add_action_list(&mut self, list: &str) -> Result<()> {
        let later = if self.has_actions { Some(list) } else { list.split_once("][").map(|(_, later)| later) };
        self.has_actions = true;
        if let Some(later) = later.filter(|later| later.contains(',')) {
            return Err(self.error(format!(
                "only the first list of actions may hold commas, and [{later}] is a later one: write all actions in one, \
                 as in [unmask,1,1000]"
            )));
        }
        let words: Vec<&str> = list.split("][").flat_map(|part| part.split(',')).collect();
        let mut at = 0;
        while at < words.len() {
            let word = words[at];
            if word.is_empty() {
                return Err(self.error(format!("there is an empty action in [{list}]")));
            }
            match Subrange::parse(word) {
                Parsed::Subrange(subrange) => self.set_subrange(subrange, word)?,
                Parsed::BadLimits => return Err(self.error(format!("bad limits \"{word}\": bases count from 1"))),
                Parsed::Number(start) => {
                    at += 1;
                    let subrange = match words.get(at).map(|end| Subrange::parse(end)) {
                        Some(Parsed::Number(end)) => Subrange::closed(start, end),
                        _ => {
                            let message =
                                format!("incomplete limits \"{word}\": write {word}..<last base> or {word}..");
                            return Err(self.error(message));
                        }
                    };
                    let text = format!("{word},{}", words[at]);
                    let subrange =
                        subrange.ok_or_else(|| self.error(format!("bad limits \"{text}\": bases count from 1")))?;
                    self.set_subrange(subrange, &text)?;
                }
                Parsed::Other => self.add_action(word)?,
            }
            at += 1;
        }
        Ok(())
    }

    fn set_subrange(&mut self, subrange: Subrange, word: &str) -> Result<()> {
        self.reversed ^= subrange.is_reversed;
        let earlier = self.subrange.replace(subrange);
        self.only_one(earlier.is_none(), "subrange", word)
    }

    fn add_action(&mut self, word: &str) -> Result<()> {
        let (key, value) = match word.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (word, None),
        };
        match (key, value) {
            ("multiple" | "multi", None) => self.multiple = true,
            ("unmask", None) => self.unmask = true,
            ("revcomp", None) => self.reversed = !self.reversed,
            ("fullnames" | "fullname", None) => self.full_names = true,
            ("nameparse", Some("full")) => self.full_names = true,
            ("nameparse", Some(rule)) => self.set_name_rule(rule, word)?,
            ("nickname", Some(name)) => {
                let name = self.non_empty(name, word)?;
                let earlier = self.nickname.replace(name);
                self.only_one(earlier.is_none(), "nickname", word)?;
            }
            ("subset", Some(file)) => {
                let file = self.non_empty(file, word)?;
                let earlier = self.subset.replace(file);
                self.only_one(earlier.is_none(), "file of names", word)?;
            }
            ("subsample", Some(text)) => {
                let fraction = text.trim_start_matches(' ').split_once('/');
                let numbers = fraction.and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
                let Some((k, n)) = numbers.filter(|&(k, n)| 1 <= k && k <= n) else {
                    return Err(self.error(format!("bad subsample \"{text}\": write k/n with 1 <= k <= n")));
                };
                let earlier = self.subsample.replace((k, n));
                self.only_one(earlier.is_none(), "subsample", word)?;
            }
            ("separator" | "sep", Some(text)) => {
                let &[separator] = text.as_bytes() else {
                    return Err(self.error(format!("\"{word}\" needs exactly one character, as in separator=N")));
                };
                let earlier = self.separator.replace(separator);
                self.only_one(earlier.is_none(), "separator", word)?;
            }
            ("softmask", Some(file)) => self.add_mask(MaskKind::Soft, file, word)?,
            ("xmask", Some(file)) => self.add_mask(MaskKind::X, file, word)?,
            ("nmask", Some(file)) => self.add_mask(MaskKind::N, file, word)?,
            ("format", Some(format)) => self.set_format(format)?,
            ("quantum", _) => return Err(self.error("quantum DNA is not supported: give nucleotides as FASTA or 2bit")),
            ("chores", _) => {
                let message = "chores are not supported: run each chore as its own command, with subranges";
                return Err(self.error(message));
            }
            _ => {
                return Err(self.error(format!(
                    "bad action \"{word}\": there are multiple, unmask, revcomp, subset=, subsample=, separator=, \
                     nickname=, nameparse=, softmask=, xmask=, nmask=, format= and subranges as 1..1000"
                )));
            }
        }
        Ok(())
    }

    fn set_name_rule(&mut self, rule: &str, word: &str) -> Result<()> {
        let rule = match (rule, rule.strip_prefix("tag:")) {
            ("darkspace", _) => NameRule::Darkspace,
            ("alphanum" | "alnum", _) => NameRule::Alphanum,
            (_, Some(tag)) => NameRule::Tag(self.non_empty(tag, word)?),
            _ => {
                let message = "there are nameparse=full, darkspace, alphanum and tag:<text>";
                return Err(self.error(format!("bad action \"{word}\": {message}")));
            }
        };
        // Of darkspace and alphanum LASTZ takes the last; a tag excludes them and other tags.
        let is_tag = matches!(rule, NameRule::Tag(_));
        let earlier = self.name_rule.replace(rule);
        let excludes = earlier.is_some_and(|earlier| is_tag || matches!(earlier, NameRule::Tag(_)));
        self.only_one(!excludes, "way to take names from headers", word)
    }

    fn add_mask(&mut self, kind: MaskKind, text: &str, word: &str) -> Result<()> {
        let (keeps_intervals, file) = match text.strip_prefix("keep:") {
            Some(file) => (true, file),
            None => (false, text),
        };
        let file = self.non_empty(file, word)?;
        self.only_one(self.masks.iter().all(|mask| mask.kind != kind), "mask of a kind", word)?;
        self.masks.push(MaskAction { kind, keeps_intervals, file });
        Ok(())
    }

    fn set_format(&mut self, text: &str) -> Result<()> {
        let format = match text {
            "fasta" => FileFormat::Fasta,
            "fastq" => FileFormat::Fastq,
            "2bit" => FileFormat::TwoBit,
            "csfasta" | "nib" | "hsx" | "qdna" => {
                return Err(
                    self.error(format!("the {text} format is not supported: convert the file to FASTA or 2bit"))
                );
            }
            _ => return Err(self.error(format!("unknown file format \"{text}\": there are fasta, fastq and 2bit"))),
        };
        let earlier = self.format.replace(format);
        self.only_one(earlier.is_none(), "file format", text)
    }

    fn non_empty(&self, value: &str, word: &str) -> Result<String> {
        match value {
            "" => Err(self.error(format!("\"{word}\" needs something behind it"))),
            value => Ok(value.to_string()),
        }
    }

    fn only_one(&self, holds: bool, what: &str, word: &str) -> Result<()> {
        if holds { Ok(()) } else { Err(self.error(format!("only one {what} is allowed: drop \"{word}\""))) }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        Error::input(self.file(), message)
    }
}
