use super::*;
use crate::sequence::EmptyRecord;
use std::io::Cursor;

fn set(name: &str, len: usize) -> SequenceSet {
    SequenceSet::single(name, &vec![b'A'; len])
}

fn partitioned(names: &[&str], len: usize) -> SequenceSet {
    let partitions = names.iter().enumerate().map(|(i, name)| Partition {
        range: 1 + i * (len + 1)..(i + 1) * (len + 1),
        name: (*name).into(),
        full_len: len,
        ..Partition::default()
    });
    let mut set = SequenceSet { partitions: partitions.collect(), is_partitioned: true, ..SequenceSet::default() };
    set.bases = vec![0; names.len() * (len + 1) + 1];
    set.partitions.iter().for_each(|p| set.bases[p.range.clone()].fill(b'A'));
    set
}

/// Reads the file for all strands, then checks for left-over lines.
fn read(text: &str, target: &SequenceSet, strands: &[&SequenceSet]) -> Result<Vec<Vec<Hsp>>> {
    let mut reader = SegmentReader::new(Cursor::new(text), "s.txt", target)?;
    let lists = strands.iter().map(|query| reader.next_strand(target, query)).collect::<Result<Vec<_>>>()?;
    reader.finish()?;
    Ok(lists)
}

fn hsp(target_start: u32, query_start: u32, len: u32, score: i32) -> Hsp {
    Hsp { target_start, query_start, len, score }
}

#[test]
fn strands_take_their_lines_in_order() {
    let (target, query) = (set("t", 600), set("q", 300));
    let text = "# comment\n\nt 5 24 q 1 20 + 7\nt 25 44\tq 21 40 + 9 # adjacent\n\
                x 44 50 q 40 46 + 3\n* 1 20 * 30 49 +\na 1 2 q 3 4 - -5\r\n";
    let lists = read(text, &target, &[&query, &query.reverse_complement()]).unwrap();
    assert_eq!(lists[0], [hsp(4, 0, 20, 7), hsp(24, 20, 20, 9), hsp(43, 39, 7, 3), hsp(0, 29, 20, 0)]);
    assert_eq!(lists[1], [hsp(0, 2, 2, -5)]);
}

#[test]
fn left_over_lines_are_refused() {
    let (target, query) = (set("t", 600), set("q", 300));
    let error = read("t 1 2 q 1 2 + 5\nt 1 2 z 3 4 + 6\n", &target, &[&query]).unwrap_err().to_string();
    assert!(error.starts_with("s.txt: line 2: extra segment t/z+"), "{error}");
}

#[test]
fn rewind_serves_the_next_query_from_the_top() {
    let (target, q, r) = (set("t", 600), set("q", 300), set("r", 300));
    let strands = [&q, &q.reverse_complement(), &r, &r.reverse_complement()];
    let one = vec![hsp(0, 0, 20, 4)];
    let text = "* 1 20 * 1 20 + 4\n* 1 20 * 1 20 - 4\n";
    assert!(read(text, &target, &strands[..2]).is_ok());
    let lists = read(&format!("{text}rewind\n"), &target, &strands).unwrap();
    assert_eq!(lists, [one.clone(), one.clone(), one.clone(), one]);
}

#[test]
fn a_line_that_begins_with_a_carriage_return_or_form_feed_has_an_empty_target_name() {
    let (target, query) = (set("t", 600), set("q", 300));
    let lists = read(" \x0c1\x0b20 q 1 20 +\x0c4\r\n\t \n", &target, &[&query]).unwrap();
    assert_eq!(lists[0], [hsp(0, 0, 20, 4)]);
    let error = |text: &str| read(text, &target, &[&query]).unwrap_err().to_string();
    assert!(error("\x0ct 1 20 q 1 20 + 4\n").contains("line 1: bad field \"t\""));
    for nearly_blank in ["\r\n", " \x0b# comment\n", "rewind\r\n"] {
        assert!(error(nearly_blank).contains("line 1: the line has too few fields"), "{nearly_blank:?}");
    }
}

