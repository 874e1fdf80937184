//! Numbers as users write them for scores, thresholds and memory (lastz-semantics 8.1).

/// What K, M and G stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// Powers of 1000: scores, thresholds, limits.
    Decimal,
    /// Powers of 1024: memory.
    Binary,
}

/// A score, threshold or limit: `3000`, `3K`, `2.5K`, `1e3`, `0x10`.
pub fn parse_score(text: &str) -> Result<i32, String> {
    let value = parse(text, Units::Decimal)?;
    i32::try_from(value).map_err(|_| format!("\"{text}\" is out of range: give {} to {}", i32::MIN, i32::MAX))
}

/// A number of bytes: `80M`, `1.99G`. `2.0G` is the largest, as in LASTZ.
pub fn parse_bytes(text: &str) -> Result<i64, String> {
    let value = parse(text, Units::Binary)?;
    // A product of integers must fit 31 bits; LASTZ lets the rounded `2.0G` through, one more than that.
    let most = if text.contains('.') { 1 << 31 } else { i64::from(i32::MAX) };
    if value > most { Err(format!("\"{text}\" is out of range: give 2.0G at most")) } else { Ok(value) }
}

/// A plain integer: no unit, no point.
pub fn parse_integer(text: &str) -> Result<i32, String> {
    if text.is_empty() {
        return Err("an empty string is not a whole number".to_string());
    }
    if !is_integer(text) {
        return Err(format!("\"{text}\" is not a whole number: write digits alone"));
    }
    text.parse().map_err(|_| format!("\"{text}\" is out of range: give {} to {}", i32::MIN, i32::MAX))
}

/// A number with an optional unit, rounded as LASTZ rounds: an integer is multiplied exactly; anything else is taken in
/// single precision, multiplied in single precision, and one half is added before the fraction is cut (so -2.5 is -2).
/// What does not fit 64 bits becomes the largest or the least number that does.
pub fn parse(text: &str, units: Units) -> Result<i64, String> {
    let base: i64 = match units {
        Units::Decimal => 1000,
        Units::Binary => 1024,
    };
    let (digits, factor) = match text.as_bytes().last().map(u8::to_ascii_uppercase) {
        Some(b'K') => (&text[..text.len() - 1], base),
        Some(b'M') => (&text[..text.len() - 1], base * base),
        Some(b'G') => (&text[..text.len() - 1], base * base * base),
        _ => (text, 1),
    };
    if is_integer(digits) {
        let most = if digits.starts_with('-') { i64::MIN } else { i64::MAX };
        return Ok(digits.parse::<i64>().map_or(most, |n| n.saturating_mul(factor)));
    }
    let number = match hexadecimal(digits) {
        Some(n) => n,
        None if digits.bytes().any(|b| b.is_ascii_digit()) => digits.parse::<f32>().map_err(|_| not_a_number(text))?,
        // `inf` and `nan` are no numbers to us.
        None => return Err(not_a_number(text)),
    };
    // A cast saturates.
    Ok((f64::from(number * factor as f32) + 0.5) as i64)
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

fn hexadecimal(text: &str) -> Option<f32> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text),
    };
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    u32::from_str_radix(digits, 16).ok().map(|n| sign * n as f32)
}

fn not_a_number(text: &str) -> String {
    format!("\"{text}\" is not a number: write one such as 3000, 3K, 2.5M or 1G")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_round_as_lastz_does() {
        // Every value was printed by `lastz --format=axt --hspthresh=<text>`.
        for (text, value) in [
            ("3K", 3000),
            ("2.5K", 2500),
            ("2.4999K", 2500),
            ("3.4", 3),
            ("3.5", 4),
            ("-2.5", -2),
            ("2.14G", 2_140_000_128),
            ("1e3", 1000),
            ("1.5e3K", 1_500_000),
            ("123456.789K", 123_456_792),
            ("16777217.0", 16_777_216),
            ("16777217", 16_777_217),
            ("0.49999997", 0),
            ("8388609.0", 8_388_609),
            (".5", 1),
            ("5.", 5),
            ("-1.5K", -1499),
            ("0x10K", 16_000),
            ("-0x10", -15),
            ("010", 10),
            ("+5", 5),
        ] {
            assert_eq!(parse_score(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn nonsense_and_overflow_are_named() {
        for text in ["", "K", "3KB", "--5", "1.5.5", "1,000", "nan", "0x", "5 ", "abc"] {
            let error = format!("\"{text}\" is not a number: write one such as 3000, 3K, 2.5M or 1G");
            assert_eq!(parse_score(text), Err(error));
        }
        for text in ["5G", "2.2G", "2147484K", "1e10", "-5G", "99999999999999999999", "9999999999999G", "1e30"] {
            let error = format!("\"{text}\" is out of range: give -2147483648 to 2147483647");
            assert_eq!(parse_score(text), Err(error));
        }
        assert_eq!(parse("-99999999999G", Units::Binary), Ok(i64::MIN));
    }

    #[test]
    fn bytes_count_in_1024() {
        assert_eq!(parse_bytes("80m"), Ok(80 << 20));
        assert_eq!(parse_bytes("800.0M"), Ok(800 << 20));
        assert_eq!(parse_bytes("2.0G"), Ok(1 << 31));
        assert_eq!(parse_bytes("2G"), Err("\"2G\" is out of range: give 2.0G at most".to_string()));
        assert!(parse_bytes("2.5G").is_err());
    }

    #[test]
    fn plain_integers_take_no_unit_and_no_point() {
        assert_eq!(parse_integer("+12"), Ok(12));
        for text in ["", "1K", "1.5", "1e3", "0x10", "2147483648"] {
            assert!(parse_integer(text).is_err(), "{text}");
        }
    }
}
