//! Spaced seed patterns (lastz-semantics 2.1).

/// What a place of a seed window demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// `1`: equal bases.
    Match,
    /// `T`: equal bases or a transition.
    MatchOrTransition,
    /// `0`: nothing.
    Free,
}

/// A spaced seed: `1` match, `T` match or transition, `0` free; starts and ends with a place that cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedPattern {
    places: Vec<Care>,
}

/// Longest pattern that holds a `1`.
pub const MAX_LEN: usize = 31;
/// Longest pattern of `T` and `0` only.
pub const MAX_HALF_WEIGHT_LEN: usize = 63;

impl SeedPattern {
    /// LASTZ's default, 12 of 19.
    pub const TWELVE_OF_19: &'static str = "1110100110010101111";
    /// 14 of 22.
    pub const FOURTEEN_OF_22: &'static str = "1110101100110010101111";

    /// Parses a pattern of `1`, `T`, `0` and `X`; free places at the ends are dropped.
    pub fn parse(text: &str) -> Result<SeedPattern, String> {
        let mut places = Vec::with_capacity(text.len());
        for letter in text.chars() {
            places.push(match letter {
                '1' => Care::Match,
                'T' | 't' => Care::MatchOrTransition,
                '0' | 'X' | 'x' => Care::Free,
                other => return Err(format!("seed string {text} contains illegal character {other}")),
            });
        }
        let Some(first) = places.iter().position(|&care| care != Care::Free) else {
            return Err("seed string is empty!".to_string());
        };
        let last = places.iter().rposition(|&care| care != Care::Free).unwrap_or(first);
        let pattern = SeedPattern { places: places[first..=last].to_vec() };
        let len = pattern.len();
        if len < 2 {
            return Err(format!("seed length must be at least two (yours is {len})"));
        }
        if pattern.is_half_weight() && len > MAX_HALF_WEIGHT_LEN {
            return Err(format!(
                "half-weight seed string ({text}) cannot have length exceeding {MAX_HALF_WEIGHT_LEN} (it's {len})."
            ));
        }
        if !pattern.is_half_weight() && len > MAX_LEN {
            return Err(format!("seed string ({text}) cannot have length exceeding {MAX_LEN} (it's {len})."));
        }
        Ok(pattern)
    }

    /// `match<k>`: k places that demand equal bases.
    pub fn contiguous(k: usize) -> Result<SeedPattern, String> {
        SeedPattern::parse(&"1".repeat(k))
    }

    /// `half<k>`: k places that demand a match or a transition.
    pub fn half_weight(k: usize) -> Result<SeedPattern, String> {
        SeedPattern::parse(&"T".repeat(k))
    }

    /// The window's places, left to right.
    pub fn places(&self) -> &[Care] {
        &self.places
    }

    /// Window length.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether no place demands equal bases.
    pub fn is_half_weight(&self) -> bool {
        !self.places.contains(&Care::Match)
    }

    /// Whether every place that cares demands equal bases; only then may transitions be allowed (2.1).
    pub fn is_strict(&self) -> bool {
        !self.places.contains(&Care::MatchOrTransition)
    }
}

impl std::fmt::Display for SeedPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for care in &self.places {
            f.write_str(match care {
                Care::Match => "1",
                Care::MatchOrTransition => "T",
                Care::Free => "0",
            })?;
        }
        Ok(())
    }
}

impl Default for SeedPattern {
    fn default() -> Self {
        SeedPattern::parse(Self::TWELVE_OF_19).expect("the default seed is well formed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ends_are_dropped() {
        let pattern = SeedPattern::parse("0X1T0x10").unwrap();
        assert_eq!(pattern.to_string(), "1T001");
        assert!(!pattern.is_strict() && !pattern.is_half_weight());
    }

    #[test]
    fn lengths_have_limits() {
        assert_eq!(SeedPattern::contiguous(MAX_LEN).unwrap().len(), MAX_LEN);
        assert_eq!(SeedPattern::half_weight(MAX_HALF_WEIGHT_LEN).unwrap().len(), MAX_HALF_WEIGHT_LEN);
        for bad in ["", "000", "12", "010", &"1".repeat(32), &"T".repeat(64), &format!("1{}", "T".repeat(31))] {
            assert!(SeedPattern::parse(bad).is_err(), "{bad:?} must be refused");
        }
    }
}
