//! The values of filters and per-query limits, each with its reader (lastz-semantics 6.2, 6.8).

use std::str::FromStr;

use fastz::options::{MatchCount, OverLimit, RatioRange, SeedHitFilter};
use fastz::post::filters::ratio_of_percent;
use fastz::scoring::number::{parse_integer, parse_score};

type Result<T> = std::result::Result<T, String>;

/// One use of `--filter`; the forms for identity, coverage, continuity and nmatch have options of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// `[T,]M` or `cares:[T,]M` on seed hits; `None` switches it off.
    SeedHits(Option<SeedHitFilter>),
    /// `nmismatch:..n`.
    Mismatches(u64),
    /// `ngap:..n`.
    Gaps(u64),
    /// `cgap:..n`.
    GapColumns(u64),
}

impl FromStr for Filter {
    type Err = String;
    fn from_str(text: &str) -> Result<Filter> {
        let most = |name: &str, range: &str| match range.strip_prefix("0..").or_else(|| range.strip_prefix("..")) {
            Some(most) => u64::try_from(parse_integer(most)?)
                .map_err(|_| "a number may not be negative: give 0 or more".to_string()),
            None => Err(format!("can't understand \"{text}\"; consider --filter={name}:0..<max>")),
        };
        match text.split_once(':') {
            Some(("nmismatch", range)) => Ok(Filter::Mismatches(most("nmismatch", range)?)),
            Some(("ngap", range)) => Ok(Filter::Gaps(most("ngap", range)?)),
            Some(("cgap", range)) => Ok(Filter::GapColumns(most("cgap", range)?)),
            Some(("cares", counts)) => Ok(Filter::SeedHits(Some(seed_hit_filter(counts, true)?))),
            _ if text == "none" => Ok(Filter::SeedHits(None)),
            _ if text.starts_with(|c: char| c.is_ascii_digit()) => {
                Ok(Filter::SeedHits(Some(seed_hit_filter(text, false)?)))
            }
            _ => Err(format!(
                "can't understand \"{text}\"; give [<transversions>,]<matches>, or identity:, coverage:, continuity:, \
                 nmatch:, nmismatch:, ngap:, cgap: and a range"
            )),
        }
    }
}

fn seed_hit_filter(counts: &str, cares_only: bool) -> Result<SeedHitFilter> {
    let count = |text: &str| u32::try_from(parse_integer(text)?).map_err(|_| format!("{text} is negative"));
    let (max_transversions, matches) = match counts.split_once([',', ':']) {
        Some((transversions, matches)) => (Some(count(transversions)?), matches),
        None => (None, counts),
    };
    Ok(SeedHitFilter { min_matches: count(matches)?, max_transversions, cares_only })
}

/// `min`, `min..`, `..max` or `min..max` in percent, 0 to 100, each with or without `%`.
pub fn ratio_range(text: &str) -> Result<RatioRange> {
    let bad =
        || format!("can't understand \"{text}\": give <min>, <min>.., ..<max> or <min>..<max> in percent, 0 to 100");
    let bound = |typed: &str, default: f64| match typed {
        "" => Ok(default),
        _ => percentage(typed.strip_suffix('%').unwrap_or(typed)),
    };
    let (min, max) = match text.split_once("..") {
        Some(("", "")) => return Err(bad()),
        Some((min, max)) => (min, max),
        None if text.is_empty() => return Err(bad()),
        None => (text, ""),
    };
    let (min, max) = (bound(min, 0.0).map_err(|_| bad())?, bound(max, 100.0).map_err(|_| bad())?);
    if min > max || max > 100.0 {
        return Err(bad());
    }
    Ok(RatioRange { min: ratio_of_percent(min), max: ratio_of_percent(max) })
}

/// `--matchcount=n|n%`.
pub fn match_count(text: &str) -> Result<MatchCount> {
    if let Some(percent) = text.strip_suffix('%') {
        return Ok(MatchCount::OfQuery(percentage(percent)? / 100.0));
    }
    match parse_integer(text)? {
        n @ 1.. => Ok(MatchCount::Count(n as u64)),
        _ => Err("a number of matches must be positive".to_string()),
    }
}

/// A limit with what happens beyond it: `[warn:|nowarn:|keep,nowarn:]n`; after `+=` what was found is kept.
pub fn hsp_limit(text: &str) -> Result<(u32, OverLimit)> {
    let (text, is_kept) = match text.strip_prefix("+=") {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let (count, over) = match text.split_once(':') {
        Some(("warn", count)) => (count, OverLimit { keep: is_kept, warn: true }),
        Some(("nowarn", count)) => (count, OverLimit { keep: is_kept, warn: false }),
        Some(("keep,nowarn", count)) if !is_kept => (count, OverLimit { keep: true, warn: false }),
        _ => (text, OverLimit { keep: is_kept, warn: true }),
    };
    Ok((positive_count(count)?, over))
}

/// The number alone of `--queryhsplimit`, or that of `--limitperquery`.
pub fn last_limit(text: &str) -> Result<u32> {
    hsp_limit(text).map(|(count, _)| count)
}

/// `--progress`: every how many queries a line is written (never, if this is not positive), and whether one of
/// `--progress+masking` asked for the masked bases too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub every: i32,
    pub with_masking: bool,
}

/// `--progress=[masking:]n`, the canonical form of `--progress=n` and `--progress+masking=n`.
pub fn progress(text: &str) -> Result<Progress> {
    let (count, with_masking) = text.strip_prefix("masking:").map_or((text, false), |count| (count, true));
    Ok(Progress { every: parse_score(count)?, with_masking })
}

/// `--querydepth=[discard:|nowarn:|keep:|keep,nowarn:]d`; a depth of 0 or less is no limit.
pub fn depth_limit(text: &str) -> Result<Option<(f64, OverLimit)>> {
    let (depth, over) = match text.split_once(':') {
        Some(("discard", depth)) => (depth, OverLimit { keep: false, warn: true }),
        Some(("nowarn", depth)) => (depth, OverLimit { keep: false, warn: false }),
        Some(("keep", depth)) => (depth, OverLimit { keep: true, warn: true }),
        Some(("keep,nowarn", depth)) => (depth, OverLimit { keep: true, warn: false }),
        _ => (text, OverLimit { keep: false, warn: true }),
    };
    let factor = match depth.as_bytes().last().map(u8::to_ascii_uppercase) {
        Some(b'K') => 1e3,
        Some(b'M') => 1e6,
        Some(b'G') => 1e9,
        _ => 1.0,
    };
    let digits = if factor == 1.0 { depth } else { &depth[..depth.len() - 1] };
    match digits.parse::<f64>() {
        Ok(value) if !value.is_nan() => Ok((value > 0.0).then_some((value * factor, over))),
        _ => Err(format!("\"{depth}\" is not a number")),
    }
}

/// A positive count with units.
pub fn positive_count(text: &str) -> Result<u32> {
    match parse_score(text)? {
        n @ 1.. => Ok(n as u32),
        _ => Err("a number must be positive: give 1 or more".to_string()),
    }
}

/// `--queryhspbest=n`.
pub fn best_count(text: &str) -> Result<u32> {
    positive_count(text)
}

/// `--limitperquery=n`.
pub fn block_limit(text: &str) -> Result<u32> {
    match parse_integer(text)? {
        n @ 1.. => Ok(n as u32),
        _ => Err("a limit must be positive: give 1 or more".to_string()),
    }
}

/// A share in percent, without the sign; not negative.
pub fn percentage(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(percent) if percent >= 0.0 && percent.is_finite() => Ok(percent),
        _ => Err(format!("\"{text}%\" is not a percentage")),
    }
}
