//! The rows of toksmith's own file, written from a vocabulary and read from the values of its JSON, and the lines of a
//! rank file.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyString};

use super::{objects, vocabulary};
use crate::error::Result;
use crate::vocab::{RankLines, Semantics, Vocab, merge_rows, token_rows, unescape};

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

/// The tokens of the rows `[id, text]`, by id.
#[pyfunction]
pub(super) fn tokens_of_rows<'py>(
    py: Python<'py>,
    rows: &Bound<'py, PyList>,
) -> PyResult<Bound<'py, PyDict>> {
    let tokens = objects::dict(py)?;
    let mut token = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let place = || format!("token number {index}");
        let (id, text) = pair(&row).ok_or_else(|| not_a_row(&place(), &row, "[id, text]"))?;
        let text = text.cast::<PyString>().map_err(|_| not_a_row(&place(), &row, "[id, text]"))?;
        // Neither a bool nor a subclass of `int`.
        if !id.is_exact_instance_of::<PyInt>() || id.extract::<u32>().is_err() {
            let id = vocabulary::shown(&id);
            return Err(refused(&place(), &format!("the id is {id}, not a whole number below 2^32")));
        }
        if tokens.contains(&id)? {
            return Err(refused(&place(), &format!("the id {id} belongs to another token")));
        }
        tokens.set_item(id, token_of(text, &mut token, &place)?)?;
    }
    Ok(tokens)
}

/// The merges of the rows `[left, right]`.
#[pyfunction]
pub(super) fn merges_of_rows<'py>(
    py: Python<'py>,
    rows: &Bound<'py, PyList>,
) -> PyResult<Bound<'py, PyList>> {
    let merges = objects::list(py)?;
    let mut token = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let place = || format!("merge number {index}");
        let mut part = |text: &Bound<'py, PyAny>| {
            let text = text.cast::<PyString>().map_err(|_| not_a_row(&place(), &row, "[left, right]"))?;
            token_of(text, &mut token, &place)
        };
        let (left, right) = pair(&row).ok_or_else(|| not_a_row(&place(), &row, "[left, right]"))?;
        let (left, right) = (part(&left)?, part(&right)?);
        merges.append(objects::tuple(py, [left.into_any(), right.into_any()])?)?;
    }
    Ok(merges)
}

/// The two values of a row.
fn pair<'py>(row: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let row = row.cast::<PyList>().ok().filter(|row| row.len() == 2)?;
    Some((row.get_item(0).ok()?, row.get_item(1).ok()?))
}

/// The token that a text stands for; `token` is memory for it.
fn token_of<'py>(
    text: &Bound<'py, PyString>,
    token: &mut Vec<u8>,
    place: &impl Fn() -> String,
) -> PyResult<Bound<'py, PyBytes>> {
    let shown = || vocabulary::shown(text.as_any());
    let content =
        text.to_str().map_err(|_| refused(&place(), &format!("{} has a lone surrogate", shown())))?;
    token.clear();
    if unescape(content, token)?.is_none() {
        let why = format!("a backslash in {} is followed by neither a backslash nor xNN", shown());
        return Err(refused(&place(), &why));
    }
    objects::bytes(text.py(), token)
}

fn not_a_row(place: &str, row: &Bound<'_, PyAny>, form: &str) -> PyErr {
    PyValueError::new_err(format!("{place} is {}, not {form}", vocabulary::shown(row)))
}

fn refused(place: &str, why: &str) -> PyErr {
    PyValueError::new_err(format!("{place}: {why}"))
}

/// The tokens of a rank file, by id.
#[pyfunction]
pub(super) fn tokens_of_ranks<'py>(py: Python<'py>, file: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    let lines = py.detach(|| RankLines::parse(file))?;
    let tokens = objects::dict(py)?;
    for (id, token) in lines.tokens() {
        tokens.set_item(objects::int(py, id.into())?, objects::bytes(py, token)?)?;
    }
    Ok(tokens)
}
