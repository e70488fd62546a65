//! Text that arrives in parts.

use std::sync::Arc;

use crate::control::Control;
use crate::encode::{EncodeState, Encoder};
use crate::error::Result;

/// Encodes a text that arrives in parts: [`Tokenizer::stream`](crate::Tokenizer::stream).
///
/// The ids are those of the joined text, wherever it is cut, also inside a word or a special token. What later text could
/// change is held back: mostly some bytes, and all of the text under a pattern that allows no cut.
pub struct EncodeStream {
    encoder: Arc<Encoder>,
    special: bool,
    state: EncodeState,
}

impl EncodeStream {
    pub(super) fn new(encoder: Arc<Encoder>, special: bool) -> Self {
        EncodeStream { encoder, special, state: EncodeState::default() }
    }

    /// Adds text, and appends to `ids` those that no later text can change.
    ///
    /// # Errors
    /// Those of [`Tokenizer::encode`](crate::Tokenizer::encode). The text that was held back is lost then.
    pub fn push(&mut self, text: &str, ids: &mut Vec<u32>) -> Result<()> {
        self.encoder.push_stream(&mut self.state, text.as_bytes(), self.special, ids, &Control::none())
    }

    /// Ends the text, and appends the remaining ids. Afterwards the stream takes a new text.
    pub fn finish(&mut self, ids: &mut Vec<u32>) -> Result<()> {
        self.encoder.finish_stream(&mut self.state, self.special, ids, &Control::none())
    }

    /// How many bytes of text are held back.
    pub fn pending_bytes(&self) -> usize {
        self.state.pending_bytes()
    }
}
