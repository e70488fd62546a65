//! Files: encoding one to an array or to a file of ids, and checksums.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::Element;
use pyo3::prelude::*;

use super::{arrays, call};
use crate::encode::{Encoder, FileOptions, IdArray, IdFile, IdType};
use crate::error::Error;
use crate::shards::{self, NPY_HEADER_BYTES};
use crate::source::{self, WrittenHashes};

/// Encodes the file. `out` is an empty file for the ids, and its name in the end, whose suffix decides the format. Returns
/// how many ids were written, or without `out` an array of them.
pub(super) fn encode<'py, T: IdType + Element>(
    py: Python<'py>,
    encoder: &Encoder,
    path: &Path,
    options: &FileOptions,
    out: Option<(PathBuf, PathBuf)>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some((out, name)) = out else {
        let mut ids = IdArray::<T>(Vec::new());
        let ids = call::long(py, progress, |control| {
            encoder.encode_file(path, options, &mut ids, control)?;
            Ok(ids.0)
        })?;
        return Ok(arrays::array(py, ids)?.into_any());
    };
    let open = || OpenOptions::new().write(true).open(&out);
    let failed = |source| Error::Io { path: name.clone(), source };
    let is_npy = name.extension().is_some_and(|suffix| suffix == "npy");
    let start = if is_npy { NPY_HEADER_BYTES as u64 } else { 0 };
    let count = call::long(py, progress, |control| {
        let mut ids = IdFile::<T>::new(open().map_err(failed)?, start, name.clone());
        encoder.encode_file(path, options, &mut ids, control)?;
        if is_npy {
            let header = shards::npy_header(ids.count, if T::IS_WIDE { "<u4" } else { "<u2" });
            open().and_then(|mut file| file.write_all(&header)).map_err(failed)?;
        }
        Ok(ids.count)
    })?;
    Ok(count.into_pyobject(py)?.into_any())
}

/// Hashes of parts of a file of ids, made while they were written: `checksum` does not read these parts again.
#[pyclass(frozen, name = "WrittenHashes", module = "toksmith._core")]
pub(super) struct PyWrittenHashes(pub(super) Arc<WrittenHashes>);

/// The number of bytes of a file, and their BLAKE3 in hex; with `sync` the file is on the disk afterwards. Calls
/// `progress("check", done, total)` with bytes.
#[pyfunction]
#[pyo3(signature = (path, *, written = None, sync = false, progress = None))]
pub(super) fn checksum(
    py: Python<'_>,
    path: PathBuf,
    written: Option<&Bound<'_, PyWrittenHashes>>,
    sync: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(u64, String)> {
    let written = written.map_or_else(Arc::default, |written| written.get().0.clone());
    let sum = if sync { shards::synced } else { source::checksum };
    call::long(py, progress, |control| sum(&path, &written, control))
}
