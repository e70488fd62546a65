//! The set of special tokens of a tokenizer.

use std::ops::Range;

use super::backward::BackwardAutomaton;
use super::search::{MAX_FORWARD_BYTES, SearchMethod};
use crate::error::{Error, Result, show};
use crate::pretokenize::cut::may_cut_inside;
use crate::room;

/// The maximum number of bytes of a special token. A stream holds back about as many bytes, and a place for a
/// cut is judged by as many on both sides.
pub const MAX_TOKEN_BYTES: usize = 1 << 12;
/// The maximum number of bytes of all special tokens of a set. Building a search for as many takes some
/// seconds and 250 MB at the worst, and cannot be interrupted.
pub const MAX_SET_BYTES: usize = 1 << 24;

/// The special tokens of a tokenizer, with the search for them.
///
/// Cost: building is linear in the bytes of the tokens; searching is linear in the text for any tokens.
#[derive(Clone, Debug, Default)]
pub struct Specials {
    pub(super) tokens: Vec<Vec<u8>>,
    pub(super) search: SearchMethod,
    /// The tokens inside which the pattern allows a cut; `None` if there is none.
    inner: Option<BackwardAutomaton>,
    pub(super) max_len: usize,
}

impl Specials {
    /// Builds the search for a list of special tokens.
    ///
    /// # Errors
    /// [`Error::Vocab`] for an empty and a repeated one, for one of more than [`MAX_TOKEN_BYTES`] bytes, and
    /// for more than [`MAX_SET_BYTES`] together.
    pub fn new(tokens: Vec<Vec<u8>>) -> Result<Self> {
        check_lengths(&tokens)?;
        // The states of an automaton and of what it is built from take about 64 bytes for each byte of the
        // tokens.
        room::check_available(64 * tokens.iter().map(Vec::len).sum::<usize>())?;
        let mut seen = std::collections::HashMap::new();
        for (index, token) in tokens.iter().enumerate() {
            if token.is_empty() {
                return Err(Error::Vocab(format!("special token number {index} is empty: leave it out")));
            }
            if let Some(first) = seen.insert(token.as_slice(), index) {
                return Err(Error::Vocab(format!(
                    "special token {} is there twice, as number {first} and {index}: leave one out",
                    show(token)
                )));
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

    /// Bytes of the longest token; 0 for an empty set.
    pub fn max_len(&self) -> usize {
        self.max_len
    }

    /// Whether the search for the tokens takes hundreds of kilobytes of memory, so that it competes with
    /// others for the cache of the processor.
    pub(crate) fn are_many(&self) -> bool {
        self.tokens.len() >= 1 << 14
    }

    /// Bytes of new text after which a stream searches its held text again. A quarter of the longest token
    /// keeps the cost of searching again small, and holds back only that much more.
    pub(crate) fn search_step(&self) -> usize {
        if self.max_len > MAX_FORWARD_BYTES { self.max_len / 4 } else { 1 }
    }

    /// The first place in `range`, among those that `next` returns, that no occurrence of a special token
    /// lies across, so that a cut there does not change which tokens are found. `next` returns the first
    /// possible place at or after its argument; these must be cuts of a
    /// [`CutRule`](crate::pretokenize::CutRule). `text` must reach [`Specials::max_len`] bytes beyond `range`
    /// on both sides, or end there.
    ///
    /// Every occurrence counts, even one that a leftmost-longest search would not find: only then do searches
    /// of the two sides find the same tokens as a search of the whole.
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
        // The first place is usually free, so it is judged alone before many are judged together.
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

    /// Whether a special token contains both U+FFFD and a place where the pattern allows a cut. A cut cannot
    /// be judged then before invalid bytes are replaced.
    pub fn cut_depends_on_replacement(&self) -> bool {
        let replacement = "\u{fffd}".as_bytes();
        let holds = |token: &Vec<u8>| token.windows(3).any(|w| w == replacement);
        self.tokens.iter().any(|token| may_cut_inside(token) && holds(token))
    }
}

/// Bytes in which places for a cut are judged together. A multiple of the longest token, since each search
/// also reads as many bytes before the window.
const CUT_WINDOW_BYTES: usize = 4 * MAX_TOKEN_BYTES;

/// Checks the length of each token and of all tokens together.
fn check_lengths(tokens: &[Vec<u8>]) -> Result<()> {
    if let Some(index) = tokens.iter().position(|token| token.len() > MAX_TOKEN_BYTES) {
        let (start, bytes) = (show(&tokens[index][..SHOWN_BYTES]), tokens[index].len());
        return Err(Error::Vocab(format!(
            "special token number {index}, which begins with {start}, has {bytes} bytes: the maximum is {MAX_TOKEN_BYTES}"
        )));
    }
    let bytes: usize = tokens.iter().map(Vec::len).sum();
    if bytes > MAX_SET_BYTES {
        return Err(Error::Vocab(format!(
            "too many or too long special tokens: they have {bytes} bytes together, the maximum is {MAX_SET_BYTES}"
        )));
    }
    Ok(())
}

/// Bytes of a token that is too long that the error message shows.
const SHOWN_BYTES: usize = 24;

/// Whether an occurrence of a token of `first` could share a byte with an occurrence of a token of `second`.
///
/// Cost: linear in the bytes of both.
///
/// # Errors
/// [`Error::Vocab`] for tokens that are too long, alone or together.
pub fn overlap(first: Vec<Vec<u8>>, second: Vec<Vec<u8>>) -> Result<bool> {
    let touch = |tokens: &[Vec<u8>], others: &[Vec<u8>]| {
        let members = (0..tokens.len() as u32).filter(|&index| !tokens[index as usize].is_empty());
        let automaton = BackwardAutomaton::new(tokens, members.collect());
        others.iter().any(|other| automaton.touches(other))
    };
    check_lengths(&first)?;
    check_lengths(&second)?;
    let is_possible = !first.is_empty() && !second.is_empty();
    Ok(is_possible && (touch(&first, &second) || touch(&second, &first)))
}
