//! Pretoken counts.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyList, PyString};

use super::call;
use super::pretokenizer::Pretokenizer;
use crate::count::{self, CountOptions, CountedFile, Records};
use crate::error::Error;
use crate::source::Compression;
use crate::special::Specials;

/// Pretokens with their counts, in the order of their first occurrence.
#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct PretokenCounts {
    counts: Mutex<Arc<count::PretokenCounts>>,
}

impl PretokenCounts {
    fn new_of(counts: count::PretokenCounts) -> Self {
        PretokenCounts { counts: Mutex::new(Arc::new(counts)) }
    }

    /// The counts themselves.
    pub(super) fn inner(&self) -> Arc<count::PretokenCounts> {
        self.lock().clone()
    }

    /// The counts, which are gone from here then.
    pub(super) fn take(&self) -> Arc<count::PretokenCounts> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Arc<count::PretokenCounts>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn specials(tokens: Vec<String>) -> Result<Specials, Error> {
    Specials::new(tokens.into_iter().map(String::into_bytes).collect())
}

/// A document from Python, as bytes of UTF-8.
enum Document {
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
    Repaired(String),
}

impl Document {
    fn new(index: u64, item: &Bound<'_, PyAny>, replace: bool) -> PyResult<Self> {
        if let Ok(text) = item.cast::<PyString>() {
            return call::backed_text(text).map(Document::Text);
        }
        let bytes: PyBackedBytes = item.extract().map_err(|_| {
            let kind = item.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            PyTypeError::new_err(format!("element {index} is {kind}: texts are str or bytes"))
        })?;
        match std::str::from_utf8(&bytes) {
            Ok(_) => Ok(Document::Bytes(bytes)),
            Err(_) if replace => Ok(Document::Repaired(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) => {
                let offset = error.valid_up_to() as u64;
                Err(Error::NotUtf8 { name: format!("element {index}"), offset }.into())
            }
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Document::Text(text) => text.as_bytes(),
            Document::Bytes(bytes) => bytes,
            Document::Repaired(text) => text.as_bytes(),
        }
    }
}

impl AsRef<[u8]> for Document {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

/// Bytes of text that are taken from Python at a time: the GIL is not asked for each document.
const BATCH_BYTES: usize = 1 << 18;
const BATCH: usize = 1 << 12;

/// What a file is, as the package says it: path, compression, the field that has the text in lines of JSON, and which
/// bytes of it are meant.
type GivenFile = (PathBuf, Option<String>, Option<String>, Option<(u64, u64)>);

fn counted_file((path, compression, field, range): GivenFile) -> PyResult<CountedFile> {
    let compression = match compression.as_deref() {
        None => Compression::None,
        Some("gzip") => Compression::Gzip,
        Some("zstd") => Compression::Zstd,
        Some("xz") => Compression::Xz,
        Some(other) => return Err(PyValueError::new_err(format!("no compression has the name {other:?}"))),
    };
    Ok(CountedFile { path, compression, records: field.map_or(Records::Whole, Records::JsonLines), range })
}

/// Counting, document by document.
#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct Counting {
    counting: Mutex<Option<count::Counting>>,
}

impl Counting {
    /// Runs work on the counts so far; they are lost if it fails.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        work: impl FnOnce(&mut count::Counting, &crate::Control) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let mut counting = self.take()?;
        let done = call::long(py, progress, |control| work(&mut counting, control))?;
        *self.lock() = Some(counting);
        Ok(done)
    }

