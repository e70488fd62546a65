//! The classes `Counting` and `PretokenCounts`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use super::arrow::{PyArrowArray, PyArrowColumn};
use super::byte_stream::PyInputFile;
use super::call;
use super::documents::{PythonText, TextBatches};
use super::errors::OrRaise;
use super::formats::options_of;
use super::objects::{self, Any, IntoObject, List};
use super::pretokenizer::PyPretokenizer;
use toksmith::arrow::Values;
use toksmith::control::Control;
use toksmith::count::{self, CountOptions};
use toksmith::error::{Error, Result, not_utf8};
use toksmith::room;
use toksmith::source::valid_utf8;
use toksmith::special::Specials;

/// Pretokens with their counts, in the order of first occurrence.
#[pyclass(frozen, name = "PretokenCounts", module = "toksmith._core")]
pub(super) struct PyPretokenCounts {
    /// Locked only by threads that are attached to the interpreter and do not detach while they hold the
    /// lock, so Python never forks while it is locked.
    counts: Mutex<Arc<count::PretokenCounts>>,
}

impl PyPretokenCounts {
    pub(super) fn new_of(counts: count::PretokenCounts) -> Self {
        PyPretokenCounts { counts: Mutex::new(Arc::new(counts)) }
    }

    /// The counts that `make` makes without the GIL.
    pub(super) fn made(
        py: Python<'_>,
        make: impl FnOnce(&Control) -> Result<count::PretokenCounts> + Send,
    ) -> PyResult<Self> {
        call::long(py, None, make).map(PyPretokenCounts::new_of)
    }

    pub(super) fn inner(&self, py: Python<'_>) -> Arc<count::PretokenCounts> {
        self.lock(py).clone()
    }

    /// The counts; with `consume`, the object is empty afterwards.
    pub(super) fn taken(&self, py: Python<'_>, consume: bool) -> Arc<count::PretokenCounts> {
        if consume { std::mem::take(&mut *self.lock(py)) } else { self.inner(py) }
    }

    fn lock(&self, _attached: Python<'_>) -> MutexGuard<'_, Arc<count::PretokenCounts>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of text that are counted at a time.
const BATCH_BYTES: usize = 1 << 18;

#[pyclass(frozen, name = "Counting", module = "toksmith._core")]
pub(super) struct PyCounting(Mutex<Option<count::Counting>>);

fn taken(counting: &mut Option<count::Counting>) -> PyResult<count::Counting> {
    counting.take().ok_or_else(|| PyValueError::new_err("counting has ended, or failed"))
}

impl PyCounting {
    /// Runs `work` on the counts so far. If `work` fails, the counts are lost.
    pub(super) fn with<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<Any>,
        work: impl FnOnce(&mut count::Counting, &Control) -> Result<T> + Send,
    ) -> PyResult<T> {
        let place = &mut *call::alone(&self.0, "a counting")?;
        let mut counting = taken(place)?;
        let done = call::long(py, progress, |control| work(&mut counting, control))?;
        *place = Some(counting);
        Ok(done)
    }
}

#[pymethods]
impl PyCounting {
    /// The keywords are the options.
    #[new]
    #[pyo3(signature = (special_tokens, pretokenizer, *, temporary=None, **options))]
    fn new(
        special_tokens: Vec<String>,
        pretokenizer: &PyPretokenizer,
        temporary: Option<PathBuf>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let names = special_tokens.into_iter().map(String::into_bytes).collect();
        let options = CountOptions { temporary, ..options_of(options)? };
        let pretokenizer = pretokenizer.inner.pretokenizer.clone();
        let counting = count::Counting::new(Specials::new(names).or_raise()?, pretokenizer, options);
        Ok(PyCounting(Mutex::new(Some(counting))))
    }

    #[pyo3(signature = (files, *, progress=None))]
    fn files(
        &self,
        py: Python<'_>,
        files: Vec<PyInputFile>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let files = files.into_iter().map(PyInputFile::into_input).collect::<PyResult<Vec<_>>>()?;
        self.with(py, progress.as_ref(), |counting, control| counting.files(&files, control))
    }

    #[pyo3(signature = (texts, *, replace=false, progress=None))]
    fn texts(
        &self,
        py: Python<'_>,
        texts: Any,
        replace: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (mut batches, mut index) = (TextBatches::new(texts, BATCH_BYTES)?, 0..);
        let mut next = |py: Python<'_>| {
            batches
                .next(py, |item| PythonText::valid(item, index.next().unwrap_or_default(), replace).map(Some))
        };
        self.with(py, progress.as_ref(), |counting, control| {
            counting.batches(|| call::attached(&mut next), control)
        })
    }

