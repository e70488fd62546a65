//! The ids of a miss: from elsewhere in the cache, or made by merging.

use super::cache::{Cache, Gap, Hint, MAX_INLINE_IDS};
use super::output::StagedOutput;
use super::safe_splits::SafeSplits;
use super::seeds::Store;
use crate::control::Control;
use crate::error::Result;
use crate::merge::Merger;
use crate::pretokenize::key::KEY_BYTES;
use crate::room;
use crate::simd::Isa;
use crate::vocab::Vocab;

/// All that is needed to find the ids of a pretoken.
pub(super) struct Lookup<'a> {
    pub(super) isa: Isa,
    pub(super) vocab: &'a Vocab,
    pub(super) safe_splits: &'a SafeSplits,
    pub(super) store: Store<'a>,
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
        self.store.cache()
    }

    /// Adds the ids of a pretoken that is in the cache, but not in a slot; returns `false` if it is not in
    /// the cache.
    #[inline]
    pub(super) fn add_cached<const READS_IDS: bool>(
        &mut self,
        gap: &Gap<'_>,
        output: &mut StagedOutput<'_, READS_IDS>,
    ) -> Result<bool> {
        let mut room = [0; MAX_INLINE_IDS + 1];
        let cache = self.cache();
        let Some(ids) = cache.get(gap, &mut room) else { return Ok(false) };
        output.add(ids)?;
        let Hint::Record(_) = gap.hint else { return Ok(true) };
        let ids = ids.ids();
        if cache.has_room(gap.key, ids.len()) {
            let (mut few, count) = ([0; MAX_INLINE_IDS], ids.len());
            few[..count].copy_from_slice(ids);
            if let Some(cache) = self.store.writable() {
                cache.promote(gap.key, gap.bucket_index, &few[..count]);
            }
        }
        Ok(true)
    }

    /// The id of a pretoken that is a token, though no merge makes it. Under rank semantics, and where merges
    /// are ignored, such a pretoken is that token. Its id must not be cached: the cache holds results of
    /// merging, which also serve fragments.
    #[inline]
    pub(super) fn whole_token_id(&self, pretoken: &[u8]) -> Option<u32> {
        if !self.vocab.ignores_merges() || !self.vocab.has_unmergeable() {
            return None;
        }
        let index = self.vocab.ordinary_index(pretoken)?;
        self.vocab.is_unmergeable(index).then(|| self.vocab.tokens().id_at(index))
    }

    /// Whether the ids of a pretoken that is not in the cache should be [cached](Lookup::cache_ids).
    /// `in_fragments` says whether it was encoded in fragments.
    #[inline]
    pub(super) fn should_cache(&mut self, miss: &Gap<'_>, in_fragments: bool) -> bool {
        self.store.writable().is_some_and(|cache| cache.should_cache(miss, in_fragments))
    }

    /// Adds the ids of a pretoken or fragment that cannot be split into fragments, and caches them.
    pub(super) fn merge_fragment<const READS_IDS: bool>(
        &mut self,
        miss: &Gap<'_>,
        output: &mut StagedOutput<'_, READS_IDS>,
    ) -> Result<()> {
        let pretoken = miss.pretoken();
        let Buffers { tokens, ids } = &mut *self.buffers;
        tokens.clear();
        // Most tokens of up to `KEY_BYTES` bytes are in the cache from the start, so a look at the vocabulary
        // pays for longer ones only.
        let token = if pretoken.len() > KEY_BYTES { self.vocab.ordinary_index(pretoken) } else { None };
        match token {
            Some(index) if !self.vocab.is_unmergeable(index) => tokens.push(index),
            _ => self.vocab.merge(self.merger, pretoken, tokens, self.control)?,
        }
        ids.clear();
        room::reserve(ids, tokens.len())?;
        ids.extend(tokens.iter().map(|&token| self.vocab.tokens().id_at(token)));
        output.add(ids.as_slice().into())?;
        // A fragment whose bytes are a token would be that token if it were a pretoken: its merged ids must
        // not be found for that.
        if self.should_cache(miss, false)
            && self.whole_token_id(pretoken).is_none()
            && let Some(cache) = self.store.writable()
        {
            cache.add(miss, &self.buffers.ids);
        }
        Ok(())
    }

    /// Caches the ids of a pretoken.
    pub(super) fn cache_ids(&mut self, miss: &Gap<'_>, ids: &[u32]) {
        if let Some(cache) = self.store.writable() {
            cache.add(miss, ids);
        }
    }
}
