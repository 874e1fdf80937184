//! Score files (`--scores=<file>`, `Q=<file>`; lastz-semantics 8).
//!
//! ```text
//! # comment                      anywhere
//! gap_open_penalty = 450         settings, before the matrix
//! hsp_threshold    = 2200
//!      A    C    G    T          letters of the query
//! A   91  -90  -25 -100          letter of the target (all rows have one, or none), then the scores
//! ```

use std::path::Path;

use super::number::{parse_integer, parse_score};
use super::{DEFAULT_BAD, DEFAULT_FILL};
use crate::error::{Error, Result};

/// What a score file says. Settings that it lacks are `None` or LASTZ's defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoreFile {
    /// The file as the user typed it.
    pub file: String,
    /// Target letters.
    pub rows: Vec<u8>,
    /// Query letters.
    pub columns: Vec<u8>,
    /// `scores[row][column]`.
    pub scores: Vec<Vec<i32>>,
    /// Score of pairs that the matrix does not name.
    pub fill: i32,
    /// Score of the bad letters.
    pub bad: i32,
    /// Bad target letter, usually X.
    pub bad_row: u8,
    /// Bad query letter, usually X.
    pub bad_column: u8,
    /// O.
    pub gap_open: i32,
    /// E.
    pub gap_extend: i32,
    /// K.
    pub hsp_threshold: Option<i32>,
    /// L.
    pub gapped_threshold: Option<i32>,
    /// X.
    pub x_drop: Option<i32>,
    /// Y.
    pub y_drop: Option<i32>,
    /// Z.
    pub step: Option<u32>,
    /// T: seed name (`12of19`, `14of22`) and transitions allowed.
    pub seed: Option<(&'static str, u8)>,
}

impl ScoreFile {
    /// Reads `path`.
    pub fn read(path: &Path) -> Result<ScoreFile> {
        let text = std::fs::read(path).map_err(|source| Error::Io {
            action: "cannot open score file",
            path: path.into(),
            source,
        })?;
        ScoreFile::parse(&path.to_string_lossy(), &String::from_utf8_lossy(&text))
    }

    /// Reads `text`; `file` names it in messages.
    pub fn parse(file: &str, text: &str) -> Result<ScoreFile> {
        let mut reader = Reader { scores: ScoreFile::empty(file), seen: Vec::new(), has_row_letters: None };
        for (number, line) in text.lines().enumerate() {
            let content = line.split('#').next().unwrap_or_default().trim();
            if !content.is_empty() {
                reader.line(content).map_err(|why| Error::input(file, format!("line {}: {why}", number + 1)))?;
            }
        }
        reader.finish().map_err(|why| Error::input(file, why))
    }

    fn empty(file: &str) -> ScoreFile {
        ScoreFile {
            file: file.to_string(),
            rows: Vec::new(),
            columns: Vec::new(),
            scores: Vec::new(),
            fill: DEFAULT_FILL,
            bad: DEFAULT_BAD,
            bad_row: b'X',
            bad_column: b'X',
            gap_open: 400,
            gap_extend: 30,
            hsp_threshold: None,
            gapped_threshold: None,
            x_drop: None,
            y_drop: None,
            step: None,
            seed: None,
        }
    }

    /// LASTZ's warning about a matrix whose scale does not suit a default threshold; `option` is the threshold that
    /// nobody set (`--hspthresh=3000`).
    pub fn scale_warning(&self, option: &str) -> Option<String> {
        let diagonal: Vec<(u8, i32)> = b"ACGT"
            .iter()
            .filter_map(|&letter| {
                let row = self.rows.iter().position(|&r| r == letter)?;
                let column = self.columns.iter().position(|&c| c == letter)?;
                Some((letter, self.scores[row][column]))
            })
            .collect();
        // The first of equal scores is named, as LASTZ does.
        let lowest = *diagonal.iter().min_by_key(|(_, score)| *score)?;
        let highest = *diagonal.iter().rev().max_by_key(|(_, score)| *score)?;
        let (word, (letter, score), effect) = match (lowest.1 < 70, highest.1 > 120) {
            (true, _) => ("Minimum", lowest, "few"),
            (false, true) => ("Maximum", highest, "too many"),
            (false, false) => return None,
        };
        let letter = char::from(letter);
        Some(format!(
            "WARNING.  Scores file may warrant setting of thresholds absent from {}.\n\
             {word} match score is {score}, for matrix entry ({letter},{letter}).\n\
             This may not work well with default {option} (may result in {effect} alignments).",
            self.file
        ))
    }
}

