//! Ids on their way to a sink.

use super::Sink;
use super::cache::FEW;
use crate::pretokenize::ENDS;
use crate::simd;
use crate::vocab::Vocab;

/// Ids that wait at the most: those of a run of hits, and twice as many.
const STAGED: usize = 3 * FEW * ENDS;

/// From this many on, ids go to the sink at once.
const MANY: usize = 64;

/// Where ids wait: near, and with room for a copy of fixed size.
pub(super) struct Staged([u32; STAGED]);

impl Default for Staged {
    fn default() -> Self {
        Staged([0; STAGED])
    }
}

impl Staged {
    /// Writes the first `count` of these ids at `len`; returns where the next ones go.
    #[inline(always)]
    pub(super) fn few(&mut self, len: usize, ids: &[u32; FEW], count: usize) -> usize {
        // All are written, since a copy of fixed size is one store; the next ones go over what is too much.
        simd::put(&mut self.0, len, ids);
        len + count
    }

    /// Writes these ids at `len`; returns where the next ones go, or nothing if there is no room.
    #[inline]
    pub(super) fn many(&mut self, len: usize, ids: &[u32]) -> Option<usize> {
        let end = len + ids.len();
        self.0.get_mut(len..end)?.copy_from_slice(ids);
        // Room for what `few` writes is kept.
        (end + FEW * ENDS <= STAGED).then_some(end)
    }
}

/// A sink, and the ids that it does not have yet.
pub(super) struct Output<'a, S> {
    pub(super) sink: &'a mut S,
    vocab: &'a Vocab,
    pub(super) staged: &'a mut Staged,
    /// Ids that wait, or that are not yet told to a sink that only counts.
    pub(super) len: usize,
}

impl<'a, S: Sink> Output<'a, S> {
    pub(super) fn new(sink: &'a mut S, vocab: &'a Vocab, staged: &'a mut Staged) -> Self {
        Output { sink, vocab, staged, len: 0 }
    }

    /// Makes room for so many ids.
    #[inline(always)]
    pub(super) fn reserve(&mut self, ids: usize) {
        if S::LOOKS && self.len + ids > STAGED {
            self.flush();
        }
    }

    /// Adds ids.
    pub(super) fn many(&mut self, ids: &[u32]) {
        if !S::LOOKS {
            self.len += ids.len();
        } else if ids.len() <= MANY {
            self.reserve(ids.len());
            self.staged.0[self.len..self.len + ids.len()].copy_from_slice(ids);
            self.len += ids.len();
        } else {
            self.flush();
            self.sink.ids(self.vocab, ids);
        }
    }

    /// Makes sure that the ids of one short pretoken will wait together; returns where they begin, for
    /// [`Output::since`].
    pub(super) fn hold(&mut self) -> usize {
        self.reserve(FEW * ENDS + MANY);
        self.len
    }

    /// The ids added since then.
    pub(super) fn since(&self, before: usize) -> &[u32] {
        self.staged.0.get(before..self.len).unwrap_or_default()
    }

    /// Gives the sink all that it does not have.
    pub(super) fn flush(&mut self) {
        if S::LOOKS {
            self.sink.ids(self.vocab, &self.staged.0[..self.len]);
        } else {
            self.sink.count(self.len);
        }
        self.len = 0;
    }
}
