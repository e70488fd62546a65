//! Text of ids that arrive one by one, in many streams at once.

use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes, PyList, PyString, PyTuple};
use rustc_hash::FxHashSet;

use super::decoder::{self, StateTuple};
use super::ids::{self, IdRun};
use super::tokenizer::{Tokenizer, public_of};
use super::{objects, text};
use crate::decode::{DecoderState, StopStrings, TextDecoder};
use crate::encode::Encoder;
use crate::error::Error;
use crate::room;

/// Streams of ids that become text, with the same options.
pub(super) struct Streams {
    tokenizer: Py<PyAny>,
    options: Options,
    encoder: Arc<Encoder>,
    decoder: Option<Arc<TextDecoder>>,
    /// Whether the stages of the decoder run, instead of joining bytes.
    is_staged: bool,
    skipped: FxHashSet<u32>,
    stops: Option<StopStrings>,
    streams: Mutex<Vec<StreamState>>,
}

/// The options of a stream, as Python has them.
#[derive(IntoPyObject, IntoPyObjectRef, FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct Options {
    pub(super) errors: Py<PyString>,
    pub(super) skip_special_tokens: bool,
    pub(super) unknown: String,
    pub(super) stop: Vec<String>,
}

/// One stream.
#[derive(Clone, Default)]
struct StreamState {
    /// Bytes of a character that has not all arrived.
    bytes: Vec<u8>,
    /// How many spaces may still be taken off the front.
    spaces: usize,
    stages: DecoderState,
    /// Text with which a stop string may begin. A lone surrogate is in three bytes, as by `surrogatepass`.
    pending: Vec<u8>,
    /// The stop string that ended the text.
    stop: Option<usize>,
    /// Whether the text was ended by `flush`.
    is_over: bool,
}

/// The state of a stream as a tuple of its fields.
type StreamTuple = (Vec<u8>, usize, StateTuple, Vec<u8>, Option<usize>, bool);

