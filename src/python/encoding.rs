//! The core of `toksmith.Encoding`: special tokens chosen for each call, completions and offsets.

use std::sync::Arc;

use once_cell::race::OnceBox;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use super::ids::IdRun;
use super::tokenizer::Tokenizer;
use super::{arrays, call, ids, objects, text};
use crate::decode;
use crate::encode::{Encoder, SortedTokens, SpecialSet};
use crate::error::Error;
use crate::room;

/// Special tokens for single calls, each with its id.
#[pyclass(frozen, name = "SpecialSet", module = "toksmith._core")]
pub(super) struct PySpecialSet {
    set: SpecialSet,
}

#[pymethods]
impl PySpecialSet {
    #[new]
    fn new(py: Python<'_>, tokens: Vec<(String, u32)>) -> PyResult<Self> {
        let tokens = tokens.into_iter().map(|(name, id)| (name.into_bytes(), id)).collect();
        Ok(PySpecialSet { set: call::long(py, None, move |_| SpecialSet::new(tokens))? })
    }

    /// A set for `first_in_bytes` only. Its names may be any bytes, such as UTF-8 with surrogates.
    #[staticmethod]
    fn of_bytes(py: Python<'_>, names: Vec<PyBackedBytes>) -> PyResult<Self> {
        let names = names.iter().map(|name| (name.to_vec(), 0)).collect();
        Ok(PySpecialSet { set: call::long(py, None, move |_| SpecialSet::new(names))? })
    }

    /// The first special token in a text: the leftmost one, and the longest of those that begin at the same place.
    fn first_in<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyString>>> {
        let (py, text) = (text.py(), call::text(text)?);
        let name = call::sized(py, text.len(), |control| self.set.first_in(text.as_bytes(), control))?;
        name.map(|name| objects::string(py, &String::from_utf8_lossy(name))).transpose()
    }

    /// The first special token in bytes: the leftmost one, and the longest of those that begin at the same place.
    fn first_in_bytes<'py>(
        &self,
        py: Python<'py>,
        data: PyBackedBytes,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let name = call::sized(py, data.len(), |control| self.set.first_in(&data, control))?;
        name.map(|name| objects::bytes(py, name)).transpose()
    }
}

/// An encoder with the methods of tiktoken that `Tokenizer` does not have. `refused` are special tokens that must not
/// occur in the text. If any occurs, the first occurrence is returned instead of the result.
#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct Encoding {
    encoder: Arc<Encoder>,
    sorted: OnceBox<SortedTokens>,
}

/// The first special token of `refused` in a text; `None` if none occurs.
fn refusal<'py>(
    text: &Bound<'py, PyString>,
    refused: Option<&Bound<'py, PySpecialSet>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(refused) = refused else { return Ok(None) };
    Ok(refused.get().first_in(text)?.map(Bound::into_any))
}

#[pymethods]
impl Encoding {
    #[new]
    fn new(tokenizer: &Tokenizer) -> Self {
        Encoding { encoder: tokenizer.encoder().clone(), sorted: OnceBox::new() }
    }

