//! Texts, many at once, in pieces, and edited.

use std::ops::Range;

use super::tokenizer::Tokenizer;
use crate::control::Control;
use crate::encode::{CHUNK_BYTES, Document, Spans, Special, SpecialTokens};
use crate::error::{Error, Result};
use crate::room;

impl Tokenizer {
    /// The ids of each text, encoded on up to `workers` threads.
    ///
    /// ```
    /// # fn main() -> Result<(), toksmith::Error> {
    /// use toksmith::Special;
    ///
    /// let tokenizer = toksmith::train(["low low low lower"], &toksmith::TrainOptions::new(260))?;
    /// assert_eq!(tokenizer.encode_batch(&["low", "lower"], Special::Text, 2)?, [vec![257], vec![257, 259]]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn encode_batch<'a>(
        &'a self,
        texts: &[&str],
        special: impl Into<SpecialTokens<'a>>,
        workers: usize,
    ) -> Result<Vec<Vec<u32>>> {
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        let batch = self.encoder().encode_batch(&texts, special, workers, &Control::none())?;
        let ids = batch.starts.windows(2).map(|ends| batch.ids[ends[0]..ends[1]].to_vec());
        room::collected(ids)
    }

    /// How many ids each text has, counted on up to `workers` threads.
    pub fn count_batch<'a>(
        &'a self,
        texts: &[&str],
        special: impl Into<SpecialTokens<'a>>,
        workers: usize,
    ) -> Result<Vec<i64>> {
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        self.encoder().count_batch(&texts, special, workers, &Control::none())
    }

    /// The ids of a text with the bytes that each stands for.
    pub fn encode_with_offsets<'a>(
        &'a self,
        text: &str,
        special: impl Into<SpecialTokens<'a>>,
    ) -> Result<Vec<(u32, Range<usize>)>> {
        let mut spans = Spans::default();
        self.encoder().encode(text.as_bytes(), special, &mut spans, &Control::none())?;
        let places = spans.in_bytes()?;
        let places = places.chunks_exact(2).map(|place| place[0] as usize..place[1] as usize);
        room::collected(spans.ids.iter().copied().zip(places))
    }

    /// The longest prefix of a text of at most `max_tokens` tokens that ends between two characters.
    pub fn truncate<'t>(&self, text: &'t str, max_tokens: usize, special: Special) -> Result<&'t str> {
        let range = self.encoder().truncate(text, max_tokens, special.into(), &Control::none())?;
        Ok(&text[range])
    }

    /// The longest suffix of a text of at most `max_tokens` tokens that begins between two characters.
    pub fn truncate_left<'t>(&self, text: &'t str, max_tokens: usize, special: Special) -> Result<&'t str> {
        let range = self.encoder().truncate_left(text, max_tokens, special.into(), &Control::none())?;
        Ok(&text[range])
    }

    /// Cuts a text into successive pieces, each the result of [`truncate`](Tokenizer::truncate) on the rest.
    /// Each begins at most `overlap` tokens before the end of the piece before it.
    ///
    /// # Errors
    /// [`crate::Error::CharacterTooLong`] if one character has more than `max_tokens` tokens; those of
    /// [`Tokenizer::encode`].
    pub fn split<'t>(
        &self,
        text: &'t str,
        max_tokens: usize,
        overlap: usize,
        special: Special,
    ) -> Result<Vec<&'t str>> {
        let ranges = self.encoder().split(text, max_tokens, overlap, special.into(), &Control::none())?;
        Ok(ranges.into_iter().map(|range| &text[range]).collect())
    }

    /// A text that changes, always with the ids of the whole.
    ///
    /// ```
    /// # fn main() -> Result<(), toksmith::Error> {
    /// use toksmith::Special;
    ///
    /// let tokenizer = toksmith::train(["low low low lower"], &toksmith::TrainOptions::new(260))?;
    /// let mut document = tokenizer.document("a low cat", Special::Text)?;
    /// document.replace(2..5, "lower")?;
    /// assert_eq!(document.ids()?, tokenizer.encode("a lower cat", Special::Text)?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn document(&self, text: &str, special: Special) -> Result<Document> {
        Document::new(self.encoder().clone(), text, special.into(), CHUNK_BYTES, &Control::none())
    }

    /// A text that changes, of ids that stay where no edit is near: those that a model sampled may not be
    /// those of the text.
    ///
    /// # Errors
    /// [`Error::UnknownId`]; [`Error::Invalid`] if the ids end inside a character, or if the tokenizer
    /// normalizes texts, so that its tokens are not the bytes of a text.
    pub fn document_of_ids(&self, ids: &[u32], special: Special) -> Result<Document> {
        self.check_document_of_ids()?;
        Document::of_ids(self.encoder().clone(), ids, special.into(), CHUNK_BYTES, &Control::none())
    }

    pub fn check_document_of_ids(&self) -> Result<()> {
        match self.decoder().is_none_or(|decoder| decoder.is_plain()) {
            true => Ok(()),
            false => Err(Error::Invalid(
                "the tokens of this tokenizer are not the bytes of a text: give the text".into(),
            )),
        }
    }
}