#[test]
fn star_is_every_target_sequence() {
    let (target, query) = (partitioned(&["a", "b"], 50), set("q", 300));
    let lists = read("* 3 12 q 1 10 + 4\nb 41 50 q 1 10 + 5\n", &target, &[&query]).unwrap();
    assert_eq!(lists[0], [hsp(3, 0, 10, 4), hsp(54, 0, 10, 4), hsp(92, 0, 10, 5)]);
}

#[test]
fn minus_positions_of_a_subrange_count_along_the_whole_sequence() {
    let mut query = set("q", 190);
    query.partitions[0].offset = 10;
    query.partitions[0].full_len = 300;
    let target = set("t", 600);
    let minus = query.reverse_complement();
    let lists = read("t 1 20 q 271 290 -\n", &target, &[&minus]).unwrap();
    assert_eq!(lists[0], [hsp(0, 170, 20, 0)]);
    let error = read("t 1 20 q 100 119 -\n", &target, &[&minus]).unwrap_err().to_string();
    assert!(error.contains("101..290"), "{error}");
}

#[test]
fn every_bad_line_is_named() {
    let (target, query) = (partitioned(&["a", "b"], 50), partitioned(&["q", "r"], 80));
    let cases = [
        ("a 1 20 q 1 20\n", "too few fields"),
        ("a 1 20 q 1 20 + 5 7\n", "too many fields"),
        ("a 1 20 q 1 20 x\n", "bad strand \"x\""),
        ("a x 20 q 1 20 +\n", "bad field \"x\""),
        ("a 1 20 q 1 20 + 5.5\n", "bad field \"5.5\""),
        ("a 20 1 q 1 20 +\n", "bad target interval: 20 is greater than 1"),
        ("a 1 20 q 20 1 +\n", "bad query interval: 20 is greater than 1"),
        ("a 1 20 q 1 21 +\n", "different lengths: 20 and 21"),
        ("a 41 60 q 1 20 +\n", "target interval out of range: 41..60 is not within 1..50 of \"a\""),
        ("a 0 19 q 1 20 +\n", "target interval out of range"),
        ("a 1 20 r 71 90 +\n", "query interval out of range: 71..90 is not within 1..80 of \"r\""),
        ("c 1 20 q 1 20 +\n", "bad target sequence name"),
        ("a 1 20 s 1 20 +\n", "bad query sequence name"),
        ("a 1 20 * 1 20 +\n", "bad query sequence name: *"),
    ];
    for (line, expected) in cases {
        let error = read(&format!("#\n{line}"), &target, &[&query]).unwrap_err().to_string();
        assert!(error.starts_with("s.txt: line 2: ") && error.contains(expected), "{line}: {error}");
    }
    let long = format!("a 1 20 q 1 20 + # {}\n", "x".repeat(1100));
    assert!(read(&long, &target, &[&query]).unwrap_err().to_string().contains("too long"));
}

/// The second sequence of a name is found behind the first, and hidden by another record between, with or without bases.
#[test]
fn a_second_sequence_of_a_name_is_found_right_behind_the_first() {
    let query = set("q", 300);
    let second_holds = |names: &[&str], empty: Option<usize>| {
        let mut target = partitioned(names, 100);
        let last = target.partitions.len() - 1;
        // The second one begins at position 201 of its record.
        target.partitions[last].full_len = 300;
        target.partitions[last].offset = 200;
        let start = empty.map(|at| EmptyRecord { name: "e".into(), start: at });
        target.empty_records = start.into_iter().collect();
        read("s 210 219 q 1 10 + 5\n", &target, &[&query]).is_ok()
    };
    assert!(second_holds(&["s", "s"], None));
    assert!(!second_holds(&["s", "t", "s"], None));
    assert!(!second_holds(&["s", "s"], Some(101)));
    assert!(second_holds(&["s", "s"], Some(0)));
}
