//! Comparison of texts, to the byte, with a report of the first difference.

/// Where two texts part, in lines, with the lines around; none if they are equal.
pub fn first_difference(expected: &[u8], actual: &[u8]) -> Option<String> {
    if expected == actual {
        return None;
    }
    let (left, right) = (lines(expected), lines(actual));
    let at = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    // Long lines are shown from shortly before the first column that differs.
    let column = match (left.get(at), right.get(at)) {
        (Some(a), Some(b)) => a.iter().zip(*b).take_while(|(a, b)| a == b).count().saturating_sub(100),
        _ => 0,
    };
    let show = |lines: &[&[u8]], at: usize, column: usize| match lines.get(at) {
        Some(line) => {
            let from = column.min(line.len());
            let mark = if from > 0 { format!("(column {}) ", from + 1) } else { String::new() };
            format!("{mark}{:?}", String::from_utf8_lossy(&line[from..line.len().min(from + 300)]))
        }
        None => "(end of text)".to_string(),
    };
    let before = at.checked_sub(1).map_or(String::new(), |before| format!("  after    {}\n", show(&left, before, 0)));
    Some(format!(
        "line {} of {} expected and {} actual lines:\n{before}  expected {}\n  actual   {}\n",
        at + 1,
        left.len(),
        right.len(),
        show(&left, at, column),
        show(&right, at, column)
    ))
}

/// Lines with their ends, so that a missing last newline is a difference.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// Panics with the first difference, if there is one.
pub fn assert_same_text(what: &str, expected: &[u8], actual: &[u8]) {
    if let Some(difference) = first_difference(expected, actual) {
        panic!("{what} differs at {difference}");
    }
}
