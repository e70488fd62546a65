//! Ids of two tokenizers that stand for the same bytes.

use super::text::TextDecoder;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::vocab::{TAG_LENGTH_MASK, TAG_OFFSET, TokenSlot, Vocab};
use crate::{memory, room};

/// Tokens that are compared between two checks of the control, about.
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
    /// The tokens of ids; `None` if their decoder does more than to join the bytes of tokens and to take spaces off the
    /// front.
    pub fn new(vocab: &'a Vocab, decoder: Option<&'a TextDecoder>, ids: &'a [u32]) -> Option<Self> {
        let spaces = decoder.map_or(Some(0), TextDecoder::stripped)?;
        Some(TokenRun { vocab, decoder, ids, next: 0, spaces, unread: &[] })
    }

    /// The bytes of all tokens that are left.
    ///
    /// # Errors
    /// [`Error::UnknownId`]; [`Error::OutOfMemory`]; [`Error::Interrupted`].
    pub fn joined(mut self, control: &Control) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while self.advance()? {
            if self.next.is_multiple_of(TOKENS_PER_CHECK) {
                control.check()?;
            }
            room::extend(&mut bytes, self.unread)?;
        }
        Ok(bytes)
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
        let stripped = token.iter().take(self.spaces).take_while(|&&byte| byte == b' ').count();
        self.spaces = if stripped == token.len() { self.spaces - stripped } else { 0 };
        self.unread = &token[stripped..];
        self.next += 1;
        Ok(true)
    }
}

/// The places where a token of both runs ends, each as the numbers of tokens before it; the first is `[0, 0]`. So the
/// tokens between two neighbours stand for the same bytes. A token without bytes belongs to the ones after it.
///
/// # Errors
/// [`Error::OtherBytes`], [`Error::UnknownId`], [`Error::OutOfMemory`], [`Error::Interrupted`].
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
        let goes_on = match next_end_of_short(&mut a, &mut b) {
            Some(bytes) => {
                byte += bytes;
                true
            }
            None => next_end(&mut a, &mut b, &mut byte)?,
        };
        match goes_on {
            true => room::push(&mut ends, [a.next as i64, b.next as i64])?,
            false => break,
        }
    }
    // Tokens without bytes at the end belong to the last group.
    let all = [a.next as i64, b.next as i64];
    if ends.last() != Some(&all) {
        ends.truncate(ends.len().max(2) - 1);
        room::push(&mut ends, all)?;
    }
    Ok(ends)
}

/// How many of the next tokens are the same in both runs, up to some thousand, and their bytes. Most tokens of a text are,
/// in any two vocabularies, and two slots are compared as two numbers.
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

/// Like [`next_end`], for tokens of up to 15 bytes, which are compared as numbers; returns the bytes until there. Goes
/// nowhere and returns `None` where another token, the end or another byte comes first.
fn next_end_of_short(a: &mut TokenRun<'_>, b: &mut TokenRun<'_>) -> Option<usize> {
    let short = |slots: &[TokenSlot], ids: &[u32], at: usize| {
        let slot = slots.get(*ids.get(at)? as usize)?.bytes();
        let len = u32::from(slot[TAG_OFFSET] & TAG_LENGTH_MASK);
        (len > 0).then(|| (u128::from_le_bytes(*slot), 8 * len))
    };
    let (left, right) = (a.slots(), b.slots());
    let (mut at, mut other, mut bits) = (a.next, b.next, 0_usize);
    let ((mut x, mut x_bits), (mut y, mut y_bits)) = ((0, 0), (0, 0));
    loop {
        if x_bits == 0 {
            ((x, x_bits), at) = (short(left, a.ids, at)?, at + 1);
        }
        if y_bits == 0 {
            ((y, y_bits), other) = (short(right, b.ids, other)?, other + 1);
        }
        let common = x_bits.min(y_bits);
        if (x ^ y) << (128 - common) != 0 {
            return None;
        }
        (x, y, bits) = (x >> common, y >> common, bits + common as usize);
        (x_bits, y_bits) = (x_bits - common, y_bits - common);
        if x_bits == 0 && y_bits == 0 {
            (a.next, b.next) = (at, other);
            return Some(bits / 8);
        }
    }
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
            return Err(Error::OtherBytes { byte, a, b });
        }
        *byte += len;
        (a.unread, b.unread) = (&a.unread[len..], &b.unread[len..]);
        if a.unread.is_empty() && b.unread.is_empty() {
            return Ok(true);
        }
    }
}

/// For each id up to the highest of `a`, the id in `b` of the token with the same bytes; -1 where there is none. Special
/// tokens have special tokens as their equals, and others have others.
///
/// # Errors
/// [`Error::OutOfMemory`].
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

#[cfg(test)]
mod tests {
    use super::*;

    fn vocab(tokens: &[&str]) -> Vocab {
        let bytes = (0..=255).map(|byte| (u32::from(byte), vec![byte]));
        let more = tokens.iter().zip(256..).map(|(token, id)| (id, token.as_bytes().to_vec()));
        Vocab::new(&bytes.chain(more).collect::<Vec<_>>(), None, &[(b"<s>".to_vec(), None)]).unwrap()
    }

    fn aligned(a: &[u32], b: &[u32]) -> Result<Vec<[i64; 2]>> {
        let (left, right) = (vocab(&["ab", "abc"]), vocab(&["bc", "cd", "ab"]));
        let [a, b] = [(&left, a), (&right, b)].map(|(vocab, ids)| TokenRun::new(vocab, None, ids).unwrap());
        align(a, b, &Control::none())
    }

    #[test]
    fn groups_end_where_tokens_of_both_end() {
        let c = u32::from(b'c');
        assert_eq!(aligned(&[], &[]).unwrap(), [[0, 0]]);
        assert_eq!(aligned(&[257, 97], &[97, 256, 97]).unwrap(), [[0, 0], [1, 2], [2, 3]]);
        assert_eq!(
            aligned(&[256, c, 100, 257], &[258, 257, 258, c]).unwrap(),
            [[0, 0], [1, 1], [3, 2], [4, 4]]
        );
        let other = aligned(&[256, c], &[258, 97]).unwrap_err();
        assert!(matches!(other, Error::OtherBytes { byte: 2, a: 1, b: 1 }), "{other}");
        let longer = aligned(&[256, c], &[258]).unwrap_err();
        assert!(matches!(longer, Error::OtherBytes { byte: 2, a: 1, b: 1 }), "{longer}");
        assert!(matches!(aligned(&[999], &[97]), Err(Error::UnknownId { id: 999, index: Some(0) })));
    }

    #[test]
    fn ids_in_another_vocabulary() {
        let ids = ids_in(&vocab(&["ab", "abc"]), &vocab(&["bc", "cd", "ab"])).unwrap();
        assert_eq!((ids[97], ids[256], ids[257], ids[258]), (97, 258, -1, 259));
    }
}
