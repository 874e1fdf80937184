//! The installed lastz.

use std::path::Path;
use std::process::Command;

use crate::generate::Case;

const VERSION: &str = "1.04.22";
const FORMAT: &str = "--format=general-:score,name1,strand1,zstart1,end1,name2,strand2,zstart2,end2";

pub fn is_installed() -> bool {
    Command::new("lastz").arg("--version").output().is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains(VERSION))
}

/// The lines of `lastz --nogapped`.
pub fn hsps(case: &Case) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    case.write(dir.path());
    run(dir.path(), case)
}

fn run(dir: &Path, case: &Case) -> Vec<String> {
    let mut command = Command::new("lastz");
    command.current_dir(dir).args(case.arguments().split(' ')).arg(FORMAT);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "lastz {}: {stderr}", case.arguments());
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_string).collect()
}
