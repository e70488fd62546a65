//! The rows of toksmith's own file: written from a vocabulary, and read from the values of its JSON.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyString};

use super::objects;
use crate::error::Result;
use crate::vocab::{Semantics, Vocab, merge_rows, token_rows, unescape};

/// The rows of the tokens in toksmith's own file, and those of the merges if the tokenizer has a list of them.
pub(super) fn rows_of<'py>(
    py: Python<'py>,
    vocab: &Vocab,
) -> PyResult<(Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>)> {
    let tokens = vocab.tokens();
    let merge = |&(left, right)| (tokens.bytes_at(left), tokens.bytes_at(right));
    let has_merges = vocab.semantics() == Semantics::Merges;
    let (of_tokens, of_merges) = py.detach(|| {
        let of_merges = has_merges.then(|| merge_rows(vocab.merges_by_index().iter().map(merge)));
        Result::Ok((token_rows(tokens.iter())?, of_merges.transpose()?))
    })?;
    let of_merges = of_merges.map(|rows| objects::bytes(py, &rows)).transpose()?;
    Ok((objects::bytes(py, &of_tokens)?, of_merges))
}

/// The tokens of the rows `[id, text]`, by id; `None` if a row is malformed or an id is there twice. The caller then says
/// what is wrong (`read` in `python/toksmith/formats/native.py`).
#[pyfunction]
pub(super) fn tokens_of_rows<'py>(
    py: Python<'py>,
    rows: &Bound<'py, PyList>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let tokens = objects::dict(py)?;
    let mut token = Vec::new();
    for row in rows {
        let Some([id, text]) = pair(&row) else { return Ok(None) };
        // Neither a bool nor a subclass of `int`.
        if !id.is_exact_instance_of::<PyInt>() || id.extract::<u32>().is_err() {
            return Ok(None);
        }
        let Some(bytes) = token_of(&text, &mut token)? else { return Ok(None) };
        tokens.set_item(id, bytes)?;
    }
    Ok((tokens.len() == rows.len()).then_some(tokens))
}

/// The merges of the rows `[left, right]`; `None` if a row is malformed, as in [`tokens_of_rows`].
#[pyfunction]
pub(super) fn merges_of_rows<'py>(
    py: Python<'py>,
    rows: &Bound<'py, PyList>,
) -> PyResult<Option<Bound<'py, PyList>>> {
    let merges = objects::list(py)?;
    let mut token = Vec::new();
    for row in rows {
        let Some([left, right]) = pair(&row) else { return Ok(None) };
        let (left, right) = (token_of(&left, &mut token)?, token_of(&right, &mut token)?);
        let Some((left, right)) = left.zip(right) else { return Ok(None) };
        merges.append(objects::tuple(py, [left.into_any(), right.into_any()])?)?;
    }
    Ok(Some(merges))
}

/// The two values of a row.
fn pair<'py>(row: &Bound<'py, PyAny>) -> Option<[Bound<'py, PyAny>; 2]> {
    let row = row.cast::<PyList>().ok().filter(|row| row.len() == 2)?;
    Some([row.get_item(0).ok()?, row.get_item(1).ok()?])
}

/// The token that a text stands for, if it stands for one; `token` is memory for it.
fn token_of<'py>(text: &Bound<'py, PyAny>, token: &mut Vec<u8>) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let py = text.py();
    let Ok(text) = text.cast::<PyString>() else { return Ok(None) };
    let Ok(text) = text.to_str() else { return Ok(None) }; // it has a lone surrogate
    token.clear();
    let is_token = unescape(text, token)?.is_some();
    is_token.then(|| objects::bytes(py, token)).transpose()
}
