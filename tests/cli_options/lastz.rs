//! Running the installed lastz on generated input.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

/// Runs lastz in `directory`; `None`, and a line that says so, if it is not installed.
pub fn lastz(directory: &Path, words: &[&str]) -> Option<Output> {
    match Command::new("lastz").args(words).current_dir(directory).output() {
        Ok(output) => Some(output),
        Err(_) => {
            // Past the capture of the test harness, so that it is seen.
            let _ = writeln!(std::io::stderr(), "SKIPPED: lastz is not installed, so nothing was compared");
            None
        }
    }
}

/// The first line on stderr.
pub fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_string()
}

/// A small seeded generator.
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// Random bases.
    pub fn bases(&mut self, count: usize) -> String {
        (0..count).map(|_| char::from(b"ACGT"[self.below(4)])).collect()
    }
}
