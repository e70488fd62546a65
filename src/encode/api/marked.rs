//! Text with marks of who wrote it: a conversation that a chat template has laid out.

use std::ops::Range;

use crate::control::Control;
use crate::encode::encoder::{Encoder, Request};
use crate::encode::output::Sink;
use crate::encode::special_set::SpecialTokens;
use crate::error::{Error, Result};
use crate::pipeline::Trust;
use crate::room;

/// Who wrote a character: some of the bits of [`marks`].
pub type Mark = u8;

/// The bits of a [`Mark`].
pub mod marks {
    /// The template: special tokens may be made of it.
    pub const TRUSTED: u8 = 1;
    /// A message of the assistant.
    pub const ASSISTANT: u8 = 2;
    /// It is inside a block `{% generation %}`.
    pub const GENERATED: u8 = 4;
    /// Its origin is lost: the template made new text of others.
    pub const UNKNOWN: u8 = 8;
    /// The reasoning of a message.
    pub const THINKING: u8 = 16;
    /// The tool calls of a message.
    pub const TOOL_CALL: u8 = 32;
    /// The number of the message among those of the assistant, modulo four: two bits.
    pub const TURN: u8 = 64 | 128;
    /// The lower of the two.
    pub const TURN_UNIT: u8 = 64;

    /// All bits with their names.
    pub const NAMES: [(&str, u8); 7] = [
        ("TRUSTED", TRUSTED),
        ("ASSISTANT", ASSISTANT),
        ("GENERATED", GENERATED),
        ("UNKNOWN", UNKNOWN),
        ("THINKING", THINKING),
        ("TOOL_CALL", TOOL_CALL),
        ("TURN_UNIT", TURN_UNIT),
    ];
}

/// A text whose characters are marked.
pub struct MarkedText<'t> {
    /// The text.
    pub text: &'t str,
    /// Ranges of bytes with one mark.
    pub runs: Vec<(Range<usize>, Mark)>,
}

impl<'t> MarkedText<'t> {
    /// A text with the mark of each character.
    ///
    /// # Errors
    /// There are not as many marks as characters; memory.
    pub fn new(text: &'t str, marks: &[Mark]) -> Result<Self> {
        let (is_ascii, mut runs) = (text.is_ascii(), Vec::new());
        let mut ends = text.char_indices().map(|(at, _)| at).skip(1);
        let mut start = 0;
        for run in marks.chunk_by(|left, right| left == right) {
            let end = match is_ascii {
                true => start + run.len(),
                false => ends.nth(run.len() - 1).unwrap_or(text.len()),
            };
            room::push(&mut runs, (start..end, run[0]))?;
            start = end;
        }
        if start != text.len() {
            return Err(Error::Invalid("a text has not as many marks as characters".to_owned()));
        }
        Ok(MarkedText { text, runs })
    }

    /// The ranges whose marks have one of these bits.
    pub fn ranges(&self, bits: Mark) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (range, _) in self.runs.iter().filter(|(_, mark)| mark & bits != 0) {
            match ranges.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => ranges.push(range.clone()),
            }
        }
        ranges
    }
}

impl Encoder {
    /// Encodes a marked text into `sink`: special tokens are those that lie in what the template wrote.
    ///
    /// # Errors
    /// A special token lies in text of which nobody can tell who wrote it.
    pub fn encode_marked(
        &self,
        marked: &MarkedText<'_>,
        sink: &mut dyn Sink,
        control: &Control,
    ) -> Result<()> {
        let (text, trusted) = (marked.text.as_bytes(), marked.ranges(marks::TRUSTED));
        let ids = |bits| {
            let mut ids = Vec::new();
            self.encode_trusting(text, &marked.ranges(bits), &mut ids, control).map(|()| ids)
        };
        let is_lost = marked.runs.iter().any(|(_, mark)| mark & marks::UNKNOWN != 0);
        if is_lost && ids(marks::TRUSTED)? != ids(marks::TRUSTED | marks::UNKNOWN)? {
            let reason = "the chat template rewrites text that has special tokens in it, so that nobody can tell \
                          whether the template or a message wrote them: encode the result of apply_chat_template \
                          if you trust all messages";
            return Err(Error::Invalid(reason.to_owned()));
        }
        self.encode_trusting(text, &trusted, sink, control)
    }

    /// Encodes a text, with special tokens only where one lies entirely inside one of these ranges.
    /// Everything else is ordinary text, and is pretokenized and merged as the one text.
    fn encode_trusting(
        &self,
        text: &[u8],
        trusted: &[Range<usize>],
        sink: &mut dyn Sink,
        control: &Control,
    ) -> Result<()> {
        if self.pipeline.is_some() {
            let mut specials = self.active(SpecialTokens::from(!trusted.is_empty()));
            specials.trust = match trusted {
                [] => Trust::None,
                [all] if *all == (0..text.len()) => Trust::All,
                ranges => Trust::Inside(ranges),
            };
            return self.answer(Request::alone(text, specials, true), sink, control);
        }
        let mut specials = Vec::new();
        for range in trusted {
            // Each range is searched alone, so that text beyond its end cannot make a match longer.
            let mut matches = self.vocab.specials().matches(&text[..range.end], range.start);
            while let Some(special) = matches.next(control)? {
                room::push(&mut specials, special)?;
            }
        }
        self.pool.with(self.isa, 0, |scratch| {
            let mut at = 0;
            for special in specials {
                self.encode_text(scratch, text, at..special.range.start, sink, control)?;
                at = special.range.end;
                sink.token(special.range, self.vocab.special_ids()[special.index])?;
            }
            self.encode_text(scratch, text, at..text.len(), sink, control)
        })
    }
}
