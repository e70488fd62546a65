//! Functions that several methods of the tokenizer share: encoding to a list or to memory, and decoding.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyList, PyString};

use super::ids::IdRun;
use super::output::{DecodeBuffer, Errors};
use super::tokenizer::Tokenizer;
use super::vocabulary::{merges_of, tokens_of};
use super::{call, ids, objects};
use crate::control::Control;
use crate::encode::{Encoder, recycle};
use crate::error::Result;
use crate::pretokenize::Pretokenizer;
use crate::room;
use crate::source::Text;
use crate::vocab::{CharacterTokens, SpecialSpec, Vocab};

impl Tokenizer {
    /// The tokenizer of an encoder.
    pub(super) fn of(encoder: Arc<Encoder>) -> Self {
        Tokenizer { encoder }
    }

    /// The encoder of the core.
    pub(super) fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The tokenizer of a vocabulary of bytes. Without `merges` the ids are ranks.
    pub(super) fn merging_bytes(
        py: Python<'_>,
        vocab: &Bound<'_, PyDict>,
        merges: Option<&Bound<'_, PyAny>>,
        specials: &[SpecialSpec],
        pretokenizer: &Pretokenizer,
        ignore_merges: bool,
    ) -> PyResult<Self> {
        let tokens = tokens_of(vocab)?;
        let merges = merges.map(merges_of).transpose()?;
        let encoder = call::long(py, None, move |_| {
            let tokens = room::collected(tokens.iter().map(|(id, bytes)| (*id, &**bytes)))?;
            let merges = match &merges {
                Some(list) => Some(room::collected(list.iter().map(|(left, right)| (&**left, &**right)))?),
                None => None,
            };
            let vocab = Vocab::of_views(tokens, merges, specials)?;
            Encoder::try_new(
                if ignore_merges { vocab.ignoring_merges() } else { vocab },
                pretokenizer.clone(),
            )
        })?;
        Ok(Tokenizer { encoder: Arc::new(encoder) })
    }

    /// For each token by ascending id, the indexes of both parts of its last merge; -1 if no merge makes the token.
    pub(super) fn parts_of_last_merges(&self, py: Python<'_>) -> PyResult<(Vec<i64>, Vec<i64>)> {
        let pairs = call::long(py, None, |_| self.encoder.vocab().last_pairs())?;
        let part = |take: fn((u32, u32)) -> u32| {
            room::collected(pairs.iter().map(move |pair| pair.map_or(-1, |pair| i64::from(take(pair)))))
        };
        Ok((part(|(left, _)| left)?, part(|(_, right)| right)?))
    }

    /// The tokenizer of a vocabulary of characters.
    pub(super) fn merging_characters(
        py: Python<'_>,
        vocab: &Bound<'_, PyDict>,
        merges: &[(u32, u32)],
        characters: CharacterTokens,
        specials: &[SpecialSpec],
        pretokenizer: &Pretokenizer,
    ) -> PyResult<Self> {
        let tokens = tokens_of(vocab)?;
        let encoder = call::long(py, None, move |_| {
            let tokens = room::collected(tokens.iter().map(|(id, bytes)| (*id, &**bytes)))?;
            Encoder::try_new(
                Vocab::of_characters(tokens, merges, characters, specials)?,
                pretokenizer.clone(),
            )
        })?;
        Ok(Tokenizer::of(Arc::new(encoder)))
    }

    /// The text of `ids`; without `errors`, their bytes.
    pub(super) fn decoded<'py>(
        &self,
        ids: &Bound<'py, PyAny>,
        errors: Option<&Errors>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let tokens = self.encoder.vocab().tokens();
        let mut output = DecodeBuffer::new(ids.py(), errors.is_some());
        ids::for_runs(ids, tokens.max_id().unwrap_or(0), &mut |run| match run {
            IdRun::Length(ids) => output.reserve_for(ids),
            IdRun::Ids(ids) => output.decode(tokens, ids),
        })?;
        output.finish(errors)
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
                let ids = self.encoded(py, text, special, workers)?;
                let list = ids::to_list(py, &ids);
                recycle(ids);
                return list;
            }
        };
        let fill = |ids: &mut Vec<u32>| {
            call::sized(py, text.len(), |control| self.encoder.encode(text, special, ids, control))
        };
        call::with_ids(fill, |ids| ids::to_list(py, ids))
    }

    /// The ids of a text, as a vector.
    pub(super) fn encoded(
        &self,
        py: Python<'_>,
        text: Text<'_>,
        special: bool,
        workers: Option<usize>,
    ) -> PyResult<Vec<u32>> {
        call::sized(py, text.len(), |control| self.encoder.encode_long(text, special, workers, control))
    }

    /// Calls `work` with the bytes of many texts.
    pub(super) fn with_texts<T: Send>(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        work: impl FnOnce(&[&[u8]], &Control) -> Result<T> + Send,
    ) -> PyResult<T> {
        let mut held: Vec<PyBackedStr> = room::for_items(objects::size_hint(texts))?;
        for text in texts.try_iter()? {
            room::push(&mut held, call::backed_text(text?.cast::<PyString>()?)?)?;
        }
        let texts: Vec<&[u8]> = room::collected(held.iter().map(|text| text.as_bytes()))?;
        let bytes = texts.iter().map(|text| text.len()).sum();
        call::sized(py, bytes, |control| work(&texts, control))
    }
}
