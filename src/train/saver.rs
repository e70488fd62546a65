//! Hands out the merges of a long training from time to time: to be saved, or to be shown.

use std::time::{Duration, Instant};

use super::options::Merge;
use crate::error::Result;

type Save<'a> = &'a mut (dyn FnMut(&[Merge]) -> Result<()> + Send);
type Show<'a> = &'a mut (dyn FnMut(&[Merge], u64) -> Result<()> + Send);

/// Receives the merges of a training at intervals, so that it can be resumed after an interruption.
///
/// The merges are the whole state of a training: words that are laid out by them are the corpus that the
/// training had.
pub struct Saver<'a> {
    save: Option<Save<'a>>,
    every: Duration,
    last: Instant,
    show: Option<Show<'a>>,
    shown: Instant,
}

/// The minimum time between two calls of `show`. People cannot follow faster ones.
const SHOW_INTERVAL: Duration = Duration::from_millis(100);

impl<'a> Saver<'a> {
    /// A saver that does nothing.
    pub fn none() -> Self {
        Saver { save: None, every: Duration::MAX, last: Instant::now(), show: None, shown: Instant::now() }
    }

    /// A saver that calls `save` with all merges so far, at most once in `every`.
    pub fn new(every: Duration, save: Save<'a>) -> Self {
        Saver { save: Some(save), every, ..Self::none() }
    }

    /// Makes the saver also call `show` with all merges so far, and with the weighted number of pairs that are left
    /// in the text: ten times a second, when a corpus is laid out, and when it is left.
    #[must_use]
    pub fn showing(self, show: Show<'a>) -> Self {
        Saver { show: Some(show), ..self }
    }

    /// Saves and shows the merges if that is due.
    #[inline]
    pub(super) fn offer(&mut self, merges: &[Merge], pairs: u64) -> Result<()> {
        if let Some(save) = &mut self.save
            && self.last.elapsed() >= self.every
        {
            save(merges)?;
            self.last = Instant::now();
        }
        if self.show.is_some() && self.shown.elapsed() >= SHOW_INTERVAL {
            self.show(merges, pairs)?;
            self.shown = Instant::now();
        }
        Ok(())
    }

    /// Shows the merges when a corpus is laid out, and when it is left.
    pub(super) fn show(&mut self, merges: &[Merge], pairs: u64) -> Result<()> {
        self.show.as_mut().map_or(Ok(()), |show| show(merges, pairs))
    }

    /// Saves the merges when a training ends.
    pub(super) fn last(&mut self, merges: &[Merge]) -> Result<()> {
        self.save.as_mut().map_or(Ok(()), |save| save(merges))
    }
}
