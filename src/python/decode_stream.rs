//! The classes `DecodeStream` and `DecodeStreams`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyList, PyString, PyTuple};

use super::decode_streams::Streams;
use super::objects;
use crate::tokenizer::DecodeOptions;

type Reduced<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);

/// Decodes many streams of ids, all of which advance in one call. The options are those of `DecodeStream`.
///
/// Args:
///     tokenizer: The tokenizer of the ids.
///     prompts: For each stream the ids that came before, as of `DecodeStream`.
///     errors: What becomes of bytes that are not UTF-8.
///     skip_special_tokens: Whether special tokens have no text.
///     unknown: What becomes of an id without a token.
///     stop: Strings that end a text.
#[pyclass(frozen, weakref, module = "toksmith")]
pub(super) struct DecodeStreams(Streams);

#[pymethods]
impl DecodeStreams {
    #[new]
    #[pyo3(signature = (
        tokenizer, prompts, *, errors=None, skip_special_tokens=false, unknown="error", stop=None
    ))]
    fn new(
        tokenizer: &Bound<'_, PyAny>,
        prompts: &Bound<'_, PyAny>,
        errors: Option<Bound<'_, PyString>>,
        skip_special_tokens: bool,
        unknown: &str,
        stop: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (errors, options) = options(tokenizer.py(), errors, skip_special_tokens, unknown, stop)?;
        let prompts = objects::iterator(prompts, "prompts is a list of lists of ids")?;
        Ok(DecodeStreams(Streams::new(tokenizer, prompts, errors, options)?))
    }

    fn __len__(&self) -> PyResult<usize> {
        self.0.len()
    }

    /// Add an id to each stream, or nothing where it is None; return the texts that are complete now, often "".
    ///
    /// Raises:
    ///     KeyError: No token has an id, and `unknown` is "error"; names its index. No stream has advanced.
    ///     UnicodeDecodeError: The bytes are not UTF-8, under `errors="strict"`; the texts of this call are lost.
    ///     ValueError: There are not as many ids as streams.
    fn push<'py>(&self, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        self.0.push(ids)
    }

    /// End all texts; return what is left of each (U+FFFD for an unfinished character). All streams start anew.
    fn flush<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.0.flush(py)
    }

    /// The string of `stop` that ended each text; None for a text that goes on.
    #[getter]
    fn stopped(&self) -> PyResult<Vec<Option<String>>> {
        self.0.stopped()
    }

    #[staticmethod]
    fn _restored(tokenizer: &Bound<'_, PyAny>, values: &Bound<'_, PyAny>, digest: &str) -> PyResult<Self> {
        Ok(DecodeStreams(Streams::restored(tokenizer, values, digest)?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        Ok((slf.get_type().getattr("_restored")?, slf.get().0.reduced(slf.py())?))
    }
}

/// Decodes ids as they come; holds back the bytes of a character that has not all arrived.
///
/// The texts of all pushes and the flush, joined, are `tokenizer.decode` of all ids, up to the first stop string. A
/// stream can be pickled at any point.
///
/// Args:
///     tokenizer: The tokenizer of the ids.
///     prompt: Ids that came before. Their text is not returned again; a character that they leave unfinished is
///         returned as soon as it is complete.
///     errors: What becomes of bytes that are not UTF-8, as in `bytes.decode`; default: "replace".
///     skip_special_tokens: Whether special tokens have no text.
///     unknown: What becomes of an id without a token: "error" raises, "skip" takes it for an empty text. Models with
///         padded embeddings produce such ids.
///     stop: Strings that end the text, each of up to 4,096 bytes: it ends before the one that is complete first, or
///         the longest of several. Text with which one may begin is held back.
#[pyclass(frozen, weakref, module = "toksmith")]
pub(super) struct DecodeStream(Streams);

#[pymethods]
impl DecodeStream {
    #[new]
    #[pyo3(signature = (
        tokenizer, *, prompt=None, errors=None, skip_special_tokens=false, unknown="error", stop=None
    ))]
    fn new(
        tokenizer: &Bound<'_, PyAny>,
        prompt: Option<Bound<'_, PyAny>>,
        errors: Option<Bound<'_, PyString>>,
        skip_special_tokens: bool,
        unknown: &str,
        stop: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = tokenizer.py();
        let (errors, options) = options(py, errors, skip_special_tokens, unknown, stop)?;
        let prompt = prompt.map_or_else(|| Ok(objects::list(py)?.into_any()), Ok);
        Ok(DecodeStream(Streams::new(tokenizer, [prompt], errors, options)?))
    }

    /// Add one id; return the text that is complete now, often "".
    ///
    /// Raises:
    ///     KeyError: No token has this id, and `unknown` is "error"; nothing is lost, and the stream can continue.
    ///     UnicodeDecodeError: The bytes are not UTF-8, under `errors="strict"`.
    fn push<'py>(&self, id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        self.0.push_one(id)
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
    fn pieces<'py>(slf: &Bound<'py, Self>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let ids = objects::iterator(ids, "ids is an iterable of int")?;
        slf.py().import("toksmith.encoding.text_streaming")?.call_method1("pieces", (slf, ids))
    }

    #[staticmethod]
    fn _restored(tokenizer: &Bound<'_, PyAny>, values: &Bound<'_, PyAny>, digest: &str) -> PyResult<Self> {
        Ok(DecodeStream(Streams::restored(tokenizer, values, digest)?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        Ok((slf.get_type().getattr("_restored")?, slf.get().0.reduced(slf.py())?))
    }
}

/// The error handler and the options of arguments.
fn options<'py>(
    py: Python<'py>,
    errors: Option<Bound<'py, PyString>>,
    skip_special_tokens: bool,
    unknown: &str,
    stop: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyString>, DecodeOptions)> {
    if !["error", "skip"].contains(&unknown) {
        let message = format!("unknown is \"error\" or \"skip\", not {unknown:?}");
        return Err(PyValueError::new_err(message));
    }
    let mut strings = Vec::new();
    if let Some(stop) = stop {
        if stop.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!("stop is a list of strings: [{}]", stop.repr()?)));
        }
        for string in stop.try_iter()? {
            strings.push(string?.extract()?);
        }
    }
    let errors = errors.map_or_else(|| objects::string(py, "replace"), Ok)?;
    Ok((errors, DecodeOptions { skip_special_tokens, skip_unknown: unknown == "skip", stop: strings }))
}
