//! Random inputs: related sequences with repeats, gaps, N runs and lower case.

/// A small generator with a fixed sequence per seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `low..=high`.
    pub fn range(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low + 1) as u64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.range(1, n) == 1
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.range(0, items.len() - 1)]
    }

    pub fn bases(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| *self.pick(b"ACGT")).collect()
    }

    /// A relative of `bases`: substitutions, short insertions and deletions.
    pub fn mutated(&mut self, bases: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for &base in bases {
            match self.range(0, 99) {
                0..5 => out.push(*self.pick(b"ACGT")),
                5 => out.extend_from_slice(&self.random_gap(base)),
                6 => {}
                _ => out.push(base),
            }
        }
        out
    }

    fn random_gap(&mut self, base: u8) -> Vec<u8> {
        let len = self.range(1, 7);
        let mut gap = vec![base];
        gap.extend(self.bases(len));
        gap
    }

    /// Puts `count` runs of soft-masked, N, X or (if `iupac`) ambiguous letters into `bases`.
    pub fn decorate(&mut self, bases: &mut [u8], iupac: bool) {
        for _ in 0..self.range(0, 3) {
            let start = self.range(0, bases.len() - 1);
            let end = (start + self.range(1, 30)).min(bases.len());
            match self.range(0, 5) {
                0..3 => bases[start..end].make_ascii_lowercase(),
                3 => bases[start..end.min(start + 6)].fill(*self.pick(b"NNn")),
                4 if iupac => bases[start] = *self.pick(b"RYKMBVDHSWry"),
                _ => bases[start..end.min(start + 2)].fill(*self.pick(b"XNx")),
            }
        }
    }
}
