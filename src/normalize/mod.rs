//! Changes of a text before pretokenization: Unicode's normalization forms, and the other steps of Hugging
//! Face's files.
//!
//! The forms come from the crate that Hugging Face's tokenizers use. Its tables are of Unicode 9, and its
//! results are kept even where a newer Unicode version differs.

mod aligned;
mod cuts;
mod limit;
mod nfc;
mod sentencepiece;

use std::sync::Arc;

use unicode_categories::UnicodeCategories;
use unicode_normalization_alignments::{self as forms, UnicodeNormalization};

pub(crate) use aligned::origin_of;
pub use aligned::{Aligned, OriginRange};
pub use limit::max_bytes_of;
pub use sentencepiece::{Charsmap, SentencePieceRule};

use limit::Limit;
use nfc::is_nfc;

use crate::error::Result;
use crate::pretokenize::Matcher;
use crate::room;
use crate::spelling::spell;

/// One step of a normalizer.
#[derive(Clone)]
pub enum NormalizeStep {
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
    /// Each character becomes its lower-case form, without looking at its context.
    Lowercase,
    /// Removes combining marks.
    StripAccents,
    /// Removes control characters, and replaces rare spaces by plain ones.
    Nmt,
    /// Removes control characters, and replaces whitespace by plain spaces, as `BertNormalizer` does.
    CleanText,
    /// Puts a space before and after each Chinese character.
    SpaceIdeographs,
    /// Removes nonspacing marks.
    StripNonspacing,
    /// Each byte becomes the character that spells it in a byte-level file.
    SpellBytes,
    /// Removes whitespace at the ends.
    Strip {
        /// At the beginning.
        left: bool,
        /// At the end.
        right: bool,
    },
    /// Inserts a text before the first character.
    Prepend(String),
    /// Replaces each match by a text. Matches must not be empty.
    Replace(Matcher, String),
    /// All that SentencePiece does to a text.
    SentencePiece(Arc<SentencePieceRule>),
}

/// A list of steps, applied one after the other.
#[derive(Clone, Default)]
pub struct Normalizer(pub Vec<NormalizeStep>);

impl Normalizer {
    /// Applies all steps to a text. After each step the text may have at most `max_bytes` bytes.
    pub fn apply(&self, text: &mut Aligned, max_bytes: usize) -> Result<()> {
        self.apply_to(text, false, max_bytes)
    }

    /// The text that all steps make of `text`, within [`max_bytes_of`] it.
    pub fn normalized(&self, text: &str) -> Result<String> {
        let mut aligned = Aligned::plain(text)?;
        self.apply(&mut aligned, max_bytes_of(text.len()))?;
        Ok(aligned.into_parts().0)
    }

    /// The text of an added token that is looked for in a normalized text. SentencePiece does not change its
    /// own.
    pub fn of_token(&self, content: &str) -> Result<String> {
        match self.0.iter().any(|step| matches!(step, NormalizeStep::SentencePiece(_))) {
            true => room::text(content),
            false => self.normalized(content),
        }
    }

    /// [`Normalizer::apply`] to a text that may continue another one (see [`Normalizer::may_cut`]): then
    /// nothing is put in front of it.
    pub(crate) fn apply_to(&self, text: &mut Aligned, continues: bool, max_bytes: usize) -> Result<()> {
        let bytes = text.text().len();
        for (i, step) in self.0.iter().enumerate() {
            step.apply(text, continues, Limit { step: i, name: step.name(), bytes, max_bytes })?;
        }
        Ok(())
    }

    /// Whether a step puts a text in front of another.
    pub(crate) fn prepends(&self) -> bool {
        self.0.iter().any(|step| match step {
            NormalizeStep::Prepend(_) => true,
            NormalizeStep::SentencePiece(rule) => rule.puts_space_before(),
            _ => false,
        })
    }

    /// Whether all patterns run without a lock.
    pub(crate) fn is_parallel(&self) -> bool {
        self.0
            .iter()
            .all(|step| !matches!(step, NormalizeStep::Replace(matcher, _) if !matcher.is_parallel()))
    }

    /// Whether the steps leave the text, and each part of it alone, unchanged. May also return `false` for
    /// such a text.
    ///
    /// Cost: next to nothing for ASCII text without capitals; otherwise one look at each character.
    pub fn leaves(&self, text: &str) -> bool {
        self.0.iter().all(|step| step.leaves(text))
    }
}

