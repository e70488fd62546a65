//! What makes two tokenizers equal: the fields of a file, tokens and merges.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::json::canonical;
use super::tokenizer::Tokenizer;
use crate::error::Result;
use crate::room;
use crate::vocab::{Semantics, Vocab};

impl PartialEq for Tokenizer {
    /// Whether both have the same [fingerprint](Tokenizer::fingerprint).
    fn eq(&self, other: &Self) -> bool {
        let is_same = |other: &str| self.fingerprint().is_ok_and(|own| own == other);
        Arc::ptr_eq(self.encoder(), other.encoder()) && self.pipeline().is_none()
            || other.fingerprint().is_ok_and(is_same)
    }
}

/// The parts of a tokenizer's identity: its fields as JSON, and tokens and merges.
pub fn state(tokenizer: &Tokenizer) -> Result<(String, Vec<u8>)> {
    let mut fields: Map<String, Value> = vocab_fields(tokenizer.vocab())
        .into_iter()
        .chain(tokenizer.pattern().fields())
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    if let Some(pipeline) = tokenizer.pipeline() {
        fields.insert("pipeline".into(), pipeline.spec().clone());
    }
    room::check_available(tokenizer.vocab().state_bytes())?;
    Ok((canonical(fields.into()), tokenizer.vocab().state()))
}

impl Tokenizer {
    /// SHA-256, in hexadecimal, of all parts of the tokenizer's identity: equal exactly for equal tokenizers.
    ///
    /// Tokens, merges, special tokens, pattern and steps are part of it; the record of the training, and what
    /// a Hugging Face folder says besides, are not. Cost: about a fifth of loading, once.
    pub fn fingerprint(&self) -> Result<&str> {
        if let Some(known) = self.fingerprint.get() {
            return Ok(known);
        }
        let (head, core) = state(self)?;
        let mut hash = Sha256::new();
        hash.update(format!("{}\n{head}\n", head.len()));
        hash.update(core);
        let digits = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        Ok(self.fingerprint.get_or_init(|| digits))
    }
}

pub(crate) fn vocab_fields(vocab: &Vocab) -> Vec<(&'static str, Value)> {
    let names = vocab.specials().tokens().iter().map(|name| String::from_utf8_lossy(name).into_owned());
    let mut specials: Vec<_> = vocab.special_ids().iter().copied().zip(names).collect();
    specials.sort();
    let specials: Map<String, Value> =
        specials.into_iter().map(|(id, name)| (name, Value::from(id))).collect();
    let mut fields = vec![("special_tokens", specials.into())];
    if vocab.semantics() == Semantics::Merges && vocab.ignores_merges() {
        fields.push(("ignore_merges", true.into()));
    }
    if let Some(characters) = vocab.characters().filter(|_| vocab.covers_text_exactly()) {
        fields.push(("characters", json!(characters)));
        if !vocab.ties().is_empty() {
            fields.push(("ties", vocab.ties().into()));
        }
    }
    fields
}
