//! Text of ids that arrive one by one, in many streams at once.

use std::sync::{Mutex, MutexGuard};

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes, PyList, PyString, PyTuple};

use super::formats::{json_of, of_json};
use super::ids::extract_id;
use super::tokenizer::{Tokenizer, public_of};
use super::{call, errors, objects, text};
use crate::error::Result;
use crate::room;
use crate::tokenizer::{DecodeOptions, StreamDecoder, StreamState};

/// Streams of ids that become text, with the same options.
pub(super) struct Streams {
    tokenizer: Py<PyAny>,
    /// Python's error handler for bytes that are not UTF-8.
    errors: Py<PyString>,
    options: DecodeOptions,
    decoder: StreamDecoder,
    streams: Mutex<Vec<StreamState>>,
}

impl Streams {
    /// One stream for each of `prompts`, whose text is not returned again.
    pub(super) fn new<'a>(
        tokenizer: &Bound<'_, PyAny>,
        prompts: impl IntoIterator<Item = PyResult<Bound<'a, PyAny>>>,
        errors: Bound<'_, PyString>,
        options: DecodeOptions,
    ) -> PyResult<Self> {
        let tokenizer = &public_of(tokenizer, "tokenizer")?;
        let core = Tokenizer::of_public(tokenizer, "tokenizer")?;
        let core = &core.get().inner;
        let is_replace = errors.to_str()? == "replace";
        let made = Streams {
            decoder: StreamDecoder::new(core, options.clone(), is_replace)?,
            streams: Mutex::default(),
            tokenizer: tokenizer.clone().unbind(),
            errors: errors.unbind(),
            options,
        };
        for prompt in prompts {
            let state = made.after(&prompt?)?;
            room::push(&mut *made.streams()?, state)?;
        }
        Ok(made)
    }

    pub(super) fn len(&self) -> PyResult<usize> {
        Ok(self.streams()?.len())
    }

    /// Adds an id to each stream, and nothing where it is None; returns the texts that are complete now.
    pub(super) fn push<'py>(&self, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = ids.py();
        let mut streams = self.streams()?;
        let count = streams.len();
        let mut checked: Vec<Option<u32>> = room::for_items(count)?;
        for id in ids.try_iter()? {
            let id = id?;
            if checked.len() == count {
                return Err(wrong_count(ids, count));
            }
            checked.push(if id.is_none() { None } else { self.checked(&id, Some(checked.len()))? });
        }
        if checked.len() < count {
            return Err(wrong_count(ids, count));
        }
        let mut text = Vec::new();
        let texts = streams.iter_mut().zip(checked).map(|(stream, id)| {
            text.clear();
            if let Some(id) = id {
                self.decoder.add(stream, id, &self.on_invalid(py), &mut text)?;
            }
            string(py, &text)
        });
        objects::list_of(py, texts)
    }

    /// Adds an id to the first stream; returns the text that is complete now.
    pub(super) fn push_one<'py>(&self, id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        let (py, mut text) = (id.py(), Vec::new());
        let id = self.checked(id, None)?;
        if let (Some(stream), Some(id)) = (self.streams()?.first_mut(), id) {
            self.decoder.add(stream, id, &self.on_invalid(py), &mut text)?;
        }
        string(py, &text)
    }

    /// Ends all texts; returns what is left of each. The streams start again.
    pub(super) fn flush<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut streams = self.streams()?;
        let mut text = Vec::new();
        let texts = streams.iter_mut().map(|stream| {
            text.clear();
            self.decoder.finish(stream, &self.on_invalid(py), &mut text)?;
            string(py, &text)
        });
        objects::list_of(py, texts)
    }

    /// The stop string that ended each text; None where none did.
    pub(super) fn stopped(&self) -> PyResult<Vec<Option<String>>> {
        let strings = self.decoder.stops();
        Ok(self.streams()?.iter().map(|stream| stream.stop.and_then(|at| strings.get(at).cloned())).collect())
    }

    /// What [`Streams::restored`] makes equal streams of, as `__reduce__` returns it.
    pub(super) fn reduced<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let values = (&self.errors, json_of(&(&self.options, &*self.streams()?))?).into_pyobject(py)?;
        (&self.tokenizer, &values, digest_of(&values)?).into_pyobject(py)
    }

    pub(super) fn restored(
        tokenizer: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
        digest: &str,
    ) -> PyResult<Self> {
        if digest_of(values)? != digest {
            let error = values.py().import("pickle")?.getattr("UnpicklingError")?;
            let message = "the pickle of the DecodeStream is damaged: checksum mismatch";
            return Err(PyErr::from_value(error.call1((message,))?));
        }
        let (errors, state): (_, String) = values.extract()?;
        let (options, streams) = of_json(&state)?;
        let made = Self::new(tokenizer, [], errors, options)?;
        *made.streams()? = streams;
        Ok(made)
    }

    fn streams(&self) -> PyResult<MutexGuard<'_, Vec<StreamState>>> {
        call::alone(&self.streams, "a decoding stream")
    }

    /// The stream after the ids of a prompt.
    fn after(&self, prompt: &Bound<'_, PyAny>) -> PyResult<StreamState> {
        let (mut stream, on_invalid) = (self.decoder.begun(), self.on_invalid(prompt.py()));
        for (index, id) in objects::iterator(prompt, "a prompt is a list of ids")?.enumerate() {
            if let Some(id) = self.checked(&id?, Some(index))? {
                self.decoder.skip(&mut stream, id, &on_invalid)?;
            }
        }
        self.decoder.end_prompt(&mut stream)?;
        Ok(stream)
    }

    /// An id that has a text; None for one that is skipped.
    fn checked(&self, id: &Bound<'_, PyAny>, index: Option<usize>) -> PyResult<Option<u32>> {
        let known = extract_id(id, index).and_then(|id| Ok((id, self.decoder.has_text(id, index)?)));
        match known {
            Ok((id, has_text)) => Ok(has_text.then_some(id)),
            Err(error) if self.options.skip_unknown && error.is_instance_of::<PyKeyError>(id.py()) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// What decodes bytes that are not all UTF-8: Python's decoder, which defines what becomes of them.
    fn on_invalid<'a>(&'a self, py: Python<'a>) -> impl Fn(&[u8], bool, &mut Vec<u8>) -> Result<usize> + 'a {
        move |bytes, is_last, text| {
            let mut decode = || {
                let codecs = py.import(intern!(py, "codecs"))?;
                let arguments = (objects::bytes(py, bytes)?, &self.errors, is_last);
                let (decoded, taken): (Bound<'_, PyString>, usize) =
                    codecs.call_method1(intern!(py, "utf_8_decode"), arguments)?.extract()?;
                let passed = decoded.call_method1(intern!(py, "encode"), ("utf-8", "surrogatepass"))?;
                room::extend(text, passed.cast::<PyBytes>()?.as_bytes())?;
                PyResult::Ok(taken)
            };
            decode().map_err(errors::raised)
        }
    }
}

/// A `str` of UTF-8 that may have lone surrogates.
fn string<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyString>> {
    let text = match text::from_utf8(py, bytes) {
        Some(text) => text?,
        None => objects::bytes(py, bytes)?.call_method1(intern!(py, "decode"), ("utf-8", "surrogatepass"))?,
    };
    Ok(text.cast_into()?)
}

fn wrong_count(ids: &Bound<'_, PyAny>, streams: usize) -> PyErr {
    let count = ids.len().map_or_else(|_| "another number of".to_owned(), |count| count.to_string());
    PyValueError::new_err(format!("there are {streams} streams, but {count} ids: give one for each, or None"))
}

fn digest_of(values: &Bound<'_, PyAny>) -> PyResult<String> {
    let shown = values.repr()?.call_method1("encode", ("utf-8", "surrogatepass"))?;
    Ok(blake3::hash(shown.cast::<PyBytes>()?.as_bytes()).to_hex().to_string())
}
