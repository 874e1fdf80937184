//! What can go wrong, in one line that names the thing and the way out.

use std::path::PathBuf;

/// Result of the library's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the library. `Display` gives one line for the user.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read or written.
    #[error("{action} {path}: {source}", path = path.display())]
    Io {
        /// What was being done, as a verb: `cannot open`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// A sequence, score, segment or name file says something that cannot be used.
    #[error("{file}: {message}")]
    Input {
        /// The file as the user typed it.
        file: String,
        /// Sequence, line, position and way out.
        message: String,
    },
    /// Options that are wrong or exclude each other.
    #[error("{0}")]
    Options(String),
    /// The chosen format cannot express a block.
    #[error("{0}")]
    Format(String),
    /// A device failed and the CPU was not to step in.
    #[error("the GPU failed: {0}; --device=cpu or --device=auto finishes without it")]
    Device(String),
    /// Writing the result failed.
    #[error("cannot write the output: {0}")]
    Write(#[from] std::io::Error),
}

impl Error {
    /// An [`Error::Input`] from displayable parts.
    pub fn input(file: impl Into<String>, message: impl Into<String>) -> Self {
        Error::Input { file: file.into(), message: message.into() }
    }

    /// An [`Error::Options`].
    pub fn options(message: impl Into<String>) -> Self {
        Error::Options(message.into())
    }
}
