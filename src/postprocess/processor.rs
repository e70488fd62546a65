//! Post-processors, which put tokens around the ids of texts and set their types.

use std::sync::Arc;

use super::encoding::Encoding;
use super::run::{Run, RunSource};
use crate::error::{Error, Result};

#[derive(Clone, Debug)]
pub(crate) struct TemplatePiece {
    /// The number of the text that is put here, 0 or 1; `None` for added tokens.
    pub(crate) sequence: Option<usize>,
    pub(crate) ids: Vec<u32>,
    pub(crate) tokens: Arc<[String]>,
    pub(crate) type_id: u32,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Leaves whitespace out of spans; `is_prefixed` says that a space was put before texts.
    Trim { is_prefixed: bool },
    /// Sets the sequence of each text, as ByteLevel does.
    Number,
    /// Puts tokens around one text, or around two.
    Template { single: Vec<TemplatePiece>, pair: Vec<TemplatePiece> },
    /// Puts `cls` before the first text, and `sep` after each, as BERT does it; as RoBERTa does it with `sep`
    /// before the second text as well, and without types.
    Frame { cls: TemplatePiece, sep: TemplatePiece, is_roberta: bool },
}

/// The post-processors of a tokenizer, one after the other.
#[derive(Clone, Debug, Default)]
pub struct PostProcessor(pub(crate) Vec<Step>);

impl PostProcessor {
    /// The number of tokens that are added to one text, or to two.
    pub fn added(&self, is_pair: bool) -> usize {
        let added = |step: &Step| match step {
            Step::Trim { .. } | Step::Number => 0,
            Step::Template { single, pair } => {
                if is_pair { pair } else { single }.iter().map(|piece| piece.ids.len()).sum()
            }
            Step::Frame { is_roberta, .. } => 2 + usize::from(is_pair) * (1 + usize::from(*is_roberta)),
        };
        self.0.iter().map(added).sum()
    }

    /// Whether whitespace at the ends of tokens is left out of spans.
    pub(crate) fn trims(&self) -> bool {
        self.0.iter().any(|step| matches!(step, Step::Trim { .. }))
    }

    /// The ids of one text, or two, with those that are added.
    pub fn ids(&self, texts: Vec<Vec<u32>>) -> Result<Vec<u32>> {
        let run = |ids| Run::of_text(ids, RunSource::Repeated("".into()));
        let encodings = texts.into_iter().map(|ids| Encoding::of_runs(vec![run(ids)], 0)).collect();
        Ok(self.process(encodings, true)?.ids().collect())
    }

    /// The ids that are put before and behind a text; `None` if the text is left out, or repeated.
    pub fn around(&self) -> Result<Option<(Vec<u32>, Vec<u32>)>> {
        let added = self.ids(vec![Vec::new()])?;
        let Some(text) = (0..).find(|id| !added.contains(id)) else { return Ok(None) };
        let ids = self.ids(vec![vec![text]])?;
        let mut places = ids.iter().enumerate().filter(|(_, id)| **id == text).map(|(place, _)| place);
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(Some((ids[..place].to_vec(), ids[place + 1..].to_vec()))),
            _ => Ok(None),
        }
    }

    /// One encoding of one text or two. With `adds_tokens` false no tokens are added.
    pub(crate) fn process(&self, encodings: Vec<Encoding>, adds_tokens: bool) -> Result<Encoding> {
        let mut encodings = numbered(encodings);
        for (number, encoding) in encodings.iter_mut().enumerate() {
            encoding.set_type_id(number as u32);
            encoding.overflowing.iter_mut().for_each(|part| part.set_sequence(number));
        }
        for step in &self.0 {
            encodings = step.process(encodings, adds_tokens)?;
        }
        joined(encodings)
    }
}

/// One encoding of one text or two, without a post-processor.
pub(super) fn without_processor(encodings: Vec<Encoding>) -> Result<Encoding> {
    if encodings.len() < 2 {
        return Ok(encodings.into_iter().next().unwrap_or_default());
    }
    joined(numbered(encodings))
}

