//! Names of formats (lastz-semantics 7).

use crate::error::{Error, Result};
use crate::output::cigar::CigarStyle;
use crate::output::general::Table;

/// Kinds of lav.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LavKind {
    /// `lav`.
    Plain,
    /// `lav+`: X and Y in the d stanza, seed and step as comments.
    WithComments,
    /// `lav+text`: each block is followed by its text.
    WithText,
}

/// Kinds of axt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxtKind {
    /// `axt`.
    Plain,
    /// `axt+`: seed, step, identity and coverage as comments.
    WithComments,
    /// `axt:size2` (`waxt`): the loaded query length at the end of a block's first line.
    WithQuerySize,
}

/// Kinds of maf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MafKind {
    /// `maf`; with `marks_equal_names` (`~maf`) a query name equal to the target's gets a `~`.
    Plain {
        /// `~maf`.
        marks_equal_names: bool,
    },
    /// `maf+`: seed, step, identity, coverage, continuity and cigar as comments.
    WithComments {
        /// `~maf+`.
        marks_equal_names: bool,
    },
    /// `maf-`: blocks only.
    NoHeader,
    /// `mafsegments`: every gap-free run is a block.
    Segments,
}

/// Kinds of sam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamKind {
    /// Soft clips (`softsam`): the clipped bases are written in lower case.
    pub soft_clips: bool,
    /// Whether `@` lines are written (off: `sam-`).
    pub header: bool,
    /// `=` and `X` instead of `M` (`--eqx`).
    pub splits_pairs: bool,
}

/// An output format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// `lav`, `lav+`, `lav+text`.
    Lav(LavKind),
    /// `axt`, `axt+`, `axt:size2`.
    Axt(AxtKind),
    /// `maf`, `maf+`, `maf-`, `~maf`, `mafsegments`.
    Maf(MafKind),
    /// `general`, `mapping`, `segments`, `genseg`.
    General(Table),
    /// `paf`, `paf:minimap2` (`M`) and `paf:wfmash` (`=` and `X`).
    Paf(CigarStyle),
    /// `sam`, `softsam`.
    Sam(SamKind),
    /// `cigar`.
    Cigar,
    /// `differences`; `differences-` without the texts of the whole block.
    Differences {
        /// Whether each line ends with both rows of the block.
        with_blocks: bool,
    },
    /// `rdotplot`, `rdotplot+score`.
    Rdotplot {
        /// Whether there is a column of scores.
        with_scores: bool,
    },
    /// `text`, `ztext`.
    Text {
        /// `ztext`.
        zero_based: bool,
    },
    /// `blastn`, `blastn-`.
    Blastn {
        /// Whether each query strand gets `#` lines.
        with_headers: bool,
    },
    /// `gfa`.
    Gfa,
    /// `none`.
    None,
}

/// LASTZ's formats that fastz does not write, and what to use instead.
const UNSUPPORTED: [(&str, &str); 5] = [
    ("identity", "use general:identity"),
    ("infstats", "use general:text1,text2 and count"),
    ("comp", "use general:name1,zstart1,end1,name2,strand2,zstart2,end2,cigar"),
    ("deseed", "use general:name1,zstart1,end1,name2,strand2,zstart2,end2,cigar"),
    ("infscores", "use --scores with known scores"),
];

/// Names that LASTZ also takes in capitals, alone or before `:` and `+text`.
const CAPITALS: [&str; 26] = [
    "LAV",
    "LAV+",
    "AXT",
    "AXT+",
    "WAXT",
    "MAF",
    "MAF+",
    "MAF-",
    "~MAF",
    "~MAF+",
    "MAFSEGMENTS",
    "SAM",
    "SAM-",
    "SOFTSAM",
    "SOFTSAM-",
    "CIGAR",
    "GFA",
    "GENERAL",
    "GENERAL-",
    "GEN",
    "GEN-",
    "MAPPING",
    "MAPPING-",
    "PAF",
    "BLASTN",
    "BLASTN-",
];

impl Default for Format {
    fn default() -> Self {
        Format::Lav(LavKind::Plain)
    }
}

impl Format {
    /// Parses what stands after `--format=`. Some names may be written in capitals (`CAPITALS`), but not `Maf`.
    ///
    /// # Errors
    /// [`Error::Options`] for an unknown or unsupported format or field.
    pub fn parse(text: &str) -> Result<Format> {
        let lower = lower_case(text);
        let (name, fields) = match lower.split_once(':') {
            Some((name, fields)) => (name, Some(fields)),
            None => (lower.as_str(), None),
        };
        let table = match name {
            "general" | "gen" => Some(Table::general(fields, true)?),
            "general-" | "gen-" => Some(Table::general(fields, false)?),
            "genseg" => Some(Table::general(fields, true)?.of_segments()),
            "genseg-" => Some(Table::general(fields, false)?.of_segments()),
            _ => None,
        };
        match table {
            Some(table) => Ok(Format::General(table)),
            None => Format::parse_fixed(&lower).ok_or_else(|| unknown(text)),
        }
    }

