//! Ids on their way to a sink.

use super::Sink;
use super::cache::FEW;
use crate::vocab::Vocab;

/// Ids that wait at the most, before more are added.
const STAGED: usize = 1020;

/// Where ids wait: near, and with room for a copy of fixed size.
pub(super) struct Staged([u32; STAGED + FEW]);

impl Default for Staged {
    fn default() -> Self {
        Staged([0; STAGED + FEW])
    }
}

/// A sink, and the ids that it does not have yet.
pub(super) struct Output<'a, S> {
    pub(super) sink: &'a mut S,
    vocab: &'a Vocab,
    staged: &'a mut Staged,
    /// Ids that wait, or that are not yet told to a sink that only counts.
    len: usize,
}

impl<'a, S: Sink> Output<'a, S> {
    pub(super) fn new(sink: &'a mut S, vocab: &'a Vocab, staged: &'a mut Staged) -> Self {
        Output { sink, vocab, staged, len: 0 }
    }

    /// Adds the first `count` of these ids.
    #[inline(always)]
    pub(super) fn few(&mut self, ids: &[u32; FEW], count: usize) {
        if S::LOOKS {
            if self.len > STAGED {
                self.flush();
            }
            // All are written, since a copy of fixed size is one store; the next ones go over what is too much.
            if let Some(place) = self.staged.0[self.len..].first_chunk_mut() {
                *place = *ids;
            }
        }
        self.len += count;
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
