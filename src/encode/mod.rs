//! Text → ids.

mod active;
mod ahead;
mod bucket;
mod cache;
mod destination;
mod file;
mod fragments;
mod hot_loop;
mod id_buffer;
mod long;
mod lookup;
mod output;
mod overflow;
mod parallel;
mod parts;
mod pieces;
mod safe_splits;
mod scratch;
mod sink;
mod spare;
mod stream;
mod unstable;

use std::ops::Range;

pub use active::{ActiveSpecials, SpecialSet};
pub use destination::{IdArray, IdFile, IdType};
pub use file::{FileOptions, IdDestination};
pub use id_buffer::recycle;
pub use parallel::Batch;
pub use pieces::Piece;
pub use sink::{Sink, Spans};
pub use unstable::{Completions, SortedTokens};

use crate::control::Control;
use crate::error::Result;
use crate::once::Once;
use crate::pretokenize::key::Key;
use crate::pretokenize::{ENDS, Isa, Pattern, Pretokenizer};
use crate::room;
use crate::simd::Portable;
use crate::special::{Found, Segment, Specials};
use crate::vocab::Vocab;
use bucket::IdWidth;
use cache::{Cache, Hint};
use fragments::Fragments;
use hot_loop::{HotLoop, PretokenRun};
use lookup::{Lookup, Miss, Store};
use output::{StagedOutput, StagingBuffer};
use safe_splits::SafeSplits;
use scratch::{Scratch, ScratchPool};

/// Bytes encoded between two looks at the control.
const BYTES_PER_CHECK: usize = 1 << 16;
/// Bytes after which a thread gets a cache of its own: making it touches megabytes, too much for a small text.
const OWN_CACHE_BYTES: usize = 1 << 18;
/// Calls for fewer bytes than this wait for a cache that they make, which takes milliseconds.
const SMALL_CALL_BYTES: usize = 1 << 15;
/// So they go without for so many times as long.
const SMALL_CALL_DIVISOR: usize = 2;

/// A vocabulary and a pattern, ready to encode. Immutable; any number of threads may use it at once.
pub struct Encoder {
    vocab: Vocab,
    pretokenizer: Pretokenizer,
    no_specials: Specials,
    /// Made from the vocabulary; after a training, when it is first asked for: who only saves a tokenizer needs none.
    tables: Once<Tables>,
    /// log2 of the lines of a thread's cache.
    cache_bits: u32,
    /// Bytes after which a thread gets it.
    cache_after: usize,
    /// That of the pattern, where it has one.
    isa: Isa,
    pool: ScratchPool,
}

/// What encoding knows of a vocabulary beside its pairs.
struct Tables {
    /// The vocabulary's own tokens: what every thread's cache starts from, and all that small calls need.
    seeds: Cache,
    safe_splits: SafeSplits,
}

impl Tables {
    fn new(vocab: &Vocab, isa: Isa) -> Self {
        Self::with_cache(
            vocab,
            Cache::for_seeds(isa, IdWidth::of(vocab.tokens().max_id()), vocab.tokens().len()),
        )
    }

    fn with_cache(vocab: &Vocab, cache: Cache) -> Self {
        Tables { seeds: seeds(vocab, cache), safe_splits: SafeSplits::new(vocab) }
    }
}

