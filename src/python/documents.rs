//! Texts that Python supplies, in batches, and files of Python.

use std::borrow::Cow;
use std::io::{Error as IoError, Read};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyIterator, PyString};
use xxhash_rust::xxh64::Xxh64;

use super::arrow::PyArrowColumn;
use super::call;
use crate::error::{Error, Result, not_utf8};
use crate::room;
use crate::shards::{TextBatch, TextJob};
use crate::source::{Cursor, valid_utf8};

/// About how many bytes of text become a batch of a run.
const BATCH_BYTES: usize = 1 << 20;
/// How many texts are taken from Python at a time if they are short.
pub(super) const BATCH_TEXTS: usize = 1 << 12;

/// A text of Python as bytes.
pub(super) enum PythonText {
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
    /// A copy in which invalid bytes were replaced.
    Repaired(Vec<u8>),
}

impl AsRef<[u8]> for PythonText {
    fn as_ref(&self) -> &[u8] {
        match self {
            PythonText::Text(text) => text.as_bytes(),
            PythonText::Bytes(bytes) => bytes,
            PythonText::Repaired(bytes) => bytes,
        }
    }
}

/// A text as valid UTF-8. Without `replace`, other bytes are an error, which calls the text `name`.
pub(super) fn valid(text: &[u8], replace: bool, name: impl FnOnce() -> PathBuf) -> Result<Cow<'_, [u8]>> {
    valid_utf8(text, replace).map_err(|offset| Error::Unread { path: name(), reason: not_utf8(offset) })
}

/// Objects of Python that are no longer needed, and wait to be dropped by a thread that is attached to the interpreter.
///
/// If another thread dropped an object of Python, PyO3 would put it into a list that the whole process shares, under a
/// lock; a child that is forked at that moment would wait for the lock at its next call.
pub(super) struct Dropped<T>(Mutex<Vec<T>>);

impl<T> Default for Dropped<T> {
    fn default() -> Self {
        Dropped(Mutex::default())
    }
}

impl<T> Dropped<T> {
    pub(super) fn clear(&self, _attached: Python<'_>) {
        let waiting = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        drop(waiting);
    }

    /// An object that any thread may drop.
    pub(super) fn hold(&self, object: T) -> Held<'_, T> {
        Held { object: Some(object), dropped: self }
    }
}

/// An object of Python that any thread may drop.
pub(super) struct Held<'d, T> {
    object: Option<T>,
    dropped: &'d Dropped<T>,
}

impl AsRef<[u8]> for Held<'_, PythonText> {
    fn as_ref(&self) -> &[u8] {
        self.object.as_ref().map_or(&[], AsRef::as_ref)
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        let waiting = &mut *self.dropped.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.extend(self.object.take());
    }
}

/// Takes texts from an iterator, so many at a time that the GIL is not requested for each.
pub(super) struct TextBatches {
    texts: Py<PyIterator>,
    max_bytes: usize,
    /// The exception that was raised after the last texts.
    failed: Option<PyErr>,
}

impl TextBatches {
    pub(super) fn new(texts: &Bound<'_, PyAny>, max_bytes: usize) -> PyResult<Self> {
        Ok(TextBatches { texts: texts.try_iter()?.unbind(), max_bytes, failed: None })
    }

    /// The next texts that `text_of` makes of items; none at the end. Those before an error come first.
    pub(super) fn next(
        &mut self,
        py: Python<'_>,
        mut text_of: impl FnMut(&Bound<'_, PyAny>) -> PyResult<Option<PythonText>>,
    ) -> PyResult<Vec<PythonText>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut items = self.texts.bind(py).clone();
        let (mut texts, mut bytes) = (Vec::new(), 0);
        while bytes < self.max_bytes
            && texts.len() < BATCH_TEXTS
            && let Some(item) = items.next()
        {
            match item.and_then(|item| text_of(&item)) {
                Ok(None) => {}
                Ok(Some(text)) => {
                    bytes += text.as_ref().len();
                    room::push(&mut texts, text)?;
                }
                Err(error) if texts.is_empty() => return Err(error),
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        Ok(texts)
    }
}

/// Objects of Python that hold the texts of a batch.
pub(super) enum TextOwners {
    Texts(Vec<PythonText>),
    /// A column, and what is wrong with a row that has no text.
    Column(Py<PyArrowColumn>, String),
}

pub(super) struct PythonTexts<'d> {
    owners: Held<'d, TextOwners>,
    progress: u64,
}

impl TextBatch for PythonTexts<'_> {
    fn texts(&self) -> Result<Vec<Option<&[u8]>>> {
        match &self.owners.object {
            Some(TextOwners::Texts(texts)) => room::collected(texts.iter().map(|text| Some(text.as_ref()))),
            Some(TextOwners::Column(column, _)) => {
                let texts = column.get().column().texts()?;
                let rows = texts.texts.iter().enumerate();
                room::collected(rows.map(|(row, text)| texts.is_valid(row).then_some(*text)))
            }
            None => Ok(Vec::new()),
        }
    }

