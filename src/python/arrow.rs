//! Arrow's PyCapsule interface: reads columns of other libraries, and makes arrays that other libraries can
//! read.
#![allow(unsafe_code)] // takes structures out of capsules

use std::ffi::CStr;
use std::sync::Arc;

use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::call;
use super::errors::OrRaise;
use super::objects::{Any, IntoObject};
use super::tokenizer::Tokenizer;
use toksmith::arrow::interface::{ArrowArray, ArrowArrayStream, ArrowSchema, Released};
use toksmith::arrow::{Array, Column, MAX_NARROW, Texts, Values};
use toksmith::control::Control;
use toksmith::error::Result;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// A column of another library. The column's memory is held as long as this object lives.
#[pyclass(frozen, name = "ArrowColumn", module = "toksmith._core")]
pub(super) struct PyArrowColumn(pub(super) Arc<Column>);

#[pymethods]
impl PyArrowColumn {
    /// The column of an object with `__arrow_c_array__` or `__arrow_c_stream__`.
    #[new]
    fn new(values: Any) -> PyResult<Self> {
        let py = values.py();
        if let Some(export) = values.getattr_opt("__arrow_c_array__")? {
            let (schema, array) = export.call0()?.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
            let (schema, array) =
                (taken::<ArrowSchema>(&schema, SCHEMA)?, taken::<ArrowArray>(&array, ARRAY)?);
            // SAFETY: what a capsule of this name holds follows the interface; that is the producer's
            // promise.
            let mut column = unsafe { Column::new(&schema).or_raise()? };
            column.push(array).or_raise()?;
            return Ok(PyArrowColumn(column.into()));
        }
        let Some(export) = values.getattr_opt("__arrow_c_stream__")? else {
            let kind = values.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "{kind} is not an Arrow array: it has neither __arrow_c_array__ nor __arrow_c_stream__. Make one with \
                 pyarrow.array(…), or use encode_batch for a list of texts"
            )));
        };
        let mut stream = taken::<ArrowArrayStream>(&export.call0()?, STREAM)?;
        // The GIL is released, since a stream may wait for another thread that runs Python.
        // SAFETY: as above.
        let schema = py.detach(|| unsafe { stream.schema() }).map_err(PyOSError::new_err)?;
        // SAFETY: as above.
        let mut column = unsafe { Column::new(&schema).or_raise()? };
        // SAFETY: as above.
        while let Some(array) = py.detach(|| unsafe { stream.next() }).map_err(PyOSError::new_err)? {
            column.push(array).or_raise()?;
            py.check_signals()?;
        }
        Ok(PyArrowColumn(column.into()))
    }

    /// Encodes each text to a list of ids. The ids have 32 bits if `wide` is true, else 16. If `large` is
    /// true, the lists have offsets of 64 bits.
    fn encode(
        &self,
        py: Python<'_>,
        tokenizer: &Tokenizer,
        special: bool,
        workers: usize,
        wide: bool,
        large: bool,
    ) -> PyResult<PyArrowArray> {
        self.with_texts(py, |texts, control| {
            let (encoder, limits) =
                (tokenizer.encoder(), (workers, if large { usize::MAX } else { MAX_NARROW }));
            let (starts, ids) = if wide {
                let batch = encoder.encode_column(&texts.texts, special, limits, control)?;
                (batch.starts, Values::U32(batch.ids))
            } else {
                let batch = encoder.encode_column(&texts.texts, special, limits, control)?;
                (batch.starts, Values::U16(batch.ids))
            };
            Ok(PyArrowArray::of(Some(Values::offsets(starts, large)?), ids, texts))
        })
    }

    /// How many ids each text has.
    fn count(
        &self,
        py: Python<'_>,
        tokenizer: &Tokenizer,
        special: bool,
        workers: usize,
    ) -> PyResult<PyArrowArray> {
        self.with_texts(py, |texts, control| {
            let counts = tokenizer.encoder().count_batch(&texts.texts, special, workers, control)?;
            Ok(PyArrowArray::of(None, Values::I64(counts), texts))
        })
    }
}

impl PyArrowColumn {
    /// Calls `work` with the texts, as [`call::sized`] does.
    fn with_texts<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Texts<'_>, &Control) -> Result<T> + Send,
    ) -> PyResult<T> {
        // Reading all offsets takes long for many texts, even if the texts are short.
        let texts = py.detach(|| self.0.texts()).or_raise()?;
        let bytes = texts.texts.iter().map(|text| text.len()).sum();
        call::sized(py, bytes, |control| work(texts, control))
    }
}

/// An Arrow array made by this module. Any Arrow library can read it.
#[pyclass(frozen, name = "ArrowArray", module = "toksmith._core")]
pub(super) struct PyArrowArray(Arc<Array>);

impl PyArrowArray {
    /// An array with a value, or a list, for each text. The value of a null text is null.
    fn of(offsets: Option<Values>, values: Values, texts: Texts<'_>) -> Self {
        let Texts { texts, valid, nulls } = texts;
        PyArrowArray(Arc::new(Array { offsets, values, len: texts.len(), valid, nulls }))
    }

    /// An array without nulls.
    pub(super) fn without_nulls(offsets: Option<Values>, values: Values, len: usize) -> Self {
        PyArrowArray(Arc::new(Array { offsets, values, len, valid: None, nulls: 0 }))
    }
}

#[pymethods]
impl PyArrowArray {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Any<'_, 'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = requested_schema; // a consumer casts what it wants in another type
        let array = PyCapsule::new_with_value(py, self.0.handed_on(), ARRAY)?;
        (self.__arrow_c_schema__(py)?, array).object(py)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, self.0.schema(), SCHEMA)
    }

    fn __len__(&self) -> usize {
        self.0.len
    }

    fn __repr__(&self) -> String {
        let format = self.0.format().to_string_lossy();
        let len = self.0.len;
        format!("<ArrowArray of {len} values, format {format:?}: pyarrow.array and polars.Series take it>")
    }
}

/// Takes a structure out of a capsule, and leaves a released structure in the capsule.
fn taken<T: Released>(capsule: Any, name: &'static CStr) -> PyResult<T> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let structure = capsule.pointer_checked(Some(name))?.cast::<T>();
    // SAFETY: a capsule of this name holds such a structure, which a consumer may move out if it leaves a
    // released one behind. The GIL is held, so no other consumer does the same.
    Ok(unsafe { structure.replace(T::released()) })
}
