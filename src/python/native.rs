//! toksmith's own file: read by the class `NativeFile`, and written.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::pretokenizer::PyPretokenizer;
use super::tokenizer::Tokenizer;
use super::{call, objects};
use crate::encode::Encoder;
use crate::formats::{NativeFile, recognise};
use crate::room;

/// A file that was read.
#[pyclass(frozen, module = "toksmith._core", name = "NativeFile")]
pub(super) struct PyNativeFile {
    file: NativeFile,
}

#[pymethods]
impl PyNativeFile {
    #[new]
    fn new(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let file = call::long(py, None, |_| {
            room::check_available(4 * data.len())?;
            NativeFile::read(data)
        })?;
        Ok(PyNativeFile { file })
    }

    /// The JSON of the fields besides the vocabulary, by name.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = objects::dict(py)?;
        for (name, json) in self.file.fields() {
            fields.set_item(name, objects::string(py, json)?)?;
        }
        Ok(fields)
    }

    /// The tokenizer without the steps of Hugging Face.
    fn tokenizer(&self, py: Python<'_>, pretokenizer: &PyPretokenizer) -> PyResult<Tokenizer> {
        let encoder =
            call::long(py, None, |_| Encoder::try_new(self.file.vocab()?, pretokenizer.inner.clone()))?;
        Ok(Tokenizer::of(Arc::new(encoder)))
    }
}

/// The name of the format of a file of a tokenizer that begins with these bytes; None if it is none.
#[pyfunction]
pub(super) fn tokenizer_format(head: &[u8]) -> PyResult<Option<&'static str>> {
    Ok(recognise(head)?.map(|format| format.name))
}

/// The content of a file. `fields` are those of `NativeFile`.
#[pyfunction]
pub(super) fn native_file<'py>(
    py: Python<'py>,
    tokenizer: &Tokenizer,
    fields: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let file = call::long(py, None, |_| NativeFile::write(tokenizer.encoder().vocab(), &fields))?;
    objects::bytes(py, &file)
}
