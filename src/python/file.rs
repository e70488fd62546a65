//! Files: encoding one to an array or to a file of ids, and checksums.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use numpy::Element;
use pyo3::prelude::*;

use super::arrays::Array;
use super::call;
use super::objects::{Any, IntoObject};
use crate::encode::{Encoder, FileOptions, IdType};
use crate::error::Error;
use crate::shards::{self, NPY_HEADER_BYTES};
use crate::source::{self, WrittenHashes};

/// Encodes the file. `out` is an empty file for the ids, and its name in the end, whose suffix decides the
/// format. Returns how many ids were written, or without `out` an array of them.
pub(super) fn encode<'py, T: IdType + Element>(
    py: Python<'py>,
    encoder: &Encoder,
    path: &Path,
    options: &FileOptions,
    out: Option<(PathBuf, PathBuf)>,
    progress: Option<Any<'_, 'py>>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some((out, name)) = out else {
        let ids = call::long(py, progress, |control| encoder.encode_file::<T>(path, options, control))?;
        return Array(ids).object(py);
    };
    let open = || OpenOptions::new().write(true).open(&out);
    let failed = |source| Error::Io { path: name.clone(), source };
    let is_npy = name.extension().is_some_and(|suffix| suffix == "npy");
    let start = if is_npy { NPY_HEADER_BYTES as u64 } else { 0 };
    let count = call::long(py, progress, |control| {
        let file = open().map_err(failed)?;
        let count = encoder.encode_file_to(path, options, (&file, &name), (start, T::IS_WIDE), control)?;
        if is_npy {
            let header = shards::npy_header(count, if T::IS_WIDE { "<u4" } else { "<u2" });
            open().and_then(|mut file| file.write_all(&header)).map_err(failed)?;
        }
        Ok(count)
    })?;
    Ok(count.into_pyobject(py)?.into_any())
}

/// The number of bytes of a file, and their BLAKE3 in hex. Calls `progress("check", done, total)` with bytes.
#[pyfunction]
#[pyo3(signature = (path, *, progress = None))]
pub(super) fn checksum(py: Python<'_>, path: PathBuf, progress: Option<Any>) -> PyResult<(u64, String)> {
    let written = WrittenHashes::default();
    call::long(py, progress, |control| source::checksum(&path, &written, control))
}
