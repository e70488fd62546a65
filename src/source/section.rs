//! Data that is read in sections, such as the members of an archive.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result};
use std::sync::Arc;

use super::broken::broken;
use super::compression::AnyRead;
use crate::workers::Lock;

const TRUNCATED: &str = "it ends too early: the file is truncated";

/// Data of which one section at a time is read. What is left of a section is passed over before the next one.
pub(super) struct Sections(Arc<Lock<State>>);

struct State {
    read: BufReader<AnyRead>,
    /// Bytes of the section that were not read.
    left: u64,
    /// Bytes between the section and the next one.
    padding: u64,
}

impl Sections {
    pub(super) fn new(read: AnyRead) -> Self {
        Sections(Arc::new(Lock::new(State {
            read: BufReader::with_capacity(1 << 16, read),
            left: 0,
            padding: 0,
        })))
    }

    /// Begins a section of so many bytes. It is an error if the data ends before.
    pub(super) fn section(&mut self, bytes: u64, padding: u64) -> AnyRead {
        let mut state = self.0.lock();
        (state.left, state.padding) = (bytes, padding);
        Box::new(Section(self.0.clone()))
    }

    /// Passes over what is left of the section.
    pub(super) fn pass_over(&mut self, place: &str) -> Result<()> {
        let mut state = self.0.lock();
        let count = state.left.saturating_add(state.padding);
        let passed = std::io::copy(&mut state.read.by_ref().take(count), &mut std::io::sink())?;
        if passed < count {
            return Err(broken(&format!("{place}the last member"), TRUNCATED));
        }
        (state.left, state.padding) = (0, 0);
        Ok(())
    }

    /// Fills `bytes`; false if the data ends before.
    pub(super) fn read_exactly(&mut self, bytes: &mut [u8]) -> Result<bool> {
        let mut state = self.0.lock();
        let mut filled = 0;
        while filled < bytes.len() {
            match state.read.read(&mut bytes[filled..])? {
                0 => return Ok(false),
                count => filled += count,
            }
        }
        Ok(true)
    }

    /// The next line, with its end, or so many bytes of it; empty at the end.
    pub(super) fn line(&mut self, max_bytes: u64) -> Result<Vec<u8>> {
        let mut line = Vec::new();
        self.0.lock().read.by_ref().take(max_bytes).read_until(b'\n', &mut line)?;
        Ok(line)
    }

    /// Whether all that remains is zero.
    pub(super) fn remains_zero(&mut self) -> Result<bool> {
        let mut state = self.0.lock();
        let mut bytes = [0; 1 << 13];
        loop {
            match state.read.read(&mut bytes)? {
                0 => return Ok(true),
                count if bytes[..count].iter().any(|byte| *byte != 0) => return Ok(false),
                _ => {}
            }
        }
    }
}

/// The bytes of a section that were not read yet.
struct Section(Arc<Lock<State>>);

impl Read for Section {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let mut state = self.0.lock();
        let want = state.left.min(bytes.len() as u64) as usize;
        let count = state.read.read(&mut bytes[..want])?;
        state.left -= count as u64;
        if count == 0 && want > 0 {
            return Err(Error::new(ErrorKind::UnexpectedEof, TRUNCATED));
        }
        Ok(count)
    }
}
