//! The values of input, seeding, scoring and extension options, each with its reader (lastz-semantics 8.1, 9).

use std::str::FromStr;

use fastz::options::{HspThreshold, Twins, WordCountLimit};
use fastz::output::Format;
use fastz::scoring::number::{Units, parse, parse_integer, parse_score};
use fastz::scoring::setup::{Ambiguity, PairScore};

use super::limits::percentage;

type Result<T> = std::result::Result<T, String>;

/// `--seed`: the pattern written out, and what it says about transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Pattern of 1, T and 0.
    pub pattern: String,
    /// `match<k>`, `half<k>` and patterns without a 1 allow no transition unless asked to.
    pub allows_transition: bool,
}

impl FromStr for Seed {
    type Err = String;
    fn from_str(text: &str) -> Result<Seed> {
        let repeated = |place: &str, count: &str, most: usize| match count.parse::<usize>() {
            Ok(count) if (1..=most).contains(&count) => Ok(place.repeat(count)),
            Ok(count) => Err(format!("{count} is not a valid word length: give 2 to {most}")),
            Err(_) => Err(format!("\"{count}\" is not a word length: give 2 to {most}")),
        };
        let (pattern, is_word) = match text {
            "12of19" => ("1110100110010101111".to_string(), false),
            "14of22" => ("1110101100110010101111".to_string(), false),
            _ => match (text.strip_prefix("match"), text.strip_prefix("half")) {
                (Some(count), _) => (repeated("1", count, 15)?, true),
                (_, Some(count)) => (repeated("T", count, 31)?, true),
                _ => (text.to_ascii_uppercase().replace('X', "0"), false),
            },
        };
        let allows_transition = !is_word && pattern.contains('1');
        let pattern = pattern.trim_matches('0').to_string();
        Ok(Seed { pattern, allows_transition })
    }
}

/// Part of `--gap=[O,]E`, `O=`, `E=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapCost {
    /// O and E.
    Both(i32, i32),
    /// O alone.
    Open(i32),
    /// E alone.
    Extend(i32),
}

impl FromStr for GapCost {
    type Err = String;
    fn from_str(text: &str) -> Result<GapCost> {
        if let Some(open) = text.strip_prefix("O=") {
            return Ok(GapCost::Open(parse_score(open)?));
        }
        match text.split_once(',') {
            Some((open, extend)) => Ok(GapCost::Both(parse_score(open)?, parse_score(extend)?)),
            None => Ok(GapCost::Extend(parse_score(text)?)),
        }
    }
}

/// Part of `--chain[=diag,anti]`, `--nochain`, `G=`, `R=`. Penalties stay when chaining is switched off and on again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chain {
    /// On, with the penalties given so far.
    On,
    /// Off.
    Off,
    /// On, with these penalties.
    Penalties(i32, i32),
    /// Diagonal penalty; does not switch chaining on.
    Diagonal(i32),
    /// Anti-diagonal penalty; does not switch chaining on.
    AntiDiagonal(i32),
}

impl FromStr for Chain {
    type Err = String;
    fn from_str(text: &str) -> Result<Chain> {
        match text {
            "on" => return Ok(Chain::On),
            "off" => return Ok(Chain::Off),
            _ => {}
        }
        match (text.strip_prefix("G="), text.strip_prefix("R="), text.split_once(',')) {
            (Some(penalty), _, _) => Ok(Chain::Diagonal(parse_score(penalty)?)),
            (_, Some(penalty), _) => Ok(Chain::AntiDiagonal(parse_score(penalty)?)),
            (_, _, Some((diagonal, anti))) => Ok(Chain::Penalties(parse_score(diagonal)?, parse_score(anti)?)),
            _ => {
                Err(format!("{text} is not a valid pair of chain penalties: write --chain=<diagonal>,<anti-diagonal>"))
            }
        }
    }
}

/// `--match=R[,P]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchScores {
    /// R, positive.
    pub reward: i32,
    /// P, positive.
    pub penalty: i32,
}

