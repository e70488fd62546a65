//! SentencePiece's `.model` files, written: the pieces of a tokenizer that merges characters.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

use super::protobuf::Message;
use super::reader::{Kind, UNK_SURFACE};
use crate::error::{Error, Result};
use crate::formats::huggingface::shapes::spaces_to_meta;
use crate::room;
use crate::spelling::byte_of;
use crate::tokenizer::parts::place::quoted;
use crate::tokenizer::{Pipeline, Tokenizer};
use crate::vocab::{BpeOptions, Vocab};

/// The pieces of a model, and what it does besides merging.
pub(crate) struct Model {
    /// Text, score and kind of each piece. Its id is its place in the list.
    pub(crate) pieces: Vec<(String, f32, Kind)>,
    /// The normalizer, as the reader of models makes it.
    rules: Value,
}

pub(crate) fn write(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    let (model, pipeline) = (Model::new(tokenizer)?, tokenizer.pipeline());
    let mut tokens = pipeline.iter().flat_map(|pipeline| pipeline.added_tokens());
    if tokens.any(|token| !token.flags.special && !token.normalized) {
        return Err(unwritable("a SentencePiece model finds symbols after normalization"));
    }
    let bytes: usize = model.pieces.iter().map(|(text, ..)| text.len() + 16).sum();
    room::check_available(2 * bytes)?;
    let mut message = Message::default();
    for (text, score, kind) in &model.pieces {
        let mut piece = Message::default();
        piece.content(1, text.as_bytes());
        piece.float(2, *score);
        piece.number(3, *kind as u64);
        message.content(1, &piece.bytes);
    }
    let mut trainer = Message::default();
    trainer.number(3, 2); // BPE
    trainer.number(24, model.does("treat_whitespace_as_suffix").into());
    trainer.number(35, model.falls_back().into());
    let surface = pipeline.and_then(|pipeline| pipeline.spec()["decoder"]["unk_surface"].as_str());
    if let Some(surface) = surface.filter(|surface| *surface != UNK_SURFACE) {
        trainer.content(44, surface.as_bytes());
    }
    message.content(2, &trainer.bytes);
    let mut normalizer = Message::default();
    let charsmap = STANDARD.decode(model.charsmap()).map_err(|_| Error::BrokenState)?;
    normalizer.content(2, &charsmap);
    let flags = ["add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"];
    (3..).zip(flags).for_each(|(field, flag)| normalizer.number(field, model.does(flag).into()));
    message.content(3, &normalizer.bytes);
    Ok(message.bytes)
}

impl Model {
    pub(crate) fn new(tokenizer: &Tokenizer) -> Result<Self> {
        let vocab = tokenizer.vocab();
        let is_plain = |BpeOptions { prefix, suffix, dropout, ignore_merges, .. }: &BpeOptions| {
            prefix.is_empty() && suffix.is_empty() && dropout.is_never() && !ignore_merges
        };
        let is_plain = vocab.spelled().is_none_or(|bpe| is_plain(&bpe.options));
        let Some(pipeline) = tokenizer.pipeline().filter(|_| vocab.characters().is_some() && is_plain) else {
            return Err(unwritable("only a tokenizer that merges characters, as SentencePiece does"));
        };
        let rules = rules_of(pipeline)?;
        let mut model = Model { pieces: pieces_of(tokenizer, pipeline)?, rules };
        let scores = scores_of(vocab, &model.pieces)?;
        let lowest = -(scores.len() as f32);
        for (text, score, _) in &mut model.pieces {
            *score = scores.get(text).copied().unwrap_or(lowest);
        }
        if pipeline.spec()["characters"]["fuse_unk"] != true && !model.falls_back() {
            return Err(unwritable("in a SentencePiece model unknown characters in a row are one token"));
        }
        Ok(model)
    }

    /// Whether the model has one of its rules.
    pub(crate) fn does(&self, rule: &str) -> bool {
        self.rules[rule] == true
    }

    /// The normalization rules, as base64.
    pub(crate) fn charsmap(&self) -> &str {
        self.rules["precompiled_charsmap"].as_str().unwrap_or_default()
    }

    /// Whether a character without a piece becomes the pieces of its bytes.
    pub(crate) fn falls_back(&self) -> bool {
        self.pieces.iter().filter(|(.., kind)| *kind == Kind::Byte).count() == 256
    }
}

