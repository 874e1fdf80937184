//! What a user sees: files in, sets out. Each expectation was printed by LASTZ 1.04.22 unless the test says otherwise.

use bstr::ByteSlice;
use std::fs;
use std::io::Write;

use super::*;

mod formats;
mod live;
mod specifier;
mod two_bit;

/// Files of one test, in a directory of their own.
struct Files(tempfile::TempDir);

impl Files {
    fn new(files: &[(&str, &str)]) -> Files {
        let directory = Files(tempfile::tempdir().unwrap());
        files.iter().for_each(|(name, text)| directory.write(name, text.as_bytes()));
        directory
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.path().join(name), bytes).unwrap();
    }

    /// A specifier with the directory put before the file names in it.
    fn spec(&self, text: &str) -> Specifier {
        let mut spec = Specifier::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let inside = |name: &str| self.0.path().join(name).to_str().unwrap().to_string();
        spec.path = spec.path.as_deref().map(inside);
        spec.subset = spec.subset.as_deref().map(inside);
        spec.masks.iter_mut().for_each(|mask| mask.file = inside(&mask.file));
        spec
    }

    fn target(&self, text: &str) -> Result<(SequenceSet, Vec<String>)> {
        let mut warnings = Vec::new();
        let set = read_target(&self.spec(text), &ReadOptions::default(), &mut |warning| warnings.push(warning))?;
        check(&set);
        Ok((set, warnings))
    }

    fn queries(&self, text: &str) -> Result<(Vec<SequenceSet>, Vec<String>)> {
        let (mut sets, mut warnings) = (Vec::new(), Vec::new());
        let mut reader = QueryReader::open(&self.spec(text), &ReadOptions::default())?;
        while let Some(set) = reader.next(&mut |warning| warnings.push(warning))? {
            check(&set);
            sets.push(set);
        }
        assert_eq!(reader.next(&mut |_| ()).unwrap(), None);
        Ok((sets, warnings))
    }

    fn error(&self, text: &str) -> String {
        let target = self.target(text).map(|_| text).expect_err(text).to_string();
        assert_eq!(target.lines().count(), 1, "{target}");
        target
    }
}

/// What holds for every set.
fn check(set: &SequenceSet) {
    assert!(set.is_partitioned || set.partitions.len() == 1);
    let mut covered = 0;
    for partition in &set.partitions {
        assert!(!partition.is_empty() && partition.offset + partition.len() <= partition.full_len);
        assert!(set.bases[covered..partition.range.start].iter().all(|&base| base == crate::sequence::SEPARATOR));
        assert!(!set.bases[partition.range.clone()].contains(&0));
        assert!(partition.qualities.as_ref().is_none_or(|qualities| qualities.len() == partition.len()));
        covered = partition.range.end;
    }
}

fn bases(set: &SequenceSet) -> String {
    String::from_utf8(set.bases.clone()).unwrap().replace('\0', ".")
}

/// Name, record, offset and full length of every partition.
fn facts(set: &SequenceSet) -> Vec<(&str, usize, usize, usize)> {
    set.partitions.iter().map(|p| (p.name.to_str().unwrap(), p.record, p.offset, p.full_len)).collect()
}

#[test]
fn one_fasta_record() {
    let files = Files::new(&[("t.fa", ">chr1.fa first one\nACGTN\r\n acg\tt 12\n\nXx")]);
    let (set, warnings) = files.target("t.fa").unwrap();
    assert_eq!(bases(&set), "ACGTNacgt12Xx");
    assert_eq!(facts(&set), [("chr1", 0, 0, 13)]);
    assert_eq!(
        (set.partitions[0].header.to_str().unwrap(), set.partitions[0].has_header_mark),
        ("chr1.fa first one", true)
    );
    assert!(!set.is_partitioned && !set.is_reversed && warnings.is_empty() && set.file.ends_with("t.fa"));
    assert_eq!(files.queries("t.fa").unwrap().0, [set]);
}

