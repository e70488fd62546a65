//! Text that arrives in parts → the ids of the whole.

use std::sync::Arc;

use crate::control::Control;
use crate::encode::encoder::{Encoder, Request};
use crate::error::Result;
use crate::room;

/// Held bytes up to which every push looks at all of them, even if the last one settled nothing.
const ALWAYS_SCANNED_BYTES: usize = 4096;

/// Encodes a text that arrives in parts: [`Tokenizer::stream`](crate::Tokenizer::stream).
///
/// The ids are those of the joined text, wherever it is cut, also inside a word or a special token. What
/// later text could change is held back: for a pattern with a proven cut rule the last pretoken and the
/// length of the longest special token, for another pattern everything since the last special token. A held
/// pretoken of more than 4 KB is looked at again only once the held text has doubled, so that feeding it byte
/// by byte stays linear; up to twice its length is held then. For the same reason a quarter more than the
/// length of the longest special token is held back if that is over 128 bytes.
pub struct EncodeStream {
    encoder: Arc<Encoder>,
    special: bool,
    state: State,
}

/// Where ids go.
type Ids<'a> = (&'a mut Vec<u32>, &'a Control<'a>);

#[derive(Default)]
struct State {
    /// Text without ids so far. It begins where a pretoken does.
    pending: Vec<u8>,
    /// No special token starts in `pending` before here.
    searched: usize,
    /// `pending` is not looked at again before it has this many bytes.
    look_at: usize,
    /// Whether text was encoded before `pending`.
    continues: bool,
}

impl EncodeStream {
    /// A stream at the beginning of a text.
    pub fn new(encoder: Arc<Encoder>, special: bool) -> Self {
        EncodeStream { encoder, special, state: State::default() }
    }

    /// Adds text, and appends to `ids` those that no later text can change.
    ///
    /// # Errors
    /// Those of [`Tokenizer::encode`](crate::Tokenizer::encode). The text that was held back is lost then.
    pub fn push(&mut self, text: &str, ids: &mut Vec<u32>) -> Result<()> {
        self.step(Some(text.as_bytes()), ids, &Control::none())
    }

    /// Ends the text, and appends the remaining ids. Afterwards the stream takes a new text.
    pub fn finish(&mut self, ids: &mut Vec<u32>) -> Result<()> {
        self.step(None, ids, &Control::none())
    }

    /// How many bytes of text are held back.
    pub fn pending_bytes(&self) -> usize {
        self.state.pending.len()
    }

    /// [`push`](EncodeStream::push) of bytes that need not be UTF-8; [`finish`](EncodeStream::finish) for no
    /// text.
    pub fn step(&mut self, text: Option<&[u8]>, ids: &mut Vec<u32>, control: &Control) -> Result<()> {
        let (mut state, sink) = (std::mem::take(&mut self.state), (ids, control));
        room::extend(&mut state.pending, text.unwrap_or_default())?;
        if text.is_none() || state.pending.len() >= state.look_at {
            match self.encoder.pipeline.is_some() {
                true => self.step_staged(&mut state, text, sink)?,
                false => self.step_plain(&mut state, text, sink)?,
            }
        }
        if text.is_some() {
            self.state = state;
        }
        Ok(())
    }

    /// A step of a text without a pipeline: pretokens and special tokens are encoded as soon as no later text
    /// can change them.
    fn step_plain(&self, state: &mut State, text: Option<&[u8]>, (ids, control): Ids<'_>) -> Result<()> {
        let encoder = &*self.encoder;
        let (vocab, pretokenizer) = (&encoder.vocab, &encoder.pretokenizer);
        let specials = encoder.specials(self.special);
        let State { pending, searched, .. } = state;
        let (done, end) = encoder.pool.with(encoder.isa, 0, |scratch| {
            let mut prepared = encoder.prepare(scratch, text.map_or(0, <[u8]>::len), control)?;
            let mut encode =
                |pretoken: &[u8], ids: &mut Vec<u32>| prepared.encode_pretoken(vocab, pretoken, ids);
            let (mut from, mut matches) = (0, specials.matches(pending, *searched));
            while let Some(special) = matches.next(control)? {
                // Later text could still complete a longer token here, or one that starts a little earlier.
                if text.is_some() && special.range.start + specials.max_len() > pending.len() {
                    break;
                }
                let before = &pending[from..special.range.start];
                pretokenizer.for_each(before, |range| encode(&before[range], ids))?;
                room::push(ids, vocab.special_ids()[special.index])?;
                from = special.range.end;
            }
            if text.is_none() {
                let last = &pending[from..];
                pretokenizer.for_each(last, |range| encode(&last[range], ids))?;
                return Ok((pending.len(), pending.len()));
            }
            // What is behind this place may belong to a special token that is not whole yet.
            let end = (pending.len() + 1).saturating_sub(specials.max_len().max(1)).max(from);
            let plain = &pending[from..end];
            Ok((from + pretokenizer.for_each_settled(plain, |range| encode(&plain[range], ids))?, end))
        })?;
        pending.drain(..done);
        *searched = end - done;
        let is_stuck = done == 0 && pending.len() > ALWAYS_SCANNED_BYTES;
        state.look_at = if is_stuck { 2 * pending.len() } else { pending.len() + specials.search_step() };
        Ok(())
    }

    /// A step of a text that goes through a pipeline: it is encoded up to the last place where it can be cut.
    fn step_staged(&self, state: &mut State, text: Option<&[u8]>, (ids, control): Ids<'_>) -> Result<()> {
        let (encoder, pending) = (&*self.encoder, &mut state.pending);
        let end = match text {
            Some(_) => encoder.cutter(self.special, false).late_cut(pending),
            None => Some(pending.len()),
        };
        // A text without a place to cut is looked at again when it is twice as long: so looking is linear.
        state.look_at = if end.is_some() { 0 } else { 2 * pending.len() };
        if let Some(end) = end {
            let specials = encoder.active(self.special.into());
            encoder.answer(Request::alone(&pending[..end], specials, !state.continues), ids, control)?;
            pending.drain(..end);
            state.continues = true;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::{Isa, Named, Pattern, Pretokenizer, Unmatched};
    use crate::special::steps;
    use crate::vocab::Vocab;

    #[test]
    fn text_in_single_bytes_is_searched_in_linear_time() {
        let tokens: Vec<(u32, Vec<u8>)> = (0..=255).map(|byte| (u32::from(byte), vec![byte])).collect();
        let specials = [([&[b'x'; 3000], &b"y"[..]].concat(), Some(300)), (b"x".to_vec(), Some(301))];
        let vocab = Vocab::new(&tokens, None, &specials).unwrap();
        let pattern = Pattern::Named(Named::Gpt2, Isa::best());
        let pretokenizer = Pretokenizer { pattern, unmatched: Unmatched::Keep };
        let encoder = Encoder::new(vocab, pretokenizer).unwrap();
        let text = [&[b'x'; 9000], &b"y"[..], &[b'x'; 50_000]].concat();
        let (mut stream, mut ids) = (EncodeStream::new(Arc::new(encoder), true), Vec::new());
        steps::take();
        for byte in text.chunks(1) {
            stream.step(Some(byte), &mut ids, &Control::none()).unwrap();
            assert!(stream.pending_bytes() < 3001 + 3001 / 4 + 2);
        }
        stream.finish(&mut ids).unwrap();
        assert!(steps::take() < 40 * text.len() as u64);
        assert_eq!(ids, [&[301; 6000][..], &[300], &[301; 50_000]].concat());
    }
}
