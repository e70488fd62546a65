//! The steps before pretokenization, prepared for use.

use std::collections::HashSet;

use super::rewrite::{Prefix, Rewrite};
use crate::control::Control;
use crate::error::Result;
use crate::normalize::Normalizer;
use crate::pretokenize::Pretokenizer;
use crate::source::{Cutter, Guard};
use crate::special::{AddedTokens, Flags, Specials, overlap};
use crate::spelling::{META, META_TEXT};

/// An added token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedToken {
    /// Its id.
    pub id: u32,
    /// Its text.
    pub content: String,
    /// How it is found.
    pub flags: Flags,
    /// Whether it is looked for in the normalized text, and is itself normalized for that.
    pub normalized: bool,
}

impl AddedToken {
    /// A special token that is found wherever its name stands.
    pub fn special(id: u32, name: &str) -> Self {
        let flags = Flags { special: true, ..Flags::default() };
        AddedToken { id, content: name.to_owned(), flags, normalized: false }
    }
}

/// The parts of a [`Pipeline`].
#[derive(Clone, Default)]
pub struct PipelineParts {
    /// The added tokens.
    pub added_tokens: Vec<AddedToken>,
    /// The ids of added tokens that ordinary text can be encoded to as well.
    pub mergeable: HashSet<u32>,
    /// The normalizer.
    pub normalizer: Normalizer,
    /// What the pre-tokenizer changes, in order.
    pub rewrites: Vec<Rewrite>,
    /// What all steps come to for a text without U+2581, if that is at most a prefix.
    pub only_prefix: Option<Prefix>,
    /// Whether the vocabulary has a plain space for each U+2581.
    pub spaces_are_plain: bool,
}

impl PipelineParts {
    /// The added tokens that a search for the vocabulary's special tokens does not find as the pipeline does.
    pub fn irregular(&self) -> Result<Vec<&AddedToken>> {
        let is_mixed = is_mixed(&self.added_tokens)?;
        let mut irregular = Vec::new();
        for token in &self.added_tokens {
            let text = self.normalizer.of_token(&token.content)?;
            if self.is_irregular(token, &text, is_mixed) {
                irregular.push(token);
            }
        }
        Ok(irregular)
    }

    /// `text` is what the normalizer makes of the token.
    fn is_irregular(&self, token: &AddedToken, text: &str, is_mixed: bool) -> bool {
        let has_flags = token.flags != Flags { special: token.flags.special, ..Flags::default() };
        let is_spelled_otherwise = text != token.content || (self.spaces_are_plain && text.contains(META));
        let differs = token.normalized && (is_mixed || is_spelled_otherwise);
        has_flags || differs || self.mergeable.contains(&token.id)
    }
}

/// The steps before pretokenization. See the [module](super).
pub struct Pipeline {
    pub(super) parts: PipelineParts,
    /// The added tokens that are looked for in the text as it stands.
    pub(super) verbatim: TokenSearch,
    /// Those that are looked for in the normalized text, as the normalizer spells them.
    pub(super) normalized: TokenSearch,
    /// Texts of added tokens that a search for the vocabulary's special tokens does not find as the pipeline
    /// does.
    irregular: Specials,
    /// Texts of added tokens that are not special.
    not_special: Specials,
    /// Texts that no cut may lie in.
    crossing: Specials,
    can_cut: bool,
}

/// A search for added tokens, with the id of each.
pub(super) struct TokenSearch {
    pub(super) tokens: AddedTokens,
    pub(super) ids: Vec<u32>,
}

