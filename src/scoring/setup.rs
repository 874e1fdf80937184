//! Both score matrices and the defaults that depend on them, from what the user chose (lastz-semantics 8).
//!
//! ```text
//! HOXD70 | score file | --match=R,P      the base set
//!   + XY:score                           single pairs; N forgotten; then fill = lowest score, bad = 10 * fill
//!   -> gapped matrix                     case folded
//!   -> gap-free matrix                   lower case, N and X get the bad score
//!   + --ambiguous=n|iupac                N or the IUPAC codes, in both matrices
//! ```

use super::score_file::ScoreFile;
use super::{DEFAULT_BAD, DEFAULT_FILL, HOXD70, Matrix, SEPARATOR_SCORE, Scoring};
use crate::error::{Error, Result};

/// Letters that `--ambiguous=iupac` treats as ambiguous; `--ambiguous=n` takes the first only.
const AMBIGUOUS_LETTERS: [u8; 11] = *b"NBDHKMRSVWY";

/// Where the substitution scores come from.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum BaseScores {
    /// LASTZ's default.
    #[default]
    Hoxd70,
    /// `--match=R,P`: +R for a match, -P for a mismatch; both positive.
    Match {
        /// R.
        reward: i32,
        /// P.
        penalty: i32,
    },
    /// `--scores=<file>`.
    File(ScoreFile),
}

/// Score of one pair of bases, given as `XY:score`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairScore {
    /// Target base, A, C, G or T.
    pub target: u8,
    /// Query base.
    pub query: u8,
    /// Its score.
    pub score: i32,
}

/// `--ambiguous=n` or `=iupac`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Ambiguity {
    /// The IUPAC codes are admitted and ambiguous too, not only N.
    pub iupac: bool,
    /// Score of an ambiguous letter against itself.
    pub reward: i32,
    /// Subtracted for an ambiguous letter against another one or against a base.
    pub penalty: i32,
}

/// Everything that decides the score set.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ScoringSetup {
    /// Substitution scores.
    pub base: BaseScores,
    /// Single pairs that differ from it, in the order given.
    pub pairs: Vec<PairScore>,
    /// Treatment of N and the IUPAC codes.
    pub ambiguity: Option<Ambiguity>,
    /// `--gap=O,..`; overrides the score file.
    pub gap_open: Option<i32>,
    /// `--gap=..,E`; overrides the score file.
    pub gap_extend: Option<i32>,
}

impl ScoringSetup {
    /// The score set; refuses gap costs that would make a gap profitable.
    pub fn build(&self) -> Result<Scoring> {
        let mut table = match &self.base {
            BaseScores::Hoxd70 => ScoreTable::acgt(&HOXD70, DEFAULT_FILL, DEFAULT_BAD),
            BaseScores::Match { reward, penalty } => match_table(*reward, *penalty)?,
            BaseScores::File(file) => ScoreTable::from(file),
        };
        if !self.pairs.is_empty() {
            table = table.of_bases();
            for pair in &self.pairs {
                table.set(*pair)?;
            }
            table.derive_fill_and_bad();
        }
        let (open, extend) = self.gap_costs()?;
        let mut scoring = table.build(open, extend);
        if let Some(ambiguity) = self.ambiguity {
            for matrix in [&mut scoring.gapped, &mut scoring.gap_free] {
                ambiguity.apply(matrix);
            }
            ambiguity.spoil_lower_case(&mut scoring.gapped, &table);
        }
        Ok(scoring)
    }

    /// X if the user gives none: 10 * sqrt(P) with `--match`, else ten times the first score of the matrix.
    pub fn default_x_drop(&self, scoring: &Scoring) -> i32 {
        match &self.base {
            BaseScores::Match { penalty, .. } => (10.0 * f64::from(*penalty).sqrt()).ceil() as i32,
            _ => scoring.gapped.get(scoring.rows[0], scoring.columns[0]).saturating_mul(10),
        }
    }

    /// Y if the user gives none: 2X with `--match`, else the cost of a gap of 300 bases.
    pub fn default_y_drop(&self, scoring: &Scoring, x_drop: i32) -> i32 {
        match &self.base {
            BaseScores::Match { .. } => x_drop.saturating_mul(2),
            _ => scoring.gap_cost(300).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32,
        }
    }

    /// K if the user gives none: 30R with `--match`, else 3000.
    pub fn default_hsp_threshold(&self) -> i32 {
        match &self.base {
            BaseScores::Match { reward, .. } => reward.saturating_mul(30),
            _ => 3000,
        }
    }

