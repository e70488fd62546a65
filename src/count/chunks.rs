//! Chunks of a file that can be counted separately.

use super::counting::Counting;
use crate::control::Control;
use crate::error::Result;
use crate::source::{Cutter, SourceFile};

/// A part of a file that has the same pretokens alone as within the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The place of the first byte.
    pub(super) place: u64,
}

/// Cuts a file into chunks of about the size of the options. The file begins at `place`, and each of its
/// bytes has `stretch` places.
pub(super) fn plan(
    source: &SourceFile,
    place: u64,
    stretch: u64,
    counting: &Counting,
    control: &Control,
) -> Result<Vec<Chunk>> {
    let cutter = Cutter::new(&counting.specials, &counting.pretokenizer, counting.options.replace);
    let mut chunks = Vec::new();
    let mut start = 0;
    while start < source.size {
        control.check()?;
        let end = cutter.next_cut(source, start + counting.options.block_bytes(), control)?;
        chunks.push(Chunk { start, end, place: place + stretch * start });
        start = end;
    }
    Ok(chunks)
}
