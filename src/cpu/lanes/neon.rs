//! Eight lanes: NEON, which every AArch64 processor has.

use std::arch::aarch64::*;

use super::*;

pub struct Neon;

impl Lanes for Neon {
    const LANES: usize = 8;
    type Scores = int16x8_t;
    type Mask = uint16x8_t;

    #[inline(always)]
    unsafe fn splat(value: i16) -> int16x8_t {
        unsafe { vdupq_n_s16(value) }
    }

    #[inline(always)]
    unsafe fn load(values: &[i16], at: usize) -> int16x8_t {
        unsafe { vld1q_s16(values.get_unchecked(at..at + Self::LANES).as_ptr()) }
    }

    #[inline(always)]
    unsafe fn store(values: &mut [i16], at: usize, scores: int16x8_t) {
        unsafe { vst1q_s16(values.get_unchecked_mut(at..at + Self::LANES).as_mut_ptr(), scores) }
    }

    #[inline(always)]
    unsafe fn add(a: int16x8_t, b: int16x8_t) -> int16x8_t {
        unsafe { vqaddq_s16(a, b) }
    }

    #[inline(always)]
    unsafe fn sub(a: int16x8_t, b: int16x8_t) -> int16x8_t {
        unsafe { vqsubq_s16(a, b) }
    }

    #[inline(always)]
    unsafe fn max(a: int16x8_t, b: int16x8_t) -> int16x8_t {
        unsafe { vmaxq_s16(a, b) }
    }

    #[inline(always)]
    unsafe fn greater(a: int16x8_t, b: int16x8_t) -> uint16x8_t {
        unsafe { vcgtq_s16(a, b) }
    }

    #[inline(always)]
    unsafe fn or(a: uint16x8_t, b: uint16x8_t) -> uint16x8_t {
        unsafe { vorrq_u16(a, b) }
    }

    #[inline(always)]
    unsafe fn and_not(a: uint16x8_t, b: uint16x8_t) -> uint16x8_t {
        unsafe { vbicq_u16(a, b) }
    }

    #[inline(always)]
    unsafe fn not(a: uint16x8_t) -> uint16x8_t {
        unsafe { vmvnq_u16(a) }
    }

    #[inline(always)]
    unsafe fn bits(mask: uint16x8_t) -> u32 {
        const POWERS: [u16; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
        unsafe { u32::from(vaddvq_u16(vandq_u16(mask, vld1q_u16(POWERS.as_ptr())))) }
    }

    #[inline(always)]
    unsafe fn from_lane(lane: usize) -> uint16x8_t {
        unsafe { vcgtq_s16(Self::ramp(1), vdupq_n_s16(lane as i16 - 1)) }
    }

    #[inline(always)]
    unsafe fn select(mask: uint16x8_t, on: int16x8_t, off: int16x8_t) -> int16x8_t {
        unsafe { vbslq_s16(mask, on, off) }
    }

    #[inline(always)]
    unsafe fn ramp(extend: i16) -> int16x8_t {
        unsafe { vmulq_n_s16(Self::load(&LANE_NUMBERS, 0), extend) }
    }

    #[inline(always)]
    unsafe fn prefix_max(z: int16x8_t) -> int16x8_t {
        unsafe {
            let dead = vdupq_n_s16(DEAD16);
            let z = vmaxq_s16(z, vextq_s16::<7>(dead, z));
            let z = vmaxq_s16(z, vextq_s16::<6>(dead, z));
            vmaxq_s16(z, vextq_s16::<4>(dead, z))
        }
    }

    #[inline(always)]
    unsafe fn shift_in_dead(scores: int16x8_t) -> int16x8_t {
        unsafe { vextq_s16::<7>(vdupq_n_s16(DEAD16), scores) }
    }

    #[inline(always)]
    unsafe fn broadcast_last(scores: int16x8_t) -> int16x8_t {
        unsafe { vdupq_laneq_s16::<7>(scores) }
    }
}
