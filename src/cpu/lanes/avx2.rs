//! Sixteen lanes: AVX2. A mask is a vector of whole lanes.

use std::arch::x86_64::*;

use super::*;

pub struct Avx2;

/// Moves every lane up by one half; the lower half is dead.
#[inline(always)]
unsafe fn lower_half_up(scores: __m256i) -> __m256i {
    unsafe { _mm256_permute2x128_si256::<0x02>(scores, _mm256_set1_epi16(DEAD16)) }
}

/// The bits of two masks.
#[inline(always)]
unsafe fn both_bits(a: __m256i, b: __m256i) -> (u32, u32) {
    unsafe {
        let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(a, b));
        let bits = _mm256_movemask_epi8(packed) as u32;
        (bits & 0xffff, bits >> 16)
    }
}

impl Lanes for Avx2 {
    const LANES: usize = 16;
    type Scores = __m256i;
    type Mask = __m256i;

    #[inline(always)]
    unsafe fn splat(value: i16) -> __m256i {
        unsafe { _mm256_set1_epi16(value) }
    }

    #[inline(always)]
    unsafe fn load(values: &[i16], at: usize) -> __m256i {
        unsafe { _mm256_loadu_si256(values.get_unchecked(at..at + Self::LANES).as_ptr().cast()) }
    }

    #[inline(always)]
    unsafe fn store(values: &mut [i16], at: usize, scores: __m256i) {
        unsafe { _mm256_storeu_si256(values.get_unchecked_mut(at..at + Self::LANES).as_mut_ptr().cast(), scores) }
    }

    #[inline(always)]
    unsafe fn add(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_adds_epi16(a, b) }
    }

    #[inline(always)]
    unsafe fn sub(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_subs_epi16(a, b) }
    }

    #[inline(always)]
    unsafe fn max(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_max_epi16(a, b) }
    }

    #[inline(always)]
    unsafe fn greater(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_cmpgt_epi16(a, b) }
    }

    #[inline(always)]
    unsafe fn or(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_or_si256(a, b) }
    }

    #[inline(always)]
    unsafe fn and_not(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_andnot_si256(b, a) }
    }

    #[inline(always)]
    unsafe fn not(a: __m256i) -> __m256i {
        unsafe { _mm256_xor_si256(a, _mm256_set1_epi16(-1)) }
    }

    #[inline(always)]
    unsafe fn bits(mask: __m256i) -> u32 {
        unsafe {
            let packed = _mm256_permute4x64_epi64::<0b1000>(_mm256_packs_epi16(mask, mask));
            _mm_movemask_epi8(_mm256_castsi256_si128(packed)) as u32
        }
    }

    #[inline(always)]
    unsafe fn from_lane(lane: usize) -> __m256i {
        unsafe { _mm256_cmpgt_epi16(Self::ramp(1), _mm256_set1_epi16(lane as i16 - 1)) }
    }

    #[inline(always)]
    unsafe fn select(mask: __m256i, on: __m256i, off: __m256i) -> __m256i {
        unsafe { _mm256_blendv_epi8(off, on, mask) }
    }

    #[inline(always)]
    unsafe fn ramp(extend: i16) -> __m256i {
        unsafe { _mm256_mullo_epi16(Self::load(&LANE_NUMBERS, 0), _mm256_set1_epi16(extend)) }
    }

    #[inline(always)]
    unsafe fn prefix_max(z: __m256i) -> __m256i {
        unsafe {
            let dead = _mm256_set1_epi16(DEAD16);
            let z = _mm256_max_epi16(z, _mm256_alignr_epi8::<14>(z, dead));
            let z = _mm256_max_epi16(z, _mm256_alignr_epi8::<12>(z, dead));
            let z = _mm256_max_epi16(z, _mm256_alignr_epi8::<8>(z, dead));
            _mm256_max_epi16(z, _mm256_shuffle_epi8(lower_half_up(z), _mm256_set1_epi16(0x0f0e)))
        }
    }

    #[inline(always)]
    unsafe fn shift_in_dead(scores: __m256i) -> __m256i {
        unsafe { _mm256_alignr_epi8::<14>(scores, lower_half_up(scores)) }
    }

    #[inline(always)]
    unsafe fn broadcast_last(scores: __m256i) -> __m256i {
        unsafe { _mm256_shuffle_epi8(_mm256_permute4x64_epi64::<0xff>(scores), _mm256_set1_epi16(0x0706)) }
    }

    #[inline(always)]
    unsafe fn links(masks: LinkMasks<__m256i>) -> Links {
        unsafe {
            let (is_gap, from_insertion) = both_bits(masks.is_gap, masks.from_insertion);
            let (opens_insertion, opens_deletion) = both_bits(masks.opens_insertion, masks.opens_deletion);
            Links { is_gap, from_insertion, opens_insertion, opens_deletion }
        }
    }
}
