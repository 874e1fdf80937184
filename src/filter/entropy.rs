//! The entropy factor (lastz-semantics 3.3): HSPs of few kinds of letters score less.

use crate::{Hsp, SequenceSet};

/// Fewest matches for which the factor is computed.
const MIN_MATCHES: u32 = 20;

/// The score of an HSP times the entropy of its matches, truncated.
///
/// The caller decides whether the factor applies: for scores from K to 3K with a fixed threshold
/// ([`HspAcceptance`](super::HspAcceptance) does that), by the rule of 3.6 with an adaptive one.
pub fn entropy_adjusted(target: &SequenceSet, query: &SequenceSet, hsp: &Hsp) -> i32 {
    let len = hsp.len as usize;
    let target = &target.bases[hsp.target_start as usize..][..len];
    let query = &query.bases[hsp.query_start as usize..][..len];
    // Adding 0.0 and multiplying in double, then cutting off, as LASTZ does.
    (f64::from(hsp.score) * entropy(target, query)) as i32
}

/// Entropy of the matching letters, in units of two bits; 1 if there are few.
fn entropy(target: &[u8], query: &[u8]) -> f64 {
    let mut counts = [0u32; 4];
    for (t, q) in target.iter().zip(query) {
        if t == q
            && let Some(base) = b"ACGT".iter().position(|letter| letter == t)
        {
            counts[base] += 1;
        }
    }
    if counts.iter().sum::<u32>() < MIN_MATCHES {
        return 1.0;
    }
    let mut sum = 0.0;
    for count in counts.into_iter().filter(|&count| count > 0) {
        let p = f64::from(count) / target.len() as f64;
        // Not f64::ln: its last bit may differ between platforms.
        sum += p * libm::log(p);
    }
    -sum / libm::log(4.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adjusted(target: &[u8], query: &[u8], score: i32) -> i32 {
        let hsp = Hsp { target_start: 0, query_start: 0, len: target.len() as u32, score };
        entropy_adjusted(&SequenceSet::single("t", target), &SequenceSet::single("q", query), &hsp)
    }

    #[test]
    fn few_matches_keep_their_score() {
        assert_eq!(adjusted(&[b'A'; 19], &[b'A'; 19], 1729), 1729);
        assert_eq!(adjusted(&[b'A'; 20], &[b'A'; 20], 1820), 0);
        assert_eq!(adjusted(&[b'a'; 40], &[b'a'; 40], 1820), 1820, "masked pairs are no matches");
    }

    #[test]
    fn an_even_mixture_keeps_its_score() {
        let text = b"ACGT".repeat(10);
        assert_eq!(adjusted(&text, &text, 3820), 3820);
        let two = b"AC".repeat(20);
        assert_eq!(adjusted(&two, &two, 3821), 1910);
    }

    #[test]
    fn mismatches_count_in_the_length_only() {
        let target = b"ACGT".repeat(10);
        let mut query = target.clone();
        query[..20].fill(b'N');
        // 4 * 5/40 * log4(8) = 0.75
        assert_eq!(adjusted(&target, &query, 1000), 750);
    }
}
