//! A text that changes, and its ids.

use std::sync::{Mutex, MutexGuard};

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyAny;

use super::errors::OrRaise;
use super::objects::Any;
use super::tokenizer::Tokenizer;
use super::{arrays, call, text};
use toksmith::Document;
use toksmith::control::Control;
use toksmith::error::Result;

/// A text that changes, with the ids of the whole text after each change.
///
/// An edit encodes the text that it puts in and some hundred bytes around it, from a place where the text can
/// be cut to the next one: mostly a space between words. What has no such place for long, such as base64, is
/// encoded as one piece. Memory: about five times the UTF-8 of the text. One thread may use it at a time.
///
/// Args: tokenizer: A `toksmith.Tokenizer`, or what names one. text: The text at first. special: Whether
/// special tokens become their ids. chunk_bytes: Bytes from one remembered cut to the next at least. With
/// more, edits take longer, and the document less memory.
///
/// Raises:
///     ValueError: `chunk_bytes` is less than 1.
#[pyclass(frozen, module = "toksmith", name = "Document")]
pub(super) struct PyDocument(Mutex<Document>);

#[pymethods]
impl PyDocument {
    #[new]
    #[pyo3(signature = (tokenizer, text, *, special=true, chunk_bytes=512))]
    fn new(tokenizer: Any, text: Any, special: bool, chunk_bytes: i64) -> PyResult<Self> {
        let chunk_bytes = checked(chunk_bytes)?;
        let encoder = Tokenizer::of_public(tokenizer, "tokenizer")?.get().encoder().clone();
        let made = text::with_utf8(text, 0, |text, control| {
            Document::new(encoder, text, special, chunk_bytes, control)
        })?;
        Ok(PyDocument(Mutex::new(made)))
    }

    /// Return a document of ids, such as those that a model sampled. They stay, though encoding the text
    /// gives others, until an edit is near: then those of its chunk are encoded anew. The arguments are those
    /// of the constructor.
    ///
    /// Raises: KeyError: An id has no token. ValueError: The ids end inside a character; or the tokenizer
    /// normalizes texts, so that its tokens are not the bytes of a text.
    #[staticmethod]
    #[pyo3(signature = (tokenizer, ids, *, special=true, chunk_bytes=512))]
    fn from_ids(tokenizer: Any, ids: Any, special: bool, chunk_bytes: i64) -> PyResult<Self> {
        let chunk_bytes = checked(chunk_bytes)?;
        let tokenizer = Tokenizer::of_public(tokenizer, "tokenizer")?;
        let (core, all) = (tokenizer.get(), tokenizer.get().all_ids(ids)?);
        core.inner.check_document_of_ids().or_raise()?;
        let encoder = core.encoder().clone();
        let make = |control: &Control| Document::of_ids(encoder, &all, special, chunk_bytes, control);
        Ok(PyDocument(Mutex::new(call::long(ids.py(), None, make)?)))
    }

    /// Add text at the end.
    fn append(&self, text: Any) -> PyResult<()> {
        self.edit(text, |document, text, control| {
            let end = document.bytes();
            document.edit(end..end, text, control)
        })
    }

    /// Replace the characters `text[start:end]` by a text.
    ///
    /// Raises:
    ///     ValueError: `start` and `end` are not a range of the text.
    fn replace(&self, start: i64, end: i64, text: Any) -> PyResult<()> {
        let characters = self.document()?.characters();
        if !(0 <= start && start <= end && end as u64 <= characters as u64) {
            let message = format!("{start} to {end} is no range of a text of {characters} characters");
            return Err(PyValueError::new_err(message));
        }
        self.edit(text, |document, text, control| {
            let range = document.byte_of(start as usize)..document.byte_of(end as usize);
            document.edit(range, text, control)
        })
    }

    /// Replace the whole text. Only what is between the same beginning and the same end is encoded.
    fn update(&self, text: Any) -> PyResult<()> {
        self.edit(text, Document::edit_to)
    }

    /// The ids of the text: a read-only array of `uint32`, which later changes of the document leave as it
    /// is.
    ///
    /// The array is a view of the memory of the document. Ids are written to it from the first one that
    /// changed since the last array was taken; all are copied if that array is still there and an id of it
    /// changed.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let mut document = self.document()?;
        let count = document.count();
        let document = &mut *document;
        let memory = call::sized(py, size_of::<u32>() * count, |_| document.view())?;
        arrays::shared(py, memory, count)
    }

    /// The text.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let document = self.document()?;
        let utf8 = call::sized(py, document.bytes(), |_| document.utf8())?;
        text::decoded(py, &utf8, c"strict")
    }

    /// An index before which the last edit changed no id; `len` of the document if it changed none. It is
    /// that of the first changed id, or, where the ids around the edit repeat, one before it.
    #[getter]
    fn changed(&self) -> PyResult<usize> {
        Ok(self.document()?.changed())
    }

    /// Whether an edit encodes its neighbourhood alone. False where nothing is known of the places where a
    /// text can be cut: for a pattern that runs in `regex`, and for some normalizers. Then it encodes the
    /// whole text.
    #[getter]
    fn is_bounded(&self) -> PyResult<bool> {
        Ok(self.document()?.is_bounded())
    }

    /// The number of ids.
    fn __len__(&self) -> PyResult<usize> {
        Ok(self.document()?.count())
    }
}

impl PyDocument {
    fn document(&self) -> PyResult<MutexGuard<'_, Document>> {
        call::alone(&self.0, "a document")
    }

    fn edit(
        &self,
        new: Any,
        change: impl FnOnce(&mut Document, &str, &Control) -> Result<()> + Send,
    ) -> PyResult<()> {
        let mut document = self.document()?;
        let document = &mut *document;
        let around = if document.is_bounded() { 0 } else { document.bytes() };
        text::with_utf8(new, around, |text, control| change(document, text, control))
    }
}

fn checked(chunk_bytes: i64) -> PyResult<usize> {
    let wrong = || PyValueError::new_err(format!("chunk_bytes is at least 1, not {chunk_bytes}"));
    usize::try_from(chunk_bytes).ok().filter(|&bytes| bytes > 0).ok_or_else(wrong)
}
