//! One long text, in chunks that are cut where nothing can change; on several threads if that helps.

use std::ops::Range;

use super::joined::joined;
use crate::control::Control;
use crate::encode::encoder::{Encoder, Request};
use crate::encode::output::{CountSink, Sink};
use crate::encode::scratch::Worker;
use crate::encode::special_set::{ActiveSpecials, SpecialTokens};
use crate::error::Result;
use crate::pretokenize::Isa;
use crate::room;
use crate::source::{Cutter, Text};
use crate::workers::{self, BufferPool};

/// Bytes or characters of a chunk on one thread: few enough that its UTF-8 is still in the cache when it is
/// encoded.
const CHUNK_UNITS: usize = 1 << 17;
/// Bytes or characters of a chunk at most where several threads work: larger chunks, so that they rarely wait
/// for each other.
const SHARED_CHUNK_UNITS: usize = 1 << 19;
/// Chunks per thread, unless they would be too large: at the end a thread waits for half a chunk of another
/// on average.
const CHUNKS_PER_WORKER: usize = 8;

/// A text that several threads may encode, each some chunks of it.
struct LongText<'a> {
    text: Text<'a>,
    specials: ActiveSpecials<'a>,
    /// Whether no other text is before it.
    is_first: bool,
    workers: usize,
    /// For the UTF-8 of chunks.
    spare: BufferPool<u8>,
}

impl Encoder {
    /// The ids of a text, as [`Encoder::encode_to_vec`] finds them, on up to `workers` threads (`None`: as
    /// many as the machine has cores). The text is cut where that changes no id; a part without such a place
    /// is encoded by one thread. A short text is encoded on the calling thread. Unless `is_first`, the text
    /// is the part of another one that begins where [`Encoder::late_cut`] found a cut.
    ///
    /// Memory: the ids, and for each thread the bytes and ids of some chunks.
    ///
    /// # Errors
    /// Same as [`Encoder::encode`]; [`crate::Error::Surrogate`].
    pub fn encode_part<'a, 't>(
        &'a self,
        text: impl Into<Text<'t>>,
        special: impl Into<SpecialTokens<'a>>,
        is_first: bool,
        workers: Option<usize>,
        control: &Control,
    ) -> Result<Vec<u32>> {
        let (text, specials) = (text.into(), self.active(special.into()));
        if let Some(bytes) = short(text) {
            let mut ids = Vec::new();
            self.answer(Request::alone(bytes, specials, is_first), &mut ids, control)?;
            return Ok(ids);
        }
        let (long, chunks) = self.cut_long(text, specials, is_first, workers)?;
        self.encode_chunks(&long, &chunks, control)
    }

    /// How many ids [`Encoder::encode_part`] would find, without keeping them.
    pub fn count_part<'a, 't>(
        &'a self,
        text: impl Into<Text<'t>>,
        special: impl Into<SpecialTokens<'a>>,
        is_first: bool,
        workers: Option<usize>,
        control: &Control,
    ) -> Result<usize> {
        let (text, specials) = (text.into(), self.active(special.into()));
        if let Some(bytes) = short(text) {
            let mut count = CountSink(0);
            self.answer(Request::alone(bytes, specials, is_first), &mut count, control)?;
            return Ok(count.0);
        }
        let (long, chunks) = self.cut_long(text, specials, is_first, workers)?;
        self.count_chunks(&long, &chunks, control)
    }

    /// A place late in `text` where it can be cut even if more text follows: the ids of both parts together
    /// are those of the whole.
    pub fn late_cut(&self, text: &[u8], special: bool) -> Option<usize> {
        let cutter = self.cutter(special, false);
        if cutter.can_cut() { cutter.late_cut(text) } else { None }
    }

    fn cut_long<'t>(
        &self,
        text: Text<'t>,
        specials: ActiveSpecials<'t>,
        is_first: bool,
        workers: Option<usize>,
    ) -> Result<(LongText<'t>, Vec<Range<usize>>)> {
        let workers = self.useful_workers(workers, text.len())?;
        let chunks = self.chunks(text, specials, chunk_size(workers, text.len(), specials))?;
        let workers = workers.min(chunks.len()).max(1);
        Ok((LongText { text, specials, is_first, workers, spare: BufferPool::default() }, chunks))
    }

    fn encode_chunks(
        &self,
        long: &LongText<'_>,
        chunks: &[Range<usize>],
        control: &Control,
    ) -> Result<Vec<u32>> {
        let work = |worker, chunk: &Range<usize>, ids: &mut Vec<u32>| {
            self.encode_chunk(long, worker, chunk, ids, control)
        };
        let len = long.text.len();
        // A character has more than two ids in few texts, and a byte has one at most.
        let capacity = if matches!(long.text, Text::Utf8(_)) { len } else { 2 * len };
        joined((capacity, long.workers), control, chunks.iter(), work, |_, _, ()| Ok(()))
    }

    fn count_chunks(&self, long: &LongText<'_>, chunks: &[Range<usize>], control: &Control) -> Result<usize> {
        let (mut total, mut chunks) = (0, chunks.iter());
        let work = |worker, chunk| {
            let mut count = CountSink(0);
            self.encode_chunk(long, worker, chunk, &mut count, control).map(|()| count.0)
        };
        let take = |count: usize| {
            total += count;
            Ok(Vec::new())
        };
        workers::placed(long.workers, control, || Ok(chunks.next()), work, take, |()| Ok(()))?;
        Ok(total)
    }

    fn encode_chunk(
        &self,
        long: &LongText<'_>,
        worker: usize,
        chunk: &Range<usize>,
        sink: &mut dyn Sink,
        control: &Control,
    ) -> Result<()> {
        long.spare.with(|bytes| {
            let is_first = long.is_first && chunk.start == 0;
            let worker = Worker { number: worker, bytes: long.text.len() / long.workers };
            let text = long.text.utf8(self.isa, chunk.clone(), bytes)?;
            self.answer(Request { text, specials: long.specials, worker, is_first }, sink, control)
        })
    }

    /// [`Encoder::chunks`] that are kept: the last one is not much smaller than the others.
    pub(in crate::encode) fn kept_chunks(
        &self,
        text: &[u8],
        specials: ActiveSpecials<'_>,
        size: usize,
    ) -> Result<Vec<Range<usize>>> {
        let mut chunks = self.chunks(text.into(), specials, size)?;
        if let [.., before, last] = &mut chunks[..]
            && last.len() < size / 2
        {
            before.end = last.end;
            chunks.pop();
        }
        Ok(chunks)
    }

    /// Cuts `text` where that changes no id, into pieces of at least `size` bytes or characters.
    pub(in crate::encode) fn chunks(
        &self,
        text: Text<'_>,
        specials: ActiveSpecials<'_>,
        size: usize,
    ) -> Result<Vec<Range<usize>>> {
        let cutter = self.cutter_of(specials, false);
        let (mut chunks, mut start) = (Vec::new(), 0);
        while start < text.len() {
            let end = next_cut(&cutter, self.isa, text, start + size.max(1))?;
            room::push(&mut chunks, start..end)?;
            start = end;
        }
        Ok(chunks)
    }
}

