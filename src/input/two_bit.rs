//! 2bit: four bases per byte, any record at once (lastz-semantics 1.2, 1.4).
//!
//! ```text
//! header   magic, version, number of records, 0                 u32 each, in the byte order of the machine that wrote it
//! index    name length (u8), name, offset                       offset u32; u64 in version 1
//! record   length, N blocks, mask blocks, 0, packed bases        blocks: count, starts, lengths
//! bases    T 0, C 1, A 2, G 3; the first base in the two high bits
//! ```
//!
//! A reader of our own: the `twobit` crate gives upper-case strings of whole records or copies of parts, while masks,
//! N blocks and part of a record must go straight into one array here. LASTZ refuses version 1 and empty records; both
//! are read here.

use std::io::{self, ErrorKind, SeekFrom};

use super::name::Heading;
use super::record::Extent;
use super::source::ReadSeek;
use super::subrange::Subrange;
use crate::error::{Error, Result};

/// The four bases of every byte.
static UNPACKED: [[u8; 4]; 256] = {
    let letters = *b"TCAG";
    let mut table = [[0; 4]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut i = 0;
        while i < 4 {
            table[byte][i] = letters[(byte >> (6 - 2 * i)) & 3];
            i += 1;
        }
        byte += 1;
    }
    table
};

const MAGIC: u32 = 0x1A41_2743;
const CHUNK_BYTES: usize = 1 << 16;

struct IndexEntry {
    name: Vec<u8>,
    offset: u64,
}

/// Reads records in the order of the index, or the one that was asked for.
pub(super) struct TwoBitReader {
    bytes: Box<dyn ReadSeek>,
    file: String,
    is_big_endian: bool,
    file_len: u64,
    index: Vec<IndexEntry>,
    /// The record that `advance` gives next.
    next: usize,
    /// One past the last record to give.
    end: usize,
    first: usize,
}

impl TwoBitReader {
    /// Reads header and index; with a contig and `n`, only the n-th record behind that one is given (0: itself).
    pub fn open(bytes: Box<dyn ReadSeek>, file: &str, contig: Option<(&str, usize)>) -> Result<TwoBitReader> {
        let mut reader = TwoBitReader {
            bytes,
            file: file.to_string(),
            is_big_endian: false,
            file_len: 0,
            index: Vec::new(),
            next: 0,
            end: 0,
            first: 0,
        };
        reader.file_len = reader
            .bytes
            .seek(SeekFrom::End(0))
            .and_then(|len| reader.bytes.rewind().map(|()| len))
            .map_err(|e| reader.io(e))?;
        reader.read_index()?;
        reader.end = reader.index.len();
        if let Some((contig, behind)) = contig {
            let found = reader.index.iter().position(|entry| entry.name == contig.as_bytes());
            let Some(found) = found else {
                return Err(reader
                    .error(format!("doesn't contain the sequence \"{contig}\": names are {}", reader.some_names())));
            };
            let wanted = found + behind;
            if wanted >= reader.end {
                return Err(reader.error(format!(
                    "too few sequences behind \"{contig}\" ({}) for [subsample={}/n]: take a lower number",
                    reader.end - found - 1,
                    behind + 1
                )));
            }
            (reader.first, reader.next, reader.end) = (found, wanted, wanted + 1);
        }
        Ok(reader)
    }

    fn read_index(&mut self) -> Result<()> {
        let magic = self.read_u32()?;
        self.is_big_endian = magic == MAGIC.swap_bytes();
        if magic != MAGIC && !self.is_big_endian {
            return Err(self.error(format!("bad 2bit magic number {magic:08X}: this is no 2bit file")));
        }
        let version = self.read_u32()?;
        if version > 1 {
            return Err(self.error(format!("2bit version {version} is unknown: write the file again with faToTwoBit")));
        }
        let n_records = self.read_u32()?;
        let reserved = self.read_u32()?;
        if reserved != 0 {
            return Err(self.error(format!("bad 2bit header word 4 ({reserved:08X}): the file is damaged")));
        }
        for _ in 0..n_records {
            let mut len = [0];
            self.read_exact(&mut len)?;
            let mut name = vec![0; len[0] as usize];
            self.read_exact(&mut name)?;
            let offset = if version == 0 { self.read_u32()? as u64 } else { self.read_u64()? };
            self.index.push(IndexEntry { name, offset });
        }
        if self.index.is_empty() {
            return Err(self.error("is an empty 2bit file: it contains no sequence"));
        }
        Ok(())
    }

    /// Goes to the next record.
    pub fn advance(&mut self) -> Option<Heading> {
        let entry = self.index[..self.end].get(self.next)?;
        self.next += 1;
        Some(Heading::unmarked(&entry.name))
    }

    /// Index of the first record that `advance` gives, or of the contig that was asked for.
    pub fn first_record(&self) -> usize {
        self.first
    }

