//! What a long training hands out on its way.

use std::time::{Duration, Instant};

use super::options::Merge;
use crate::error::Result;

type Save<'a> = &'a mut (dyn FnMut(&[Merge]) -> Result<()> + Send);

/// Takes the merges of a training that may be interrupted, every so often.
///
/// They are all that there is to keep: words laid out by them are in the state that the training was in.
pub struct Saver<'a> {
    save: Option<Save<'a>>,
    every: Duration,
    last: Instant,
}

impl<'a> Saver<'a> {
    /// One that takes nothing.
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
