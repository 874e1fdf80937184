//! Each backend against the definition of its functions, lane by lane.

use super::*;

/// Random scores, some of them dead or near the ends.
fn scores(seed: &mut u64) -> [i16; MOST_LANES] {
    std::array::from_fn(|_| {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match *seed >> 61 {
            0 => DEAD16,
            1 => (*seed >> 33) as i16,
            _ => (*seed >> 33) as i16 >> 3,
        }
    })
}

/// # Safety
/// The processor has the instructions of `L`.
unsafe fn check<L: Lanes>() {
    let lanes = L::LANES;
    let stored = |scores| {
        let mut values = [0; MOST_LANES];
        unsafe { L::store(&mut values, 0, scores) };
        values[..lanes].to_vec()
    };
    let by_lane = |value: &dyn Fn(usize) -> i16| (0..lanes).map(value).collect::<Vec<_>>();
    let mut seed = 7;
    for extend in [0, 1, 30, 1000] {
        for _ in 0..200 {
            let (a, b) = (scores(&mut seed), scores(&mut seed));
            unsafe {
                let (va, vb) = (L::load(&a, 0), L::load(&b, 0));
                assert_eq!(stored(L::add(va, vb)), by_lane(&|k| a[k].saturating_add(b[k])));
                assert_eq!(stored(L::sub(va, vb)), by_lane(&|k| a[k].saturating_sub(b[k])));
                assert_eq!(stored(L::max(va, vb)), by_lane(&|k| a[k].max(b[k])));
                assert_eq!(stored(L::splat(a[0])), by_lane(&|_| a[0]));
                assert_eq!(stored(L::ramp(extend)), by_lane(&|k| extend * k as i16));
                assert_eq!(stored(L::shift_in_dead(va)), by_lane(&|k| if k == 0 { DEAD16 } else { a[k - 1] }));
                assert_eq!(stored(L::broadcast_last(va)), by_lane(&|_| a[lanes - 1]));
                let greatest = |k: usize| *a[..=k].iter().max().expect("lane k");
                assert_eq!(stored(L::prefix_max(va)), by_lane(&greatest));

                let greater = L::greater(va, vb);
                assert_eq!(stored(L::select(greater, va, vb)), by_lane(&|k| a[k].max(b[k])));
                let bits = |is_set: &dyn Fn(usize) -> bool| (0..lanes).map(|k| u32::from(is_set(k)) << k).sum::<u32>();
                let is_greater = |k: usize| a[k] > b[k];
                assert_eq!(L::bits(greater), bits(&is_greater));
                assert_eq!(L::bits(L::not(greater)), bits(&|k| !is_greater(k)));
                for lane in 0..=lanes {
                    let from = L::from_lane(lane);
                    assert_eq!(L::bits(from), bits(&|k| k >= lane));
                    assert_eq!(L::bits(L::or(greater, from)), bits(&|k| is_greater(k) || k >= lane));
                    assert_eq!(L::bits(L::and_not(greater, from)), bits(&|k| is_greater(k) && k < lane));
                }

                let masks = LinkMasks {
                    is_gap: greater,
                    from_insertion: L::greater(vb, va),
                    opens_insertion: L::from_lane(3),
                    opens_deletion: L::not(L::from_lane(5)),
                };
                let links = Links {
                    is_gap: bits(&is_greater),
                    from_insertion: bits(&|k| b[k] > a[k]),
                    opens_insertion: bits(&|k| k >= 3),
                    opens_deletion: bits(&|k| k < 5),
                };
                assert_eq!(L::links(masks), links);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2_does_what_its_functions_say() {
    if !is_x86_feature_detected!("avx2") {
        return eprintln!("SKIPPED: this processor has no AVX2");
    }
    // SAFETY: it has AVX2.
    unsafe { check::<avx2::Avx2>() }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx512_does_what_its_functions_say() {
    if !(is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl")) {
        return eprintln!("SKIPPED: this processor has no AVX-512");
    }
    // SAFETY: it has AVX-512 BW and VL.
    unsafe { check::<avx512::Avx512<false>>() }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx512_with_vbmi_does_what_its_functions_say() {
    let has_avx512 = is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl");
    if !has_avx512 || !is_x86_feature_detected!("avx512vbmi") {
        return eprintln!("SKIPPED: this processor has no AVX-512 with VBMI");
    }
    // SAFETY: it has AVX-512 BW, VL and VBMI.
    unsafe { check::<avx512::Avx512<true>>() }
}

#[cfg(target_arch = "aarch64")]
#[test]
fn neon_does_what_its_functions_say() {
    // SAFETY: every AArch64 processor has NEON.
    unsafe { check::<neon::Neon>() }
}
