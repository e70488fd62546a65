//! Documents that Python supplies, for a [`ShardRun`](crate::shards::ShardRun).

use std::io::{Error as IoError, Read};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyString};
use xxhash_rust::xxh64::Xxh64;

use super::arrow::PyArrowColumn;
use super::call;
use crate::error::Result;
use crate::room;
use crate::shards::{Cursor, TextBatch, TextJob};

/// About how many bytes of text are taken from Python at a time.
const BATCH_BYTES: usize = 1 << 20;
/// How many texts are taken from Python at a time if they are short.
const BATCH_TEXTS: usize = 1 << 12;

/// An object of Python that holds text.
enum PythonText {
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
}

impl PythonText {
    fn bytes(&self) -> &[u8] {
        match self {
            PythonText::Text(text) => text.as_bytes(),
            PythonText::Bytes(bytes) => bytes,
        }
    }
}

/// Objects of Python that hold the texts of a batch.
enum TextOwners {
    Texts(Vec<PythonText>),
    Column(Py<PyArrowColumn>),
}

/// Texts that are no longer needed and wait to be dropped by a thread that is attached to the interpreter.
///
/// If another thread dropped an object of Python, PyO3 would put it into a list that the whole process shares, under a
/// lock; a child that is forked at that moment would wait for the lock at its next call.
#[derive(Clone, Default)]
pub(super) struct Dropped(Arc<Mutex<Vec<TextOwners>>>);

impl Dropped {
    /// Drops the texts that wait.
    pub(super) fn clear(&self, _attached: Python<'_>) {
        let texts = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        drop(texts);
    }
}

/// A batch of texts. Any thread may drop it.
pub(super) struct PythonTexts {
    owners: TextOwners,
    progress: u64,
    dropped: Dropped,
}

impl TextBatch for PythonTexts {
    fn texts(&self) -> Result<Vec<&[u8]>> {
        match &self.owners {
            TextOwners::Texts(texts) => room::collected(texts.iter().map(PythonText::bytes)),
            TextOwners::Column(column) => Ok(column.get().column().texts()?.texts),
        }
    }

    fn progress(&self) -> u64 {
        self.progress
    }
}

impl Drop for PythonTexts {
    fn drop(&mut self) {
        let owners = std::mem::replace(&mut self.owners, TextOwners::Texts(Vec::new()));
        self.dropped.0.lock().unwrap_or_else(PoisonError::into_inner).push(owners);
    }
}

/// Makes batches of texts from a Python iterator.
pub(super) trait Feed {
    /// The next batch of texts.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<TextJob<PythonTexts>>>;

    /// Where texts wait that are no longer needed.
    fn unneeded(&self) -> Dropped;
}

/// Takes str and bytes, the texts of one source.
pub(super) struct TextFeed {
    texts: Py<PyAny>,
    at: Cursor,
    digest: Xxh64,
    /// How many texts an earlier run has encoded and the iterator still has to pass over.
    to_pass: u64,
    /// The exception that the iterator raised after the last texts.
    failed: Option<PyErr>,
    dropped: Dropped,
}

impl TextFeed {
    /// Takes the texts from a place on. `texts` begins with the texts before that place.
    pub(super) fn new(texts: &Bound<'_, PyAny>, at: Cursor) -> PyResult<Self> {
        Ok(TextFeed {
            texts: texts.try_iter()?.into_any().unbind(),
            at,
            digest: Xxh64::new(0),
            to_pass: at.offset,
            failed: None,
            dropped: Dropped::default(),
        })
    }

    /// The next text that no earlier run has encoded.
    fn text(&mut self, py: Python<'_>) -> PyResult<Option<PythonText>> {
        while let Some(item) = self.texts.bind(py).try_iter()?.next().transpose()? {
            let text = text_of(&item, self.at.offset - self.to_pass)?;
            self.digest.update(&(text.bytes().len() as u64).to_le_bytes());
            self.digest.update(text.bytes());
            if self.to_pass == 0 {
                self.at.offset += 1;
                return Ok(Some(text));
            }
            self.to_pass -= 1;
            if self.to_pass == 0 && self.digest.digest() != self.at.digest {
                return Err(self.changed());
            }
        }
        if self.to_pass > 0 { Err(self.changed()) } else { Ok(None) }
    }

    fn changed(&self) -> PyErr {
        let count = self.at.offset;
        PyValueError::new_err(format!(
            "the first {count} texts differ from those of the unfinished run: pass the same texts, or choose \
             another folder"
        ))
    }
}