    fn take(&self) -> PyResult<count::Counting> {
        self.lock()
            .take()
            .ok_or_else(|| PyValueError::new_err("counting has ended, or failed, or is under way"))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<count::Counting>> {
        self.counting.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[pymethods]
impl Counting {
    #[new]
    #[pyo3(signature = (special_tokens, pretokenizer, *, workers=None, replace=false, memory_limit=None, temporary=None, min_count=1, chunk_bytes=None, window_bytes=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword options, one each")]
    fn new(
        special_tokens: Vec<String>,
        pretokenizer: &Pretokenizer,
        workers: Option<usize>,
        replace: bool,
        memory_limit: Option<u64>,
        temporary: Option<PathBuf>,
        min_count: u64,
        chunk_bytes: Option<u64>,
        window_bytes: Option<usize>,
    ) -> PyResult<Self> {
        let standard = CountOptions::default();
        let options = CountOptions {
            workers: workers.unwrap_or(standard.workers),
            chunk_bytes: chunk_bytes.unwrap_or(standard.chunk_bytes),
            window_bytes: window_bytes.unwrap_or(standard.window_bytes),
            replace,
            memory_limit,
            table_limit: None,
            temporary,
            min_count,
        };
        let counting = count::Counting::new(specials(special_tokens)?, pretokenizer.inner.clone(), options);
        Ok(Counting { counting: Mutex::new(Some(counting)) })
    }

    /// Counts files.
    #[pyo3(signature = (files, *, progress=None))]
    fn files(
        &self,
        py: Python<'_>,
        files: Vec<GivenFile>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let files = files.into_iter().map(counted_file).collect::<PyResult<Vec<_>>>()?;
        self.with(py, progress.as_ref(), |counting, control| counting.files(&files, control))
    }

    /// Counts an iterable of str or bytes, each a document of its own.
    #[pyo3(signature = (texts, *, replace=false, progress=None))]
    fn texts(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        replace: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let texts = texts.try_iter()?.unbind();
        let mut index = 0;
        let mut batch = |py: Python<'_>| -> PyResult<Option<Vec<Document>>> {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            let mut texts = texts.bind(py).clone();
            while bytes < BATCH_BYTES && batch.len() < BATCH {
                let Some(item) = texts.next().transpose()? else { break };
                let document = Document::new(index, &item, replace)?;
                bytes += document.bytes().len();
                batch.push(document);
                index += 1;
            }
            Ok((!batch.is_empty()).then_some(batch))
        };
        self.with(py, progress.as_ref(), |counting, control| {
            let next = || Python::attach(&mut batch).map_err(|error| Error::Splitter(Box::new(error)));
            counting.batches(next, control)
        })
    }

    /// Adds counts that were made elsewhere; they come after all that was counted so far.
    fn add(&self, py: Python<'_>, counts: &PretokenCounts) -> PyResult<()> {
        self.with(py, None, |counting, control| counting.add(&counts.inner(), control))
    }

    /// Bytes in the temporary file.
    fn spilled_bytes(&self) -> u64 {
        self.lock().as_ref().map_or(0, count::Counting::spilled_bytes)
    }

    /// Ends counting.
    fn finish(&self, py: Python<'_>) -> PyResult<PretokenCounts> {
        let counting = self.take()?;
        let counts = call::long(py, None, |control| counting.finish(control))?;
        Ok(PretokenCounts::new_of(counts))
    }
}

#[pymethods]
impl PretokenCounts {
    /// From (pretoken, count, place of the first occurrence), in any order, in so many bytes of text.
    #[new]
    #[pyo3(signature = (items, end_place=0))]
    fn new(py: Python<'_>, items: Vec<(PyBackedBytes, u64, u64)>, end_place: u64) -> PyResult<Self> {
        let counts = call::long(py, None, |control| {
            let items = items.iter().map(|(pretoken, count, first)| (&**pretoken, *count, *first));
            count::PretokenCounts::from_items(items, end_place, control)
        })?;
        Ok(PretokenCounts::new_of(counts))
    }

    /// The sum of both; all of `other` comes after all of this.
    fn plus(&self, py: Python<'_>, other: &PretokenCounts) -> PyResult<Self> {
        let counts = call::long(py, None, |control| self.inner().plus(&other.inner(), control))?;
        Ok(PretokenCounts::new_of(counts))
    }

    /// Without those that occur less often.
    fn at_least(&self, py: Python<'_>, count: u64) -> PyResult<Self> {
        let counts = call::long(py, None, |_| Ok(self.inner().at_least(count)))?;
        Ok(PretokenCounts::new_of(counts))
    }

    /// Up to `count` of the pretokens with their counts and first places, from the `start`-th on.
    fn rows<'py>(&self, py: Python<'py>, start: usize, count: usize) -> PyResult<Bound<'py, PyList>> {
        let counts = self.inner();
        let rows = counts.slice(start, count);
        PyList::new(py, rows.map(|(pretoken, count, first)| (PyBytes::new(py, pretoken), count, first)))
    }

    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let counts = self.inner();
        PyList::new(py, counts.iter().map(|(pretoken, count, _)| (PyBytes::new(py, pretoken), count)))
    }

    /// The most frequent pretokens, the first-seen first of equals.
    fn most_common<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyList>> {
        let counts = self.inner();
        let items = call::long(py, None, |_| Ok(counts.most_common(count)))?;
        PyList::new(py, items.into_iter().map(|(pretoken, count)| (PyBytes::new(py, pretoken), count)))
    }

    /// Appends all to a file.
    fn append_to(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        call::long(py, None, |control| self.inner().append_to(&path, control))
    }

    /// What `append_to` wrote between two places of a file.
    #[staticmethod]
    fn read_from(
        py: Python<'_>,
        path: PathBuf,
        start: u64,
        end: u64,
        count: u64,
        end_place: u64,
    ) -> PyResult<Self> {
        let read = |control: &crate::Control| {
            count::PretokenCounts::read_from(&path, (start, end), count, end_place, control)
        };
        Ok(PretokenCounts::new_of(call::long(py, None, read)?))
    }

    fn get(&self, py: Python<'_>, pretoken: &[u8]) -> PyResult<u64> {
        call::long(py, None, |control| self.inner().get(pretoken, control))
    }

    /// A place behind all that was counted.
    fn end_place(&self) -> u64 {
        self.inner().end_place()
    }

    fn total(&self) -> u64 {
        self.inner().total()
    }

    /// Bytes of all different pretokens together.
    fn pretoken_bytes(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.inner().pretoken_bytes())
    }

    fn __len__(&self) -> usize {
        self.inner().len()
    }
}