impl Streams {
    /// One stream for each of `prompts`, whose text is not returned again.
    pub(super) fn new<'a>(
        tokenizer: &Bound<'_, PyAny>,
        prompts: impl IntoIterator<Item = PyResult<Bound<'a, PyAny>>>,
        options: Options,
    ) -> PyResult<Self> {
        let tokenizer = &public_of(tokenizer, "tokenizer")?;
        let core = Tokenizer::of_public(tokenizer, "tokenizer")?;
        let (encoder, decoder) = (core.get().encoder.clone(), core.get().decoder.clone());
        if !["error", "skip"].contains(&&*options.unknown) {
            let message = format!("unknown is \"error\" or \"skip\", not {:?}", options.unknown);
            return Err(PyValueError::new_err(message));
        }
        let is_replace = options.errors.bind(tokenizer.py()).to_str()? == "replace";
        let made = Streams {
            is_staged: decoder.as_ref().is_some_and(|decoder| {
                !decoder.joins_bytes() && (is_replace || decoder.stripped().is_none())
            }),
            skipped: if options.skip_special_tokens { special_ids(tokenizer)? } else { FxHashSet::default() },
            stops: StopStrings::new(options.stop.clone())?,
            streams: Mutex::default(),
            tokenizer: tokenizer.clone().unbind(),
            options,
            encoder,
            decoder,
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
                self.add(py, stream, id, &mut text)?;
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
            self.add(py, stream, id, &mut text)?;
        }
        string(py, &text)
    }

    /// Ends all texts; returns what is left of each. The streams start again.
    pub(super) fn flush<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut streams = self.streams()?;
        let mut text = Vec::new();
        let texts = streams.iter_mut().map(|stream| {
            text.clear();
            self.finish(py, stream, &mut text)?;
            string(py, &text)
        });
        objects::list_of(py, texts)
    }

    /// The stop string that ended each text; None where none did.
    pub(super) fn stopped(&self) -> PyResult<Vec<Option<String>>> {
        let strings = self.stops.as_ref().map_or(&[][..], StopStrings::strings);
        Ok(self.streams()?.iter().map(|stream| stream.stop.and_then(|at| strings.get(at).cloned())).collect())
    }

    /// Whether a stop string has ended the text of the first stream.
    pub(super) fn is_stopped(&self) -> PyResult<bool> {
        Ok(self.streams()?.first().is_none_or(|stream| stream.stop.is_some() && !stream.is_over))
    }

    /// What [`Streams::restored`] makes equal streams of, as `__reduce__` returns it.
    pub(super) fn reduced<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let fields = |stream: StreamState| {
            let stages = decoder::to_tuple(stream.stages);
            (stream.bytes, stream.spaces, stages, stream.pending, stream.stop, stream.is_over)
        };
        let states: Vec<StreamTuple> = self.streams()?.iter().cloned().map(fields).collect();
        let values = (&self.options, states).into_pyobject(py)?;
        (&self.tokenizer, &values, digest_of(&values)?).into_pyobject(py)
    }

    /// The streams of a pickle.
    ///
    /// # Errors
    /// `UnpicklingError` if it is damaged.
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
        let (options, states): (Options, Vec<StreamTuple>) = values.extract()?;
        let made = Self::new(tokenizer, [], options)?;
        let stream = |(bytes, spaces, stages, pending, stop, is_over)| {
            let stages = decoder::of_tuple(stages);
            StreamState { bytes, spaces, stages, pending, stop, is_over }
        };
        *made.streams()? = states.into_iter().map(stream).collect();
        Ok(made)
    }

    fn streams(&self) -> PyResult<MutexGuard<'_, Vec<StreamState>>> {
        // The lock is only tried: a thread that holds it may be waiting for the GIL.
        let busy = |_| PyRuntimeError::new_err("a decoding stream cannot be used by two threads at once");
        self.streams.try_lock().map_err(busy)
    }

    fn skips_unknown(&self) -> bool {
        self.options.unknown == "skip"
    }

    /// A new stream.
    fn begun(&self) -> StreamState {
        let spaces = self.decoder.as_ref().and_then(|decoder| decoder.stripped()).unwrap_or(0);
        StreamState { spaces, ..StreamState::default() }
    }

    /// The stream after the ids of a prompt.
    fn after(&self, prompt: &Bound<'_, PyAny>) -> PyResult<StreamState> {
        let (py, mut stream, mut text) = (prompt.py(), self.begun(), Vec::new());
        let mut add = |id| {
            text.clear();
            self.decode(py, &mut stream, id, &mut text)
        };
        if self.skips_unknown() {
            for (index, id) in objects::iterator(prompt, "a prompt is a list of ids")?.enumerate() {
                self.checked(&id?, Some(index))?.map_or(Ok(()), &mut add)?;
            }
        } else {
            let mut index = 0;
            let max_id = self.encoder.vocab().tokens().max_id().unwrap_or(0);
            ids::for_runs(prompt, max_id, &mut |run| match run {
                IdRun::Length(_) => Ok(()),
                IdRun::Ids(ids) => ids.iter().try_for_each(|&id| {
                    self.known(id, Some(index))?;
                    index += 1;
                    if self.skipped.contains(&id) { Ok(()) } else { add(id) }
                }),
            })?;
        }
        if let Some(decoder) = self.decoder.as_ref().filter(|_| self.is_staged) {
            decoder.mark_shown(&mut stream.stages)?;
        }
        Ok(stream)
    }

    /// An id that has a text; None for one that is skipped.
    fn checked(&self, id: &Bound<'_, PyAny>, index: Option<usize>) -> PyResult<Option<u32>> {
        let known = ids::extract_id(id, index).and_then(|id| self.known(id, index).map(|()| id));
        match known {
            Ok(id) => Ok(Some(id).filter(|id| !self.skipped.contains(id))),
            Err(error) if self.skips_unknown() && error.is_instance_of::<PyKeyError>(id.py()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn known(&self, id: u32, index: Option<usize>) -> PyResult<()> {
        match self.encoder.vocab().tokens().get(id) {
            Some(_) => Ok(()),
            None => Err(Error::UnknownId { id: i128::from(id), index }.into()),
        }
    }

    /// Adds an id to a stream; appends the text that is complete now.
    fn add(&self, py: Python<'_>, stream: &mut StreamState, id: u32, text: &mut Vec<u8>) -> PyResult<()> {
        if stream.is_over {
            *stream = self.begun();
        }
        if stream.stop.is_some() {
            return Ok(());
        }
        let Some(stops) = &self.stops else { return self.decode(py, stream, id, text) };
        let mut more = Vec::new();
        self.decode(py, stream, id, &mut more)?;
        stream.stop = stops.push(&mut stream.pending, &more, false, text)?;
        Ok(())
    }

    /// Ends a text.
    fn finish(&self, py: Python<'_>, stream: &mut StreamState, text: &mut Vec<u8>) -> PyResult<()> {
        if stream.is_over {
            *stream = self.begun();
        }
        let mut last = std::mem::replace(stream, StreamState { is_over: true, ..StreamState::default() });
        stream.stop = last.stop;
        if last.stop.is_some() {
            return Ok(());
        }
        let mut more = Vec::new();
        match self.decoder.as_ref().filter(|_| self.is_staged) {
            Some(decoder) => {
                let mut end = String::new();
                decoder.finish(&mut last.stages, &mut end)?;
                more = end.into_bytes();
            }
            None => self.complete(py, &mut last.bytes, &[], true, &mut more)?,
        }
        match &self.stops {
            Some(stops) => stream.stop = stops.push(&mut last.pending, &more, true, text)?,
            None => text.append(&mut more),
        }
        Ok(())
    }

    /// Appends the text of an id that is complete now.
    fn decode(&self, py: Python<'_>, stream: &mut StreamState, id: u32, text: &mut Vec<u8>) -> PyResult<()> {
        let vocab = self.encoder.vocab();
        if let Some(decoder) = self.decoder.as_ref().filter(|_| self.is_staged) {
            let mut more = String::new();
            decoder.push(vocab, &mut stream.stages, id, None, &mut more)?;
            return Ok(room::extend(text, more.as_bytes())?);
        }
        let replaced = self.decoder.as_ref().and_then(|decoder| decoder.replaced().get(&id));
        let mut token = replaced.map_or_else(|| vocab.token_bytes(id), |token| Ok(token.as_slice()))?;
        if let Some(decoder) = &self.decoder {
            token = decoder.strip(id, token, &mut stream.spaces);
        }
        self.complete(py, &mut stream.bytes, token, false, text)
    }

    /// Adds bytes to those of an unfinished character; appends the characters that are complete now.
    fn complete(
        &self,
        py: Python<'_>,
        bytes: &mut Vec<u8>,
        more: &[u8],
        is_last: bool,
        text: &mut Vec<u8>,
    ) -> PyResult<()> {
        if bytes.is_empty() && simdutf8::basic::from_utf8(more).is_ok() {
            return Ok(room::extend(text, more)?);
        }
        let before = bytes.len();
        room::extend(bytes, more)?;
        let taken = match std::str::from_utf8(bytes) {
            Ok(_) => bytes.len(),
            Err(error) if error.error_len().is_none() && !is_last => error.valid_up_to(),
            Err(_) => match self.decode_in_python(py, bytes, is_last, text) {
                Ok(taken) => {
                    bytes.drain(..taken);
                    return Ok(());
                }
                Err(error) => {
                    bytes.truncate(before);
                    return Err(error);
                }
            },
        };
        room::extend(text, &bytes[..taken])?;
        bytes.drain(..taken);
        Ok(())
    }

    /// Decodes bytes that are not all UTF-8 by Python's decoder, which defines what becomes of them. Returns how many it
    /// has taken.
    fn decode_in_python(
        &self,
        py: Python<'_>,
        bytes: &[u8],
        is_last: bool,
        text: &mut Vec<u8>,
    ) -> PyResult<usize> {
        let codecs = py.import(intern!(py, "codecs"))?;
        let arguments = (objects::bytes(py, bytes)?, &self.options.errors, is_last);
        let (decoded, taken): (Bound<'_, PyString>, usize) =
            codecs.call_method1(intern!(py, "utf_8_decode"), arguments)?.extract()?;
        let passed = decoded.call_method1(intern!(py, "encode"), ("utf-8", "surrogatepass"))?;
        room::extend(text, passed.cast::<PyBytes>()?.as_bytes())?;
        Ok(taken)
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

/// The ids of the tokens that are special.
fn special_ids(tokenizer: &Bound<'_, PyAny>) -> PyResult<FxHashSet<u32>> {
    let names = tokenizer.getattr("special_tokens")?;
    let mut ids = FxHashSet::default();
    for id in names.call_method0("values")?.try_iter()? {
        ids.insert(id?.extract()?);
    }
    let pipeline = tokenizer.getattr("pipeline")?;
    if !pipeline.is_none() {
        for token in pipeline.getattr("added_tokens")?.try_iter()? {
            let token = token?;
            let id = token.getattr("id")?.extract()?;
            let _ = if token.getattr("special")?.is_truthy()? { ids.insert(id) } else { ids.remove(&id) };
        }
    }
    Ok(ids)
}

/// A checksum of values, in hex.
fn digest_of(values: &Bound<'_, PyAny>) -> PyResult<String> {
    let shown = values.repr()?.call_method1("encode", ("utf-8", "surrogatepass"))?;
    Ok(blake3::hash(shown.cast::<PyBytes>()?.as_bytes()).to_hex().to_string())
}
