//! Ids on their way to a sink.

use super::Sink;
use super::cache::FEW;
use crate::pretokenize::ENDS;
use crate::vocab::Vocab;

/// Ids that wait at the most: those of a run of hits, and as many again.
const STAGED: usize = 2 * FEW * ENDS;

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
        if let Some(place) = self.0[len..].first_chunk_mut() {
            *place = *ids;
        }
        len + count
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

    /// Adds the first `count` of these ids.
    #[inline]
    pub(super) fn few(&mut self, ids: &[u32; FEW], count: usize) {
        self.reserve(FEW);
        self.len = if S::LOOKS { self.staged.few(self.len, ids, count) } else { self.len + count };
    }

    /// Adds ids.
    pub(super) fn many(&mut self, ids: &[u32]) {
        if ids.len() <= FEW {
            let mut few = [0; FEW];
            few[..ids.len()].copy_from_slice(ids);
            self.few(&few, ids.len());
        } else {
            self.flush();
            self.sink.ids(self.vocab, ids);
        }
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