fn numbered(mut encodings: Vec<Encoding>) -> Vec<Encoding> {
    for (number, encoding) in encodings.iter_mut().enumerate() {
        encoding.set_sequence(number);
        encoding.set_text(number);
        encoding.overflowing.iter_mut().for_each(|part| part.set_text(number));
    }
    encodings
}

fn joined(encodings: Vec<Encoding>) -> Result<Encoding> {
    match <[Encoding; 1]>::try_from(encodings) {
        Ok([encoding]) => Ok(encoding),
        Err(encodings) => Encoding::merged(&encodings, false),
    }
}

impl TemplatePiece {
    /// A text of a template.
    pub(crate) fn of_text(sequence: usize, type_id: u32) -> Self {
        TemplatePiece { sequence: Some(sequence), ids: Vec::new(), tokens: Arc::new([]), type_id }
    }

    fn encoding(&self, type_id: u32) -> Encoding {
        let run = Run::of_added(self.ids.clone(), RunSource::Tokens(Arc::clone(&self.tokens)), type_id);
        Encoding::of_runs(vec![run], type_id)
    }
}

impl Step {
    fn process(&self, mut encodings: Vec<Encoding>, adds_tokens: bool) -> Result<Vec<Encoding>> {
        match self {
            Step::Trim { is_prefixed } => {
                encodings.iter_mut().for_each(|encoding| encoding.trim(*is_prefixed))
            }
            Step::Number => {
                encodings.iter_mut().enumerate().for_each(|(number, encoding)| encoding.set_sequence(number));
            }
            Step::Template { single, pair } => {
                let pieces = match encodings.len() {
                    1 => single,
                    2 => pair,
                    count => {
                        let reason =
                            "a TemplateProcessing takes one or two parts, and the one before it makes";
                        return Err(Error::Invalid(format!("{reason} {count}")));
                    }
                };
                return Ok(placed(pieces, &mut encodings, adds_tokens));
            }
            Step::Frame { cls, sep, is_roberta } => {
                for encoding in encodings.iter_mut().filter(|_| *is_roberta) {
                    encoding.set_type_id(0);
                    if adds_tokens {
                        encoding.overflowing.iter_mut().for_each(|part| part.set_type_id(0));
                    }
                }
                if adds_tokens {
                    return framed(cls, sep, encodings, *is_roberta);
                }
            }
        }
        Ok(encodings)
    }
}

/// Encodings in the places that a template has for them, and its own tokens between them.
fn placed(pieces: &[TemplatePiece], encodings: &mut [Encoding], adds_tokens: bool) -> Vec<Encoding> {
    let mut placed = Vec::new();
    for piece in pieces {
        let Some(number) = piece.sequence else {
            placed.extend(adds_tokens.then(|| piece.encoding(piece.type_id)));
            continue;
        };
        if let Some(encoding) = encodings.get_mut(number) {
            encoding.set_type_id(piece.type_id);
            encoding.set_sequence(number);
            placed.push(encoding.clone());
        }
    }
    placed
}

/// Encodings between the tokens of BERT or RoBERTa, whose second text has other types and no token in front.
fn framed(
    cls: &TemplatePiece,
    sep: &TemplatePiece,
    encodings: Vec<Encoding>,
    is_roberta: bool,
) -> Result<Vec<Encoding>> {
    let frame = |(number, mut encoding): (usize, Encoding)| {
        encoding.set_only_sequence(number.min(1));
        encoding.overflowing.iter_mut().for_each(|part| part.set_only_sequence(number.min(1)));
        let type_id = u32::from(number > 0 && !is_roberta);
        let start = if number == 0 { cls } else { sep }.encoding(type_id);
        let parts = [start, encoding, sep.encoding(type_id)];
        let has_start = number == 0 || is_roberta;
        Encoding::merged(&parts[usize::from(!has_start)..], false)
    };
    encodings.into_iter().enumerate().map(frame).collect()
}
