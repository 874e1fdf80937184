//! Writes .2bit files: bases in 2 bits, with lists of N runs and of soft-masked runs.

/// The file of these (name, letters); letters other than ACGT become N.
pub fn twobit<'a>(records: impl Iterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let records: Vec<(&str, &[u8])> = records.collect();
    let word = |value: usize| u32::try_from(value).expect("small test files").to_le_bytes();
    let bodies: Vec<Vec<u8>> = records.iter().map(|(_, letters)| body(letters)).collect();
    let mut file = Vec::new();
    for value in [0x1A41_2743, 0, records.len(), 0] {
        file.extend(word(value));
    }
    let mut offset = 16 + records.iter().map(|(name, _)| 5 + name.len()).sum::<usize>();
    for ((name, _), body) in records.iter().zip(&bodies) {
        file.push(u8::try_from(name.len()).expect("short names"));
        file.extend(name.as_bytes());
        file.extend(word(offset));
        offset += body.len();
    }
    file.extend(bodies.concat());
    file
}

fn body(letters: &[u8]) -> Vec<u8> {
    let is_n = |letter: u8| !b"ACGT".contains(&letter.to_ascii_uppercase());
    let mut numbers = vec![letters.len()];
    for runs in [runs(letters, is_n), runs(letters, |letter| letter.is_ascii_lowercase())] {
        numbers.push(runs.len());
        numbers.extend(runs.iter().map(|run| run.0));
        numbers.extend(runs.iter().map(|run| run.1));
    }
    numbers.push(0);
    let mut bytes: Vec<u8> =
        numbers.iter().flat_map(|&value| u32::try_from(value).expect("small test files").to_le_bytes()).collect();
    for four in letters.chunks(4) {
        let code = |at: usize| {
            let letter = four.get(at).map_or(b'T', u8::to_ascii_uppercase);
            b"TCAG".iter().position(|&base| base == letter).unwrap_or(0) as u8
        };
        bytes.push(code(0) << 6 | code(1) << 4 | code(2) << 2 | code(3));
    }
    bytes
}

/// (start, length) of the runs of letters for which `belongs` holds.
fn runs(letters: &[u8], belongs: impl Fn(u8) -> bool) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, &letter) in letters.iter().enumerate() {
        if belongs(letter) {
            match runs.last_mut() {
                Some((start, len)) if *start + *len == at => *len += 1,
                _ => runs.push((at, 1)),
            }
        }
    }
    runs
}
