//! Short names, taken from header lines (lastz-semantics 1.6).

use bstr::{BString, ByteSlice};

/// How much of a header becomes the short name (`nameparse=`).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) enum NameRule {
    /// Up to a blank, tab, `|` or `:`, file suffixes removed.
    #[default]
    Default,
    /// Up to a blank or tab, file suffixes removed.
    Darkspace,
    /// The longest prefix of letters, digits and underscores.
    Alphanum,
    /// Letters, digits and underscores behind the first occurrence of this text; `Default` without it.
    Tag(String),
}

/// The name that the default rule takes from a header line without its mark; empty if it leaves nothing.
pub(crate) fn default_name(header: &[u8]) -> &[u8] {
    NameRule::Default.apply(header)
}

/// A header line, or what stands for it. Its bytes need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Heading {
    /// The line without its mark.
    pub text: BString,
    /// Whether the line began with `>` (FASTA). FASTQ, 2bit and nicknames have no mark that LASTZ shows.
    pub has_mark: bool,
    /// Whether there is no header line at all.
    pub is_absent: bool,
}

impl Heading {
    /// What a first FASTA record without header line has.
    pub fn absent() -> Heading {
        Heading { is_absent: true, ..Heading::default() }
    }

    /// A FASTA header line without its `>`.
    pub fn fasta(line: &[u8]) -> Heading {
        Heading { text: up_to_nul(line).into(), has_mark: true, is_absent: false }
    }

    /// A FASTQ header line without its `@`, a 2bit name, or a nickname.
    pub fn unmarked(line: &[u8]) -> Heading {
        Heading { text: up_to_nul(line).into(), has_mark: false, is_absent: false }
    }

    /// The line as LASTZ's messages and full names show it.
    pub fn full(&self) -> BString {
        let mark: &[u8] = if self.has_mark { b">" } else { b"" };
        bstr::concat([mark, &self.text]).into()
    }

    /// What stands behind a tag (`nameparse=tag:`): LASTZ takes it for the whole header line.
    pub fn behind_tag(&self, tag: &str) -> Option<Heading> {
        let full = self.full();
        let at = full.find(tag)?;
        Some(Heading::unmarked(alphanum_prefix(&full[at + tag.len()..])))
    }

    /// The short name; empty if the rule leaves nothing.
    pub fn short_name(&self, rule: &NameRule) -> BString {
        if let NameRule::Tag(tag) = rule
            && let Some(heading) = self.behind_tag(tag)
        {
            return heading.text;
        }
        // The first `>` of a nickname counts as the mark; a second one belongs to the name.
        let text = if self.has_mark { &self.text } else { self.text.strip_prefix(b">").unwrap_or(&self.text) };
        rule.apply(text).into()
    }
}

impl NameRule {
    /// The name in a header line that has no tag.
    fn apply<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let text = skip_prefaces(text);
        match self {
            NameRule::Alphanum => alphanum_prefix(text),
            NameRule::Darkspace => strip_suffixes(cut(text, b" \t")),
            NameRule::Default | NameRule::Tag(_) => strip_suffixes(cut(text, b" \t|:")),
        }
    }
}

/// What C takes for a blank. These are skipped before a name; only a space or tab ends one.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// A NUL ends a header in LASTZ.
fn up_to_nul(line: &[u8]) -> &[u8] {
    cut(line, b"\0")
}

/// Skips blanks, "reverse complement of " and "positions 5-10 of ", each once and in this order.
fn skip_prefaces(text: &[u8]) -> &[u8] {
    let skip_blanks = |text: &[u8]| text.iter().take_while(|&&b| is_blank(b)).count();
    let mut text = &text[skip_blanks(text)..];
    if let Some(rest) = text.strip_prefix(b"reverse complement of ") {
        text = &rest[skip_blanks(rest)..];
    }
    match text.strip_prefix(b"positions ").and_then(|rest| rest.split_once_str(" ")) {
        Some((positions, rest)) if !positions.is_empty() => match rest.strip_prefix(b"of ") {
            Some(rest) => &rest[skip_blanks(rest)..],
            None => text,
        },
        _ => text,
    }
}

fn cut<'t>(text: &'t [u8], ends: &[u8]) -> &'t [u8] {
    &text[..text.find_byteset(ends).unwrap_or(text.len())]
}

fn alphanum_prefix(text: &[u8]) -> &[u8] {
    &text[..text.iter().position(|b| !b.is_ascii_alphanumeric() && *b != b'_').unwrap_or(text.len())]
}

