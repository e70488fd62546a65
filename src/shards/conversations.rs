//! A record becomes a document: a conversation that a chat template has laid out, or a prompt with its
//! completion.

use super::records::{ReadRecord, RecordOptions};
use super::special_ids::SpecialIds;
use super::training::{Conversation, Training};
use crate::chat::Borders;
use crate::control::Control;
use crate::encode::{Encoder, MarkedText, Spans, SpecialTokens, touching};
use crate::error::{Error, Result};
use crate::room;

/// What the caller makes of a record.
pub enum Record {
    /// A conversation: its text, the mark of each character, and what else is known of it.
    Conversation {
        /// The text.
        text: String,
        /// The [`Mark`](crate::encode::Mark) of each character.
        marks: Vec<u8>,
        /// As in [`Conversation`].
        has_generation: bool,
        /// As in [`Conversation`].
        needs_own: bool,
        /// Whether it has tools, which may choose another template.
        has_tools: bool,
        /// Whether what is appended ends a turn that is trained on.
        trains_end: bool,
    },
    /// A prompt and its completion.
    Pair(String, String),
}

/// Reads a record, a JSON object, by a function of Python; or says what is wrong with it. Worker threads call
/// it.
pub type ReadByPython = Box<dyn Fn(&[u8]) -> Result<std::result::Result<Record, String>> + Send + Sync>;

/// Reads records.
pub struct RecordReader {
    /// What is read without Python.
    pub options: RecordOptions,
    /// Reads all others.
    pub python: ReadByPython,
}

/// The ids of a record, and for each whether a model is trained on it.
pub(super) struct EncodedRecord {
    pub(super) ids: Vec<u32>,
    pub(super) mask: Vec<bool>,
    /// Bytes of its text.
    pub(super) text_bytes: u64,
    /// Ids of special tokens that stood in it.
    pub(super) special_tokens: u64,
    /// Whether a model is trained on what is appended.
    pub(super) trains_end: bool,
}

/// Encodes records.
pub(super) struct Conversations<'a> {
    pub(super) encoder: &'a Encoder,
    pub(super) read: &'a RecordReader,
    pub(super) training: &'a Training,
    /// Whether names of special tokens in a prompt or a completion become their ids.
    pub(super) special: bool,
    pub(super) special_ids: &'a SpecialIds,
}

impl Conversations<'_> {
    /// The ids and the mask of a record, or what is wrong with it.
    pub(super) fn encode(
        &self,
        record: &[u8],
        control: &Control,
    ) -> Result<std::result::Result<EncodedRecord, String>> {
        let encoded = match self.read.options.read(record) {
            Some(ReadRecord::Pair(prompt, completion)) => self.pair(&prompt, &completion, control).map(Ok),
            Some(ReadRecord::Conversation { laid_out, has_generation, needs_own, has_tools, trains_end }) => {
                let (text, runs) = laid_out;
                let conversation = Conversation {
                    marked: MarkedText { text: &text, runs },
                    has_generation,
                    needs_own,
                    borders: self.borders(has_tools),
                };
                self.conversation(&conversation, trains_end, control)
            }
            None => self.by_python(record, control),
        };
        match encoded {
            Err(Error::Invalid(reason)) => Ok(Err(reason)),
            encoded => encoded,
        }
    }

    fn borders(&self, has_tools: bool) -> &Borders {
        &self.read.options.borders[usize::from(has_tools)]
    }

    fn by_python(
        &self,
        record: &[u8],
        control: &Control,
    ) -> Result<std::result::Result<EncodedRecord, String>> {
        match (self.read.python)(record)? {
            Err(reason) => Ok(Err(reason)),
            Ok(Record::Pair(prompt, completion)) => self.pair(&prompt, &completion, control).map(Ok),
            Ok(Record::Conversation { text, marks, trains_end, has_generation, needs_own, has_tools }) => {
                let (marked, borders) = (MarkedText::new(&text, &marks)?, self.borders(has_tools));
                let conversation = Conversation { marked, has_generation, needs_own, borders };
                self.conversation(&conversation, trains_end, control)
            }
        }
    }

    /// A completion is trained on, with a token that has bytes of both.
    fn pair(&self, prompt: &str, completion: &str, control: &Control) -> Result<EncodedRecord> {
        let text = [prompt, completion].concat();
        let mut tokens = Spans::default();
        self.encoder.encode(text.as_bytes(), SpecialTokens::from(self.special), &mut tokens, control)?;
        let start = if self.training.all { 0 } else { prompt.len() };
        let mask = touching(&tokens.spans, std::iter::once(start..text.len()));
        let (text_bytes, trains_end) = (text.len() as u64, self.training.all || self.training.end_of_turn);
        let special_tokens = self.special_ids.count(&tokens.ids);
        Ok(EncodedRecord { ids: tokens.ids, mask, text_bytes, special_tokens, trains_end })
    }

    fn conversation(
        &self,
        conversation: &Conversation<'_>,
        trains_end: bool,
        control: &Control,
    ) -> Result<std::result::Result<EncodedRecord, String>> {
        let mut tokens = Spans::default();
        self.encoder.encode_marked(&conversation.marked, &mut tokens, control)?;
        let special = tokens.ids.iter().zip(&tokens.spans).filter(|(id, _)| self.special_ids.contains(**id));
        let special = room::collected(special.map(|(id, span)| (span.clone(), *id)))?;
        let ranges = match self.training.all {
            true => std::iter::once(0..conversation.marked.text.len()).collect(),
            false => match self.training.ranges(conversation, &special) {
                Ok(ranges) => ranges,
                Err(reason) => return Ok(Err(reason)),
            },
        };
        let (mask, text_bytes) = (touching(&tokens.spans, ranges), conversation.marked.text.len() as u64);
        Ok(Ok(EncodedRecord { ids: tokens.ids, mask, text_bytes, special_tokens: 0, trains_end }))
    }
}
