//! Ids of one tokenizer beside those of another.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::arrays::{Array, Pairs};
use super::call;
use super::ids;
use super::objects::{Any, Made};
use super::tokenizer::Tokenizer;
use toksmith::decode::{self, TokenRun};

/// Return where tokens of `a` and of `b` end together.
///
/// Args:
///     a: A tokenizer.
///     ids_a: Ids of `a`: a list, any iterable of int, or an array.
///     b: Another tokenizer.
///     ids_b: Ids of `b` that stand for the same bytes.
///
/// Returns: `ends`, `int64` of shape (n + 1, 2), which begins with (0, 0). For each of the n groups,
/// `ids_a[ends[i, 0]:ends[i + 1, 0]]` and `ids_b[ends[i, 1]:ends[i + 1, 1]]` stand for the same bytes, and no
/// smaller groups do.
///
/// Raises:
///     KeyError: An id has no token; names the id and its index.
///     ValueError: The ids stand for other bytes; names the first. Or decoding does more than to join bytes.
#[pyfunction]
pub(super) fn align(py: Python<'_>, a: Any, ids_a: Any, b: Any, ids_b: Any) -> PyResult<Made<Pairs>> {
    let (a, b) = (Tokenizer::of_public(a, "a")?, Tokenizer::of_public(b, "b")?);
    let (ids_a, ids_b) = (a.get().all_ids(ids_a)?, b.get().all_ids(ids_b)?);
    let (left, right) = (a.get().token_run(&ids_a)?, b.get().token_run(&ids_b)?);
    let bytes = size_of::<u32>() * (ids_a.len() + ids_b.len());
    let ends = call::sized(py, bytes, |control| decode::align(left, right, control))?;
    Ok(Made(Pairs(ends.into_flattened())))
}

/// Return the ids of another tokenizer that stand for the same bytes.
///
/// Returns: `int64` of shape (a.max_id + 1,): for each id of `a` the id of `b`, or -1. The equal of a special
/// token is a special token.
#[pyfunction]
pub(super) fn vocab_map(py: Python<'_>, a: Any, b: Any) -> PyResult<Made<Array<i64>>> {
    let (a, b) = (Tokenizer::of_public(a, "a")?, Tokenizer::of_public(b, "b")?);
    let (a, b) = (&a.get().encoder(), &b.get().encoder());
    call::long(py, None, |_| decode::ids_in(a.vocab(), b.vocab())).map(Array).map(Made)
}

impl Tokenizer {
    /// The ids that an argument has.
    pub(super) fn all_ids(&self, ids: Any) -> PyResult<Vec<u32>> {
        let mut all = Vec::new();
        ids::read(ids, self.encoder().vocab().tokens().max_id().unwrap_or(0), &mut all)?;
        Ok(all)
    }

    /// The tokens of ids.
    pub(super) fn token_run<'a>(&'a self, ids: &'a [u32]) -> PyResult<TokenRun<'a>> {
        TokenRun::new(self.encoder().vocab(), self.decoder().map(|decoder| &**decoder), ids)
            .ok_or_else(|| PyValueError::new_err("the decoder of the tokenizer does more than to join bytes"))
    }
}
