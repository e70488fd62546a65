//! Functions that several methods of the tokenizer share: encoding to a list or to memory, and decoding.

use std::sync::Arc;

use numpy::PyArrayMethods;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyList, PyString};

use super::tokenizer::{ArrayAndStarts, IdsAndSpans, IdsWithRanges, Tokenizer};
use super::vocabulary::{merges_of, tokens_of};
use super::{arrays, call, ids, objects, text};
use crate::control::Control;
use crate::decode::TextDecoder;
use crate::encode::{EncodedBatch, Encoder, RandomMerges, Spans, recycle};
use crate::error::Result;
use crate::room;
use crate::source::Text;
use crate::tokenizer::SourcePattern;
use crate::vocab::{SpecialSpec, Vocab};

impl Tokenizer {
    /// The encoder of the core.
    pub(super) fn encoder(&self) -> &Arc<Encoder> {
        self.inner.encoder()
    }

    /// What decodes a tokenizer of Hugging Face.
    pub(super) fn decoder(&self) -> Option<&Arc<TextDecoder>> {
        self.inner.decoder()
    }

    /// The tokenizer of a vocabulary of bytes. Without `merges` the ids are ranks.
    pub(super) fn merging_bytes(
        py: Python<'_>,
        vocab: &Bound<'_, PyDict>,
        merges: Option<&Bound<'_, PyAny>>,
        specials: &[SpecialSpec],
        pattern: &SourcePattern,
        ignore_merges: bool,
    ) -> PyResult<Self> {
        let tokens = tokens_of(vocab)?;
        let merges = merges.map(merges_of).transpose()?;
        let inner = call::long(py, None, move |_| {
            let vocab = Vocab::new(&tokens, merges.as_deref(), specials)?;
            crate::Tokenizer::new(
                if ignore_merges { vocab.ignoring_merges() } else { vocab },
                pattern.clone(),
            )
        })?;
        Ok(Tokenizer { inner })
    }

    /// For each token by ascending id, the indexes of both parts of its last merge; -1 if no merge makes the token.
    pub(super) fn parts_of_last_merges(&self, py: Python<'_>) -> PyResult<(Vec<i64>, Vec<i64>)> {
        let pairs = call::long(py, None, |_| self.encoder().vocab().last_pairs())?;
        let part = |take: fn((u32, u32)) -> u32| {
            room::collected(pairs.iter().map(move |pair| pair.map_or(-1, |pair| i64::from(take(pair)))))
        };
        Ok((part(|(left, _)| left)?, part(|(_, right)| right)?))
    }

