//! Where output goes. A file appears under its name only when it is whole.

use std::fs::File;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Bytes collected before they are written.
const BUFFER: usize = 1 << 18;

/// What errors call standard output.
const STANDARD_OUTPUT: &str = "standard output";

/// Standard output, or a file that gets its name when [`Destination::publish`] is called. Dropped before that, a file
/// leaves nothing behind.
pub struct Destination {
    kind: Kind,
    written: u64,
}

enum Kind {
    StandardOutput(BufWriter<Stdout>),
    /// Devices and pipes cannot be renamed: they are written directly.
    Special(BufWriter<File>, PathBuf),
    File(BufWriter<NamedTempFile>, PathBuf),
}

impl Destination {
    /// Standard output.
    pub fn standard_output() -> Self {
        Destination { kind: Kind::StandardOutput(BufWriter::with_capacity(BUFFER, io::stdout())), written: 0 }
    }

    /// A file; an existing one is replaced on [`publish`](Self::publish).
    ///
    /// # Errors
    /// If the file or, for a new one, its folder cannot be written.
    pub fn file(path: &Path) -> Result<Self> {
        let failed = |source| Error::Io { action: "cannot write", path: path.to_path_buf(), source };
        // Renaming would replace a link by a file: follow it first.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let existing = path.metadata().ok();
        if existing.as_ref().is_some_and(|found| found.is_dir()) {
            return Err(failed(io::Error::other("it is a directory: name a file")));
        }
        if existing.as_ref().is_some_and(|found| !found.is_file()) {
            let file = File::options().write(true).open(&path).map_err(failed)?;
            return Ok(Destination { kind: Kind::Special(BufWriter::with_capacity(BUFFER, file), path), written: 0 });
        }
        if existing.is_some() {
            // A file that may not be written must not be replaced either.
            File::options().append(true).open(&path).map_err(failed)?;
        }
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        folder.metadata().map_err(failed)?;
        let mut builder = tempfile::Builder::new();
        let name = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
        builder.prefix(&name).suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Before the umask, as any new file; an existing file keeps its mode.
            let mode = existing.as_ref().map_or(0o666, |found| found.permissions().mode());
            builder.permissions(std::fs::Permissions::from_mode(mode));
        }
        let file = builder.tempfile_in(folder).map_err(|error| failed(without_path(error)))?;
        Ok(Destination { kind: Kind::File(BufWriter::with_capacity(BUFFER, file), path), written: 0 })
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Writes what is buffered, and gives a file its name.
    ///
    /// # Errors
    /// If the last bytes cannot be written (a full disk) or the file cannot be renamed.
    pub fn publish(self) -> Result<()> {
        match self.kind {
            Kind::StandardOutput(mut out) => Ok(out.flush().map_err(naming(Path::new(STANDARD_OUTPUT)))?),
            Kind::Special(mut out, path) => {
                out.flush().map_err(|source| Error::Io { action: "cannot write", path, source })
            }
            Kind::File(out, path) => {
                let failed = |source| Error::Io { action: "cannot write", path: path.clone(), source };
                let file = out.into_inner().map_err(|e| failed(e.into_error()))?;
                file.persist(&path).map_err(|e| failed(e.error))?;
                Ok(())
            }
        }
    }
}

/// The error without what was added to it: the name of a temporary file says nothing to the user.
fn without_path(error: io::Error) -> io::Error {
    if error.get_ref().is_some() { error.kind().into() } else { error }
}

/// The same error, naming the file that could not be written. Its kind stays: a broken pipe is no failure.
fn naming(path: &Path) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = match &mut self.kind {
            Kind::StandardOutput(out) => out.write(bytes).map_err(naming(Path::new(STANDARD_OUTPUT))),
            Kind::Special(out, path) => out.write(bytes).map_err(naming(path)),
            Kind::File(out, path) => out.write(bytes).map_err(naming(path)),
        }?;
        self.written += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.kind {
            Kind::StandardOutput(out) => out.flush().map_err(naming(Path::new(STANDARD_OUTPUT))),
            Kind::Special(out, path) => out.flush().map_err(naming(path)),
            Kind::File(out, path) => out.flush().map_err(naming(path)),
        }
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
        whole.publish().unwrap();
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
}
