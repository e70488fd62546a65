//! Files as documents, what a file is, and checksums.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::call;
use super::documents::PythonReader;
use super::errors::OrRaise;
use super::objects::{Any, Made};
use toksmith::error::Error;
use toksmith::source::{
    self, ByteStream, Compression, DocumentFormat, DocumentReader, Fields, Format, InputFile, Opener,
    ReadDocument, ReadOptions, Stamp, WrittenHashes, format_of_file, not_plain, substitute,
};

const BLOCK_BYTES: usize = 1 << 20;

/// A file as the package describes it (`toksmith.files.inputs.Source`).
#[derive(FromPyObject)]
pub(super) struct PyInputFile {
    path: PathBuf,
    compression: Option<String>,
    format: Option<String>,
    fields: Vec<String>,
    field_separator: String,
    /// The size of the file and the time of its last change, when it was first seen.
    seen: Option<(u64, i128)>,
    max_record_bytes: u64,
    /// Opens the source in place of the path.
    open: Option<Py<PyAny>>,
}

impl PyInputFile {
    pub(super) fn into_input(self) -> PyResult<InputFile> {
        let compression = self.compression.as_deref().map_or(Some(Compression::None), Compression::of_name);
        let format = self.format.as_deref().map(format_of_name).transpose()?;
        let open = self.open.map(|open| -> Opener { Arc::new(move || PythonReader::open(&open)) });
        let fields = Fields { names: self.fields, separator: self.field_separator };
        Ok(InputFile {
            path: self.path,
            open,
            compression: compression.ok_or_else(|| PyValueError::new_err("unknown compression"))?,
            records: DocumentFormat::of(format, fields),
            seen: self.seen.map(|(size, modified)| Stamp { size, modified: Some(modified) }),
            is_certain: format.is_some(),
            max_record_bytes: self.max_record_bytes,
        })
    }
}

fn format_of_name(name: &str) -> PyResult<Format> {
    Format::of_name(name).ok_or_else(|| {
        let names = Format::ALL.map(|(name, ..)| format!("{name:?}")).join(", ");
        PyValueError::new_err(format!("input_format must be one of {names}, not {name:?}"))
    })
}

/// Calls `write` with the decompressed bytes of a file, block by block.
#[pyfunction]
pub(super) fn decompress(py: Python<'_>, file: PyInputFile, write: Py<PyAny>) -> PyResult<()> {
    let mut stream = ByteStream::open(&file.into_input()?).or_raise()?;
    call::long(py, None, |control| {
        let mut block = Vec::new();
        while stream.read(BLOCK_BYTES, &mut block, control)? > 0 {
            call::attached(|py| write.call1(py, (Made(&*block),)).map(drop))?;
            block.clear();
        }
        Ok(())
    })
}

/// Reads the documents of a file from front to back. A change of the file while it is read is an error.
#[pyclass(frozen, name = "DocumentStream", module = "toksmith._core")]
pub(super) struct PyDocumentStream {
    reader: Mutex<DocumentReader>,
    label: Option<String>,
}

/// A document or a part of one, whether it ends there, and its label.
type DocumentPart = (String, bool, Option<String>);

#[pymethods]
impl PyDocumentStream {
    #[new]
    #[pyo3(signature = (file, *, label=None, replace=false, separator=None))]
    fn new(
        py: Python<'_>,
        file: PyInputFile,
        label: Option<String>,
        replace: bool,
        separator: Option<String>,
    ) -> PyResult<Self> {
        let options = ReadOptions {
            replace,
            separator,
            chunk_bytes: BLOCK_BYTES as u64,
            at_characters: true,
            ..ReadOptions::default()
        };
        let source = file.into_input()?;
        let reader = call::long(py, None, |control| DocumentReader::open(source, options, control))?;
        Ok(PyDocumentStream { reader: Mutex::new(reader), label })
    }

    /// Some documents, and how many bytes of the file were read for them; None at the end.
    fn read(&self, py: Python<'_>) -> PyResult<Option<(Vec<DocumentPart>, u64)>> {
        let reader = &mut *call::alone(&self.reader, "a stream")?;
        let (documents, bytes) = call::long(py, None, |control| {
            let documents = reader.next(self.label.as_deref(), control)?;
            Ok((documents, control.progress().done))
        })?;
        let part = |document: ReadDocument| (document.text, document.ends, document.label);
        Ok(documents.map(|documents| (documents.into_iter().map(part).collect(), bytes)))
    }
}

/// The compression and the format of a file, as names. `open` opens a file that is not of this machine, and
/// `format` is the one that was asked for. What is no regular file is not read, and has the format of its
/// name, or none.
#[pyfunction]
#[pyo3(signature = (path, open=None, format=None))]
pub(super) fn file_format(
    py: Python<'_>,
    path: PathBuf,
    open: Option<Py<PyAny>>,
    format: Option<&str>,
) -> PyResult<(Option<&'static str>, Option<&'static str>)> {
    let wanted = format.map(format_of_name).transpose()?;
    let opened = || -> std::io::Result<Option<Box<dyn Read + Send>>> {
        Ok(match &open {
            Some(open) => Some(PythonReader::open(open)?),
            None if std::fs::metadata(&path)?.is_file() => Some(Box::new(File::open(&path)?)),
            None => None,
        })
    };
    let (compression, format) = call::long(py, None, |_| {
        let read = opened().map_err(|source| Error::Io { path: path.clone(), source })?;
        format_of_file(&path, read, wanted).map_err(|reason| Error::Unread { path: path.clone(), reason })
    })?;
    Ok((compression.name(), format.map(Format::name)))
}

/// Refuses a file with a name and these first bytes if something else stands in its place, such as a Git LFS
/// pointer; with `plain`, if it is not plain text.
#[pyfunction]
pub(super) fn check_head(name: PathBuf, head: &[u8], plain: bool) -> PyResult<()> {
    let reason = if plain { not_plain(&name.to_string_lossy(), head) } else { substitute(head) };
    reason.map_or(Ok(()), |reason| Err(Error::Unread { path: name, reason }).or_raise())
}

/// The number of bytes of a file, and their BLAKE3 in hex. Calls `progress("check", done, total)` with bytes.
#[pyfunction]
#[pyo3(signature = (path, *, progress = None))]
pub(super) fn checksum(py: Python<'_>, path: PathBuf, progress: Option<Any>) -> PyResult<(u64, String)> {
    let written = WrittenHashes::default();
    call::long(py, progress, |control| source::checksum(&path, &written, control))
}
