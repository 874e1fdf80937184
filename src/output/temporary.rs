//! Files under a temporary name until they are whole. Those of the process are listed, so that they can be removed when
//! it is ended from outside.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use tempfile::TempPath;

/// The temporary names in use. Only who holds the lock makes, renames or removes such files.
static IN_USE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A temporary name. The file that has it is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Temporary {
    /// `None` once the file is renamed.
    path: Option<TempPath>,
}

impl Temporary {
    /// Makes a file in `folder`. On Unix it gets `mode`, less the umask.
    pub fn create(folder: &Path, mode: u32) -> io::Result<(File, Temporary)> {
        let mut builder = tempfile::Builder::new();
        // As short as this whatever the output's name: that may be as long as the file system allows.
        builder.prefix(".fastz-").suffix(".part");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
        #[cfg(not(unix))]
        let _ = mode;
        let mut in_use = lock();
        let (file, path) = builder.tempfile_in(folder)?.into_parts();
        in_use.push(path.to_path_buf());
        Ok((file, Temporary { path: Some(path) }))
    }

    /// Gives all files their names, in this order; with the error comes the number of the file.
    pub fn rename_all<'a>(
        files: impl IntoIterator<Item = (&'a mut Temporary, &'a Path)>,
    ) -> Result<(), (usize, io::Error)> {
        // A signal ends the process before the first or behind the last.
        let mut in_use = lock();
        for (number, (file, name)) in files.into_iter().enumerate() {
            let Some(path) = file.path.take() else { continue };
            in_use.retain(|other| other.as_path() != &*path);
            path.persist(name).map_err(|failed| (number, failed.error))?;
        }
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            let mut in_use = lock();
            in_use.retain(|other| other.as_path() != &*path);
            drop(path);
            drop(in_use);
        }
    }
}

fn lock() -> MutexGuard<'static, Vec<PathBuf>> {
    // A list of names is never half changed.
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what has not been published, for a process that is about to end without unwinding, as by a signal: from then
/// on no file can be made or published. If files are being published, it waits for that, but not for long: the thread
/// that calls may be the one that publishes.
pub fn remove_unpublished() {
    for _ in 0..200 {
        let in_use = match IN_USE.try_lock() {
            Ok(in_use) => in_use,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(Duration::from_millis(10));
                continue;
            }
        };
        for path in in_use.iter() {
            // What is gone need not be removed.
            let _ = std::fs::remove_file(path);
        }
        // The lock is never given back.
        return std::mem::forget(in_use);
    }
}
