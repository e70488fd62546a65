//! A text that changes, with its ids.
//!
//! The text is in chunks that end at cuts: places where both sides are encoded separately to the ids of the
//! whole. Whether a place is a cut depends on a bounded number of bytes on both sides, so an edit can change
//! only the cuts that are so near. It encodes the chunks between the two nearest cuts that it cannot change.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::rope::{Chunk, ChunkPlace, Rope};
use super::shared_ids::{IdView, SharedIds};
use crate::control::Control;
use crate::decode::decode;
use crate::encode::encoder::Encoder;
use crate::error::{Error, Result};
use crate::room;

/// Bytes of a chunk at least by default, where the text allows. An edit encodes one or two chunks.
pub const CHUNK_BYTES: usize = 512;

/// A text that changes, always with the ids of the whole:
/// [`Tokenizer::document`](crate::Tokenizer::document).
///
/// Cost of an edit: that of encoding the text put in and one or two chunks, of 512 bytes or a little more
/// each. A chunk of a text in which no cut is possible for longer, such as base64, is as long as that.
/// Memory: the text, its ids, and about a fifth more.
pub struct Document {
    encoder: Arc<Encoder>,
    /// Whether special tokens become their ids.
    special: bool,
    /// Bytes of a chunk at least.
    chunk_bytes: usize,
    rope: Rope,
    shared: SharedIds,
    /// How many ids of `shared` are up to date.
    unchanged: usize,
    changed: usize,
}

impl Document {
    /// A document with a text, whose chunks have at least `chunk_bytes` bytes. `special` says whether special
    /// tokens become their ids.
    pub fn new(
        encoder: Arc<Encoder>,
        text: &str,
        special: bool,
        chunk_bytes: usize,
        control: &Control,
    ) -> Result<Self> {
        let (rope, shared, unchanged, changed) = (Rope::new(), SharedIds::default(), 0, 0);
        let mut made = Document { encoder, special, chunk_bytes, rope, shared, unchanged, changed };
        made.edit(0..0, text, control)?;
        made.changed = 0;
        Ok(made)
    }

    /// A document of ids, such as those that a model sampled: they stay, though encoding the text gives
    /// others, until an edit is so near that it encodes their chunk.
    ///
    /// # Errors
    /// [`Error::UnknownId`]; [`Error::Invalid`] if the bytes of the tokens are not a text.
    pub fn of_ids(
        encoder: Arc<Encoder>,
        ids: &[u32],
        special: bool,
        chunk_bytes: usize,
        control: &Control,
    ) -> Result<Self> {
        let text = decode(encoder.vocab(), ids, control)?;
        if str::from_utf8(&text).is_err() {
            return Err(Error::Invalid("the ids end inside a character, or are no text".into()));
        }
        let mut made = Document::new(encoder, "", special, chunk_bytes, control)?;
        let cuts = made.encoder.kept_chunks(&text, made.encoder.active(special.into()), chunk_bytes)?;
        let (mut cuts, mut chunks) = (cuts.into_iter().map(|range| range.end).peekable(), Vec::new());
        let (mut end, mut start, mut first) = (0, 0, 0);
        for (at, &id) in ids.iter().enumerate() {
            end += made.encoder.vocab().token_bytes(id)?.len();
            // A cut inside a token is none for these ids.
            while cuts.next_if(|&cut| cut < end).is_some() {}
            if end == text.len() || cuts.next_if_eq(&end).is_some() {
                // Tokens without bytes at the end belong to the last chunk.
                let last = if end == text.len() { ids.len() } else { at + 1 };
                let chunk = Chunk::new(room::copied(&text[start..end])?, room::copied(&ids[first..last])?);
                room::push(&mut chunks, chunk)?;
                (start, first) = (end, last);
            }
            if first == ids.len() {
                break;
            }
        }
        if !chunks.is_empty() {
            made.rope.splice(made.rope.first(), made.rope.first(), chunks);
        }
        Ok(made)
    }

    /// Whether the cost of an edit is bounded by that of its neighbourhood. Otherwise nothing is known of
    /// where its pattern allows cuts, and an edit encodes the whole text.
    pub fn is_bounded(&self) -> bool {
        self.encoder.cutter(self.special, false).can_cut()
    }

    /// How many characters the text has.
    pub fn characters(&self) -> usize {
        self.rope.total().characters
    }

    /// How many bytes the text has.
    pub fn bytes(&self) -> usize {
        self.rope.total().bytes
    }

    /// How many ids the text has.
    pub fn count(&self) -> usize {
        self.rope.total().ids
    }

    /// How many ids at the front the last edit certainly did not change: up to the first changed id, or,
    /// where the ids around the edit repeat, to one before it. Never past it.
    pub fn changed(&self) -> usize {
        self.changed
    }

    /// The byte at which a character begins.
    pub fn byte_of(&self, character: usize) -> usize {
        self.rope.byte_of(character)
    }

    /// The text.
    pub fn text(&self) -> Result<String> {
        String::from_utf8(self.utf8()?).map_err(|_| Error::BrokenState)
    }

    /// The UTF-8 of the text.
    pub fn utf8(&self) -> Result<Vec<u8>> {
        let mut text = room::for_items(self.bytes())?;
        self.rope.chunks_from(self.rope.first()).for_each(|chunk| text.extend_from_slice(&chunk.text));
        Ok(text)
    }

    /// The ids.
    pub fn ids(&mut self) -> Result<Vec<u32>> {
        room::collected(self.view()?.iter().take(self.count()).map(|id| id.load(Relaxed)))
    }

