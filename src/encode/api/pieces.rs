//! Pieces of a text by number of tokens: truncate and split.

use std::ops::Range;

use super::look_ahead::LookAhead;
use crate::control::Control;
use crate::encode::encoder::Encoder;
use crate::encode::output::Spans;
use crate::error::{Error, Result};
use crate::room;

/// A piece of a text that encodes to few enough tokens.
struct Piece {
    /// The range of the piece in the text, in bytes.
    range: Range<usize>,
    /// The ends of its tokens, in bytes of the whole text; the last one is `range.end`.
    ends: Vec<usize>,
}

/// Bytes of text that are encoded first for each token that is wanted.
const BYTES_PER_TOKEN: usize = 8;

impl Encoder {
    /// The longest prefix of `text` that is at most `max_tokens` whole tokens of its encoding and ends
    /// between two characters. The prefix is shortened until it also has at most `max_tokens` tokens when it is
    /// encoded alone. Empty if not even the first character fits.
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
        Ok(Pieces { encoder: self, text, max_tokens, special, control, ahead }.piece(0)?.range)
    }

    /// Cuts `text` into successive pieces, each of which is the result of [`Encoder::truncate`] on the rest. Each
    /// starts at most `overlap` tokens before the end of the previous one, between two characters and after the start
    /// of the previous one.
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
            let mut piece = pieces.piece(start)?;
            if piece.range.is_empty() {
                piece = pieces.single_character(start)?;
            }
            room::push(&mut ranges, piece.range.clone())?;
            if piece.range.end == text.len() {
                break;
            }
            start = next_start(text, &piece, overlap);
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
    /// The longest piece from `start` on.
    fn piece(&mut self, start: usize) -> Result<Piece> {
        let mut ends = self.first_ends(start)?;
        while let Some(&end) = ends.last() {
            if self.text.is_char_boundary(end) && self.count(start..end)? <= self.max_tokens {
                break;
            }
            ends.pop();
        }
        let end = ends.last().copied().unwrap_or(start);
        Ok(Piece { range: start..end, ends })
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

    /// The character at `at` as a piece, for texts whose first tokens end inside characters.
    fn single_character(&self, at: usize) -> Result<Piece> {
        let end = at + self.text[at..].chars().next().map_or(0, char::len_utf8);
        let (tokens, limit) = (self.count(at..end)?, self.max_tokens);
        if tokens > limit || limit == 0 {
            return Err(Error::CharacterTooLong { at, tokens, limit });
        }
        Ok(Piece { range: at..end, ends: vec![end] })
    }
}

/// The earliest token boundary between characters, at most `overlap` tokens before the end of the
/// piece, and after its start.
fn next_start(text: &str, piece: &Piece, overlap: usize) -> usize {
    let first = piece.ends.len().saturating_sub(overlap.saturating_add(1));
    let is_next = |&end: &usize| end > piece.range.start && text.is_char_boundary(end);
    let boundary = piece.ends[first..].iter().copied().find(is_next);
    boundary.unwrap_or(piece.range.end)
}