impl Feed for TextFeed {
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<TextJob<PythonTexts>>> {
        self.dropped.clear(py);
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let first = self.at;
        let (mut texts, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_BYTES && texts.len() < BATCH_TEXTS {
            match self.text(py) {
                Ok(None) => break,
                Ok(Some(text)) => {
                    bytes += text.bytes().len();
                    room::push(&mut texts, text)?;
                }
                // The texts before the failure are encoded first.
                Err(error) if !texts.is_empty() => {
                    self.failed = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        if texts.is_empty() {
            return Ok(None);
        }
        self.at.digest = self.digest.digest();
        Ok(Some(job(TextOwners::Texts(texts), bytes as u64, first, self.at, &self.dropped)))
    }

    fn unneeded(&self) -> Dropped {
        self.dropped.clone()
    }
}

/// Takes columns of Arrow, whose texts are read in place.
pub(super) struct ColumnFeed {
    columns: Py<PyAny>,
    at: Cursor,
    dropped: Dropped,
}

/// An object of Python with some texts of a source.
#[derive(FromPyObject)]
struct TextColumn<'py> {
    source: usize,
    texts: Bound<'py, PyArrowColumn>,
    progress: u64,
}

impl ColumnFeed {
    /// Takes the columns from a place on.
    pub(super) fn new(columns: &Bound<'_, PyAny>, at: Cursor) -> PyResult<Self> {
        let columns = columns.try_iter()?.into_any().unbind();
        Ok(ColumnFeed { columns, at, dropped: Dropped::default() })
    }
}

impl Feed for ColumnFeed {
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<TextJob<PythonTexts>>> {
        self.dropped.clear(py);
        let Some(column) = self.columns.bind(py).try_iter()?.next().transpose()? else { return Ok(None) };
        let TextColumn { source, texts: column, progress } = column.extract()?;
        if source != self.at.source {
            self.at = Cursor { source, ..Cursor::default() };
        }
        let first = self.at;
        let texts = column.get().column().texts()?;
        if texts.nulls > 0 {
            return Err(PyValueError::new_err("a text of the column is null"));
        }
        self.at.offset += texts.texts.len() as u64;
        Ok(Some(job(TextOwners::Column(column.unbind()), progress, first, self.at, &self.dropped)))
    }

    fn unneeded(&self) -> Dropped {
        self.dropped.clone()
    }
}

fn job(
    owners: TextOwners,
    progress: u64,
    first: Cursor,
    end: Cursor,
    dropped: &Dropped,
) -> TextJob<PythonTexts> {
    let texts = PythonTexts { owners, progress, dropped: dropped.clone() };
    TextJob { source: first.source, first: first.offset, texts, end }
}

/// The text of an item, the text of this number. A lone surrogate becomes bytes that are not UTF-8.
fn text_of(item: &Bound<'_, PyAny>, number: u64) -> PyResult<PythonText> {
    if let Ok(text) = item.cast::<PyString>() {
        if let Ok(text) = PyBackedStr::try_from(text.clone()) {
            return Ok(PythonText::Text(text));
        }
        let bytes = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
        return Ok(PythonText::Bytes(bytes.extract()?));
    }
    if let Ok(bytes) = item.cast::<PyBytes>() {
        return Ok(PythonText::Bytes(bytes.clone().into()));
    }
    let kind = item.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    Err(PyTypeError::new_err(format!("text number {number} is {kind}: texts are str or bytes")))
}

/// A reader of a binary file object of Python.
pub(super) struct PythonReader(Option<Py<PyAny>>);

impl PythonReader {
    /// Opens the file by a call of `open`.
    pub(super) fn open(py: Python<'_>, open: &Py<PyAny>) -> PyResult<Box<dyn Read + Send>> {
        Ok(Box::new(PythonReader(Some(open.call0(py)?))))
    }

    /// Turns an exception into an I/O error.
    pub(super) fn failed(error: PyErr) -> IoError {
        IoError::other(Python::try_attach(|_| error.to_string()).unwrap_or_default())
    }
}

impl Read for PythonReader {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let Some(file) = &self.0 else { return Ok(0) };
        let read = call::attached(|py| {
            let data = file.call_method1(py, "read", (room.len(),))?;
            let data = data.bind(py).cast::<PyBytes>()?.as_bytes();
            let count = data.len().min(room.len());
            room[..count].copy_from_slice(&data[..count]);
            Ok(count)
        });
        read.map_err(PythonReader::failed)
    }
}

impl Drop for PythonReader {
    fn drop(&mut self) {
        if let Some(file) = self.0.take() {
            let _ = call::attached(|py| file.call_method0(py, "close").map(drop));
        }
    }
}
