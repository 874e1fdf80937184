//! The two programs: `fastz` as built (or `FASTZ_BIN`), and the installed `lastz`.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The LASTZ version whose output is the truth.
pub const LASTZ_VERSION: &str = "1.04.22";

/// Makes fastz call itself what LASTZ calls itself in headers.
pub const LASTZ_TOKEN: &str = "--program-token=lastz.v1.04.22";

/// The program under test: `FASTZ_BIN` if set, else the one Cargo built.
pub fn fastz_path() -> PathBuf {
    match std::env::var_os("FASTZ_BIN") {
        Some(name) => absolute(Path::new(&name)),
        None => PathBuf::from(env!("CARGO_BIN_EXE_fastz")),
    }
}

/// Where a program lies. Tests put folders in front of `PATH` and change folders, so a bare or relative name would
/// mean another program there.
fn absolute(name: &Path) -> PathBuf {
    let found = if name.components().count() > 1 {
        name.canonicalize().ok()
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
    };
    found.unwrap_or_else(|| panic!("there is no program {}", name.display()))
}

/// Whether `FASTZ_BIN` is a LASTZ (its file name starts so), which knows none of fastz's own options. Running the
/// tests in this way checks the tests themselves.
pub fn is_lastz_on_trial() -> bool {
    fastz_path().file_name().is_some_and(|name| name.to_string_lossy().starts_with("lastz"))
}

/// Options that only fastz knows: none if a LASTZ stands in for it.
pub fn own_options<'a>(options: &[&'a str]) -> Vec<&'a str> {
    if is_lastz_on_trial() { Vec::new() } else { options.to_vec() }
}

/// fastz in this folder, ready for LASTZ's options, speaking under LASTZ's name.
pub fn fastz_as_lastz(folder: &Path) -> Command {
    let mut command = Command::new(fastz_path());
    command.current_dir(folder).args(own_options(&[LASTZ_TOKEN]));
    command
}

/// fastz in this folder, as a user calls it.
pub fn fastz(folder: &Path) -> Command {
    let mut command = Command::new(fastz_path());
    command.current_dir(folder);
    command
}

/// The installed LASTZ, if it has the right version. `FASTZ_LASTZ` names another place than `PATH`.
/// Without one a line says so; `FASTZ_REQUIRE_LASTZ=1` makes that a failure.
pub fn lastz_or_skip(what: &str) -> Option<PathBuf> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let path = match std::env::var_os("FASTZ_LASTZ") {
            Some(name) => absolute(Path::new(&name)),
            None => PathBuf::from("lastz"),
        };
        let output = Command::new(&path)
            .arg("--version")
            .output()
            .map_err(|error| format!("{} does not run ({error})", path.display()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if text.contains(&format!("version {LASTZ_VERSION} ")) {
            Ok(path)
        } else {
            Err(format!("{} is not version {LASTZ_VERSION}", path.display()))
        }
    });
    match found {
        Ok(path) => Some(path.clone()),
        Err(why) => {
            assert!(std::env::var_os("FASTZ_REQUIRE_LASTZ").is_none(), "FASTZ_REQUIRE_LASTZ is set, but {why}");
            say(&format!("SKIPPED {what}: {why}; install lastz {LASTZ_VERSION} (Debian: apt-get install lastz)"));
            None
        }
    }
}

/// Prints a line past the capture of the test harness, so that a skipped test is seen.
pub fn say(line: &str) {
    let mut stderr = std::io::stderr().lock();
    // Nothing is lost if stderr is closed.
    let _ = writeln!(stderr, "{line}");
}

/// What a program did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// All of stdout.
    pub stdout: Vec<u8>,
    /// All of stderr.
    pub stderr: String,
    /// Exit status; none if a signal ended it.
    pub code: Option<i32>,
    /// Whether it was stopped because its time was up.
    pub timed_out: bool,
}

impl Outcome {
    /// Exit status 0.
    pub fn succeeded(&self) -> bool {
        self.code == Some(0)
    }

    /// The end of stderr, for reports.
    pub fn last_words(&self) -> &str {
        let from = self.stderr.char_indices().rev().nth(600).map_or(0, |(at, _)| at);
        self.stderr[from..].trim_end()
    }
}

/// Runs a command to its end, or stops it and all it started when `limit` is over.
pub fn run(command: &mut Command, stdin: &[u8], limit: Duration) -> Outcome {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {:?}: {error}", command.get_program()));
    let mut input = child.stdin.take().expect("stdin is a pipe");
    let mut output = child.stdout.take().expect("stdout is a pipe");
    let mut errors = child.stderr.take().expect("stderr is a pipe");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A program that does not read its input closes the pipe.
            let _ = input.write_all(stdin);
        });
        let stdout = scope.spawn(move || read_all(&mut output));
        let stderr = scope.spawn(move || read_all(&mut errors));
        let start = Instant::now();
        let mut timed_out = false;
        let mut pause = Duration::from_micros(500);
        let status = loop {
            if let Some(status) = child.try_wait().expect("wait for the program") {
                break status;
            }
            if start.elapsed() > limit && !timed_out {
                timed_out = true;
                stop(&mut child);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        };
        Outcome {
            stdout: stdout.join().expect("stdout is read"),
            stderr: String::from_utf8_lossy(&stderr.join().expect("stderr is read")).into_owned(),
            code: status.code(),
            timed_out,
        }
    })
}

/// Ends a program and, where the system has process groups, what it started: those hold the pipes open.
fn stop(child: &mut std::process::Child) {
    if cfg!(unix) {
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-9", "--", &group]).status();
    }
    // Already ended is fine.
    let _ = child.kill();
}

fn read_all(source: &mut impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).expect("read what the program prints");
    bytes
}
