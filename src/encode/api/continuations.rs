//! What may come next: tokens by the bytes that they begin with, where a text that was cut off goes on, and
//! which ids keep a sequence an encoding.

use super::unstable::{Completions, SortedTokens};
use crate::control::Control;
use crate::encode::encoder::{Encoder, Request};
use crate::encode::special_set::SpecialTokens;
use crate::error::{Error, Result};
use crate::room;

/// Bytes at the end of a text that are encoded with each token, at most.
const MAX_TAIL_BYTES: usize = 1 << 12;
/// Tokens that are tried between two checks of the control.
const TOKENS_PER_CHECK: usize = 1 << 10;

/// The tokens of a vocabulary as what may come next.
pub struct Continuations {
    /// It has scratches of its own: so the many texts that are tried leave the caches of others alone.
    encoder: Encoder,
    sorted: SortedTokens,
    /// Bytes of the longest ordinary token.
    longest: usize,
}

impl Continuations {
    /// Sorts the tokens of an encoder.
    pub fn new(encoder: &Encoder) -> Self {
        let sorted = SortedTokens::new(encoder.vocab());
        let longest = sorted.iter(encoder.vocab()).map(<[u8]>::len).max().unwrap_or(0);
        Continuations { encoder: encoder.with_own_scratches(), sorted, longest }
    }

    /// The ids of `text` that no text after it can change, and the sequences of ids that could come next.
    pub fn of_text<'a>(
        &'a self,
        text: &str,
        special: impl Into<SpecialTokens<'a>>,
        control: &Control,
    ) -> Result<Completions> {
        self.encoder.encode_with_unstable(text, special, &self.sorted, control)
    }

    /// The ordinary tokens whose bytes begin with `prefix`, by ascending id.
    pub fn prefix_ids(&self, prefix: &[u8]) -> Result<Vec<u32>> {
        let mut ids = room::collected(self.sorted.beginning(self.encoder.vocab(), prefix).map(|(id, _)| id))?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// How many of `ids` to keep, and the tokens that may come after them instead of the others: those that
    /// begin with the bytes of the others. As many ids are given up as can begin an ordinary token that is
    /// longer; a special token stays, with all before it. If all ids stay, there is no restriction.
    ///
    /// # Errors
    /// [`Error::UnknownId`]; [`Error::OutOfMemory`].
    pub fn heal(&self, ids: &[u32]) -> Result<(usize, Option<Vec<u32>>)> {
        let vocab = self.encoder.vocab();
        let (mut tail, mut keep) = (Vec::new(), ids.len());
        let mut healed = Vec::new();
        for (index, &id) in ids.iter().enumerate().rev() {
            let token = vocab.tokens().get(id);
            let token = token.ok_or(Error::UnknownId { id: i128::from(id), index: Some(index) })?;
            if vocab.special_ids().contains(&id) || tail.len() + token.len() >= self.longest {
                break;
            }
            tail.splice(..0, token.iter().copied());
            let goes_on = self.sorted.beginning(vocab, &tail).any(|(_, token)| token.len() > tail.len());
            if goes_on && !tail.is_empty() {
                (keep, healed) = (index, tail.clone());
            }
        }
        let allowed = (keep < ids.len()).then(|| self.prefix_ids(&healed)).transpose()?;
        Ok((keep, allowed))
    }

    /// For each id up to the highest, whether `ids` with this id behind them are the encoding of their bytes,
    /// in which special tokens become their ids. `text` are the bytes of `ids`.
    ///
    /// Cost: one encoding of the end of the text for each token.
    ///
    /// # Errors
    /// [`Error::Invalid`] if more than 4,096 bytes would have to be encoded with each token; errors of
    /// [`Encoder::encode`].
    pub fn next_mask(&self, ids: &[u32], text: &[u8], control: &Control) -> Result<Vec<bool>> {
        let vocab = self.encoder.vocab();
        let mut mask = room::filled(false, vocab.tokens().max_id().map_or(0, |id| id as usize + 1))?;
        let cut = self.encoder.late_cut(text, true).unwrap_or(0);
        if text.len() - cut > MAX_TAIL_BYTES {
            return Err(Error::Invalid(format!(
                "nothing is known of where the last {MAX_TAIL_BYTES} bytes of the text can be cut, and encoding more with \
                 each token takes too long"
            )));
        }
        let mut encoded = Vec::new();
        self.encode(&text[..cut], true, &mut encoded, control)?;
        let Some(tail_ids) = ids.strip_prefix(&encoded[..]) else { return Ok(mask) };
        let mut longer = room::copied(&text[cut..])?;
        let tail = longer.len();
        for (tried, (id, token)) in vocab.tokens().iter().enumerate() {
            if tried.is_multiple_of(TOKENS_PER_CHECK) {
                control.check()?;
            }
            longer.truncate(tail);
            room::extend(&mut longer, token)?;
            encoded.clear();
            self.encode(&longer, cut == 0, &mut encoded, control)?;
            mask[id as usize] = encoded.strip_prefix(tail_ids) == Some(&[id]);
        }
        Ok(mask)
    }

    fn encode(&self, text: &[u8], is_first: bool, ids: &mut Vec<u32>, control: &Control) -> Result<()> {
        let specials = self.encoder.active(SpecialTokens::OfVocabulary);
        self.encoder.answer(Request::alone(text, specials, is_first), ids, control)
    }
}