/// Removes one of each suffix in LASTZ's order, but never the whole name.
fn strip_suffixes(name: &[u8]) -> &[u8] {
    let suffixes: [&[u8]; 5] = [b".nib", b".2bit", b".hsx", b".fasta", b".fa"];
    suffixes.iter().fold(name, |name, suffix| match name.strip_suffix(*suffix) {
        Some(stem) if !stem.is_empty() => stem,
        _ => name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(header: &str) -> [BString; 4] {
        let heading = Heading::fasta(header.as_bytes());
        [NameRule::Default, NameRule::Darkspace, NameRule::Alphanum, NameRule::Tag("b".into())]
            .map(|rule| heading.short_name(&rule))
    }

    #[test]
    fn headers_give_lastz_names() {
        // Columns: default, darkspace, alphanum, tag:b; each line as printed by LASTZ ("" where it prints seq1).
        for (header, expected) in [
            ("t", ["t", "t", "t", "t"]),
            ("  \t t x", ["t", "t", "t", "t"]),
            ("gi|12345|ref|NC_1.1| Homo sapiens", ["gi", "gi|12345|ref|NC_1.1|", "gi", "gi"]),
            ("reverse complement of q.fa", ["q", "q", "q", "q"]),
            ("reverse complement of positions 5-10 of x.fa y", ["x", "x", "x", "x"]),
            ("positions 5-10 of  x of y", ["x", "x", "x", "x"]),
            ("positions of x", ["positions", "positions", "positions", "positions"]),
            ("positions  of x", ["positions", "positions", "positions", "positions"]),
            ("positions 5-10 of ", ["", "", "", ""]),
            ("positions 1-2 of reverse complement of x", ["reverse", "reverse", "reverse", "reverse"]),
            ("a.fa.fa", ["a.fa", "a.fa", "a", "a.fa"]),
            (".fa", [".fa", ".fa", "", ".fa"]),
            (".fa.fa", [".fa", ".fa", "", ".fa"]),
            ("a.fa|b", ["a", "a.fa|b", "a", ""]),
            ("a.fa.fasta.hsx.2bit.nib", ["a", "a", "a", "it"]),
            ("a.nib.2bit.hsx.fasta.fa", ["a.nib.2bit.hsx.fasta", "a.nib.2bit.hsx.fasta", "a", ""]),
            ("chr1:100-200 foo", ["chr1", "chr1:100-200", "chr1", "chr1"]),
            ("/path/to/chr2.fa extra", ["/path/to/chr2", "/path/to/chr2", "", "/path/to/chr2"]),
            ("chr1.FA", ["chr1.FA", "chr1.FA", "chr1", "chr1.FA"]),
            (">a", [">a", ">a", "", ">a"]),
            ("a\u{b}c", ["a\u{b}c", "a\u{b}c", "a", "a\u{b}c"]),
            ("\u{b}\u{c}a\u{c}", ["a\u{c}", "a\u{c}", "a", "a\u{c}"]),
        ] {
            assert_eq!(names(header), expected, "{header}");
        }
    }

    #[test]
    fn tags_see_the_whole_line() {
        let heading = Heading::fasta(b"xb foo.bar-baz|q tag=A_b.c:d e uid:");
        for (tag, expected) in
            [("b ", "foo"), ("tag=", "A_b"), ("foo.", "bar"), ("foo", ""), (">x", "b"), ("nope", "xb"), ("uid:", "")]
        {
            assert_eq!(heading.short_name(&NameRule::Tag(tag.into())), expected, "{tag}");
        }
    }

    #[test]
    fn nicknames_pass_through_the_rules() {
        let heading = Heading::unmarked(b"a|b.fa c");
        assert_eq!(heading.short_name(&NameRule::Default), "a");
        assert_eq!(heading.short_name(&NameRule::Darkspace), "a|b");
        assert_eq!(heading.full(), "a|b.fa c");
        assert_eq!(Heading::unmarked(b">x").short_name(&NameRule::Default), "x");
    }

    #[test]
    fn odd_bytes_in_headers() {
        assert_eq!(Heading::fasta(b"a\0b").text, "a");
        assert_eq!(Heading::fasta(b"a\xe9").text, b"a\xe9");
        assert_eq!(Heading::fasta(b"\xe9x.fa|y").short_name(&NameRule::Default), b"\xe9x");
    }
}
