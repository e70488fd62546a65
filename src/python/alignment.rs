//! Ids of one tokenizer beside those of another.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::ids::{self, IdRun};
use super::tokenizer::Tokenizer;
use super::{arrays, call};
use crate::decode::{self, TokenRun};
use crate::room;

/// Return where tokens of `a` and of `b` end together.
///
/// Args:
///     a: A tokenizer.
///     ids_a: Ids of `a`: a list, any iterable of int, or an array.
///     b: Another tokenizer.
///     ids_b: Ids of `b` that stand for the same bytes.
///
/// Returns:
///     `ends`, `int64` of shape (n + 1, 2), which begins with (0, 0). For each of the n groups,
///     `ids_a[ends[i, 0]:ends[i + 1, 0]]` and `ids_b[ends[i, 1]:ends[i + 1, 1]]` stand for the same bytes, and no
///     smaller groups do.
///
/// Raises:
///     KeyError: An id has no token; names the id and its index.
///     ValueError: The ids stand for other bytes; names the first. Or decoding does more than to join bytes.
#[pyfunction]
pub(super) fn align<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    ids_a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    ids_b: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let (a, b) = (Tokenizer::of_public(a, "a")?, Tokenizer::of_public(b, "b")?);
    let (ids_a, ids_b) = (a.get().all_ids(ids_a)?, b.get().all_ids(ids_b)?);
    let (left, right) = (a.get().token_run(&ids_a)?, b.get().token_run(&ids_b)?);
    let bytes = size_of::<u32>() * (ids_a.len() + ids_b.len());
    let ends = call::sized(py, bytes, |control| decode::align(left, right, control))?;
    let count = ends.len();
    arrays::array(py, ends.into_flattened())?.reshape([count, 2])
}

/// Return the ids of another tokenizer that stand for the same bytes.
///
/// Returns:
///     `int64` of shape (a.max_id + 1,): for each id of `a` the id of `b`, or -1. The equal of a special token is a
///     special token.
#[pyfunction]
pub(super) fn vocab_map<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let (a, b) = (Tokenizer::of_public(a, "a")?, Tokenizer::of_public(b, "b")?);
    let (a, b) = (&a.get().encoder(), &b.get().encoder());
    arrays::array(py, call::long(py, None, |_| decode::ids_in(a.vocab(), b.vocab()))?)
}

impl Tokenizer {
    /// The ids that an argument has.
    pub(super) fn all_ids(&self, ids: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let mut all = Vec::new();
        let max_id = self.encoder().vocab().tokens().max_id().unwrap_or(0);
        ids::for_runs(ids, max_id, &mut |run| match run {
            IdRun::Length(count) => Ok(room::reserve(&mut all, count)?),
            IdRun::Ids(ids) => Ok(room::extend(&mut all, ids)?),
        })?;
        Ok(all)
    }

    /// The tokens of ids.
    pub(super) fn token_run<'a>(&'a self, ids: &'a [u32]) -> PyResult<TokenRun<'a>> {
        TokenRun::new(self.encoder().vocab(), self.decoder().map(|decoder| &**decoder), ids)
            .ok_or_else(|| PyValueError::new_err("the decoder of the tokenizer does more than to join bytes"))
    }
}
