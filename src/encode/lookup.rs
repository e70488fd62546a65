//! The ids of what the cache does not have in its first place.

use super::Sink;
use super::cache::{Cache, LongCache};
use super::junctions::Junctions;
use super::output::Output;
use crate::control::Control;
use crate::error::Result;
use crate::merge::Merger;
use crate::pretokenize::key::{KEY_BYTES, Key};
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
    pub(super) long: &'a mut LongCache,
    pub(super) merger: &'a mut Merger,
    pub(super) buffers: &'a mut Buffers,
    pub(super) control: &'a Control<'a>,
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

    /// Adds the ids of a key that is in the cache, in whichever place; `false` if it is not.
    #[inline]
    pub(super) fn remembered(&self, key: Key, output: &mut Output<'_, impl Sink>) -> bool {
        let ids = self.cache().get(key);
        if let Some(ids) = ids {
            output.many(ids);
        }
        ids.is_some()
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

    /// Adds the ids of what does not fall apart, and remembers them. `key` is its key.
    ///
    /// # Errors
    /// What merging fails with.
    pub(super) fn whole(
        &mut self,
        pretoken: &[u8],
        key: Key,
        output: &mut Output<'_, impl Sink>,
    ) -> Result<()> {
        if key == Key::NONE
            && let Some(ids) = self.long.find(pretoken)
        {
            output.many(ids);
            return Ok(());
        }
        let Buffers { tokens, ids } = &mut *self.buffers;
        tokens.clear();
        // Most tokens of up to so many bytes were in the cache from the start; merging makes the others.
        let token = if pretoken.len() > KEY_BYTES { self.vocab.ordinary_index(pretoken) } else { None };
        match token {
            Some(index) if !self.vocab.is_unreachable(index) => tokens.push(index),
            _ => self.merger.merge(self.vocab.pairs(), pretoken, tokens, self.control)?,
        }
        ids.clear();
        ids.extend(tokens.iter().map(|&token| self.vocab.tokens().id_at(token)));
        output.many(ids);
        self.keep(pretoken, key);
        Ok(())
    }

    /// Keeps the ids of a short pretoken.
    pub(super) fn remember(&mut self, key: Key, ids: &[u32]) {
        if let Store::Own(cache) = &mut self.store {
            cache.insert(key, ids);
        }
    }

    /// Keeps the ids that were just found.
    fn keep(&mut self, pretoken: &[u8], key: Key) {
        // Of a piece of another pretoken; as a pretoken it would be one id.
        if self.stands_for_itself(pretoken).is_some() {
            return;
        }
        let ids = &self.buffers.ids;
        match &mut self.store {
            Store::Own(cache) if key != Key::NONE => cache.insert(key, ids),
            Store::Own(_) => self.long.insert(pretoken, ids),
            Store::Shared(_) => {}
        }
    }
}