impl Encoder {
    /// Puts the two together.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub fn try_new(vocab: Vocab, pretokenizer: Pretokenizer) -> Result<Self> {
        let encoder = Self::of_training(vocab, pretokenizer);
        encoder.tables()?;
        Ok(encoder)
    }

    /// The same, in a process that ends where there is no memory for it.
    pub fn new(vocab: Vocab, pretokenizer: Pretokenizer) -> Self {
        let encoder = Self::of_training(vocab, pretokenizer);
        encoder.tables.get_or_make(|| Tables::new(&encoder.vocab, encoder.isa));
        encoder
    }

    /// The same, but what takes time is left to the first text.
    pub fn of_training(vocab: Vocab, pretokenizer: Pretokenizer) -> Self {
        Self::with_tables(vocab, pretokenizer, Once::new(), (cache::BUCKET_BITS, OWN_CACHE_BYTES))
    }

    /// With a cache of only `1 << bits` lines, which a thread gets for its first text: for tests of what gives way to
    /// what.
    #[doc(hidden)]
    pub fn with_small_cache(vocab: Vocab, pretokenizer: Pretokenizer, bits: u32) -> Self {
        let id_width = IdWidth::of(vocab.tokens().max_id());
        let tables = Tables::with_cache(&vocab, Cache::with_bits(isa_of(&pretokenizer), id_width, bits));
        Self::with_tables(vocab, pretokenizer, Once::from(tables), (bits, 0))
    }

    fn with_tables(
        vocab: Vocab,
        pretokenizer: Pretokenizer,
        tables: Once<Tables>,
        (cache_bits, cache_after): (u32, usize),
    ) -> Self {
        let no_specials = Specials::default();
        let isa = isa_of(&pretokenizer);
        let pool = ScratchPool::default();
        Encoder { vocab, pretokenizer, no_specials, tables, cache_bits, cache_after, isa, pool }
    }

    /// # Errors
    /// [`crate::Error::OutOfMemory`] where they have still to be made.
    #[inline]
    fn tables(&self) -> Result<&Tables> {
        match self.tables.get() {
            Some(tables) => Ok(tables),
            None => self.made_tables(),
        }
    }

    #[cold]
    fn made_tables(&self) -> Result<&Tables> {
        room::check_available(
            self.vocab.memory_of_pairs() + cache::memory_of_seeds(self.vocab.tokens().len()),
        )?;
        Ok(self.tables.get_or_make(|| Tables::new(&self.vocab, self.isa)))
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The pattern.
    pub fn pretokenizer(&self) -> &Pretokenizer {
        &self.pretokenizer
    }

    /// Encodes `text` into `sink`. With `special`, special tokens become their ids; without, they are
    /// ordinary text. Bytes that are not UTF-8 are characters of their own, of no class.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`], [`crate::Error::OutOfMemory`], or what the pattern fails with. Text alone never
    /// fails, below 4 GiB a pretoken.
    pub fn encode(&self, text: &[u8], special: bool, sink: &mut impl Sink, control: &Control) -> Result<()> {
        self.encode_with_specials(text, self.active(special), sink, control)
    }

    /// The ids of `text`, as [`Encoder::encode`] finds them.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn encode_to_vec(&self, text: &[u8], special: bool, control: &Control) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        self.encode(text, special, &mut ids, control)?;
        Ok(ids)
    }

    /// How many ids `text` has. Builds no list of them.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn count(&self, text: &[u8], special: bool, control: &Control) -> Result<usize> {
        let mut count = sink::Count(0);
        self.encode(text, special, &mut count, control)?;
        Ok(count.0)
    }

    /// The special tokens of the vocabulary, or none.
    fn active(&self, special: bool) -> ActiveSpecials<'_> {
        let ids = if special { self.vocab.special_ids() } else { &[] };
        ActiveSpecials { specials: self.specials(special), ids }
    }

    fn specials(&self, special: bool) -> &Specials {
        if special { self.vocab.specials() } else { &self.no_specials }
    }

    fn encode_with(
        &self,
        scratch: &mut Scratch,
        text: &[u8],
        active: ActiveSpecials<'_>,
        sink: &mut impl Sink,
        control: &Control,
    ) -> Result<()> {
        for segment in active.specials.segments(text, control) {
            match segment? {
                Segment::Text(range) => self.encode_text(scratch, text, range, sink, control)?,
                Segment::Special(found) => sink.token(found.range.clone(), active.ids[found.index])?,
            }
            if !sink.wants_more() {
                break;
            }
        }
        Ok(())
    }

    fn special_into(&self, found: &Found, sink: &mut impl Sink) -> Result<()> {
        sink.token(found.range.clone(), self.vocab.special_ids()[found.index])
    }

    /// Encodes `text[range]`, which holds no special token.
    fn encode_text(
        &self,
        scratch: &mut Scratch,
        text: &[u8],
        range: Range<usize>,
        sink: &mut impl Sink,
        control: &Control,
    ) -> Result<()> {
        let (base, text) = (range.start, &text[range]);
        let PreparedScratch { mut lookup, run, fragments, staged, ends, unchecked } =
            self.tools(scratch, text.len(), control)?;
        let mut output = StagedOutput::new(sink, &self.vocab, staged);
        let mut last = None;
        self.pretokenizer.for_each_run(text, ends, |start, ends| {
            if last != Some(start) {
                output.sink.start(base + start);
            }
            last = ends.last().copied();
            *unchecked += last.unwrap_or(start) - start;
            if *unchecked >= BYTES_PER_CHECK {
                *unchecked = 0;
                control.check()?;
            }
            let ranges = PretokenRun { text, start, ends };
            run.encode(&mut lookup, ranges, &mut output, |lookup, miss, output| {
                fragments.encode(lookup, miss, output)
            })?;
            output.flush()?;
            Ok(output.sink.wants_more())
        })
    }

    /// Encodes a text that is one pretoken.
    fn encode_pretoken(
        &self,
        scratch: &mut Scratch,
        pretoken: &[u8],
        sink: &mut impl Sink,
        control: &Control,
    ) -> Result<()> {
        let PreparedScratch { mut lookup, fragments, staged, .. } =
            self.tools(scratch, pretoken.len(), control)?;
        let mut output = StagedOutput::new(sink, &self.vocab, staged);
        let key = cache::key_of(pretoken);
        let bucket_index = lookup.cache().bucket_index(key) as u32;
        let (bucket, slot) = lookup.cache().buckets().find(Portable, key, bucket_index);
        let mut hint = Hint::Nowhere;
        lookup.cache().hint_and_prefetch(
            key,
            bucket_index,
            slot.filter(|&slot| bucket.has_many(slot)),
            &mut hint,
        );
        let miss = Miss { text: pretoken, start: 0, end: pretoken.len(), key, bucket_index, hint };
        if !lookup.add_cached(&miss, &mut output)? {
            fragments.encode(&mut lookup, &miss, &mut output)?;
        }
        output.flush()
    }

    /// What encodes a text of so many bytes.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`] where the tables have still to be made.
    #[inline]
    fn tools<'s>(
        &'s self,
        scratch: &'s mut Scratch,
        bytes: usize,
        control: &'s Control<'s>,
    ) -> Result<PreparedScratch<'s>> {
        let Scratch { cache, merger, buffers, run, fragments, staged, ends, seen, unchecked, .. } = scratch;
        *seen = seen.saturating_add(bytes);
        let Tables { seeds, safe_splits } = self.tables()?;
        if cache.is_none() && *seen >= self.cache_after {
            *cache = seeds.to_own(self.cache_bits);
            if cache.is_none() {
                *seen = 0; // no memory for one: it is tried again some text later
            }
        }
        let store = cache.as_mut().map_or(Store::Shared(seeds), Store::Own);
        let Encoder { isa, ref vocab, .. } = *self;
        let lookup = Lookup { isa, vocab, safe_splits, store, merger, buffers, control };
        Ok(PreparedScratch { lookup, run, fragments, staged, ends, unchecked })
    }
}

/// A scratch, ready for one text.
struct PreparedScratch<'s> {
    lookup: Lookup<'s>,
    run: &'s mut HotLoop,
    fragments: &'s mut Fragments,
    staged: &'s mut StagingBuffer,
    ends: &'s mut [usize; ENDS],
    unchecked: &'s mut usize,
}

/// The instruction set to encode with.
fn isa_of(pretokenizer: &Pretokenizer) -> Isa {
    match pretokenizer.pattern {
        Pattern::Named(_, isa) => isa,
        _ => Isa::best(),
    }
}

/// Puts in every token that merging makes of its own bytes, the lowest ids first.
fn seeds(vocab: &Vocab, mut cache: Cache) -> Cache {
    let mut ahead = [(Key::NONE, 0, &[][..]); SEEDS_PER_PREFETCH];
    let mut made = vocab.made_by_merging();
    loop {
        let mut count = 0;
        // Their lines are far: all are asked for before the first is needed.
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

/// Seeds that are asked for at a time.
const SEEDS_PER_PREFETCH: usize = 16;
