//! SplitMix64: small, seeded, the same on every machine (so logarithms come from `libm`, not from the system).

/// A seeded stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Random { state: seed }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..end`; `end` must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + (self.bits() % (high - low + 1) as u64) as i64
    }

    /// A real number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with this probability.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// True in this many of 100 calls.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent as usize
    }

    /// One of the items.
    pub fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    /// Brings the items into any order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }

    /// One upper-case base.
    pub fn base(&mut self) -> u8 {
        b"ACGT"[self.below(4)]
    }

    /// `len` upper-case bases, all equally likely.
    pub fn bases(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.base()).collect()
    }

    /// A geometric number of at least 1 with this mean.
    pub fn geometric(&mut self, mean: f64) -> usize {
        let log_stay = libm::log(1.0 - 1.0 / mean.max(1.000_001));
        1 + (libm::log(1.0 - self.unit()) / log_stay) as usize
    }

    /// A number whose logarithm is normal: `median` and the spread of the logarithm.
    pub fn log_normal(&mut self, median: f64, spread: f64) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        median * libm::exp(spread * radius * libm::cos(std::f64::consts::TAU * self.unit()))
    }
}
