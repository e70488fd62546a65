//! Vocabularies, merges and special tokens, extracted from Python objects.

use std::fmt::Display;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use super::errors::OrRaise;
use super::objects::{self, Any};
use toksmith::error::{show, show_text};
use toksmith::room;
use toksmith::vocab::SpecialSpec;

type MergePair = (PyBackedBytes, PyBackedBytes);

/// The ids and bytes of a `dict[int, bytes]`.
pub(super) fn tokens_of(vocab: &Bound<'_, PyDict>) -> PyResult<Vec<(u32, PyBackedBytes)>> {
    let mut tokens = room::for_items(vocab.len()).or_raise()?;
    for (id, token) in vocab.iter() {
        let number = id.extract().map_err(|_| no_id("token", &shown(&token), shown(&id)))?;
        let bytes = token.extract().map_err(|_| {
            PyValueError::new_err(format!("the token of id {id} is not bytes: {}", shown(&token)))
        })?;
        tokens.push((number, bytes));
    }
    Ok(tokens)
}

/// The merges of an iterable of pairs of `bytes`.
pub(super) fn merges_of(merges: Any) -> PyResult<Vec<MergePair>> {
    let mut numbers = 0..;
    objects::extracted(merges, |merge| {
        let number = numbers.next().unwrap_or(0);
        let pair = merge.extract::<[PyBackedBytes; 2]>().map(Into::into);
        pair.map_err(|_| {
            let shown = shown(&merge);
            PyValueError::new_err(format!("merge number {number} is {shown}, not a pair of bytes"))
        })
    })
}

fn no_id(what: &str, token: &str, id: impl Display) -> PyErr {
    PyValueError::new_err(format!(
        "the id of {what} {token} is {id}: ids are whole numbers from 0 to 2^32 - 1"
    ))
}

/// Special tokens: names with an id or None.
#[derive(Default)]
pub(super) struct SpecialSpecs(pub(super) Vec<SpecialSpec>);

impl<'py> FromPyObject<'_, 'py> for SpecialSpecs {
    type Error = PyErr;

    fn extract(tokens: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let spec = |(name, id): (String, Option<i128>)| {
            let narrow = |id: i128| id.try_into().map_err(|_| no_id("special token", &show_text(&name), id));
            let id = id.map(narrow).transpose()?;
            Ok((name.into_bytes(), id))
        };
        tokens.extract::<Vec<_>>()?.into_iter().map(spec).collect::<PyResult<_>>().map(SpecialSpecs)
    }
}

/// The `repr` of a value for a message; a long one is cut.
pub(super) fn shown(value: Any) -> String {
    if let Ok(bytes) = value.cast::<PyBytes>()
        && bytes.as_bytes().len() > 60
    {
        return show(bytes.as_bytes());
    }
    let repr = value.repr().map_or_else(|_| "?".to_owned(), |repr| repr.to_string());
    if repr.len() <= 80 { repr } else { show_text(&repr) }
}
