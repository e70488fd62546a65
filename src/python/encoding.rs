//! The core of `toksmith.Encoding`: special tokens chosen for each call, completions and offsets.

use once_cell::race::OnceBox;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use super::tokenizer::Tokenizer;
use super::{arrays, call, ids, objects, text};
use crate::decode;
use crate::encode::{Encoder, SortedTokens, SpecialSet};
use crate::error::{Error, Result};

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

/// A tokenizer with the methods of tiktoken that `Tokenizer` does not have. `refused` are special tokens that must not
/// occur in the text. If any occurs, the first occurrence is returned instead of the result.
#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct Encoding {
    tokenizer: Py<Tokenizer>,
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
    fn new(tokenizer: Py<Tokenizer>) -> Self {
        Encoding { tokenizer, sorted: OnceBox::new() }
    }

    fn encode<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed: &Bound<'py, PySpecialSet>,
        refused: Option<&Bound<'py, PySpecialSet>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(name) = refusal(text::checked(text)?, refused)? {
            return Ok(name);
        }
        let (py, text) = (text.py(), text::of(text)?);
        Ok(self.tokenizer.get().encoded_list(py, text, &allowed.get().set, None)?.into_any())
    }

    fn encode_to_numpy<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed: &Bound<'py, PySpecialSet>,
        refused: Option<&Bound<'py, PySpecialSet>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(name) = refusal(text::checked(text)?, refused)? {
            return Ok(name);
        }
        let (py, text) = (text.py(), text::of(text)?);
        let ids = self.tokenizer.get().encoded(py, text, (&allowed.get().set, false), None)?;
        Ok(arrays::ids(py, ids)?.into_any())
    }

    /// `texts` is a list or a tuple.
    fn encode_batch<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        allowed: &Bound<'py, PySpecialSet>,
        refused: Option<&Bound<'py, PySpecialSet>>,
        workers: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        for (index, text) in texts.try_iter()?.enumerate() {
            if let Some(name) = refusal(text::at(index, &text?)?, refused)? {
                return Ok(name);
            }
        }
        Ok(self.tokenizer.get().encoded_lists(texts, &allowed.get().set, workers)?.into_any())
    }

    fn encode_with_unstable<'py>(
        &self,
        text: &Bound<'py, PyString>,
        allowed: &Bound<'py, PySpecialSet>,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        let (py, allowed) = (text.py(), &allowed.get().set);
        let text = call::text(text)?;
        let encoded = call::long(py, None, |control| {
            self.encoder().encode_with_unstable(text, allowed, self.sorted(), control)
        })?;
        let completions = objects::list_of(py, encoded.completions.iter().map(|ids| ids::to_list(py, ids)))?;
        Ok((ids::to_list(py, &encoded.stable)?, completions))
    }

    /// Encodes bytes as one pretoken.
    fn encode_piece<'py>(&self, py: Python<'py>, piece: PyBackedBytes) -> PyResult<Bound<'py, PyList>> {
        let ids = call::sized(py, piece.len(), |control| self.encoder().encode_as_pretoken(&piece, control))?;
        ids::to_list(py, &ids)
    }

    /// Encodes bytes that need not be UTF-8.
    fn encode_broken<'py>(&self, py: Python<'py>, data: PyBackedBytes) -> PyResult<Bound<'py, PyList>> {
        let ids = call::sized(py, data.len(), |control| self.encoder().encode_broken(&data, control))?;
        ids::to_list(py, &ids)
    }

    fn tokens_bytes<'py>(&self, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let all = self.tokenizer.get().all_ids(ids)?;
        objects::list_of(ids.py(), self.tokens(&all).map(|token| objects::bytes(ids.py(), token?)))
    }

    /// For each id, the index of the character that it starts in.
    fn offsets<'py>(&self, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let (py, all) = (ids.py(), self.tokenizer.get().all_ids(ids)?);
        let mut offsets = decode::Offsets::default();
        self.tokens(&all).try_for_each(|token| offsets.add(token?))?;
        objects::list_of(py, offsets.starts.into_iter().map(|start| objects::int(py, start as u64)))
    }

    fn token_byte_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let tokens = self.sorted().iter(self.encoder().vocab());
        objects::list_of(py, tokens.map(|token| objects::bytes(py, token)))
    }

    /// A dict of the ordinary tokens and their ids.
    fn ranks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let vocab = self.encoder().vocab();
        let ranks = objects::dict(py)?;
        for (id, token) in vocab.tokens().iter().filter(|(id, token)| vocab.ordinary_id(token) == Some(*id)) {
            ranks.set_item(objects::bytes(py, token)?, objects::int(py, u64::from(id))?)?;
        }
        Ok(ranks)
    }
}

impl Encoding {
    fn encoder(&self) -> &Encoder {
        self.tokenizer.get().encoder()
    }

    fn sorted(&self) -> &SortedTokens {
        self.sorted.get_or_init(|| Box::new(SortedTokens::new(self.encoder().vocab())))
    }

    fn tokens<'a>(&'a self, ids: &'a [u32]) -> impl Iterator<Item = Result<&'a [u8]>> {
        let tokens = self.encoder().vocab().tokens();
        let token = move |(at, &id)| {
            tokens.get(id).ok_or_else(|| Error::UnknownId { id: i128::from(id), index: Some(at) })
        };
        ids.iter().enumerate().map(token)
    }
}
