//! Opening sequence files: decompression, and which format the content shows (lastz-semantics 1.3, 1.10).
//!
//! LASTZ looks at the content, not at the name: 2bit by its magic number in either byte order, FASTQ by a leading `@`,
//! anything else is FASTA. Gzip (and so bgzip, which is gzip in many members) is unpacked here; LASTZ cannot do that.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::Path;

use super::gzip::{MAGIC, Members, Trailing};
use super::specifier::{FileFormat, Specifier};
use crate::error::{Error, Result};

/// A stream of text.
pub(super) type TextStream = Box<dyn BufRead + Send>;

/// What 2bit files are read from.
pub(super) trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

/// An opened file of known format.
pub(super) enum Source {
    Fasta {
        text: TextStream,
        /// Size of the file, if plain: no more bases than this can come.
        max_bases: Option<u64>,
    },
    Fastq(TextStream),
    TwoBit(Box<dyn ReadSeek>),
}

const BUFFER_BYTES: usize = 1 << 18;
const TWO_BIT_MAGIC: u32 = 0x1A41_2743;
const NIB_MAGIC: u32 = 0x6BE9_3D3A;
const HSX_MAGIC: u32 = 0xD252_7095;

impl Source {
    /// Opens the file of a specifier.
    pub fn open(spec: &Specifier) -> Result<Source> {
        let Some(path) = spec.path.as_deref() else {
            return unpack(spec, Box::new(BufReader::with_capacity(BUFFER_BYTES, io::stdin())), None);
        };
        let as_io_error = |source| Error::Io { action: "cannot open", path: path.into(), source };
        let mut file = File::open(path).map_err(as_io_error)?;
        let metadata = file.metadata().map_err(as_io_error)?;
        if metadata.is_dir() {
            return Err(spec.error("is a directory: name a FASTA, FASTQ or 2bit file"));
        }
        if !metadata.is_file() {
            return unpack(spec, Box::new(BufReader::with_capacity(BUFFER_BYTES, file)), None);
        }
        let mut head = Vec::new();
        Read::by_ref(&mut file).take(4).read_to_end(&mut head).and_then(|_| file.rewind()).map_err(as_io_error)?;
        if is_two_bit(spec, &head) {
            return Ok(Source::TwoBit(Box::new(BufReader::new(file))));
        }
        unpack(spec, Box::new(BufReader::with_capacity(BUFFER_BYTES, file)), Some(metadata.len()))
    }
}

/// Unpacks gzip, then looks at the content.
fn unpack(spec: &Specifier, mut bytes: TextStream, mut max_bases: Option<u64>) -> Result<Source> {
    let mut head = peek(spec, &mut bytes)?;
    if head.starts_with(&MAGIC) {
        bytes = Box::new(BufReader::with_capacity(BUFFER_BYTES, Members::new(bytes)));
        max_bases = None;
        head = peek(spec, &mut bytes)?;
    }
    if is_two_bit(spec, &head) {
        let mut data = Vec::new();
        bytes.read_to_end(&mut data).map_err(|error| read_error(spec.file(), error))?;
        return Ok(Source::TwoBit(Box::new(Cursor::new(data))));
    }
    if let Some(what) = foreign(&head) {
        return Err(spec.error(format!("is {what}, which is not supported: give FASTA, FASTQ or 2bit")));
    }
    if head.len() < 4 {
        // LASTZ reads a magic number first, and a file that is too short for one as empty.
        bytes = Box::new(io::empty());
    }
    Ok(match spec.format {
        Some(FileFormat::Fastq) => Source::Fastq(bytes),
        None if head.starts_with(b"@") => Source::Fastq(bytes),
        _ => Source::Fasta { text: bytes, max_bases },
    })
}

/// The first four bytes, or all if there are fewer, without consuming them.
fn peek(spec: &Specifier, bytes: &mut TextStream) -> Result<Vec<u8>> {
    let read = |bytes: &mut TextStream| -> io::Result<Vec<u8>> {
        let head = bytes.fill_buf()?[..].iter().take(4).copied().collect::<Vec<u8>>();
        if head.is_empty() || head.len() == 4 {
            return Ok(head);
        }
        // A pipe may deliver single bytes.
        let mut head = Vec::new();
        bytes.take(4).read_to_end(&mut head)?;
        let inner = std::mem::replace(bytes, Box::new(io::empty()));
        *bytes = Box::new(BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head.clone()).chain(inner)));
        Ok(head)
    };
    read(bytes).map_err(|error| read_error(spec.file(), error))
}

/// An error while reading text or unpacking it.
pub(super) fn read_error(file: &str, error: io::Error) -> Error {
    match error.kind() {
        _ if error.get_ref().is_some_and(|inner| inner.is::<Trailing>()) => Error::input(file, error.to_string()),
        io::ErrorKind::UnexpectedEof => {
            Error::input(file, "the compressed data end early: the file is cut off, get it again")
        }
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            Error::input(file, format!("the compressed data are damaged ({error}): get the file again"))
        }
        _ => Error::Io { action: "cannot read", path: Path::new(file).into(), source: error },
    }
}

fn is_two_bit(spec: &Specifier, head: &[u8]) -> bool {
    spec.format == Some(FileFormat::TwoBit) && !head.starts_with(&MAGIC)
        || spec.format.is_none() && has_magic(head, TWO_BIT_MAGIC)
}

fn has_magic(head: &[u8], magic: u32) -> bool {
    head.len() == 4 && (head == magic.to_le_bytes() || head == magic.to_be_bytes())
}

/// What a file is that cannot be FASTA.
fn foreign(head: &[u8]) -> Option<&'static str> {
    let starts = |magic: &[u8]| head.starts_with(magic);
    match head {
        _ if has_magic(head, NIB_MAGIC) => Some("a nib file"),
        _ if has_magic(head, HSX_MAGIC) => Some("an hsx file"),
        _ if starts(b"#") => Some("color space (csfasta) or a table"),
        _ if starts(b"BZh") => Some("a bzip2 file"),
        _ if starts(&[0xfd, b'7', b'z', b'X']) => Some("an xz file"),
        _ if starts(&[0x28, 0xb5, 0x2f, 0xfd]) => Some("a zstd file"),
        _ if starts(b"PK\x03\x04") => Some("a zip file"),
        _ if starts(&[0xff, 0xfe]) || starts(&[0xfe, 0xff]) => Some("UTF-16 text"),
        _ if starts(&[0xef, 0xbb, 0xbf]) => Some("text with a byte order mark"),
        _ => None,
    }
}
