//! Fields of general (lastz-semantics 7.1).

use crate::error::{Error, Result};
use crate::output::cigar::CigarStyle;

/// Which sequence a field speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Sequence 1.
    Target,
    /// Sequence 2.
    Query,
}

/// What stands in a column for each kind of alignment column: match, transition, transversion, gap in the query, gap in
/// the target, anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DifferenceLetters(pub [u8; 6]);

impl Default for DifferenceLetters {
    fn default() -> Self {
        DifferenceLetters(*b".:x--X")
    }
}

/// A column of the table. Fields that show a ratio come as two columns, a fraction, or a percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named as LASTZ names them, see `NAMES`
pub enum Field {
    Score,
    Name(Of),
    Number(Of),
    Strand(Of),
    Size(Of),
    Start(Of),
    ZStart(Of),
    End(Of),
    StartPlus,
    ZStartPlus,
    EndPlus,
    Length(Of),
    /// The row with dashes; the header shows the name that was asked for.
    Text(Of, &'static str),
    QAlign(Of),
    Nucs(Of),
    Quals(Of),
    NMatch,
    NMismatch,
    NPair,
    NColumn,
    NGap,
    CGap,
    Identity(RatioColumns),
    BlastIdentity,
    Coverage(RatioColumns),
    Continuity(RatioColumns),
    GapRate,
    Diagonal,
    Shingle,
    LineNumber,
    ZLineNumber,
    Cigar(CigarStyle),
    Differences(DifferenceLetters),
    NotAvailable,
    Chore,
    Tilde,
    Newline,
}

/// How a ratio is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RatioColumns {
    /// `a/b` and `x.x%`, two columns.
    Both,
    /// `a/b`.
    Fraction,
    /// `x.x%`.
    Percent,
}

const fn cigar(splits_pairs: bool, writes_ones: bool, lower_case: bool) -> Field {
    Field::Cigar(CigarStyle { splits_pairs, writes_ones, lower_case })
}

/// Names and aliases.
const NAMES: &[(&str, Field)] = &[
    ("score", Field::Score),
    ("s", Field::Score),
    ("name1", Field::Name(Of::Target)),
    ("n1", Field::Name(Of::Target)),
    ("number1", Field::Number(Of::Target)),
    ("strand1", Field::Strand(Of::Target)),
    ("size1", Field::Size(Of::Target)),
    ("start1", Field::Start(Of::Target)),
    ("s1", Field::Start(Of::Target)),
    ("zstart1", Field::ZStart(Of::Target)),
    ("z1", Field::ZStart(Of::Target)),
    ("end1", Field::End(Of::Target)),
    ("e1", Field::End(Of::Target)),
    ("length1", Field::Length(Of::Target)),
    ("l1", Field::Length(Of::Target)),
    ("text1", Field::Text(Of::Target, "text1")),
    ("t1", Field::Text(Of::Target, "text1")),
    ("align1", Field::Text(Of::Target, "align1")),
    ("a1", Field::Text(Of::Target, "align1")),
    ("qalign1", Field::QAlign(Of::Target)),
    ("nucs1", Field::Nucs(Of::Target)),
    ("quals1", Field::Quals(Of::Target)),
    ("name2", Field::Name(Of::Query)),
    ("n2", Field::Name(Of::Query)),
    ("number2", Field::Number(Of::Query)),
    ("strand2", Field::Strand(Of::Query)),
    ("size2", Field::Size(Of::Query)),
    ("start2", Field::Start(Of::Query)),
    ("s2", Field::Start(Of::Query)),
    ("zstart2", Field::ZStart(Of::Query)),
    ("z2", Field::ZStart(Of::Query)),
    ("end2", Field::End(Of::Query)),
    ("e2", Field::End(Of::Query)),
    ("start2+", Field::StartPlus),
    ("s2+", Field::StartPlus),
    ("zstart2+", Field::ZStartPlus),
    ("z2+", Field::ZStartPlus),
    ("end2+", Field::EndPlus),
    ("e2+", Field::EndPlus),
    ("length2", Field::Length(Of::Query)),
    ("l2", Field::Length(Of::Query)),
    ("text2", Field::Text(Of::Query, "text2")),
    ("t2", Field::Text(Of::Query, "text2")),
    ("align2", Field::Text(Of::Query, "align2")),
    ("a2", Field::Text(Of::Query, "align2")),
    ("qalign2", Field::QAlign(Of::Query)),
    ("nucs2", Field::Nucs(Of::Query)),
    ("quals2", Field::Quals(Of::Query)),
    ("nmatch", Field::NMatch),
    ("nmismatch", Field::NMismatch),
    ("npair", Field::NPair),
    ("ncolumn", Field::NColumn),
    ("ngap", Field::NGap),
    ("cgap", Field::CGap),
    ("identity", Field::Identity(RatioColumns::Both)),
    ("ident", Field::Identity(RatioColumns::Both)),
    ("id", Field::Identity(RatioColumns::Both)),
    ("idfrac", Field::Identity(RatioColumns::Fraction)),
    ("id%", Field::Identity(RatioColumns::Percent)),
    ("blastid%", Field::BlastIdentity),
    ("coverage", Field::Coverage(RatioColumns::Both)),
    ("cov", Field::Coverage(RatioColumns::Both)),
    ("covfrac", Field::Coverage(RatioColumns::Fraction)),
    ("cov%", Field::Coverage(RatioColumns::Percent)),
    ("continuity", Field::Continuity(RatioColumns::Both)),
    ("con", Field::Continuity(RatioColumns::Both)),
    ("confrac", Field::Continuity(RatioColumns::Fraction)),
    ("con%", Field::Continuity(RatioColumns::Percent)),
    ("gaprate", Field::GapRate),
    ("gap", Field::GapRate),
    ("diagonal", Field::Diagonal),
    ("diag", Field::Diagonal),
    ("d", Field::Diagonal),
    ("shingle", Field::Shingle),
    ("number", Field::LineNumber),
    ("znumber", Field::ZLineNumber),
    ("cigar", cigar(false, true, false)),
    ("cigar-", cigar(false, true, true)),
    ("cigarx", cigar(true, false, false)),
    ("cigarx-", cigar(true, false, true)),
    ("cigarx1", cigar(true, true, false)),
    // LASTZ prints this one in upper case as well (7.1).
    ("cigarx1-", cigar(true, true, false)),
    ("NA", Field::NotAvailable),
    ("chore", Field::Chore),
    ("~", Field::Tilde),
    ("", Field::Newline),
];

