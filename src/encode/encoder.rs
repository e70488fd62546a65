//! The encoder: one text → ids, on the calling thread.
//!
//! Every way of encoding comes down to a [`Request`]: special tokens are found first, the text between them
//! is pretokenized in runs, and each run goes through the hot loop ([`super::hot_loop`]).

use std::ops::Range;
use std::sync::Arc;

use once_cell::race::OnceBox;

use super::cache::{self, Cache, IdWidth};
use super::fragments::Fragments;
use super::growth::{self, Growth};
use super::hot_loop::{HotLoop, PretokenRun};
use super::lookup::Lookup;
use super::output::{CountSink, Sink, StagedOutput, StagingBuffer};
use super::scratch::{Scratch, ScratchPool, Worker};
use super::special_set::{ActiveSpecials, SpecialTokens};
use super::superwords::{self, Superwords};
use super::tables::{self, Tables};
use crate::control::{BYTES_PER_CHECK, Control};
use crate::error::Result;
use crate::pipeline::{Passage, Pipeline, Prefix};
use crate::pretokenize::{ENDS, Isa, Junctions, Pattern, Pretokenizer};
use crate::room;
use crate::special::Specials;
use crate::vocab::Vocab;

/// One text to encode on one thread.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(super) text: &'a [u8],
    pub(super) specials: ActiveSpecials<'a>,
    pub(super) worker: Worker,
    /// Whether the text begins here. Otherwise it continues a chunk before it.
    pub(super) is_first: bool,
}

impl<'a> Request<'a> {
    /// The text of a call with one worker.
    pub(crate) fn alone(text: &'a [u8], specials: ActiveSpecials<'a>, is_first: bool) -> Self {
        Request { text, specials, worker: Worker::default(), is_first }
    }
}

/// A vocabulary, a pattern and the steps before it, ready to encode. Immutable; any number of threads may use
/// it at once.
pub struct Encoder {
    pub(super) vocab: Arc<Vocab>,
    pub(super) pretokenizer: Pretokenizer,
    /// The pattern as it was given, without the cuts that a vocabulary of characters allows.
    pub(super) splitter: Pretokenizer,
    /// The steps before the pattern; `None` for none.
    pub(super) pipeline: Option<Arc<Pipeline>>,
    pub(super) no_specials: Specials,
    /// Tables made from the vocabulary. After a training they are made when the first text is encoded, since
    /// a tokenizer that is only saved needs none.
    ///
    /// Values that are made at their first use are in a `OnceBox` everywhere. If threads race, each makes the
    /// value and one is kept. A `OnceLock` would wait for the thread that makes it, and a child of `fork` for
    /// ever: it has only the thread that forked.
    pub(super) tables: Arc<OnceBox<Tables>>,
    /// When a scratch gets a cache, and of what size.
    pub(super) growth: Growth,
    /// The instruction set of the pattern's scanner, or for other patterns the best one of the machine.
    pub(super) isa: Isa,
    pub(super) pool: ScratchPool,
}

impl Encoder {
    /// Makes the encoder of a vocabulary and a pattern, with all its tables.
    pub fn new(vocab: Vocab, pretokenizer: Pretokenizer) -> Result<Self> {
        let encoder = Self::of_training(vocab, pretokenizer);
        encoder.make_tables(1)?;
        Ok(encoder)
    }

    /// Makes an encoder for pretokens of many words, under a vocabulary without tokens of several words;
    /// `None` where the tokens are not the bytes and what the merges of a list make.
    pub(crate) fn of_words(vocab: Vocab, pretokenizer: Pretokenizer) -> Result<Option<Self>> {
        let Some(superwords) = Superwords::with_first_stage(&vocab, vocab.merges_by_index().len())? else {
            return Ok(None);
        };
        let isa = isa_of(&pretokenizer);
        let tables = Tables::new(&vocab, Some(superwords), |vocab| tables::new_seeds(vocab, isa));
        let tables = OnceBox::with_value(Box::new(tables));
        Ok(Some(Self::with_tables(vocab, pretokenizer, tables, Growth::default())))
    }

    /// Makes the encoder without its tables, which are made for the first text.
    pub fn of_training(vocab: Vocab, pretokenizer: Pretokenizer) -> Self {
        Self::with_tables(vocab, pretokenizer, OnceBox::new(), Growth::default())
    }

    /// Makes an encoder whose scratches have a cache of only `1 << bits` buckets from their first text on,
    /// for tests of displacement.
    #[doc(hidden)]
    pub fn with_small_cache(vocab: Vocab, pretokenizer: Pretokenizer, bits: u32) -> Self {
        let isa = isa_of(&pretokenizer);
        let superwords = Superwords::of(&vocab, &pretokenizer);
        let tables = Tables::new(&vocab, superwords, |vocab| {
            tables::seeded(vocab, Cache::with_bits(isa, IdWidth::of(vocab.tokens().max_id()), bits))
        });
        Self::with_tables(vocab, pretokenizer, OnceBox::with_value(Box::new(tables)), Growth::fixed(bits))
    }

