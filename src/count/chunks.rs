//! Files → chunks that can be counted apart.

use std::path::PathBuf;

use super::{CountOptions, Counter};
use crate::control::Control;
use crate::error::Result;
use crate::source::{Cutter, SourceFile};

/// A run of bytes of one file whose pretokens are those of the file there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) file: usize,
    pub(super) start: u64,
    pub(super) end: u64,
    /// Where its places begin, among those of all files.
    pub(super) place: u64,
}

pub(super) fn open(paths: &[PathBuf], control: &Control) -> Result<Vec<SourceFile>> {
    paths.iter().map(|path| SourceFile::open(path, control)).collect()
}

/// Cuts the files into chunks of about `options.chunk_bytes`.
pub(super) fn plan(
    files: &[SourceFile],
    counter: &Counter<'_>,
    options: &CountOptions,
    control: &Control,
) -> Result<Vec<Chunk>> {
    let cutter = Cutter::new(counter.specials, counter.pretokenizer, options.replace);
    // A byte that is not UTF-8 becomes three: places must not run into those of the next chunk.
    let stretch = if options.replace { 3 } else { 1 };
    let mut chunks = Vec::new();
    let mut base = 0u64;
    for (file, source) in files.iter().enumerate() {
        let mut start = 0;
        while start < source.size {
            control.check()?;
            let end = cutter.next_cut(source, start + options.chunk_bytes.max(1), control)?;
            chunks.push(Chunk { file, start, end, place: stretch * (base + start) });
            start = end;
        }
        base += source.size;
    }
    Ok(chunks)
}
