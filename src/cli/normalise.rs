//! From the words that users type to canonical long options, left to right (lastz-semantics 9.1, 9.3).
//!
//! ```text
//! lastz target.fa query.fa K=2200 T=2 --yasra95 --include=f      what was typed
//!   -> expand       --include and --yasra become the words they stand for
//!   -> respell      K=2200 -> --hspthresh=2200; T=2 -> --seed=12of19 --transition=0
//! ```
//!
//! The order is kept, so that "the last one wins" works on the canonical options as on LASTZ's.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};

use super::spellings::{is_lastz_option, spelled_out, unsupported, values_of, whole_word, yasra};

/// A command line in canonical options.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// `--name` or `--name=value`.
    pub options: Vec<String>,
    /// For each of these the word that it comes from, as messages name it: `K=2200`, `--yasra95 in --include=f`.
    pub typed: Vec<String>,
    /// Target, then query.
    pub files: Vec<String>,
    /// LASTZ's `<args>`: the option words as typed, files and fastz's own options left out.
    pub header_arguments: Vec<String>,
}

impl CommandLine {
    /// Reads the words after the program name.
    pub fn from_words(words: impl IntoIterator<Item = String>) -> Result<CommandLine> {
        let mut line = CommandLine::default();
        for word in words {
            let n_files = line.files.len();
            match word.strip_prefix("--include=") {
                Some(file) => line.include(file)?,
                None => line.word(&word, &word)?,
            }
            let is_include = word.starts_with("--include=");
            if is_option(&word) && is_lastz_option(&word) && (is_include || line.files.len() == n_files) {
                line.header_arguments.push(word);
            }
        }
        Ok(line)
    }

    /// `--include=<file>`: the words of every line, without comments or quoting.
    fn include(&mut self, file: &str) -> Result<()> {
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read --include={file}"))?;
        for word in text.split_ascii_whitespace() {
            if word.starts_with("--include=") {
                bail!("nested inclusion is not allowed ({word} in {file}): name both files on the command line");
            }
            let typed = format!("{word} in --include={file}");
            self.word(word, &typed).with_context(|| format!("--include={file}"))?;
        }
        Ok(())
    }

    fn word(&mut self, word: &str, typed: &str) -> Result<()> {
        if let Some(level) = word.strip_prefix("--yasra") {
            return yasra_words(word, level)?.iter().try_for_each(|word| self.word(word, typed));
        }
        if is_option(word) {
            return self.option(word, typed);
        }
        self.file(word)
    }

    fn file(&mut self, word: &str) -> Result<()> {
        if self.files.len() == 2 {
            let files = self.files.join(" and ");
            bail!("cannot understand \"{word}\": the sequence files are {files} already; options start with --");
        }
        self.files.push(word.to_string());
        Ok(())
    }

    fn option(&mut self, word: &str, typed: &str) -> Result<()> {
        if ["-", "--"].contains(&word) {
            bail!("{word} is neither option nor file: leave it out; write a file name that starts with - as ./-name");
        }
        if let Some(way_out) = unsupported(word) {
            bail!("{word} is not supported: {way_out}");
        }
        if let Some(options) = whole_word(word) {
            return options.into_iter().try_for_each(|option| self.canonical(option, typed));
        }
        if let Some(option) = calculated(word)? {
            return self.canonical(option, typed);
        }
        let option = spelled_out(word);
        if !option.starts_with("--") {
            // LASTZ takes every such word for a file.
            if Path::new(word.split('[').next().unwrap_or(word)).exists() {
                return self.file(word);
            }
            match word.split_once('=').and_then(|(letter, _)| values_of(letter)) {
                Some(values) => {
                    bail!("{word} cannot be understood: give {values}; --help=shortcuts says what they mean")
                }
                None => bail!("unknown option {word}; --help lists the options, --help=shortcuts the one-letter ones"),
            }
        }
        self.canonical(option, typed)
    }

    /// Adds an option. `--xdrop`, `--exact` and `--mismatch` also choose how seed hits are extended, as `--gfextend` and
    /// `--nogfextend` do, and the last of these decides; the length of the latter two is a threshold like that of
    /// `--hspthresh`. So it is with the one number of `--anyornone`, `--limitperquery` and `--queryhsplimit`.
    /// `--writesegments` sets format and output, as these do.
    fn canonical(&mut self, option: String, typed: &str) -> Result<()> {
        self.check_hit_extension(&option, typed)?;
        let also = match option.split_once('=') {
            Some(("--xdrop", _)) => vec!["--gfextend".to_string()],
            Some(("--exact", length)) => vec!["--gfextend=exact".to_string(), format!("--hspthresh={length}")],
            Some(("--mismatch", value)) => {
                let length = value.split_once(',').map_or(value, |(_, length)| length);
                vec!["--gfextend=mismatch".to_string(), format!("--hspthresh={length}")]
            }
            Some(("--limitperquery" | "--queryhsplimit", limit)) => vec![format!("--query-limit={limit}")],
            None if option == "--anyornone" => vec!["--query-limit=1".to_string()],
            Some(("--queryhspbest", _)) => self.check_order_of_best().map(|()| Vec::new())?,
            Some(("--writesegments", file)) => vec!["--format=segments".to_string(), format!("--output={file}")],
            _ => Vec::new(),
        };
        self.options.push(option);
        self.options.extend(also);
        self.typed.resize(self.options.len(), typed.to_string());
        Ok(())
    }

