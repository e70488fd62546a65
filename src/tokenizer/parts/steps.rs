//! The steps around the model of a file: added tokens, normalizer, pre-tokenizer and decoder.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::patterns::{FilePatterns, PatternEngines};
use super::place::{quoted, refused};
use super::spaces::Spaces;
use super::{decoder, normalizer, pretokenizer, spaces};
use crate::control::Control;
use crate::decode::{DecodeStage, Decoder, TextDecoder};
use crate::encode::Encoder;
use crate::error::Result;
use crate::normalize::origin_of;
use crate::pipeline::{AddedToken, Passage, Pipeline, PipelineParts, Rewrite, Stretch, Trust};
use crate::pretokenize::{Junctions, Pattern, Pretokenizer, SplitStage, Unmatched};
use crate::room;
use crate::spelling::TextSpelling;

/// Takes a piece of a text, and the range of the text that it comes from.
type OnPiece<'a> = &'a mut dyn FnMut(&[u8], Range<usize>) -> Result<()>;

/// The steps around the model of a file, read from its JSON.
#[derive(Clone)]
pub struct FilePipeline {
    /// The steps before the last cut.
    pub parts: PipelineParts,
    pub(crate) splits: pretokenizer::Splits,
    /// What becomes of spaces, if the pre-tokenizer does nothing else.
    spaces: Option<Spaces>,
    /// The pre-tokenizer alone, before the last cut.
    rewriting: Arc<Pipeline>,
    is_byte_level: bool,
    pub decoder: Decoder,
}

impl FilePipeline {
    /// Reads normalizer, pre-tokenizer and decoder; null stands for none.
    pub fn read(parts: &[Value; 3], engines: &dyn PatternEngines) -> Result<Self> {
        let patterns = &mut FilePatterns::of(parts, engines)?;
        let [normalizer, pre_tokenizer, decoder] = parts;
        let normalizer = normalizer::read(normalizer, "$.normalizer", patterns)?;
        let is_byte_level = pretokenizer::has_byte_level(pre_tokenizer);
        let place = "$.pre_tokenizer";
        let spaces = match is_byte_level {
            true => None,
            false => spaces::read(pre_tokenizer, place, &normalizer)?,
        };
        let splits = match spaces {
            Some(_) => pretokenizer::Splits::default(),
            None => pretokenizer::read(pre_tokenizer, place, patterns)?,
        };
        // Without a decoder the original would join the spellings of bytes by spaces: no text that anybody
        // wants.
        let decoder = match decoder.is_null() && is_byte_level {
            true => Decoder { stages: vec![DecodeStage::ByteLevel] },
            false => decoder::read(decoder, "$.decoder", patterns)?,
        };
        let rewriting = Arc::new(Pipeline::new(PipelineParts {
            rewrites: match &spaces {
                Some(spaces) => vec![Rewrite::space_before(spaces.prefix)],
                None => splits.rewrites.clone(),
            },
            spaces_are_plain: spaces.as_ref().is_some_and(|spaces| spaces.are_plain),
            ..PipelineParts::default()
        })?);
        let only_prefix = spaces.as_ref().map_or(splits.prefix(), |spaces| spaces.only_prefix);
        let parts = PipelineParts { normalizer, only_prefix, ..rewriting.parts().clone() };
        Ok(FilePipeline { parts, splits, spaces, rewriting, is_byte_level, decoder })
    }

    /// The same steps with more added tokens, of which ordinary text can become those in `mergeable`.
    ///
    /// # Errors
    /// [`crate::Error::BrokenPart`] for a token that the normalizer leaves nothing of, or makes the same as
    /// another one; errors of normalizing.
    pub fn with_tokens(
        mut self,
        tokens: impl IntoIterator<Item = AddedToken>,
        mergeable: impl IntoIterator<Item = u32>,
    ) -> Result<Self> {
        self.parts.added_tokens.extend(tokens);
        self.parts.mergeable.extend(mergeable);
        if !self.parts.normalizer.0.is_empty() {
            self.check_normalized_tokens()?;
        }
        Ok(self)
    }

    /// The same steps with other added tokens, which have been checked.
    pub(crate) fn with_other_tokens(
        mut self,
        tokens: Vec<AddedToken>,
        mergeable: impl IntoIterator<Item = u32>,
    ) -> Self {
        self.parts.added_tokens = tokens;
        self.parts.mergeable = mergeable.into_iter().collect();
        self
    }

    /// Checks that what the original finds does not depend on its search: it finds an empty text between any
    /// two bytes, and of two equal texts one by chance.
    fn check_normalized_tokens(&self) -> Result<()> {
        let mut of_text = HashMap::new();
        for token in self.parts.added_tokens.iter().filter(|token| token.normalized) {
            let (text, name) = (self.parts.normalizer.of_token(&token.content)?, quoted(&token.content));
            if text.is_empty() {
                let reason = "nothing when normalized, so that the original finds it between any two bytes";
                let reason = format!("{name} becomes {reason}: set its normalized to false, or leave it out");
                return Err(refused("$.added_tokens", reason));
            }
            if let Some(other) = of_text.insert(text, name.clone()) {
                let reason =
                    "become the same when normalized, so that the original finds one of them by chance";
                let reason =
                    format!("{other} and {name} {reason}: set normalized of one to false, or leave it out");
                return Err(refused("$.added_tokens", reason));
            }
        }
        Ok(())
    }