impl NormalizeStep {
    fn apply(&self, text: &mut Aligned, continues: bool, limit: Limit) -> Result<()> {
        match self {
            NormalizeStep::Strip { left, right } => text.strip(*left, *right, limit),
            NormalizeStep::Prepend(_) if continues => Ok(()),
            NormalizeStep::Prepend(before) => text.prepend(before, limit),
            NormalizeStep::Replace(matcher, content) => text.replace(matcher, content, limit),
            NormalizeStep::SentencePiece(rule) => {
                text.rewrite(|text, places| rule.normalized(text, places, continues, limit))
            }
            _ if self.leaves(text.text()) => Ok(()),
            NormalizeStep::StripAccents => text.filter(|c| !forms::char::is_combining_mark(c), limit),
            NormalizeStep::StripNonspacing => text.filter(|c| !is_accent(c), limit),
            NormalizeStep::Nmt => {
                text.filter(|c| !is_control(c), limit)?;
                text.map(|c| if is_rare_space(c) { ' ' } else { c }, limit)
            }
            NormalizeStep::Lowercase if text.is_plain_ascii() => {
                text.map_ascii(|byte| Some(byte.to_ascii_lowercase()));
                Ok(())
            }
            NormalizeStep::CleanText if text.is_plain_ascii() => {
                text.map_ascii(|byte| match byte {
                    b'\t' | b'\n' | b'\r' => Some(b' '),
                    _ => (b' '..=b'~').contains(&byte).then_some(byte),
                });
                Ok(())
            }
            NormalizeStep::CleanText => {
                text.filter(|c| !is_removed(c), limit)?;
                text.map(|c| if c.is_whitespace() { ' ' } else { c }, limit)
            }
            _ => self.respell(text, limit),
        }
    }

    /// Applies a step that rewrites characters: the normalization forms, lower case, and the other spellings.
    fn respell(&self, text: &mut Aligned, limit: Limit) -> Result<()> {
        let old = text.take();
        match self {
            NormalizeStep::Lowercase if !text.is_tracked() => {
                text.put_back(lowercase(&old, limit)?);
                Ok(())
            }
            NormalizeStep::Nfc if !text.is_tracked() => {
                text.put_back(nfc::composed(&old, limit)?);
                Ok(())
            }
            NormalizeStep::Nfc => text.transform(&old, old.nfc(), 0, limit),
            NormalizeStep::Nfd => text.transform(&old, old.nfd(), 0, limit),
            NormalizeStep::Nfkc => text.transform(&old, old.nfkc(), 0, limit),
            NormalizeStep::Nfkd => text.transform(&old, old.nfkd(), 0, limit),
            NormalizeStep::SpaceIdeographs => {
                let spaced = |c: char| match is_ideograph(c) {
                    true => [Some((' ', 0)), Some((c, 1)), Some((' ', 1))],
                    false => [Some((c, 0)), None, None],
                };
                text.transform(&old, old.chars().flat_map(spaced).flatten(), 0, limit)
            }
            NormalizeStep::SpellBytes => {
                let spelled = old.bytes().map(|byte| (spell(byte), isize::from(byte & 0xC0 == 0x80)));
                text.transform(&old, spelled, 0, limit)
            }
            _ => {
                let lower = |c: char| c.to_lowercase().enumerate().map(|(i, c)| (c, isize::from(i > 0)));
                text.transform(&old, old.chars().flat_map(lower), 0, limit)
            }
        }
    }