    /// Gap costs: the command line, else the score file, else 3.25 P and 0.24375 P with `--match`, else 400 and 30.
    fn gap_costs(&self) -> Result<(i32, i32)> {
        let (default_open, default_extend) = match &self.base {
            BaseScores::Hoxd70 => (400, 30),
            BaseScores::Match { penalty, .. } => {
                let penalty = f64::from(*penalty);
                ((3.25 * penalty).ceil() as i32, (0.24375 * penalty).ceil() as i32)
            }
            BaseScores::File(file) => (file.gap_open, file.gap_extend),
        };
        let open = self.gap_open.unwrap_or(default_open);
        let extend = self.gap_extend.unwrap_or(default_extend);
        if extend < 0 {
            return Err(Error::options(format!(
                "{extend} is not a valid gap extension penalty: it may not be negative"
            )));
        }
        // With a score file LASTZ wants a sum above zero; without one zero will do. It does not look at O when only E
        // is given beside a file.
        let sum = i64::from(open) + i64::from(extend);
        let is_bad = match &self.base {
            BaseScores::File(_) => self.gap_open.is_some() && sum <= 0,
            _ => sum < 0,
        };
        if is_bad {
            return Err(Error::options(format!(
                "{open} is not a valid gap open penalty with extension penalty {extend}: their sum must be positive"
            )));
        }
        Ok((open, extend))
    }
}

impl Ambiguity {
    fn apply(&self, matrix: &mut Matrix) {
        let letters = if self.iupac { &AMBIGUOUS_LETTERS[..] } else { &AMBIGUOUS_LETTERS[..1] };
        for &letter in letters {
            for &other in letters.iter().chain(b"ACGT") {
                let score = if letter == other { self.reward } else { -self.penalty };
                for (a, b) in case_pairs(letter, other) {
                    matrix.set(a, b, score);
                    matrix.set(b, a, score);
                }
            }
        }
    }

    /// In the gapped matrix LASTZ gives no reward to the lower-case n of a side on which the score file names N.
    fn spoil_lower_case(&self, gapped: &mut Matrix, table: &ScoreTable) {
        for n in *b"Nn" {
            if table.rows.contains(&b'N') {
                gapped.set(b'n', n, -self.penalty);
            }
            if table.columns.contains(&b'N') {
                gapped.set(n, b'n', -self.penalty);
            }
        }
    }
}

/// A score set before it becomes two matrices.
pub(crate) struct ScoreTable {
    rows: Vec<u8>,
    columns: Vec<u8>,
    /// `scores[row][column]`.
    scores: Vec<Vec<i32>>,
    fill: i32,
    bad: i32,
    bad_row: u8,
    bad_column: u8,
    /// `x` is as bad as `X`. Not so with a score file, where `x` is as any letter that the matrix does not name.
    folds_bad_letter: bool,
}

impl ScoreTable {
    pub(crate) fn acgt(scores: &[[i32; 4]; 4], fill: i32, bad: i32) -> Self {
        ScoreTable {
            rows: b"ACGT".to_vec(),
            columns: b"ACGT".to_vec(),
            scores: scores.iter().map(|row| row.to_vec()).collect(),
            fill,
            bad,
            bad_row: b'X',
            bad_column: b'X',
            folds_bad_letter: true,
        }
    }

    /// The part of A, C, G and T, in this order: all that LASTZ keeps of a score file beside `XY:score`.
    fn of_bases(&self) -> Self {
        let at = |letters: &[u8], base: u8| letters.iter().position(|&letter| letter == base);
        let score = |row: u8, column: u8| {
            at(&self.rows, row)
                .zip(at(&self.columns, column))
                .map_or(self.fill, |(row, column)| self.scores[row][column])
        };
        let scores = b"ACGT".map(|row| b"ACGT".map(|column| score(row, column)));
        ScoreTable::acgt(&scores, self.fill, self.bad)
    }

    fn set(&mut self, pair: PairScore) -> Result<()> {
        let row = self.rows.iter().position(|&letter| letter == pair.target);
        let column = self.columns.iter().position(|&letter| letter == pair.query);
        let (Some(row), Some(column)) = (row, column) else {
            let (target, query) = (char::from(pair.target), char::from(pair.query));
            return Err(Error::options(format!(
                "the score matrix has no pair {target}{query} ({target}{query}:<score>)"
            )));
        };
        self.scores[row][column] = pair.score;
        Ok(())
    }

    /// After `XY:score`: fill is the lowest score, bad ten times that.
    fn derive_fill_and_bad(&mut self) {
        self.fill = self.scores.iter().flatten().copied().min().unwrap_or(DEFAULT_FILL);
        self.bad = self.fill.saturating_mul(10);
    }

    pub(crate) fn build(&self, gap_open: i32, gap_extend: i32) -> Scoring {
        let mut gapped = Matrix::filled(self.fill);
        self.spoil(&mut gapped);
        let mut gap_free = gapped.clone();
        for (&target, row) in self.rows.iter().zip(&self.scores) {
            for (&query, &score) in self.columns.iter().zip(row) {
                for (t, q) in case_pairs(target, query) {
                    gapped.set(t, q, score);
                }
                gap_free.set(target, query, score);
            }
        }
        for masked in *b"acgtNnX" {
            // An N that the score file names keeps its scores.
            if !self.rows.contains(&masked) {
                set_row(&mut gap_free, masked, self.bad);
            }
            if !self.columns.contains(&masked) {
                set_column(&mut gap_free, masked, self.bad);
            }
        }
        for matrix in [&mut gapped, &mut gap_free] {
            for byte in 0..=255u8 {
                // X against the separator keeps the bad score.
                if !byte.eq_ignore_ascii_case(&self.bad_column) {
                    matrix.set(0, byte, SEPARATOR_SCORE);
                }
                if !byte.eq_ignore_ascii_case(&self.bad_row) {
                    matrix.set(byte, 0, SEPARATOR_SCORE);
                }
            }
        }
        let (rows, columns) = (self.rows.clone(), self.columns.clone());
        Scoring { rows, columns, gapped, gap_free, gap_open, gap_extend }
    }