    /// LASTZ refuses a threshold or x-drop under `--exact` and `--mismatch`, and these behind a threshold or x-drop, as
    /// long as no `--gfextend` or `--nogfextend` stands between.
    fn check_hit_extension(&self, option: &str, typed: &str) -> Result<()> {
        let name = option.split_once('=').map_or(option, |(name, _)| name);
        let last = |is_it: &dyn Fn(&str) -> bool| self.options.iter().rposition(|option| is_it(option));
        let mode = last(&|option| option.starts_with("--gfextend") || option == "--nogfextend");
        let length_mode = match mode.map(|at| self.options[at].as_str()) {
            Some("--gfextend=exact") => Some("--exact"),
            Some("--gfextend=mismatch") => Some("--mismatch"),
            _ => None,
        };
        let is_without = mode.is_some_and(|at| self.options[at] == "--nogfextend");
        let other = match name {
            "--xdrop" | "--hspthresh" if length_mode.is_some() => mode,
            "--exact" | "--mismatch" if length_mode.is_some() => mode.filter(|_| length_mode != Some(name)),
            "--exact" | "--mismatch" if !is_without => last(&|option| option.starts_with("--hspthresh="))
                .or_else(|| last(&|option| option.starts_with("--xdrop="))),
            _ => None,
        };
        match other {
            Some(other) => bail!("can't use {typed} with {}: drop one of them", self.typed[other]),
            None => Ok(()),
        }
    }

    /// LASTZ takes `--queryhspbest` before `--anyornone` and `--limitperquery`, but not behind them.
    fn check_order_of_best(&self) -> Result<()> {
        let is_limit = |option: &String| *option == "--anyornone" || option.starts_with("--limitperquery=");
        match self.options.iter().position(is_limit) {
            Some(limit) => bail!("can't use --queryhspbest behind {}: put it before", self.typed[limit]),
            None => Ok(()),
        }
    }
}

impl CommandLine {
    /// `error`, and for options in it that were typed in another way what that means: `(Y=9 means --ydrop=9)`.
    pub fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        let message = format!("{error:#}");
        let mut notes: Vec<String> = Vec::new();
        for (option, typed) in self.options.iter().zip(&self.typed) {
            let name = option.split('=').next().unwrap_or(option);
            let note = format!("{typed} means {option}");
            if !typed.starts_with(name) && names_option(&message, name) && !notes.contains(&note) {
                notes.push(note);
            }
        }
        if notes.is_empty() { error } else { anyhow!("{message} ({})", notes.join(", ")) }
    }
}

/// Whether a message names this option, and not only one whose name begins in the same way.
fn names_option(message: &str, name: &str) -> bool {
    message.match_indices(name).any(|(at, _)| {
        !message[at + name.len()..].starts_with(|next: char| next.is_alphanumeric() || "-+:".contains(next))
    })
}

/// Whether a word is an option: it starts with `-`, or is `X=...` with one letter, or `XY:...` with two bases.
fn is_option(word: &str) -> bool {
    word.starts_with('-')
        || matches!(word.as_bytes(), [letter, b'=', ..] if letter.is_ascii_alphabetic())
        || is_pair(word)
}

fn is_pair(word: &str) -> bool {
    let is_base = |letter: &u8| b"ACGTacgt".contains(letter);
    matches!(word.as_bytes(), [target, query, b':', ..] if is_base(target) && is_base(query))
}

/// Options whose meaning depends on their value: `B=`, `P=`, `c=`, `XY:score`, `--<m>mismatch=n`, `--mismatch=0,n`.
fn calculated(word: &str) -> Result<Option<String>> {
    let integer = |value: &str| fastz::scoring::number::parse_integer(value).map_err(|why| anyhow!("{word}: {why}"));
    if is_pair(word) {
        return Ok(Some(format!("--pair-score={word}")));
    }
    let Some((name, value)) = word.split_once('=') else { return Ok(None) };
    let option = match name {
        "B" => match integer(value)? {
            0 => "--strand=plus",
            1.. => "--strand=both",
            _ => "--strand=minus",
        },
        "P" if value.starts_with('-') => bail!("illegal value for P: write P=0 (--noentropy) or P=1 (--entropy)"),
        "P" => match integer(value)? {
            0 => "--noentropy",
            1 => "--entropy",
            _ => "--entropy=report",
        },
        "c" => match integer(value)? {
            0 => "--census=off",
            _ => "--census",
        },
        _ => {
            let count = match name.strip_prefix("--").and_then(|name| name.strip_suffix("mismatch")) {
                Some("") => None,
                Some(count) if count.bytes().all(|b| b.is_ascii_digit()) => Some(count),
                _ => return Ok(None),
            };
            let (count, length) = match count {
                Some(count) => (count, value),
                None => value.split_once(',').unwrap_or((value, "")),
            };
            return Ok(match (count, length) {
                // No mismatch at all is an exact match.
                ("0", _) if !length.is_empty() => Some(format!("--exact={length}")),
                (_, "") => None,
                _ => Some(format!("--mismatch={count},{length}")),
            });
        }
    };
    Ok(Some(option.to_string()))
}

