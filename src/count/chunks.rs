//! Files → chunks that can be counted apart, cut only where no result can change.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{CountOptions, Counter};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::pretokenize::CutRule;
use crate::workers;

/// A file to count.
pub(super) struct SourceFile {
    path: PathBuf,
    /// Bytes when it was opened; what is appended later is not read.
    pub(super) size: u64,
    /// The contents of what cannot be read at any place, or does not say how long it is: a pipe, a device.
    whole: Option<Vec<u8>>,
}

/// A run of bytes of one file whose pretokens are those of the file there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) file: usize,
    pub(super) start: u64,
    pub(super) end: u64,
    /// Where its places begin, among those of all files.
    pub(super) place: u64,
}

impl SourceFile {
    fn open(path: &Path, control: &Control) -> Result<Self> {
        let failed = |source| Error::Io { path: path.to_owned(), source };
        let meta = std::fs::metadata(path).map_err(failed)?;
        if meta.is_dir() {
            return Err(failed(std::io::Error::from(std::io::ErrorKind::IsADirectory)));
        }
        // Some files hold text and say that they are empty: those of Linux's /proc.
        if meta.is_file() && meta.len() > 0 {
            File::open(path).map_err(failed)?;
            return Ok(SourceFile { path: path.to_owned(), size: meta.len(), whole: None });
        }
        let whole = workers::read_aside(path, control)?;
        Ok(SourceFile { path: path.to_owned(), size: whole.len() as u64, whole: Some(whole) })
    }

    /// Up to `len` bytes from `at` on; fewer only at the end of the file.
    pub(super) fn read(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        if let Some(whole) = &self.whole {
            let start = whole.len().min(at as usize);
            return Ok(whole[start..whole.len().min(start + len)].to_vec());
        }
        let read = || -> std::io::Result<Vec<u8>> {
            use std::io::{Seek, SeekFrom};
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(at))?;
            let mut bytes = Vec::with_capacity(len);
            file.take(len as u64).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|source| Error::Io { path: self.path.clone(), source })
    }

    pub(super) fn not_utf8(&self, offset: u64) -> Error {
        Error::NotUtf8 { name: self.path.display().to_string(), offset }
    }
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
    let cutter = Cutter::new(counter, options);
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

struct Cutter<'a> {
    counter: &'a Counter<'a>,
    rule: CutRule,
    /// Bytes of context that a decision needs on each side.
    margin: usize,
}

/// Bytes read at a time to find a cut.
const LOOK: usize = 1 << 12;

impl<'a> Cutter<'a> {
    fn new(counter: &'a Counter<'a>, options: &CountOptions) -> Self {
        let unsure = options.replace && counter.specials.cut_depends_on_replacement();
        let rule = if unsure { CutRule::Never } else { counter.pretokenizer.cut_rule() };
        Cutter { counter, rule, margin: counter.specials.max_len().max(8) }
    }

    /// The first place from `from` on where the file can be cut, or its end.
    fn next_cut(&self, file: &SourceFile, from: u64, control: &Control) -> Result<u64> {
        if self.rule == CutRule::Never || from >= file.size {
            return Ok(file.size);
        }
        let mut at = from;
        let mut look = LOOK;
        while at < file.size {
            control.check()?;
            let low = at.saturating_sub(self.margin as u64);
            let want = (at - low) as usize + look + self.margin;
            let text = file.read(low, want)?;
            // It may have become shorter meanwhile.
            let ends_file = text.len() < want || low + text.len() as u64 >= file.size;
            let known = if ends_file { text.len() } else { text.len() - self.margin };
            if let Some(cut) = self.cut_in(&text, (at - low) as usize, known) {
                return Ok(low + cut as u64);
            }
            if ends_file {
                break;
            }
            at = low + known as u64;
            look = (2 * look).min(1 << 22);
        }
        Ok(file.size)
    }

    fn cut_in(&self, text: &[u8], from: usize, to: usize) -> Option<usize> {
        let mut from = from;
        loop {
            let cut = self.rule.next_cut(text, from).filter(|&cut| cut < to)?;
            if !self.counter.specials.straddles(text, cut) {
                return Some(cut);
            }
            from = cut + 1;
        }
    }
}
