//! Text that arrives in pieces → the ids of the whole.

use crate::control::Control;
use crate::encode::encoder::Encoder;
use crate::error::Result;
use crate::room;
use crate::special::{Event, StreamState, TextStream};

impl Encoder {
    /// Adds a piece of text and appends to `ids` those that no later text can change. Together with
    /// [`Encoder::finish_stream`] they are the ids of the joined text, wherever it was cut. A new text
    /// starts with a default `state`.
    ///
    /// # Errors
    /// Same as [`Encoder::encode`]; the state is lost then.
    pub fn push_stream(
        &self,
        state: &mut StreamState,
        text: &[u8],
        special: bool,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        self.step_stream(state, Some(text), special, ids, control)
    }

    /// Ends the text and appends the ids that are left. Afterwards the state is that of a new text.
    ///
    /// # Errors
    /// Same as [`Encoder::encode`].
    pub fn finish_stream(
        &self,
        state: &mut StreamState,
        special: bool,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        self.step_stream(state, None, special, ids, control)
    }

    fn step_stream(
        &self,
        state: &mut StreamState,
        text: Option<&[u8]>,
        special: bool,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let before = std::mem::take(state);
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
        *state = stream.into_state();
        Ok(())
    }
}
