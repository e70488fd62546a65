//! BPE over the spelling of a pretoken, with all options of a Hugging Face model: a character may have no
//! token, a character inside a word or at its end may be another token than alone, and merges may be left out
//! at random.
//!
//! This is the plain algorithm of `tokenizers`, whose order of symbols and whose offsets it keeps even where
//! they surprise: an unknown token may come after the tokens of bytes that stand after it in the text, and a
//! character that is left out moves the offsets of what follows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::dropout::{Draws, Dropout};
use super::placed_tokens::check_length;
use crate::control::Control;
use crate::error::{Error, Result, show_text};
use crate::names::Names;
use crate::room;
use crate::spelling::{META, TextSpelling, byte_name, spell};

/// Steps between two checks of the control. About a millisecond of work.
const STEPS_PER_CHECK: usize = 1 << 14;
/// The place of no symbol.
const NOWHERE: u32 = u32::MAX;

/// The options of a model that decide which symbols a pretoken begins with, and which of its merges happen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BpeOptions {
    /// What stands in front of the spelling of each character but the first; may be empty.
    pub prefix: String,
    /// What stands after the spelling of the last character; may be empty.
    pub suffix: String,
    /// The token that stands for a character without one.
    pub unknown: Option<String>,
    /// Whether neighbouring unknown characters are one token.
    pub fuse_unknown: bool,
    /// Whether a character without a token becomes the tokens of its bytes, if all of these exist.
    pub byte_fallback: bool,
    /// Whether a pretoken that is a token becomes that token without merging. With a dropout it has no
    /// effect.
    pub ignore_merges: bool,
    /// How often a merge is left out.
    pub dropout: Dropout,
}

/// A model. Tokens are indices.
#[derive(Clone, Debug)]
pub(crate) struct SpelledBpe {
    pub(crate) spelling: TextSpelling,
    pub(crate) options: BpeOptions,
    pub(crate) names: Names,
    /// The token of each name.
    tokens: Vec<u32>,
    /// The place of the name of each token; `NOWHERE` for one without a name.
    places: Vec<u32>,
    /// From two tokens to the rank of their merge and the token that it makes.
    merges: FxHashMap<(u32, u32), (u32, u32)>,
    /// The token that stands for what has none, if it exists. A text that needs one whose name is in no
    /// vocabulary is an error.
    pub(crate) unknown: Option<u32>,
    /// The tokens, in ascending order, that no pretoken becomes without merging.
    pub(crate) never_whole: Vec<u32>,
    /// The tokens of the bytes; `NOWHERE` for a byte without one. Empty if they are not used.
    bytes: Vec<u32>,
}

/// A part of a pretoken. `len` counts bytes of the spelling; it is 0 for a part that was merged into the one
/// before.
#[derive(Clone, Copy)]
struct Symbol {
    token: u32,
    len: u32,
    previous: u32,
    next: u32,
}

impl SpelledBpe {
    /// Makes a model. `tokens` has the token of each name, `merges` the two parts of each merge, its rank and
    /// what it makes.
    pub(crate) fn new(
        spelling: TextSpelling,
        options: BpeOptions,
        names: Names,
        tokens: Vec<u32>,
        merges: impl ExactSizeIterator<Item = ((u32, u32), (u32, u32))>,
        never_whole: Vec<u32>,
    ) -> Result<Self> {
        room::check_available(40 * merges.len())?;
        let token = |name: &str| names.find(name).map(|at| tokens[at as usize]);
        let unknown = options.unknown.as_deref().and_then(token);
        let mut bytes = Vec::new();
        if options.byte_fallback {
            bytes.extend((0..=255).map(|byte| token(&byte_name(byte)).unwrap_or(NOWHERE)));
        }
        let mut places = room::filled(NOWHERE, tokens.iter().max().map_or(0, |&last| last as usize + 1))?;
        (0..).zip(&tokens).for_each(|(at, &token)| places[token as usize] = at);
        let merges = merges.collect();
        Ok(SpelledBpe { spelling, options, names, tokens, places, merges, unknown, never_whole, bytes })
    }

    /// The token of a name.
    pub(crate) fn token(&self, name: &str) -> Option<u32> {
        self.names.find(name).map(|at| self.tokens[at as usize])
    }

    /// The name of a token; `None` if it has none.
    pub(crate) fn name(&self, token: u32) -> Option<&str> {
        let &place = self.places.get(token as usize)?;
        (place != NOWHERE).then(|| self.names.texts().get(place as usize))
    }

    /// The names with their tokens.
    pub(crate) fn names(&self) -> impl ExactSizeIterator<Item = (&str, u32)> + Clone {
        self.names.texts().iter().zip(self.tokens.iter().copied())
    }

