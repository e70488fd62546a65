//! The class `SpelledModel`: the model of a byte-level `tokenizer.json`.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyInt, PyList, PyString};

use super::call;
use super::pretokenizer::PyPretokenizer;
use super::tokenizer::Tokenizer;
use super::vocabulary::special_specs;
use crate::encode::Encoder;
use crate::room;
use crate::vocab::{SpelledModel, SpelledReader};

/// A model whose tokens are written with one character for each byte.
#[pyclass(frozen, name = "SpelledModel", module = "toksmith._core")]
pub(super) struct PySpelledModel {
    pub(super) model: SpelledModel,
}

#[pymethods]
impl PySpelledModel {
    /// Reads the vocabulary and the merges of a file. Each merge is a text with one space, or a list of two texts.
    /// Returns None if anything is malformed, or if a merge is unknown or occurs twice.
    #[staticmethod]
    fn read(vocab: &Bound<'_, PyDict>, merges: &Bound<'_, PyList>) -> PyResult<Option<Self>> {
        let mut tokens: Vec<(PyBackedStr, u32)> = room::for_items(vocab.len())?;
        for (token, id) in vocab.iter() {
            let (Ok(token), Ok(id)) = (token.extract(), id.extract()) else { return Ok(None) };
            tokens.push((token, id));
        }
        let mut reader = SpelledReader::new(tokens.iter().map(|(token, id)| (&**token, *id)), merges.len())?;
        let are_texts = merges.get_item(0).is_ok_and(|first| first.is_instance_of::<PyString>());
        for row in merges.iter() {
            if added(&mut reader, &row, are_texts).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(PySpelledModel { model: reader.finish() }))
    }

    /// The ids, among those given, whose tokens a merge takes or makes.
    fn needed(&self, ids: Vec<u32>) -> Vec<u32> {
        self.model.needed(&ids)
    }

    /// The ids of the tokens that contain a character that stands for no byte.
    fn unspelled(&self) -> Vec<u32> {
        self.model.unspelled().collect()
    }

    /// The tokenizer of all tokens except those whose ids are in `left_out`. All ids of `unspelled` must be in
    /// `left_out`.
    fn tokenizer(
        &self,
        py: Python<'_>,
        left_out: Vec<u32>,
        special_tokens: Vec<(String, Option<i128>)>,
        pretokenizer: &PyPretokenizer,
        ignore_merges: bool,
    ) -> PyResult<Tokenizer> {
        let (specials, pretokenizer) = (special_specs(special_tokens)?, pretokenizer.inner.clone());
        let encoder = call::long(py, None, move |_| {
            let vocab = self.model.vocab(&left_out, &specials)?;
            Encoder::try_new(if ignore_merges { vocab.ignoring_merges() } else { vocab }, pretokenizer)
        })?;
        Ok(Tokenizer { encoder: Arc::new(encoder) })
    }
}

/// Whether all values of a vocabulary are different ids: integers of 32 bits, not `bool`.
#[pyfunction]
pub(super) fn are_ids(vocab: &Bound<'_, PyDict>) -> PyResult<bool> {
    let mut ids: Vec<u32> = room::for_items(vocab.len())?;
    for (_, id) in vocab.iter() {
        let Some(id) = id.cast_exact::<PyInt>().ok().and_then(|id| id.extract().ok()) else {
            return Ok(false);
        };
        ids.push(id);
    }
    ids.sort_unstable();
    Ok(ids.windows(2).all(|pair| pair[0] < pair[1]))
}

/// Adds a merge of a file; `None` if the row is not a valid merge.
fn added(reader: &mut SpelledReader<'_>, row: &Bound<'_, PyAny>, is_text: bool) -> Option<()> {
    let is_added = if is_text {
        let row = row.cast::<PyString>().ok()?.to_str().ok()?;
        // `tokenizers` ignores such a line wherever it stands.
        if row.starts_with("#version") {
            return Some(());
        }
        let (left, right) = row.split_once(' ')?;
        !right.contains(' ') && reader.merge(left, right)
    } else {
        let row = row.cast::<PyList>().ok().filter(|row| row.len() == 2)?;
        let (left, right) = (row.get_item(0).ok()?, row.get_item(1).ok()?);
        let (left, right) = (left.cast::<PyString>().ok()?, right.cast::<PyString>().ok()?);
        reader.merge(left.to_str().ok()?, right.to_str().ok()?)
    };
    is_added.then_some(())
}