    /// The name of the step in a `tokenizer.json`.
    pub fn name(&self) -> &'static str {
        match self {
            NormalizeStep::Nfc => "NFC",
            NormalizeStep::Nfd => "NFD",
            NormalizeStep::Nfkc => "NFKC",
            NormalizeStep::Nfkd => "NFKD",
            NormalizeStep::Lowercase => "Lowercase",
            NormalizeStep::StripAccents => "StripAccents",
            NormalizeStep::Nmt => "Nmt",
            NormalizeStep::CleanText | NormalizeStep::SpaceIdeographs | NormalizeStep::StripNonspacing => {
                "BertNormalizer"
            }
            NormalizeStep::SpellBytes => "ByteLevel",
            NormalizeStep::Strip { .. } => "Strip",
            NormalizeStep::Prepend(_) => "Prepend",
            NormalizeStep::Replace(..) => "Replace",
            NormalizeStep::SentencePiece(_) => "SentencePiece",
        }
    }

    /// [`Normalizer::leaves`] of one step. If a text is in a normalization form, or consists of characters
    /// that a step leaves, so does each part of it.
    fn leaves(&self, text: &str) -> bool {
        match self {
            NormalizeStep::Nfc => is_nfc(text),
            NormalizeStep::Nfd => text.is_ascii() || forms::is_nfd(text),
            NormalizeStep::Nfkc => text.is_ascii() || forms::is_nfkc(text),
            NormalizeStep::Nfkd => text.is_ascii() || forms::is_nfkd(text),
            NormalizeStep::Lowercase => text
                .chars()
                .all(|c| if c.is_ascii() { !c.is_ascii_uppercase() } else { c.to_lowercase().eq([c]) }),
            NormalizeStep::StripAccents => {
                text.is_ascii() || !text.chars().any(forms::char::is_combining_mark)
            }
            NormalizeStep::Nmt => !text.chars().any(|c| is_control(c) || c != ' ' && is_rare_space(c)),
            NormalizeStep::CleanText => text.chars().all(is_clean),
            NormalizeStep::SpaceIdeographs => text.is_ascii() || !text.chars().any(is_ideograph),
            NormalizeStep::StripNonspacing => text.is_ascii() || !text.chars().any(is_accent),
            NormalizeStep::SpellBytes => text.bytes().all(|byte| byte.is_ascii_graphic()),
            NormalizeStep::Replace(Matcher::Literal(old), _) => {
                memchr::memmem::find(text.as_bytes(), old).is_none()
            }
            NormalizeStep::Strip { .. }
            | NormalizeStep::Prepend(_)
            | NormalizeStep::Replace(..)
            | NormalizeStep::SentencePiece(_) => text.is_empty(),
        }
    }
}

/// The lower-case form of each character, which does not depend on the characters around it.
fn lowercase(text: &str, limit: Limit) -> Result<String> {
    let mut lower = String::new();
    room::reserve_text(&mut lower, text.len())?;
    for character in text.chars() {
        match character.is_ascii() {
            true => limit.push_char(&mut lower, character.to_ascii_lowercase())?,
            false => character.to_lowercase().try_for_each(|lowered| limit.push_char(&mut lower, lowered))?,
        }
    }
    Ok(lower)
}

/// Whether [`NormalizeStep::Nmt`] removes a character.
fn is_control(character: char) -> bool {
    matches!(u32::from(character), 1..=8 | 0x0B | 0x0E..=0x1F | 0x7F | 0x8F | 0x9F)
}

/// Whether [`NormalizeStep::Nmt`] replaces a character by a space.
fn is_rare_space(character: char) -> bool {
    matches!(
        u32::from(character),
        0x09 | 0x0A | 0x0C | 0x0D | 0x1680 | 0x200B..=0x200F | 0x2028 | 0x2029 | 0x2581 | 0xFEFF | 0xFFFD
    )
}

// The kinds of characters that `BertNormalizer` distinguishes, by the tables of `unicode_categories`.

/// Whether cleaning removes a character: U+FFFD, and control, format and private-use characters, except for
/// tabs and newlines.
fn is_removed(character: char) -> bool {
    match character {
        ' '..='~' | '\t' | '\n' | '\r' => false,
        '\u{fffd}' => true,
        _ => character.is_other(),
    }
}

/// Whether cleaning keeps a character as it is.
fn is_clean(character: char) -> bool {
    matches!(character, ' '..='~') || !(is_removed(character) || character.is_whitespace())
}

/// Whether a character is removed as an accent: a nonspacing mark.
fn is_accent(character: char) -> bool {
    !character.is_ascii() && character.is_mark_nonspacing()
}

/// Whether a character gets spaces around it: those of the CJK blocks that BERT's release knows.
fn is_ideograph(character: char) -> bool {
    matches!(
        u32::from(character),
        0x3400..=0x4DBF
            | 0x4E00..=0x9FFF
            | 0xF900..=0xFAFF
            | 0x20000..=0x2A6DF
            | 0x2A700..=0x2B81F
            | 0x2B920..=0x2CEAF
            | 0x2F800..=0x2FA1F
    )
}