    fn with_tables(
        vocab: Vocab,
        pretokenizer: Pretokenizer,
        tables: OnceBox<Tables>,
        growth: Growth,
    ) -> Self {
        let no_specials = Specials::default();
        let splitter = pretokenizer.clone();
        let pretokenizer = with_junctions(pretokenizer, &vocab);
        let isa = isa_of(&pretokenizer);
        let pool = ScratchPool::default();
        let growth = if vocab.is_random() { Growth::never() } else { growth };
        let (vocab, tables) = (Arc::new(vocab), Arc::new(tables));
        Encoder { vocab, pretokenizer, splitter, pipeline: None, no_specials, tables, growth, isa, pool }
    }

    /// Makes the tables now, for `workers` threads of a call, which share them.
    pub(crate) fn make_tables(&self, workers: usize) -> Result<()> {
        let tables = self.tables()?;
        if workers > 1 {
            tables.seeds.share();
        }
        Ok(())
    }

    #[inline]
    fn tables(&self) -> Result<&Tables> {
        self.tables.get_or_try_init(|| {
            room::check_available(
                self.vocab.memory_of_pairs() + cache::memory_of_seeds(self.vocab.tokens().len()),
            )?;
            let superwords = Superwords::of(&self.vocab, &self.pretokenizer);
            let new_seeds = |vocab: &Vocab| tables::new_seeds(vocab, self.isa);
            Ok(Box::new(Tables::new(&self.vocab, superwords, new_seeds)))
        })
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The pattern.
    pub fn pretokenizer(&self) -> &Pretokenizer {
        &self.pretokenizer
    }

    /// Encodes `text` into `sink`. The tokens that `special` stands for become their ids; all others are
    /// ordinary text. Bytes that are not UTF-8 are characters of their own, of no class.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`], [`crate::Error::OutOfMemory`], or an error of the pattern. The text
    /// itself causes no error unless a pretoken has 4 GiB or more.
    pub fn encode<'a>(
        &'a self,
        text: &[u8],
        special: impl Into<SpecialTokens<'a>>,
        sink: &mut dyn Sink,
        control: &Control,
    ) -> Result<()> {
        self.answer(Request::alone(text, self.active(special.into()), true), sink, control)
    }

