//! The text of ids, as the decoder of a Hugging Face tokenizer makes it.

use std::collections::HashMap;

use rustc_hash::FxHashMap;

use super::decoder::{Decoder, DecoderState};
use super::pieces::PieceRule;
use super::stages::{DecodeStage, byte_of};
use crate::error::{Error, Result};
use crate::pretokenize::Matcher;
use crate::room;
use crate::spelling::{META_TEXT, TextSpelling, byte_name};
use crate::vocab::Vocab;

/// A decoder, with the names of the tokens that it works on.
pub struct TextDecoder {
    pub(crate) decoder: Decoder,
    spelling: TextSpelling,
    /// The names of added tokens.
    names: HashMap<u32, String>,
    /// The bytes of the tokens that stand for bytes.
    byte_tokens: FxHashMap<u32, u8>,
    /// The bytes in the text of tokens that have other bytes in the vocabulary.
    replaced: FxHashMap<u32, Vec<u8>>,
    /// How many spaces are removed from the front of the joined bytes, if that is all of decoding.
    stripped: Option<usize>,
}

impl TextDecoder {
    /// Prepares a decoder for a vocabulary, whose added tokens have `names`.
    pub fn new(
        vocab: &Vocab,
        decoder: Decoder,
        spelling: TextSpelling,
        names: HashMap<u32, String>,
    ) -> Result<Self> {
        let bytes = vocab.characters().map_or(&[][..], |characters| &characters.bytes);
        let byte_tokens: FxHashMap<u32, u8> = bytes.iter().copied().zip(0..=255).collect();
        let stripped = stripped_spaces(&decoder.stages, spelling, byte_tokens.len() == 256)
            .filter(|_| vocab.covers_text_exactly())
            // An added token may have the name of a byte, and another one once it is normalized.
            .filter(|_| {
                !byte_tokens
                    .iter()
                    .any(|(id, byte)| names.get(id).is_some_and(|name| byte_of(name) != Some(*byte)))
            });
        let mut made =
            TextDecoder { decoder, spelling, names, byte_tokens, replaced: FxHashMap::default(), stripped };
        if stripped.is_some() {
            made.replaced = made.other_bytes(vocab)?;
        }
        Ok(made)
    }

    /// How many spaces are removed from the front of the joined bytes of ids, with those of
    /// [`TextDecoder::replaced`]; `None` if decoding does anything else.
    pub fn stripped(&self) -> Option<usize> {
        self.stripped
    }

    /// The bytes in the text of tokens that have other bytes in the vocabulary.
    pub fn replaced(&self) -> &FxHashMap<u32, Vec<u8>> {
        &self.replaced
    }

    /// Whether joined bytes that are not UTF-8 become U+FFFD as in Python's `bytes.decode`; otherwise each
    /// byte does.
    pub fn joins_bytes(&self) -> bool {
        self.stripped.is_some() && self.spelling == TextSpelling::Bytes
    }

