//! Vectors of 16-bit scores, one backend per instruction set. Arithmetic saturates, so that [`DEAD16`] stays dead.
//!
//! All functions of a backend are inlined into the one function of `row_vector` that enables its instructions, and may
//! only be called there: that is the safety condition of every `unsafe fn` here.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
#[cfg(target_arch = "aarch64")]
pub mod neon;
#[cfg(test)]
mod tests;

use super::traceback::Links;

/// The value of a dead cell: below every threshold.
pub const DEAD16: i16 = i16::MIN;

/// The most lanes of any backend.
pub const MOST_LANES: usize = 32;

/// The number of each lane.
const LANE_NUMBERS: [i16; MOST_LANES] = {
    let mut lanes = [0; MOST_LANES];
    let mut lane = 0;
    while lane < MOST_LANES {
        lanes[lane] = lane as i16;
        lane += 1;
    }
    lanes
};

/// What [`Links`] are made of.
#[derive(Clone, Copy)]
pub struct LinkMasks<M> {
    pub is_gap: M,
    pub from_insertion: M,
    pub opens_insertion: M,
    pub opens_deletion: M,
}

/// `LANES` 16-bit scores and masks of as many lanes.
pub trait Lanes {
    const LANES: usize;
    type Scores: Copy;
    type Mask: Copy;

    unsafe fn splat(value: i16) -> Self::Scores;
    /// Reads `LANES` values from `at` on.
    unsafe fn load(values: &[i16], at: usize) -> Self::Scores;
    unsafe fn store(values: &mut [i16], at: usize, scores: Self::Scores);
    unsafe fn add(a: Self::Scores, b: Self::Scores) -> Self::Scores;
    unsafe fn sub(a: Self::Scores, b: Self::Scores) -> Self::Scores;
    unsafe fn max(a: Self::Scores, b: Self::Scores) -> Self::Scores;
    /// The lanes in which `a > b`.
    unsafe fn greater(a: Self::Scores, b: Self::Scores) -> Self::Mask;
    unsafe fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// The lanes of `a` that are not in `b`.
    unsafe fn and_not(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    unsafe fn not(a: Self::Mask) -> Self::Mask;
    /// Bit k: lane k.
    unsafe fn bits(mask: Self::Mask) -> u32;
    /// The lanes from `lane` on.
    unsafe fn from_lane(lane: usize) -> Self::Mask;
    /// `on` where the mask is set, `off` elsewhere.
    unsafe fn select(mask: Self::Mask, on: Self::Scores, off: Self::Scores) -> Self::Scores;

    /// `extend * lane`, for lanes counted from 0.
    unsafe fn ramp(extend: i16) -> Self::Scores;
    /// Lane k: the greatest of the lanes up to k.
    unsafe fn prefix_max(scores: Self::Scores) -> Self::Scores;
    /// Lane k: lane k - 1; lane 0 is dead.
    unsafe fn shift_in_dead(scores: Self::Scores) -> Self::Scores;
    /// Lane `LANES - 1` everywhere.
    unsafe fn broadcast_last(scores: Self::Scores) -> Self::Scores;

    /// The links of `LANES` columns.
    #[inline(always)]
    unsafe fn links(masks: LinkMasks<Self::Mask>) -> Links {
        unsafe {
            Links {
                is_gap: Self::bits(masks.is_gap),
                from_insertion: Self::bits(masks.from_insertion),
                opens_insertion: Self::bits(masks.opens_insertion),
                opens_deletion: Self::bits(masks.opens_deletion),
            }
        }
    }
}