#[test]
fn fasta_line_ends_and_headers() {
    let one = |text: &str| {
        let (sets, _) = Files::new(&[("f", text)]).queries("f[fullnames]").unwrap();
        sets.iter().map(|set| format!("{}={}", set.partitions[0].name, bases(set))).collect::<Vec<_>>().join(" ")
    };
    for (text, expected) in [
        ("ACGT", "seq2=ACGT"),
        (" \n ACGT\n>b\nCC", "seq2=ACGT >b=CC"),
        (" \t>t\nACGT", ">t=ACGT"),
        (">t\nACGT\n >u\nCC\n", ">t=ACGT >u=CC"),
        (">t x\r\nAC\r\nGT\r\n", ">t x=ACGT"),
        (">t\rXA\nC", ">t=XAC"),
        (">t\r\r\nACGT", ">t=ACGT"),
        (">t \r \r\nACGT", ">t =ACGT"),
        ("ACGT\r>u\rCC", "seq2=ACGT >u=CC"),
        ("> \nACGT\n>\nCC", "> =ACGT >=CC"),
        (">>a b>\nACGT", ">>a b>=ACGT"),
        // LASTZ finds no sequence in this one.
        (">t\rACGT\r", ">t=ACGT"),
    ] {
        assert_eq!(one(text), expected, "{text:?}");
    }
}

#[test]
fn fasta_across_buffer_borders() {
    let mut text = String::new();
    let mut expected = Vec::new();
    for record in 0..3 {
        let bases: String = (0..400_000).map(|i| ['A', 'C', 'g', 'T', 'N'][(i * 7 + i / 11 + record) % 5]).collect();
        text += &format!(">r{record} {}\n", "x".repeat(100_000 * record));
        for line in bases.as_bytes().chunks(61) {
            text += std::str::from_utf8(line).unwrap();
            text += if record == 1 { "\r\n" } else { "\n" };
        }
        expected.push(bases);
    }
    let files = Files::new(&[("f", &text), ("names", "r2\n")]);
    let (sets, _) = files.queries("f").unwrap();
    assert_eq!(sets.iter().map(bases).collect::<Vec<_>>(), expected);
    assert_eq!(bases(&files.target("f[multiple]").unwrap().0), format!(".{}.", expected.join(".")));
    assert_eq!(bases(&files.target("f[subset=names]").unwrap().0), expected[2]);
    assert_eq!(bases(&files.target("f[subset=names,262000..262200]").unwrap().0), expected[2][261_999..262_200]);
}

#[test]
fn letters_are_checked() {
    let with = |letter: u8, iupac: bool| {
        let files = Files::new(&[]);
        files.write("f", &[b">t x\nACGT", &[letter][..], b"ACGT\n"].concat());
        read_target(&files.spec("f"), &ReadOptions { iupac, ..Default::default() }, &mut |_| ()).map(|set| set.bases)
    };
    for byte in 0..=255 {
        let is_base = b"ACGTNXacgtnx0123456789\x0c".contains(&byte);
        let is_skipped = b" \t\r\n".contains(&byte);
        let is_iupac = b"BDHKMRSVWYbdhkmrsvwy".contains(&byte);
        match with(byte, false) {
            Ok(bases) => {
                assert!(is_base || is_skipped, "{byte}");
                assert_eq!(bases.contains(&byte), is_base, "{byte}");
            }
            Err(error) => {
                assert!(!is_base && !is_skipped, "{byte}: {error}");
                assert!(error.to_string().contains("in >t x, position 5"), "{error}");
                assert_eq!(error.to_string().contains("iupac"), is_iupac, "{error}");
            }
        }
        assert_eq!(with(byte, true).is_ok(), is_base || is_skipped || is_iupac, "{byte}");
    }
}

#[test]
fn more_than_one_record_needs_multiple() {
    let files =
        Files::new(&[("m.fa", ">a one\nACGT\n>b two\nCCTG\n>c\nGA"), ("e.fa", ">a\nACGT\n>b"), ("hl", "AC\n> \nGT")]);
    assert!(files.error("m.fa").contains("more than one sequence"));
    assert!(files.error("e.fa").contains("more than one sequence"));
    let (set, _) = files.target("m.fa[multiple]").unwrap();
    assert_eq!(bases(&set), ".ACGT.CCTG.GA.");
    assert_eq!(facts(&set), [("a", 0, 0, 4), ("b", 1, 0, 4), ("c", 2, 0, 2)]);
    let (sets, _) = files.queries("m.fa[multi]").unwrap();
    assert_eq!(sets, [set]);
    let (reversed, _) = files.target("m.fa[multiple]-").unwrap();
    assert_eq!(bases(&reversed), ".ACGT.CAGG.TC.");
    assert!(reversed.is_reversed);
    // Nameless partitions stay nameless; LASTZ crashes if the header line lacks.
    assert_eq!(facts(&files.target("hl[multi]").unwrap().0), [("seq1", 0, 0, 2), ("", 1, 0, 2)]);
    assert_eq!(files.target("hl[multi]").unwrap().0.partitions[0].header, "(no header)");
    let (sets, _) = files.queries("m.fa").unwrap();
    assert_eq!(sets.iter().map(facts).collect::<Vec<_>>(), [[("a", 0, 0, 4)], [("b", 1, 0, 4)], [("c", 2, 0, 2)]]);
}

