//! Subranges of a record, as written in a specifier (lastz-semantics 1.7).
//!
//! ```text
//! 300..600  300,600   closed interval, 1-based          300..  ..600   open at one end
//! 300#100  300#2K     100 (2,000) bases from 300        500^200        200 bases around 500
//! 300..600+50%        the interval, widened by half around its middle
//! ```
//!
//! Limits in descending order (`600..300`) mean the interval, reverse-complemented: LASTZ swaps them and turns the
//! strand. So it does with `center^length` that would start left of base 0, against its manual: the start becomes huge,
//! and what is taken goes from the last base of the interval to the end of the record, reversed.

use std::ops::Range;

/// An interval of a record, still independent of its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Subrange {
    /// First base, 1-based.
    start: u64,
    /// Last base, 1-based; `None` is the end of the record.
    end: Option<u64>,
    /// Whether `end` may lie beyond the end of the record (`#`, `^` and `%` forms).
    clips: bool,
    /// Whether the limits came in descending order.
    pub is_reversed: bool,
}

/// What a word of an action list is, seen as a subrange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    /// A complete subrange.
    Subrange(Subrange),
    /// A lone number; with the number after the comma it makes a subrange.
    Number(u64),
    /// A subrange with impossible numbers.
    BadLimits,
    /// Something else.
    Other,
}

impl Subrange {
    /// Reads one word of an action list.
    pub fn parse(word: &str) -> Parsed {
        if let Some(number) = limit(word) {
            return Parsed::Number(number);
        }
        if let Some((start, end)) = word.split_once("..") {
            return parse_dots(start, end);
        }
        if let Some((start, len)) = word.split_once('#') {
            return parse_counted(start, len, |_| 0);
        }
        if let Some((center, len)) = word.split_once('^') {
            return parse_counted(center, len, |len| len / 2);
        }
        Parsed::Other
    }

    /// The closed interval between two limits in either order; `None` if one is zero.
    pub fn closed(a: u64, b: u64) -> Option<Subrange> {
        (a > 0 && b > 0).then(|| Subrange { start: a.min(b), end: Some(a.max(b)), clips: false, is_reversed: a > b })
    }

    /// The bases to load of a record of `full_len` bases, 0-based, or the limit that is too far.
    pub fn resolve(&self, full_len: usize) -> Result<Range<usize>, u64> {
        let len = full_len as u64;
        if self.start > len {
            return Err(self.start);
        }
        let end = match self.end {
            Some(end) if end > len && !self.clips => return Err(end),
            Some(end) => end.min(len),
            None => len,
        };
        Ok(self.start as usize - 1..end as usize)
    }

    /// What the subrange becomes for the records after one of `full_len` bases. Quirk of LASTZ: once the end has been
    /// clipped, it lies at the end of every later record.
    pub fn after(self, full_len: usize) -> Subrange {
        let was_clipped = self.end.is_some_and(|end| end > full_len as u64);
        Subrange { end: self.end.filter(|_| !was_clipped), ..self }
    }

    /// The bases to load while the length is not known yet, 0-based.
    pub fn unclipped(&self) -> Range<usize> {
        self.start as usize - 1..self.end.map_or(usize::MAX, |end| end as usize)
    }
}

/// A limit as LASTZ's `%u` reads it: blanks before it and a plus sign are allowed.
fn limit(word: &str) -> Option<u64> {
    let word = word.trim_start_matches(' ');
    let digits = word.strip_prefix('+').unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|&number| number < i64::MAX as u64)
}

fn parse_dots(start: &str, end: &str) -> Parsed {
    let (end, zoom) = match end.split_once('+') {
        // `11..+90` is a plus sign before a limit, not a zoom.
        Some(("", _)) | None => (end, None),
        Some((end, zoom)) => match zoom.strip_suffix('%').and_then(|z| z.parse::<f32>().ok()) {
            Some(zoom) => (end, Some(zoom)),
            None => return Parsed::Other,
        },
    };
    let limits = match (start, end) {
        ("", "") => return Parsed::Other,
        ("", end) => limit(end).map(|end| (1, Some(end))),
        (start, "") => limit(start).map(|start| (start, None)),
        (start, end) => limit(start).zip(limit(end)).map(|(start, end)| (start, Some(end))),
    };
    match (limits, zoom) {
        (None, _) | (Some((_, None)), Some(_)) => Parsed::Other,
        (Some(_), Some(_)) if start.is_empty() => Parsed::Other,
        (Some((start, Some(end))), Some(zoom)) => zoomed(start, end, zoom).map_or(Parsed::BadLimits, Parsed::Subrange),
        (Some((start, Some(end))), None) => Subrange::closed(start, end).map_or(Parsed::BadLimits, Parsed::Subrange),
        (Some((0, None)), None) => Parsed::BadLimits,
        (Some((start, None)), None) => {
            Parsed::Subrange(Subrange { start, end: None, clips: false, is_reversed: false })
        }
    }
}

