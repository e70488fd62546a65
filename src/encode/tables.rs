//! Tables that encoding needs of a vocabulary, in addition to its pairs.

use super::cache::{Cache, IdWidth};
use super::safe_splits::SafeSplits;
use super::seeds::Seeds;
use super::superwords::Superwords;
use crate::pretokenize::Isa;
use crate::pretokenize::key::Key;
use crate::vocab::Vocab;

/// Tables made from a vocabulary, shared by all threads. Where its merges are in two stages, they are of the
/// first.
pub(super) struct Tables {
    pub(super) seeds: Seeds,
    pub(super) safe_splits: SafeSplits,
    pub(super) superwords: Option<Box<Superwords>>,
}

impl Tables {
    /// `new_seeds` makes the seeds of the vocabulary that pretokens or words are looked up under.
    pub(super) fn new(
        vocab: &Vocab,
        superwords: Option<Superwords>,
        new_seeds: impl FnOnce(&Vocab) -> Cache,
    ) -> Self {
        let superwords = superwords.map(Box::new);
        let vocab = superwords.as_deref().map_or(vocab, |superwords| &superwords.first);
        let (seeds, safe_splits) = (Seeds::new(new_seeds(vocab)), SafeSplits::new(vocab));
        if vocab.is_random() {
            seeds.share(); // so that nothing is added
        }
        Tables { seeds, safe_splits, superwords }
    }
}

/// A cache of every token that merging makes of its own bytes.
#[cold]
pub(super) fn new_seeds(vocab: &Vocab, isa: Isa) -> Cache {
    let id_width = IdWidth::of(vocab.tokens().max_id());
    seeded(vocab, Cache::for_seeds(isa, id_width, vocab.tokens().len()))
}

/// Puts every token that merging makes of its own bytes into the cache, the lowest ids first.
pub(super) fn seeded(vocab: &Vocab, mut cache: Cache) -> Cache {
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
