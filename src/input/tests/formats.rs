//! FASTQ, gzip, and files that are something else.

use super::*;

#[test]
fn fastq_records() {
    let files = Files::new(&[("q", "@r1 x\nACGTn\n+\n!I~@+\n@r2\nAC\r\n+r2\r\nab\r\n\n")]);
    let (sets, _) = files.queries("q").unwrap();
    assert_eq!(facts(&sets[0]), [("r1", 0, 0, 5)]);
    assert_eq!(sets[0].partitions[0].qualities.as_deref(), Some(&b"!I~@+"[..]));
    assert_eq!(
        (sets[0].partitions[0].header.to_str().unwrap(), sets[0].partitions[0].has_header_mark),
        ("r1 x", false)
    );
    assert_eq!((facts(&sets[1]), bases(&sets[1])), (vec![("r2", 1, 0, 2)], "AC".into()));
    let (reversed, _) = files.queries("q[1..2]-").unwrap();
    assert_eq!((bases(&reversed[0]), reversed[0].partitions[0].qualities.as_deref()), ("GT".into(), Some(&b"!I"[..])));
    assert_eq!(files.queries("q[fullnames]").unwrap().0[0].partitions[0].name, "r1 x");
    for (text, message) in [
        ("@r\nACGT\n+x\nIIII\n", "third line mismatch"),
        ("@r\nAC\nGT\n+\nIIII\n", "expected '+' but read 'G'"),
        ("@r\nACGT\n+\nIII\n", "length 4, but the qualities 3"),
        ("@r\nACGT\n+\nIIIII\n", "length 4, but the qualities 5"),
        ("@r\nACGT\n", "premature end"),
        ("@r1\n", "premature end"),
        ("@r\n", "contains no sequence"),
        ("@r\nACRT\n+\nIIII\n", "character 'R', position 3"),
        ("@r\nACGT\n+\nI II\n", "quality character 0x20, position 2"),
        ("@r\nACGT\n+\nIIII\n\n@s\nA\n+\nI\n", "empty lines between records"),
        ("@r\nACGT\n+\nIIII\nx\n", "expected '@' but read 'x'"),
    ] {
        let files = Files::new(&[("f", text)]);
        let error = files.queries("f").map(|_| text).expect_err(text).to_string();
        assert!(error.contains(message) && error.lines().count() == 1, "{text:?}: {error}");
    }
}

#[test]
fn gzip_in_one_or_many_members() {
    let files = Files::new(&[]);
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let text = format!(">a\n{}\n>b\nCC\n", "ACGTT".repeat(100_000));
    let (one, two) = text.split_at(77_777);
    files.write("one.gz", &gzip(&text));
    files.write("many.gz", &[gzip(one), gzip(two), gzip("")].concat());
    files.write("fq.gz", &gzip("@r\nAC\n+\nII\n"));
    files.write("plain", text.as_bytes());
    let plain = bases(&files.target("plain[multi]").unwrap().0);
    assert_eq!(bases(&files.target("one.gz[multi]").unwrap().0), plain);
    assert_eq!(bases(&files.target("many.gz[multi]").unwrap().0), plain);
    assert!(files.target("fq.gz").unwrap().0.partitions[0].qualities.is_some());
    let whole = gzip(&text);
    files.write("cut.gz", &whole[..whole.len() - 9]);
    assert!(files.error("cut.gz[multi]").contains("cut off"));
    let mut damaged = whole;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    files.write("bad.gz", &damaged);
    assert!(files.error("bad.gz[multi]").contains("damaged"));
}

#[test]
fn files_that_are_no_sequence_files() {
    let files = Files::new(&[("protein", ">p\nMKVLA\n"), ("csfasta", "#c\n>t\n"), ("html", "<html>")]);
    files.write("nib", b"\x3a\x3d\xe9\x6b\0\0\0\0");
    files.write("xz", b"\xfd7zXZ\0");
    files.write("binary", b">t\nAC\0\0\x01");
    for (file, message) in [
        ("protein", "bad fasta character 'M' in >p, position 1"),
        ("csfasta", "color space"),
        ("html", "bad fasta character '<' in the first record"),
        ("nib", "is a nib file"),
        ("xz", "is an xz file"),
        ("binary", "0x00 in >t, position 3"),
        ("nofile", "cannot open"),
        (".", "is a directory"),
        ("protein[format=2bit]", "bad 2bit magic number"),
        ("protein[format=fastq]", "expected '@' but read '>'"),
    ] {
        assert!(files.error(file).contains(message), "{}", files.error(file));
    }
}