    /// Gives the row and the column of the bad letter the bad score.
    fn spoil(&self, matrix: &mut Matrix) {
        set_row(matrix, self.bad_row, self.bad);
        set_column(matrix, self.bad_column, self.bad);
        if self.folds_bad_letter {
            set_row(matrix, self.bad_row.to_ascii_lowercase(), self.bad);
            set_column(matrix, self.bad_column.to_ascii_lowercase(), self.bad);
        }
    }
}

impl From<&ScoreFile> for ScoreTable {
    fn from(file: &ScoreFile) -> Self {
        ScoreTable {
            rows: file.rows.clone(),
            columns: file.columns.clone(),
            scores: file.scores.clone(),
            fill: file.fill,
            bad: file.bad,
            bad_row: file.bad_row,
            bad_column: file.bad_column,
            folds_bad_letter: false,
        }
    }
}

fn match_table(reward: i32, penalty: i32) -> Result<ScoreTable> {
    let Some(bad) = penalty.checked_mul(10) else {
        return Err(Error::options(format!("{penalty} is too large a mismatch penalty (--match): give less")));
    };
    let mut scores = [[-penalty; 4]; 4];
    (0..4).for_each(|i| scores[i][i] = reward);
    Ok(ScoreTable::acgt(&scores, -penalty, -bad))
}

fn set_row(matrix: &mut Matrix, target: u8, score: i32) {
    (0..=255).for_each(|query| matrix.set(target, query, score));
}

fn set_column(matrix: &mut Matrix, query: u8, score: i32) {
    (0..=255).for_each(|target| matrix.set(target, query, score));
}

fn case_pairs(a: u8, b: u8) -> [(u8, u8); 4] {
    let (a, b) = ([a.to_ascii_uppercase(), a.to_ascii_lowercase()], [b.to_ascii_uppercase(), b.to_ascii_lowercase()]);
    [(a[0], b[0]), (a[0], b[1]), (a[1], b[0]), (a[1], b[1])]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_match(reward: i32, penalty: i32) -> ScoringSetup {
        ScoringSetup { base: BaseScores::Match { reward, penalty }, ..Default::default() }
    }

    #[test]
    fn default_set_is_hoxd70() {
        assert_eq!(ScoringSetup::default().build().unwrap(), Scoring::default());
    }

    #[test]
    fn match_scores_bring_their_own_costs_and_thresholds() {
        let setup = with_match(1, 1);
        let scoring = setup.build().unwrap();
        assert_eq!((scoring.gap_open, scoring.gap_extend), (4, 1));
        assert_eq!(scoring.gapped.get(b'N', b'A'), -1);
        assert_eq!(scoring.gap_free.get(b'N', b'A'), -10);
        let x_drop = setup.default_x_drop(&scoring);
        assert_eq!((x_drop, setup.default_y_drop(&scoring, x_drop), setup.default_hsp_threshold()), (10, 20, 30));
        assert!(with_match(1, i32::MAX).build().is_err());
    }

    #[test]
    fn a_pair_redefines_fill_and_bad() {
        let pair = PairScore { target: b'A', query: b'C', score: -190 };
        let scoring = ScoringSetup { pairs: vec![pair], ..Default::default() }.build().unwrap();
        assert_eq!(scoring.gapped.get(b'a', b'C'), -190);
        assert_eq!(scoring.gapped.get(b'C', b'A'), -114);
        assert_eq!(scoring.gapped.get(b'N', b'A'), -190);
        assert_eq!(scoring.gapped.get(b'x', b'A'), -1900);
        assert_eq!(scoring.gap_free.get(b'a', b'A'), -1900);
    }

    #[test]
    fn ambiguous_letters_score_alike_in_both_matrices() {
        let ambiguity = Ambiguity { iupac: true, reward: 7, penalty: 9 };
        let scoring = ScoringSetup { ambiguity: Some(ambiguity), ..Default::default() }.build().unwrap();
        for matrix in [&scoring.gapped, &scoring.gap_free] {
            assert_eq!([matrix.get(b'N', b'n'), matrix.get(b'R', b'r'), matrix.get(b'R', b'Y')], [7, 7, -9]);
            assert_eq!([matrix.get(b'n', b'a'), matrix.get(b'A', b'k'), matrix.get(b'X', b'N')], [-9, -9, -1000]);
        }
        assert_eq!(scoring.gap_free.get(b'a', b'a'), -1000);
    }

    #[test]
    fn gaps_may_not_pay() {
        let gap = |open, extend| {
            ScoringSetup { gap_open: Some(open), gap_extend: Some(extend), ..Default::default() }.build().is_ok()
        };
        assert!(gap(-30, 30) && gap(0, 0));
        assert!(!gap(-31, 30) && !gap(5, -1));
    }
}