    fn null_reason(&self) -> &str {
        match &self.owners.object {
            Some(TextOwners::Column(_, reason)) => reason,
            _ => "",
        }
    }

    fn progress(&self) -> u64 {
        self.progress
    }
}

/// What a run takes its texts from.
pub(super) trait Feed {
    /// The next texts with the progress that they stand for, and where they begin and end.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<(TextOwners, u64, Cursor, Cursor)>>;

    fn job<'d>(&mut self, py: Python<'_>, dropped: &'d Dropped<TextOwners>) -> PyResult<Option<TextJob<'d>>> {
        dropped.clear(py);
        let Some((owners, progress, first, end)) = self.next(py)? else { return Ok(None) };
        let texts = PythonTexts { owners: dropped.hold(owners), progress };
        Ok(Some(TextJob { source: first.source, first: first.offset, texts: Box::new(texts), end }))
    }
}

/// Takes str and bytes, the texts of one source.
pub(super) struct TextFeed {
    batches: TextBatches,
    at: Cursor,
    digest: Xxh64,
    /// How many texts an earlier run has encoded and the iterator still has to pass over.
    to_pass: u64,
}

impl TextFeed {
    /// Takes the texts from a place on. `texts` begins with the texts before that place.
    pub(super) fn new(texts: &Bound<'_, PyAny>, at: Cursor) -> PyResult<Self> {
        let batches = TextBatches::new(texts, BATCH_BYTES)?;
        Ok(TextFeed { batches, at, digest: Xxh64::new(0), to_pass: at.offset })
    }
}

fn changed(count: u64) -> PyErr {
    PyValueError::new_err(format!(
        "the first {count} texts differ from those of the unfinished run: pass the same texts, or choose another folder"
    ))
}

impl Feed for TextFeed {
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<(TextOwners, u64, Cursor, Cursor)>> {
        let TextFeed { batches, at, digest, to_pass } = self;
        let first = *at;
        let texts = batches.next(py, |item| {
            let text = text_of(item, at.offset - *to_pass)?;
            digest.update(&(text.as_ref().len() as u64).to_le_bytes());
            digest.update(text.as_ref());
            if *to_pass == 0 {
                at.offset += 1;
                return Ok(Some(text));
            }
            *to_pass -= 1;
            if *to_pass == 0 && digest.digest() != at.digest { Err(changed(at.offset)) } else { Ok(None) }
        })?;
        if texts.is_empty() {
            return if *to_pass > 0 { Err(changed(at.offset)) } else { Ok(None) };
        }
        at.digest = digest.digest();
        let bytes = texts.iter().map(|text| text.as_ref().len() as u64).sum();
        Ok(Some((TextOwners::Texts(texts), bytes, first, *at)))
    }
}

/// Takes columns of Arrow, whose texts are read in place.
pub(super) struct ColumnFeed {
    columns: Py<PyIterator>,
    at: Cursor,
}

/// An object of Python with some texts of a source.
#[derive(FromPyObject)]
struct TextColumn<'py> {
    source: usize,
    texts: Bound<'py, PyArrowColumn>,
    progress: u64,
    null_reason: String,
}

impl ColumnFeed {
    /// Takes the columns from a place on.
    pub(super) fn new(columns: &Bound<'_, PyAny>, at: Cursor) -> PyResult<Self> {
        Ok(ColumnFeed { columns: columns.try_iter()?.unbind(), at })
    }
}

impl Feed for ColumnFeed {
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<(TextOwners, u64, Cursor, Cursor)>> {
        let Some(column) = self.columns.bind(py).clone().next().transpose()? else { return Ok(None) };
        let TextColumn { source, texts, progress, null_reason } = column.extract()?;
        if source != self.at.source {
            self.at = Cursor { source, ..Cursor::default() };
        }
        let first = self.at;
        self.at.offset += texts.get().column().len as u64;
        let owners = TextOwners::Column(texts.unbind(), null_reason);
        Ok(Some((owners, progress, first, self.at)))
    }
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
    pub(super) fn open(py: Python<'_>, open: &Py<PyAny>) -> PyResult<Box<dyn Read + Send>> {
        Ok(Box::new(PythonReader(Some(open.call0(py)?))))
    }

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
