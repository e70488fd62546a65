//! Decoders that work on the spelled tokens of ids. A whole text and a stream run the same steps.

use super::stages::{Part, Stage, StageState};
use crate::error::Result;

/// The stages of a decoder, one after the other.
#[derive(Clone)]
pub struct Decoder {
    stages: Vec<Stage>,
}

/// The state of a [`Decoder`] between two tokens.
#[derive(Clone, Debug, Default)]
pub struct DecoderState {
    /// The state of each stage.
    pub stages: Vec<StageState>,
}

impl Decoder {
    /// A decoder of some stages. The text of a file without a decoder is that of [`Stage::Spaced`].
    pub fn new(stages: Vec<Stage>) -> Self {
        Decoder { stages }
    }

    /// The stages.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The text of tokens.
    ///
    /// # Errors
    /// Errors of a pattern; [`crate::Error::OutOfMemory`].
    pub fn decode<'t>(&self, tokens: impl Iterator<Item = &'t str>) -> Result<String> {
        let (mut state, mut text) = (DecoderState::default(), String::new());
        for token in tokens {
            self.push(&mut state, token, &mut text)?;
        }
        self.finish(&mut state, &mut text)?;
        Ok(text)
    }

    /// Adds a token; appends the text that no later token can change.
    ///
    /// # Errors
    /// Same as [`Decoder::decode`].
    pub fn push(&self, state: &mut DecoderState, token: &str, text: &mut String) -> Result<()> {
        state.stages.resize_with(self.stages.len(), StageState::default);
        feed(&self.stages, &mut state.stages, Part { text: token, starts: true, ends: true }, text)
    }

    /// Ends the text; appends the rest of it. The state is that of a new text afterwards.
    ///
    /// # Errors
    /// Same as [`Decoder::decode`].
    pub fn finish(&self, state: &mut DecoderState, text: &mut String) -> Result<()> {
        state.stages.resize_with(self.stages.len(), StageState::default);
        for at in 0..self.stages.len() {
            let (stages, states) = (&self.stages[at..], &mut state.stages[at..]);
            let Some(((stage, behind), (own, states))) = stages.split_first().zip(states.split_first_mut())
            else {
                break;
            };
            stage.finish(own, &mut |part| feed(behind, states, part, text))?;
        }
        *state = DecoderState::default();
        Ok(())
    }
}

/// Hands a part of a token through stages; appends what comes out of the last one.
fn feed(stages: &[Stage], states: &mut [StageState], part: Part<'_>, text: &mut String) -> Result<()> {
    match stages.split_first().zip(states.split_first_mut()) {
        Some(((stage, behind), (own, states))) => {
            stage.push(own, part, &mut |part| feed(behind, states, part, text))
        }
        None => crate::room::push_text(text, part.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::Matcher;

    fn decoded(stages: &[Stage], tokens: &[&str]) -> String {
        let decoder = Decoder::new(stages.to_vec());
        let whole = decoder.decode(tokens.iter().copied()).unwrap();
        let (mut state, mut pieces) = (DecoderState::default(), Vec::new());
        for token in tokens {
            let mut piece = String::new();
            decoder.push(&mut state, token, &mut piece).unwrap();
            pieces.push(piece);
        }
        let mut last = String::new();
        decoder.finish(&mut state, &mut last).unwrap();
        assert_eq!(pieces.concat() + &last, whole);
        whole
    }

    fn replace(old: &str, new: &str) -> Stage {
        Stage::Replace(Matcher::Literal(old.as_bytes().to_vec()), new.to_owned())
    }

    #[test]
    fn bytes_that_are_no_text_become_one_replacement_character_each() {
        let stages = [replace("\u{2581}", " "), Stage::ByteFallback, Stage::Fuse];
        assert_eq!(decoded(&stages, &["\u{2581}a", "<0xE6>", "<0xBC>", "<0xA2>", "b"]), " a漢b");
        assert_eq!(decoded(&stages, &["<0xE6>", "<0xBC>", "a", "<0x41>"]), "\u{fffd}\u{fffd}aA");
        assert_eq!(decoded(&stages, &["<0x+A>", "<0x4>", "<0xzz>"]), "\n<0x4><0xzz>");
    }

    #[test]
    fn the_first_token_loses_its_space() {
        let metaspace = Stage::Metaspace { replacement: '\u{2581}', is_prefixed: true };
        assert_eq!(decoded(&[Stage::ByteFallback, metaspace], &["\u{2581}a", "\u{2581}a"]), "a a");
        let strip = Stage::Strip { character: ' ', start: 1, stop: 2 };
        assert_eq!(decoded(&[Stage::Fuse, strip.clone()], &["  a ", " ", "  b ", " ", " "]), " a    b ");
        assert_eq!(decoded(&[strip], &["  a ", " ", "b   "]), " ab ");
    }

    #[test]
    fn text_behind_fuse_is_replaced_across_tokens() {
        assert_eq!(decoded(&[Stage::Fuse, replace("aab", "x")], &["aa", "a", "b", "aab", "a"]), "axxa");
    }

    #[test]
    fn stages_of_whole_tokens() {
        let suffix = Stage::Suffix("</w>".to_owned());
        assert_eq!(decoded(&[suffix], &["ab</w>", "c", "d</w>"]), "ab cd");
        let pieces = Stage::WordPiece { prefix: "##".to_owned(), cleanup: true };
        assert_eq!(decoded(&[pieces], &["a", "##b", "do", "not", "."]), "ab do not.");
        let ctc = Stage::Ctc { pad: "<p>".to_owned(), delimiter: "|".to_owned(), cleanup: true };
        assert_eq!(decoded(&[ctc], &["h", "h", "<p>", "h", "|", "a"]), "hh a");
        assert_eq!(decoded(&[Stage::Spaced], &["a", "b", ""]), "a b ");
        assert_eq!(decoded(&[Stage::ByteLevel], &["Ġæ", "¼", "¢", "漢", "ÿ"]), " 漢漢\u{fffd}");
    }
}
