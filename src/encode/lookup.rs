//! The ids of what the cache does not have in its first place.

use super::Sink;
use super::cache::{Cache, Hint};
use super::junctions::Junctions;
use super::line::MOST;
use super::output::Output;
use crate::control::Control;
use crate::error::Result;
use crate::merge::Merger;
use crate::pretokenize::key::{KEY_BYTES, Key};
use crate::room;
use crate::simd::Isa;
use crate::vocab::Vocab;

/// The cache of a call: one that it may add to, or the encoder's own.
pub(super) enum Store<'a> {
    Own(&'a mut Cache),
    Shared(&'a Cache),
}

/// Everything that finds ids.
pub(super) struct Lookup<'a> {
    pub(super) isa: Isa,
    pub(super) vocab: &'a Vocab,
    pub(super) junctions: &'a Junctions,
    pub(super) store: Store<'a>,
    pub(super) merger: &'a mut Merger,
    pub(super) buffers: &'a mut Buffers,
    pub(super) control: &'a Control<'a>,
}

/// A pretoken that is not among the few of its line: `text[start..end]`.
#[derive(Clone, Copy)]
pub(super) struct Missed<'t> {
    pub(super) text: &'t [u8],
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) key: Key,
    /// The line of the key.
    pub(super) home: u32,
    pub(super) hint: Hint,
}

impl<'t> Missed<'t> {
    #[inline]
    pub(super) fn pretoken(&self) -> &'t [u8] {
        &self.text[self.start..self.end]
    }
}

#[derive(Default)]
pub(super) struct Buffers {
    tokens: Vec<u32>,
    ids: Vec<u32>,
}

impl Lookup<'_> {
    #[inline(always)]
    pub(super) fn cache(&self) -> &Cache {
        match &self.store {
            Store::Own(cache) => cache,
            Store::Shared(cache) => cache,
        }
    }

    /// Adds the ids of a pretoken that is in the cache, in whichever place; `false` if it is not.
    #[inline]
    ///
    /// # Errors
    /// As [`Output::add`].
    pub(super) fn remembered(
        &mut self,
        missed: &Missed<'_>,
        output: &mut Output<'_, impl Sink>,
    ) -> Result<bool> {
        let mut room = [0; MOST + 1];
        let cache = self.cache();
        let Some(ids) = cache.get(missed, &mut room) else { return Ok(false) };
        output.add(ids)?;
        let Hint::Record(_) = missed.hint else { return Ok(true) };
        let ids = ids.ids();
        if cache.has_room(missed.key, ids.len()) {
            let (mut few, count) = ([0; MOST], ids.len());
            few[..count].copy_from_slice(ids);
            if let Store::Own(cache) = &mut self.store {
                cache.promote(missed.key, missed.home, &few[..count]);
            }
        }
        Ok(true)
    }

    /// Under rank semantics, and where merges are ignored, a pretoken that is a token is its id, also if no merge makes
    /// it. Such an id must not be in the cache, which has the results of merging.
    #[inline]
    pub(super) fn stands_for_itself(&self, pretoken: &[u8]) -> Option<u32> {
        if !self.vocab.ignores_merges() || !self.vocab.has_unreachable() {
            return None;
        }
        let index = self.vocab.ordinary_index(pretoken)?;
        self.vocab.is_unreachable(index).then(|| self.vocab.tokens().id_at(index))
    }

    /// Whether the ids of a pretoken that is not in the cache should be [remembered](Lookup::remember).
    #[inline]
    pub(super) fn wants(&mut self, missed: &Missed<'_>) -> bool {
        match &mut self.store {
            Store::Own(cache) => cache.wants(missed.hint),
            Store::Shared(_) => false,
        }
    }

    /// Adds the ids of what does not fall apart, and remembers them.
    ///
    /// # Errors
    /// What merging fails with.
    pub(super) fn whole(&mut self, missed: &Missed<'_>, output: &mut Output<'_, impl Sink>) -> Result<()> {
        let pretoken = missed.pretoken();
        let Buffers { tokens, ids } = &mut *self.buffers;
        tokens.clear();
        // Most tokens of up to so many bytes were in the cache from the start; merging makes the others.
        let token = if pretoken.len() > KEY_BYTES { self.vocab.ordinary_index(pretoken) } else { None };
        match token {
            Some(index) if !self.vocab.is_unreachable(index) => tokens.push(index),
            _ => self.merger.merge(self.vocab.pairs(), pretoken, tokens, self.control)?,
        }
        ids.clear();
        room::reserve(ids, tokens.len())?;
        ids.extend(tokens.iter().map(|&token| self.vocab.tokens().id_at(token)));
        output.add(ids.as_slice().into())?;
        // Not of a piece of another pretoken that, as a pretoken, would be one id.
        if self.wants(missed)
            && self.stands_for_itself(pretoken).is_none()
            && let Store::Own(cache) = &mut self.store
        {
            cache.insert(missed.key, pretoken, &self.buffers.ids);
        }
        Ok(())
    }

    /// Keeps the ids of a pretoken.
    pub(super) fn remember(&mut self, missed: &Missed<'_>, ids: &[u32]) {
        if let Store::Own(cache) = &mut self.store {
            cache.insert(missed.key, missed.pretoken(), ids);
        }
    }
}
