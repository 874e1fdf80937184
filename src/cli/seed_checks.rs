//! What a seed pattern allows (lastz-semantics 2.1, 2.5, 2.6).

use anyhow::{Result, bail};
use fastz::options::{SeedHitFilter, Twins};

use super::values::Seed;

/// Most surplus bits, and most places from the first to the last base that has one.
const MOST_RESOLVING: usize = 16;

/// Refuses options that do not suit the seed.
pub(super) fn check_seed(
    seed: &Seed,
    transitions: Option<u8>,
    word_bits: u32,
    hit_filter: Option<&SeedHitFilter>,
    twins: Option<Twins>,
) -> Result<()> {
    let pattern = seed.pattern.as_str();
    if transitions.is_some_and(|count| count > 0) && !pattern.is_empty() && !pattern.contains('1') {
        bail!(
            "--transition can only be used with strict seeds (1s and 0s); every place of {pattern} allows one already"
        );
    }
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
    check_word_bits(pattern, word_bits as usize)
}

/// Bits beyond those of the table are taken from the rightmost 1s, which are then resolved later; not all seeds can.
fn check_word_bits(pattern: &str, word_bits: usize) -> Result<()> {
    let matches: Vec<usize> =
        pattern.bytes().rev().enumerate().filter(|(_, place)| *place == b'1').map(|(i, _)| i).collect();
    let seed_bits = 2 * matches.len() + pattern.matches('T').count();
    let surplus = seed_bits.saturating_sub(word_bits);
    if surplus == 0 {
        // LASTZ's tables of more than 2^28 words do not exist.
        if word_bits > 28 && seed_bits > 28 {
            bail!("the seed needs {seed_bits} bits and the target table takes 28: give --word=28 or less");
        }
        return Ok(());
    }
    if surplus > matches.len() {
        bail!("seed ({pattern}) requires more resolving bits ({surplus}) than it has matches ({})", matches.len());
    }
    if surplus > MOST_RESOLVING {
        bail!("seed ({pattern}) requires more resolving bits ({surplus}) than are allowed ({MOST_RESOLVING})");
    }
    if matches[surplus - 1] - matches[0] >= MOST_RESOLVING {
        bail!(
            "resolving bits in seed string {pattern} are spread too widely: give more bits to --word or use a shorter seed"
        );
    }
    Ok(())
}

/// The pattern with its surplus bits marked, as LASTZ shows it: the table takes `T` there, and `R` is resolved later.
///
/// ```text
/// 1110100110010101111 with 16 bits -> 1110100TT00T0T0TTTT/RR00R0R0RRRR
/// ```
pub(super) fn pattern_text(pattern: &str, word_bits: u32) -> String {
    let matches: Vec<usize> = pattern.bytes().enumerate().filter(|(_, place)| *place == b'1').map(|(i, _)| i).collect();
    let seed_bits = 2 * matches.len() + pattern.matches('T').count();
    let surplus = seed_bits.saturating_sub(word_bits as usize);
    let Some(resolved) = matches.len().checked_sub(surplus).map(|first| &matches[first..]).filter(|r| !r.is_empty())
    else {
        return pattern.to_string();
    };
    let is_resolved = |i: usize| resolved.contains(&i);
    let kept = pattern.char_indices().map(|(i, place)| if is_resolved(i) { 'T' } else { place });
    let rest = (resolved[0]..=resolved[resolved.len() - 1]).map(|i| if is_resolved(i) { 'R' } else { '0' });
    kept.chain(['/']).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seed: &str, word_bits: u32) -> Result<()> {
        check_seed(&seed.parse().unwrap(), None, word_bits, None, None)
    }

    #[test]
    fn surplus_bits_are_shown_as_lastz_shows_them() {
        let seed = "1110100110010101111";
        assert_eq!(pattern_text(seed, 16), "1110100TT00T0T0TTTT/RR00R0R0RRRR");
        assert_eq!(pattern_text(seed, 24), seed);
    }

    #[test]
    fn surplus_bits_must_be_few_and_close() {
        // Successes and failures of lastz.
        for (seed, bits) in
            [("12of19", 15), ("14of22", 18), ("match8", 8), ("1111111111111111111111", 28), ("half12", 28)]
        {
            assert!(check(seed, bits).is_ok(), "{seed} {bits}");
        }
        for (seed, bits, why) in [
            ("12of19", 14, "spread too widely"),
            ("14of22", 17, "spread too widely"),
            ("12of19", 8, "than it has matches (12)"),
            ("11111111111111111111111", 28, "than are allowed (16)"),
            ("half31", 28, "than it has matches (0)"),
            ("match15", 30, "takes 28"),
        ] {
            assert!(check(seed, bits).unwrap_err().to_string().contains(why), "{seed} {bits}");
        }
    }
}
