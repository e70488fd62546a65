//! The classes `DecodeStream` and `DecodeStreams`: text of ids that arrive one by one, in one stream or in
//! many at once.

use std::ffi::CStr;
use std::sync::{Mutex, MutexGuard};

use pyo3::PyClass;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes, PyString};

use super::errors::OrRaise;
use super::formats::{json_of, of_json};
use super::ids::extract_id;
use super::objects::{self, Any, IntoObject, List, Made};
use super::tokenizer::{Tokenizer, public_of};
use super::{call, errors, text};
use toksmith::error::Result;
use toksmith::room;
use toksmith::tokenizer::{DecodeOptions, StreamDecoder, StreamState};

/// The error handler of text that may have lone surrogates.
const SURROGATES: &CStr = c"surrogatepass";

/// A function, and its arguments: a tokenizer, `errors` and the state.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyAny>, String, String));

/// Decodes many streams of ids, all of which advance in one call. The options are those of `DecodeStream`.
///
/// Args:
///     tokenizer: The tokenizer of the ids.
///     prompts: For each stream the ids that came before, as of `DecodeStream`.
///     errors: What becomes of bytes that are not UTF-8.
///     skip_special: Whether special tokens have no text.
///     unknown: What becomes of an id without a token.
///     stop: Strings that end a text.
#[pyclass(frozen, weakref, module = "toksmith")]
pub(super) struct DecodeStreams {
    tokenizer: Py<PyAny>,
    /// Python's error handler for bytes that are not UTF-8.
    errors: String,
    decoder: StreamDecoder,
    streams: Mutex<Vec<StreamState>>,
}

#[pymethods]
impl DecodeStreams {
    #[new]
    #[pyo3(signature = (
        tokenizer, prompts, *, errors="replace", skip_special=false, unknown="error", stop=None
    ))]
    fn new(
        tokenizer: Any,
        prompts: Any,
        errors: &str,
        skip_special: bool,
        unknown: &str,
        stop: Option<Any>,
    ) -> PyResult<Self> {
        let made = Self::of(tokenizer, errors.into(), options(skip_special, unknown, stop)?)?;
        for prompt in objects::iterator(prompts, "prompts is a list of lists of ids")? {
            made.join(tokenizer.py(), Some(&prompt?))?;
        }
        Ok(made)
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.streams()?.len())
    }

    /// Add a stream behind the others; return its index. `prompt` is as of `DecodeStream`.
    #[pyo3(signature = (prompt=None))]
    fn join(&self, py: Python<'_>, prompt: Option<Any>) -> PyResult<usize> {
        let state = self.after(py, prompt)?;
        let mut streams = self.streams()?;
        room::push(&mut *streams, state).or_raise()?;
        Ok(streams.len() - 1)
    }

    /// End the text of a stream and take it out: the streams behind it move up by one.
    /// Return what is left of its text.
    ///
    /// Raises: IndexError: There is no such stream.
    fn leave<'py>(&self, py: Python<'py>, index: i64) -> PyResult<Bound<'py, PyAny>> {
        let mut streams = self.streams()?;
        let Some(index) = usize::try_from(index).ok().filter(|&index| index < streams.len()) else {
            let message = format!("there is no stream {index}: there are {}", streams.len());
            return Err(PyIndexError::new_err(message));
        };
        self.finished(py, &mut streams.remove(index))
    }

    /// Add an id to each stream, or nothing where it is None; return the texts that are complete now, often
    /// "".
    ///
    /// Raises: KeyError: No token has an id, and `unknown` is "error"; names its index. No stream has
    /// advanced. UnicodeDecodeError: The bytes are not UTF-8, under `errors="strict"`; the texts of this call
    /// are lost. ValueError: There are not as many ids as streams.
    fn push<'py>(&self, ids: Any<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let py = ids.py();
        let mut streams = self.streams()?;
        let count = streams.len();
        let mut checked: Vec<Option<u32>> = room::for_items(count + 1).or_raise()?;
        for id in ids.try_iter()?.take(count + 1) {
            let id = id?;
            checked.push(if id.is_none() { None } else { self.checked(&id, Some(checked.len()))? });
        }
        if checked.len() != count {
            return Err(wrong_count(ids, count));
        }
        let mut text = Vec::new();
        let texts = streams.iter_mut().zip(checked);
        List(texts.map(|(stream, id)| self.pushed(py, stream, id, &mut text))).object(py)
    }

    /// End all texts; return what is left of each (U+FFFD for an unfinished character). All streams start
    /// anew.
    fn flush<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        List(self.streams()?.iter_mut().map(|stream| self.finished(py, stream))).object(py)
    }

    /// The string of `stop` that ended each text; None for a text that goes on.
    #[getter]
    fn stopped(&self) -> PyResult<Vec<Option<String>>> {
        let stopped = |stream: &StreamState| self.decoder.stopped(stream).map(str::to_owned);
        Ok(self.streams()?.iter().map(stopped).collect())
    }

    #[staticmethod]
    fn _restored(tokenizer: Any, errors: String, state: &str) -> PyResult<Self> {
        let (options, streams) = of_json(state)?;
        let made = Self::of(tokenizer, errors, options)?;
        *made.streams()? = streams;
        Ok(made)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        slf.get().reduced(slf)
    }
}

