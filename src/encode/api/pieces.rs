//! Pieces of a text by number of tokens: truncate and split.

use std::ops::Range;

use super::look_ahead::LookAhead;
use crate::control::Control;
use crate::encode::encoder::Encoder;
use crate::encode::output::Spans;
use crate::error::{Error, Result};
use crate::room;

/// Bytes of text that are encoded first for each token that is wanted.
const BYTES_PER_TOKEN: usize = 8;

impl Encoder {
    /// The longest prefix of `text` that is at most `max_tokens` whole tokens of its encoding and ends
    /// between two characters. The prefix is shortened until it also has at most `max_tokens` tokens when it
    /// is encoded alone. Empty if not even the first character fits.
    ///
    /// Cost: that of encoding the prefix and some more; a pretoken is always encoded whole.
    pub fn truncate(
        &self,
        text: &str,
        max_tokens: usize,
        special: bool,
        control: &Control,
    ) -> Result<Range<usize>> {
        let ahead = LookAhead::default();
        let ends = Pieces { encoder: self, text, max_tokens, special, control, ahead }.piece(0)?;
        Ok(0..ends.last().copied().unwrap_or(0))
    }

    /// The longest suffix of `text` that is at most `max_tokens` whole tokens of its encoding and begins
    /// between two characters, shortened like the prefix of [`Encoder::truncate`].
    pub fn truncate_left(
        &self,
        text: &str,
        max_tokens: usize,
        special: bool,
        control: &Control,
    ) -> Result<Range<usize>> {
        let bytes = text.as_bytes();
        let mut window = max_tokens.saturating_mul(BYTES_PER_TOKEN).saturating_add(64);
        loop {
            let from = match bytes.len().checked_sub(window) {
                None | Some(0) => 0,
                Some(at) => LookAhead::default().cut_from(self, bytes, at, special),
            };
            let mut tokens = Spans::default();
            self.encode(&bytes[from..], special, &mut tokens, control)?;
            let count = tokens.ids.len();
            if from == 0 && count <= max_tokens {
                return Ok(0..text.len());
            }
            if count > max_tokens {
                for span in &tokens.spans[count - max_tokens..] {
                    let start = from + span.start;
                    let fits = || Ok(self.count(&bytes[start..], special, control)? <= max_tokens);
                    if text.is_char_boundary(start) && fits()? {
                        return Ok(start..text.len());
                    }
                }
                return Ok(text.len()..text.len());
            }
            window = window.saturating_mul(2);
        }
    }

    /// Cuts `text` into successive pieces, each of which is the result of [`Encoder::truncate`] on the rest.
    /// Each starts at most `overlap` tokens before the end of the previous one, between two characters and
    /// after the start of the previous one.
    ///
    /// # Errors
    /// [`Error::CharacterTooLong`], and as [`Encoder::encode`].
    pub fn split(
        &self,
        text: &str,
        max_tokens: usize,
        overlap: usize,
        special: bool,
        control: &Control,
    ) -> Result<Vec<Range<usize>>> {
        let ahead = LookAhead::default();
        let mut pieces = Pieces { encoder: self, text, max_tokens, special, control, ahead };
        let (mut ranges, mut start) = (Vec::new(), 0);
        while start < text.len() {
            control.check()?;
            let mut ends = pieces.piece(start)?;
            if ends.is_empty() {
                ends.push(pieces.character_end(start)?);
            }
            let end = ends[ends.len() - 1];
            room::push(&mut ranges, start..end)?;
            if end == text.len() {
                break;
            }
            start = next_start(text, start, &ends, overlap).unwrap_or(end);
        }
        Ok(ranges)
    }
}

/// A text that is divided into pieces.
struct Pieces<'a> {
    encoder: &'a Encoder,
    text: &'a str,
    max_tokens: usize,
    special: bool,
    control: &'a Control<'a>,
    ahead: LookAhead,
}

impl Pieces<'_> {
    /// The ends of the tokens of the longest piece from `start` on, in bytes of the whole text: the last one
    /// is the end of the piece.
    fn piece(&mut self, start: usize) -> Result<Vec<usize>> {
        let mut ends = self.first_ends(start)?;
        while let Some(&end) = ends.last() {
            if self.text.is_char_boundary(end) && self.count(start..end)? <= self.max_tokens {
                break;
            }
            ends.pop();
        }
        Ok(ends)
    }

    fn count(&self, range: Range<usize>) -> Result<usize> {
        self.encoder.count(&self.text.as_bytes()[range], self.special, self.control)
    }

    /// The ends of the first tokens of `text[start..]`, up to `max_tokens` of them. Encodes a window that
    /// ends where a cut changes no id, and larger ones while it has too few tokens.
    fn first_ends(&mut self, start: usize) -> Result<Vec<usize>> {
        let Pieces { encoder, text, max_tokens, special, control, ref mut ahead } = *self;
        let bytes = text.as_bytes();
        let mut window = max_tokens.saturating_mul(BYTES_PER_TOKEN).saturating_add(64);
        if let Some(ends) = ahead.ends_from(start, max_tokens)? {
            return Ok(ends);
        }
        loop {
            let end = ahead.cut_from(encoder, bytes, start.saturating_add(window), special);
            ahead.look(encoder, bytes, start..end, window, special, control)?;
            if let Some(ends) = ahead.ends_from(start, max_tokens)? {
                return Ok(ends);
            }
            let special = special && ahead.may_be_special(&(start..end));
            let mut tokens = Spans::up_to(max_tokens);
            encoder.encode(&bytes[start..end], special, &mut tokens, control)?;
            if tokens.ids.len() > max_tokens || end == bytes.len() {
                tokens.spans.truncate(max_tokens);
                let mut ends = room::collected(tokens.spans.into_iter().map(|span| start + span.end))?;
                if end == bytes.len() && tokens.ids.len() <= max_tokens && ends.last() != Some(&end) {
                    // Text at the end that the pattern drops belongs to the last piece.
                    room::push(&mut ends, end)?;
                }
                return Ok(ends);
            }
            window = window.saturating_mul(2);
        }
    }

    /// The end of the character at `at`, which is a piece where the first tokens of a text end inside it.
    fn character_end(&self, at: usize) -> Result<usize> {
        let end = at + self.text[at..].chars().next().map_or(0, char::len_utf8);
        let (tokens, limit) = (self.count(at..end)?, self.max_tokens);
        if tokens > limit || limit == 0 {
            return Err(Error::CharacterTooLong { at, tokens, limit });
        }
        Ok(end)
    }
}

/// The earliest token boundary between characters, at most `overlap` tokens before the end of the piece that
/// begins at `start`, and after that place.
fn next_start(text: &str, start: usize, ends: &[usize], overlap: usize) -> Option<usize> {
    let first = ends.len().saturating_sub(overlap.saturating_add(1));
    ends[first..].iter().copied().find(|&end| end > start && text.is_char_boundary(end))
}
