//! Special tokens that a caller chooses, in place of those of the vocabulary.

use super::{Encoder, SMALL_CALL_BYTES, SMALL_CALL_DIVISOR, Sink};
use crate::control::Control;
use crate::error::Result;
use crate::special::Specials;

/// Special tokens, each with its id. They need not be in a vocabulary, and two may have the same id.
#[derive(Clone, Debug, Default)]
pub struct SpecialSet {
    specials: Specials,
    ids: Vec<u32>,
}

impl SpecialSet {
    /// Prepares a list of special tokens.
    ///
    /// # Errors
    /// As [`Specials::new`].
    pub fn new(tokens: Vec<(Vec<u8>, u32)>) -> Result<Self> {
        let (names, ids) = tokens.into_iter().unzip();
        Ok(SpecialSet { specials: Specials::new(names)?, ids })
    }

    /// The first of them in a text: the leftmost, of those the longest.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`].
    pub fn first_in(&self, text: &[u8], control: &Control) -> Result<Option<&[u8]>> {
        let found = self.specials.matches(text, 0).next(control)?;
        Ok(found.map(|found| self.specials.tokens()[found.index].as_slice()))
    }

    /// For the methods of [`Encoder`] that take special tokens.
    pub fn active(&self) -> ActiveSpecials<'_> {
        ActiveSpecials { specials: &self.specials, ids: &self.ids }
    }
}

/// The special tokens that one call looks for, and the id of each.
#[derive(Clone, Copy, Debug)]
pub struct ActiveSpecials<'a> {
    pub(super) specials: &'a Specials,
    pub(super) ids: &'a [u32],
}

impl Encoder {
    /// [`Encoder::encode`], with the special tokens of `active`. All others are ordinary text.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn encode_with_specials(
        &self,
        text: &[u8],
        active: ActiveSpecials<'_>,
        sink: &mut impl Sink,
        control: &Control,
    ) -> Result<()> {
        self.encode_for(0, text, active, sink, control)
    }

    /// [`Encoder::encode_with_specials`], for a user of the scratches.
    pub(super) fn encode_for(
        &self,
        worker: usize,
        text: &[u8],
        active: ActiveSpecials<'_>,
        sink: &mut impl Sink,
        control: &Control,
    ) -> Result<()> {
        self.pool.with(self.isa, worker, |scratch| {
            let seen = scratch.seen;
            let done = self.encode_with(scratch, text, active, sink, control);
            if text.len() < SMALL_CALL_BYTES {
                scratch.seen = seen + text.len() / SMALL_CALL_DIVISOR;
            }
            done
        })
    }

    /// The ids of bytes that are one pretoken, whatever the pattern says.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn encode_piece(&self, piece: &[u8], control: &Control) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        if !piece.is_empty() {
            self.pool.with(self.isa, 0, |scratch| self.encode_pretoken(scratch, piece, &mut ids, control))?;
        }
        Ok(ids)
    }

    /// The ids that merging makes of bytes: unlike [`Encoder::encode_piece`], a token that merging does not make
    /// does not stand for itself.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub(super) fn merge_piece(&self, piece: &[u8], control: &Control) -> Result<Vec<u32>> {
        let mut tokens = Vec::new();
        self.pool.with(self.isa, 0, |scratch| {
            scratch.merger.merge(self.vocab.pairs(), piece, &mut tokens, control)
        })?;
        tokens.iter_mut().for_each(|token| *token = self.vocab.tokens().id_at(*token));
        Ok(tokens)
    }
}