    /// The memory in which the ids are, from its beginning. They stay as they are while it is referred to.
    ///
    /// Cost: writes the ids from the first one that changed since the last call; all ids where an edit before
    /// the end was made and the memory of an earlier call is still referred to.
    pub fn view(&mut self) -> Result<IdView> {
        let (total, unchanged) = (self.count(), self.unchanged);
        let first = self.rope.at_id(unchanged);
        let skipped = unchanged - first.before.ids;
        let ids = self.rope.chunks_from(first).flat_map(|chunk| chunk.ids.iter().copied()).skip(skipped);
        let memory = self.shared.replace(unchanged, total, ids)?;
        self.unchanged = total;
        Ok(memory)
    }

    /// Puts a text in the place of a range of bytes, which begins and ends between two characters.
    ///
    /// # Errors
    /// Those of [`Tokenizer::encode`](crate::Tokenizer::encode); the document is as it was then.
    pub fn replace(&mut self, range: Range<usize>, text: &str) -> Result<()> {
        self.edit(range, text, &Control::none())
    }

    /// Makes `text` the whole text; costs what has changed, and comparing the texts.
    pub fn update(&mut self, text: &str) -> Result<()> {
        self.edit_to(text, &Control::none())
    }

    /// [`Document::replace`] under a control.
    pub fn edit(&mut self, range: Range<usize>, text: &str, control: &Control) -> Result<()> {
        let (first, last) = self.affected(&range, text.len());
        let mut near = Vec::new();
        let old = self.rope.chunks_between(first, last);
        old.clone().try_for_each(|chunk| room::extend(&mut near, &chunk.text))?;
        let start = first.before.bytes;
        room::reserve(&mut near, text.len())?;
        near.splice(range.start - start..range.end - start, text.bytes());
        let chunks = self.encoded(&near, start == 0, control)?;
        let same = ids_of(old.clone()).zip(ids_of(chunks.iter())).take_while(|(old, new)| old == new).count();
        let is_same = [ids_of(old).count(), ids_of(chunks.iter()).count()] == [same; 2];
        self.rope.splice(first, last, chunks);
        self.changed = if is_same { self.count() } else { first.before.ids + same };
        self.unchanged = self.unchanged.min(self.changed);
        Ok(())
    }

    /// [`Document::update`] under a control: only what is between the same beginning and the same end is
    /// encoded.
    pub fn edit_to(&mut self, text: &str, control: &Control) -> Result<()> {
        let mut start = self.common_prefix(text.as_bytes());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let mut same = self.common_suffix(&text.as_bytes()[start..], self.bytes() - start);
        while !text.is_char_boundary(text.len() - same) {
            same -= 1;
        }
        self.edit(start..self.bytes() - same, &text[start..text.len() - same], control)
    }

    /// The first and last chunk that an edit affects.
    fn affected(&self, range: &Range<usize>, text_bytes: usize) -> (ChunkPlace, ChunkPlace) {
        let margin = self.encoder.cutter(self.special, false).margin;
        let mut first = self.rope.at_byte(range.start.saturating_sub(margin));
        let mut last = self.rope.at_byte(range.end + margin);
        let end = last.before.bytes + self.rope.chunk(last).text.len();
        let mut bytes = end - first.before.bytes - range.len() + text_bytes;
        // Small chunks are joined with a neighbour, so that they do not become many.
        while bytes < self.chunk_bytes {
            let joined = if let Some(next) = self.rope.next(last) {
                last = next;
                next
            } else if let Some(previous) = self.rope.previous(first) {
                first = previous;
                previous
            } else {
                break;
            };
            bytes += self.rope.chunk(joined).text.len();
        }
        (first, last)
    }

    /// A stretch of the text in chunks.
    fn encoded(&self, text: &[u8], begins: bool, control: &Control) -> Result<Vec<Chunk>> {
        let encoder = &*self.encoder;
        let specials = encoder.active(self.special.into());
        let mut ranges = encoder.kept_chunks(text, specials, self.chunk_bytes)?;
        if ranges.is_empty() {
            ranges.push(0..0);
        }
        let mut chunks = room::for_items(ranges.len())?;
        encoder.pool.with(encoder.isa, 0, |scratch| {
            for range in ranges {
                let is_first = begins && range.start == 0;
                let part = room::copied(&text[range])?;
                let mut ids = Vec::new();
                encoder.encode_in(scratch, &part, specials, is_first, &mut ids, control)?;
                ids.shrink_to_fit();
                chunks.push(Chunk::new(part, ids));
            }
            Ok(chunks)
        })
    }

    /// How many bytes at the front of another text are the same.
    fn common_prefix(&self, text: &[u8]) -> usize {
        let mut same = 0;
        for chunk in self.rope.chunks_from(self.rope.first()) {
            let there = &text[same..text.len().min(same + chunk.text.len())];
            if there != chunk.text {
                return same + there.iter().zip(&chunk.text).take_while(|(a, b)| a == b).count();
            }
            same += there.len();
        }
        same
    }

    /// How many bytes at the end of another text are the same, at most `max`.
    fn common_suffix(&self, text: &[u8], max: usize) -> usize {
        let max = max.min(text.len());
        let mut same = 0;
        for chunk in self.rope.chunks_backward() {
            let len = chunk.text.len().min(max - same);
            let end = text.len() - same;
            let (there, here) = (&text[end - len..end], &chunk.text[chunk.text.len() - len..]);
            if there != here || len < chunk.text.len() {
                let pairs = there.iter().rev().zip(here.iter().rev());
                return same + pairs.take_while(|(a, b)| a == b).count();
            }
            same += len;
        }
        same
    }
}

fn ids_of<'c>(chunks: impl Iterator<Item = &'c Chunk>) -> impl Iterator<Item = u32> {
    chunks.flat_map(|chunk| chunk.ids.iter().copied())
}