    /// Counts the texts of a column. Each text that is not null is a document.
    fn column(&self, py: Python<'_>, column: &PyArrowColumn, replace: bool) -> PyResult<()> {
        self.with(py, None, |counting, control| {
            let texts = column.0.texts()?;
            let rows = (0..texts.texts.len()).filter(|&row| texts.is_valid(row));
            let documents = rows.map(|row| {
                let path = || format!("text {row}").into();
                let failed = |offset| Error::Unread { path: path(), reason: not_utf8(offset) };
                valid_utf8(texts.texts[row], replace).map_err(failed)
            });
            counting.documents(documents, control)
        })
    }

    /// Adds pretokens with their counts, in columns of equal length, to a counting that has no texts.
    fn counts(&self, py: Python<'_>, pretokens: &PyArrowColumn, counts: &PyArrowColumn) -> PyResult<()> {
        self.with(py, None, |counting, control| {
            let (pretokens, counts) = rows(pretokens, counts)?;
            counting.counts(pretokens.into_iter().zip(counts), control)
        })
    }

    fn spills(&self) -> PyResult<u64> {
        Ok(call::alone(&self.0, "a counting")?.as_ref().map_or(0, |counting| counting.spilled().0))
    }

    /// The counts. If they do not fit into the memory limit, `refuse` is called with them before the error is
    /// raised.
    #[pyo3(signature = (refuse=None))]
    fn finish(&self, py: Python<'_>, refuse: Option<Any>) -> PyResult<PyPretokenCounts> {
        let counting = taken(&mut *call::alone(&self.0, "a counting")?)?;
        match call::long(py, None, |control| counting.outcome(control))? {
            Ok(counts) => Ok(PyPretokenCounts::new_of(counts)),
            Err(counts) => {
                let error = counts.error();
                if let Some(refuse) = refuse {
                    refuse.call1((PyOversized { counts },))?;
                }
                Err(error).or_raise()
            }
        }
    }
}

/// Counts that do not fit into the memory limit, in the temporary file of their counting.
#[pyclass(frozen, name = "OversizedCounts", module = "toksmith._core")]
pub(super) struct PyOversized {
    counts: count::Oversized,
}

#[pymethods]
impl PyOversized {
    fn append_to(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        call::long(py, None, |control| self.counts.append_to(&path, control))
    }

    fn end_place(&self) -> u64 {
        self.counts.end_place()
    }

    fn total(&self) -> u64 {
        self.counts.total
    }

    fn __len__(&self) -> usize {
        self.counts.unique() as usize
    }
}

/// Counts that fit into memory, or do not.
#[derive(FromPyObject)]
pub(super) enum AnyCounts<'py> {
    Whole(Bound<'py, PyPretokenCounts>),
    Oversized(Bound<'py, PyOversized>),
}

impl AnyCounts<'_> {
    pub(super) fn frequencies(&self, py: Python<'_>) -> Vec<count::Frequent> {
        match self {
            AnyCounts::Whole(counts) => {
                let counts = counts.get().inner(py);
                py.detach(|| counts.frequencies())
            }
            AnyCounts::Oversized(counts) => counts.get().counts.frequencies.clone(),
        }
    }
}

#[pymethods]
impl PyPretokenCounts {
    /// `items` are tuples of pretoken and count, in the order of first occurrence.
    #[new]
    fn new(py: Python<'_>, items: Any) -> PyResult<Self> {
        let items = objects::extracted(items, |item| item.extract::<(PyBackedBytes, u64)>())?;
        PyPretokenCounts::made(py, |control| {
            let items = items.iter().zip(0..).map(|((pretoken, count), place)| (&**pretoken, *count, place));
            count::PretokenCounts::from_items(items, 0, control)
        })
    }

    fn plus(&self, py: Python<'_>, other: &PyPretokenCounts) -> PyResult<Self> {
        let (counts, other) = (self.inner(py), other.inner(py));
        PyPretokenCounts::made(py, |control| counts.plus(&other, control))
    }

    fn at_least(&self, py: Python<'_>, count: u64) -> PyResult<Self> {
        let counts = self.inner(py);
        PyPretokenCounts::made(py, |control| counts.at_least(count, control))
    }

