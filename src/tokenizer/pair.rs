//! Two texts in a row: where the ids of the first end, and whether a token lies across the border.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::tokenizer::Tokenizer;
use crate::control::Control;
use crate::encode::{Continuations, Request, Spans, Special};
use crate::error::Result;
use crate::room;

/// Where the ids of a prompt end, for [`Tokenizer::encode_pair`].
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Boundary<'a> {
    /// The ids are those of the whole text; a token across the border belongs to the completion. For
    /// harnesses that score completions.
    Joint,
    /// Prompt and completion are encoded alone, as by a server that appends to a prompt.
    Split,
    /// The unstable end of the prompt ([`Continuations::heal`]) is encoded with the completion, as under
    /// constrained decoding.
    Heal(&'a Continuations),
}

/// Ids with a border.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodedPair {
    /// All ids.
    pub ids: Vec<u32>,
    /// How many of them are before the border.
    pub border: usize,
    /// Whether the whole text, encoded at once, has a token with bytes of both sides.
    pub crosses: bool,
}

impl Tokenizer {
    /// Encodes a prompt and the completion after it.
    ///
    /// ```
    /// # fn main() -> Result<(), toksmith::Error> {
    /// use toksmith::{Boundary, Special};
    ///
    /// let tokenizer = toksmith::train(["low low low lower"], &toksmith::TrainOptions::new(258))?;
    /// let pair = tokenizer.encode_pair("a l", "ow", Boundary::Joint, Special::Text)?;
    /// assert_eq!((pair.ids, pair.border, pair.crosses), (vec![97, 32, 257], 2, true));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Tokenizer::encode`].
    pub fn encode_pair(
        &self,
        prompt: &str,
        completion: &str,
        boundary: Boundary<'_>,
        special: Special,
    ) -> Result<EncodedPair> {
        self.pair(prompt, completion, boundary, special, &Control::none())
    }

    pub fn pair(
        &self,
        prompt: &str,
        completion: &str,
        boundary: Boundary<'_>,
        special: Special,
        control: &Control,
    ) -> Result<EncodedPair> {
        let whole = self.spans([prompt, completion].concat().as_bytes(), special, true, control)?;
        let (border, crosses) = border_of(&whole, prompt.len());
        let encode = |text: &str, is_first| {
            self.encoder().encode_part(text.as_bytes(), special, is_first, None, control)
        };
        let (mut ids, more) = match boundary {
            Boundary::Joint => return Ok(EncodedPair { ids: whole.ids, border, crosses }),
            Boundary::Split => (encode(prompt, true)?, encode(completion, true)?),
            Boundary::Heal(continuations) => {
                let Spans { mut ids, spans, .. } = self.spans(prompt.as_bytes(), special, true, control)?;
                let keep = self.kept(&ids, &spans, prompt, continuations)?;
                let encode_from = |at| encode(&[&prompt[at..], completion].concat(), at == 0);
                // Text behind a special token is encoded with it: it may get a space in front.
                let is_special = |&at: &usize| self.vocab().special_ids().contains(&ids[at]);
                let from = keep.checked_sub(1).filter(is_special).unwrap_or(keep);
                let start = match from {
                    0 => 0,
                    // White space at the end may have no token.
                    _ if from == ids.len() => prompt.trim_end().len().max(spans[from - 1].end),
                    _ => spans[from].start,
                };
                let mut more = encode_from(start)?;
                if from < keep && more.first() == ids.get(from) {
                    more.remove(0);
                } else if from < keep {
                    // With the completion behind it, the special token is another one, or none.
                    more = encode_from(spans[from].end)?;
                }
                ids.truncate(keep);
                (ids, more)
            }
        };
        let border = ids.len();
        room::extend(&mut ids, &more)?;
        Ok(EncodedPair { ids, border, crosses })
    }

    /// Appends the ids of a text to ids that stay as they are, such as those that a model sampled. The text
    /// is encoded as one that goes on: without a prefix that a text begins with.
    ///
    /// Ids without a token are kept. `crosses` says whether the text of the ids after the last special or
    /// unknown one, with `text` behind it and encoded at once, has a token with bytes of both sides.
    ///
    /// # Errors
    /// Those of [`Tokenizer::encode`].
    pub fn append(&self, ids: &[u32], text: &str, special: Special) -> Result<EncodedPair> {
        self.appended(ids, text, special, &Control::none())
    }

    pub fn appended(
        &self,
        ids: &[u32],
        text: &str,
        special: Special,
        control: &Control,
    ) -> Result<EncodedPair> {
        let vocab = self.vocab();
        let special_ids: FxHashSet<u32> = vocab.special_ids().iter().copied().collect();
        let is_border = |id: &u32| special_ids.contains(id) || vocab.tokens().get(*id).is_none();
        let first = ids.iter().rposition(is_border).map_or(0, |at| at + 1);
        // As the tokens have it, with the space that a text may have in front.
        let mut whole = Vec::new();
        for id in &ids[first..] {
            room::extend(&mut whole, self.token_bytes(*id).unwrap_or_default())?;
        }
        let border = whole.len();
        room::extend(&mut whole, text.as_bytes())?;
        let crosses = border_of(&self.spans(&whole, special, false, control)?, border).1;
        let more = self.encoder().encode_part(text.as_bytes(), special, ids.is_empty(), None, control)?;
        let mut all = room::collected(ids.iter().copied())?;
        room::extend(&mut all, &more)?;
        Ok(EncodedPair { ids: all, border: ids.len(), crosses })
    }

    /// How many tokens of a prompt are before its unstable end, which begins with a character.
    fn kept(
        &self,
        ids: &[u32],
        spans: &[Range<usize>],
        prompt: &str,
        continuations: &Continuations,
    ) -> Result<usize> {
        let mut keep = continuations.heal(ids)?.0;
        // A space that a normalizer put behind the text is of no character, and has no place before more.
        let has_space = |id: &u32| self.token_bytes(*id).is_some_and(|token| token.ends_with(b" "));
        if keep == ids.len() && ids.last().is_some_and(has_space) && !prompt.ends_with(' ') {
            keep -= 1;
        }
        // Tokens that it made of one character have spans that overlap. A space that it put in front is of no
        // character either.
        let is_border = |at: usize| {
            let start = spans[at].start;
            start > 0 && prompt.is_char_boundary(start) && spans[at - 1].end <= start
        };
        while keep > 0 && keep < ids.len() && !is_border(keep) {
            keep -= 1;
        }
        Ok(keep)
    }

    /// The tokens of a text, which begins or goes on here.
    fn spans(&self, text: &[u8], special: Special, is_first: bool, control: &Control) -> Result<Spans> {
        let (mut spans, encoder) = (Spans::default(), self.encoder());
        encoder.answer(
            Request::alone(text, encoder.active(special.into()), is_first),
            &mut spans,
            control,
        )?;
        Ok(spans)
    }
}

/// How many tokens end at a place or before it, and whether the next one begins before it.
fn border_of(tokens: &Spans, place: usize) -> (usize, bool) {
    let border = tokens.spans.iter().position(|span| span.end > place).unwrap_or(tokens.spans.len());
    (border, tokens.spans.get(border).is_some_and(|span| span.start < place))
}
