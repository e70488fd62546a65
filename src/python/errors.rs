//! Maps errors of the core to built-in exceptions. No other module decides which exception is raised.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;

use pyo3::exceptions::{
    PyIsADirectoryError, PyKeyError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;

use super::allocator;
use toksmith::error::{Error, Result};

/// Turns results of the core into those of Python's functions.
pub(super) trait OrRaise<T> {
    /// The value, or the exception of the error.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T> {
    #[inline]
    fn or_raise(self) -> PyResult<T> {
        self.map_err(exception)
    }
}

/// The exception of an error.
#[cold]
fn exception(error: Error) -> PyErr {
    match error {
        Error::OutOfMemory { .. } => out_of_memory(&error),
        Error::TooManyUnique { .. } => PyMemoryError::new_err(error.to_string()),
        Error::ArrowType { .. } => PyTypeError::new_err(error.to_string()),
        Error::UnknownId { .. } => PyKeyError::new_err(error.to_string()),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Io { ref path, ref source } => match (source.kind(), source.raw_os_error()) {
            (ErrorKind::OutOfMemory, _) => out_of_memory(&error),
            (ErrorKind::InvalidInput, _) => PyValueError::new_err(message(path, &error)),
            // The subclass of OSError for the errno: FileNotFoundError, PermissionError, …
            (_, Some(code)) => {
                let text = source.to_string();
                let reason = text.split(" (os error").next().unwrap_or(&text).to_owned();
                PyOSError::new_err((code, reason, path.clone()))
            }
            (ErrorKind::IsADirectory, None) => PyIsADirectoryError::new_err(message(path, &error)),
            _ => PyOSError::new_err(message(path, &error)),
        },
        Error::Spill { ref folder, ref source, .. } => {
            PyOSError::new_err((source.raw_os_error().unwrap_or(0), error.to_string(), folder.clone()))
        }
        Error::Splitter(inner) => match inner.downcast::<PyErr>() {
            Ok(error) => *error,
            Err(inner) => PyValueError::new_err(inner.to_string()),
        },
        Error::Surrogate { at } => surrogate_at(at),
        Error::Unread { ref path, .. } => PyValueError::new_err(message(path, &error)),
        other => PyValueError::new_err(other.to_string()),
    }
}

fn out_of_memory(error: &Error) -> PyErr {
    allocator::leave_some();
    PyMemoryError::new_err(error.to_string())
}

/// A message that begins with the name of a file, with the name as Python has it: a name that is not UTF-8
/// stays as it is.
fn message(path: &Path, error: &Error) -> OsString {
    let mut message = path.as_os_str().to_owned();
    message.push(error.to_string().strip_prefix(&path.display().to_string()).unwrap_or_default());
    message
}

/// The exception for an argument of another type: what it is, and what else to say.
pub(super) fn wrong_type(is: &str, argument: &Bound<'_, PyAny>, more: &str) -> PyErr {
    match argument.get_type().name() {
        Ok(kind) => PyTypeError::new_err(format!("{is}, not {kind}{more}")),
        Err(error) => error,
    }
}

/// Wraps an exception of Python in an error that the core passes on unchanged.
pub(super) fn raised(error: PyErr) -> Error {
    Error::Splitter(Box::new(error))
}

/// The exception for a `str` without UTF-8; only a lone surrogate can be the reason.
pub(super) fn surrogate(py: Python<'_>, error: PyErr) -> PyErr {
    let at = error.value(py).getattr("start").and_then(|start| start.extract::<usize>());
    at.map_or(error, surrogate_at)
}

fn surrogate_at(at: usize) -> PyErr {
    PyValueError::new_err(format!(
        "the text has a lone surrogate at character {at}, which cannot be encoded as UTF-8: \
         replace it, for example with text.encode(\"utf-16\", \"surrogatepass\").decode(\"utf-16\", \"replace\")"
    ))
}
