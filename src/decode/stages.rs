//! The stages of decoders, each of which takes tokens and passes on tokens. A token can come in parts: after
//! [`DecodeStage::Fuse`] and [`DecodeStage::ByteLevel`] the whole text is one token.
//!
//! The rules are those of Hugging Face's tokenizers (tokenizers/src/decoders).

use serde::{Deserialize, Serialize};

use super::pieces::{PieceRule, text_of_bytes};
use crate::error::Result;
use crate::pretokenize::Matcher;
use crate::room;
use crate::spelling;

/// A stage of a decoder.
#[derive(Clone)]
pub enum DecodeStage {
    /// Puts a space between two tokens: what is done without a decoder.
    Spaced,
    /// Joins the bytes that tokens spell; bytes that are not UTF-8 become U+FFFD.
    ByteLevel,
    /// Joins the bytes of neighbouring tokens like `<0x0A>`. If they are not UTF-8, each becomes U+FFFD.
    ByteFallback,
    /// Joins all tokens to one.
    Fuse,
    /// Replaces each match by a text.
    Replace(Matcher, String),
    /// Removes a character from the ends of a token.
    Strip {
        /// The character.
        character: char,
        /// How many are removed at the start, at most.
        start: usize,
        /// How many are removed at the end, at most.
        stop: usize,
    },
    /// Puts a space for each replacement character.
    Metaspace {
        /// The character that stands for a space.
        replacement: char,
        /// Whether the first token loses these characters instead.
        is_prefixed: bool,
    },
    /// Puts a space for a suffix that ends words, except in the last token.
    Suffix(String),
    /// Puts a space before each token that does not begin with a prefix, and removes the prefix.
    WordPiece {
        /// The prefix of tokens that continue a word.
        prefix: String,
        /// Whether spaces before punctuation are removed.
        cleanup: bool,
    },
    /// What SentencePiece makes of the pieces of a model.
    Pieces(PieceRule),
    /// Removes repeated tokens and padding.
    Ctc {
        /// The token of padding.
        pad: String,
        /// What stands between words.
        delimiter: String,
        /// Whether spaces before punctuation are removed, and delimiters become spaces.
        cleanup: bool,
    },
}

/// A part of a token.
#[derive(Clone, Copy)]
pub(super) struct TokenPart<'a> {
    pub(super) text: &'a str,
    /// Whether the token starts here.
    pub(super) starts: bool,
    /// Whether it ends here.
    pub(super) ends: bool,
}

impl<'a> TokenPart<'a> {
    fn whole(text: &'a str) -> Self {
        TokenPart { text, starts: true, ends: true }
    }
}

/// The state of a stage.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StageState {
    /// Tokens that have started.
    pub tokens: usize,
    /// Text that waits for more.
    pub text: String,
    /// Bytes that wait for more.
    pub bytes: Vec<u8>,
    /// How many characters were removed from the start of the token.
    pub stripped: usize,
    /// Whether a part of the token was passed on.
    pub has_begun: bool,
    /// The token before, where it waits for the next one or is compared with it.
    pub before: Option<String>,
}

impl StageState {
    /// How many of the bytes are settled: all but the beginning of a character at their end.
    pub(super) fn settled(&self) -> usize {
        let open = self.bytes.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
        let start = self.bytes.len() - open;
        let ending = std::str::from_utf8(&self.bytes[start..]);
        if ending.is_err_and(|error| error.error_len().is_none()) { start } else { self.bytes.len() }
    }
}