/// LASTZ's internal fields.
const INTERNAL: [&str; 3] = ["hspid", "phash", "ahash"];

impl Field {
    /// Parses a field and its header: `name1`, or `diff` with six letters after it.
    pub(crate) fn parse(name: &str) -> Result<(Field, String)> {
        if let Some(letters) = name.strip_prefix("diff") {
            let letters = match letters.len() {
                0 => Some(DifferenceLetters::default()),
                _ => letters.as_bytes().try_into().ok().map(DifferenceLetters),
            };
            if let Some(letters) = letters {
                return Ok((Field::Differences(letters), "diff".to_string()));
            }
        }
        if INTERNAL.contains(&name) {
            return Err(Error::options(format!("the field \"{name}\" is not supported: leave it out")));
        }
        match NAMES.iter().find(|(known, _)| *known == name) {
            Some(&(known, field)) => Ok((field, field.header(known).to_string())),
            None => Err(Error::options(format!(
                "unrecognized field name \"{name}\": use names such as name1, zstart1, end1, \
                 strand2, zstart2+, score, identity, cigar; case matters"
            ))),
        }
    }

    /// The header: the longest name; ratios have two.
    fn header(self, name: &'static str) -> &'static str {
        match self {
            Field::Identity(RatioColumns::Both) => "identity\tidPct",
            Field::Coverage(RatioColumns::Both) => "coverage\tcovPct",
            Field::Continuity(RatioColumns::Both) => "continuity\tconPct",
            Field::GapRate => "gaprate\tgapPct",
            Field::Text(_, header) => header,
            Field::NotAvailable => "",
            Field::Newline => "\n",
            Field::Cigar(_) => name, // `cigarx1` and `cigarx1-` are equal but for the name
            _ => NAMES.iter().find(|(_, field)| *field == self).map_or("", |(first, _)| first),
        }
    }

    /// Whether a tab stands neither before nor after it.
    pub(crate) fn is_separator(self) -> bool {
        matches!(self, Field::Tilde | Field::Newline)
    }
}