#[test]
fn empty_records() {
    let query = |text: &str| {
        let files = Files::new(&[("f", text)]);
        let (sets, warnings) = files.queries("f").map_err(|error| error.to_string())?;
        let records: Vec<usize> = sets.iter().map(|set| set.partitions[0].record).collect();
        Ok::<_, String>((records, warnings.len()))
    };
    assert_eq!(query(">a\n>b\nACGT\n>c"), Ok((vec![1], 2)));
    assert_eq!(query("\n\n\n\n>a\nACGT"), Ok((vec![1], 1)));
    assert_eq!(query(">abcd\n\n"), Ok((vec![], 1)));
    assert_eq!(query("   \n\n"), Ok((vec![], 1)));
    assert_eq!(query("@e\n\n+\n\n@r\nAC\n+\nII\n"), Ok((vec![1], 1)));
    assert_eq!(query(" >a\n"), Ok((vec![], 1)));
    for nothing in ["", ">a", ">abcd\n", "ACG", "\n\n\n", ">\nA"] {
        assert!(query(nothing).unwrap_err().contains("the query file contains no sequence"), "{nothing:?}");
    }
    let files = Files::new(&[("f", ">a x\n>b\nACGT\n>c"), ("g", ">a\n\n")]);
    assert!(files.error("f").contains("the target file contains no sequence"));
    let (set, warnings) = files.target("f[multi]").unwrap();
    assert_eq!((bases(&set), facts(&set)), ("..ACGT..".into(), vec![("b", 1, 0, 4)]));
    assert!(warnings[0].ends_with("contains an empty sequence:\n>a x") && warnings.len() == 2, "{warnings:?}");
    assert_eq!(files.target("g[multi]").unwrap().0.partitions, []);
    assert_eq!(files.queries("g[multi]").unwrap().0, []);
}

#[test]
fn subranges_apply_to_every_record() {
    let files = Files::new(&[("t", ">t x\nACGTNNACGG\n"), ("m", ">a\nACGTACGT\n>b\nCCGG\n")]);
    let one = |text: &str| files.target(text).map(|(set, _)| (bases(&set), set.partitions[0].offset)).unwrap();
    assert_eq!(one("t[3..8]"), ("GTNNAC".into(), 2));
    assert_eq!(
        one("t[8..3]"),
        (
            "GTNNAC"
                .chars()
                .rev()
                .map(|c| match c {
                    'A' => 'T',
                    'C' => 'G',
                    'G' => 'C',
                    'T' => 'A',
                    c => c,
                })
                .collect(),
            2
        )
    );
    assert_eq!(one("t[8,3]-"), ("GTNNAC".into(), 2));
    assert_eq!(one("t[9#5]"), ("GG".into(), 8));
    assert_eq!(one("t[..3]"), ("ACG".into(), 0));
    let (set, _) = files.target("t[3..8]-").unwrap();
    assert_eq!(set.partitions[0].strand_start(set.is_reversed), 2);
    assert!(files.error("t[3..11]").ends_with("in >t x, the subrange goes beyond the end (11 > 10): use 10 at most"));
    assert!(files.error("m[multi,5..6]").contains("in >b, the subrange goes beyond the end (5 > 4)"));
    assert_eq!(bases(&files.target("m[multi,3#9]").unwrap().0), ".GTACGT.GG.");
    let files = Files::new(&[("m", ">a\nACGTACGT\n>b\nACGT\n>c\nACGTACGT\n>d\nACRT\n")]);
    let third = |text: &str| files.queries(text).map(|(sets, _)| bases(sets.last().unwrap()));
    let text = ">a\nACGTACGT\n>b\nACGT\n>c\nACGTACGT\n";
    files.write("clip", text.as_bytes());
    assert_eq!(third("clip[3#4]").unwrap(), "GTACGT", "the end stays open once it was clipped");
    assert_eq!(third("clip[subsample=1/2,3#4]").unwrap(), "GTACGT", "also by a record left out");
    assert!(third("clip[subsample=1/2,5..]").is_err() && third("m[subsample=1/2]").is_err());
    let files = Files::new(&[("m", ">a\nACGTACGT\n>b\nCCGG\n")]);
    assert_eq!(facts(&files.target("m[multi,3..4]").unwrap().0), [("a", 0, 2, 8), ("b", 1, 2, 4)]);
    // Letters outside the subrange are checked too.
    let files = Files::new(&[("t", ">t\nACGTR\n")]);
    assert!(files.error("t[1..2]").contains("'R'"));
}

