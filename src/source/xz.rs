//! Decompression of xz while the file is read.

use std::io::{BufRead, Error, ErrorKind, Read, Result};

use lzma_rust2::{Action, Status, XzStream};

/// Reads the contents of an xz file, which may have several streams.
///
/// The reader of lzma-rust2 0.25 loops for ever in some damaged files. Here every step must consume input or
/// produce output; otherwise the file is reported as damaged.
pub(super) struct XzDecoder<R> {
    read: R,
    stream: XzStream,
}

impl<R: BufRead> XzDecoder<R> {
    pub(super) fn new(read: R) -> Self {
        XzDecoder { read, stream: XzStream::new(true) }
    }
}

impl<R: BufRead> Read for XzDecoder<R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            let input = self.read.fill_buf()?;
            let (action, failure) = match input {
                [] => (Action::Finish, ErrorKind::UnexpectedEof),
                _ => (Action::Run, ErrorKind::InvalidData),
            };
            let step = self.stream.process(input, out, action)?;
            self.read.consume(step.bytes_consumed);
            if step.bytes_produced > 0 || step.status == Status::StreamEnd {
                return Ok(step.bytes_produced);
            }
            if step.bytes_consumed == 0 {
                return Err(Error::new(failure, "its blocks do not fit together"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two documents of JSON Lines, compressed, with some bytes changed; found by fuzzing.
    const DAMAGED: &[u8] = include_bytes!("xz/damaged.xz");

    #[test]
    fn a_damaged_file_is_an_error() {
        let mut text = Vec::new();
        assert!(XzDecoder::new(DAMAGED).read_to_end(&mut text).is_err());
    }
}
