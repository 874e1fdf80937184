//! Bases as bit planes, 64 to a chunk, so that 64 pairs are compared with a few word operations.
//!
//! ```text
//!              A  G  C  T
//! class        0  0  1  1    purine or pyrimidine
//! transition   0  1  0  1    flips when a base becomes its transition
//! special      1 for anything but upper-case A, C, G, T (masked, N, X, separator, beyond the ends)
//! ```

use rayon::prelude::*;

/// Up to 64 bases; bit i is the i-th base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Planes {
    /// Which of the two bases of the class.
    pub transition: u64,
    /// Purine (0) or pyrimidine (1).
    pub class: u64,
    /// Not an upper-case A, C, G or T.
    pub special: u64,
}

const BEYOND: Planes = Planes { transition: 0, class: 0, special: !0 };
const PER_CHUNK: usize = 64;

/// A whole sequence array, with special bases before and after it.
#[derive(Clone, Debug)]
pub(crate) struct PackedBases {
    chunks: Vec<Planes>,
}

impl PackedBases {
    /// Packs an array of letters, on rayon's current pool.
    pub fn pack(bases: &[u8]) -> Self {
        let packed = bases.par_chunks(PER_CHUNK).with_min_len(1 << 12).map(pack_chunk);
        let mut chunks = vec![BEYOND; bases.len().div_ceil(PER_CHUNK) + 3];
        chunks[1..].par_iter_mut().zip(packed).for_each(|(chunk, planes)| *chunk = planes);
        PackedBases { chunks }
    }

    /// The 64 bases from `start` on.
    #[inline]
    pub fn at(&self, start: usize) -> Planes {
        self.window(start + PER_CHUNK)
    }

    /// The 64 bases before `end`; the last of them is bit 63.
    #[inline]
    pub fn before(&self, end: usize) -> Planes {
        self.window(end)
    }

    /// Reads something near a position, to bring it into the cache.
    #[inline]
    pub fn touch(&self, position: usize) -> u64 {
        let chunk = position / PER_CHUNK;
        self.chunks[chunk].transition ^ self.chunks[chunk + 2].special
    }

    #[inline]
    fn window(&self, start: usize) -> Planes {
        let chunk = start / PER_CHUNK;
        let shift = (start % PER_CHUNK) as u32;
        let pair = &self.chunks[chunk..chunk + 2];
        let join = |low: u64, high: u64| (low >> shift) | (high << 1 << (63 - shift));
        Planes {
            transition: join(pair[0].transition, pair[1].transition),
            class: join(pair[0].class, pair[1].class),
            special: join(pair[0].special, pair[1].special),
        }
    }
}

fn pack_chunk(letters: &[u8]) -> Planes {
    let mut planes = Planes { special: if letters.len() < PER_CHUNK { !0 << letters.len() } else { 0 }, ..BEYOND };
    for (i, &letter) in letters.iter().enumerate() {
        let code = CODES[letter as usize];
        planes.transition |= u64::from(code & 1) << i;
        planes.class |= u64::from(code >> 1 & 1) << i;
        planes.special |= u64::from(code >> 2) << i;
    }
    planes
}

/// Bit 0 transition, bit 1 class, bit 2 special.
const CODES: [u8; 256] = {
    let mut codes = [4; 256];
    codes[b'A' as usize] = 0;
    codes[b'G' as usize] = 1;
    codes[b'C' as usize] = 2;
    codes[b'T' as usize] = 3;
    codes
};

/// The letter that has these two bits, for score tables.
pub(crate) const fn letter(transition: bool, class: bool) -> u8 {
    b"AGCT"[transition as usize + 2 * class as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_agree_with_letters_at_every_offset() {
        let bases: Vec<u8> = (0..300u32).map(|i| b"ACGTNacgtX\0"[(i * i * 7 + i / 3) as usize % 11]).collect();
        let packed = PackedBases::pack(&bases);
        let expect = |position: isize| {
            let letter = usize::try_from(position).ok().and_then(|p| bases.get(p)).copied().unwrap_or(b'N');
            CODES[letter as usize]
        };
        for start in 0..=bases.len() {
            for (window, first) in [(packed.at(start), start as isize), (packed.before(start), start as isize - 64)] {
                for i in 0..64 {
                    let code = expect(first + i);
                    assert_eq!(window.special >> i & 1 == 1, code == 4, "special at {first}+{i}");
                    if code < 4 {
                        let found = (window.transition >> i & 1) | (window.class >> i & 1) << 1;
                        assert_eq!(found, u64::from(code), "base at {first}+{i}");
                    }
                }
            }
        }
    }
}
