//! Counts of pretokens from Arrow columns and in Arrow columns.

use pyo3::prelude::*;

use super::arrow::{PyArrowArray, PyArrowColumn};
use super::call;
use super::counts::{BATCH_BYTES, PyCounting, PyPretokenCounts};
use super::documents::BATCH_TEXTS;
use crate::arrow::Values;
use crate::count;
use crate::error::{Error, Result, not_utf8};
use crate::room;
use crate::source::valid_utf8;

/// Counts the texts of a column. Each text that is not null is a document.
#[pyfunction]
pub(super) fn count_texts(
    py: Python<'_>,
    counting: &PyCounting,
    column: &PyArrowColumn,
    replace: bool,
) -> PyResult<()> {
    counting.with(py, None, |counting, control| {
        let texts = column.0.texts()?;
        let mut rows = (0..texts.texts.len()).filter(|&row| texts.is_valid(row));
        let next = || {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while bytes < BATCH_BYTES
                && batch.len() < BATCH_TEXTS
                && let Some(row) = rows.next()
            {
                bytes += texts.texts[row].len();
                let failed =
                    |offset| Error::Unread { path: format!("text {row}").into(), reason: not_utf8(offset) };
                let text = valid_utf8(texts.texts[row], replace).map_err(failed)?;
                room::push(&mut batch, text)?;
            }
            Ok((!batch.is_empty()).then_some(batch))
        };
        counting.batches(next, control)
    })
}

/// Adds pretokens with their counts, in columns of equal length, to a counting that has no texts.
#[pyfunction]
pub(super) fn count_counts(
    py: Python<'_>,
    counting: &PyCounting,
    pretokens: &PyArrowColumn,
    counts: &PyArrowColumn,
) -> PyResult<()> {
    counting.with(py, None, |counting, control| {
        let (pretokens, counts) = rows(pretokens, counts)?;
        counting.counts(pretokens.into_iter().zip(counts), control)
    })
}

/// The pretokens and the counts of two columns.
fn rows<'c>(pretokens: &'c PyArrowColumn, counts: &PyArrowColumn) -> Result<(Vec<&'c [u8]>, Vec<u64>)> {
    let texts = pretokens.0.texts()?;
    if texts.nulls > 0 {
        return Err(Error::BrokenArrow("a pretoken is null".into()));
    }
    let numbers = counts.0.numbers()?;
    if numbers.len() != texts.texts.len() {
        return Err(Error::BrokenArrow("the columns have different lengths".into()));
    }
    Ok((texts.texts, numbers))
}

/// Up to `count` pretokens from index `start` on, with their counts and their first places, as Arrow arrays.
#[pyfunction]
pub(super) fn counts_to_arrow(
    py: Python<'_>,
    counts: &PyPretokenCounts,
    start: usize,
    count: usize,
) -> PyResult<(PyArrowArray, PyArrowArray, PyArrowArray)> {
    let counts = counts.inner(py);
    call::long(py, None, |_| {
        counts.check_memory_for_order()?;
        let rows = counts.slice(start, count);
        let (mut ends, mut bytes) = (room::for_items(rows.len() + 1)?, Vec::new());
        let (mut numbers, mut firsts) = (room::for_items(rows.len())?, room::for_items(rows.len())?);
        ends.push(0);
        for (pretoken, count, first) in rows {
            room::extend(&mut bytes, pretoken)?;
            ends.push(bytes.len() as i64);
            numbers.push(count);
            firsts.push(first);
        }
        let len = numbers.len();
        Ok((
            PyArrowArray::without_nulls(Some(Values::I64(ends)), Values::Bytes(bytes), len),
            PyArrowArray::without_nulls(None, Values::U64(numbers), len),
            PyArrowArray::without_nulls(None, Values::U64(firsts), len),
        ))
    })
}

/// The counts of pretokens in Arrow columns. Without `firsts` the first places are 0, 1, 2, …. `end_place` is
/// a place after all of them.
#[pyfunction]
#[pyo3(signature = (pretokens, counts, firsts, end_place=0))]
pub(super) fn counts_from_arrow(
    py: Python<'_>,
    pretokens: &PyArrowColumn,
    counts: &PyArrowColumn,
    firsts: Option<&PyArrowColumn>,
    end_place: u64,
) -> PyResult<PyPretokenCounts> {
    PyPretokenCounts::made(py, |control| {
        let (texts, numbers) = rows(pretokens, counts)?;
        let firsts = match firsts {
            Some(firsts) => firsts.0.numbers()?,
            None => room::collected(0..texts.len() as u64)?,
        };
        if firsts.len() != texts.len() {
            return Err(Error::BrokenArrow("the columns have different lengths".into()));
        }
        let items = texts.into_iter().zip(numbers).zip(firsts);
        let items = items.map(|((pretoken, number), first)| (pretoken, number, first));
        count::PretokenCounts::from_items(items, end_place, control)
    })
}
