//! Ids of two tokenizers that stand for the same bytes.

use super::bytes::{append, room_for};
use super::text::TextDecoder;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::vocab::{SLOT_BYTES, TAG_LENGTH_MASK, TAG_OFFSET, TokenSlot, Vocab};
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

/// The places where a token of both runs ends, each as the numbers of tokens before it; the first is `[0, 0]`. So the
/// tokens between two neighbours stand for the same bytes. A token without bytes belongs to the ones after it.
///
/// # Errors
/// [`Error::Invalid`] for ids of other bytes, [`Error::UnknownId`], [`Error::OutOfMemory`], [`Error::Interrupted`].
pub fn align(mut a: TokenRun<'_>, mut b: TokenRun<'_>, control: &Control) -> Result<Vec<[i64; 2]>> {
    let mut ends: Vec<[i64; 2]> = room::for_items(2 + a.ids.len().min(b.ids.len()))?;
    memory::advise_huge_pages(ends.as_mut_ptr().cast(), size_of::<[i64; 2]>() * ends.capacity());
    ends.push([0, 0]);
    let (mut byte, mut window, mut unchecked) = (0, Window::new(), 0);
    loop {
        let (same, bytes) = same_tokens(&a, &b);
        ends.extend((1..=same).map(|count| [(a.next + count) as i64, (b.next + count) as i64]));
        (a.next, b.next, byte) = (a.next + same, b.next + same, byte + bytes);
        let (common, bytes) =
            window.common_ends(&a, &b, if same < MIN_RUN { WINDOW_BYTES } else { SHORT_WINDOW_BYTES });
        unchecked += 1 + same + common.len();
        if unchecked >= TOKENS_PER_CHECK {
            control.check()?;
            unchecked = 0;
        }
        if let Some(&[last_a, last_b]) = common.last() {
            room::extend(&mut ends, common)?;
            (a.next, b.next, byte) = (last_a as usize, last_b as usize, byte + bytes);
        } else if next_end(&mut a, &mut b, &mut byte)? {
            room::push(&mut ends, [a.next as i64, b.next as i64])?;
        } else {
            break;
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

/// The minimum length of a run of equal tokens after which another run is expected soon.
const MIN_RUN: usize = 4;
/// Bytes of a window, and of one between two runs of the same tokens.
const WINDOW_BYTES: usize = 1 << 11;
const SHORT_WINDOW_BYTES: usize = 1 << 4;
/// The maximum length of a token in a window.
const MAX_TOKEN_BYTES: usize = 1 << 7;
/// Room for a window, and for the last token of the first run and then of the second, which begin in it.
const WINDOW_ROOM: usize = WINDOW_BYTES + 2 * MAX_TOKEN_BYTES;

/// Working memory: the tokens of both runs over about [`WINDOW_BYTES`] bytes of the text. No step depends on where tokens
/// end, which is hard to predict.
struct Window {
    /// The text by the tokens of either run.
    texts: [[u8; WINDOW_ROOM]; 2],
    /// For each byte after which a token of the first run ends, how many have ended; 0 for all others.
    counts: [u16; WINDOW_ROOM],
    ends: [[i64; 2]; WINDOW_BYTES],
}

impl Window {
    fn new() -> Self {
        Window { texts: [[0; WINDOW_ROOM]; 2], counts: [0; WINDOW_ROOM], ends: [[0; 2]; WINDOW_BYTES] }
    }

    /// The next places where a token of both runs ends, and the bytes up to the last; none where an end, another byte or
    /// a token that does not fit in comes first.
    fn common_ends(&mut self, a: &TokenRun<'_>, b: &TokenRun<'_>, max_bytes: usize) -> (&[[i64; 2]], usize) {
        let Window { texts: [left, right], counts, ends } = self;
        counts[..max_bytes + 2 * MAX_TOKEN_BYTES].fill(0);
        let mut count = 0;
        let bytes = write_tokens(a, left, max_bytes, |end| {
            count += 1;
            counts[end - 1] = count;
        });
        let (mut other, mut common, mut last) = (b.next as i64, 0, 0);
        write_tokens(b, right, bytes, |end| {
            other += 1;
            let count = counts[end - 1];
            ends[common] = [a.next as i64 + i64::from(count), other];
            common += usize::from(count != 0);
            last = if count != 0 { end } else { last };
        });
        let is_same = left[..last] == right[..last];
        (&ends[..if is_same { common } else { 0 }], last)
    }
}

/// Writes the next tokens of a run until they have `max_bytes` bytes or more. Calls `on_end` with the bytes up to the end of
/// each; returns those of all.
#[inline(always)]
fn write_tokens(
    run: &TokenRun<'_>,
    text: &mut [u8; WINDOW_ROOM],
    max_bytes: usize,
    mut on_end: impl FnMut(usize),
) -> usize {
    let (slots, mut end) = (run.slots(), 0);
    for &id in &run.ids[run.next..] {
        let Some(slot) = slots.get(id as usize).filter(|_| end < max_bytes) else { break };
        let mut len = usize::from(slot.bytes()[TAG_OFFSET] & TAG_LENGTH_MASK);
        if len > 0 {
            text[end..][..SLOT_BYTES].copy_from_slice(slot.bytes());
        } else {
            let token = run.vocab.tokens().get(id).unwrap_or(&[]);
            len = token.len();
            if len == 0 || len > MAX_TOKEN_BYTES {
                break;
            }
            text[end..][..len].copy_from_slice(token);
        }
        end += len;
        on_end(end);
    }
    end
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

/// For each id up to the highest of `a`, the id in `b` of the token with the same bytes; -1 where there is none. Special
/// tokens have special tokens as their equals, and others have others.
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
    use crate::random::Random;

    fn vocab(tokens: &[&str]) -> Vocab {
        let bytes = (0..=255).map(|byte| (u32::from(byte), vec![byte]));
        let more = tokens.iter().zip(256..).map(|(token, id)| (id, token.as_bytes().to_vec()));
        Vocab::new(&bytes.chain(more).collect::<Vec<_>>(), None, &[(b"<s>".to_vec(), None)]).unwrap()
    }

    #[test]
    fn tokens_of_all_lengths_are_aligned_over_many_windows() {
        let lengths =
            [1, 2, 3, 14, 15, 16, 50, MAX_TOKEN_BYTES - 1, MAX_TOKEN_BYTES, MAX_TOKEN_BYTES + 1, 3000];
        let tokens = lengths.map(|len| "x".repeat(len));
        let vocab = vocab(&tokens.each_ref().map(String::as_str)[1..]);
        let mut random = Random::new(1);
        let mut draw = |end: usize| random.below(end);
        for kinds in (1..=lengths.len()).cycle().take(100) {
            let mut rows = [vec![], vec![]];
            for count in [2000, 0, 1, 2, 3, 30].into_iter().cycle().take(60) {
                let parts = [(); 2].map(|()| (0..draw(count + 1)).map(|_| draw(kinds)).collect::<Vec<_>>());
                let sums = parts.each_ref().map(|part| part.iter().map(|&kind| lengths[kind]).sum::<usize>());
                let (max, same) = (sums[0].max(sums[1]), [draw(kinds); 64]);
                for ((row, part), sum) in rows.iter_mut().zip(&parts).zip(sums) {
                    row.extend(part.iter().copied().chain(std::iter::repeat_n(0, max - sum)).chain(same));
                }
            }
            let ends = rows.each_ref().map(|row| {
                let lengths = row.iter().map(|&kind| lengths[kind]);
                lengths.scan(0, |end, len| Some(std::mem::replace(end, *end + len) + len)).collect::<Vec<_>>()
            });
            let place = |end: &usize| {
                Some([ends[0].binary_search(end).ok()? + 1, ends[1].binary_search(end).ok()? + 1])
            };
            let expected: Vec<[i64; 2]> =
                ends[0].iter().filter_map(place).map(|place| place.map(|count| count as i64)).collect();
            let ids = rows.map(|row| {
                row.iter()
                    .map(|&kind| if kind == 0 { u32::from(b'x') } else { 255 + kind as u32 })
                    .collect::<Vec<_>>()
            });
            let run = |ids| TokenRun::new(&vocab, None, ids).unwrap();
            let aligned = align(run(&ids[0]), run(&ids[1]), &Control::none()).unwrap();
            assert_eq!((aligned[0], &aligned[1..]), ([0, 0], &expected[..]));
        }
    }
}