struct Reader {
    scores: ScoreFile,
    /// Settings met so far, by canonical name.
    seen: Vec<&'static str>,
    /// Whether rows carry their letter; set by the first row.
    has_row_letters: Option<bool>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if !self.scores.columns.is_empty() {
            return self.row(line);
        }
        match line.split_once('=') {
            Some((name, value)) => self.setting(name.trim(), value.trim()),
            None => self.column_letters(line),
        }
    }

    fn setting(&mut self, typed: &str, value: &str) -> Result<(), String> {
        let scores = &mut self.scores;
        let positive = |value: i32, what: &str| match value {
            1.. => Ok(value),
            _ => Err(format!("{value} is not a valid {what}: it must be positive")),
        };
        let name = match typed {
            "bad_score" | "bad" => {
                let (letters, score) = bad_score(value)?;
                (scores.bad, (scores.bad_row, scores.bad_column)) = (score, letters);
                "bad_score"
            }
            "fill_score" | "fill" => {
                scores.fill = parse_score(value)?;
                "fill_score"
            }
            "gap_open_penalty" | "gap_open" | "O" => {
                scores.gap_open = parse_score(value)?;
                "gap_open_penalty"
            }
            "gap_extend_penalty" | "gap_extend" | "E" => {
                scores.gap_extend = parse_score(value)?;
                "gap_extend_penalty"
            }
            "hsp_threshold" | "K" => {
                scores.hsp_threshold = Some(parse_score(value)?);
                "hsp_threshold"
            }
            "gapped_threshold" | "L" => {
                scores.gapped_threshold = Some(parse_score(value)?);
                "gapped_threshold"
            }
            "x_drop" | "X" => {
                scores.x_drop = Some(positive(parse_score(value)?, "x-drop threshold")?);
                "x_drop"
            }
            "y_drop" | "Y" => {
                scores.y_drop = Some(positive(parse_score(value)?, "y-drop threshold")?);
                "y_drop"
            }
            "step" | "Z" => {
                scores.step = Some(positive(parse_integer(value)?, "step")? as u32);
                "step"
            }
            "seed" | "T" => {
                scores.seed = Some(seed(value)?);
                "seed"
            }
            "ball" => return Err("ball is for quantum DNA, which fastz does not read; remove the line".to_string()),
            _ => return Err(format!("unknown setting \"{typed}\"; see the list under --scores in the documentation")),
        };
        if self.seen.contains(&name) {
            return Err(format!("{name} is set twice; keep one"));
        }
        self.seen.push(name);
        Ok(())
    }

    fn column_letters(&mut self, line: &str) -> Result<(), String> {
        for label in line.split_whitespace() {
            let letter = letter(label).ok_or_else(|| format!("\"{label}\" is not a letter of a column"))?;
            if letter == self.scores.bad_column {
                return Err(format!("{} is the bad letter of the query, so it cannot be a column", char::from(letter)));
            }
            if self.scores.columns.contains(&letter) {
                return Err(format!("column {} appears twice", char::from(letter)));
            }
            self.scores.columns.push(letter);
        }
        Ok(())
    }

    fn row(&mut self, line: &str) -> Result<(), String> {
        let scores = &mut self.scores;
        let mut fields: Vec<&str> = line.split_whitespace().collect();
        let has_letter = fields.len() == scores.columns.len() + 1;
        if !has_letter && fields.len() != scores.columns.len() {
            return Err(format!("expected number of scores: {}, found: {}", scores.columns.len(), fields.len()));
        }
        if *self.has_row_letters.get_or_insert(has_letter) != has_letter {
            return Err("either all rows start with their letter or none does".to_string());
        }
        let letter = match has_letter {
            true => letter(fields.remove(0)).ok_or("the row does not start with a letter")?,
            false => *scores.columns.get(scores.rows.len()).ok_or("more rows than columns")?,
        };
        if letter == scores.bad_row {
            return Err(format!("{} is the bad letter of the target, so it cannot be a row", char::from(letter)));
        }
        if scores.rows.contains(&letter) {
            return Err(format!("row {} appears twice", char::from(letter)));
        }
        scores.rows.push(letter);
        scores.scores.push(fields.into_iter().map(parse_score).collect::<Result<_, _>>()?);
        Ok(())
    }

    fn finish(self) -> Result<ScoreFile, String> {
        let scores = self.scores;
        if scores.rows.is_empty() {
            return Err("no score matrix; give a line of column letters, then one line of scores per row".to_string());
        }
        if self.has_row_letters == Some(false) && scores.rows.len() < scores.columns.len() {
            return Err("rows without their letter are fewer than the columns".to_string());
        }
        for (what, letters) in [("rows", &scores.rows), ("columns", &scores.columns)] {
            let is_dna = b"ACGT".iter().all(|base| letters.contains(base))
                && letters.iter().all(|letter| b"ACGTN".contains(letter));
            if !is_dna {
                return Err(format!(
                    "the {what} must be A, C, G and T, and N if you like; other letters are quantum DNA"
                ));
            }
        }
        if scores.gap_extend < 0 {
            return Err(format!("{} is not a valid gap extension penalty: it may not be negative", scores.gap_extend));
        }
        if i64::from(scores.gap_open) + i64::from(scores.gap_extend) <= 0 {
            return Err(format!(
                "{} is not a valid gap open penalty with extension penalty {}: their sum must be positive",
                scores.gap_open, scores.gap_extend
            ));
        }
        Ok(scores)
    }
}