    fn parse_fixed(name: &str) -> Option<Format> {
        let sam = |soft_clips, header, splits_pairs| Format::Sam(SamKind { soft_clips, header, splits_pairs });
        Some(match name {
            "lav" => Format::Lav(LavKind::Plain),
            "lav+" => Format::Lav(LavKind::WithComments),
            "lav+text" => Format::Lav(LavKind::WithText),
            "axt" => Format::Axt(AxtKind::Plain),
            "axt+" => Format::Axt(AxtKind::WithComments),
            "axt:size2" | "waxt" => Format::Axt(AxtKind::WithQuerySize),
            "maf" => Format::Maf(MafKind::Plain { marks_equal_names: false }),
            "~maf" => Format::Maf(MafKind::Plain { marks_equal_names: true }),
            "maf+" => Format::Maf(MafKind::WithComments { marks_equal_names: false }),
            "~maf+" => Format::Maf(MafKind::WithComments { marks_equal_names: true }),
            "maf-" => Format::Maf(MafKind::NoHeader),
            "mafsegments" => Format::Maf(MafKind::Segments),
            "mapping" => Format::General(Table::mapping(true)),
            "mapping-" => Format::General(Table::mapping(false)),
            "segments" => Format::General(Table::segments()),
            "paf" | "paf:minimap2" => Format::Paf(CigarStyle::PLAIN),
            "paf:wfmash" => Format::Paf(CigarStyle::EXTENDED),
            "sam" => sam(false, true, false),
            "sam-" => sam(false, false, false),
            "softsam" => sam(true, true, false),
            "softsam-" => sam(true, false, false),
            "sam+eqx" => sam(false, true, true),
            "sam-+eqx" => sam(false, false, true),
            "softsam+eqx" => sam(true, true, true),
            "softsam-+eqx" => sam(true, false, true),
            "cigar" => Format::Cigar,
            "differences" | "difference" | "diff" => Format::Differences { with_blocks: true },
            "differences-" | "difference-" | "diff-" => Format::Differences { with_blocks: false },
            "rdotplot" => Format::Rdotplot { with_scores: false },
            "rdotplot+score" => Format::Rdotplot { with_scores: true },
            "text" => Format::Text { zero_based: false },
            "ztext" => Format::Text { zero_based: true },
            "blastn" => Format::Blastn { with_headers: true },
            "blastn-" => Format::Blastn { with_headers: false },
            "gfa" => Format::Gfa,
            "none" => Format::None,
            _ => return None,
        })
    }

    /// The same format with `=` and `X` in its CIGAR strings, if it is a sam format (`--eqx`).
    pub fn with_split_pairs(self) -> Format {
        match self {
            Format::Sam(kind) => Format::Sam(SamKind { splits_pairs: true, ..kind }),
            other => other,
        }
    }

    /// Whether the format cannot show partitioned sequences (`[multiple]`): lav and gfa (lastz-semantics 9.2).
    pub fn refuses_partitions(&self) -> bool {
        matches!(self, Format::Lav(_) | Format::Gfa)
    }

    /// Whether `--readgroup` means something.
    pub fn is_sam(&self) -> bool {
        matches!(self, Format::Sam(_))
    }

    /// Whether every gap-free run of a block is printed by itself: `mafsegments` and `genseg`.
    pub(crate) fn is_of_runs(&self) -> bool {
        match self {
            Format::Maf(kind) => *kind == MafKind::Segments,
            Format::General(table) => table.is_of_segments(),
            _ => false,
        }
    }

    /// Whether this is `segments`, which implies `--nogapped`.
    pub fn is_segments(&self) -> bool {
        *self == Format::General(Table::segments())
    }
}

/// `text` with a name in capitals in lower case.
fn lower_case(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    if ["PAF:MINIMAP2", "PAF:WFMASH"].contains(&text) {
        return lower;
    }
    let end = text.find(':').or(text.find("+text")).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if CAPITALS.contains(&name) { lower[..end].to_string() + rest } else { text.to_string() }
}

fn unknown(text: &str) -> Error {
    let name = text.split(':').next().unwrap_or(text);
    let lower = text.to_ascii_lowercase();
    let unsupported = UNSUPPORTED.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
    Error::options(match unsupported {
        Some((_, instead)) => format!("this format is not supported: {instead}"),
        None if lower != text && Format::parse(&lower).is_ok() => {
            format!("unknown format: write --format={lower}")
        }
        None => "unknown format: use lav, axt, maf, general, mapping, paf, sam, softsam, cigar, differences, \
             segments, rdotplot, text, blastn, gfa or none"
            .to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_names_may_be_in_capitals() {
        assert_eq!(Format::parse("BLASTN-").unwrap(), Format::Blastn { with_headers: false });
        assert_eq!(Format::parse("GEN:score").unwrap(), Format::parse("general:score").unwrap());
        assert_eq!(Format::parse("LAV+text").unwrap(), Format::Lav(LavKind::WithText));
        let message = |text| Format::parse(text).unwrap_err().to_string();
        assert!(message("Sam-").ends_with("write --format=sam-"));
        assert!(message("TEXT").ends_with("write --format=text"));
    }

    #[test]
    fn unknown_names_say_what_to_use() {
        let message = |text| Format::parse(text).unwrap_err().to_string();
        assert!(message("infstats").contains("not supported: use general"));
        assert!(message("mafx").contains("unknown format: use lav, axt, maf"));
        assert!(message("general:SCORE").contains("\"SCORE\""));
        assert!(message("general:").contains("name them after the colon"));
        assert!(message("sam:x").contains("unknown format"));
    }

    #[test]
    fn segments_are_recognised() {
        assert!(Format::parse("segments").unwrap().is_segments());
        assert!(!Format::parse("general").unwrap().is_segments());
        assert!(Format::parse("sam").unwrap().with_split_pairs() == Format::parse("sam+eqx").unwrap());
    }
}
