//! Hands out the merges of a long training from time to time, to be saved.

use std::time::{Duration, Instant};

use super::options::Merge;
use crate::error::Result;

type Save<'a> = &'a mut (dyn FnMut(&[Merge]) -> Result<()> + Send);

/// Receives the merges of a training at intervals, so that it can be resumed after an interruption.
///
/// The merges are the whole state of a training: words that are laid out by them are the corpus that the
/// training had.
pub struct Saver<'a> {
    save: Option<Save<'a>>,
    every: Duration,
    last: Instant,
}

impl<'a> Saver<'a> {
    /// A saver that does nothing.
    pub fn none() -> Self {
        Saver { save: None, every: Duration::MAX, last: Instant::now() }
    }

    /// A saver that calls `save` with all merges so far, at most once in `every`.
    pub fn new(every: Duration, save: Save<'a>) -> Self {
        Saver { save: Some(save), every, last: Instant::now() }
    }

    /// Saves the merges if that is due.
    #[inline]
    pub(super) fn offer(&mut self, merges: &[Merge]) -> Result<()> {
        if let Some(save) = &mut self.save
            && self.last.elapsed() >= self.every
        {
            save(merges)?;
            self.last = Instant::now();
        }
        Ok(())
    }

    /// Saves the merges when a training ends.
    pub(super) fn last(&mut self, merges: &[Merge]) -> Result<()> {
        self.save.as_mut().map_or(Ok(()), |save| save(merges))
    }
}