/// `start..end+zoom%`. LASTZ takes the middle rounded up and half of the zoomed length rounded down on both sides, so
/// even `+0%` drops the first base of an interval of odd length. It multiplies in single precision. A zoomed length below
/// 2 gives limits in descending order, and so the two bases from the middle on, reversed; around base 1 it is that base
/// alone.
fn zoomed(start: u64, end: u64, zoom: f32) -> Option<Subrange> {
    if start == 0 || start > end {
        return None;
    }
    let factor = (1.0 + f64::from(zoom) / 100.0) as f32;
    let half = ((end - start + 1) as f32 * factor / 2.0) as i64;
    let half = u64::try_from(half).ok()?;
    let middle = (start + end).div_ceil(2);
    if half == 0 && middle == 1 {
        return Subrange::closed(1, 1);
    }
    if half == 0 {
        return Some(Subrange { start: middle, end: Some(middle + 1), clips: true, is_reversed: true });
    }
    Some(Subrange {
        // Base 2 is never the first.
        start: match middle.saturating_sub(half) {
            0 | 1 => 1,
            before => before + 1,
        },
        end: Some(middle + half),
        clips: true,
        is_reversed: false,
    })
}

/// `start#length` and `center^length`: the first base lies `before(length)` bases before the number given.
fn parse_counted(given: &str, len: &str, before: impl Fn(u64) -> u64) -> Parsed {
    let (digits, unit) = match len.as_bytes().last() {
        Some(b'K') => (&len[..len.len() - 1], 1_000),
        Some(b'M') => (&len[..len.len() - 1], 1_000_000),
        _ => (len, 1),
    };
    let Some(given) = limit(given) else { return Parsed::Other };
    let Some(len) = limit(digits) else {
        // LASTZ calls a decimal length with a unit bad limits, and any other odd length a bad action.
        return if unit > 1 && digits.parse::<f64>().is_ok() { Parsed::BadLimits } else { Parsed::Other };
    };
    let last = len.checked_mul(unit).and_then(|len| Some((len, given.checked_add(len)?)));
    let Some((len, after)) = last.filter(|&(len, _)| given > 0 && len > 0) else { return Parsed::BadLimits };
    let end = after - 1 - before(len);
    Parsed::Subrange(match given.checked_sub(before(len)) {
        Some(start) => Subrange { start: start.max(1), end: Some(end), clips: true, is_reversed: false },
        None => Subrange { start: end, end: None, clips: true, is_reversed: true },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 1-based closed interval on a record of 1000 bases, as LASTZ counts.
    fn on_1000(word: &str) -> Result<(usize, usize), u64> {
        match Subrange::parse(word) {
            Parsed::Subrange(subrange) => subrange.resolve(1000).map(|r| (r.start + 1, r.end)),
            other => panic!("{word}: {other:?}"),
        }
    }

    #[test]
    fn every_form_of_1_7() {
        for (word, expected) in [
            ("300..600", (300, 600)),
            ("300..", (300, 1000)),
            ("..600", (1, 600)),
            ("300#100", (300, 399)),
            ("300#1K", (300, 1000)),
            ("300#1M", (300, 1000)),
            ("500#2000", (500, 1000)),
            ("500^200", (400, 599)),
            ("500^201", (400, 600)),
            ("900^400", (700, 1000)),
            ("60^1", (60, 60)),
            ("50^102", (100, 1000)),
            ("1^4", (2, 1000)),
            ("700..400", (400, 700)),
            ("300..600+50%", (226, 675)),
            ("600..700+1000%", (96, 1000)),
            (" 11..90", (11, 90)),
            ("+11..+90", (11, 90)),
            ("011..090", (11, 90)),
            ("11..90+1e1%", (8, 95)),
        ] {
            assert_eq!(on_1000(word), Ok(expected), "{word}");
        }
        assert!(matches!(Subrange::parse("700..400"), Parsed::Subrange(Subrange { is_reversed: true, .. })));
    }

    #[test]
    fn zoom_rounds_as_lastz() {
        // Limits of the first line of LASTZ's lav `s` stanza for random intervals.
        for (a, b, zoom, expected) in [
            (1114, 1239, "2", (1114, 1241)),
            (1356, 1585, "10", (1346, 1597)),
            (977, 1240, "-10", (992, 1227)),
            (1302, 1630, "0.5", (1302, 1631)),
            (1499, 1877, "0", (1500, 1877)),
            (1038, 1141, "0", (1039, 1142)),
            (1037, 1378, "33", (982, 1435)),
            (628, 881, "100", (502, 1009)),
            (1, 100, "50", (1, 126)),
            (2, 51, "5", (1, 53)),
            (1, 68, "0", (1, 69)),
            (2115, 3794, "5", (2075, 3836)),
            (2374, 3253, "5", (2354, 3275)),
            (2128, 3507, "30", (1923, 3714)),
            (28_318_349, 51_664_882, "27.102", (25_154_662, 54_828_571)),
            (27_600_058, 43_880_079, "-51.545583", (31_795_875, 39_684_264)),
        ] {
            let word = format!("{a}..{b}+{zoom}%");
            let Parsed::Subrange(subrange) = Subrange::parse(&word) else { panic!("{word}") };
            let range = subrange.resolve(60_000_000).unwrap();
            assert_eq!((range.start + 1, range.end), expected, "{word}");
        }
    }

    #[test]
    fn a_zoomed_interval_of_no_base_is_two_reversed() {
        let expected = [
            ("7..7+53%", (7, 8), true),
            ("1000..1000+99%", (1000, 1000), true),
            ("5..5+-100%", (5, 6), true),
            ("5..6+-60%", (6, 7), true),
            ("1..1+0%", (1, 1), false),
        ];
        for (word, interval, is_reversed) in expected {
            let Parsed::Subrange(subrange) = Subrange::parse(word) else { panic!("{word}") };
            assert_eq!((on_1000(word), subrange.is_reversed), (Ok(interval), is_reversed), "{word}");
        }
    }

    #[test]
    fn center_near_the_start() {
        assert_eq!(on_1000("50^99"), Ok((1, 99)));
        assert_eq!(on_1000("51^100"), Ok((1, 100)));
        assert_eq!(on_1000("50^100"), Ok((1, 99)));
        assert_eq!(on_1000("10^100"), Ok((59, 1000)), "behind it, if it would start left of base 0");
    }

    #[test]
    fn a_clipped_end_stays_open() {
        let Parsed::Subrange(subrange) = Subrange::parse("151#20") else { panic!() };
        assert_eq!(subrange.after(170).resolve(300), Ok(150..170));
        assert_eq!(subrange.after(169).resolve(300), Ok(150..300));
    }

    #[test]
    fn limits_beyond_the_end_are_named() {
        assert_eq!(on_1000("1..1001"), Err(1001));
        assert_eq!(on_1000("1001.."), Err(1001));
        assert_eq!(on_1000("..1001"), Err(1001));
        assert_eq!(on_1000("1500#10"), Err(1500));
        assert_eq!(on_1000("1006^10"), Err(1001));
        assert_eq!(on_1000("1001^10"), Ok((996, 1000)), "the center itself may lie beyond");
    }

    #[test]
    fn what_is_no_subrange() {
        for word in ["0..500", "..0", "0..", "0#5", "11#0", "60^0", "300#0.2K", "300..100+50%", "5..6+-200%"] {
            assert_eq!(Subrange::parse(word), Parsed::BadLimits, "{word}");
        }
        for word in [
            "..",
            "...",
            "300-600",
            "300:600",
            "1e2..300",
            "300..600+50",
            "11..90..",
            "11...90",
            "11..90 ",
            "11#20k",
            "1K..2K",
            "#20",
            "11#",
            "11^",
            "11^20+10%",
            "11..+50%",
            "..90+50%",
            "-11..90",
            "1M#1",
            "unmask",
            "",
        ] {
            assert_eq!(Subrange::parse(word), Parsed::Other, "{word}");
        }
        assert_eq!(Subrange::parse("500"), Parsed::Number(500));
    }
}