#[test]
fn subset_and_subsample() {
    let files = Files::new(&[
        ("g", ">s0\nAA\n>s1\nAC\n>s2\nCC\n>s3\nGG\n>s4\nTT\n"),
        ("m", ">s0\nAA\n>s1 R\nRR\n>s2.fa x\nCC\n>s3\nGG\n>s4\nTT\n"),
        ("two", "# c\n s2 rest\n\ns4\r\n"),
        ("late", "s2\ns4\ns0\n"),
        ("order", "s2\ns0\n"),
        ("other", "zz\n"),
        ("empty", "\n"),
        ("full", "s3\ns4"),
        ("q", "@s0\nAA\n+\nII\n@s1\nAC\n+\nII\n@s2\nAG\n+\nII\n"),
        ("last", "s2"),
        ("marked", "s2#x\n"),
        ("comments", "#s0\n # s1\ns2 #x\n##\n"),
        ("blank", "s2\r\n\r\ns3\r\n"),
        ("nameless", ">\nAA\n>s2\nCC\n"),
        ("fed", " \x0cs2\n"),
    ]);
    let names = |text: &str| {
        let (sets, _) = files.queries(text).unwrap();
        sets.iter().map(|s| (s.partitions[0].name.to_string(), s.partitions[0].record)).collect::<Vec<_>>()
    };
    let named = |list: &[(&str, usize)]| list.iter().map(|&(n, r)| (n.to_string(), r)).collect::<Vec<_>>();
    assert_eq!(names("m[subset=two]"), named(&[("s2", 2), ("s4", 4)]));
    let (sets, _) = files.queries("m[subset=two]").unwrap();
    assert_eq!((sets[0].partitions[0].header.to_str().unwrap(), sets[0].partitions[0].has_header_mark), ("s2", true));
    assert_eq!(names("m[subset=late]"), named(&[("s2", 2), ("s4", 4)]));
    assert_eq!(names("m[subset=two,subsample=2/2]"), named(&[("s4", 4)]));
    assert_eq!(names("m[subset=full,fullnames]"), named(&[(">s3", 3), (">s4", 4)]));
    assert_eq!(names("m[subset=two,nickname=k]"), named(&[("k", 2), ("k", 4)]));
    assert_eq!(names("g[subsample=1/3]"), named(&[("s0", 0), ("s3", 3)]));
    assert_eq!(names("g[subsample=5/5]"), named(&[("s4", 4)]));
    assert_eq!(facts(&files.target("g[subsample=4/5]").unwrap().0), [("s3", 3, 0, 2)]);
    assert_eq!(names("q[subset=last]"), named(&[("s2", 0)]), "LASTZ does not count what it passes in FASTQ");
    assert_eq!(names("m[subset=comments]"), named(&[("s2", 2)]));
    assert_eq!(names("q[subsample=3/3]"), named(&[("s2", 2)]));
    assert!(files.error("m[multi,subset=order]").contains("(or contains out of order) the sequence \"s0\""));
    assert!(files.error("m[subset=other]").contains("\"zz\""));
    assert!(files.error("m[subset=marked]").contains("\"s2#x\""));
    assert!(files.error("q[multi,subset=order]").contains("\"s0\""), "not missed in FASTA only");
    assert!(files.error("m[multi,subset=blank]").contains("the sequence \"\""));
    assert!(files.error("nameless[subset=fed]").contains("the sequence \"\""));
    assert!(files.error("m[subset=empty]").contains("is empty"));
    assert!(files.error("m[subset=nofile]").contains("cannot read"));
}

