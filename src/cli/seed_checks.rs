//! What a seed pattern allows (lastz-semantics 2.1, 2.5, 2.6).

use anyhow::{Result, bail};
use fastz::options::{SeedHitFilter, Twins};

use super::values::Seed;

/// Most surplus bits. They share one 32-bit word with two bits a place, so that places 16 apart fall together.
const MOST_RESOLVING: usize = 16;

/// Most bits of an index: LASTZ's tables of more than 2^28 words do not exist.
const MOST_TABLE_BITS: usize = 28;

/// Refuses options that do not suit the seed.
pub(super) fn check_seed(
    seed: &Seed,
    transitions: u8,
    word_bits: u32,
    hit_filter: Option<&SeedHitFilter>,
    twins: Option<Twins>,
) -> Result<()> {
    let pattern = seed.pattern.as_str();
    if let Some(filter) = hit_filter {
        let places = match filter.cares_only {
            true => pattern.bytes().filter(|&place| place != b'0').count(),
            false => pattern.len(),
        };
        if filter.min_matches as usize > places {
            bail!("--filter can't require more matches ({}) than seed ({places})", filter.min_matches);
        }
    }
    if let Some(twins) = twins {
        let len = pattern.len() as i32;
        if twins.min_gap <= -len {
            bail!("minGap for twins ({}) must be greater than negative of seed length (-{len})", twins.min_gap);
        }
    }
    let places = IndexedPlaces::new(pattern, word_bits);
    places.check(pattern, word_bits as usize)?;
    if transitions > 0 && places.surplus == places.matches.len() {
        bail!(
            "--transition can only be used with strict seeds (1s and 0s); every place that {pattern} has in the table \
             allows one already"
        );
    }
    Ok(())
}

/// How a pattern fits into a table: bits beyond those of the table are taken from the rightmost 1s, which are then
/// resolved later; not all seeds can.
struct IndexedPlaces {
    /// The 1s, as distances from the right end, rightmost first.
    matches: Vec<usize>,
    seed_bits: usize,
    /// How many of the 1s, from the right, are resolved later.
    surplus: usize,
}

impl IndexedPlaces {
    fn new(pattern: &str, word_bits: u32) -> IndexedPlaces {
        let from_right = pattern.bytes().rev().enumerate();
        let matches: Vec<usize> = from_right.filter(|(_, place)| *place == b'1').map(|(i, _)| i).collect();
        let seed_bits = 2 * matches.len() + pattern.matches('T').count();
        IndexedPlaces { matches, seed_bits, surplus: seed_bits.saturating_sub(word_bits as usize) }
    }

    fn check(&self, pattern: &str, word_bits: usize) -> Result<()> {
        let (surplus, matches) = (self.surplus, &self.matches);
        if surplus > matches.len() {
            bail!("seed ({pattern}) requires more resolving bits ({surplus}) than it has matches ({})", matches.len());
        }
        if surplus > MOST_RESOLVING {
            bail!("seed ({pattern}) requires more resolving bits ({surplus}) than are allowed ({MOST_RESOLVING})");
        }
        let slots = self.resolved().fold(0u16, |slots, place| slots | 1 << (place % MOST_RESOLVING));
        if (slots.count_ones() as usize) < surplus {
            bail!(
                "resolving bits in seed string {pattern} are spread too widely: give more bits to --word or use a shorter seed"
            );
        }
        let table_bits = self.seed_bits.min(word_bits);
        if table_bits > MOST_TABLE_BITS {
            bail!("the target table would need {table_bits} bits and has {MOST_TABLE_BITS}: give --word=28 or less");
        }
        Ok(())
    }

    fn resolved(&self) -> impl Iterator<Item = usize> + '_ {
        self.matches.iter().copied().take(self.surplus)
    }
}

/// The pattern with its surplus bits marked, as LASTZ shows it: the table takes `T` there, and `R` is resolved later.
/// Of the places to resolve only those are shown that are among the last 16.
///
/// ```text
/// 1110100110010101111 with 16 bits     -> 1110100TT00T0T0TTTT/RR00R0R0RRRR
/// 1T1T00000TTTTTTTTTTTTTTTTT with 22   -> 1TTT00000TTTTTTTTTTTTTTTTT
/// ```
pub(super) fn pattern_text(pattern: &str, word_bits: u32) -> String {
    let places = IndexedPlaces::new(pattern, word_bits);
    let mut text = pattern.to_string().into_bytes();
    let mut resolved = vec![];
    for place in places.resolved() {
        let at = text.len() - 1 - place;
        text[at] = b'T';
        if place < MOST_RESOLVING {
            resolved.resize(place, b'0');
            resolved.push(b'R');
        }
    }
    if !resolved.is_empty() {
        text.push(b'/');
        text.extend(resolved.iter().rev());
    }
    String::from_utf8(text).expect("patterns are ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seed: &str, word_bits: u32) -> Result<()> {
        let seed: Seed = seed.parse().unwrap();
        check_seed(&seed, u8::from(seed.allows_transition), word_bits, None, None)
    }

    #[test]
    fn surplus_bits_are_shown_as_lastz_shows_them() {
        let seed = "1110100110010101111";
        assert_eq!(pattern_text(seed, 16), "1110100TT00T0T0TTTT/RR00R0R0RRRR");
        assert_eq!(pattern_text(seed, 24), seed);
        assert_eq!(pattern_text("11111T0010000010000100010T0T0TT", 18), "1111TT00T00000T0000T000T0T0T0TT/R000R0000000");
        assert_eq!(pattern_text("1T1T00000TTTTTTTTTTTTTTTTT", 22), "1TTT00000TTTTTTTTTTTTTTTTT");
    }

    #[test]
    fn surplus_bits_must_be_few_and_not_16_places_apart() {
        // Successes and failures of lastz.
        for (seed, bits) in [
            ("12of19", 15),
            ("14of22", 18),
            ("match8", 8),
            ("1111111111111111111111", 28),
            ("half12", 28),
            ("1T1100000TTT1TTTT0TT1", 16),
            ("100T0010TTT01011TTTTTT00T1", 18),
            ("1110110000100101001100011100101", 18),
        ] {
            assert!(check(seed, bits).is_ok(), "{seed} {bits}");
        }
        for (seed, bits, why) in [
            ("12of19", 14, "spread too widely"),
            ("14of22", 17, "spread too widely"),
            ("12of19", 8, "than it has matches (12)"),
            ("11111111111111111111111", 28, "than are allowed (16)"),
            ("half31", 28, "than it has matches (0)"),
            ("match15", 30, "need 30 bits"),
            ("111111111111111", 29, "need 29 bits"),
            ("1T1100000TTT1TTTT0TT1", 15, "strict seeds"),
            ("11111111", 8, "strict seeds"),
            ("1110110000100101001100011100101", 17, "spread too widely"),
        ] {
            assert!(check(seed, bits).unwrap_err().to_string().contains(why), "{seed} {bits}");
        }
    }
}
