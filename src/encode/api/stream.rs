//! Text that arrives in parts → the ids of the whole.

use std::sync::Arc;

use crate::control::Control;
use crate::encode::encoder::{Encoder, Request};
use crate::error::Result;
use crate::room;
use crate::special::{Event, StreamState, TextStream};

/// Encodes a text that arrives in parts: [`Tokenizer::stream`](crate::Tokenizer::stream).
///
/// The ids are those of the joined text, wherever it is cut, also inside a word or a special token. What
/// later text could change is held back: mostly some bytes, and all of the text under a pattern that allows
/// no cut.
pub struct EncodeStream {
    encoder: Arc<Encoder>,
    special: bool,
    state: State,
}

/// Where ids go.
type Ids<'a> = (&'a mut Vec<u32>, &'a Control<'a>);

#[derive(Default)]
struct State {
    /// Text on its way to a tokenizer without a pipeline.
    plain: StreamState,
    /// Text that waits for a place where it can be cut.
    uncut: Vec<u8>,
    /// `uncut` is not searched again before it has this many bytes.
    search_at: usize,
    /// Whether text was encoded before `uncut`.
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
        self.state.plain.pending_bytes() + self.state.uncut.len()
    }

    /// [`push`](EncodeStream::push) of bytes that need not be UTF-8; [`finish`](EncodeStream::finish) for no
    /// text.
    pub fn step(&mut self, text: Option<&[u8]>, ids: &mut Vec<u32>, control: &Control) -> Result<()> {
        let state = std::mem::take(&mut self.state);
        let sink = (ids, control);
        self.state = match self.encoder.pipeline.is_some() {
            true => self.step_staged(state, text, sink)?,
            false => self.step_plain(state.plain, text, sink)?,
        };
        Ok(())
    }

    fn step_plain(&self, before: StreamState, text: Option<&[u8]>, (ids, control): Ids<'_>) -> Result<State> {
        let encoder = &*self.encoder;
        let mut stream = TextStream::new(encoder.specials(self.special), &encoder.pretokenizer, before);
        encoder.pool.with(encoder.isa, 0, |scratch| {
            let mut prepared = encoder.prepare(scratch, text.map_or(0, <[u8]>::len), control)?;
            let mut take = |event: Event<'_>, _| match event {
                Event::Pretoken(pretoken) => prepared.encode_pretoken(&encoder.vocab, pretoken, ids),
                Event::Special(index) => room::push(ids, encoder.vocab.special_ids()[index]),
            };
            match text {
                Some(text) => stream.push(text, control, &mut take),
                None => stream.finish(control, &mut take),
            }
        })?;
        Ok(State { plain: stream.into_state(), ..State::default() })
    }

    /// A step of a text that goes through a pipeline: it is encoded up to the last place where it can be cut.
    fn step_staged(&self, mut state: State, text: Option<&[u8]>, (ids, control): Ids<'_>) -> Result<State> {
        let (encoder, uncut) = (&*self.encoder, &mut state.uncut);
        room::extend(uncut, text.unwrap_or_default())?;
        let end = if text.is_none() {
            Some(uncut.len())
        } else if uncut.len() < state.search_at {
            None
        } else {
            // A text without a place to cut is searched again when it is twice as long, so that searching is
            // linear.
            state.search_at = 2 * uncut.len();
            encoder.cutter(self.special, false).late_cut(uncut)
        };
        if let Some(end) = end {
            let specials = encoder.active(self.special.into());
            encoder.answer(Request::alone(&uncut[..end], specials, !state.continues), ids, control)?;
            uncut.drain(..end);
            (state.search_at, state.continues) = (0, true);
        }
        Ok(if text.is_some() { state } else { State::default() })
    }
}
