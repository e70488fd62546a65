//! Decompression of gzip: members one after the other, and zeros behind the last one.

use std::io::{BufRead, Error, ErrorKind, Read, Result};

use flate2::bufread::GzDecoder;

/// Reads the contents of a gzip file. Zeros at its end, with which devices fill their blocks, are passed over
/// as `gzip` does.
pub(super) struct GzipDecoder<R> {
    /// The member that is being read; `None` at the end.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> GzipDecoder<R> {
    pub(super) fn new(read: R) -> Self {
        GzipDecoder { member: Some(GzDecoder::new(read)) }
    }
}

impl<R: BufRead> Read for GzipDecoder<R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(out)?;
            if count > 0 || out.is_empty() {
                return Ok(count);
            }
            let Some(mut read) = self.member.take().map(GzDecoder::into_inner) else { break };
            if has_more(&mut read)? {
                self.member = Some(GzDecoder::new(read));
            }
        }
        Ok(0)
    }
}

/// Whether another member follows. Passes over zeros, after which nothing may come.
fn has_more(read: &mut impl BufRead) -> Result<bool> {
    let has_zeros = read.fill_buf()?.first() == Some(&0);
    loop {
        let block = read.fill_buf()?;
        if block.is_empty() {
            return Ok(false);
        }
        let zeros = block.iter().take_while(|byte| **byte == 0).count();
        if zeros < block.len() && has_zeros {
            return Err(Error::new(ErrorKind::InvalidData, "there is data behind the zeros at its end"));
        }
        if zeros == 0 {
            return Ok(true);
        }
        read.consume(zeros);
    }
}
