//! The content of minbpe's `.model` files.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::tokenizer::Tokenizer;
use super::{call, objects};
use crate::formats::{self, MinbpeFile};

/// The pattern of a `.model` file of minbpe, ids by the names of its special tokens, and the id that each pair of ids is merged
/// into.
#[pyfunction]
pub(super) fn minbpe_model<'py>(
    py: Python<'py>,
    text: &str,
) -> PyResult<(String, Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let file = py.detach(|| MinbpeFile::parse(text))?;
    let (names, merges) = (objects::dict(py)?, objects::dict(py)?);
    for (name, id) in file.special_tokens {
        names.set_item(objects::string(py, name)?, objects::int(py, id.into())?)?;
    }
    for (id, (left, right)) in (256..).zip(file.merges) {
        let pair = objects::tuple(py, [objects::int(py, left.into())?, objects::int(py, right.into())?])?;
        merges.set_item(pair, objects::int(py, id)?)?;
    }
    Ok((file.pattern.to_owned(), names, merges))
}

/// The merges as pairs of ids, of a tokenizer that minbpe could have.
#[pyfunction]
pub(super) fn minbpe_merges(py: Python<'_>, tokenizer: &Tokenizer) -> PyResult<Vec<(u32, u32)>> {
    call::long(py, None, |_| formats::minbpe_merges(tokenizer.encoder().vocab()))
}
