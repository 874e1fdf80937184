//! Thirty-two lanes: AVX-512 (BW and VL).

use std::arch::x86_64::*;

use super::*;

pub struct Avx512;

/// One, two and four times E; E times the distance to the last lane of the quarter below, and of the one below that.
type Costs = [__m512i; 5];

/// Moves every lane up by one quarter; the lowest quarter is dead.
#[inline(always)]
unsafe fn quarter_up(scores: __m512i) -> __m512i {
    unsafe { _mm512_alignr_epi64::<6>(scores, _mm512_set1_epi16(DEAD16)) }
}

/// The last lane of each quarter, everywhere in it.
#[inline(always)]
unsafe fn last_of_quarter(scores: __m512i) -> __m512i {
    unsafe { _mm512_shuffle_epi8(scores, _mm512_set1_epi16(0x0f0e)) }
}

/// The bit in each lane of the mask.
#[inline(always)]
unsafe fn bit(mask: __mmask32, bit: u8) -> __m256i {
    unsafe { _mm256_maskz_set1_epi8(mask, bit as i8) }
}

impl Lanes for Avx512 {
    const LANES: usize = 32;
    type Scores = __m512i;
    type Mask = __mmask32;
    type Costs = Costs;

    #[inline(always)]
    unsafe fn splat(value: i16) -> __m512i {
        unsafe { _mm512_set1_epi16(value) }
    }

    #[inline(always)]
    unsafe fn load(values: &[i16], at: usize) -> __m512i {
        unsafe { _mm512_loadu_si512(values[at..at + Self::LANES].as_ptr().cast()) }
    }

    #[inline(always)]
    unsafe fn store(values: &mut [i16], at: usize, scores: __m512i) {
        unsafe { _mm512_storeu_si512(values[at..at + Self::LANES].as_mut_ptr().cast(), scores) }
    }

    #[inline(always)]
    unsafe fn add(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_adds_epi16(a, b) }
    }

    #[inline(always)]
    unsafe fn sub(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_subs_epi16(a, b) }
    }

    #[inline(always)]
    unsafe fn max(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_max_epi16(a, b) }
    }

    #[inline(always)]
    unsafe fn greater(a: __m512i, b: __m512i) -> __mmask32 {
        unsafe { _mm512_cmpgt_epi16_mask(a, b) }
    }

    #[inline(always)]
    unsafe fn or(a: __mmask32, b: __mmask32) -> __mmask32 {
        a | b
    }

    #[inline(always)]
    unsafe fn and(a: __mmask32, b: __mmask32) -> __mmask32 {
        a & b
    }

    #[inline(always)]
    unsafe fn not(a: __mmask32) -> __mmask32 {
        !a
    }

    #[inline(always)]
    unsafe fn bits(mask: __mmask32) -> u32 {
        mask
    }

    #[inline(always)]
    unsafe fn from_lane(lane: usize) -> __mmask32 {
        u32::MAX.checked_shl(lane as u32).unwrap_or(0)
    }

    #[inline(always)]
    unsafe fn select(mask: __mmask32, on: __m512i, off: __m512i) -> __m512i {
        unsafe { _mm512_mask_blend_epi16(mask, off, on) }
    }

    #[inline(always)]
    unsafe fn ramp(extend: i16) -> __m512i {
        unsafe { _mm512_mullo_epi16(Self::load(&LANE_NUMBERS, 0), _mm512_set1_epi16(extend)) }
    }

    #[inline(always)]
    unsafe fn costs(extend: i16) -> Costs {
        unsafe {
            let one = _mm512_set1_epi16(extend);
            let to_lower = _mm512_mullo_epi16(Self::load(&const { counting(1, 8) }, 0), one);
            let to_second = _mm512_mullo_epi16(Self::load(&const { counting(9, 8) }, 0), one);
            [one, _mm512_slli_epi16::<1>(one), _mm512_slli_epi16::<2>(one), to_lower, to_second]
        }
    }

    #[inline(always)]
    unsafe fn prefix_max(z: __m512i, costs: Costs) -> __m512i {
        unsafe {
            let dead = _mm512_set1_epi16(DEAD16);
            let z = _mm512_max_epi16(z, _mm512_subs_epi16(_mm512_alignr_epi8::<14>(z, dead), costs[0]));
            let z = _mm512_max_epi16(z, _mm512_subs_epi16(_mm512_alignr_epi8::<12>(z, dead), costs[1]));
            let z = _mm512_max_epi16(z, _mm512_subs_epi16(_mm512_alignr_epi8::<8>(z, dead), costs[2]));
            let z = _mm512_max_epi16(z, _mm512_subs_epi16(last_of_quarter(quarter_up(z)), costs[3]));
            let two_up = _mm512_alignr_epi64::<4>(z, dead);
            _mm512_max_epi16(z, _mm512_subs_epi16(last_of_quarter(two_up), costs[4]))
        }
    }

    #[inline(always)]
    unsafe fn shift_in_dead(scores: __m512i) -> __m512i {
        unsafe { _mm512_alignr_epi8::<14>(scores, quarter_up(scores)) }
    }

    #[inline(always)]
    unsafe fn broadcast_last(scores: __m512i) -> __m512i {
        unsafe { last_of_quarter(_mm512_shuffle_i64x2::<0xff>(scores, scores)) }
    }

    #[inline(always)]
    unsafe fn store_links(links: &mut [u8], at: usize, masks: LinkMasks<__mmask32>) {
        unsafe {
            let source =
                _mm256_or_si256(bit(masks.from_insertion, FROM_INSERTION), bit(masks.from_deletion, FROM_DELETION));
            let extends = _mm256_or_si256(
                bit(masks.insertion_extends, INSERTION_EXTENDS),
                bit(masks.deletion_extends, DELETION_EXTENDS),
            );
            let bytes = &mut links[at..at + Self::LANES];
            _mm256_storeu_si256(bytes.as_mut_ptr().cast(), _mm256_or_si256(source, extends));
        }
    }
}
