//! The classes `Counting` and `PretokenCounts`.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use super::byte_stream::PyInputFile;
use super::documents::{Dropped, PythonText, TextBatches, valid};
use super::errors::raised;
use super::formats::options_of;
use super::pretokenizer::PyPretokenizer;
use super::{call, objects};
use crate::control::Control;
use crate::count::{self, CountOptions};
use crate::error::Error;
use crate::special::Specials;

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

fn item<'py>(py: Python<'py>, pretoken: &[u8], count: u64) -> PyResult<Bound<'py, PyTuple>> {
    objects::tuple(py, [objects::bytes(py, pretoken)?.into_any(), objects::int(py, count)?])
}

/// A document as valid UTF-8.
fn document(item: &Bound<'_, PyAny>, index: u64, replace: bool) -> PyResult<PythonText> {
    if let Ok(text) = item.cast::<PyString>() {
        return call::backed_text(text).map(PythonText::Text);
    }
    let Ok(bytes) = item.extract::<PyBackedBytes>() else {
        let is = format!("element {index} is {}", item.get_type().name()?);
        let message = format!("{is}: texts are str or bytes; paths are given as a list");
        return Err(PyTypeError::new_err(message));
    };
    let repaired = match valid(&bytes, replace, || format!("element {index}").into())? {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    };
    Ok(repaired.map_or(PythonText::Bytes(bytes), PythonText::Repaired))
}

/// Bytes of text that are counted at a time.
pub(super) const BATCH_BYTES: usize = 1 << 18;

#[pyclass(frozen, name = "Counting", module = "toksmith._core")]
pub(super) struct PyCounting {
    /// `None` while a call uses it. Locked only by attached threads that do not detach while they hold the lock.
    counting: Mutex<Option<count::Counting>>,
}

impl PyCounting {
    /// Runs `work` on the counts so far. If `work` fails, the counts are lost.
    pub(super) fn with<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        work: impl FnOnce(&mut count::Counting, &Control) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let mut counting = self.take(py)?;
        let done = call::long(py, progress, |control| work(&mut counting, control))?;
        *self.lock(py) = Some(counting);
        Ok(done)
    }

    fn take(&self, py: Python<'_>) -> PyResult<count::Counting> {
        self.lock(py)
            .take()
            .ok_or_else(|| PyValueError::new_err("counting has ended, or failed, or is under way"))
    }

    fn lock(&self, _attached: Python<'_>) -> MutexGuard<'_, Option<count::Counting>> {
        self.counting.lock().unwrap_or_else(PoisonError::into_inner)
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
        let counting = count::Counting::new(Specials::new(names)?, pretokenizer, options);
        Ok(PyCounting { counting: Mutex::new(Some(counting)) })
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
        texts: &Bound<'_, PyAny>,
        replace: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (mut batches, mut index) = (TextBatches::new(texts, BATCH_BYTES)?, 0..);
        let dropped = Dropped::default();
        let mut batch = |py: Python<'_>| {
            dropped.clear(py);
            let next =
                |item: &Bound<'_, PyAny>| document(item, index.next().unwrap_or_default(), replace).map(Some);
            let texts = batches.next(py, next)?;
            let batch = texts.into_iter().map(|text| dropped.hold(text)).collect::<Vec<_>>();
            Ok((!batch.is_empty()).then_some(batch))
        };
        self.with(py, progress.as_ref(), |counting, control| {
            counting.batches(|| call::attached(&mut batch).map_err(raised), control)
        })
    }

    fn spills(&self, py: Python<'_>) -> u64 {
        self.lock(py).as_ref().map_or(0, count::Counting::spills)
    }

    /// The counts. If they do not fit into the memory limit, `refuse` is called with them before the error is raised.
    #[pyo3(signature = (refuse=None))]
    fn finish(&self, py: Python<'_>, refuse: Option<&Bound<'_, PyAny>>) -> PyResult<PyPretokenCounts> {
        let counting = self.take(py)?;
        match call::long(py, None, |control| counting.outcome(control))? {
            Ok(counts) => Ok(PyPretokenCounts::new_of(counts)),
            Err(counts) => {
                let error = counts.error();
                if let Some(refuse) = refuse {
                    refuse.call1((PyOversized { counts },))?;
                }
                Err(error.into())
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
        self.counts.total()
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
            AnyCounts::Oversized(counts) => counts.get().counts.frequencies().to_vec(),
        }
    }
}

#[pymethods]
impl PyPretokenCounts {
    /// `items` are tuples of pretoken and count, `first_places` the places of their first occurrences, by default
    /// 0, 1, 2, …, and `end_place` is a place after all of them.
    #[new]
    #[pyo3(signature = (items, first_places=None, end_place=0))]
    fn new(
        py: Python<'_>,
        items: &Bound<'_, PyAny>,
        first_places: Option<Vec<u64>>,
        end_place: u64,
    ) -> PyResult<Self> {
        let items = objects::extracted(items, |item| item.extract::<(PyBackedBytes, u64)>())?;
        let places = first_places.unwrap_or_else(|| (0..items.len() as u64).collect());
        if places.len() != items.len() {
            return Err(PyValueError::new_err("there is not one place for each item"));
        }
        let counts = call::long(py, None, |control| {
            let items = items.iter().zip(&places);
            let items = items.map(|((pretoken, count), &place)| (&**pretoken, *count, place));
            count::PretokenCounts::from_items(items, end_place, control)
        })?;
        Ok(PyPretokenCounts::new_of(counts))
    }

    fn plus(&self, py: Python<'_>, other: &PyPretokenCounts) -> PyResult<Self> {
        let (counts, other) = (self.inner(py), other.inner(py));
        let counts = call::long(py, None, |control| counts.plus(&other, control))?;
        Ok(PyPretokenCounts::new_of(counts))
    }

    fn at_least(&self, py: Python<'_>, count: u64) -> PyResult<Self> {
        let counts = self.inner(py);
        let counts = call::long(py, None, |control| counts.at_least(count, control))?;
        Ok(PyPretokenCounts::new_of(counts))
    }

    /// Up to `count` tuples of pretoken and count, from index `start` on, in the order of first occurrence.
    fn items<'py>(&self, py: Python<'py>, start: usize, count: usize) -> PyResult<Bound<'py, PyList>> {
        let counts = self.inner(py);
        counts.check_memory_for_order()?;
        objects::list_of(py, counts.slice(start, count).map(|(pretoken, count, _)| item(py, pretoken, count)))
    }

    fn first_places<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let counts = self.inner(py);
        counts.check_memory_for_order()?;
        objects::list_of(py, counts.iter().map(|(_, _, first)| objects::int(py, first)))
    }

    fn most_common<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyList>> {
        let counts = self.inner(py);
        let items = call::long(py, None, |_| counts.most_common(count))?;
        objects::list_of(py, items.into_iter().map(|(pretoken, count)| item(py, pretoken, count)))
    }

    fn append_to(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let counts = self.inner(py);
        call::long(py, None, |control| counts.append_to(&path, control))
    }

    /// Reads counts that `append_to` wrote between two offsets of a file, without the pretokens that occur less often
    /// than `min_count`.
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
        let read = |control: &Control| {
            count::PretokenCounts::read_from(&path, (start, end), count, end_place, min_count, control)
        };
        Ok(PyPretokenCounts::new_of(call::long(py, None, read)?))
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
