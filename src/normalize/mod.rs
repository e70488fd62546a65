//! Changes of a text before it is pretokenized: Unicode's normalization forms and what else Hugging Face's files ask for.
//!
//! The forms are those of the crate that Hugging Face's tokenizers use, whose tables are of Unicode 9: its results, also
//! where a newer version has other ones.

mod aligned;
mod limit;

use unicode_normalization_alignments::{self as forms, UnicodeNormalization};

pub use aligned::Aligned;
pub use limit::most_bytes;

use limit::Limit;

use crate::error::Result;
use crate::pretokenize::Matcher;

/// One change.
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
    /// Each character's own lower case.
    Lowercase,
    /// Combining marks go.
    StripAccents,
    /// Controls go, and rare spaces become spaces.
    Nmt,
    /// Whitespace at the ends goes.
    Strip {
        /// At the beginning.
        left: bool,
        /// At the end.
        right: bool,
    },
    /// A text before the first character.
    Prepend(String),
    /// Each match, none of them empty, becomes a text.
    Replace(Matcher, String),
}

/// Changes, one after the other.
#[derive(Clone, Default)]
pub struct Normalizer(pub Vec<NormalizeStep>);

impl Normalizer {
    /// Changes a text, which has at most `most` bytes after each step.
    ///
    /// # Errors
    /// [`Error::NormalizedTooLong`](crate::error::Error) before a step makes more; what a pattern fails with.
    pub fn apply(&self, text: &mut Aligned, most: usize) -> Result<()> {
        let bytes = text.text().len();
        self.0
            .iter()
            .enumerate()
            .try_for_each(|(i, step)| step.apply(text, Limit { step: i, name: step.name(), bytes, most }))
    }

