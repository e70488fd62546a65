//! Ids of two tokenizers that stand for the same bytes.

use super::bytes::{append, room_for};
use super::text::TextDecoder;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::vocab::{TAG_LENGTH_MASK, TAG_OFFSET, TokenSlot, Vocab};
use crate::{memory, room};

/// Tokens that are joined or compared between two checks of the control, about.
const TOKENS_PER_CHECK: usize = 1 << 16;

/// The tokens of ids, one after the other.
pub struct TokenRun<'a> {
    vocab: &'a Vocab,
    decoder: Option<&'a TextDecoder>,
    ids: &'a [u32],
    next: usize,
    /// How many spaces may still be taken off the front.
    spaces: usize,
    /// Bytes of the current token that were not compared yet.
    unread: &'a [u8],
}

impl<'a> TokenRun<'a> {
    /// The tokens of ids; `None` if their decoder does more than to join the bytes of tokens and to take
    /// spaces off the front.
    pub fn new(vocab: &'a Vocab, decoder: Option<&'a TextDecoder>, ids: &'a [u32]) -> Option<Self> {
        let spaces = decoder.map_or(Some(0), TextDecoder::stripped)?;
        Some(TokenRun { vocab, decoder, ids, next: 0, spaces, unread: &[] })
    }

    /// The bytes of all tokens that are left.
    ///
    /// # Errors
    /// [`Error::UnknownId`]; [`Error::OutOfMemory`]; [`Error::Interrupted`].
    pub fn joined(mut self, control: &Control) -> Result<Vec<u8>> {
        let mut bytes = room_for(self.ids.len())?;
        let replaced = self.decoder.map(TextDecoder::replaced).filter(|replaced| !replaced.is_empty());
        loop {
            let left = &self.ids[self.next..];
            // The first ids that have the bytes of the vocabulary.
            let count = match replaced {
                _ if self.spaces > 0 => 0,
                Some(replaced) => left.iter().take_while(|id| !replaced.contains_key(id)).count(),
                None => left.len(),
            };
            append(self.vocab, &left[..count], self.next, &mut bytes, control)?;
            self.next += count;
            if !self.advance()? {
                return Ok(bytes);
            }
            room::extend(&mut bytes, self.unread)?;
        }
    }

    /// The slots of tokens by id, if they have the bytes that the next tokens have.
    fn slots(&self) -> &'a [TokenSlot] {
        let is_plain = self.spaces == 0 && self.decoder.is_none_or(|decoder| decoder.replaced().is_empty());
        self.vocab.tokens().by_id().filter(|_| is_plain).unwrap_or(&[])
    }

    /// Goes on to the next token with bytes if nothing is left of this one; false at the end.
    fn fill(&mut self) -> Result<bool> {
        while self.unread.is_empty() && self.advance()? {}
        Ok(!self.unread.is_empty())
    }

    /// Goes on to the next token; false at the end.
    fn advance(&mut self) -> Result<bool> {
        let Some(&id) = self.ids.get(self.next) else { return Ok(false) };
        let replaced = self.decoder.and_then(|decoder| decoder.replaced().get(&id));
        let token = replaced.map(Vec::as_slice).or_else(|| self.vocab.tokens().get(id));
        let token = token.ok_or(Error::UnknownId { id: i128::from(id), index: Some(self.next) })?;
        self.unread = self.decoder.map_or(token, |decoder| decoder.strip(id, token, &mut self.spaces));
        self.next += 1;
        Ok(true)
    }
}

