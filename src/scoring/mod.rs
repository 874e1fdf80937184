//! Substitution scores and gap costs (lastz-semantics 8).
//!
//! A gap of n bases costs `gap_open + n * gap_extend`; LASTZ charges open **and** extend on the first base.

mod classes;
pub mod number;
pub mod score_file;
pub mod setup;

pub use classes::ScoreClasses;

/// Score of a byte pair that the matrix does not name (N, digits).
pub const DEFAULT_FILL: i32 = -100;
/// Score of pairs with X, and, in the gap-free stage, with lower-case bases and N.
pub const DEFAULT_BAD: i32 = -1000;
/// Score of a pair with the separator between partitions.
pub const SEPARATOR_SCORE: i32 = -107_374_182;
/// The worst 32-bit score; a script of gaps only gets it (5.5).
pub const WORST_SCORE: i32 = i32::MIN;

/// Scores of all pairs of bytes: row = target byte, column = query byte.
#[derive(Clone, PartialEq, Eq)]
pub struct Matrix {
    table: Box<[[i32; 256]; 256]>,
}

impl Matrix {
    /// A matrix that gives every pair the score `fill`.
    pub fn filled(fill: i32) -> Self {
        let table = vec![[fill; 256]; 256].into_boxed_slice().try_into().expect("256 rows");
        Matrix { table }
    }

    /// Score of target byte against query byte.
    #[inline]
    pub fn get(&self, target: u8, query: u8) -> i32 {
        self.table[target as usize][query as usize]
    }

    /// Sets the score of one pair.
    pub fn set(&mut self, target: u8, query: u8, score: i32) {
        self.table[target as usize][query as usize] = score;
    }

    /// The scores of one target byte against all query bytes.
    #[inline]
    pub fn row(&self, target: u8) -> &[i32; 256] {
        &self.table[target as usize]
    }
}

impl std::fmt::Debug for Matrix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Matrix({:?})", b"ACGTN".map(|a| b"ACGTN".map(|b| self.get(a, b))))
    }
}

/// A score set: both matrices and the gap costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scoring {
    /// Letters of the rows, as headers list them.
    pub rows: Vec<u8>,
    /// Letters of the columns, as headers list them.
    pub columns: Vec<u8>,
    /// Scores of the gapped stage: case is ignored, N and odd bytes get the fill score, X the bad score.
    pub gapped: Matrix,
    /// Scores of the gap-free stage: lower case, N and X get the bad score.
    pub gap_free: Matrix,
    /// Cost of opening a gap; may be negative if `gap_open + gap_extend >= 0`.
    pub gap_open: i32,
    /// Cost of each base of a gap, the first included; not negative.
    pub gap_extend: i32,
}

/// HOXD70, rows and columns A C G T.
pub const HOXD70: [[i32; 4]; 4] =
    [[91, -114, -31, -123], [-114, 100, -125, -31], [-31, -125, 100, -114], [-123, -31, -114, 91]];

impl Default for Scoring {
    fn default() -> Self {
        Scoring::from_acgt(&HOXD70, DEFAULT_FILL, DEFAULT_BAD, 400, 30)
    }
}

impl Scoring {
    /// A score set over A, C, G and T; `fill` for bytes the matrix does not name, `bad` for X and soft-masked seeds.
    pub fn from_acgt(scores: &[[i32; 4]; 4], fill: i32, bad: i32, gap_open: i32, gap_extend: i32) -> Self {
        setup::ScoreTable::acgt(scores, fill, bad).build(gap_open, gap_extend)
    }

    /// Cost of a gap of `len` bases.
    pub fn gap_cost(&self, len: u32) -> i64 {
        i64::from(self.gap_open) + i64::from(len) * i64::from(self.gap_extend)
    }
}
