//! Where a text can be cut so that both sides can be normalized alone.

use unicode_normalization_alignments::{self as forms, IsNormalized};

use super::{NormalizeStep, Normalizer};
use crate::pretokenize::Matcher;
use crate::pretokenize::class::char_start;
use crate::spelling::META;

impl Normalizer {
    /// Whether texts can be cut at all: no step looks at the ends of a text, or for a pattern of unknown
    /// length.
    pub(crate) fn can_cut(&self) -> bool {
        self.0.iter().all(|step| match step {
            NormalizeStep::Strip { .. } | NormalizeStep::SentencePiece(_) => false,
            NormalizeStep::Replace(matcher, _) => matches!(matcher, Matcher::Literal(_)),
            _ => true,
        })
    }

    /// Whether a text can be cut at byte `at`: normalizing both sides alone, the right one as a text that
    /// continues, gives the two parts of the normalized whole, and the steps leave the characters on both
    /// sides unchanged. So a cut of the text is a cut of the normalized text. May also return `false` for
    /// other places.
    ///
    /// A space may also become U+2581, if that stands for a space afterwards (`spaces_are_plain`).
    pub(crate) fn may_cut(&self, text: &[u8], at: usize, spaces_are_plain: bool) -> bool {
        let (Some(before), mut behind) = (last_character(&text[..at]), characters(&text[at..])) else {
            return false;
        };
        let (Some(here), next) = (behind.next(), behind.next()) else { return false };
        // Nothing composes with ASCII whitespace, so what follows it does not matter.
        let next = next.filter(|_| !here.is_ascii_whitespace());
        let mut here = here;
        for step in &self.0 {
            if spaces_are_plain && here == ' ' && step.is_of_spaces() {
                here = META;
            } else if !(step.keeps(before) && step.keeps(here) && next.is_none_or(|next| step.keeps(next))) {
                return false;
            }
        }
        !spaces_are_plain || (before != META && (here != META || text[at] == b' '))
    }
}

impl NormalizeStep {
    /// Whether this is the step that replaces each space by U+2581.
    pub(crate) fn is_of_spaces(&self) -> bool {
        matches!(self, NormalizeStep::Replace(Matcher::Literal(old), new) if old == b" " && new.chars().eq([META]))
    }

    /// Whether the step leaves a character unchanged whatever stands before it, and whatever starter stands
    /// after it.
    fn keeps(&self, character: char) -> bool {
        let characters = || std::iter::once(character);
        let is_stable = |quick: IsNormalized| {
            quick == IsNormalized::Yes
                && forms::is_nfc_quick(characters()) == IsNormalized::Yes
                && forms::char::canonical_combining_class(character) == 0
        };
        match self {
            NormalizeStep::Nfc => is_stable(IsNormalized::Yes),
            NormalizeStep::Nfd => is_stable(forms::is_nfd_quick(characters())),
            NormalizeStep::Nfkc => is_stable(forms::is_nfkc_quick(characters())),
            NormalizeStep::Nfkd => is_stable(forms::is_nfkd_quick(characters())),
            NormalizeStep::Prepend(_) => true,
            NormalizeStep::Replace(Matcher::Literal(old), _) => {
                std::str::from_utf8(old).is_ok_and(|old| !old.contains(character))
            }
            _ => self.leaves(character.encode_utf8(&mut [0; 4])),
        }
    }
}

/// The first characters of a text; none from the first invalid byte on.
fn characters(text: &[u8]) -> impl Iterator<Item = char> + '_ {
    // Two characters have at most eight bytes; the ninth may break one that is not asked for.
    let first = text[..text.len().min(9)].utf8_chunks().next();
    first.map_or("", |chunk| chunk.valid()).chars()
}

/// The last character of a text; `None` if it is not valid.
fn last_character(text: &[u8]) -> Option<char> {
    std::str::from_utf8(&text[char_start(text, text.len())..]).ok()?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::super::Aligned;
    use super::*;

    fn normalized(normalizer: &Normalizer, text: &str) -> String {
        let mut aligned = Aligned::plain(text).unwrap();
        assert!(normalizer.apply_to(&mut aligned, true, usize::MAX).is_ok());
        aligned.into_parts().0
    }

    #[test]
    fn both_sides_of_a_cut_are_normalized_alone() {
        let steps = [
            vec![NormalizeStep::Nfc],
            vec![NormalizeStep::Nfkd, NormalizeStep::StripAccents],
            vec![NormalizeStep::Nmt],
            vec![NormalizeStep::CleanText, NormalizeStep::SpaceIdeographs],
            vec![NormalizeStep::Nfd, NormalizeStep::StripNonspacing, NormalizeStep::Lowercase],
            vec![NormalizeStep::SpellBytes],
            vec![NormalizeStep::SpaceIdeographs, NormalizeStep::SpellBytes],
        ];
        let letters = ['a', 'A', ' ', '\n', '\u{7f}', '中', 'é', '\u{301}', '\u{3000}', 'か', '\u{3099}'];
        for normalizer in steps.map(Normalizer) {
            let mut cuts = 0;
            for number in 0..letters.len().pow(4) {
                let letter = |place| letters[number / letters.len().pow(place) % letters.len()];
                let text: String = (0..4).map(letter).collect();
                for (at, _) in text.char_indices().skip(1) {
                    if normalizer.may_cut(text.as_bytes(), at, false) {
                        let (left, right) = text.split_at(at);
                        let parts = [left, right].map(|part| normalized(&normalizer, part)).concat();
                        assert_eq!(parts, normalized(&normalizer, &text), "{text:?} at {at}");
                        cuts += 1;
                    }
                }
            }
            assert!(cuts > 100);
        }
    }
}
