//! Text that arrives in pieces → the ids of the whole.

use crate::control::Control;
use crate::encode::encoder::{Encoder, Request};
use crate::error::Result;
use crate::pipeline::Pipeline;
use crate::room;
use crate::special::{Event, StreamState, TextStream};

/// The state of an encoder between two pieces of a text.
#[derive(Clone, Debug, Default)]
pub struct EncodeState {
    /// Text on its way to a tokenizer without a pipeline.
    plain: StreamState,
    /// Text that waits for a place where it can be cut.
    uncut: Vec<u8>,
    /// `uncut` is not searched again before it has this many bytes.
    search_at: usize,
    /// Whether text was encoded before `uncut`.
    continues: bool,
}

impl EncodeState {
    /// How many bytes of text are held back.
    pub fn pending_bytes(&self) -> usize {
        self.plain.pending_bytes() + self.uncut.len()
    }
}

impl Encoder {
    /// Adds a piece of text and appends to `ids` those that no later text can change. Together with
    /// [`Encoder::finish_stream`] they are the ids of the joined text, wherever it was cut. A new text
    /// starts with a default `state`.
    ///
    /// # Errors
    /// Same as [`Encoder::encode`]; the state is lost then.
    pub fn push_stream(
        &self,
        state: &mut EncodeState,
        text: &[u8],
        special: bool,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        self.step_stream(state, Some(text), special, ids, control)
    }

    /// Ends the text and appends the ids that are left. Afterwards the state is that of a new text.
    pub fn finish_stream(
        &self,
        state: &mut EncodeState,
        special: bool,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        self.step_stream(state, None, special, ids, control)
    }

    fn step_stream(
        &self,
        state: &mut EncodeState,
        text: Option<&[u8]>,
        special: bool,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        if let Some(pipeline) = &self.pipeline {
            return self.step_staged(pipeline, state, text, special, ids, control);
        }
        let before = std::mem::take(&mut state.plain);
        let mut stream = TextStream::new(self.specials(special), &self.pretokenizer, before);
        self.pool.with(self.isa, 0, |scratch| {
            let mut take = |event: Event<'_>, _| {
                match event {
                    Event::Pretoken(pretoken) => self.encode_pretoken(scratch, pretoken, ids, control)?,
                    Event::Special(index) => room::push(ids, self.vocab.special_ids()[index])?,
                }
                Ok(())
            };
            match text {
                Some(text) => stream.push(text, control, &mut take),
                None => stream.finish(control, &mut take),
            }
        })?;
        state.plain = stream.into_state();
        Ok(())
    }

    /// A step of a text that goes through a pipeline: it is encoded up to the last place where it can be cut.
    fn step_staged(
        &self,
        pipeline: &Pipeline,
        state: &mut EncodeState,
        text: Option<&[u8]>,
        special: bool,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let EncodeState { mut uncut, mut search_at, mut continues, .. } = std::mem::take(state);
        let is_last = text.is_none();
        room::extend(&mut uncut, text.unwrap_or_default())?;
        let end = if is_last {
            Some(uncut.len())
        } else if uncut.len() < search_at {
            None
        } else {
            // A text without a place to cut is searched again when it is twice as long, so that searching is linear.
            search_at = 2 * uncut.len();
            pipeline.cutter(&self.pretokenizer, false).late_cut(&uncut)
        };
        if let Some(end) = end {
            let specials = self.active(special.into());
            let request = Request::alone(&uncut[..end], specials, !continues);
            self.answer(request, ids, control)?;
            uncut.drain(..end);
            (search_at, continues) = (0, true);
        }
        if !is_last {
            *state = EncodeState { uncut, search_at, continues, ..EncodeState::default() };
        }
        Ok(())
    }
}
