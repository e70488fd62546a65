//! A record becomes a document: a conversation that a chat template has laid out, or a prompt with its
//! completion.

use std::ops::Range;

use super::records::{Record, RecordOptions};
use super::special_ids::SpecialIds;
use super::training::{Conversation, Training};
use crate::control::Control;
use crate::encode::{Encoder, LocatedIds, MarkedText, SpecialTokens};
use crate::error::{Error, Result};
use crate::room;

/// Reads a record, a JSON object, by a function of Python. [`Error::Invalid`] says what is wrong with it.
/// Worker threads call it.
pub type ReadByPython = Box<dyn Fn(&[u8]) -> Result<Record> + Send + Sync>;

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
    pub(super) special_ids: SpecialIds,
}

impl Conversations<'_> {
    /// The ids and the mask of a record. [`Error::Invalid`] says what is wrong with it.
    pub(super) fn encode(&self, record: &[u8], control: &Control) -> Result<EncodedRecord> {
        let record = self.read.options.read(record).map_or_else(|| (self.read.python)(record), Ok)?;
        match record {
            Record::Pair(prompt, completion) => self.pair(&prompt, &completion, control),
            Record::Conversation { laid_out, has_generation, needs_own, has_tools, trains_end } => {
                let (text, runs) = laid_out;
                let (marked, borders) =
                    (MarkedText { text: &text, runs }, &self.read.options.borders[usize::from(has_tools)]);
                let conversation = Conversation { marked, has_generation, needs_own, borders };
                self.conversation(&conversation, trains_end, control)
            }
        }
    }

    /// A completion is trained on, with a token that has bytes of both.
    fn pair(&self, prompt: &str, completion: &str, control: &Control) -> Result<EncodedRecord> {
        let text = [prompt, completion].concat();
        let mut tokens = LocatedIds::for_text(text.len())?;
        self.encoder.encode(text.as_bytes(), SpecialTokens::from(self.special), &mut tokens, control)?;
        let start = if self.training.all { 0 } else { prompt.len() };
        let trains_end = self.training.all || self.training.end_of_turn;
        let special_tokens = self.special_ids.count(&tokens.ids);
        let trained = std::iter::once(start..text.len());
        self.record(tokens, text.len(), trained, (special_tokens, trains_end))
    }

    fn conversation(
        &self,
        conversation: &Conversation<'_>,
        trains_end: bool,
        control: &Control,
    ) -> Result<EncodedRecord> {
        let mut tokens = LocatedIds::for_text(conversation.marked.text.len())?;
        self.encoder.encode_marked(&conversation.marked, &mut tokens, control)?;
        let special = room::collected(tokens.alone().filter(|(_, id)| self.special_ids.contains(*id)))?;
        let bytes = conversation.marked.text.len();
        let ranges = match self.training.all {
            true => std::iter::once(0..bytes).collect(),
            false => self.training.ranges(conversation, &special).map_err(Error::Invalid)?,
        };
        self.record(tokens, bytes, ranges, (0, trains_end))
    }

    fn record(
        &self,
        tokens: LocatedIds,
        text_bytes: usize,
        trained: impl IntoIterator<Item = Range<usize>>,
        (special_tokens, trains_end): (u64, bool),
    ) -> Result<EncodedRecord> {
        let mask = tokens.touching(trained, text_bytes, self.encoder.vocab())?;
        let text_bytes = text_bytes as u64;
        Ok(EncodedRecord { ids: tokens.ids, mask, text_bytes, special_tokens, trains_end })
    }
}
