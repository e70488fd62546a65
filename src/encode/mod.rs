//! Text → ids.

mod cache;
mod parallel;
mod parts;
mod pieces;
mod scratch;
mod sink;
mod stream;

use std::ops::Range;

pub use parallel::Batch;
pub use pieces::Piece;
pub use sink::{Sink, Spans};

use crate::control::Control;
use crate::error::Result;
use crate::pretokenize::Pretokenizer;
use crate::special::{Found, Segment, Specials};
use crate::vocab::{Semantics, Vocab};
use scratch::{Pool, Scratch};

/// Bytes encoded between two looks at the control.
const CHECK: usize = 1 << 16;

/// A vocabulary and a pattern, ready to encode. Immutable; any number of threads may use it at once.
pub struct Encoder {
    vocab: Vocab,
    pretokenizer: Pretokenizer,
    no_specials: Specials,
    pool: Pool,
}

impl Encoder {
    /// Puts the two together.
    pub fn new(vocab: Vocab, pretokenizer: Pretokenizer) -> Self {
        Encoder { vocab, pretokenizer, no_specials: Specials::default(), pool: Pool::default() }
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
    /// [`crate::Error::Interrupted`], or what the pattern fails with. Text alone never fails, below
    /// 4 GiB a pretoken.
    pub fn encode(&self, text: &[u8], special: bool, sink: &mut impl Sink, control: &Control) -> Result<()> {
        self.pool.with(|scratch| self.encode_with(scratch, text, special, sink, control))
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

    fn specials(&self, special: bool) -> &Specials {
        if special { self.vocab.specials() } else { &self.no_specials }
    }

    fn encode_with(
        &self,
        scratch: &mut Scratch,
        text: &[u8],
        special: bool,
        sink: &mut impl Sink,
        control: &Control,
    ) -> Result<()> {
        for segment in self.specials(special).segments(text) {
            match segment {
                Segment::Text(range) => self.encode_text(scratch, text, range, sink, control)?,
                Segment::Special(found) => self.special_into(&found, sink),
            }
            if !sink.wants_more() {
                break;
            }
        }
        Ok(())
    }

    fn special_into(&self, found: &Found, sink: &mut impl Sink) {
        sink.token(found.range.clone(), self.vocab.special_ids()[found.index]);
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
        let base = range.start;
        let text = &text[range];
        self.pretokenizer.for_each_while(text, |found| {
            let ids = self.encode_pretoken(scratch, &text[found.clone()], control)?;
            sink.pretoken(&self.vocab, base + found.start, ids);
            Ok(sink.wants_more())
        })
    }

    /// The ids of one pretoken, from the cache where it has them.
    #[inline]
    fn encode_pretoken<'s>(
        &self,
        scratch: &'s mut Scratch,
        pretoken: &[u8],
        control: &Control,
    ) -> Result<&'s [u32]> {
        let Scratch { cache, merger, ids, unchecked } = scratch;
        *unchecked += pretoken.len();
        if *unchecked >= CHECK {
            *unchecked = 0;
            control.check()?;
        }
        let key = cache::Key::new(pretoken);
        if let Some(slot) = key.as_ref().and_then(|key| cache.slot_of(key)) {
            return Ok(cache.ids(slot));
        }
        ids.clear();
        match self.vocab.semantics() {
            Semantics::Ranks if let Some(id) = self.vocab.ordinary_id(pretoken) => ids.push(id),
            _ => merger.merge(&self.vocab, pretoken, ids, control)?,
        }
        if let Some(key) = key {
            cache.insert(&key, ids);
        }
        Ok(ids)
    }
}
