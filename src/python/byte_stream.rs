//! A decompressed file as blocks of bytes, and the text of a record in a file.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::{call, objects};
use crate::source::{ByteStream, Compression, text_of};

/// Bytes of one block.
const BLOCK_BYTES: usize = 1 << 20;

/// Reads a file from front to back. A change of the file while it is read is an error.
#[pyclass(frozen, name = "ByteStream", module = "toksmith._core")]
pub(super) struct PyByteStream {
    stream: Mutex<ByteStream>,
}

/// The compression with this name; the name `None` stands for no compression.
pub(super) fn compression_of(name: Option<&str>) -> PyResult<Compression> {
    match name {
        None => Ok(Compression::None),
        Some("gzip") => Ok(Compression::Gzip),
        Some("zstd") => Ok(Compression::Zstd),
        Some("xz") => Ok(Compression::Xz),
        Some(other) => Err(PyValueError::new_err(format!("unknown compression {other:?}"))),
    }
}

#[pymethods]
impl PyByteStream {
    #[new]
    #[pyo3(signature = (path, compression=None))]
    fn new(path: PathBuf, compression: Option<&str>) -> PyResult<Self> {
        let stream = ByteStream::open(&path, compression_of(compression)?, None)?;
        Ok(PyByteStream { stream: Mutex::new(stream) })
    }

    /// The next block of decompressed bytes; empty at the end.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        // The lock is only tried: a thread that holds it may be waiting for the GIL.
        let busy = |_| PyRuntimeError::new_err("a stream cannot be read by two threads at once");
        let mut guard = self.stream.try_lock().map_err(busy)?;
        let stream = &mut *guard;
        let block = call::long(py, None, |control| {
            let mut block = Vec::new();
            stream.read(BLOCK_BYTES, &mut block, control)?;
            Ok(block)
        })?;
        objects::bytes(py, &block)
    }

    /// Bytes of the file on the disk, not decompressed, that were read since the last call.
    fn take_progress(&self) -> PyResult<u64> {
        let busy = |_| PyRuntimeError::new_err("a stream cannot be read by two threads at once");
        Ok(self.stream.try_lock().map_err(busy)?.take_progress())
    }
}

/// The text in the field `field` of a JSON object in one line. With `replace`, a lone surrogate is read as U+FFFD.
#[pyfunction]
pub(super) fn record_text<'py>(
    py: Python<'py>,
    line: &[u8],
    field: &str,
    replace: bool,
) -> PyResult<Bound<'py, PyString>> {
    let text = text_of(line, field, replace).map_err(PyValueError::new_err)?;
    objects::string(py, &text)
}
