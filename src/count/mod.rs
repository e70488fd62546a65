//! Documents → pretoken counts, in parallel.

mod chunks;
mod table;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub use table::PretokenCounts;

use crate::control::{Control, Stage};
use crate::error::{Error, Result};
use crate::pretokenize::{Event, Pretokenizer, StreamState, TextStream};
use crate::source::{SourceFile, Utf8Window};
use crate::special::Specials;
use crate::workers;
use chunks::Chunk;

/// How files are counted. None of it but `replace` changes a result.
#[derive(Clone, Copy, Debug)]
pub struct CountOptions {
    /// Threads at the most.
    pub workers: usize,
    /// Bytes that a thread takes at a time.
    pub chunk_bytes: u64,
    /// Bytes read at a time.
    pub window_bytes: usize,
    /// Whether invalid UTF-8 is read as U+FFFD; else it is an error.
    pub replace: bool,
}

impl Default for CountOptions {
    fn default() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        CountOptions { workers, chunk_bytes: 8 << 20, window_bytes: 1 << 20, replace: false }
    }
}

/// Finds and counts the pretokens of documents. Special tokens separate documents and are not counted.
pub struct Counter<'a> {
    /// What separates documents.
    pub specials: &'a Specials,
    /// What is counted.
    pub pretokenizer: &'a Pretokenizer,
}

impl Counter<'_> {
    /// Adds one document to `counts`, with places in the text from `place` on.
    ///
    /// # Errors
    /// [`Error::Interrupted`], [`Error::CountOverflow`], or what the pattern fails with.
    pub fn count_document(
        &self,
        text: &[u8],
        place: u64,
        counts: &mut PretokenCounts,
        control: &Control,
    ) -> Result<()> {
        let mut unchecked = 0;
        for segment in self.specials.segments(text) {
            let crate::special::Segment::Text(range) = segment else { continue };
            let segment = &text[range.clone()];
            self.pretokenizer.for_each(segment, |found| {
                unchecked += found.len();
                if unchecked > 1 << 16 {
                    unchecked = 0;
                    control.check()?;
                }
                let at = place + (range.start + found.start) as u64;
                counts.add(&segment[found], 1, at)
            })?;
        }
        Ok(())
    }

    /// Counts files, each a document of its own, on up to `options.workers` threads.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::NotUtf8`] (the first in file order), [`Error::Interrupted`],
    /// [`Error::CountOverflow`], or what the pattern fails with.
    pub fn count_files(
        &self,
        paths: &[PathBuf],
        options: &CountOptions,
        control: &Control,
    ) -> Result<PretokenCounts> {
        let files = chunks::open(paths, control)?;
        control.begin(Stage::Count, files.iter().map(|file| file.size).sum());
        let chunks = chunks::plan(&files, self, options, control)?;
        let workers = if self.pretokenizer.is_parallel() { options.workers } else { 1 };
        let next = AtomicUsize::new(0);
        let failed = AtomicUsize::new(usize::MAX);
        let tables = workers::run(workers.min(chunks.len()).max(1), control, |_| {
            let mut counts = PretokenCounts::default();
            loop {
                // Chunks are handed out in order and those in hand are finished: so the error that is
                // reported is the first one in the files, for any number of workers.
                let at = next.fetch_add(1, Relaxed);
                let Some(chunk) = chunks.get(at).filter(|_| at < failed.load(Relaxed)) else {
                    return Ok((counts, None));
                };
                if let Err(error) = self.count_chunk(&files[chunk.file], chunk, options, &mut counts, control)
                {
                    failed.fetch_min(at, Relaxed);
                    return Ok((counts, Some((at, error))));
                }
            }
        })?;
        merge(tables)
    }

    fn count_chunk(
        &self,
        file: &SourceFile,
        chunk: &Chunk,
        options: &CountOptions,
        counts: &mut PretokenCounts,
        control: &Control,
    ) -> Result<()> {
        let mut stream = TextStream::new(self.specials, self.pretokenizer, StreamState::default());
        let mut take = |event: Event<'_>, at: u64| match event {
            Event::Pretoken(pretoken) => counts.add(pretoken, 1, chunk.place + at),
            Event::Special(_) => Ok(()),
        };
        let mut window = Utf8Window::new(options.replace);
        let mut at = chunk.start;
        while at < chunk.end {
            control.check()?;
            let want = options.window_bytes.max(1).min((chunk.end - at) as usize);
            let bytes = file.read(at, want)?;
            if bytes.is_empty() {
                break;
            }
            at += bytes.len() as u64;
            let text = window.push(bytes, at >= chunk.end);
            stream.push(text.map_err(|invalid| file.not_utf8(chunk.start + invalid))?, &mut take)?;
            control.advance(want as u64);
        }
        let rest = window.finish().map_err(|invalid| file.not_utf8(chunk.start + invalid))?;
        stream.push(rest, &mut take)?;
        stream.finish(&mut take)
    }
}

type Failure = Option<(usize, Error)>;

fn merge(tables: Vec<(PretokenCounts, Failure)>) -> Result<PretokenCounts> {
    let mut all: Option<PretokenCounts> = None;
    let mut first: Failure = None;
    for (counts, failure) in tables {
        match (&first, failure) {
            (Some((earliest, _)), Some((at, _))) if *earliest < at => {}
            (_, Some(failure)) => first = Some(failure),
            (_, None) => {}
        }
        match &mut all {
            None => all = Some(counts),
            Some(all) => all.add_all(&counts, 0)?,
        }
    }
    match first {
        Some((_, error)) => Err(error),
        None => Ok(all.unwrap_or_default()),
    }
}
