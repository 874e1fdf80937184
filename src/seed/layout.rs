//! How a seed window becomes an index: which bits of the two planes go where.
//!
//! ```text
//! index = class bits of all places that care | transition bits of the indexed '1' places, leftmost lowest
//! ```
//! With the transition bits lowest, a word and all words one transition away share the upper bits, hence a stretch of
//! the table: the lookups of one query position stay within a few cache lines.

use super::packed::Planes;
use super::pattern::{Care, SeedPattern};
use crate::{Error, Result};

/// Most index bits that LASTZ accepts for `--word`.
const MAX_INDEX_BITS: u32 = 31;
/// Most `1` places that are indexed by class only.
const MAX_RESOLVED: usize = 16;

/// A run of neighbouring places that care.
#[derive(Clone, Copy, Debug)]
struct Group {
    shift: u32,
    mask: u64,
    to: u32,
}

/// A seed pattern, compiled.
#[derive(Clone, Debug)]
pub(crate) struct WordLayout {
    /// Window length.
    pub len: usize,
    /// All places of the window.
    pub window_mask: u64,
    /// Places that care.
    pub care_mask: u64,
    /// `1` places that the index knows by class only; their transition bit is compared afterwards.
    pub resolve_mask: u64,
    /// Bits of an index.
    pub index_bits: u32,
    /// How many of them are transition bits.
    pub transition_bits: u32,
    class_groups: Vec<Group>,
    transition_groups: Vec<Group>,
}

impl WordLayout {
    /// Compiles a pattern for at most `word_bits` index bits (2.1).
    pub fn new(pattern: &SeedPattern, word_bits: u32) -> Result<WordLayout> {
        if word_bits > MAX_INDEX_BITS {
            return Err(Error::options(format!("max index bits cannot exceed {MAX_INDEX_BITS} (it's {word_bits}).")));
        }
        let places = |wanted: fn(Care) -> bool| {
            let bits = pattern.places().iter().enumerate().filter(|(_, care)| wanted(**care));
            bits.fold(0u64, |mask, (i, _)| mask | 1 << i)
        };
        let care_mask = places(|care| care != Care::Free);
        let mut transition_mask = places(|care| care == Care::Match);
        let ones = transition_mask.count_ones();
        let surplus = (care_mask.count_ones() + ones).saturating_sub(word_bits);
        if surplus > ones {
            return Err(Error::options(format!(
                "seed ({pattern}) requires more resolving bits ({surplus}) than it has matches ({ones})."
            )));
        }
        if surplus as usize > MAX_RESOLVED {
            return Err(Error::options(format!(
                "seed ({pattern}) requires more resolving bits ({surplus}) than are allowed ({MAX_RESOLVED})."
            )));
        }
        let mut resolve_mask = 0;
        for _ in 0..surplus {
            let rightmost = 1 << (63 - transition_mask.leading_zeros());
            resolve_mask |= rightmost;
            transition_mask &= !rightmost;
        }
        let transition_bits = transition_mask.count_ones();
        Ok(WordLayout {
            len: pattern.len(),
            window_mask: !0 >> (64 - pattern.len()),
            care_mask,
            resolve_mask,
            index_bits: transition_bits + care_mask.count_ones(),
            transition_bits,
            class_groups: groups(care_mask, transition_bits),
            transition_groups: groups(transition_mask, 0),
        })
    }

    /// The index of a window that starts at bit 0, or `None` if it holds a special base, even at a free place (2.2).
    #[inline]
    pub fn word(&self, window: &Planes) -> Option<u32> {
        if window.special & self.window_mask != 0 {
            return None;
        }
        let gather = |word, groups: &[Group], plane: u64| {
            groups.iter().fold(word, |word, group| word | ((plane >> group.shift) & group.mask) << group.to)
        };
        let transitions = gather(0, &self.transition_groups, window.transition);
        Some(gather(transitions, &self.class_groups, window.class) as u32)
    }

    /// How the planes go into an index: shift, mask, target bit and plane (0 transition, 1 class) of each group.
    pub fn groups(&self) -> Vec<(u32, u64, u32, u32)> {
        let planes = [(&self.transition_groups, 0), (&self.class_groups, 1)];
        let groups = planes.into_iter().flat_map(|(groups, plane)| groups.iter().map(move |group| (group, plane)));
        groups.map(|(group, plane)| (group.shift, group.mask, group.to, plane)).collect()
    }

    /// What to flip in a query word, in the order of lookups: nothing, each transition from the right end to the
    /// left, and with two allowed each one followed by the pairs it forms with places to its left (2.3).
    pub fn flips(&self, transitions: u8) -> Vec<u32> {
        let mut flips = vec![0];
        for first in (0..self.transition_bits).rev().filter(|_| transitions > 0) {
            flips.push(1 << first);
            if transitions > 1 {
                flips.extend((0..first).rev().map(|second| 1 << first | 1 << second));
            }
        }
        flips
    }

    /// Seed hits of a query base among the windows of a target, if all words were equally likely.
    pub(crate) fn likely_hits(&self, n_windows: f64, transitions: u8) -> f64 {
        n_windows * self.flips(transitions).len() as f64 / 2f64.powi(self.index_bits as i32)
    }
}

/// The runs of set bits in `mask`, packed together from bit `to` on.
fn groups(mask: u64, to: u32) -> Vec<Group> {
    let mut groups = Vec::new();
    let (mut rest, mut to) = (mask, to);
    while rest != 0 {
        let shift = rest.trailing_zeros();
        let len = (rest >> shift).trailing_ones();
        let mask = !0 >> (64 - len);
        groups.push(Group { shift, mask, to });
        rest &= !(mask << shift);
        to += len;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::packed::PackedBases;

    fn word(layout: &WordLayout, text: &[u8]) -> Option<u32> {
        layout.word(&PackedBases::pack(text).at(0))
    }

    #[test]
    fn words_differ_exactly_where_the_pattern_cares() {
        let layout = WordLayout::new(&SeedPattern::parse("1T01").unwrap(), 28).unwrap();
        assert_eq!(layout.index_bits, 5);
        let base = word(&layout, b"ACGT");
        assert!(base.is_some());
        assert_eq!(word(&layout, b"ATAT"), base, "a transition at T and anything at 0");
        for other in [b"GCGT", b"AAGT", b"ACGC"] {
            assert_ne!(word(&layout, other), base, "{}", String::from_utf8_lossy(other));
        }
        assert_eq!(word(&layout, b"ACNT"), None, "N at a free place");
        assert_eq!(word(&layout, b"ACg"), None);
    }

    #[test]
    fn flips_go_from_the_right_end_to_the_left() {
        let layout = WordLayout::new(&SeedPattern::parse("1101").unwrap(), 28).unwrap();
        assert_eq!(layout.flips(0), [0]);
        assert_eq!(layout.flips(1), [0, 4, 2, 1]);
        assert_eq!(layout.flips(2), [0, 4, 6, 5, 2, 3, 1]);
    }

    #[test]
    fn surplus_bits_are_resolved_from_the_right_end() {
        let layout = WordLayout::new(&SeedPattern::contiguous(15).unwrap(), 28).unwrap();
        assert_eq!((layout.index_bits, layout.transition_bits), (28, 13));
        assert_eq!(layout.resolve_mask, 0b11 << 13);
        assert!(WordLayout::new(&SeedPattern::half_weight(29).unwrap(), 28).is_err());
    }
}