    /// The ids of `text`, as [`Encoder::encode`] finds them.
    pub fn encode_to_vec<'a>(
        &'a self,
        text: &[u8],
        special: impl Into<SpecialTokens<'a>>,
        control: &Control,
    ) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        self.encode(text, special, &mut ids, control)?;
        Ok(ids)
    }

    /// How many ids `text` has. Builds no list of them.
    pub fn count<'a>(
        &'a self,
        text: &[u8],
        special: impl Into<SpecialTokens<'a>>,
        control: &Control,
    ) -> Result<usize> {
        let mut count = CountSink(0);
        self.encode(text, special, &mut count, control)?;
        Ok(count.0)
    }

    /// Encodes the text of a request, in a scratch of the request's worker.
    pub(crate) fn answer(&self, request: Request<'_>, sink: &mut dyn Sink, control: &Control) -> Result<()> {
        let Request { text, specials, worker, is_first } = request;
        self.pool.with(self.isa, worker, |scratch| {
            let seen = scratch.seen;
            let done = self.encode_in(scratch, text, specials, is_first, sink, control);
            if text.len() < growth::MIN_FULL_CALL_BYTES {
                scratch.seen = seen + growth::counted_bytes(text.len());
            }
            done
        })
    }

    /// Encodes a text in a scratch that the caller holds; `is_first` says that no chunk of it came before.
    pub(super) fn encode_in(
        &self,
        scratch: &mut Scratch,
        text: &[u8],
        special: ActiveSpecials<'_>,
        is_first: bool,
        sink: &mut dyn Sink,
        control: &Control,
    ) -> Result<()> {
        let trust = special.trust;
        let passage = Passage { text, trust, is_first, is_tracked: sink.reads_spans(), control };
        match special.pipeline {
            Some(pipeline) => self.encode_staged(scratch, pipeline, passage, special, sink),
            None => self.encode_plain(scratch, Prefix::None, passage, special, sink),
        }
    }

    /// Encodes `text[range]`, which holds no special token.
    pub(super) fn encode_text(
        &self,
        scratch: &mut Scratch,
        text: &[u8],
        range: Range<usize>,
        sink: &mut dyn Sink,
        control: &Control,
    ) -> Result<()> {
        if sink.reads_spans() && !self.vocab.covers_text_exactly() {
            return self.encode_spans(text, range, sink, control);
        }
        let (base, text) = (range.start, &text[range]);
        let mut prepared = self.prepare(scratch, text.len(), control)?;
        if let Some((superwords, buffers)) = prepared.superwords.take() {
            let PreparedScratch { mut lookup, run, fragments, staged, ends, .. } = prepared;
            let (vocab, pretokenizer) = (&*self.vocab, &self.pretokenizer);
            let encoded = superwords::Encoded { vocab, pretokenizer, text, base };
            let parts = &mut superwords::Parts { lookup: &mut lookup, run, fragments, staged, buffers };
            return superwords.encode(encoded, ends, parts, sink);
        }
        match sink.reads_ids() {
            true => self.encode_pretokens::<true>(prepared, text, base, sink),
            false => self.encode_pretokens::<false>(prepared, text, base, sink),
        }
    }

    /// Encodes the pretokens of a text that begins at byte `base` of the text of the call.
    fn encode_pretokens<const READS_IDS: bool>(
        &self,
        prepared: PreparedScratch<'_>,
        text: &[u8],
        base: usize,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let PreparedScratch { mut lookup, run, fragments, staged, ends, unchecked, .. } = prepared;
        let control = lookup.control;
        let mut output = StagedOutput::<READS_IDS>::new(sink, &self.vocab, staged);
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
    pub(super) fn encode_pretoken(
        &self,
        scratch: &mut Scratch,
        pretoken: &[u8],
        sink: &mut dyn Sink,
        control: &Control,
    ) -> Result<()> {
        self.prepare(scratch, pretoken.len(), control)?.encode_pretoken(&self.vocab, pretoken, sink)
    }

    /// Readies a scratch for a text of `bytes` bytes: makes or enlarges its cache once it has seen enough
    /// text.
    #[inline(always)] // otherwise a result of many words is written and read again at once
    pub(super) fn prepare<'s>(
        &'s self,
        scratch: &'s mut Scratch,
        bytes: usize,
        control: &'s Control<'s>,
    ) -> Result<PreparedScratch<'s>> {
        let Scratch { cache, merger, buffers, run, fragments, staged, ends, seen, unchecked, .. } = scratch;
        let words = &mut scratch.superwords;
        *seen = seen.saturating_add(bytes);
        let Tables { seeds, safe_splits, superwords } = self.tables()?;
        let superwords = superwords.as_deref();
        let vocab = superwords.map_or(&*self.vocab, |superwords| &superwords.first);
        let store = self.growth.store(cache, seen, seeds, || tables::new_seeds(vocab, self.isa));
        let lookup = Lookup { isa: self.isa, vocab, safe_splits, store, merger, buffers, control };
        let superwords = superwords.map(|superwords| (superwords, words));
        Ok(PreparedScratch { lookup, run, fragments, staged, ends, unchecked, superwords })
    }
}

/// The parts of a scratch that encode one text, borrowed.
pub(super) struct PreparedScratch<'s> {
    lookup: Lookup<'s>,
    run: &'s mut HotLoop,
    fragments: &'s mut Fragments,
    staged: &'s mut StagingBuffer,
    ends: &'s mut [usize; ENDS],
    unchecked: &'s mut usize,
    superwords: Option<(&'s Superwords, &'s mut superwords::Buffers)>,
}

impl PreparedScratch<'_> {
    /// Encodes a text that is one pretoken, with `vocab`, that of the encoder.
    pub(super) fn encode_pretoken(
        &mut self,
        vocab: &Vocab,
        pretoken: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let PreparedScratch { lookup, run, fragments, staged, superwords, .. } = self;
        let pretokens = PretokenRun { text: pretoken, start: 0, ends: &[pretoken.len()] };
        if let Some((superwords, buffers)) = superwords {
            let parts = &mut superwords::Parts { lookup, run, fragments, staged, buffers };
            return superwords.encode_run(vocab, pretokens, parts, sink);
        }
        let mut output = StagedOutput::<true>::new(sink, vocab, staged);
        run.encode(lookup, pretokens, &mut output, |lookup, miss, output| {
            fragments.encode(lookup, miss, output)
        })?;
        output.flush()
    }
}

/// A pretokenizer that also cuts at places that no token of a vocabulary of characters crosses. Such a
/// vocabulary has no pattern, but may have cuts of its own.
fn with_junctions(pretokenizer: Pretokenizer, vocab: &Vocab) -> Pretokenizer {
    if !vocab.has_junctions() {
        return pretokenizer;
    }
    let safe = Junctions::all_but(vocab.joined_bytes());
    let junctions = match &pretokenizer.pattern {
        Pattern::Whole => safe,
        Pattern::Junctions(own) => own.union(&safe),
        _ => return pretokenizer,
    };
    Pretokenizer { pattern: Pattern::Junctions(Arc::new(junctions)), ..pretokenizer }
}

/// The instruction set to encode with.
fn isa_of(pretokenizer: &Pretokenizer) -> Isa {
    match pretokenizer.pattern {
        Pattern::Named(_, isa) => isa,
        _ => Isa::best(),
    }
}