impl FromStr for MatchScores {
    type Err = String;
    fn from_str(text: &str) -> Result<MatchScores> {
        let (reward, penalty) = text.split_once(',').unwrap_or((text, text));
        let positive = |typed: &str, what: &str| match parse_score(typed)? {
            score if score > 0 => Ok(score),
            _ => Err(format!("{typed} is not a valid {what}: it must be positive")),
        };
        Ok(MatchScores { reward: positive(reward, "match score")?, penalty: positive(penalty, "mismatch penalty")? })
    }
}

/// `XY:score`.
pub fn pair_score(text: &str) -> Result<PairScore> {
    match text.as_bytes() {
        [target, query, b':', ..] => Ok(PairScore {
            target: target.to_ascii_uppercase(),
            query: query.to_ascii_uppercase(),
            score: parse_score(&text[3..])?,
        }),
        _ => Err(format!("\"{text}\" is not <base><base>:<score>")),
    }
}

/// One `--ambiguous=n|iupac[,[reward,]penalty]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmbiguousLetters {
    iupac: bool,
    /// Reward and penalty, where the word has them.
    scores: Option<(i32, i32)>,
}

impl AmbiguousLetters {
    /// What several of them say together: `iupac` holds wherever it stands, and a word without scores keeps those of an
    /// earlier one.
    pub fn combined(words: &[Self]) -> Option<Ambiguity> {
        let (reward, penalty) = words.iter().rev().find_map(|word| word.scores).unwrap_or_default();
        let iupac = words.iter().any(|word| word.iupac);
        (!words.is_empty()).then_some(Ambiguity { iupac, reward, penalty })
    }
}

/// `--ambiguous=n|iupac[,[reward,]penalty]`.
pub fn ambiguous_letters(text: &str) -> Result<AmbiguousLetters> {
    let (letters, scores) = match text.split_once(',') {
        Some((letters, scores)) => (letters, Some(scores)),
        None => (text, None),
    };
    let iupac = match letters {
        "n" | "N" => false,
        "iupac" | "IUPAC" => true,
        _ => return Err(format!("\"{letters}\" is neither n nor iupac")),
    };
    let scores = match scores.map(|scores| scores.split_once(',').unwrap_or(("0", scores))) {
        Some((reward, penalty)) => Some((parse_score(reward)?, parse_score(penalty)?)),
        None => None,
    };
    if scores.is_some_and(|(_, penalty)| penalty < 0) {
        return Err("the penalty must not be negative; it is subtracted".to_string());
    }
    Ok(AmbiguousLetters { iupac, scores })
}

/// `--hspthresh=<score>|top<bases>|top<percent>%`.
pub fn threshold(text: &str) -> Result<HspThreshold> {
    let Some(top) = text.strip_prefix("top") else { return Ok(HspThreshold::Score(parse_score(text)?)) };
    match top.strip_suffix('%') {
        Some(percent) => Ok(HspThreshold::TopPercent(percentage(percent)?)),
        None => match parse_score(top)? {
            bases if bases >= 0 => Ok(HspThreshold::TopBases(bases as u64)),
            _ => Err(format!("{top} is not a number of bases: it may not be negative")),
        },
    }
}

/// `--exact=<length>`.
pub fn exact_length(text: &str) -> Result<u32> {
    match parse_score(text)? {
        length if length > 0 => Ok(length as u32),
        length => Err(format!("{length} is not a valid exact match threshold: it must be positive")),
    }
}

/// `--mismatch=<count>,<length>`.
pub fn mismatch(text: &str) -> Result<(u32, u32)> {
    let Some((count, length)) = text.split_once(',') else {
        return Err("two values are needed: <count>,<length>".to_string());
    };
    let (count, length) = (parse_score(count)?, parse_score(length)?);
    if !(1..=50).contains(&count) {
        return Err(format!("{count} is out of range for N-mismatch (valid range is 1..50)"));
    }
    if length < count {
        return Err(format!("{length} is not a valid exact {count}mismatch threshold: give at least {count}"));
    }
    Ok((count as u32, length as u32))
}

