//! Files as blocks of decompressed bytes and as documents, and what a file is.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::documents::PythonReader;
use super::{call, objects};
use crate::error::{Error, show_text};
use crate::room;
use crate::source::{
    Blocks, ByteStream, Compression, DocumentFormat, Flaw, Format, InputFile, Record, Records, Skipped,
    Stamp, format_of_file, not_plain, substitute,
};

const BLOCK_BYTES: usize = 1 << 20;

/// A file as the package describes it (`toksmith.files.inputs.Source`): the field has the text of each record.
#[derive(FromPyObject)]
pub(super) struct PyInputFile {
    path: PathBuf,
    compression: Option<String>,
    format: Option<String>,
    field: String,
    seen: Option<FileStamp>,
    max_record_bytes: u64,
    /// Opens the source in place of the path.
    pub(super) open: Option<Py<PyAny>>,
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

fn format_of_name(name: &str) -> PyResult<Format> {
    Format::of_name(name).ok_or_else(|| {
        let names = Format::ALL.map(|(name, _)| format!("{name:?}")).join(", ");
        PyValueError::new_err(format!("input_format must be one of {names}, not {name:?}"))
    })
}

/// Reads a file from front to back. A change of the file while it is read is an error.
#[pyclass(frozen, name = "ByteStream", module = "toksmith._core")]
pub(super) struct PyByteStream {
    stream: Mutex<ByteStream>,
}

#[pymethods]
impl PyByteStream {
    #[new]
    fn new(file: PyInputFile) -> PyResult<Self> {
        let stream = ByteStream::open(&file.into_input()?)?;
        Ok(PyByteStream { stream: Mutex::new(stream) })
    }

    /// The next block of decompressed bytes; empty at the end.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let stream = &mut *call::alone(&self.stream, "a stream")?;
        let block = call::long(py, None, |control| {
            let mut block = Vec::new();
            stream.read(BLOCK_BYTES, &mut block, control)?;
            Ok(block)
        })?;
        objects::bytes(py, &block)
    }

    /// Bytes of the file on the disk, not decompressed, that were read since the last call.
    fn take_progress(&self) -> PyResult<u64> {
        Ok(call::alone(&self.stream, "a stream")?.take_progress())
    }
}

/// Reads the documents of a file of records, or of a container, from front to back.
#[pyclass(frozen, name = "RecordStream", module = "toksmith._core")]
pub(super) struct PyRecordStream {
    file: InputFile,
    field: String,
    label: Option<String>,
    replace: bool,
    separator: Option<String>,
    /// The blocks, and the bytes and the lines before the next one.
    blocks: Mutex<(Blocks, u64, u64)>,
}

/// A document and its label.
type Labelled = (String, Option<String>);

#[pymethods]
impl PyRecordStream {
    #[new]
    #[pyo3(signature = (file, *, label=None, replace=false, separator=None))]
    fn new(
        file: PyInputFile,
        label: Option<String>,
        replace: bool,
        separator: Option<String>,
    ) -> PyResult<Self> {
        let file = file.into_input()?;
        let field = file.records.field().unwrap_or_default().to_owned();
        let blocks = Mutex::new((Blocks::new(ByteStream::open(&file)?, BLOCK_BYTES, Vec::new()), 0, 0));
        Ok(PyRecordStream { file, field, label, replace, separator, blocks })
    }

    /// Some documents, each with its label, and how many bytes of the file were read for them; None at the end.
    fn read(&self, py: Python<'_>) -> PyResult<Option<(Vec<Labelled>, u64)>> {
        let (blocks, offset, lines) = &mut *call::alone(&self.blocks, "a stream")?;
        call::long(py, None, |control| {
            let Some(block) = blocks.next_records(&self.file, control)? else { return Ok(None) };
            let mut documents = Vec::new();
            let mut records = Records::new(&block.bytes, &self.file, *offset);
            for record in records.by_ref() {
                let wrong = |flaw| {
                    Skipped::record(0, &record, flaw).after_lines(*lines, &self.file).error(&self.file)
                };
                let text = self.text(&record, &self.field).map_err(wrong)?;
                let label = self.label.as_ref().map(|name| self.label_of(&record, name));
                let label = label.transpose().map_err(wrong)?;
                match &self.separator {
                    Some(separator) if record.is_text => {
                        let texts = text.split(separator.as_str()).filter(|text| !text.is_empty());
                        documents.extend(texts.map(|text| (text.to_owned(), None)));
                    }
                    _ => room::push(&mut documents, (text, label))?,
                }
            }
            *offset += block.bytes.len() as u64;
            *lines += records.lines;
            Ok(Some((documents, control.progress().done)))
        })
    }
}

impl PyRecordStream {
    fn label_of(&self, record: &Record<'_>, field: &str) -> Result<String, Flaw> {
        if record.is_text {
            return Err(Flaw::NoText(format!("this is a text, and has no field {}", show_text(field))));
        }
        self.text(record, field).map_err(|flaw| match flaw {
            // The end of the message says how to name the field of the text.
            Flaw::NoText(reason) => Flaw::NoText(reason.split(": name ").next().unwrap_or("").to_owned()),
            other => other,
        })
    }

    fn text(&self, record: &Record<'_>, field: &str) -> Result<String, Flaw> {
        let text = record.text(field, self.replace)?.into_owned();
        String::from_utf8(text).map_err(|error| Flaw::NotUtf8(error.utf8_error().valid_up_to() as u64))
    }
}

/// The compression and the format of a file, as names. `open` opens a file that is not of this machine, and `format` is
/// the one that was asked for. What is no regular file is not read, and has the format of its name, or none.
#[pyfunction]
#[pyo3(signature = (path, open=None, format=None))]
pub(super) fn file_format(
    py: Python<'_>,
    path: PathBuf,
    open: Option<Py<PyAny>>,
    format: Option<&str>,
) -> PyResult<(Option<&'static str>, Option<&'static str>)> {
    let wanted = format.map(format_of_name).transpose()?;
    let failed = |source| Error::Io { path: path.clone(), source };
    let (compression, format) = call::long(py, None, |_| {
        let is_file = || std::fs::metadata(&path).map(|meta| meta.is_file());
        let read: Option<Box<dyn std::io::Read + Send>> = match &open {
            Some(open) => Some(
                call::attached(|py| PythonReader::open(py, open))
                    .map_err(PythonReader::failed)
                    .map_err(failed)?,
            ),
            None if is_file().map_err(failed)? => Some(Box::new(std::fs::File::open(&path).map_err(failed)?)),
            None => None,
        };
        format_of_file(&path, read, wanted).map_err(|reason| Error::Unread { path: path.clone(), reason })
    })?;
    Ok((compression.name(), format.map(Format::name)))
}

/// Refuses a file with these first bytes if something else stands in its place, such as a Git LFS pointer.
#[pyfunction]
pub(super) fn check_whole(name: PathBuf, head: &[u8]) -> PyResult<()> {
    match substitute(head) {
        Some(reason) => Err(Error::Unread { path: name, reason }.into()),
        None => Ok(()),
    }
}

/// Refuses data with a name and these first bytes if it is not plain text.
#[pyfunction]
pub(super) fn check_plain(name: PathBuf, head: &[u8]) -> PyResult<()> {
    match not_plain(&name.to_string_lossy(), head) {
        Some(reason) => Err(Error::Unread { path: name, reason }.into()),
        None => Ok(()),
    }
}