/// Takes the parts that a stage passes on.
type Next<'n> = &'n mut dyn FnMut(TokenPart<'_>) -> Result<()>;

impl DecodeStage {
    /// Adds a part of a token.
    pub(super) fn push(&self, state: &mut StageState, part: TokenPart<'_>, next: Next<'_>) -> Result<()> {
        state.tokens += usize::from(part.starts);
        match self {
            DecodeStage::Spaced => {
                if part.starts && state.tokens > 1 {
                    next(TokenPart::whole(" "))?;
                }
                next(part)
            }
            DecodeStage::Fuse => {
                let starts = !std::mem::replace(&mut state.has_begun, true);
                next(TokenPart { text: part.text, starts, ends: false })
            }
            DecodeStage::Metaspace { replacement, is_prefixed } => {
                let space = if state.tokens <= 1 && *is_prefixed { "" } else { " " };
                next(TokenPart { text: &part.text.replace(*replacement, space), ..part })
            }
            DecodeStage::Strip { character, start, stop } => {
                strip(state, part, (*character, *start, *stop), next)
            }
            DecodeStage::Replace(Matcher::Literal(old), new) => replace(state, part, old, new, next),
            _ => {
                room::push_text(&mut state.text, part.text)?;
                if !part.ends {
                    return Ok(());
                }
                let token = std::mem::take(&mut state.text);
                self.token(state, &token, next)
            }
        }
    }

    /// Takes a whole token.
    fn token(&self, state: &mut StageState, token: &str, next: Next<'_>) -> Result<()> {
        match self {
            DecodeStage::ByteLevel => {
                match spelling::unspelled(token) {
                    Some(bytes) => room::extend(&mut state.bytes, &bytes)?,
                    None => room::extend(&mut state.bytes, token.as_bytes())?,
                }
                settled_text(state, next)
            }
            DecodeStage::ByteFallback => match byte_of(token) {
                Some(byte) => room::push(&mut state.bytes, byte),
                None => {
                    fallback(state, next)?;
                    next(TokenPart::whole(token))
                }
            },
            DecodeStage::Pieces(rule) => piece(rule, state, token, next),
            DecodeStage::Replace(matcher, new) => {
                let (mut text, mut end) = (String::new(), 0);
                matcher.find(token.as_bytes(), &mut |range| {
                    room::push_text(&mut text, &token[end..range.start])?;
                    end = range.end;
                    room::push_text(&mut text, new)
                })?;
                room::push_text(&mut text, &token[end..])?;
                next(TokenPart::whole(&text))
            }
            DecodeStage::Suffix(suffix) => {
                // Only the last token is distinguished, so each waits for the next one.
                if let Some(before) = state.before.replace(token.to_owned()) {
                    next(TokenPart::whole(&before.replace(suffix.as_str(), " ")))?;
                }
                Ok(())
            }
            DecodeStage::WordPiece { prefix, cleanup } => {
                let token = match token.strip_prefix(prefix.as_str()) {
                    _ if state.tokens <= 1 => token.to_owned(),
                    Some(behind) => behind.to_owned(),
                    None => format!(" {token}"),
                };
                next(TokenPart::whole(&if *cleanup { clean(&token) } else { token }))
            }
            DecodeStage::Ctc { pad, delimiter, cleanup } => {
                let before = state.before.replace(token.to_owned());
                if before.as_deref() == Some(token) {
                    return Ok(());
                }
                let mut text = token.replace(pad.as_str(), "");
                if *cleanup {
                    text = clean(&text).replace(delimiter.as_str(), " ");
                }
                if text.is_empty() { Ok(()) } else { next(TokenPart::whole(&text)) }
            }
            _ => next(TokenPart::whole(token)),
        }
    }

    /// Hands on what is left at the end of the text.
    pub(super) fn finish(&self, state: &mut StageState, next: Next<'_>) -> Result<()> {
        match self {
            DecodeStage::Fuse => next(TokenPart { text: "", starts: !state.has_begun, ends: true }),
            DecodeStage::ByteLevel => {
                let text = String::from_utf8_lossy(&state.bytes).into_owned();
                next(TokenPart { text: &text, starts: !state.has_begun, ends: true })
            }
            DecodeStage::ByteFallback => fallback(state, next),
            DecodeStage::Pieces(_) => rest_of_bytes(state, next),
            DecodeStage::Suffix(suffix) => match &state.before {
                Some(last) => next(TokenPart::whole(&last.replace(suffix.as_str(), ""))),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

/// Hands on the start of the bytes that is settled: all but the beginning of a character.
fn settled_text(state: &mut StageState, next: Next<'_>) -> Result<()> {
    let settled = state.settled();
    let text = String::from_utf8_lossy(&state.bytes[..settled]).into_owned();
    state.bytes.drain(..settled);
    let starts = !std::mem::replace(&mut state.has_begun, true);
    next(TokenPart { text: &text, starts, ends: false })
}

/// Hands on the bytes that wait, which are the beginning of a character: one U+FFFD for each.
fn rest_of_bytes(state: &mut StageState, next: Next<'_>) -> Result<()> {
    let text = text_of_bytes(&std::mem::take(&mut state.bytes));
    if text.is_empty() { Ok(()) } else { next(TokenPart::whole(&text)) }
}

/// [`DecodeStage::Pieces`] for one token.
fn piece(rule: &PieceRule, state: &mut StageState, token: &str, next: Next<'_>) -> Result<()> {
    match byte_of(token).filter(|_| rule.is_byte(token)) {
        Some(byte) => {
            room::push(&mut state.bytes, byte)?;
            let settled = state.settled();
            let text = text_of_bytes(&state.bytes[..settled]);
            state.bytes.drain(..settled);
            state.has_begun = true;
            next(TokenPart::whole(&text))
        }
        None => {
            rest_of_bytes(state, next)?;
            let mut at_start = !state.has_begun && state.stripped == 0;
            let text = rule.text_of(token, &mut at_start);
            state.stripped += usize::from(!at_start);
            state.has_begun |= !text.is_empty();
            next(TokenPart::whole(&text))
        }
    }
}

/// Hands on the bytes that wait, as a token of their text, or one U+FFFD for each.
fn fallback(state: &mut StageState, next: Next<'_>) -> Result<()> {
    let bytes = std::mem::take(&mut state.bytes);
    match std::str::from_utf8(&bytes) {
        Ok("") => Ok(()),
        Ok(text) => next(TokenPart::whole(text)),
        Err(_) => bytes.iter().try_for_each(|_| next(TokenPart::whole("\u{fffd}"))),
    }
}

/// The byte that a token like `<0x0A>` stands for.
pub(crate) fn byte_of(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() == 2 { u8::from_str_radix(digits, 16).ok() } else { None }
}

/// Strips a token; characters that may be the last ones wait in the state.
fn strip(
    state: &mut StageState,
    part: TokenPart<'_>,
    (character, start, stop): (char, usize, usize),
    next: Next<'_>,
) -> Result<()> {
    if part.starts {
        (state.stripped, state.has_begun) = (0, false);
        state.text.clear();
    }
    let mut text = part.text;
    while !state.has_begun && state.stripped < start && text.starts_with(character) {
        text = &text[character.len_utf8()..];
        state.stripped += 1;
    }
    state.has_begun |= !text.is_empty();
    let mut all = std::mem::take(&mut state.text);
    room::push_text(&mut all, text)?;
    let mut kept = all.as_str();
    for _ in 0..stop {
        kept = kept.strip_suffix(character).unwrap_or(kept);
    }
    next(TokenPart { text: kept, ..part })?;
    if !part.ends {
        state.text = all[kept.len()..].to_owned();
    }
    Ok(())
}

/// Replaces a text in a token; the beginning of a match waits in the state.
fn replace(state: &mut StageState, part: TokenPart<'_>, old: &[u8], new: &str, next: Next<'_>) -> Result<()> {
    let mut all = std::mem::take(&mut state.text);
    room::push_text(&mut all, part.text)?;
    let (mut text, mut end) = (String::new(), 0);
    for start in memchr::memmem::find_iter(all.as_bytes(), old) {
        room::push_text(&mut text, &all[end..start])?;
        room::push_text(&mut text, new)?;
        end = start + old.len();
    }
    let tail = &all.as_bytes()[end..];
    let may_begin = |&length: &usize| tail.ends_with(&old[..length]);
    let open =
        if part.ends { 0 } else { (1..old.len().min(tail.len() + 1)).rev().find(may_begin).unwrap_or(0) };
    room::push_text(&mut text, &all[end..all.len() - open])?;
    state.text = all[all.len() - open..].to_owned();
    next(TokenPart { text: &text, ..part })
}

/// Removes spaces as BERT's decoder does.
fn clean(text: &str) -> String {
    let pairs = [
        (" .", "."),
        (" ?", "?"),
        (" !", "!"),
        (" ,", ","),
        (" ' ", "'"),
        (" n't", "n't"),
        (" 'm", "'m"),
        (" do not", " don't"),
        (" 's", "'s"),
        (" 've", "'ve"),
        (" 're", "'re"),
    ];
    pairs.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new))
}
