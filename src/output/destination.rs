//! Where output goes. A file appears under its name only when it is whole.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Stdout, Write};
use std::path::{Path, PathBuf};

use super::temporary::Temporary;
use crate::error::{Error, Result};

/// Bytes collected before they are written.
const BUFFER: usize = 1 << 18;

/// Standard output, or a file that gets its name when [`Destination::publish`] is called. Dropped before that, a file
/// leaves nothing behind.
pub struct Destination {
    kind: Kind,
    /// The name in messages: as the user typed it.
    shown: PathBuf,
    written: u64,
}

enum Kind {
    StandardOutput(BufWriter<Stdout>),
    /// Devices and pipes cannot be renamed: they are written directly.
    Special(BufWriter<File>),
    File {
        out: BufWriter<File>,
        temporary: Temporary,
        name: PathBuf,
    },
}

impl Destination {
    /// Standard output.
    pub fn standard_output() -> Self {
        Destination::new(
            Kind::StandardOutput(BufWriter::with_capacity(BUFFER, io::stdout())),
            "standard output".as_ref(),
        )
    }

    /// A file; an existing one is replaced on [`publish`](Self::publish).
    ///
    /// # Errors
    /// If the file or its folder cannot be written.
    pub fn file(path: &Path) -> Result<Self> {
        let failed = |source| Error::Io { action: "cannot write", path: path.to_path_buf(), source };
        // Renaming would replace a link by a file: follow it first.
        let name = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let existing = match name.metadata() {
            Ok(found) => Some(found),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            // Such as a name that is too long. The end of the run would be late to say so.
            Err(error) => return Err(failed(error)),
        };
        if existing.as_ref().is_some_and(|found| found.is_dir()) {
            return Err(failed(io::Error::other("it is a directory: name a file")));
        }
        if existing.as_ref().is_some_and(|found| !found.is_file()) {
            let file = File::options().write(true).open(&name).map_err(failed)?;
            return Ok(Destination::new(Kind::Special(BufWriter::with_capacity(BUFFER, file)), path));
        }
        if existing.is_some() {
            // A file that may not be written must not be replaced either.
            File::options().append(true).open(&name).map_err(failed)?;
        }
        let folder = name.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        folder.metadata().map_err(failed)?;
        let (file, temporary) =
            Temporary::create(folder, mode(existing.as_ref())).map_err(|error| failed(without_path(error)))?;
        let out = BufWriter::with_capacity(BUFFER, file);
        Ok(Destination::new(Kind::File { out, temporary, name }, path))
    }

    fn new(kind: Kind, shown: &Path) -> Self {
        Destination { kind, shown: shown.to_path_buf(), written: 0 }
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Writes what is buffered, and when all are whole gives the files their names, in this order.
    ///
    /// # Errors
    /// If the last bytes of one cannot be written (a full disk); then no file gets its name. Or if a file cannot be
    /// renamed; then the files behind it do not get theirs.
    pub fn publish(destinations: impl IntoIterator<Item = Destination>) -> Result<()> {
        let mut files = Vec::new();
        for Destination { kind, shown, .. } in destinations {
            let failed = |error| naming(&shown, error);
            match kind {
                Kind::StandardOutput(mut out) => out.flush().map_err(failed)?,
                Kind::Special(out) => out.into_inner().map_err(|e| e.into_error()).and_then(close).map_err(failed)?,
                Kind::File { out, temporary, name } => {
                    out.into_inner().map_err(|e| e.into_error()).and_then(close).map_err(failed)?;
                    files.push((temporary, name, shown));
                }
            }
        }
        let renamed = Temporary::rename_all(files.iter_mut().map(|(temporary, name, _)| (temporary, name.as_path())));
        Ok(renamed.map_err(|(number, error)| naming(&files[number].2, error))?)
    }
}

/// The mode of a new file, before the umask; an existing file keeps its own.
fn mode(existing: Option<&std::fs::Metadata>) -> u32 {
    #[cfg(unix)]
    if let Some(found) = existing {
        return std::os::unix::fs::PermissionsExt::mode(&found.permissions());
    }
    #[cfg(not(unix))]
    let _ = existing;
    0o666
}

/// Closes a file. On file systems of other machines a full disk may not show before.
fn close(file: File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::fd::IntoRawFd;
        // SAFETY: nobody else has the file.
        match unsafe { libc::close(file.into_raw_fd()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
    #[cfg(not(unix))]
    file.sync_data()
}

/// The error without what was added to it: the name of a temporary file says nothing to the user.
fn without_path(error: io::Error) -> io::Error {
    if error.get_ref().is_some() { error.kind().into() } else { error }
}

/// The same error, naming what could not be written. Its kind stays: a broken pipe is no failure.
fn naming(shown: &Path, error: io::Error) -> io::Error {
    let way_out = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            ": make room, or name a file on another disk"
        }
        _ => "",
    };
    io::Error::new(error.kind(), format!("{}: {error}{way_out}", shown.display()))
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = match &mut self.kind {
            Kind::StandardOutput(out) => out.write(bytes),
            Kind::Special(out) | Kind::File { out, .. } => out.write(bytes),
        };
        let n = n.map_err(|error| naming(&self.shown, error))?;
        self.written += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut self.kind {
            Kind::StandardOutput(out) => out.flush(),
            Kind::Special(out) | Kind::File { out, .. } => out.flush(),
        };
        flushed.map_err(|error| naming(&self.shown, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_only_when_published() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.maf");
        let mut dropped = Destination::file(&path).unwrap();
        dropped.write_all(b"half").unwrap();
        drop(dropped);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let mut whole = Destination::file(&path).unwrap();
        whole.write_all(b"whole").unwrap();
        assert!(!path.exists());
        Destination::publish([whole]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = Destination::file(Path::new("/no/such/folder/out.maf")).err().unwrap();
        assert!(error.to_string().contains("/no/such/folder/out.maf"), "{error}");
        let causes = anyhow::Error::new(error).chain().map(ToString::to_string).collect::<Vec<_>>().join(": ");
        assert!(!causes.contains(".part"), "no temporary name: {causes}");
    }

    #[test]
    fn the_longest_file_name_will_do_and_a_longer_one_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = |len: usize| folder.path().join("x".repeat(len));
        let longest = (1..=255).rev().find(|&len| std::fs::write(path(len), "").is_ok()).unwrap();
        std::fs::remove_file(path(longest)).unwrap();
        let mut whole = Destination::file(&path(longest)).unwrap();
        whole.write_all(b"whole").unwrap();
        Destination::publish([whole]).unwrap();
        assert_eq!(std::fs::read(path(longest)).unwrap(), b"whole");
        assert!(Destination::file(&path(256)).is_err());
    }

    #[test]
    fn no_file_is_published_beside_one_that_cannot_be() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let [first, second] = ["first", "second"].map(|name| Destination::file(&path(name)).unwrap());
        // A folder in the place of a file is noticed only when it is renamed.
        std::fs::create_dir(path("second")).unwrap();
        let error = Destination::publish([second, first]).unwrap_err().to_string();
        assert!(error.contains("second") && !error.contains(".part"), "{error}");
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(left, ["second"]);
    }
}