    /// Appends the bases of the present record that `subrange` wants; no others are read.
    pub fn load(&mut self, subrange: Option<&Subrange>, bases: &mut Vec<u8>) -> Result<Extent> {
        let offset = self.index[self.next - 1].offset;
        self.bytes.seek(SeekFrom::Start(offset)).map_err(|e| self.io(e))?;
        let full_len = self.read_u32()? as usize;
        let wanted = match subrange {
            None => 0..full_len,
            Some(subrange) => subrange.resolve(full_len).map_err(|limit| {
                self.error(format!(
                    "in {}, the subrange goes beyond the end ({limit} > {full_len}): use {full_len} at most",
                    self.name()
                ))
            })?,
        };
        let n_blocks = self.read_blocks()?;
        let mask_blocks = self.read_blocks()?;
        let reserved = self.read_u32()?;
        if reserved != 0 {
            return Err(
                self.error(format!("bad 2bit reserved word in {} ({reserved:08X}): the file is damaged", self.name()))
            );
        }
        let data_at = self.bytes.stream_position().map_err(|e| self.io(e))?;
        if self.file_len.saturating_sub(data_at) < (full_len as u64).div_ceil(4) {
            return Err(self.cut_off());
        }
        let loaded_at = bases.len();
        bases.reserve_exact(wanted.len());
        self.bytes.seek(SeekFrom::Start(data_at + wanted.start as u64 / 4)).map_err(|e| self.io(e))?;
        self.unpack(wanted.start % 4, wanted.len(), bases)?;
        let loaded = &mut bases[loaded_at..];
        for (start, len) in n_blocks {
            overlap(loaded, wanted.start, start, len).fill(b'N');
        }
        for (start, len) in mask_blocks {
            overlap(loaded, wanted.start, start, len).make_ascii_lowercase();
        }
        Ok(Extent { offset: wanted.start, full_len, qualities: None })
    }

    /// Appends `len` bases, the first `skip` of the packed ones left out.
    fn unpack(&mut self, skip: usize, len: usize, bases: &mut Vec<u8>) -> Result<()> {
        let mut packed = [0; CHUNK_BYTES];
        let (mut skip, mut left) = (skip, len);
        while left > 0 {
            let n_packed = (skip + left).div_ceil(4).min(CHUNK_BYTES);
            self.read_exact(&mut packed[..n_packed])?;
            for &byte in &packed[..n_packed] {
                let four = &UNPACKED[byte as usize];
                if skip == 0 && left >= 4 {
                    bases.extend_from_slice(four);
                    left -= 4;
                } else {
                    let some = &four[skip..4.min(skip + left)];
                    bases.extend_from_slice(some);
                    left -= some.len();
                    skip = 0;
                }
            }
        }
        Ok(())
    }

    /// Starts and lengths of blocks.
    fn read_blocks(&mut self) -> Result<Vec<(u32, u32)>> {
        let n_blocks = self.read_u32()? as usize;
        if self.file_len < 8 * n_blocks as u64 {
            return Err(self.cut_off());
        }
        let mut words = vec![0; 8 * n_blocks];
        self.read_exact(&mut words)?;
        let word = |i: usize| self.u32_from(words[4 * i..4 * i + 4].try_into().expect("four bytes"));
        Ok((0..n_blocks).map(|i| (word(i), word(n_blocks + i))).collect())
    }

    fn u32_from(&self, bytes: [u8; 4]) -> u32 {
        if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    fn read_u32(&mut self) -> Result<u32> {
        let mut bytes = [0; 4];
        self.read_exact(&mut bytes)?;
        Ok(self.u32_from(bytes))
    }

    fn read_u64(&mut self) -> Result<u64> {
        let mut bytes = [0; 8];
        self.read_exact(&mut bytes)?;
        Ok(if self.is_big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    fn read_exact(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.bytes.read_exact(bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => self.cut_off(),
            _ => self.io(error),
        })
    }

    fn name(&self) -> String {
        let present = self.index.get(self.next.max(1) - 1);
        present.map_or(String::new(), |entry| String::from_utf8_lossy(&entry.name).into_owned())
    }

    fn some_names(&self) -> String {
        let names = self.index.iter().take(3).map(|entry| String::from_utf8_lossy(&entry.name).into_owned());
        let more = if self.index.len() > 3 { ", ..." } else { "" };
        names.collect::<Vec<_>>().join(", ") + more
    }

    fn cut_off(&self) -> Error {
        self.error("the 2bit data end early: the file is cut off, get it again")
    }

    fn error(&self, message: impl Into<String>) -> Error {
        Error::input(&self.file, message)
    }

    fn io(&self, source: io::Error) -> Error {
        Error::Io { action: "cannot read", path: self.file.clone().into(), source }
    }
}

/// The loaded part of a block; `loaded` begins at base `offset`.
fn overlap(loaded: &mut [u8], offset: usize, start: u32, len: u32) -> &mut [u8] {
    let from = (start as usize).saturating_sub(offset).min(loaded.len());
    let to = (start as usize + len as usize).saturating_sub(offset).min(loaded.len());
    &mut loaded[from..to.max(from)]
}
