//! 2bit files of our own making, in both byte orders and versions.

use super::*;

/// Writes 2bit text as faToTwoBit does: N and lower case as blocks.
pub(super) fn encode(records: &[(&str, &str)], big: bool, version: u32) -> Vec<u8> {
    let word = |n: usize| if big { (n as u32).to_be_bytes() } else { (n as u32).to_le_bytes() };
    let blocks = |bases: &str, is_in: fn(u8) -> bool| {
        let bases = bases.as_bytes();
        let starts: Vec<usize> =
            (0..bases.len()).filter(|&i| is_in(bases[i]) && (i == 0 || !is_in(bases[i - 1]))).collect();
        let len = |&start: &usize| bases[start..].iter().take_while(|&&b| is_in(b)).count();
        let mut bytes = word(starts.len()).to_vec();
        starts.iter().for_each(|&start| bytes.extend(word(start)));
        starts.iter().for_each(|start| bytes.extend(word(len(start))));
        bytes
    };
    let offset_bytes = if version == 0 { 4 } else { 8 };
    let mut offset = 16 + records.iter().map(|(name, _)| 1 + name.len() + offset_bytes).sum::<usize>();
    let mut bytes = [word(0x1A41_2743), word(version as usize), word(records.len()), word(0)].concat();
    let mut data = Vec::new();
    for (name, bases) in records {
        bytes.push(name.len() as u8);
        bytes.extend(name.bytes());
        match (version, big) {
            (0, _) => bytes.extend(word(offset)),
            (_, true) => bytes.extend((offset as u64).to_be_bytes()),
            (_, false) => bytes.extend((offset as u64).to_le_bytes()),
        }
        let mut record = word(bases.len()).to_vec();
        record.extend(blocks(bases, |b| b.eq_ignore_ascii_case(&b'N')));
        record.extend(blocks(bases, |b| b.is_ascii_lowercase()));
        record.extend(word(0));
        for four in bases.as_bytes().chunks(4) {
            let code = |i: usize| four.get(i).and_then(|b| b"TCAG".iter().position(|l| b.eq_ignore_ascii_case(l)));
            record.push((0..4).fold(0, |byte, i| byte << 2 | code(i).unwrap_or(0) as u8));
        }
        offset += record.len();
        data.extend(record);
    }
    bytes.extend(data);
    bytes
}

const LONG: &str = "ACGTNNNacgtacnnGGATTCCAtNa";

#[test]
fn masks_ns_contigs_and_byte_orders() {
    let files = Files::new(&[("names", "e|f\n")]);
    for (big, version) in [(false, 0), (true, 0), (false, 1), (true, 1)] {
        files.write("b.2bit", &encode(&[("chr1.fa", LONG), ("c d", "GGC"), ("e|f", "TTTAc")], big, version));
        let (set, _) = files.target("b.2bit[multi]").unwrap();
        assert_eq!(bases(&set), format!(".{LONG}.GGC.TTTAc."));
        assert_eq!(facts(&set), [("chr1", 0, 0, 26), ("c", 1, 0, 3), ("e", 2, 0, 5)]);
        assert_eq!((set.partitions[1].header.to_str().unwrap(), set.partitions[1].has_header_mark), ("c d", false));
        let (set, _) = files.target("b.2bit/c d").unwrap();
        assert_eq!((bases(&set), facts(&set)), ("GGC".into(), vec![("c", 1, 0, 3)]));
        assert!(set.file.ends_with("b.2bit"));
        assert_eq!(facts(&files.target("b.2bit[subset=names]").unwrap().0), [("e", 2, 0, 5)]);
        assert_eq!(files.queries("b.2bit").unwrap().0.len(), 3);
        for from in 0..LONG.len() {
            for to in from + 1..=LONG.len() {
                let (set, _) = files.target(&format!("b.2bit/chr1.fa[{}..{to}]", from + 1)).unwrap();
                assert_eq!((bases(&set).as_str(), facts(&set)[0].2), (&LONG[from..to], from));
            }
        }
    }
    assert!(files.error("b.2bit").contains("more than one sequence"));
    assert!(files.error("b.2bit/zz").contains("doesn't contain the sequence \"zz\": names are chr1.fa, c d, e|f"));
    assert!(files.error("b.2bit/c d[1..4]").contains("in c d, the subrange goes beyond the end (4 > 3)"));
    assert!(files.error("b.2bit/c d[subset=names]").contains("exclude each other"));
    let sampled = |text: &str| facts(&files.target(text).unwrap().0)[0].0.to_string();
    assert_eq!(sampled("b.2bit/chr1.fa[subsample=2/9]"), sampled("b.2bit/c d"));
    assert!(
        files.error("b.2bit/c d[subsample=3/3]").contains("too few sequences behind \"c d\" (1) for [subsample=3/n]")
    );
    assert!(files.error("b.2bit[multi,nameparse=tag:x]").contains("only valid for FASTA"));
}

#[test]
fn content_decides_not_the_name() {
    let files = Files::new(&[("fake.2bit", ">q\nACGT\n")]);
    files.write("b.fa", &encode(&[("a", "ACGT")], false, 0));
    assert_eq!(bases(&files.target("b.fa").unwrap().0), "ACGT");
    assert_eq!(bases(&files.target("fake.2bit").unwrap().0), "ACGT");
    assert!(files.error("fake.2bit/q").contains("2bit files only"));
}

#[test]
fn long_records_and_empty_ones() {
    let long: String = (0..300_001).map(|i| b"ACGT"[(i * i / 7 + i) % 4] as char).collect();
    let files = Files::new(&[]);
    files.write("b", &encode(&[("a", ""), ("l", &long)], false, 0));
    let (set, warnings) = files.target("b[multi]").unwrap();
    assert_eq!((bases(&set), warnings.len()), (format!("..{long}."), 1));
    let (set, _) = files.queries("b[subsample=2/2,99998..299999]").unwrap();
    assert_eq!(bases(&set[0]), long[99_997..299_999]);
}

#[test]
fn damaged_files() {
    let files = Files::new(&[]);
    let whole = encode(&[("chr1", LONG)], false, 0);
    for len in 4..whole.len() {
        files.write("cut", &whole[..len]);
        let error = files.error("cut");
        assert!(error.contains("cut off"), "{len}: {error}");
    }
    for (at, value, message) in [(4, 9, "version 9"), (12, 1, "header word 4"), (8, 0, "empty 2bit file")] {
        let mut bytes = whole.clone();
        bytes[at] = value;
        files.write("bad", &bytes);
        assert!(files.error("bad").contains(message), "{}", files.error("bad"));
    }
}
