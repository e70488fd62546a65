//! Two texts in a row: where the ids of the first end, and whether a token lies across the border.

use rustc_hash::FxHashSet;

use super::tokenizer::Tokenizer;
use crate::control::Control;
use crate::encode::{Continuations, Spans, Special};
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
        let whole = self.spans(&[prompt, completion].concat().into_bytes(), special)?;
        let (border, crosses) = border_of(&whole, prompt.len());
        let (mut ids, rest) = match boundary {
            Boundary::Joint => return Ok(EncodedPair { ids: whole.ids, border, crosses }),
            Boundary::Split => (self.encode(prompt, special)?, ""),
            Boundary::Heal(continuations) => self.healed(prompt, continuations, special)?,
        };
        let border = ids.len();
        room::extend(&mut ids, &self.encode(&[rest, completion].concat(), special)?)?;
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
        let (vocab, control) = (self.vocab(), Control::none());
        let special_ids: FxHashSet<u32> = vocab.special_ids().iter().copied().collect();
        let is_border = |id: &u32| special_ids.contains(id) || vocab.tokens().get(*id).is_none();
        let first = ids.iter().rposition(is_border).map_or(0, |at| at + 1);
        let mut whole = self.decode_bytes(&ids[first..])?;
        let border = whole.len();
        room::extend(&mut whole, text.as_bytes())?;
        let crosses = border_of(&self.spans(&whole, special)?, border).1;
        let more = self.encoder().encode_part(text.as_bytes(), special, ids.is_empty(), None, &control)?;
        let mut all = room::collected(ids.iter().copied())?;
        room::extend(&mut all, &more)?;
        Ok(EncodedPair { ids: all, border: ids.len(), crosses })
    }

    fn spans(&self, text: &[u8], special: Special) -> Result<Spans> {
        let mut spans = Spans::default();
        self.encoder().encode(text, special, &mut spans, &Control::none())?;
        Ok(spans)
    }

    /// The ids of a prompt before its unstable end, and this end.
    fn healed<'t>(
        &self,
        prompt: &'t str,
        continuations: &Continuations,
        special: Special,
    ) -> Result<(Vec<u32>, &'t str)> {
        let Spans { mut ids, spans, .. } = self.spans(prompt.as_bytes(), special)?;
        let mut keep = continuations.heal(&ids)?.0;
        while keep > 0 && keep < ids.len() && !prompt.is_char_boundary(spans[keep].start) {
            keep -= 1;
        }
        let end = spans.get(keep).map_or(prompt.len(), |span| if keep == 0 { 0 } else { span.start });
        ids.truncate(keep);
        Ok((ids, &prompt[end..]))
    }
}

/// How many tokens end at a place or before it, and whether the next one begins before it.
fn border_of(tokens: &Spans, place: usize) -> (usize, bool) {
    let border = tokens.spans.iter().position(|span| span.end > place).unwrap_or(tokens.spans.len());
    (border, tokens.spans.get(border).is_some_and(|span| span.start < place))
}
