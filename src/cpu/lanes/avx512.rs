//! Thirty-two lanes: AVX-512 (BW and VL), and with VBMI, whose byte permutation takes the place of several shuffles.

use std::arch::x86_64::*;

use super::*;

pub struct Avx512<const HAS_VBMI: bool>;

/// Byte numbers that move lanes: lane k is lane `lanes[k]`.
const fn bytes_of(lanes: [u8; 32]) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut byte = 0;
    while byte < 64 {
        bytes[byte] = 2 * lanes[byte / 2] + byte as u8 % 2;
        byte += 1;
    }
    bytes
}

/// For each lane the last one of the quarter below, or itself; the last one of the lower half, or itself; the last one.
const MOVES: [[u8; 64]; 3] = {
    let mut lanes = [[0; 32], [15; 32], [31; 32]];
    let mut lane = 0u8;
    while lane < 32 {
        lanes[0][lane as usize] = if lane < 8 { lane } else { (lane & !7) - 1 };
        if lane < 16 {
            lanes[1][lane as usize] = lane;
        }
        lane += 1;
    }
    [bytes_of(lanes[0]), bytes_of(lanes[1]), bytes_of(lanes[2])]
};

/// Moves lanes. Needs VBMI.
#[inline(always)]
unsafe fn moved<const MOVE: usize>(scores: __m512i) -> __m512i {
    unsafe { _mm512_permutexvar_epi8(_mm512_loadu_si512(const { &MOVES[MOVE] }.as_ptr().cast()), scores) }
}

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

impl<const HAS_VBMI: bool> Lanes for Avx512<HAS_VBMI> {
    const LANES: usize = 32;
    type Scores = __m512i;
    type Mask = __mmask32;

    #[inline(always)]
    unsafe fn splat(value: i16) -> __m512i {
        unsafe { _mm512_set1_epi16(value) }
    }

    #[inline(always)]
    unsafe fn load(values: &[i16], at: usize) -> __m512i {
        unsafe { _mm512_loadu_si512(values.get_unchecked(at..at + Self::LANES).as_ptr().cast()) }
    }

    #[inline(always)]
    unsafe fn store(values: &mut [i16], at: usize, scores: __m512i) {
        unsafe { _mm512_storeu_si512(values.get_unchecked_mut(at..at + Self::LANES).as_mut_ptr().cast(), scores) }
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
    unsafe fn and_not(a: __mmask32, b: __mmask32) -> __mmask32 {
        a & !b
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
    unsafe fn prefix_max(z: __m512i) -> __m512i {
        unsafe {
            let dead = _mm512_set1_epi16(DEAD16);
            let z = _mm512_max_epi16(z, _mm512_alignr_epi8::<14>(z, dead));
            let z = _mm512_max_epi16(z, _mm512_alignr_epi8::<12>(z, dead));
            let z = _mm512_max_epi16(z, _mm512_alignr_epi8::<8>(z, dead));
            if HAS_VBMI {
                let z = _mm512_max_epi16(z, moved::<0>(z));
                return _mm512_max_epi16(z, moved::<1>(z));
            }
            let z = _mm512_max_epi16(z, last_of_quarter(quarter_up(z)));
            _mm512_max_epi16(z, last_of_quarter(_mm512_alignr_epi64::<4>(z, dead)))
        }
    }

    #[inline(always)]
    unsafe fn shift_in_dead(scores: __m512i) -> __m512i {
        unsafe { _mm512_alignr_epi8::<14>(scores, quarter_up(scores)) }
    }

    #[inline(always)]
    unsafe fn broadcast_last(scores: __m512i) -> __m512i {
        unsafe {
            if HAS_VBMI {
                return moved::<2>(scores);
            }
            last_of_quarter(_mm512_shuffle_i64x2::<0xff>(scores, scores))
        }
    }
}