/// Decodes ids as they come; holds back the bytes of a character that has not all arrived.
///
/// The texts of all pushes and the flush, joined, are `tokenizer.decode` of all ids, up to the first stop
/// string. A stream can be pickled at any point.
///
/// Args: tokenizer: The tokenizer of the ids. prompt: Ids that came before. Their text is not returned again;
/// a character that they leave unfinished is returned as soon as it is complete. errors: What becomes of
/// bytes that are not UTF-8, as in `bytes.decode`; default: "replace". skip_special: Whether special
/// tokens have no text. unknown: What becomes of an id without a token: "error" raises, "skip" takes it for
/// an empty text. Models with padded embeddings produce such ids. stop: Strings that end the text, each of up
/// to 4,096 bytes: it ends before the one that is complete first, or the longest of several. Text with which
/// one may begin is held back.
#[pyclass(frozen, weakref, module = "toksmith")]
pub(super) struct DecodeStream(DecodeStreams);

#[pymethods]
impl DecodeStream {
    #[new]
    #[pyo3(signature = (
        tokenizer, *, prompt=None, errors="replace", skip_special=false, unknown="error", stop=None
    ))]
    fn new(
        tokenizer: Any,
        prompt: Option<Any>,
        errors: &str,
        skip_special: bool,
        unknown: &str,
        stop: Option<Any>,
    ) -> PyResult<Self> {
        let made = DecodeStreams::of(tokenizer, errors.into(), options(skip_special, unknown, stop)?)?;
        made.join(tokenizer.py(), prompt)?;
        Ok(DecodeStream(made))
    }

    /// Add one id; return the text that is complete now, often "".
    ///
    /// Raises: KeyError: No token has this id, and `unknown` is "error"; nothing is lost, and the stream can
    /// continue. UnicodeDecodeError: The bytes are not UTF-8, under `errors="strict"`.
    fn push<'py>(&self, id: Any<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let number = self.0.checked(id, None)?;
        let stream = &mut self.0.streams()?[0];
        self.0.pushed(id.py(), stream, number, &mut Vec::new())
    }

    /// End the text; return the rest of it (U+FFFD for an unfinished character). The stream starts anew.
    fn flush<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.flush(py)?.get_item(0)
    }

    /// The string of `stop` that ended the text; None for a text that goes on.
    #[getter]
    fn stopped(&self) -> PyResult<Option<String>> {
        Ok(self.0.stopped()?.pop().flatten())
    }

    /// Return an iterator over the text of `ids`, piece by piece, which ends it.
    fn pieces<'py>(slf: &Bound<'py, Self>, ids: Any<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let ids = objects::iterator(ids, "ids is an iterable of int")?;
        slf.py().import("toksmith.encoding.text_streaming")?.call_method1("pieces", (slf, ids))
    }

    #[staticmethod]
    fn _restored(tokenizer: Any, errors: String, state: &str) -> PyResult<Self> {
        Ok(DecodeStream(DecodeStreams::_restored(tokenizer, errors, state)?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        slf.get().0.reduced(slf)
    }
}

fn options(skip_special: bool, unknown: &str, stop: Option<Any>) -> PyResult<DecodeOptions> {
    if !["error", "skip"].contains(&unknown) {
        let message = format!("unknown is \"error\" or \"skip\", not {unknown:?}");
        return Err(PyValueError::new_err(message));
    }
    let stop = match stop {
        None => Vec::new(),
        Some(stop) if stop.is_instance_of::<PyString>() => {
            return Err(PyTypeError::new_err(format!("stop is a list of strings: [{}]", stop.repr()?)));
        }
        Some(stop) => objects::extracted(stop, |string| string.extract())?,
    };
    let mut options = DecodeOptions::default();
    (options.skip_special, options.skip_unknown, options.stop) = (skip_special, unknown == "skip", stop);
    Ok(options)
}

impl DecodeStreams {
    /// No streams yet.
    fn of(tokenizer: Any, errors: String, options: DecodeOptions) -> PyResult<Self> {
        let tokenizer = public_of(tokenizer, "tokenizer")?;
        let core = Tokenizer::of_public(&tokenizer, "tokenizer")?;
        let decoder = StreamDecoder::new(&core.get().inner, options, errors == "replace").or_raise()?;
        Ok(DecodeStreams { tokenizer: tokenizer.unbind(), errors, decoder, streams: Mutex::default() })
    }

    /// The text that is complete after an id. `text` is memory for it.
    fn pushed<'py>(
        &self,
        py: Python<'py>,
        stream: &mut StreamState,
        id: Option<u32>,
        text: &mut Vec<u8>,
    ) -> PyResult<Bound<'py, PyAny>> {
        text.clear();
        if let Some(id) = id {
            self.decoder.add(stream, id, &self.on_invalid(py), text).or_raise()?;
        }
        text::decoded(py, text, SURROGATES)
    }

    /// Ends the text of a stream; returns what is left of it.
    fn finished<'py>(&self, py: Python<'py>, stream: &mut StreamState) -> PyResult<Bound<'py, PyAny>> {
        let mut text = Vec::new();
        self.decoder.finish(stream, &self.on_invalid(py), &mut text).or_raise()?;
        text::decoded(py, &text, SURROGATES)
    }

    /// What `__reduce__` returns: `_restored` makes equal streams of the arguments.
    fn reduced<'py, T: PyClass>(&self, of: &Bound<'py, T>) -> PyResult<Reduced<'py>> {
        let state = json_of(&(&self.decoder.options, &*self.streams()?))?;
        let tokenizer = self.tokenizer.bind(of.py()).clone();
        Ok((of.as_any().get_type().getattr("_restored")?, (tokenizer, self.errors.clone(), state)))
    }

    fn streams(&self) -> PyResult<MutexGuard<'_, Vec<StreamState>>> {
        call::alone(&self.streams, "a decoding stream")
    }

    /// The stream after the ids of a prompt.
    fn after(&self, py: Python<'_>, prompt: Option<Any>) -> PyResult<StreamState> {
        let mut ids = Vec::new();
        let prompt =
            prompt.map(|prompt| objects::iterator(prompt, "a prompt is a list of ids")).transpose()?;
        for (index, id) in prompt.into_iter().flatten().enumerate() {
            ids.extend(self.checked(&id?, Some(index))?);
        }
        self.decoder.after(&ids, &self.on_invalid(py)).or_raise()
    }

    /// An id that has a text; None for one that is skipped.
    fn checked(&self, id: Any, index: Option<usize>) -> PyResult<Option<u32>> {
        match extract_id(id, index) {
            Ok(id) => Ok(self.decoder.has_text(id, index).or_raise()?.then_some(id)),
            Err(error)
                if self.decoder.options.skip_unknown && error.is_instance_of::<PyKeyError>(id.py()) =>
            {
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
                let arguments = (Made(bytes), &self.errors, is_last);
                let (decoded, taken): (Bound<'_, PyString>, usize) =
                    codecs.call_method1(intern!(py, "utf_8_decode"), arguments)?.extract()?;
                let passed = decoded.call_method1(intern!(py, "encode"), ("utf-8", "surrogatepass"))?;
                room::extend(text, passed.cast::<PyBytes>()?.as_bytes()).or_raise()?;
                PyResult::Ok(taken)
            };
            decode().map_err(errors::raised)
        }
    }
}

fn wrong_count(ids: Any, streams: usize) -> PyErr {
    let count = ids.len().map_or_else(|_| "another number of".to_owned(), |count| count.to_string());
    PyValueError::new_err(format!("there are {streams} streams, but {count} ids: give one for each, or None"))
}