    /// Up to `count` tuples of pretoken and count, from index `start` on, in the order of first occurrence.
    fn items<'py>(&self, py: Python<'py>, start: usize, count: usize) -> PyResult<Bound<'py, PyAny>> {
        let counts = self.inner(py);
        counts.check_memory_for_order().or_raise()?;
        List(counts.slice(start, count).map(|(pretoken, count, _)| (pretoken, count))).object(py)
    }

    fn first_places<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let counts = self.inner(py);
        counts.check_memory_for_order().or_raise()?;
        List(counts.iter().map(|(_, _, first)| first)).object(py)
    }

    fn most_common<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyAny>> {
        let counts = self.inner(py);
        let items = call::long(py, None, |_| counts.most_common(count))?;
        List(items).object(py)
    }

    fn append_to(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let counts = self.inner(py);
        call::long(py, None, |control| counts.append_to(&path, control))
    }

    /// Reads counts that `append_to` wrote between two offsets of a file, without the pretokens that occur
    /// less often than `min_count`.
    #[staticmethod]
    #[pyo3(signature = (path, start, end, count, end_place, min_count=1))]
    fn read_from(
        py: Python<'_>,
        path: PathBuf,
        start: u64,
        end: u64,
        count: u64,
        end_place: u64,
        min_count: u64,
    ) -> PyResult<Self> {
        PyPretokenCounts::made(py, |control| {
            count::PretokenCounts::read_from(&path, (start, end), count, end_place, min_count, control)
        })
    }

    /// The counts of pretokens in Arrow columns. Without `firsts` the first places are 0, 1, 2, ….
    /// `end_place` is a place after all of them.
    #[staticmethod]
    fn from_arrow(
        py: Python<'_>,
        pretokens: &PyArrowColumn,
        counts: &PyArrowColumn,
        firsts: Option<&PyArrowColumn>,
        end_place: u64,
    ) -> PyResult<Self> {
        PyPretokenCounts::made(py, |control| {
            let (texts, numbers) = rows(pretokens, counts)?;
            let firsts = match firsts {
                Some(firsts) => firsts.0.numbers()?,
                None => room::collected(0..texts.len() as u64)?,
            };
            check_lengths(firsts.len(), texts.len())?;
            let items = texts.into_iter().zip(numbers).zip(firsts);
            let items = items.map(|((pretoken, number), first)| (pretoken, number, first));
            count::PretokenCounts::from_items(items, end_place, control)
        })
    }

    /// Up to `count` pretokens from index `start` on, with their counts and their first places.
    fn to_arrow(&self, py: Python<'_>, start: usize, count: usize) -> PyResult<[PyArrowArray; 3]> {
        let counts = self.inner(py);
        call::long(py, None, |_| {
            counts.check_memory_for_order()?;
            let rows = counts.slice(start, count);
            let len = rows.len();
            let (mut ends, mut bytes) = (room::for_items(len + 1)?, Vec::new());
            let (mut numbers, mut firsts) = (room::for_items(len)?, room::for_items(len)?);
            ends.push(0);
            for (pretoken, count, first) in rows {
                room::extend(&mut bytes, pretoken)?;
                ends.push(bytes.len() as i64);
                numbers.push(count);
                firsts.push(first);
            }
            let pretokens = (Some(Values::I64(ends)), Values::Bytes(bytes));
            let columns = [pretokens, (None, Values::U64(numbers)), (None, Values::U64(firsts))];
            Ok(columns.map(|(ends, values)| PyArrowArray::without_nulls(ends, values, len)))
        })
    }

    fn get(&self, py: Python<'_>, pretoken: &[u8]) -> PyResult<Option<u64>> {
        let counts = self.inner(py);
        call::long(py, None, |control| counts.get(pretoken, control))
    }

    fn end_place(&self, py: Python<'_>) -> u64 {
        self.inner(py).end_place()
    }

    fn total(&self, py: Python<'_>) -> u64 {
        self.inner(py).total()
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.inner(py).len()
    }
}

/// The pretokens and the counts of two columns.
fn rows<'c>(pretokens: &'c PyArrowColumn, counts: &PyArrowColumn) -> Result<(Vec<&'c [u8]>, Vec<u64>)> {
    let texts = pretokens.0.texts()?;
    if texts.nulls > 0 {
        return Err(Error::BrokenArrow("a pretoken is null".into()));
    }
    let numbers = counts.0.numbers()?;
    check_lengths(numbers.len(), texts.texts.len())?;
    Ok((texts.texts, numbers))
}

fn check_lengths(left: usize, right: usize) -> Result<()> {
    match left == right {
        true => Ok(()),
        false => Err(Error::BrokenArrow("the columns have different lengths".into())),
    }
}
