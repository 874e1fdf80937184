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

impl SeedPattern {
    /// LASTZ's default, 12 of 19.
    pub const TWELVE_OF_19: &'static str = "1110100110010101111";
    /// 14 of 22.
    pub const FOURTEEN_OF_22: &'static str = "1110101100110010101111";

    /// Parses a pattern of `1`, `T`, `0` and `X`; free places at the ends are dropped.
    pub fn parse(text: &str) -> Result<SeedPattern, String> {
        let _ = text;
        todo!("seed pattern")
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
}

impl Default for SeedPattern {
    fn default() -> Self {
        SeedPattern::parse(Self::TWELVE_OF_19).expect("the default seed is well formed")
    }
}
