//! Texts that Python supplies, in batches, and files of Python.

use std::borrow::Cow;
use std::io::{Error as IoError, Read};
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyIterator, PyString};
use xxhash_rust::xxh64::Xxh64;

use super::arrow::PyArrowColumn;
use super::errors::OrRaise;
use super::objects::Any;
use super::{call, errors};
use toksmith::arrow::Column;
use toksmith::error::{Error, not_utf8};
use toksmith::room;
use toksmith::shards::TextJob;
use toksmith::source::{Cursor, valid_utf8};

/// About how many bytes of text become a batch of a run.
const BATCH_BYTES: usize = 1 << 20;
/// How many texts are taken from Python at a time if they are short.
const BATCH_TEXTS: usize = 1 << 12;

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

impl PythonText {
    /// The text of an item, which stands at `place`. With `keeps_surrogates` a lone surrogate becomes bytes
    /// that are not UTF-8.
    fn of(item: Any, place: impl FnOnce() -> String, keeps_surrogates: bool) -> PyResult<Self> {
        let Ok(text) = item.cast::<PyString>() else {
            return item.extract().map(PythonText::Bytes).map_err(|_| {
                let kind = item.get_type().name().map(|name| name.to_string()).unwrap_or_default();
                let advice = "texts are str or bytes; paths are given as a list";
                PyTypeError::new_err(format!("{} is {kind}: {advice}", place()))
            });
        };
        match PyBackedStr::try_from(text.clone()) {
            Ok(text) => Ok(PythonText::Text(text)),
            Err(_) if keeps_surrogates => {
                let bytes = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
                Ok(PythonText::Bytes(bytes.extract()?))
            }
            Err(error) => Err(errors::surrogate(item.py(), error)),
        }
    }

    /// The text of an item as valid UTF-8.
    pub(super) fn valid(item: Any, number: u64, replace: bool) -> PyResult<Self> {
        let place = || format!("element {number}");
        let text = PythonText::of(item, place, false)?;
        match &text {
            PythonText::Bytes(bytes) => match valid_utf8(bytes, replace) {
                Ok(Cow::Borrowed(_)) => Ok(text),
                Ok(Cow::Owned(repaired)) => Ok(PythonText::Repaired(repaired)),
                Err(offset) => {
                    Err(Error::Unread { path: place().into(), reason: not_utf8(offset) }).or_raise()
                }
            },
            _ => Ok(text),
        }
    }
}

/// Lends an object of Python to other threads, and drops those that nobody else uses any more. So a thread
/// drops them that is attached to the interpreter.
///
/// If another thread dropped an object of Python, PyO3 would put it into a list that the whole process
/// shares, under a lock; a child that is forked at that moment would wait for the lock at its next call.
fn lend<T: ?Sized>(lent: &mut Vec<Arc<T>>, _attached: Python<'_>, object: Arc<T>) -> Arc<T> {
    lent.retain(|object| Arc::strong_count(object) > 1);
    lent.push(Arc::clone(&object));
    object
}

/// Takes texts from an iterator, so many at a time that the GIL is not requested for each.
pub(super) struct TextBatches {
    texts: Py<PyIterator>,
    max_bytes: usize,
    lent: Vec<Arc<[PythonText]>>,
    /// The exception that was raised after the last texts.
    failed: Option<PyErr>,
}

impl TextBatches {
    pub(super) fn new(texts: Any, max_bytes: usize) -> PyResult<Self> {
        Ok(TextBatches { texts: texts.try_iter()?.unbind(), max_bytes, lent: Vec::new(), failed: None })
    }

    /// The next texts that `text_of` makes of items; `None` at the end. Those before an error come first.
    pub(super) fn next(
        &mut self,
        py: Python<'_>,
        mut text_of: impl FnMut(Any) -> PyResult<Option<PythonText>>,
    ) -> PyResult<Option<Arc<[PythonText]>>> {
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
                    room::push(&mut texts, text).or_raise()?;
                }
                Err(error) if texts.is_empty() => return Err(error),
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        Ok((!texts.is_empty()).then(|| lend(&mut self.lent, py, texts.into())))
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
    pub(super) fn new(texts: Any, at: Cursor) -> PyResult<Self> {
        let batches = TextBatches::new(texts, BATCH_BYTES)?;
        Ok(TextFeed { batches, at, digest: Xxh64::new(0), to_pass: at.offset })
    }

    pub(super) fn next(&mut self, py: Python<'_>) -> PyResult<Option<TextJob>> {
        let TextFeed { batches, at, digest, to_pass } = self;
        let begin = *at;
        let texts = batches.next(py, |item| {
            let text = PythonText::of(item, || format!("text number {}", at.offset - *to_pass), true)?;
            digest.update(&(text.as_ref().len() as u64).to_le_bytes());
            digest.update(text.as_ref());
            if *to_pass == 0 {
                at.offset += 1;
                return Ok(Some(text));
            }
            *to_pass -= 1;
            if *to_pass == 0 && digest.digest() != at.digest { Err(changed(at.offset)) } else { Ok(None) }
        })?;
        let Some(texts) = texts else {
            return if *to_pass > 0 { Err(changed(at.offset)) } else { Ok(None) };
        };
        at.digest = digest.digest();
        let progress = texts.iter().map(|text| text.as_ref().len() as u64).sum();
        Ok(Some(TextJob { begin, texts: Box::new(texts), progress, end: *at }))
    }
}

fn changed(count: u64) -> PyErr {
    PyValueError::new_err(format!(
        "the first {count} texts differ from those of the unfinished run: pass the same texts, or choose another folder"
    ))
}

/// Takes columns of Arrow, whose texts are read in place.
pub(super) struct ColumnFeed {
    columns: Py<PyIterator>,
    lent: Vec<Arc<Column>>,
    at: Cursor,
}

/// Some texts of a source: its index, the texts, the progress, and what is wrong with a row without a text.
type TextColumn<'py> = (usize, Bound<'py, PyArrowColumn>, u64, String);

impl ColumnFeed {
    /// Takes the columns from a place on.
    pub(super) fn new(columns: Any, at: Cursor) -> PyResult<Self> {
        Ok(ColumnFeed { columns: columns.try_iter()?.unbind(), lent: Vec::new(), at })
    }

    pub(super) fn next(&mut self, py: Python<'_>) -> PyResult<Option<TextJob>> {
        let Some(column) = self.columns.bind(py).clone().next().transpose()? else { return Ok(None) };
        let (source, texts, progress, null_reason): TextColumn<'_> = column.extract()?;
        if source != self.at.source {
            self.at = Cursor { source, ..Cursor::default() };
        }
        let (begin, column) = (self.at, lend(&mut self.lent, py, Arc::clone(&texts.get().0)));
        self.at.offset += column.len as u64;
        Ok(Some(TextJob { begin, texts: Box::new((column, null_reason)), progress, end: self.at }))
    }
}

/// A reader of a binary file object of Python.
pub(super) struct PythonReader(Py<PyAny>);

impl PythonReader {
    pub(super) fn open(open: &Py<PyAny>) -> std::io::Result<Box<dyn Read + Send>> {
        let file = call::attached(|py| open.call0(py)).map_err(PythonReader::failed)?;
        Ok(Box::new(PythonReader(file)))
    }

    fn failed(error: Error) -> IoError {
        IoError::other(Python::try_attach(|_| error.to_string()).unwrap_or_default())
    }
}

impl Read for PythonReader {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let read = call::attached(|py| {
            let data = self.0.call_method1(py, "read", (room.len(),))?;
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
        let _ = call::attached(|py| self.0.call_method0(py, "close").map(drop));
    }
}