    /// The ids of a text as a list.
    pub(super) fn encoded_list<'py>(
        &self,
        py: Python<'py>,
        text: Text<'_>,
        special: bool,
        workers: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let text = match text {
            Text::Utf8(text) if text.len() < call::GIL_RELEASE_BYTES => text,
            _ => {
                let ids = self.encoded(py, text, (special, false), workers)?;
                let list = ids::to_list(py, &ids);
                recycle(ids);
                return list;
            }
        };
        let fill = |ids: &mut Vec<u32>| {
            call::sized(py, text.len(), |control| self.encoder().encode(text, special, ids, control))
        };
        call::with_ids(fill, |ids| ids::to_list(py, ids))
    }

    /// The ids of a text, as a vector.
    pub(super) fn encoded(
        &self,
        py: Python<'_>,
        text: Text<'_>,
        (special, continues): (bool, bool),
        workers: Option<usize>,
    ) -> PyResult<Vec<u32>> {
        call::sized(py, text.len(), |control| {
            self.encoder().encode_part(text, special, !continues, workers, control)
        })
    }

    /// Calls `work` with the bytes of many texts.
    pub(super) fn with_texts<T: Send>(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        work: impl FnOnce(&[&[u8]], &Control) -> Result<T> + Send,
    ) -> PyResult<T> {
        let mut owners: Vec<PyBackedStr> = room::for_items(objects::size_hint(texts))?;
        for text in texts.try_iter()? {
            let text = call::backed_text(text::at(owners.len(), &text?)?)?;
            room::push(&mut owners, text)?;
        }
        let texts: Vec<&[u8]> = room::collected(owners.iter().map(|text| text.as_bytes()))?;
        let bytes = texts.iter().map(|text| text.len()).sum();
        call::sized(py, bytes, |control| work(&texts, control))
    }

    /// The ids that the model makes of the bytes of one pretoken, and their spans in these.
    pub(super) fn spans_of_pretoken(&self, py: Python<'_>, pretoken: &[u8]) -> PyResult<IdsWithRanges> {
        let vocab = self.encoder().vocab();
        call::sized(py, pretoken.len(), |control| {
            if vocab.covers_text_exactly() {
                let ids = self.encoder().encode_as_pretoken(pretoken, control)?;
                let mut at = 0;
                let span = |id: &u32| {
                    let start = at;
                    at += vocab.tokens().get(*id).map_or(0, <[u8]>::len);
                    (start, at)
                };
                let spans = ids.iter().map(span).collect();
                return Ok((ids, spans));
            }
            let (mut ids, mut spans) = (Vec::new(), Vec::new());
            vocab.pretoken_spans(pretoken, &mut ids, &mut spans, control)?;
            Ok((ids, spans.into_iter().map(|span| (span.start, span.end)).collect()))
        })
    }

    /// The ids of a text, and their spans in characters or in bytes.
    pub(super) fn offsets_of<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        special: bool,
        characters: bool,
    ) -> PyResult<IdsAndSpans<'py>> {
        let (ids, spans) = text::with_utf8(text, 0, |text, control| {
            let mut tokens = Spans::default();
            self.encoder().encode(text.as_bytes(), special, &mut tokens, control)?;
            let spans =
                if characters { tokens.in_characters(text.as_bytes())? } else { tokens.in_bytes()? };
            Ok((tokens.ids, spans))
        })?;
        let spans = arrays::array(text.py(), spans)?.reshape([ids.len(), 2])?;
        Ok((ids::to_list(text.py(), &ids)?, spans))
    }

    /// Calls `work` with parts, which are tuples of a text and whether it is trusted.
    pub(super) fn with_parts<T: Send>(
        &self,
        parts: &Bound<'_, PyAny>,
        work: impl FnOnce(&Encoder, &[(&[u8], bool)], &Control) -> Result<T> + Send,
    ) -> PyResult<T> {
        let texts = objects::extracted(parts, |part| {
            let (part, trusted) = part.extract::<(Bound<'_, PyString>, bool)>()?;
            Ok((call::backed_text(&part)?, trusted))
        })?;
        let of_bytes: Vec<(&[u8], bool)> =
            room::collected(texts.iter().map(|(text, trusted)| (text.as_bytes(), *trusted)))?;
        let bytes = of_bytes.iter().map(|(part, _)| part.len()).sum();
        call::sized(parts.py(), bytes, |control| work(self.encoder(), &of_bytes, control))
    }

    /// The ids of parts.
    pub(super) fn encoded_parts<'py>(&self, parts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let ids = self.with_parts(parts, |encoder, parts, control| {
            let mut ids = Vec::new();
            encoder.encode_parts(parts, &mut ids, control).map(|()| ids)
        })?;
        ids::to_list(parts.py(), &ids)
    }

    /// The ids of parts, and their spans in characters of the joined text.
    pub(super) fn offsets_of_parts<'py>(&self, parts: &Bound<'py, PyAny>) -> PyResult<IdsAndSpans<'py>> {
        let (ids, spans) = self.with_parts(parts, |encoder, parts, control| {
            let mut tokens = Spans::default();
            encoder.encode_parts(parts, &mut tokens, control)?;
            let text: Vec<u8> = room::collected(parts.iter().flat_map(|(part, _)| part.iter().copied()))?;
            let spans = tokens.in_characters(&text)?;
            Ok((tokens.ids, spans))
        })?;
        let spans = arrays::array(parts.py(), spans)?.reshape([ids.len(), 2])?;
        Ok((ids::to_list(parts.py(), &ids)?, spans))
    }

    /// The longest prefix of a text with at most `max_tokens` tokens.
    pub(super) fn truncated<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        max_tokens: usize,
        special: bool,
    ) -> PyResult<Bound<'py, PyString>> {
        let piece = text::with_utf8(text, 0, |text, control| {
            room::text(&text[self.encoder().truncate(text, 0, max_tokens, special, control)?.range])
        })?;
        objects::string(text.py(), &piece)
    }

    /// The pieces of a text with at most `max_tokens` tokens each, of which neighbours share `overlap`.
    pub(super) fn pieces_of<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        (max_tokens, overlap): (usize, usize),
        special: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let pieces = text::with_utf8(text, 0, |text, control| {
            let ranges = self.encoder().split(text, max_tokens, overlap, special, control)?;
            ranges.into_iter().map(|range| room::text(&text[range])).collect::<Result<Vec<_>>>()
        })?;
        objects::list_of(text.py(), pieces.into_iter().map(|piece| objects::string(text.py(), &piece)))
    }

    /// The ids of many texts in one array, and where each text starts in it.
    pub(super) fn encoded_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        special: bool,
        workers: usize,
    ) -> PyResult<ArrayAndStarts<'py>> {
        let EncodedBatch { ids, starts } = self.with_texts(py, texts, |texts, control| {
            self.encoder().encode_batch_joined(texts, special, workers, control)
        })?;
        let starts = room::collected(starts.into_iter().map(|start| start as i64))?;
        Ok((arrays::ids(py, ids)?, arrays::array(py, starts)?))
    }

    /// The ids of all texts, with merges left out at random; and where each text starts.
    pub(super) fn encoded_randomly<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        special: bool,
        workers: usize,
        merges: RandomMerges,
    ) -> PyResult<ArrayAndStarts<'py>> {
        let work = |texts: &[&[u8]], control: &Control| {
            self.encoder().encode_batch_randomly(texts, special, merges, workers, control)
        };
        let EncodedBatch { ids, starts } = self.with_texts(py, texts, work)?;
        let starts = room::collected(starts.into_iter().map(|start| start as i64))?;
        Ok((arrays::ids(py, ids)?, arrays::array(py, starts)?))
    }
}