    /// Whether the text, and each stretch of it alone, stays as it is. May say no where it does.
    ///
    /// Cost: for a text that is ASCII and has no capitals, next to nothing; else one look at each character.
    ///
    /// # Errors
    /// What a pattern fails with.
    pub fn leaves(&self, text: &str) -> Result<bool> {
        for step in &self.0 {
            if !step.leaves(text)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl NormalizeStep {
    fn apply(&self, text: &mut Aligned, limit: Limit) -> Result<()> {
        match self {
            NormalizeStep::Nfc
            | NormalizeStep::Nfd
            | NormalizeStep::Nfkc
            | NormalizeStep::Nfkd
            | NormalizeStep::Lowercase => self.respell(text, limit),
            NormalizeStep::StripAccents => text.filter(|c| !forms::char::is_combining_mark(c), limit),
            NormalizeStep::Nmt => {
                text.filter(|c| !is_control(c), limit)?;
                text.map(|c| if is_rare_space(c) { ' ' } else { c }, limit)
            }
            NormalizeStep::Strip { left, right } => text.strip(*left, *right, limit),
            NormalizeStep::Prepend(before) => text.prepend(before, limit),
            NormalizeStep::Replace(matcher, content) => text.replace(matcher, content, limit),
        }
    }

    /// The steps that write each character in another way.
    fn respell(&self, text: &mut Aligned, limit: Limit) -> Result<()> {
        let old = text.take();
        match self {
            NormalizeStep::Nfc => text.transform(&old, old.nfc(), 0, limit),
            NormalizeStep::Nfd => text.transform(&old, old.nfd(), 0, limit),
            NormalizeStep::Nfkc => text.transform(&old, old.nfkc(), 0, limit),
            NormalizeStep::Nfkd => text.transform(&old, old.nfkd(), 0, limit),
            _ => {
                let lower = |c: char| c.to_lowercase().enumerate().map(|(i, c)| (c, isize::from(i > 0)));
                text.transform(&old, old.chars().flat_map(lower), 0, limit)
            }
        }
    }

    fn name(&self) -> &'static str {
        match self {
            NormalizeStep::Nfc => "NFC",
            NormalizeStep::Nfd => "NFD",
            NormalizeStep::Nfkc => "NFKC",
            NormalizeStep::Nfkd => "NFKD",
            NormalizeStep::Lowercase => "Lowercase",
            NormalizeStep::StripAccents => "StripAccents",
            NormalizeStep::Nmt => "Nmt",
            NormalizeStep::Strip { .. } => "Strip",
            NormalizeStep::Prepend(_) => "Prepend",
            NormalizeStep::Replace(..) => "Replace",
        }
    }

    /// As [`Normalizer::leaves`]. The forms, and what looks at one character, hold for each part of what they hold for.
    fn leaves(&self, text: &str) -> Result<bool> {
        Ok(match self {
            NormalizeStep::Nfc => is_nfc(text),
            NormalizeStep::Nfd => text.is_ascii() || forms::is_nfd(text),
            NormalizeStep::Nfkc => text.is_ascii() || forms::is_nfkc(text),
            NormalizeStep::Nfkd => text.is_ascii() || forms::is_nfkd(text),
            NormalizeStep::Lowercase => text.chars().all(|c| c.to_lowercase().eq([c])),
            NormalizeStep::StripAccents => {
                text.is_ascii() || !text.chars().any(forms::char::is_combining_mark)
            }
            NormalizeStep::Nmt => !text.chars().any(|c| is_control(c) || c != ' ' && is_rare_space(c)),
            NormalizeStep::Replace(matcher @ Matcher::Literal(_), _) => {
                let mut found = false;
                matcher.find(text.as_bytes(), &mut |_| {
                    found = true;
                    Ok(())
                })?;
                !found
            }
            NormalizeStep::Strip { .. } | NormalizeStep::Prepend(_) | NormalizeStep::Replace(..) => {
                text.is_empty()
            }
        })
    }
}

/// Whether a text is in NFC, as [`forms::is_nfc`] says, without its tables for the characters of most texts.
fn is_nfc(text: &str) -> bool {
    let (mut last, mut is_sure) = (0, true);
    for character in text.chars() {
        if is_inert(character) {
            last = 0;
            continue;
        }
        let class = forms::char::canonical_combining_class(character);
        if class != 0 && last > class {
            return false;
        }
        match forms::is_nfc_quick(std::iter::once(character)) {
            forms::IsNormalized::Yes => (),
            forms::IsNormalized::No => return false,
            forms::IsNormalized::Maybe => is_sure = false,
        }
        last = class;
    }
    is_sure || text.chars().eq(text.nfc().map(|(character, _)| character))
}

/// Whether a character is in one of the large ranges that composition leaves alone: Latin, Greek's and Cyrillic's
/// letters without marks, Chinese characters, Hangul's syllables.
fn is_inert(character: char) -> bool {
    matches!(
        character,
        '\0'..'\u{300}' | '\u{400}'..'\u{483}' | '\u{3400}'..'\u{A000}' | '\u{AC00}'..'\u{D7A4}'
    )
}

/// Whether `Nmt` removes a character.
fn is_control(character: char) -> bool {
    matches!(u32::from(character), 1..=8 | 0x0B | 0x0E..=0x1F | 0x7F | 0x8F | 0x9F)
}

/// Whether `Nmt` replaces a character by a space.
fn is_rare_space(character: char) -> bool {
    matches!(
        u32::from(character),
        0x09 | 0x0A | 0x0C | 0x0D | 0x1680 | 0x200B..=0x200F | 0x2028 | 0x2029 | 0x2581 | 0xFEFF | 0xFFFD
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_front_changes_nothing() {
        let normalizer = Normalizer(vec![NormalizeStep::Prepend(String::new()), NormalizeStep::Nfkd]);
        for text in ["#", "é"] {
            let (mut plain, mut tracked) = (Aligned::plain(text).unwrap(), Aligned::tracked(text).unwrap());
            assert!(normalizer.apply(&mut plain, usize::MAX).is_ok());
            assert!(normalizer.apply(&mut tracked, usize::MAX).is_ok());
            assert_eq!(plain.text(), tracked.text());
            assert_eq!(tracked.into_parts().1[0], (0, text.len() as u32));
        }
    }

    #[test]
    fn what_is_inert_is_of_no_combining_class_and_stays() {
        for character in ('\0'..=char::MAX).filter(|&character| is_inert(character)) {
            assert_eq!(forms::char::canonical_combining_class(character), 0, "{character:?}");
            let quick = forms::is_nfc_quick(std::iter::once(character));
            assert_eq!(quick, forms::IsNormalized::Yes, "{character:?}");
        }
    }
}
