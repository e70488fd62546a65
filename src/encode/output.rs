//! Ids on their way to a sink.

use super::Sink;
use crate::vocab::Vocab;

/// Ids that wait at the most.
const STAGED: usize = 2048;

/// From this many on, ids go to the sink at once.
const MANY: usize = 64;

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

    /// Adds the ids of hits, from one place of them up to another.
    #[inline(always)]
    pub(super) fn hits(&mut self, ids: &[u32], from: usize, to: usize) {
        if S::LOOKS {
            self.many(&ids[from..to]);
        } else {
            self.len += to - from;
        }
    }

    /// Adds ids.
    #[inline]
    pub(super) fn many(&mut self, ids: &[u32]) {
        if !S::LOOKS {
            self.len += ids.len();
            return;
        }
        if self.len + ids.len() > STAGED {
            self.flush();
        }
        if ids.len() <= MANY || self.holds && ids.len() <= STAGED {
            self.staged.0[self.len..self.len + ids.len()].copy_from_slice(ids);
            self.len += ids.len();
        } else {
            self.flush();
            self.sink.ids(self.vocab, ids);
        }
    }

    /// Sees to it that the next ids wait together, if they are not too many, and that [`Output::held`] has them.
    pub(super) fn hold(&mut self) {
        self.flush();
        self.holds = true;
    }

    /// The ids since [`Output::hold`]; none if they were too many. They are held no longer.
    pub(super) fn held(&mut self) -> &[u32] {
        let all = std::mem::replace(&mut self.holds, false);
        if all { &self.staged.0[..self.len] } else { &[] }
    }

    /// Gives the sink all that it does not have.
    pub(super) fn flush(&mut self) {
        if S::LOOKS {
            self.sink.ids(self.vocab, &self.staged.0[..self.len]);
        } else {
            self.sink.count(self.len);
        }
        self.len = 0;
        self.holds = false;
    }
}