/// The places where a token of both runs ends, each as the numbers of tokens before it; the first is
/// `[0, 0]`. So the tokens between two neighbours stand for the same bytes. A token without bytes belongs to
/// the ones after it.
///
/// # Errors
/// [`Error::Invalid`] for ids of other bytes, [`Error::UnknownId`], [`Error::OutOfMemory`],
/// [`Error::Interrupted`].
pub fn align(mut a: TokenRun<'_>, mut b: TokenRun<'_>, control: &Control) -> Result<Vec<[i64; 2]>> {
    let mut ends: Vec<[i64; 2]> = room::for_items(2 + a.ids.len().min(b.ids.len()))?;
    memory::advise_huge_pages(ends.as_mut_ptr().cast(), size_of::<[i64; 2]>() * ends.capacity());
    ends.push([0, 0]);
    let (mut byte, mut unchecked) = (0, 0);
    loop {
        let (same, bytes) = same_tokens(&a, &b);
        ends.extend((1..=same).map(|count| [(a.next + count) as i64, (b.next + count) as i64]));
        (a.next, b.next, byte) = (a.next + same, b.next + same, byte + bytes);
        unchecked += 1 + same;
        if unchecked >= TOKENS_PER_CHECK {
            control.check()?;
            unchecked = 0;
        }
        if !next_end(&mut a, &mut b, &mut byte)? {
            break;
        }
        room::push(&mut ends, [a.next as i64, b.next as i64])?;
    }
    // Tokens without bytes at the end belong to the last group.
    let all = [a.next as i64, b.next as i64];
    if ends.last() != Some(&all) {
        ends.truncate(ends.len().max(2) - 1);
        room::push(&mut ends, all)?;
    }
    Ok(ends)
}

/// How many of the next tokens are the same in both runs, up to some thousand, and their bytes. Most tokens
/// of a text are, in any two vocabularies, and two slots are compared as two numbers.
fn same_tokens(a: &TokenRun<'_>, b: &TokenRun<'_>) -> (usize, usize) {
    let (left, right) = (a.slots(), b.slots());
    let (mut same, mut bytes) = (0, 0);
    for (&id, &other) in a.ids[a.next..].iter().zip(&b.ids[b.next..]).take(TOKENS_PER_CHECK) {
        let (Some(slot), Some(other)) = (left.get(id as usize), right.get(other as usize)) else { break };
        let len = slot.bytes()[TAG_OFFSET] & TAG_LENGTH_MASK;
        if slot.bytes() != other.bytes() || len == 0 {
            break;
        }
        (same, bytes) = (same + 1, bytes + usize::from(len));
    }
    (same, bytes)
}

/// Goes on in both runs to the next place where a token of each ends; false if there are no bytes left.
fn next_end(a: &mut TokenRun<'_>, b: &mut TokenRun<'_>, byte: &mut usize) -> Result<bool> {
    loop {
        if [a.fill()?, b.fill()?] == [false, false] {
            return Ok(false);
        }
        let len = a.unread.len().min(b.unread.len());
        if len == 0 || a.unread[..len] != b.unread[..len] {
            let byte = *byte + a.unread.iter().zip(b.unread).take_while(|(a, b)| a == b).count();
            let [a, b] = [&*a, &*b].map(|run| run.next - usize::from(!run.unread.is_empty()));
            return Err(Error::Invalid(format!(
                "the ids stand for other bytes from byte {byte} on, which is in ids_a[{a}] and in ids_b[{b}]"
            )));
        }
        *byte += len;
        (a.unread, b.unread) = (&a.unread[len..], &b.unread[len..]);
        if a.unread.is_empty() && b.unread.is_empty() {
            return Ok(true);
        }
    }
}

/// For each id up to the highest of `a`, the id in `b` of the token with the same bytes; -1 where there is
/// none. Special tokens have special tokens as their equals, and others have others.
pub fn ids_in(a: &Vocab, b: &Vocab) -> Result<Vec<i64>> {
    let count = a.tokens().max_id().map_or(0, |id| id as usize + 1);
    let mut ids = room::filled(-1, count)?;
    for (id, token) in a.tokens().iter() {
        let is_special = a.special_id(token) == Some(id);
        let other = if is_special { b.special_id(token) } else { b.ordinary_id(token) };
        if let Some(other) = other {
            ids[id as usize] = i64::from(other);
        }
    }
    Ok(ids)
}
