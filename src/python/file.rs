//! Files: encoding one to an array or to a file of ids, and checksums.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::sync::Arc;

use numpy::Element;
use pyo3::prelude::*;

use super::{arrays, call};
use crate::encode::{Encoder, FileOptions, IdArray, IdFile, IdType};
use crate::error::Error;
use crate::source::{self, WrittenHashes};

/// The arguments of [`encode`].
pub(super) struct FileRequest<'a> {
    pub(super) encoder: &'a Encoder,
    pub(super) path: PathBuf,
    pub(super) options: FileOptions,
    /// The file to which the ids are appended, and its name for errors; `None` to make an array.
    pub(super) out: Option<(PathBuf, PathBuf)>,
}

/// Encodes the file. Returns an array of ids or, with `out`, how many ids were written.
pub(super) fn encode<'py, T: IdType + Element>(
    py: Python<'py>,
    request: FileRequest<'_>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let FileRequest { encoder, path, options, out } = request;
    let Some((out, name)) = out else {
        let mut ids = IdArray::<T>(Vec::new());
        let ids = call::long(py, progress, |control| {
            encoder.encode_file(&path, &options, &mut ids, control)?;
            Ok(ids.0)
        })?;
        return Ok(arrays::array(py, ids)?.into_any());
    };
    let count = call::long(py, progress, |control| {
        let opened = OpenOptions::new().write(true).open(out);
        let opened = opened.and_then(|file| Ok((file.metadata()?.len(), file)));
        let (start, file) = opened.map_err(|source| Error::Io { path: name.clone(), source })?;
        let mut ids = IdFile::<T>::new(file, start, name);
        encoder.encode_file(&path, &options, &mut ids, control)?;
        Ok(ids.count)
    })?;
    Ok(count.into_pyobject(py)?.into_any())
}

/// Hashes of parts of a file of ids, made while they were written: `checksum` does not read these parts again.
#[pyclass(frozen, name = "WrittenHashes", module = "toksmith._core")]
pub(super) struct PyWrittenHashes(pub(super) Arc<WrittenHashes>);

/// The number of bytes of a file, and their BLAKE3 in hex. Calls `progress("check", done, total)` with bytes.
#[pyfunction]
#[pyo3(signature = (path, *, written = None, progress = None))]
pub(super) fn checksum(
    py: Python<'_>,
    path: PathBuf,
    written: Option<&Bound<'_, PyWrittenHashes>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(u64, String)> {
    let written = written.map_or_else(Arc::default, |written| written.get().0.clone());
    call::long(py, progress, |control| source::checksum(&path, &written, control))
}
