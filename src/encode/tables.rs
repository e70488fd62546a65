//! Tables that encoding needs of a vocabulary, in addition to its pairs.

use super::cache::{Cache, IdWidth};
use super::encoder::Encoder;
use super::safe_splits::SafeSplits;
use super::scratch::ScratchPool;
use crate::error::Result;
use crate::pretokenize::Isa;
use crate::pretokenize::key::Key;
use crate::special::Specials;
use crate::vocab::Vocab;

/// Tables made from a vocabulary, shared by all threads.
pub(super) struct Tables {
    /// A cache of the vocabulary's tokens. A scratch's own cache starts with them; small calls need no other.
    pub(super) seeds: Cache,
    pub(super) safe_splits: SafeSplits,
}

impl Tables {
    pub(super) fn new(vocab: &Vocab, isa: Isa) -> Self {
        Self::with_cache(
            vocab,
            Cache::for_seeds(isa, IdWidth::of(vocab.tokens().max_id()), vocab.tokens().len()),
        )
    }

    pub(super) fn with_cache(vocab: &Vocab, cache: Cache) -> Self {
        Tables { seeds: seeds(vocab, cache), safe_splits: SafeSplits::new(vocab) }
    }
}

impl Encoder {
    /// The encoder with more special tokens, whose ids must ascend and be above all others; `None` where they are not.
    /// It shares all tables: those tokens are found before anything is looked up in them.
    ///
    /// Cost: that of [`Vocab::with_specials`].
    ///
    /// # Errors
    /// Same as [`Vocab::with_specials`].
    pub fn with_specials(&self, more: &[(Vec<u8>, u32)]) -> Result<Option<Self>> {
        let Some(vocab) = self.vocab.with_specials(more)? else { return Ok(None) };
        Ok(Some(Encoder {
            vocab,
            pretokenizer: self.pretokenizer.clone(),
            no_specials: Specials::default(),
            tables: self.tables.clone(),
            pool: ScratchPool::default(),
            ..*self
        }))
    }
}

/// Puts every token that merging makes of its own bytes into the cache, the lowest ids first.
fn seeds(vocab: &Vocab, mut cache: Cache) -> Cache {
    let mut ahead = [(Key::NONE, 0, &[][..]); SEEDS_PER_PREFETCH];
    let mut made = vocab.made_by_merging();
    loop {
        let mut count = 0;
        // Buckets are in far memory: those of a group are prefetched before the first is used.
        for (slot, index) in ahead.iter_mut().zip(made.by_ref()) {
            let bytes = vocab.tokens().bytes_at(index);
            *slot = (Key::new(bytes, 0, bytes.len()), vocab.tokens().id_at(index), bytes);
            cache.prefetch_bucket(slot.0);
            count += 1;
        }
        for &(key, id, bytes) in &ahead[..count] {
            if key != Key::NONE {
                cache.seed(key, bytes, &[id]);
            }
        }
        if count < SEEDS_PER_PREFETCH {
            return cache;
        }
    }
}

/// Tokens whose buckets are prefetched at a time.
const SEEDS_PER_PREFETCH: usize = 16;