/// `score`, `letter:score` or `column:row:score` (LASTZ's manual has the two letters the other way round). Gives row and
/// column.
fn bad_score(value: &str) -> Result<((u8, u8), i32), String> {
    let label = |text: &str| letter(text).ok_or_else(|| format!("\"{text}\" is not a letter (bad_score={value})"));
    match value.splitn(3, ':').collect::<Vec<_>>()[..] {
        [score] => Ok(((b'X', b'X'), parse_score(score)?)),
        [both, score] => Ok(((label(both)?, label(both)?), parse_score(score)?)),
        [column, row, score] => Ok(((label(row)?, label(column)?), parse_score(score)?)),
        _ => unreachable!("splitn gives one to three parts"),
    }
}

/// A letter by itself or as two hexadecimal digits, 01 to FF.
fn letter(label: &str) -> Option<u8> {
    match label.as_bytes() {
        [letter] => Some(*letter),
        [_, _] => u8::from_str_radix(label, 16).ok().filter(|&code| code != 0),
        _ => None,
    }
}

fn seed(value: &str) -> Result<(&'static str, u8), String> {
    match value {
        "1" | "12of19,transition" => Ok(("12of19", 1)),
        "2" | "12of19,notransition" => Ok(("12of19", 0)),
        "3" | "14of22,transition" => Ok(("14of22", 1)),
        "4" | "14of22,notransition" => Ok(("14of22", 0)),
        _ => Err(format!("invalid seed \"{value}\"; write 12of19 or 14of22, then ,transition or ,notransition")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATRIX: &str = "  A C G T\nA 91 -90 -25 -100\nC -90 100 -100 -25\nG -25 -100 100 -90\nT -100 -25 -90 91\n";

    fn parse(text: &str) -> Result<ScoreFile> {
        ScoreFile::parse("s.q", text)
    }

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn settings_comments_and_both_row_styles() {
        let scores =
            parse(&format!("# c\nO = 5 # five\ngap_extend_penalty=6\nK=7\nT=4\nbad_score=X:-7\n\n{MATRIX}")).unwrap();
        assert_eq!((scores.gap_open, scores.gap_extend, scores.hsp_threshold, scores.bad), (5, 6, Some(7), -7));
        assert_eq!(scores.seed, Some(("14of22", 0)));
        let bare = parse("C A T G\n1 2 3 4\n5 6 7 8\n9 10 11 12\n13 14 15 1.5K\n").unwrap();
        assert_eq!((bare.rows.as_slice(), bare.scores[3][3]), (&b"CATG"[..], 1500));
        assert_eq!(parse("41 43 47 54\n1 2 3 4\n5 6 7 8\n9 10 11 12\n13 14 15 16").unwrap().columns, b"ACGT");
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        assert_eq!(error("K=5\nK=6\n"), "s.q: line 2: hsp_threshold is set twice; keep one");
        assert_eq!(error("A C G T\nA 1 2 3 4 5\n"), "s.q: line 2: expected number of scores: 4, found: 6");
        assert_eq!(
            error("A C G T\n1 x 3 4\n"),
            "s.q: line 2: \"x\" is not a number: write one such as 3000, 3K, 2.5M or 1G"
        );
        for text in ["", "K=5\n", "A C G T\n", "foo=1\n", "T=0\n", "X=0\n", "Z=1K\n", "ball=5\n", "bad_score=XX:-5\n"] {
            assert!(
                parse(&format!("{text}{}", if text.contains('=') { MATRIX } else { "" })).is_err() || text == "K=5\n"
            );
        }
        assert!(error("K=5\n").contains("no score matrix"));
        assert!(error(&MATRIX.replace('T', "R")).contains("quantum DNA"));
        assert!(error(&format!("bad_score=T:-5\n{MATRIX}")).contains("bad letter"));
        assert!(error(&format!("O=-30\n{MATRIX}")).contains("sum must be positive"));
        assert!(error(&format!("{MATRIX}K=5\n")).contains("line 6"));
    }

    #[test]
    fn the_scale_warning_names_the_first_extreme() {
        let file = |d: [i32; 4]| {
            parse(&format!("A C G T\n{} 0 0 0\n0 {} 0 0\n0 0 {} 0\n0 0 0 {}\n", d[0], d[1], d[2], d[3])).unwrap()
        };
        let warning = |d| file(d).scale_warning("--hspthresh=3000");
        assert_eq!(warning([70, 70, 70, 120]), None);
        assert!(warning([68, 69, 68, 70]).unwrap().contains("Minimum match score is 68, for matrix entry (A,A).\n"));
        assert!(
            warning([120, 121, 122, 122]).unwrap().contains("Maximum match score is 122, for matrix entry (G,G).\n")
        );
        assert!(warning([60, 130, 130, 130]).unwrap().contains("may result in few alignments"));
    }
}
