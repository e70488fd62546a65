//! A file → chunks that can be counted apart.

use super::counting::Counting;
use crate::control::Control;
use crate::error::Result;
use crate::source::{Cutter, SourceFile};

/// A run of bytes of a file whose pretokens are those of the file there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Where its places begin.
    pub(super) place: u64,
}

/// Cuts a file, which begins at `place` and needs `stretch` places a byte, into chunks of about the size that the
/// options say.
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
