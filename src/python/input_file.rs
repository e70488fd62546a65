//! Files to read, as the package describes them.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::source::{Compression, DocumentFormat, Format, InputFile, Stamp};

/// A file as the package describes it (`toksmith.files.inputs.Source`): the field has the text of each record.
#[derive(FromPyObject)]
pub(super) struct PyInputFile {
    path: PathBuf,
    compression: Option<String>,
    format: Option<String>,
    field: String,
    seen: Option<FileStamp>,
    max_record_bytes: u64,
}

/// The size of a file and the time of its last change, when it was first seen.
#[derive(FromPyObject)]
struct FileStamp {
    size: u64,
    modified: i128,
}

impl PyInputFile {
    pub(super) fn into_input(self) -> PyResult<InputFile> {
        let compression = match &self.compression {
            None => Compression::None,
            Some(name) => Compression::of_name(name)
                .ok_or_else(|| PyValueError::new_err(format!("unknown compression {name:?}")))?,
        };
        let format = self.format.as_deref().map(format_of_name).transpose()?;
        let records = DocumentFormat::of(format, self.field);
        let seen = self.seen.map(|stamp| Stamp { size: stamp.size, modified: Some(stamp.modified) });
        Ok(InputFile {
            path: self.path,
            compression,
            records,
            seen,
            is_certain: format.is_some(),
            max_record_bytes: self.max_record_bytes,
        })
    }
}

/// The format of a name.
pub(super) fn format_of_name(name: &str) -> PyResult<Format> {
    Format::of_name(name).ok_or_else(|| {
        let names = Format::ALL.map(|(name, _)| format!("{name:?}")).join(", ");
        PyValueError::new_err(format!("input_format must be one of {names}, not {name:?}"))
    })
}
