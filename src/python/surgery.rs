//! What learning more tokens needs of a tokenizer that merges characters.

use pyo3::prelude::*;

use super::call;
use super::counts::PyPretokenCounts;
use super::tokenizer::Tokenizer;
use crate::count::PretokenCounts;

/// The words of ids of a tokenizer that merges characters, with how often each occurs. See `Vocab::words_of`.
#[pyfunction]
pub(super) fn words_of(
    py: Python<'_>,
    tokenizer: &Tokenizer,
    ids: &Bound<'_, PyAny>,
) -> PyResult<PyPretokenCounts> {
    let ids = tokenizer.all_ids(ids)?;
    let counts = call::long(py, None, |control| {
        let (bytes, words) = tokenizer.encoder().vocab().words_of(&ids)?;
        let items = words.into_iter().map(|word| (&bytes[word.clone()], 1, word.start as u64));
        PretokenCounts::from_items(items, bytes.len() as u64, control)
    })?;
    Ok(PyPretokenCounts::new_of(counts))
}
