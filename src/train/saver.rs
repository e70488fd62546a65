//! How a long training hands out its merges now and then.

use std::time::{Duration, Instant};

use super::options::Merge;
use crate::error::Result;

type Save<'a> = &'a mut (dyn FnMut(&[Merge]) -> Result<()> + Send);

/// Takes the merges of a training that may be interrupted, every so often.
///
/// The merges are the whole state of a training: words that are laid out by them are as the training had them.
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

    /// Calls `save` with all merges so far, at most once in `every`.
    pub fn new(every: Duration, save: Save<'a>) -> Self {
        Saver { save: Some(save), every, last: Instant::now() }
    }

    /// Hands out the merges if that is due.
    #[inline]
    pub(super) fn offer(&mut self, merges: &[Merge]) -> Result<()> {
        match &mut self.save {
            Some(save) if self.last.elapsed() >= self.every => {
                save(merges)?;
                self.last = Instant::now();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Hands out the merges when a training ends.
    pub(super) fn last(&mut self, merges: &[Merge]) -> Result<()> {
        self.save.as_mut().map_or(Ok(()), |save| save(merges))
    }
}
