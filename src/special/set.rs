//! A set of special tokens.

use std::ops::Range;

use super::backward::BackwardAutomaton;
use super::search::{MAX_FORWARD_BYTES, SearchMethod};
use crate::error::{Error, Result};
use crate::pretokenize::cut::may_cut_inside;
use crate::room;

/// Bytes of a special token at the most. A stream holds back about as many, and a place where text is cut is judged by
/// as many on both sides.
pub const MAX_TOKEN_BYTES: usize = 1 << 12;
/// Bytes of all special tokens of a set at the most: building, which nothing interrupts, then takes some seconds and 250
/// MB at the worst.
pub const MAX_SET_BYTES: usize = 1 << 24;

/// The special tokens of a tokenizer, ready to be searched for.
///
/// Cost: building is linear in the bytes of the tokens; searching is linear in the text, whatever the tokens are.
#[derive(Clone, Debug, Default)]
pub struct Specials {
    pub(super) tokens: Vec<Vec<u8>>,
    pub(super) search: SearchMethod,
    /// Tokens in which text could be cut, at any offset; `None` without any.
    inner: Option<BackwardAutomaton>,
    pub(super) max_len: usize,
}

impl Specials {
    /// Prepares a list of special tokens.
    ///
    /// # Errors
    /// [`Error::EmptySpecial`] and [`Error::RepeatedSpecial`]; [`Error::SpecialTooLong`] for one of more than
    /// [`MAX_TOKEN_BYTES`] bytes; [`Error::TooManySpecials`] for more than [`MAX_SET_BYTES`] together.
    pub fn new(tokens: Vec<Vec<u8>>) -> Result<Self> {
        check_lengths(&tokens)?;
        // An automaton has a state for each byte, and is made of another one.
        room::check_available(64 * tokens.iter().map(Vec::len).sum::<usize>())?;
        let mut seen = std::collections::HashMap::new();
        for (index, token) in tokens.iter().enumerate() {
            if token.is_empty() {
                return Err(Error::EmptySpecial { index });
            }
            if let Some(first) = seen.insert(token.as_slice(), index) {
                return Err(Error::RepeatedSpecial { token: token.clone(), first, second: index });
            }
        }
        let max_len = tokens.iter().map(Vec::len).max().unwrap_or(0);
        let inner = (0..).zip(&tokens).filter(|(_, token)| may_cut_inside(token));
        let inner: Vec<u32> = inner.map(|(index, _)| index).collect();
        Ok(Specials {
            search: SearchMethod::new(&tokens, max_len)?,
            inner: (!inner.is_empty()).then(|| BackwardAutomaton::new(&tokens, inner)),
            max_len,
            tokens,
        })
    }

    /// The tokens, in the order they were given.
    pub fn tokens(&self) -> &[Vec<u8>] {
        &self.tokens
    }

    /// Bytes of the longest one; 0 without any.
    pub fn max_len(&self) -> usize {
        self.max_len
    }

    /// Whether they are so many that searching for them takes hundreds of kilobytes.
    pub(crate) fn are_many(&self) -> bool {
        self.tokens.len() >= 1 << 14
    }

    /// Bytes of new text for which what a stream holds back is searched again: so few more than it holds back that
    /// nobody waits for them, and so many that searching again costs little for each.
    pub(crate) fn search_step(&self) -> usize {
        if self.max_len > MAX_FORWARD_BYTES { self.max_len / 4 } else { 1 }
    }

    /// The first place of `range`, of those that `next` finds at or after a place, where no occurrence of a special
    /// token lies across: so that a cut there changes nothing of what is found. The places must be
    /// cuts of a [`CutRule`](crate::pretokenize::CutRule); `text` must reach
    /// [`Specials::max_len`] bytes beyond `range` on both sides, or end.
    ///
    /// Any occurrence counts, also one that leftmost-longest search would pass over: only then is
    /// searching the two sides alone the same as searching the whole.
    ///
    /// Cost: linear in `range`.
    pub fn first_uncrossed(
        &self,
        text: &[u8],
        range: Range<usize>,
        next: impl Fn(usize) -> Option<usize>,
    ) -> Option<usize> {
        let next = |from| next(from).filter(|&at| at < range.end);
        let mut at = next(range.start)?;
        let Some(inner) = &self.inner else { return Some(at) };
        // Most first places are free: only then are many looked at together.
        let mut window = 1;
        loop {
            let known = at..range.end.min(at + window);
            let reach = inner.reach(&self.tokens, text, known.clone());
            while at < known.end {
                let reach = reach[at - known.start];
                if reach <= at {
                    return Some(at);
                }
                at = next(reach)?;
            }
            window = CUT_WINDOW_BYTES;
        }
    }

    /// Whether a special token contains both U+FFFD and a place where text could be cut: then a cut
    /// cannot be judged before invalid bytes are replaced.
    pub fn cut_depends_on_replacement(&self) -> bool {
        let replacement = "\u{fffd}".as_bytes();
        let holds = |token: &Vec<u8>| token.windows(3).any(|w| w == replacement);
        self.tokens.iter().any(|token| may_cut_inside(token) && holds(token))
    }
}

/// Places that are looked at together.
const CUT_WINDOW_BYTES: usize = 4 * MAX_TOKEN_BYTES;

/// Checks that no token is too long, nor all of them together.
fn check_lengths(tokens: &[Vec<u8>]) -> Result<()> {
    if let Some(index) = tokens.iter().position(|token| token.len() > MAX_TOKEN_BYTES) {
        let (bytes, limit) = (tokens[index].len(), MAX_TOKEN_BYTES);
        let start = tokens[index][..SHOWN_BYTES].to_vec();
        return Err(Error::SpecialTooLong { index, start, bytes, limit });
    }
    let bytes: usize = tokens.iter().map(Vec::len).sum();
    if bytes > MAX_SET_BYTES {
        let reason = format!("they have {bytes} bytes together, of at most {MAX_SET_BYTES}");
        return Err(Error::TooManySpecials { reason });
    }
    Ok(())
}

/// Bytes of a long token that a message shows.
const SHOWN_BYTES: usize = 24;

/// Whether an occurrence of one of `first` could share a byte with an occurrence of one of `second`.
///
/// Cost: linear in the bytes of both.
///
/// # Errors
/// [`Error::SpecialTooLong`] and [`Error::TooManySpecials`].
pub fn overlap(first: Vec<Vec<u8>>, second: Vec<Vec<u8>>) -> Result<bool> {
    let touch = |tokens: &[Vec<u8>], others: &[Vec<u8>]| {
        let members = (0..tokens.len() as u32).filter(|&index| !tokens[index as usize].is_empty());
        let automaton = BackwardAutomaton::new(tokens, members.collect());
        others.iter().any(|other| automaton.touches(other))
    };
    check_lengths(&first)?;
    check_lengths(&second)?;
    Ok(touch(&first, &second) || touch(&second, &first))
}