impl TokenSearch {
    fn new(tokens: Vec<(String, Flags, u32)>) -> Result<Self> {
        let ids = tokens.iter().map(|(.., id)| *id).collect();
        let tokens = tokens.into_iter().map(|(text, flags, _)| (text, flags)).collect();
        Ok(TokenSearch { tokens: AddedTokens::new(tokens)?, ids })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

impl Pipeline {
    /// Prepares the steps.
    pub fn new(mut parts: PipelineParts) -> Result<Self> {
        let mut texts = Vec::new();
        for token in &parts.added_tokens {
            texts.push(parts.normalizer.of_token(&token.content)?);
        }
        if texts.iter().any(|text| text == META_TEXT) {
            parts.only_prefix = None; // a prefix alone may be this token
        }
        let tokens: Vec<_> = parts.added_tokens.iter().zip(texts).collect();
        let search = |normalized: bool| {
            let chosen = tokens.iter().filter(|(token, _)| token.normalized == normalized);
            let row = |(token, text): &(&AddedToken, String)| {
                (if normalized { text.clone() } else { token.content.clone() }, token.flags, token.id)
            };
            TokenSearch::new(chosen.map(row).collect())
        };
        let prefixed = has_prefix(&parts);
        let all_texts = |chosen: &dyn Fn(&AddedToken, &str) -> bool| {
            let chosen = tokens.iter().filter(|(token, text)| chosen(token, text));
            distinct(chosen.flat_map(|(token, text)| {
                let plain = if parts.spaces_are_plain { text.replace(META, " ") } else { text.clone() };
                // The prefix of a stretch may be the first space of a token.
                let behind_prefix =
                    plain.strip_prefix(' ').filter(|_| prefixed).unwrap_or_default().to_owned();
                [token.content.clone(), text.clone(), plain, behind_prefix]
            }))
        };
        let is_mixed = is_mixed(&parts.added_tokens)?;
        let irregular = all_texts(&|token, text| parts.is_irregular(token, text, is_mixed));
        let not_special = all_texts(&|token, _| !token.flags.special);
        let crossing = Specials::new(crossing(&parts, all_texts(&|_, _| true)))?;
        Ok(Pipeline {
            verbatim: search(false)?,
            normalized: search(true)?,
            irregular: Specials::new(irregular)?,
            not_special: Specials::new(not_special)?,
            can_cut: can_cut(&parts, &tokens),
            crossing,
            parts,
        })
    }

    /// What it was made of.
    pub fn parts(&self) -> &PipelineParts {
        &self.parts
    }

    /// Whether the steps come to at most a [prefix](Self::plain_prefix) before the stretches between the
    /// vocabulary's special tokens. May also return `false` for such a text.
    pub(crate) fn leaves(&self, text: &[u8], special: bool, control: &Control) -> Result<bool> {
        let exceptions = if special { &self.irregular } else { &self.not_special };
        if self.parts.only_prefix.is_none() || exceptions.matches(text, 0).next(control)?.is_some() {
            return Ok(false);
        }
        if self.parts.spaces_are_plain {
            return Ok(memchr::memmem::find(text, META_TEXT.as_bytes()).is_none());
        }
        Ok(self.parts.normalizer.0.is_empty()
            || simdutf8::basic::from_utf8(text).is_ok_and(|text| self.parts.normalizer.leaves(text)))
    }

    /// The prefix of a text that the steps [leave](Self::leaves).
    pub(crate) fn plain_prefix(&self) -> Prefix {
        self.parts.only_prefix.unwrap_or_default()
    }

    /// Whether several threads are faster than one.
    pub(crate) fn is_parallel(&self) -> bool {
        let mut splits = self.parts.rewrites.iter().filter_map(|rewrite| rewrite.splits.as_ref());
        self.parts.normalizer.is_parallel() && splits.all(Pretokenizer::is_parallel)
    }

    /// Finds places where a text can be cut: those that all steps and the pretokenizer allow.
    pub(crate) fn cutter(&self, pretokenizer: &Pretokenizer, replace: bool) -> Cutter<'_> {
        let rule = if self.can_cut { pretokenizer.cut_rule() } else { crate::pretokenize::CutRule::Never };
        let parts = &self.parts;
        // Text after a cut must not look like the beginning of a stretch.
        let ends = parts.added_tokens.iter().filter_map(|token| token.content.as_bytes().last().copied());
        let guard = Guard {
            normalizer: &parts.normalizer,
            spaces_are_plain: parts.spaces_are_plain,
            not_in_space: parts.added_tokens.iter().any(takes_space),
            not_after: if has_prefix(parts) { ends.collect() } else { Vec::new() },
        };
        Cutter::guarded(&self.crossing, rule, replace, Some(guard))
    }
}

/// Whether a token that is looked for in the text as it stands could share a byte with one that is looked for
/// afterwards.
fn is_mixed(tokens: &[AddedToken]) -> Result<bool> {
    let texts = |normalized: bool| {
        let chosen = tokens.iter().filter(|token| token.normalized == normalized);
        chosen.map(|token| token.content.clone().into_bytes()).collect()
    };
    overlap(texts(false), texts(true))
}

fn distinct(texts: impl Iterator<Item = String>) -> Vec<Vec<u8>> {
    let mut seen = HashSet::new();
    texts.filter(|text| !text.is_empty() && seen.insert(text.clone())).map(String::into_bytes).collect()
}

fn takes_space(token: &AddedToken) -> bool {
    token.flags.lstrip || token.flags.rstrip
}

/// Whether a space, or another text, is put before some stretches.
fn has_prefix(parts: &PipelineParts) -> bool {
    let is_plain = parts.only_prefix.is_none_or(|prefix| prefix == Prefix::None);
    let is_rewritten = parts.rewrites.iter().any(|rewrite| rewrite.prefix != Prefix::None);
    is_rewritten || !is_plain || parts.normalizer.prepends()
}

/// The texts that no cut may lie in: those of the added tokens, with the whitespace that they take.
fn crossing(parts: &PipelineParts, mut texts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    for token in parts.added_tokens.iter().filter(|token| takes_space(token)) {
        let content = token.content.as_bytes();
        for space in b"\t\n\x0b\x0c\r " {
            if token.flags.rstrip {
                texts.push([content, &[*space]].concat());
            }
            if token.flags.lstrip {
                texts.push([&[*space], content].concat());
            }
        }
    }
    texts.sort();
    texts.dedup();
    texts
}

/// Whether a text can be cut anywhere; `tokens` are the added tokens with what the normalizer makes of each.
fn can_cut(parts: &PipelineParts, tokens: &[(&AddedToken, String)]) -> bool {
    // A place for a cut is next to whitespace, so it lies in no other token.
    let has_space = |text: &str| text.contains(char::is_whitespace) || text.contains(META);
    let hinders = |(token, text): &(&AddedToken, String)| {
        let has_space = has_space(&token.content) || has_space(text);
        let is_hidden = token.normalized && !parts.normalizer.0.is_empty();
        // After or before a cut a single word would be at the end of a text, where no other word is.
        has_space && (is_hidden || token.flags.single_word) || token.flags.rstrip && has_prefix(parts)
    };
    let only_prefixes = parts.rewrites.iter().all(Rewrite::is_only_prefix);
    parts.normalizer.can_cut() && only_prefixes && !tokens.iter().any(hinders)
}
