//! Decoders that work on the spelled tokens of ids. A whole text and a stream run the same steps.

use serde::{Deserialize, Serialize};

use super::stages::{DecodeStage, StageState, TokenPart};
use crate::error::{Error, Result};
use crate::normalize::max_bytes_of;
use crate::room;

/// The stages of a decoder, one after the other. The text of a file without a decoder is that of
/// [`DecodeStage::Spaced`].
#[derive(Clone)]
pub struct Decoder {
    /// The stages.
    pub stages: Vec<DecodeStage>,
}

/// The state of a [`Decoder`] between two tokens.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DecoderState {
    /// The state of each stage.
    pub stages: Vec<StageState>,
    /// Text that waits in the stages and was shown before. It is not passed on again.
    pub shown: String,
    /// How much has gone through the stages.
    pub flow: Flow,
}

/// How much more all stages may make of tokens than one step of a normalizer may make of a text.
const GROWTH_FACTOR: usize = 16;

/// The bytes of a text's tokens, and of all texts that stages have passed on.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Flow {
    /// Bytes of tokens, and the number of tokens.
    pub taken: usize,
    /// Bytes that the stages have passed on, all together.
    pub made: usize,
}

impl Flow {
    /// Counts a text that a stage passes on: a few replacements, one after the other, could make petabytes.
    fn count(&mut self, bytes: usize) -> Result<()> {
        self.made = self.made.saturating_add(bytes);
        let max_bytes = max_bytes_of(self.taken.saturating_mul(GROWTH_FACTOR));
        if self.made <= max_bytes {
            return Ok(());
        }
        let taken = self.taken;
        Err(Error::Invalid(format!(
            "the decoder makes more than {max_bytes} bytes from tokens of {taken} bytes"
        )))
    }
}

impl DecoderState {
    /// Leaves out of a text what was shown before, from `start` on.
    fn leave_out_shown(&mut self, text: &mut String, start: usize) {
        let new = &text[start..];
        if new.starts_with(&self.shown) {
            text.drain(start..start + self.shown.len());
            self.shown.clear();
        } else if self.shown.starts_with(new) {
            self.shown.drain(..new.len());
            text.truncate(start);
        } else {
            self.shown.clear(); // later tokens have changed it
        }
    }
}

impl Decoder {
    /// The text of tokens.
    pub fn decode<'t>(&self, tokens: impl Iterator<Item = &'t str>) -> Result<String> {
        let (mut state, mut text) = (DecoderState::default(), String::new());
        for token in tokens {
            self.push(&mut state, token, &mut text)?;
        }
        self.finish(&mut state, &mut text)?;
        Ok(text)
    }

    /// Adds a token; appends the text that no later token can change.
    pub fn push(&self, state: &mut DecoderState, token: &str, text: &mut String) -> Result<()> {
        let start = text.len();
        state.stages.resize_with(self.stages.len(), StageState::default);
        state.flow.taken = state.flow.taken.saturating_add(1 + token.len());
        let part = TokenPart { text: token, starts: true, ends: true };
        feed(&self.stages, &mut state.stages, part, &mut Output { text, flow: &mut state.flow })?;
        state.leave_out_shown(text, start);
        Ok(())
    }

    /// Regards all text so far as shown, but for a character that is unfinished.
    pub fn mark_shown(&self, state: &mut DecoderState) -> Result<()> {
        let mut ended = state.clone();
        ended.shown.clear();
        for stage in &mut ended.stages {
            stage.bytes.truncate(stage.settled());
        }
        state.shown.clear();
        self.finish(&mut ended, &mut state.shown)
    }

    /// Ends the text; appends the rest of it. The state is that of a new text afterwards.
    pub fn finish(&self, state: &mut DecoderState, text: &mut String) -> Result<()> {
        let start = text.len();
        state.stages.resize_with(self.stages.len(), StageState::default);
        let mut output = Output { text, flow: &mut state.flow };
        for at in 0..self.stages.len() {
            let (stages, states) = (&self.stages[at..], &mut state.stages[at..]);
            let Some(((stage, behind), (own, states))) = stages.split_first().zip(states.split_first_mut())
            else {
                break;
            };
            stage.finish(own, &mut |part| feed(behind, states, part, &mut output))?;
        }
        state.leave_out_shown(text, start);
        *state = DecoderState::default();
        Ok(())
    }
}

/// What comes out of the last stage.
struct Output<'o> {
    text: &'o mut String,
    flow: &'o mut Flow,
}

/// Hands a part of a token through stages; appends what comes out of the last one.
fn feed(
    stages: &[DecodeStage],
    states: &mut [StageState],
    part: TokenPart<'_>,
    output: &mut Output<'_>,
) -> Result<()> {
    match stages.split_first().zip(states.split_first_mut()) {
        Some(((stage, behind), (own, states))) => stage.push(own, part, &mut |part| {
            output.flow.count(part.text.len())?;
            feed(behind, states, part, output)
        }),
        None => room::push_text(output.text, part.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::Matcher;

    #[test]
    fn text_does_not_grow_without_limit() {
        let quadrupled = DecodeStage::Replace(Matcher::Literal(b"a".to_vec()), "aaaa".into());
        let decoder = Decoder { stages: vec![quadrupled; 200] };
        let error = decoder.decode(["a"].into_iter()).unwrap_err().to_string();
        assert!(error.starts_with("the decoder makes more than"), "{error}");
    }
}
