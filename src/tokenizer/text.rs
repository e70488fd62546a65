//! Texts, many at once, in pieces, and edited.

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::tokenizer::Tokenizer;
use crate::control::Control;
use crate::encode::{self, DocumentOptions, Spans};
use crate::error::Result;
use crate::room;

impl Tokenizer {
    /// The ids of each text, encoded on up to `workers` threads.
    ///
    /// ```
    /// # fn main() -> Result<(), toksmith::Error> {
    /// let tokenizer = toksmith::train(["low low low lower"], &toksmith::TrainOptions::new(260))?;
    /// assert_eq!(tokenizer.encode_batch(&["low", "lower"], true, 2)?, [vec![257], vec![257, 259]]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn encode_batch(&self, texts: &[&str], special: bool, workers: usize) -> Result<Vec<Vec<u32>>> {
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        let batch = self.encoder().encode_batch(&texts, special, workers, &Control::none())?;
        let ids = batch.starts.windows(2).map(|ends| batch.ids[ends[0]..ends[1]].to_vec());
        room::collected(ids)
    }

    /// How many ids each text has, counted on up to `workers` threads.
    pub fn count_batch(&self, texts: &[&str], special: bool, workers: usize) -> Result<Vec<i64>> {
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        self.encoder().count_batch(&texts, special, workers, &Control::none())
    }

    /// The ids of a text with the bytes that each stands for.
    pub fn encode_with_offsets(&self, text: &str, special: bool) -> Result<Vec<(u32, Range<usize>)>> {
        let mut spans = Spans::default();
        self.encoder().encode(text.as_bytes(), special, &mut spans, &Control::none())?;
        let places = spans.in_bytes()?;
        let places = places.chunks_exact(2).map(|place| place[0] as usize..place[1] as usize);
        room::collected(spans.ids.iter().copied().zip(places))
    }

    /// The longest prefix of a text of at most `max_tokens` tokens that ends between two characters.
    pub fn truncate<'t>(&self, text: &'t str, max_tokens: usize, special: bool) -> Result<&'t str> {
        let piece = self.encoder().truncate(text, 0, max_tokens, special, &Control::none())?;
        Ok(&text[piece.range])
    }

    /// Cuts a text into successive pieces, each the result of [`truncate`](Tokenizer::truncate) on the rest. Each begins at most
    /// `overlap` tokens before the end of the piece before it.
    ///
    /// # Errors
    /// [`crate::Error::CharacterTooLong`] if one character has more than `max_tokens` tokens; those of [`Tokenizer::encode`].
    pub fn split<'t>(
        &self,
        text: &'t str,
        max_tokens: usize,
        overlap: usize,
        special: bool,
    ) -> Result<Vec<&'t str>> {
        let ranges = self.encoder().split(text, max_tokens, overlap, special, &Control::none())?;
        Ok(ranges.into_iter().map(|range| &text[range]).collect())
    }

    /// A text that changes, always with the ids of the whole.
    ///
    /// ```
    /// # fn main() -> Result<(), toksmith::Error> {
    /// let tokenizer = toksmith::train(["low low low lower"], &toksmith::TrainOptions::new(260))?;
    /// let mut document = tokenizer.document("a low cat", true)?;
    /// document.replace(2..5, "lower")?;
    /// assert_eq!(document.ids()?, tokenizer.encode("a lower cat", true)?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn document(&self, text: &str, special: bool) -> Result<Document> {
        let options = DocumentOptions { special, ..DocumentOptions::default() };
        let inner = encode::Document::new(self.encoder().clone(), text, options, &Control::none())?;
        Ok(Document { inner })
    }
}

/// A text that changes, always with the ids of the whole: [`Tokenizer::document`].
///
/// Cost of an edit: that of encoding the text put in and one or two chunks, of 512 bytes or a little more each.
pub struct Document {
    inner: encode::Document,
}

impl Document {
    /// Puts a text in the place of a range of bytes, which begins and ends between two characters.
    pub fn replace(&mut self, range: Range<usize>, text: &str) -> Result<()> {
        self.inner.replace(range, text, &Control::none())
    }

    /// Makes `text` the whole text; costs what has changed.
    pub fn update(&mut self, text: &str) -> Result<()> {
        self.inner.update(text, &Control::none())
    }

    /// The number of ids.
    pub fn count(&self) -> usize {
        self.inner.count()
    }

    /// The text.
    pub fn text(&self) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.inner.text()?).into_owned())
    }

    /// The ids.
    pub fn ids(&mut self) -> Result<Vec<u32>> {
        let (count, memory) = (self.inner.count(), self.inner.ids()?);
        room::collected(memory.iter().take(count).map(|id| id.load(Ordering::Relaxed)))
    }
}