    /// The two parts of each merge, and the token that it makes, by rank.
    pub(crate) fn merges(&self) -> Vec<((u32, u32), u32)> {
        let mut merges: Vec<_> =
            self.merges.iter().map(|(&pair, &(rank, made))| (rank, pair, made)).collect();
        merges.sort_unstable();
        merges.into_iter().map(|(_, pair, made)| (pair, made)).collect()
    }

    /// Whether the ids of a text stay the same if it is cut wherever no merge reaches across and one of the
    /// two characters has a token of its own.
    pub(crate) fn may_be_cut(&self) -> bool {
        let BpeOptions { prefix, suffix, dropout, .. } = &self.options;
        let covers_all =
            self.unknown.is_some() || (self.bytes.len() == 256 && !self.bytes.contains(&NOWHERE));
        let is_plain = prefix.is_empty() && suffix.is_empty() && self.spelling != TextSpelling::Bytes;
        let takes_unknown = |&(left, right): &(u32, u32)| [left, right].map(Some).contains(&self.unknown);
        if self.merges.keys().any(takes_unknown) {
            return false;
        }
        is_plain && covers_all && !self.options.ignore_merges && dropout.is_never()
    }

    /// Whether a cut between two characters changes nothing, if no merge reaches across, unless both begin or
    /// end with one of these bytes: neither may have a token of its own. An unknown character may be joined
    /// with the one before it, or be placed after the one after it.
    pub(crate) fn unknown_bytes(&self) -> impl Iterator<Item = u8> + Clone {
        let joins = self.options.fuse_unknown || !self.bytes.is_empty();
        let is_known = move |byte: u8| {
            let is_meta = byte == b' ' && self.spelling == TextSpelling::Spaces;
            let character = if is_meta { META } else { char::from(byte) };
            self.token(character.encode_utf8(&mut [0; 4])).is_some()
        };
        (0..=255_u8).filter(move |&byte| joins && !(byte.is_ascii() && is_known(byte)))
    }

    /// Appends the tokens of a pretoken to `out`.
    ///
    /// # Errors
    /// [`Error::Interrupted`], [`Error::OutOfMemory`]; [`Error::Invalid`] for 4 GiB or more, and for a
    /// character without a token where the unknown token is in no vocabulary.
    pub(crate) fn merge(&self, pretoken: &[u8], out: &mut Vec<u32>, control: &Control) -> Result<()> {
        let symbols = self.merged(&self.spelled(pretoken)?, pretoken, control)?;
        for symbol in symbols.iter().filter(|symbol| symbol.len != 0) {
            room::push(out, symbol.token)?;
        }
        Ok(())
    }

    /// Appends the tokens of a pretoken to `out`, and the bytes of the pretoken that each covers to `spans`.
    pub(crate) fn spans(
        &self,
        pretoken: &[u8],
        out: &mut Vec<u32>,
        spans: &mut Vec<Range<usize>>,
        control: &Control,
    ) -> Result<()> {
        let spelled = self.spelled(pretoken)?;
        let places = self.places(pretoken)?;
        let mut at = 0;
        for symbol in self.merged(&spelled, pretoken, control)?.iter().filter(|symbol| symbol.len != 0) {
            let end = at + symbol.len as usize;
            // The tokens of the bytes of a suffix are beyond the pretoken: they get the place of its last
            // byte.
            let place = |byte: usize| places.get(byte).or(places.last()).cloned().unwrap_or_default();
            room::push(out, symbol.token)?;
            room::push(spans, place(at).start..place(end - 1).end)?;
            at = end;
        }
        Ok(())
    }

    fn spelled(&self, pretoken: &[u8]) -> Result<String> {
        check_length(pretoken)?;
        self.spelling.spelled(pretoken)
    }

    /// For each byte of the spelling, the bytes of the pretoken that it stands for.
    fn places(&self, pretoken: &[u8]) -> Result<Vec<Range<usize>>> {
        let mut places = room::for_items(3 * pretoken.len())?;
        for (at, &byte) in pretoken.iter().enumerate() {
            let count = match self.spelling {
                TextSpelling::Bytes => spell(byte).len_utf8(),
                TextSpelling::Spaces if byte == b' ' => META.len_utf8(),
                _ => 1,
            };
            places.extend(std::iter::repeat_n(at..at + 1, count));
        }
        Ok(places)
    }

    fn merged(&self, spelled: &str, pretoken: &[u8], control: &Control) -> Result<Vec<Symbol>> {
        let mut symbols = room::for_items(spelled.len())?;
        if self.options.ignore_merges
            && self.options.dropout.is_never()
            && let Some(token) =
                self.token(spelled).filter(|token| self.never_whole.binary_search(token).is_err())
        {
            add(&mut symbols, token, spelled.len())?;
            return Ok(symbols);
        }
        self.add_symbols(spelled, &mut symbols)?;
        if !self.options.dropout.is_always() {
            self.apply_merges(&mut symbols, pretoken, control)?;
        }
        Ok(symbols)
    }

