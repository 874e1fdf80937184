//! Gzip data in one or many members (bgzip), and what may follow them.
//!
//! ```text
//! member member ... [zeros]    zeros to the end are padding, as gzip has it
//! member member ... [else]     refused: gzip would leave it out, but it may be what a damaged file has instead of members
//! ```

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::bufread::GzDecoder;

/// What every member starts with.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Reads the unpacked bytes of all members.
pub(super) struct Members<R> {
    /// `None` behind the last member.
    member: Option<GzDecoder<R>>,
}

/// Something that is not gzip stands behind a member.
#[derive(Debug, thiserror::Error)]
#[error(
    "what follows the compressed data is not gzip: get the file again, or unpack it with gzip -dc, which leaves that out"
)]
pub(super) struct Trailing;

impl<R: BufRead> Members<R> {
    /// `packed` is at the start of a member.
    pub fn new(packed: R) -> Self {
        Members { member: Some(GzDecoder::new(packed)) }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let n = member.read(bytes)?;
            if n > 0 || bytes.is_empty() {
                return Ok(n);
            }
            let mut packed = self.member.take().map(GzDecoder::into_inner).expect("a member");
            if starts_member(&mut packed)? {
                self.member = Some(GzDecoder::new(packed));
            }
        }
        Ok(0)
    }
}

/// Whether another member follows, or else nothing but zeros.
fn starts_member(packed: &mut impl BufRead) -> io::Result<bool> {
    if packed.fill_buf()?.first() == Some(&MAGIC[0]) {
        return Ok(true);
    }
    loop {
        let rest = packed.fill_buf()?;
        if rest.iter().any(|&byte| byte != 0) {
            return Err(io::Error::new(ErrorKind::InvalidData, Trailing));
        }
        match rest.len() {
            0 => return Ok(false),
            n => packed.consume(n),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn unpack(packed: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        // Buffers of one byte and of many.
        Members::new(io::BufReader::with_capacity(1, packed)).read_to_string(&mut text)?;
        let mut again = String::new();
        Members::new(packed).read_to_string(&mut again)?;
        assert_eq!(text, again);
        Ok(text)
    }

    #[test]
    fn members_follow_each_other_and_zeros_are_padding() {
        let two = [gzip("AC"), gzip(""), gzip("GT")].concat();
        assert_eq!(unpack(&two).unwrap(), "ACGT");
        assert_eq!(unpack(&[two, vec![0; 1000]].concat()).unwrap(), "ACGT");
    }

    #[test]
    fn anything_else_behind_a_member_is_an_error() {
        let is_trailing = |error: io::Error| error.get_ref().is_some_and(|inner| inner.is::<Trailing>());
        for rest in [&b"x"[..], b"junk that is longer than a header", b"\0\0x", &[&[0][..], &gzip("T")].concat()] {
            assert!(is_trailing(unpack(&[&gzip("AC"), rest].concat()).unwrap_err()), "{rest:?}");
        }
        let whole = [gzip("AC"), gzip("GT")].concat();
        let first = gzip("AC").len();
        for len in (1..whole.len()).filter(|&len| len != first) {
            let error = unpack(&whole[..len]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "cut to {len} bytes: {error}");
        }
    }
}