    /// Takes spaces off the front of the bytes of a token: as many as are left of [`TextDecoder::stripped`].
    /// Pieces of SentencePiece that stand for bytes or are unknown keep theirs; under
    /// `remove_extra_whitespaces` each of the others loses one until there is a text.
    pub fn strip<'t>(&self, id: u32, token: &'t [u8], spaces: &mut usize) -> &'t [u8] {
        if *spaces == 0 {
            return token;
        }
        let is_kept = self.pieces().is_some()
            && (self.byte_tokens.contains_key(&id) || self.replaced.contains_key(&id));
        let max_spaces = if is_kept { 0 } else { *spaces };
        let count = token.iter().take(max_spaces).take_while(|&&byte| byte == b' ').count();
        let is_each = self.pieces().is_some_and(|rule| rule.remove_extra_whitespaces);
        *spaces = match count == token.len() {
            true if is_each => *spaces,
            true => *spaces - count,
            false => 0,
        };
        &token[count..]
    }

    /// Whether a token without a text follows one for a byte: they may end a character that is not whole.
    pub fn breaks_bytes(&self, ids: &[u32]) -> bool {
        let is_empty = |id: &u32| self.replaced.get(id).is_some_and(Vec::is_empty);
        self.pieces().is_some()
            && ids.windows(2).any(|pair| is_empty(&pair[1]) && self.byte_tokens.contains_key(&pair[0]))
    }

    /// The rule of SentencePiece, if that is all of decoding.
    pub fn pieces(&self) -> Option<&PieceRule> {
        if let [DecodeStage::Pieces(rule)] = &self.decoder.stages[..] { Some(rule) } else { None }
    }

    /// Whether decoding joins the bytes of the vocabulary's tokens, and does nothing else.
    pub fn is_plain(&self) -> bool {
        self.joins_bytes() && self.replaced.is_empty()
    }

    /// The text of ids.
    ///
    /// # Errors
    /// [`Error::UnknownId`]; errors of a pattern; [`Error::OutOfMemory`].
    pub fn decode(&self, vocab: &Vocab, ids: &[u32]) -> Result<String> {
        let (mut state, mut text) = (DecoderState::default(), String::new());
        for (index, &id) in ids.iter().enumerate() {
            self.push(vocab, &mut state, id, Some(index), &mut text)?;
        }
        self.decoder.finish(&mut state, &mut text)?;
        Ok(text)
    }

    /// Adds an id; appends the text that no later id can change. `index` is the place of the id, for errors.
    pub fn push(
        &self,
        vocab: &Vocab,
        state: &mut DecoderState,
        id: u32,
        index: Option<usize>,
        text: &mut String,
    ) -> Result<()> {
        let bytes = vocab.tokens().get(id).ok_or(Error::UnknownId { id: i128::from(id), index })?;
        match self.names.get(&id).map(String::as_str).or_else(|| vocab.name(id)) {
            Some(name) => self.decoder.push(state, name, text),
            None => self.decoder.push(state, &self.spelled(id, bytes)?, text),
        }
    }

    /// A token as the model spells it.
    ///
    /// # Errors
    /// [`Error::UnknownId`]; [`Error::OutOfMemory`].
    pub fn spelled_by_model(&self, vocab: &Vocab, id: u32) -> Result<String> {
        let bytes = vocab.token_bytes(id)?;
        vocab.name(id).map_or_else(|| self.spelled(id, bytes), room::text)
    }

    /// The name of a token that has no other than its spelling.
    fn spelled(&self, id: u32, bytes: &[u8]) -> Result<String> {
        self.byte_tokens.get(&id).map_or_else(|| self.spelling.spelled(bytes), |&byte| Ok(byte_name(byte)))
    }

    /// The bytes in the text of all tokens that have other bytes in the vocabulary.
    fn other_bytes(&self, vocab: &Vocab) -> Result<FxHashMap<u32, Vec<u8>>> {
        if let Some(rule) = self.pieces() {
            let surface =
                |(id, name): (&u32, &String)| Some((*id, rule.surfaces.get(name)?.clone().into_bytes()));
            return Ok(self.names.iter().filter_map(surface).collect());
        }
        let mut others = FxHashMap::default();
        let named = self.names.iter().map(|(&id, name)| (id, Some(name)));
        // In other spellings any token may look like one for a byte.
        let all = vocab.tokens().iter().filter(|_| self.spelling != TextSpelling::Bytes);
        let byte_like = all.filter(|(id, bytes)| bytes.starts_with(b"<0x") && !self.names.contains_key(id));
        for (id, name) in named.chain(byte_like.map(|(id, _)| (id, None))) {
            let Some(bytes) = vocab.tokens().get(id).filter(|_| !self.byte_tokens.contains_key(&id)) else {
                continue;
            };
            let name = name.map_or_else(|| self.spelled(id, bytes), |name| room::text(name))?;
            let text = match byte_of(&name).filter(|_| self.spelling != TextSpelling::Bytes) {
                Some(byte) => vec![byte],
                None => self.spelling.unspelled(&name).unwrap_or_else(|| name.into_bytes()),
            };
            if text != bytes {
                others.insert(id, text);
            }
        }
        Ok(others)
    }
}

/// How many spaces are removed from the front of the joined bytes of tokens, if stages do nothing else.
fn stripped_spaces(stages: &[DecodeStage], spelling: TextSpelling, has_bytes: bool) -> Option<usize> {
    let stages = match spelling {
        TextSpelling::Bytes => return matches!(stages, [DecodeStage::ByteLevel]).then_some(0),
        _ if !has_bytes => return None,
        TextSpelling::Characters => stages,
        TextSpelling::Spaces => match stages {
            [DecodeStage::Pieces(rule)] => {
                return Some(usize::from(rule.add_dummy_prefix || rule.remove_extra_whitespaces));
            }
            [DecodeStage::Replace(Matcher::Literal(old), new), stages @ ..]
                if old == META_TEXT.as_bytes() && new == " " =>
            {
                stages
            }
            _ => return None,
        },
    };
    match stages {
        [DecodeStage::ByteFallback] | [DecodeStage::ByteFallback, DecodeStage::Fuse] => Some(0),
        [
            DecodeStage::ByteFallback,
            DecodeStage::Fuse,
            DecodeStage::Strip { character: ' ', start, stop: 0 },
        ] => Some(*start),
        _ => None,
    }
}