fn rules_of(pipeline: &Pipeline) -> Result<Value> {
    let mut flags = pipeline.added_tokens().iter().map(|token| token.flags);
    if flags.any(|flags| flags.single_word || flags.lstrip || flags.rstrip) {
        return Err(unwritable("a SentencePiece model has no added tokens with conditions"));
    }
    let (normalizer, pre_tokenizer) = (&pipeline.spec()["normalizer"], &pipeline.spec()["pre_tokenizer"]);
    if normalizer["type"] == "SentencePiece" {
        return Ok(normalizer.clone());
    }
    let has_prefix = *normalizer == spaces_to_meta(true);
    if !(has_prefix || *normalizer == spaces_to_meta(false)) || !pre_tokenizer.is_null() {
        return Err(unwritable(
            "of the steps before the model, a SentencePiece model here has spaces that become U+2581, and one put before a \
             text (Replace, Prepend)",
        ));
    }
    Ok(json!({"add_dummy_prefix": has_prefix, "escape_whitespaces": true}))
}

/// The pieces by id, without their scores.
fn pieces_of(tokenizer: &Tokenizer, pipeline: &Pipeline) -> Result<Vec<(String, f32, Kind)>> {
    let added = pipeline.added_tokens().iter().map(|token| (token.id, token));
    let added: FxHashMap<u32, _> = added.collect();
    let characters = &pipeline.spec()["characters"];
    let (unknown, has_bytes) = (&characters["unk_token"], characters["byte_fallback"] == true);
    let mut pieces = room::for_items(tokenizer.vocab_size())?;
    for (place, (id, _)) in (0..).zip(tokenizer.tokens()) {
        if id != place {
            return Err(unwritable("the ids are not 0, 1, 2, …: a list of pieces has no gaps"));
        }
        let token = added.get(&id);
        let text = match token {
            Some(token) => token.content.clone(),
            None => tokenizer.spelled(id)?,
        };
        let kind = match token {
            _ if *unknown == *text => Kind::Unknown,
            Some(token) if token.flags.special => Kind::Control,
            Some(_) => Kind::UserDefined,
            None if has_bytes && byte_of(&text).is_some() => Kind::Byte,
            None => Kind::Normal,
        };
        pieces.push((text, 0.0, kind));
    }
    Ok(pieces)
}

/// The scores of the pieces that merges make, which fall with the rank, and are equal at one rank.
///
/// SentencePiece merges any two pieces that make one, the best piece first. Of the pairs of one piece only
/// one ever meets in a text ([`super::reader`]): their order does not matter, if they are in a row.
fn scores_of(vocab: &Vocab, pieces: &[(String, f32, Kind)]) -> Result<FxHashMap<String, f32>> {
    let text = |index: u32| pieces[index as usize].0.as_str();
    room::check_available(64 * vocab.merges_by_index().len())?;
    let (mut scores, mut listed) = (FxHashMap::default(), FxHashSet::default());
    let (mut last, mut score) = (String::new(), 0.0);
    for (place, &(left, right)) in (0..).zip(vocab.merges_by_index()) {
        let made = [text(left), text(right)].concat();
        if made != last && vocab.ties().binary_search(&place).is_err() {
            score = -(scores.len() as f32);
        }
        if scores.insert(made.clone(), score).is_some_and(|before| before != score) {
            let reason = format!("the merges that make {} are not in a row", quoted(&made));
            return Err(unwritable(reason));
        }
        last = made;
        listed.insert((text(left), text(right)));
    }
    let normal = pieces.iter().filter(|(.., kind)| *kind == Kind::Normal).map(|(text, ..)| text.as_str());
    let normal: FxHashSet<&str> = normal.collect();
    for piece in pieces.iter().map(|(text, ..)| text.as_str()).filter(|text| normal.contains(text)) {
        for (end, _) in piece.char_indices().skip(1) {
            let (left, right) = piece.split_at(end);
            if normal.contains(left) && normal.contains(right) && !listed.contains(&(left, right)) {
                let (left, right) = (quoted(left), quoted(right));
                let reason = format!(
                    "SentencePiece would merge {left} and {right}, which no merge of this tokenizer does"
                );
                return Err(unwritable(reason));
            }
        }
    }
    Ok(scores)
}

pub(crate) fn unwritable(reason: impl Into<String>) -> Error {
    Error::Unwritable(reason.into())
}
