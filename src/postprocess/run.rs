//! Runs: some tokens of an encoding that have one source.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::Result;

/// The range of a token in its text, in characters.
pub type Span = (usize, usize);

/// What is known of the tokens of a text, besides their ids.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Columns {
    pub(crate) tokens: Vec<String>,
    /// The places of the tokens, in characters.
    pub(crate) spans: Vec<Span>,
    /// The numbers of the words that the tokens are in.
    pub(crate) words: Vec<Option<u32>>,
}

/// A text whose [`Columns`] are computed when they are first asked for.
pub trait TextColumns: Send + Sync {
    fn columns(&self) -> Result<&Columns>;
}

impl TextColumns for Columns {
    fn columns(&self) -> Result<&Columns> {
        Ok(self)
    }
}

/// Where the tokens of a run come from.
#[derive(Clone)]
pub enum RunSource {
    /// A text.
    Text(Arc<dyn TextColumns>),
    /// A template, which adds these tokens.
    Tokens(Arc<[String]>),
    /// The same token again and again: padding.
    Repeated(Arc<str>),
}

/// A change of the spans of a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum SpanEdit {
    /// Leaves whitespace at the ends of tokens out. `is_prefixed` says that a space was put before the text,
    /// `first` is the token that begins the encoding.
    Trim { is_prefixed: bool, first: Option<usize> },
    /// Moves the spans after the texts before.
    Shift(usize),
}

/// Tokens of an encoding that have one source.
#[derive(Clone, Deserialize)]
#[serde(try_from = "RunState")]
pub struct Run {
    pub(super) ids: Arc<[u32]>,
    /// The range of the tokens in `ids` and in the source.
    pub(super) range: Range<usize>,
    pub(super) source: RunSource,
    pub(super) type_id: u32,
    pub(super) is_attended: bool,
    /// Whether the tokens count as special: those of a template, and padding.
    pub(super) is_added: bool,
    /// The number of the text among those that are processed; `None` for other tokens.
    pub(super) text: Option<usize>,
    pub(super) edits: Vec<SpanEdit>,
}

/// A run as it is stored, with what is computed for its tokens.
#[derive(Serialize, Deserialize)]
struct RunState {
    ids: Vec<u32>,
    columns: Columns,
    type_id: u32,
    is_attended: bool,
    is_added: bool,
    text: Option<usize>,
}

impl TryFrom<RunState> for Run {
    type Error = &'static str;

    fn try_from(state: RunState) -> std::result::Result<Self, Self::Error> {
        let RunState { ids, columns, type_id, is_attended, is_added, text } = state;
        if [columns.tokens.len(), columns.spans.len(), columns.words.len()] != [ids.len(); 3] {
            return Err("the state of the encoding is corrupt");
        }
        let run = Run::of_text(ids, RunSource::Text(Arc::new(columns)));
        Ok(Run { type_id, is_attended, is_added, text, ..run })
    }
}

impl Serialize for Run {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut columns = Columns::default();
        for (token, span, word) in self.columns().map_err(serde::ser::Error::custom)? {
            columns.tokens.push(token.to_owned());
            columns.spans.push(span);
            columns.words.push(word);
        }
        let Run { type_id, is_attended, is_added, text, .. } = *self;
        let ids = self.ids().to_vec();
        RunState { ids, columns, type_id, is_attended, is_added, text }.serialize(serializer)
    }
}

impl Run {
    pub fn of_text(ids: Vec<u32>, source: RunSource) -> Self {
        let range = 0..ids.len();
        let (type_id, is_attended, is_added, text) = (0, true, false, Some(0));
        Run { ids: ids.into(), range, source, type_id, is_attended, is_added, text, edits: Vec::new() }
    }

    /// Tokens that are added to a text.
    pub(super) fn of_added(ids: Vec<u32>, source: RunSource, type_id: u32) -> Self {
        Run { type_id, is_added: true, text: None, ..Run::of_text(ids, source) }
    }

    pub(super) fn len(&self) -> usize {
        self.range.len()
    }

    pub(super) fn part(&self, range: Range<usize>) -> Self {
        let start = self.range.start;
        Run { range: start + range.start..start + range.end, ..self.clone() }
    }

    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids[self.range.clone()]
    }

    /// Leaves whitespace out of the spans; `is_first` says that the run begins the encoding.
    pub(super) fn trim(&mut self, is_prefixed: bool, is_first: bool) {
        if matches!(self.source, RunSource::Text(_)) || !self.edits.is_empty() {
            self.edits.push(SpanEdit::Trim { is_prefixed, first: is_first.then_some(self.range.start) });
        }
    }

    /// The tokens, their spans and their words, one after the other.
    pub(crate) fn columns(&self) -> Result<impl Iterator<Item = (&str, Span, Option<u32>)>> {
        let columns = match &self.source {
            RunSource::Text(text) => Some(text.columns()?),
            RunSource::Tokens(_) | RunSource::Repeated(_) => None,
        };
        Ok(self.range.clone().map(move |at| {
            let (token, span, word) = match (&self.source, columns) {
                (_, Some(columns)) => (&*columns.tokens[at], columns.spans[at], columns.words[at]),
                (RunSource::Tokens(tokens), _) => (&*tokens[at], (0, 0), None),
                (RunSource::Repeated(token), _) => (&**token, (0, 0), None),
                (RunSource::Text(_), None) => ("", (0, 0), None),
            };
            (token, self.edits.iter().fold(span, |span, edit| edit.apply(at, token, span)), word)
        }))
    }
}

impl SpanEdit {
    fn apply(&self, at: usize, token: &str, (start, end): Span) -> Span {
        match *self {
            SpanEdit::Shift(by) => (start + by, end + by),
            SpanEdit::Trim { is_prefixed, first } => {
                let mut leading = token.chars().take_while(|&c| is_space(c)).count();
                let trailing = token.chars().rev().take_while(|&c| is_space(c)).count();
                // A space that was put before the text is not part of the text.
                if leading == 1 && is_prefixed && (first == Some(at) || start == 0) {
                    leading = 0;
                }
                let start = (start + leading).min(end);
                (start, if end >= trailing { (end - trailing).max(start) } else { end })
            }
        }
    }
}

/// Whether a character of a token's spelling is whitespace.
fn is_space(character: char) -> bool {
    character == 'Ġ' || character.is_whitespace()
}