    /// Adds the symbols that a spelled pretoken begins with.
    fn add_symbols(&self, spelled: &str, symbols: &mut Vec<Symbol>) -> Result<()> {
        let (mut name, mut unknown) = (String::new(), None);
        for (at, character) in spelled.char_indices() {
            let len = character.len_utf8();
            name.clear();
            if at > 0 {
                name.push_str(&self.options.prefix);
            }
            name.push(character);
            if at + len == spelled.len() {
                name.push_str(&self.options.suffix);
            }
            if let Some(token) = self.token(&name) {
                self.add_unknown(symbols, unknown.take())?;
                add(symbols, token, len)?;
            } else if !self.add_bytes(&name, symbols)? && self.options.unknown.is_some() {
                if !self.options.fuse_unknown {
                    self.add_unknown(symbols, unknown.take())?;
                }
                unknown = Some(unknown.unwrap_or(0) + len);
            }
        }
        self.add_unknown(symbols, unknown)
    }

    /// Adds the unknown token for a number of bytes, if there are any.
    fn add_unknown(&self, symbols: &mut Vec<Symbol>, len: Option<usize>) -> Result<()> {
        match (self.unknown, &self.options.unknown, len) {
            (Some(token), _, Some(len)) => add(symbols, token, len),
            (None, Some(name), Some(_)) => {
                let name = show_text(name);
                let reason =
                    format!("a character has no token, and the unk_token {name} is not in the vocabulary");
                Err(Error::Invalid(reason))
            }
            _ => Ok(()),
        }
    }

    /// Adds the tokens of the bytes of a name; returns false, and adds nothing, if a byte has none.
    fn add_bytes(&self, name: &str, symbols: &mut Vec<Symbol>) -> Result<bool> {
        let tokens = name.bytes().map(|byte| self.bytes.get(usize::from(byte)).copied().unwrap_or(NOWHERE));
        if tokens.clone().any(|token| token == NOWHERE) {
            return Ok(false);
        }
        for token in tokens {
            add(symbols, token, 1)?;
        }
        Ok(true)
    }

    /// Merges symbols: the lowest rank first, of several the leftmost. A merge that is left out by chance is
    /// tried again after the next one that happens.
    fn apply_merges(&self, symbols: &mut [Symbol], pretoken: &[u8], control: &Control) -> Result<()> {
        let mut draws = Draws::new(self.options.dropout, || rustc_hash::FxBuildHasher.hash_one(pretoken));
        let (mut queue, mut skipped) = (BinaryHeap::new(), Vec::new());
        for at in 1..symbols.len() {
            self.enqueue(symbols, at as u32 - 1, at as u32, &mut queue)?;
        }
        let mut steps = 0;
        while let Some(entry) = queue.pop() {
            steps += 1;
            if steps % STEPS_PER_CHECK == 0 {
                control.check()?;
            }
            if draws.leaves_out() {
                room::push(&mut skipped, entry)?;
                continue;
            }
            queue.extend(skipped.drain(..));
            let Reverse((_, at, made)) = entry;
            let Symbol { token, len, next, previous } = symbols[at as usize];
            if len == 0 || next == NOWHERE {
                continue;
            }
            let right = symbols[next as usize];
            if self.merges.get(&(token, right.token)).is_none_or(|&(_, other)| other != made) {
                continue;
            }
            symbols[at as usize] = Symbol { token: made, len: len + right.len, previous, next: right.next };
            symbols[next as usize].len = 0;
            if right.next != NOWHERE {
                symbols[right.next as usize].previous = at;
                self.enqueue(symbols, at, right.next, &mut queue)?;
            }
            if previous != NOWHERE {
                self.enqueue(symbols, previous, at, &mut queue)?;
            }
        }
        Ok(())
    }

    /// Adds the merge of two neighbours to the queue, if there is one.
    fn enqueue(&self, symbols: &[Symbol], left: u32, right: u32, queue: &mut Queue) -> Result<()> {
        let pair = (symbols[left as usize].token, symbols[right as usize].token);
        if let Some(&(rank, made)) = self.merges.get(&pair) {
            queue
                .try_reserve(1)
                .map_err(|_| room::out_of_memory(size_of::<(u32, u32, u32)>() * queue.len()))?;
            queue.push(Reverse((rank, left, made)));
        }
        Ok(())
    }
}

/// The merges that are possible: rank, place and the token that results.
type Queue = BinaryHeap<Reverse<(u32, u32, u32)>>;

fn add(symbols: &mut Vec<Symbol>, token: u32, len: usize) -> Result<()> {
    let at = symbols.len() as u32;
    if let Some(last) = symbols.last_mut() {
        last.next = at;
    }
    let previous = at.checked_sub(1).unwrap_or(NOWHERE);
    room::push(symbols, Symbol { token, len: len as u32, previous, next: NOWHERE })
}
