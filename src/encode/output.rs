//! Ids on their way to a sink.

use super::Sink;
use crate::error::Result;
use crate::vocab::Vocab;

/// Ids that wait at the most.
const STAGED: usize = 2048;

/// From this many on, ids go to the sink at once.
const MANY: usize = 64;

/// Ids are copied so many at a time, where there is room for it.
const COPIED: usize = 16;

/// Some ids, and what lies around them, which may be read, too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Among<'a> {
    all: &'a [u32],
    from: usize,
    to: usize,
}

impl<'a> Among<'a> {
    /// The `count` ids from `from` on, if there are so many.
    #[inline(always)]
    pub(super) fn new(all: &'a [u32], from: usize, count: usize) -> Option<Self> {
        let to = from.checked_add(count)?;
        (to <= all.len()).then_some(Among { all, from, to })
    }

    #[inline]
    pub(super) fn ids(self) -> &'a [u32] {
        &self.all[self.from..self.to]
    }
}

impl<'a> From<&'a [u32]> for Among<'a> {
    #[inline(always)]
    fn from(all: &'a [u32]) -> Self {
        Among { all, from: 0, to: all.len() }
    }
}

/// Where ids wait that come a few at a time.
pub(super) struct Staged([u32; STAGED]);

impl Default for Staged {
    fn default() -> Self {
        Staged([0; STAGED])
    }
}

/// A sink, and the ids that it does not have yet.
pub(super) struct Output<'a, S> {
    pub(super) sink: &'a mut S,
    vocab: &'a Vocab,
    staged: &'a mut Staged,
    /// Ids that wait, or that are not yet told to a sink that only counts.
    len: usize,
    /// Whether ids wait that will be asked for.
    holds: bool,
}

impl<'a, S: Sink> Output<'a, S> {
    pub(super) fn new(sink: &'a mut S, vocab: &'a Vocab, staged: &'a mut Staged) -> Self {
        Output { sink, vocab, staged, len: 0, holds: false }
    }

    /// Adds ids.
    ///
    /// # Errors
    /// What the sink fails with.
    #[inline(always)]
    pub(super) fn add(&mut self, ids: Among<'_>) -> Result<()> {
        let count = ids.to - ids.from;
        if S::LOOKS {
            let source = ids.all[ids.from..].first_chunk::<COPIED>();
            let room = self.staged.0[self.len..].first_chunk_mut::<COPIED>();
            match (source, room) {
                // So much whatever their number, and the next go over what is too much: a copy of that very size is a call.
                (Some(source), Some(room)) if count <= COPIED => *room = *source,
                _ => return self.many(ids.ids()),
            }
        }
        self.len += count;
        Ok(())
    }

    /// Adds ids, of any number.
    #[inline(never)]
    fn many(&mut self, ids: &[u32]) -> Result<()> {
        if self.len + ids.len() > STAGED {
            self.flush()?;
        }
        if ids.len() <= MANY || self.holds && ids.len() <= STAGED {
            self.staged.0[self.len..self.len + ids.len()].copy_from_slice(ids);
            self.len += ids.len();
            Ok(())
        } else {
            self.flush()?;
            self.sink.ids(self.vocab, ids)
        }
    }

    /// Sees to it that the next ids wait together, if they are not too many, and that [`Output::held`] has them.
    ///
    /// # Errors
    /// As [`Output::add`].
    pub(super) fn hold(&mut self) -> Result<()> {
        self.flush()?;
        self.holds = true;
        Ok(())
    }

    /// The ids since [`Output::hold`]; none if they were too many. They are held no longer.
    pub(super) fn held(&mut self) -> &[u32] {
        let all = std::mem::replace(&mut self.holds, false);
        if all { &self.staged.0[..self.len] } else { &[] }
    }

    /// Gives the sink all that it does not have.
    ///
    /// # Errors
    /// As [`Output::add`].
    pub(super) fn flush(&mut self) -> Result<()> {
        let count = std::mem::take(&mut self.len);
        self.holds = false;
        if S::LOOKS {
            self.sink.ids(self.vocab, &self.staged.0[..count])
        } else {
            self.sink.count(count);
            Ok(())
        }
    }
}