    /// How the file spells text.
    pub fn spelling(&self) -> TextSpelling {
        match &self.spaces {
            _ if self.is_byte_level => TextSpelling::Bytes,
            Some(spaces) if spaces.are_plain => TextSpelling::Spaces,
            _ => TextSpelling::Characters,
        }
    }

    /// What cuts a text into pretokens after all other steps.
    pub fn pretokenizer(&self) -> Pretokenizer {
        match &self.spaces {
            Some(spaces) => {
                let pattern = Pattern::Junctions(Arc::new(Junctions::new(spaces.splits)));
                Pretokenizer { pattern, unmatched: Unmatched::Keep }
            }
            None => self.splits.pretokenizer(),
        }
    }

    /// Whether a pretoken begins at each space; `None` if the pre-tokenizer does more than that.
    pub fn splits_at_spaces(&self) -> Option<bool> {
        self.spaces.as_ref().map(|spaces| spaces.splits)
    }

    /// The texts that the added tokens stand for: normalized, if they are looked for in the normalized text.
    pub fn token_texts(&self) -> Result<Vec<String>> {
        let text = |token: &AddedToken| match token.normalized {
            true => self.parts.normalizer.of_token(&token.content),
            false => Ok(token.content.clone()),
        };
        self.parts.added_tokens.iter().map(text).collect()
    }

    /// The names of the added tokens for the decoder.
    pub fn names(&self) -> Result<HashMap<u32, String>> {
        let ids = self.parts.added_tokens.iter().map(|token| token.id);
        Ok(ids.zip(self.token_texts()?).collect())
    }

    /// Whether the vocabulary's own special tokens and a pretokenizer do all that these steps do.
    pub fn is_plain(&self) -> Result<bool> {
        Ok(self.is_byte_level
            && self.parts.normalizer.0.is_empty()
            && self.splits.rewrites.is_empty()
            && matches!(self.decoder.stages[..], [DecodeStage::ByteLevel])
            && self.parts.added_tokens.iter().all(|token| token.flags.special)
            && self.parts.irregular()?.is_empty())
    }

    /// A tokenizer between these steps, sharing all its tables, and its decoder.
    pub fn around(&self, encoder: &Arc<Encoder>) -> Result<(Arc<Encoder>, TextDecoder)> {
        let encoder = match self.is_plain()? && !encoder.has_pipeline() {
            true => Arc::clone(encoder),
            false => Arc::new(encoder.behind(Pipeline::new(self.parts.clone())?)),
        };
        let decoder =
            TextDecoder::new(encoder.vocab(), self.decoder.clone(), self.spelling(), self.names()?)?;
        Ok((encoder, decoder))
    }

    /// The stages that cut a text into pretokens.
    pub fn stages(&self) -> &[SplitStage] {
        &self.splits.after
    }

    /// The pieces of a text, normalized, with a prefix before each that gets one; cut into pretokens if no
    /// one pattern does that. Where they come from is lost.
    pub fn pieces(&self, text: &str) -> Result<Vec<Vec<u8>>> {
        let mut pieces = Vec::new();
        let pretokenizer = match self.splits.pattern {
            None => self.pretokenizer(),
            Some(_) => pretokenizer::in_stages(&[]),
        };
        self.for_each_piece(
            &self.parts.normalizer.normalized(text)?,
            false,
            &pretokenizer,
            &mut |piece, _| room::push(&mut pieces, piece.to_vec()),
        )?;
        Ok(pieces)
    }

    /// The pretokens that the pre-tokenizer makes of a text that is normalized: each as the file spells it,
    /// with its place in characters. A prefix has the place of the first character.
    pub fn pre_tokenized(&self, text: &str) -> Result<Vec<(String, Range<usize>)>> {
        let (mut pretokens, mut counted, mut characters) = (Vec::new(), 0, 0);
        self.for_each_piece(text, true, &self.pretokenizer(), &mut |pretoken, origin| {
            // A pretoken may begin inside the place of the one before it.
            if origin.start < counted {
                characters -= text[origin.start..counted].chars().count();
            } else {
                characters += text[counted..origin.start].chars().count();
            }
            counted = origin.start;
            let place = characters..characters + text[origin].chars().count();
            room::push(&mut pretokens, (self.spelling().spelled(pretoken)?, place))
        })?;
        Ok(pretokens)
    }

    /// Calls `f` with each piece that the pre-tokenizer makes of a text that is normalized, and its origin in
    /// bytes if it is tracked.
    fn for_each_piece(
        &self,
        text: &str,
        is_tracked: bool,
        pretokenizer: &Pretokenizer,
        f: OnPiece<'_>,
    ) -> Result<()> {
        let (text, control) = (text.as_bytes(), Control::none());
        let passage = Passage { text, trust: Trust::None, is_first: true, is_tracked, control: &control };
        self.rewriting.for_each_stretch(passage, &mut |stretch| {
            let (stretch, base, origins) = match stretch {
                Stretch::Token { .. } => return Ok(true),
                Stretch::Same(range) => (&text[range.clone()], range.start, None),
                Stretch::Changed(changed, origins) => (changed, 0, Some(origins)),
            };
            pretokenizer.for_each(stretch, |range| {
                let origin = match origins {
                    Some(origins) => origin_of(origins, range.clone()),
                    None => base + range.start..base + range.end,
                };
                f(&stretch[range], origin)
            })?;
            Ok(true)
        })
    }
}