#[test]
fn names_of_a_set() {
    let files = Files::new(&[("t", ">gi|1|x.fa desc\nACGT\n")]);
    for (actions, name) in [
        ("", "gi"),
        ("[nameparse=darkspace]", "gi|1|x"),
        ("[nameparse=full]", ">gi|1|x.fa desc"),
        ("[nameparse=full,nameparse=darkspace]", ">gi|1|x.fa desc"),
        ("[nameparse=tag:|1|]", "x"),
        ("[nameparse=tag:|1|,fullnames]", "x"),
        ("[nickname=a|b.fa c]", "a"),
        ("[nickname=a|b.fa c,fullnames]", "a|b.fa c"),
        ("[nickname=|x]", "seq1"),
    ] {
        assert_eq!(files.target(&format!("t{actions}")).unwrap().0.partitions[0].name, name, "{actions}");
    }
    let nicknamed = files.target("a b::t").unwrap().0;
    assert_eq!(
        (nicknamed.partitions[0].header.to_str().unwrap(), nicknamed.partitions[0].has_header_mark),
        ("a b", false)
    );
    let bare = ReadOptions { bare_full_names: true, ..Default::default() };
    let set = read_target(&files.spec("t[fullnames]"), &bare, &mut |_| ()).unwrap();
    assert_eq!(set.partitions[0].name, "gi|1|x.fa desc");
}

#[test]
fn masks_and_unmask_in_lastz_order() {
    let files = Files::new(&[("t", ">t\nacgtACGTACGT\n"), ("a", "3 6\n"), ("b", "5 8\n"), ("c", "8 9\n")]);
    for (actions, expected) in [
        ("[unmask]", "ACGTACGTACGT"),
        ("[softmask=a,unmask]", "ACgtacGTACGT"),
        ("[nmask=c,xmask=b,softmask=a]", "acgtXXXNNCGT"),
        ("{a}", "acXXXXGTACGT"),
        ("[xmask=keep:b]", "XXXXACGTXXXX"),
        ("[xmask=a][5..10]", "XXGTAC"),
        ("[xmask=a][5..10]-", "GTACXX"),
    ] {
        assert_eq!(bases(&files.target(&format!("t{actions}")).unwrap().0), expected, "{actions}");
    }
}

#[test]
fn separators_split_records_in_place() {
    let files = Files::new(&[
        ("s", ">a one\nAANCCNNGG\n"),
        ("two", ">a\nAANC\n>b\nNNGNN\n"),
        ("low", ">a\nAAaAA\n"),
        ("only", ">a\nNNN\n>b\nAC\n"),
        ("q", "@r\nAANCC\n+\nabcde\n"),
    ]);
    let (set, _) = files.target("s[sep=N]").unwrap();
    assert_eq!(bases(&set), ".AA.CC..GG.");
    assert!(set.is_partitioned);
    assert_eq!(facts(&set), [("a", 0, 0, 9), ("a", 0, 3, 9), ("a", 0, 7, 9)]);
    let (set, _) = files.target("s[sep=N]-").unwrap();
    assert_eq!(bases(&set), ".TT.GG..CC.");
    assert_eq!(set.partitions.iter().map(|p| p.strand_start(true)).collect::<Vec<_>>(), [7, 4, 0]);
    assert_eq!(facts(&files.target("s[sep=N,2..6]").unwrap().0), [("a", 0, 1, 9), ("a", 0, 3, 9)]);
    assert!(files.error("two[sep=N]").contains("more than one sequence"));
    assert_eq!(bases(&files.target("two[multi,sep=N]").unwrap().0), ".AA.C...G...");
    let (sets, _) = files.queries("two[sep=N]").unwrap();
    assert_eq!(sets.iter().map(bases).collect::<Vec<_>>(), [".AA.C.", "...G..."]);
    assert_eq!(bases(&files.target("low[sep=a]").unwrap().0), ".AA.AA.");
    assert_eq!(bases(&files.target("low[sep=a,unmask]").unwrap().0), ".AAAAA.");
    let (sets, _) = files.queries("q[sep=N]").unwrap();
    assert_eq!(sets[0].partitions[1].qualities.as_deref(), Some(&b"de"[..]));
    // LASTZ stops with an internal error; here such a record counts as empty.
    let (sets, warnings) = files.queries("only[sep=N]").unwrap();
    assert_eq!((sets.len(), warnings.len()), (1, 1));
}