/// The words of `--yasra<level>[:<version>]`; versions up to 1.02.45 lacked the last two.
fn yasra_words(word: &str, level: &str) -> Result<Vec<String>> {
    let (level, version) = match level.split_once(':') {
        Some((level, version)) => (level, Some(version)),
        None => (level, None),
    };
    let Some(options) = yasra(level) else {
        bail!("unknown option {word}; there are --yasra98, 95, 90, 85, 75, 95short and 85short");
    };
    let mut words: Vec<String> = options.split(' ').map(str::to_string).collect();
    let is_recent = match version {
        None => true,
        Some("") => bail!("{word} contains no version number; write {}", &word[..word.len() - 1]),
        Some(text) => {
            let version = lastz_version(text)
                .ok_or_else(|| anyhow!("{word} contains an invalid lastz version number; write one like 1.02.45"))?;
            version > (1, 2, 45)
        }
    };
    if is_recent {
        words.extend(["--ambiguous=n".to_string(), "--noytrim".to_string()]);
    }
    Ok(words)
}

fn lastz_version(text: &str) -> Option<(u32, u32, u32)> {
    let numbers: Vec<u32> = text.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    match numbers[..] {
        [major, minor] => Some((major, minor, 0)),
        [major, minor, patch] => Some((major, minor, patch)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &str) -> CommandLine {
        CommandLine::from_words(words.split(' ').map(str::to_string)).unwrap()
    }

    fn options(words: &str) -> String {
        line(words).options.join(" ")
    }

    fn error(words: &str) -> String {
        format!("{:#}", CommandLine::from_words(words.split(' ').map(str::to_string)).unwrap_err())
    }

    #[test]
    fn one_letter_options_become_long_ones_in_order() {
        assert_eq!(
            options("K=2200 L=6000 H=2000 Y=3400"),
            "--hspthresh=2200 --gappedthresh=6000 --inner=2000 --ydrop=3400"
        );
        assert_eq!(options("O=400 E=30 G=1 R=2 U=1,2"), "--gap=O=400 --gap=30 --chain=G=1 --chain=R=2 --match=1,2");
        assert_eq!(
            options("T=2 W=8 B=-1 P=2"),
            "--seed=12of19 --transition=0 --seed=match8 --strand=minus --entropy=report"
        );
        assert_eq!(options("C=1 c=1 v=1 m=1M"), "--chain --nogapped --census --verbosity=10 --allocate:traceback=1M");
        assert_eq!(options("AC:-90 X=5"), "--pair-score=AC:-90 --xdrop=5 --gfextend");
    }

    #[test]
    fn aliases_and_mismatch_forms() {
        assert_eq!(options("--mem:traceback=1M --maf+"), "--allocate:traceback=1M --format=maf+");
        assert_eq!(options("--2mismatch=20"), "--mismatch=2,20 --gfextend=mismatch --hspthresh=20");
        assert_eq!(options("--mismatch=0,20"), "--exact=20 --gfextend=exact --hspthresh=20");
        assert_eq!(options("--filter=nmatch:5 --filter=ngap:..3"), "--matchcount=5 --filter=ngap:..3");
    }

    #[test]
    fn yasra_expands_in_place_and_headers_keep_its_name() {
        let line = line("t.fa --yasra95short:1.02.45 K=9 q.fa --threads=2 --maf=x");
        assert_eq!(line.files, ["t.fa", "q.fa"]);
        assert_eq!(line.header_arguments, ["--yasra95short:1.02.45", "K=9"]);
        assert!(line.options.join(" ").starts_with("--seed=12of19 --transition=0 --match=1,7 --gap=O=6"));
        assert!(line.options.join(" ").ends_with("--identity=95..100 --hspthresh=9 --threads=2 --maf=x"));
        assert!(options("--yasra98").ends_with("--ambiguous=n --noytrim"));
        assert!(error("--yasra98:x").contains("invalid lastz version number"));
    }

    #[test]
    fn included_words_are_options_and_files_but_not_header_arguments() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "t.fa[multiple]\n\n K=2000\t--step=2 \n").unwrap();
        let include = format!("--include={}", file.path().display());
        let line = line(&format!("{include} q.fa"));
        assert_eq!(
            (line.files.join(" "), line.options.join(" ")),
            ("t.fa[multiple] q.fa".into(), "--hspthresh=2000 --step=2".into())
        );
        assert_eq!(line.header_arguments, [include]);
    }

    #[test]
    fn mistakes_say_what_to_do() {
        assert!(error("a b c").contains("the sequence files are a and b already"));
        assert!(error("A=5").contains("unknown option A=5"));
        assert!(error("--infer=x").contains("lastz_D"));
        assert!(error("B=x").contains("\"x\" is not a whole number"));
        assert!(error("P=-1").contains("illegal value for P"));
        assert!(error("--include=/nonexistent/x").contains("cannot read --include="));
    }
}
