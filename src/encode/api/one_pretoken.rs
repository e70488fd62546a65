//! Bytes that are one pretoken, whatever the pattern says.

use crate::control::Control;
use crate::encode::encoder::Encoder;
use crate::error::Result;

impl Encoder {
    /// The ids of bytes that are one pretoken, whatever the pattern says.
    pub fn encode_as_pretoken(&self, piece: &[u8], control: &Control) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        if !self.vocab.covers_text_exactly() {
            self.vocab.pretoken_spans(piece, &mut ids, &mut Vec::new(), control)?;
        } else if !piece.is_empty() {
            self.pool.with(self.isa, 0, |scratch| self.encode_pretoken(scratch, piece, &mut ids, control))?;
        }
        Ok(ids)
    }

    /// The ids that merging makes of bytes. Unlike [`Encoder::encode_as_pretoken`], this does not return a
    /// token with these bytes that merging does not make.
    pub(in crate::encode) fn merge_bytes(&self, piece: &[u8], control: &Control) -> Result<Vec<u32>> {
        let mut tokens = Vec::new();
        self.pool.with(self.isa, 0, |scratch| {
            self.vocab.merge(&mut scratch.merger, piece, &mut tokens, control)
        })?;
        tokens.iter_mut().for_each(|token| *token = self.vocab.tokens().id_at(*token));
        Ok(tokens)
    }
}