/// The first place from `from` on where `text` can be cut, or its end.
fn next_cut(cutter: &Cutter<'_>, isa: Isa, text: Text<'_>, from: usize) -> Result<usize> {
    if from >= text.len() || !cutter.can_cut() {
        return Ok(text.len());
    }
    if let Text::Utf8(bytes) = text {
        return Ok(cutter.cut_from(bytes, from));
    }
    // A character has at least one byte, so as many characters hold the context that a decision needs.
    let margin = cutter.margin;
    let low = from.saturating_sub(margin);
    let mut look = 256;
    loop {
        let high = text.len().min(from + look + margin);
        let mut bytes = Vec::new();
        text.write(isa, low..from, &mut bytes)?;
        let begin = bytes.len();
        text.write(isa, from..high, &mut bytes)?;
        let cut = cutter.cut_from(&bytes, begin);
        if cut + margin <= bytes.len() {
            return Ok(from + text.units(&bytes[begin..cut]));
        }
        if high == text.len() {
            return Ok(if cut == bytes.len() { high } else { from + text.units(&bytes[begin..cut]) });
        }
        look *= 4;
    }
}

/// The bytes of a text that is one chunk.
fn short(text: Text<'_>) -> Option<&[u8]> {
    match text {
        Text::Utf8(bytes) if bytes.len() <= CHUNK_UNITS => Some(bytes),
        _ => None,
    }
}

/// A search for many special tokens needs hundreds of kilobytes of tables: larger chunks, so that they are
/// loaded less often.
fn chunk_size(workers: usize, len: usize, specials: ActiveSpecials<'_>) -> usize {
    match (workers, specials.search.are_many()) {
        (1, false) => CHUNK_UNITS,
        (_, true) => SHARED_CHUNK_UNITS,
        _ => (len / (CHUNKS_PER_WORKER * workers)).clamp(CHUNK_UNITS, SHARED_CHUNK_UNITS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::{Named, Pattern, Pretokenizer, Unmatched};
    use crate::vocab::Vocab;

    #[test]
    fn chunks_of_every_size_and_number_give_the_ids_of_the_whole() {
        let tokens: Vec<(u32, Vec<u8>)> = (0..=255).map(|byte| (u32::from(byte), vec![byte])).collect();
        let specials = [(b"a \n".to_vec(), None), (b" b".to_vec(), None)];
        let vocab = Vocab::new(&tokens, None, &specials).unwrap();
        let pattern = Pattern::Named(Named::Gpt2, Isa::best());
        let pretokenizer = Pretokenizer { pattern, unmatched: Unmatched::Keep };
        let encoder = Encoder::new(vocab, pretokenizer).unwrap();
        let text = "aa \n bb  a \n\n bé 中\u{3000}中 b'll \r\n a \n".repeat(9);
        let points: Vec<u32> = text.chars().map(u32::from).collect();
        let units: Vec<u16> = text.encode_utf16().collect();
        let text = text.into_bytes();
        let control = Control::none();
        for special in [true, false] {
            let expected = encoder.encode_to_vec(&text, special, &control).unwrap();
            let active = encoder.active(special.into());
            for size in 0..40 {
                for text in [Text::Utf8(&text), Text::Ucs2(&units), Text::Ucs4(&points)] {
                    let chunks = encoder.chunks(text, active, size).unwrap();
                    assert_eq!(chunks.iter().map(ExactSizeIterator::len).sum::<usize>(), text.len());
                    for workers in [1, 2, 5] {
                        let spare = BufferPool::default();
                        let long = LongText { text, specials: active, is_first: true, workers, spare };
                        let ids = encoder.encode_chunks(&long, &chunks, &control).unwrap();
                        assert_eq!(ids, expected, "{size} {workers}");
                    }
                }
            }
        }
    }
}