    #[pyo3(signature = (text, allowed, refused))]
    fn encode<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed: &Bound<'py, PySpecialSet>,
        refused: Option<&Bound<'py, PySpecialSet>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let text = text::checked(text)?;
        if let Some(name) = refusal(text, refused)? {
            return Ok(name);
        }
        let (py, allowed) = (text.py(), &allowed.get().set);
        let text = call::text(text)?.as_bytes();
        if text.len() >= call::GIL_RELEASE_BYTES {
            let ids = call::long(py, None, |control| self.encoder.encode_long(text, allowed, None, control))?;
            return Ok(ids::to_list(py, &ids)?.into_any());
        }
        let fill = |ids: &mut Vec<u32>| {
            call::sized(py, text.len(), |control| self.encoder.encode(text, allowed, ids, control))
        };
        Ok(call::with_ids(fill, |ids| ids::to_list(py, ids))?.into_any())
    }

    #[pyo3(signature = (text, allowed, refused))]
    fn encode_to_numpy<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed: &Bound<'py, PySpecialSet>,
        refused: Option<&Bound<'py, PySpecialSet>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let text = text::checked(text)?;
        if let Some(name) = refusal(text, refused)? {
            return Ok(name);
        }
        let (py, allowed) = (text.py(), &allowed.get().set);
        let text = call::text(text)?.as_bytes();
        let ids =
            call::sized(py, text.len(), |control| self.encoder.encode_long(text, allowed, None, control))?;
        Ok(arrays::ids(py, ids)?.into_any())
    }

    #[pyo3(signature = (texts, allowed, refused, workers))]
    fn encode_batch<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        allowed: &Bound<'py, PySpecialSet>,
        refused: Option<&Bound<'py, PySpecialSet>>,
        workers: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = texts.py();
        let mut owners: Vec<PyBackedStr> = room::for_items(objects::size_hint(texts))?;
        for text in texts.try_iter()? {
            let text = text?;
            let text = text::at(owners.len(), &text)?;
            if let Some(name) = refusal(text, refused)? {
                return Ok(name);
            }
            room::push(&mut owners, call::backed_text(text)?)?;
        }
        let texts: Vec<&[u8]> = room::collected(owners.iter().map(|text| text.as_bytes()))?;
        let bytes = texts.iter().map(|text| text.len()).sum();
        let allowed = &allowed.get().set;
        let batches =
            call::sized(py, bytes, |control| self.encoder.encode_batch(&texts, allowed, workers, control))?;
        Ok(ids::to_lists(py, &batches)?.into_any())
    }

    fn encode_with_unstable<'py>(
        &self,
        text: &Bound<'py, PyString>,
        allowed: &Bound<'py, PySpecialSet>,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        let (py, allowed) = (text.py(), &allowed.get().set);
        let text = call::text(text)?;
        let encoded = call::long(py, None, |control| {
            self.encoder.encode_with_unstable(text, allowed, self.sorted(), control)
        })?;
        let completions = objects::list(py)?;
        for ids in &encoded.completions {
            completions.append(ids::to_list(py, ids)?)?;
        }
        Ok((ids::to_list(py, &encoded.stable)?, completions))
    }

    /// Encodes bytes as one pretoken.
    fn encode_piece<'py>(&self, py: Python<'py>, piece: PyBackedBytes) -> PyResult<Bound<'py, PyList>> {
        let ids = call::sized(py, piece.len(), |control| self.encoder.encode_as_pretoken(&piece, control))?;
        ids::to_list(py, &ids)
    }

    /// Encodes bytes that need not be UTF-8.
    fn encode_broken<'py>(&self, py: Python<'py>, data: PyBackedBytes) -> PyResult<Bound<'py, PyList>> {
        let ids = call::sized(py, data.len(), |control| self.encoder.encode_broken(&data, control))?;
        ids::to_list(py, &ids)
    }

    /// A list of the bytes of each id.
    fn tokens_bytes<'py>(&self, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let tokens = objects::list(ids.py())?;
        self.for_tokens(ids, &mut |token| tokens.append(objects::bytes(ids.py(), token)?))?;
        Ok(tokens)
    }

    /// For each id, the index of the character that it starts in.
    fn offsets<'py>(&self, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let mut offsets = decode::Offsets::default();
        self.for_tokens(ids, &mut |token| Ok(offsets.add(token)?))?;
        objects::list_of(
            ids.py(),
            offsets.starts.into_iter().map(|start| objects::int(ids.py(), start as u64)),
        )
    }

    /// The bytes of all ordinary tokens, sorted.
    fn token_byte_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let values = objects::list(py)?;
        for token in self.sorted().iter(self.encoder.vocab()) {
            values.append(objects::bytes(py, token)?)?;
        }
        Ok(values)
    }

    /// A dict of the ordinary tokens and their ids.
    fn ranks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let vocab = self.encoder.vocab();
        let ranks = objects::dict(py)?;
        for (id, token) in vocab.tokens().iter() {
            if vocab.ordinary_id(token) == Some(id) {
                ranks.set_item(objects::bytes(py, token)?, objects::int(py, u64::from(id))?)?;
            }
        }
        Ok(ranks)
    }
}

impl Encoding {
    fn sorted(&self) -> &SortedTokens {
        self.sorted.get_or_init(|| Box::new(SortedTokens::new(self.encoder.vocab())))
    }

    /// Calls `take` with the bytes of each id.
    fn for_tokens(
        &self,
        ids: &Bound<'_, PyAny>,
        take: &mut impl FnMut(&[u8]) -> PyResult<()>,
    ) -> PyResult<()> {
        let tokens = self.encoder.vocab().tokens();
        let mut seen = 0;
        ids::for_runs(ids, tokens.max_id().unwrap_or(0), &mut |run| {
            let IdRun::Ids(run) = run else { return Ok(()) };
            for (at, &id) in run.iter().enumerate() {
                let unknown = || Error::UnknownId { id: i128::from(id), index: Some(seen + at) };
                take(tokens.get(id).ok_or_else(unknown)?)?;
            }
            seen += run.len();
            Ok(())
        })
    }
}