/// `--twins=[min..]max`, or `none`.
pub fn twins(text: &str) -> Result<Option<Twins>> {
    if text == "none" {
        return Ok(None);
    }
    let (min_gap, max_gap) = match text.split_once("..").or_else(|| text.split_once(':')) {
        Some((min, max)) => (parse_integer(min)?, parse_integer(max)?),
        None => (0, parse_integer(text)?),
    };
    if max_gap < min_gap {
        return Err(format!("maxGap for twins ({max_gap}) can't be less than min gap ({min_gap})"));
    }
    Ok(Some(Twins { min_gap, max_gap }))
}

/// `--maxwordcount=n[,c]|p%[,c]`; `0%` removes nothing.
pub fn word_count_limit(text: &str) -> Result<Option<WordCountLimit>> {
    let at_least_1 = |text: &str, what: &str| match parse_integer(text)? {
        n @ 1.. => Ok(n as u32),
        _ => Err(format!("{what} must be at least 1")),
    };
    let (count, spacing) = match text.split_once(',') {
        Some((count, spacing)) => (count, Some(at_least_1(spacing, "the interval")?)),
        None => (text, None),
    };
    if let Some(percent) = count.strip_suffix('%') {
        return match percentage(percent)? {
            0.0 => Ok(None),
            percent if percent < 100.0 => Ok(Some(match spacing {
                Some(spacing) => WordCountLimit::PercentWithSpacing(percent, spacing),
                None => WordCountLimit::Percent(percent),
            })),
            _ => Err("the share must be less than 100%".to_string()),
        };
    }
    let count = at_least_1(count, "the count")?;
    Ok(Some(match spacing {
        Some(spacing) => WordCountLimit::CountWithSpacing(count, spacing),
        None => WordCountLimit::Count(count),
    }))
}

/// `--format`: the text of a format that there is.
pub fn format_name(text: &str) -> Result<String> {
    Format::parse(text).map(|_| text.to_string()).map_err(|error| error.to_string())
}

/// `--step=n`.
pub fn step(text: &str) -> Result<u32> {
    match parse_integer(text)? {
        n @ 1.. => Ok(n as u32),
        _ => Err("a step must be positive: give 1 or more".to_string()),
    }
}

/// A plain integer of 0 or more.
pub fn count(text: &str) -> Result<u32> {
    u32::try_from(parse_integer(text)?).map_err(|_| format!("{text} is negative: give 0 or more"))
}

/// `--word=<bits>`.
pub fn word_bits(text: &str) -> Result<u32> {
    match parse_integer(text)? {
        bits @ 8..=31 => Ok(bits as u32),
        bits => Err(format!("a word cannot have {bits} bits: give 8 to 31")),
    }
}

/// `--expand=n`.
pub fn expansion(text: &str) -> Result<u32> {
    match parse_integer(text)? {
        n @ 0..=999 => Ok(n as u32),
        _ => Err("give 0 to 999 bases".to_string()),
    }
}

/// `--allocate:traceback=<bytes>`.
pub fn traceback_bytes(text: &str) -> Result<usize> {
    match fastz::scoring::number::parse_bytes(text)? {
        bytes @ 102_400.. => Ok(bytes as usize),
        _ => Err("traceback memory must be at least 100K".to_string()),
    }
}

/// Bytes of `--gpu-memory`.
pub fn gpu_memory(text: &str) -> Result<u64> {
    match parse(text, Units::Binary)? {
        bytes @ 67_108_864.. => Ok(bytes as u64),
        _ => Err("give 64M or more".to_string()),
    }
}

/// `--transition=n`.
pub fn transitions(text: &str) -> Result<u8> {
    match text.parse() {
        Ok(n @ 0..=2) => Ok(n),
        _ => Err("give 0, 1 or 2".to_string()),
    }
}

/// `--census=<file>`, `on` or `off`.
pub fn census(text: &str) -> Result<String> {
    if text.is_empty() { Err("the name of the file is missing".to_string()) } else { Ok(text.to_string()) }
}

/// Any number; what LASTZ takes for `--allocate:target=` and fastz ignores.
pub fn ignored_bytes(text: &str) -> Result<i64> {
    parse(text, Units::Binary)
}
