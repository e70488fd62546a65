//! Documents that Python supplies, for a [`ShardRun`](crate::shards::ShardRun).

use std::io::{Error as IoError, Read};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyString, PyTuple};

use super::arrow::PyArrowColumn;
use crate::error::Result;
use crate::room;
use crate::shards::{Cursor, TextBatch, TextJob, Xxh64};

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

/// Takes texts from a Python iterator.
pub(super) struct TextFeed {
    texts: Py<PyAny>,
    at: Cursor,
    digest: Option<Xxh64>,
    /// How many texts an earlier run has encoded and the iterator still has to pass over.
    to_pass: u64,
    /// The exception that the iterator raised after the last texts.
    failed: Option<PyErr>,
    dropped: Dropped,
}

/// The meaning of an item of the iterator.
enum Item {
    Text(PythonText),
    Many(TextJob<PythonTexts>),
    /// The next texts belong to this source.
    Source(usize),
    Passed,
}

impl TextFeed {
    /// Takes the texts from a place on. If `is_checked`, `texts` begins with the texts before that place.
    pub(super) fn new(texts: &Bound<'_, PyAny>, at: Cursor, is_checked: bool) -> PyResult<Self> {
        let to_pass = if is_checked { at.offset } else { 0 };
        let digest = is_checked.then(|| Xxh64::new(0));
        Ok(TextFeed {
            texts: texts.try_iter()?.into_any().unbind(),
            at,
            digest,
            to_pass,
            failed: None,
            dropped: Dropped::default(),
        })
    }

    /// Where texts wait that are no longer needed.
    pub(super) fn dropped(&self) -> Dropped {
        self.dropped.clone()
    }

    /// The next batch of texts.
    pub(super) fn next(&mut self, py: Python<'_>) -> PyResult<Option<TextJob<PythonTexts>>> {
        self.dropped.clear(py);
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let first = self.at;
        let (mut texts, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_BYTES && texts.len() < BATCH_TEXTS {
            match self.item(py) {
                Ok(None) => break,
                Ok(Some(Item::Passed)) => {}
                Ok(Some(Item::Text(text))) => {
                    bytes += text.bytes().len();
                    room::push(&mut texts, text)?;
                }
                Ok(Some(Item::Many(job))) => return Ok(Some(job)),
                Ok(Some(Item::Source(source))) => {
                    self.at = Cursor { source, ..Cursor::default() };
                    return self.next(py);
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
            return if self.to_pass > 0 { Err(self.changed()) } else { Ok(None) };
        }
        self.at.digest = self.digest.as_ref().map_or(0, Xxh64::digest);
        Ok(Some(self.job(TextOwners::Texts(texts), bytes as u64, first)))
    }

    /// The next item of the iterator.
    fn item(&mut self, py: Python<'_>) -> PyResult<Option<Item>> {
        let Some(item) = self.texts.bind(py).try_iter()?.next().transpose()? else { return Ok(None) };
        if let Ok(source) = item.extract::<usize>() {
            return Ok(Some(if source == self.at.source { Item::Passed } else { Item::Source(source) }));
        }
        if let Ok(many) = item.cast::<PyTuple>() {
            return self.many(many).map(|job| Some(Item::Many(job)));
        }
        let text = self.text(&item)?;
        if let Some(digest) = &mut self.digest {
            digest.update(&(text.bytes().len() as u64).to_le_bytes());
            digest.update(text.bytes());
        }
        if self.to_pass > 0 {
            self.pass()?;
            return Ok(Some(Item::Passed));
        }
        self.at.offset += 1;
        Ok(Some(Item::Text(text)))
    }

    fn job(&self, owners: TextOwners, progress: u64, first: Cursor) -> TextJob<PythonTexts> {
        let texts = PythonTexts { owners, progress, dropped: self.dropped.clone() };
        TextJob { source: first.source, first: first.offset, texts, end: self.at }
    }

    /// Passes over a text that an earlier run has encoded.
    fn pass(&mut self) -> PyResult<()> {
        self.to_pass -= 1;
        let is_same = self.digest.as_ref().is_none_or(|digest| digest.digest() == self.at.digest);
        if self.to_pass == 0 && !is_same { Err(self.changed()) } else { Ok(()) }
    }

    fn changed(&self) -> PyErr {
        let count = self.at.offset;
        PyValueError::new_err(format!(
            "the first {count} texts differ from those of the unfinished run: pass the same texts, or start again in \
             another folder"
        ))
    }

    /// The texts of a tuple of a column, none of which is null, and progress.
    fn many(&mut self, many: &Bound<'_, PyTuple>) -> PyResult<TextJob<PythonTexts>> {
        let first = self.at;
        let (column, progress) = many.extract::<(Bound<'_, PyArrowColumn>, u64)>()?;
        let texts = column.get().column().texts()?;
        if texts.nulls > 0 {
            return Err(PyValueError::new_err("a text of the column is null"));
        }
        self.at.offset += texts.texts.len() as u64;
        Ok(self.job(TextOwners::Column(column.unbind()), progress, first))
    }

    /// The text of an item. A lone surrogate becomes bytes that are not UTF-8.
    fn text(&self, item: &Bound<'_, PyAny>) -> PyResult<PythonText> {
        if let Ok(text) = item.cast::<PyString>() {
            if let Ok(text) = PyBackedStr::try_from(text.clone()) {
                return Ok(PythonText::Text(text));
            }
            let bytes = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
            return Ok(PythonText::Bytes(bytes.extract()?));
        }
        item.extract().map(PythonText::Bytes).map_err(|_| {
            let kind = item.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            PyTypeError::new_err(format!("text number {} is {kind}: texts are str or bytes", self.at.offset))
        })
    }
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
        IoError::other(error.to_string())
    }
}

impl Read for PythonReader {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let Some(file) = &self.0 else { return Ok(0) };
        let read = Python::attach(|py| {
            let data = file.call_method1(py, "read", (room.len(),))?;
            let data = data.bind(py).cast::<PyBytes>()?.as_bytes();
            let count = data.len().min(room.len());
            room[..count].copy_from_slice(&data[..count]);
            PyResult::Ok(count)
        });
        read.map_err(PythonReader::failed)
    }
}

impl Drop for PythonReader {
    fn drop(&mut self) {
        let file = self.0.take();
        Python::attach(|py| {
            if let Some(file) = file {
                let _ = file.call_method0(py, "close");
            }
        });
    }
}
