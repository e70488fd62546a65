//! Pretoken counts.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use super::call;
use super::pretokenizer::Pretokenizer;
use crate::count::{self, CountOptions, Counter};
use crate::error::Error;
use crate::special::Specials;

/// Pretokens with their counts, in the order of their first occurrence.
#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct PretokenCounts {
    counts: count::PretokenCounts,
}

impl PretokenCounts {
    /// The counts themselves.
    pub(super) fn inner(&self) -> &count::PretokenCounts {
        &self.counts
    }
}

fn specials(tokens: Vec<String>) -> Result<Specials, Error> {
    Specials::new(tokens.into_iter().map(String::into_bytes).collect())
}

/// A document from Python, as bytes of UTF-8.
enum Document {
    Text(pyo3::pybacked::PyBackedStr),
    Bytes(pyo3::pybacked::PyBackedBytes),
    Repaired(String),
}

impl Document {
    fn new(index: u64, item: &Bound<'_, PyAny>, replace: bool) -> PyResult<Self> {
        if let Ok(text) = item.cast::<PyString>() {
            return call::backed_text(text).map(Document::Text);
        }
        let bytes: pyo3::pybacked::PyBackedBytes = item.extract().map_err(|_| {
            let kind = item.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            PyTypeError::new_err(format!("element {index} is {kind}: texts are str or bytes"))
        })?;
        match std::str::from_utf8(&bytes) {
            Ok(_) => Ok(Document::Bytes(bytes)),
            Err(_) if replace => Ok(Document::Repaired(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) => {
                let offset = error.valid_up_to() as u64;
                Err(Error::NotUtf8 { name: format!("element {index}"), offset }.into())
            }
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Document::Text(text) => text.as_bytes(),
            Document::Bytes(bytes) => bytes,
            Document::Repaired(text) => text.as_bytes(),
        }
    }
}

#[pymethods]
impl PretokenCounts {
    /// From (pretoken, count) pairs, in the order of first occurrence.
    #[new]
    fn new(items: Vec<(pyo3::pybacked::PyBackedBytes, u64)>) -> PyResult<Self> {
        let mut counts = count::PretokenCounts::default();
        for (place, (pretoken, count)) in items.iter().enumerate() {
            counts.add(pretoken, *count, place as u64)?;
        }
        Ok(PretokenCounts { counts })
    }

    /// Counts files, each a document of its own.
    #[staticmethod]
    #[pyo3(signature = (paths, special_tokens, pretokenizer, *, workers=None, replace=false, progress=None, chunk_bytes=None, window_bytes=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword options, one each")]
    fn of_files(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        special_tokens: Vec<String>,
        pretokenizer: &Pretokenizer,
        workers: Option<usize>,
        replace: bool,
        progress: Option<Bound<'_, PyAny>>,
        chunk_bytes: Option<u64>,
        window_bytes: Option<usize>,
    ) -> PyResult<Self> {
        let standard = CountOptions::default();
        let options = CountOptions {
            workers: workers.unwrap_or(standard.workers),
            chunk_bytes: chunk_bytes.unwrap_or(standard.chunk_bytes),
            window_bytes: window_bytes.unwrap_or(standard.window_bytes),
            replace,
        };
        let specials = specials(special_tokens)?;
        let counts = call::long(py, progress.as_ref(), |control| {
            Counter { specials: &specials, pretokenizer: &pretokenizer.inner }
                .count_files(&paths, &options, control)
        })?;
        Ok(PretokenCounts { counts })
    }

    /// Counts an iterable of str or bytes, each a document of its own.
    #[staticmethod]
    #[pyo3(signature = (texts, special_tokens, pretokenizer, *, replace=false, progress=None))]
    fn of_texts(
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        special_tokens: Vec<String>,
        pretokenizer: &Pretokenizer,
        replace: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let specials = specials(special_tokens)?;
        let mut counts = count::PretokenCounts::default();
        let mut batch: Vec<Document> = Vec::new();
        let (mut waiting, mut done) = (0, 0u64);
        let mut texts = texts.try_iter()?;
        let mut index = 0;
        loop {
            let item = texts.next().transpose()?;
            if let Some(item) = &item {
                let document = Document::new(index, item, replace)?;
                waiting += document.bytes().len();
                batch.push(document);
                index += 1;
            }
            // In batches, so that the GIL is not taken and given back for every text.
            if waiting < 1 << 18 && batch.len() < 1 << 12 && item.is_some() {
                continue;
            }
            let (counts, specials, documents) = (&mut counts, &specials, std::mem::take(&mut batch));
            done = call::long(py, progress.as_ref(), |control| {
                let counter = Counter { specials, pretokenizer: &pretokenizer.inner };
                let mut place = done;
                for document in &documents {
                    counter.count_document(document.bytes(), place, counts, control)?;
                    place += document.bytes().len() as u64;
                }
                control.advance(place);
                Ok(place)
            })?;
            waiting = 0;
            if item.is_none() {
                break;
            }
        }
        Ok(PretokenCounts { counts })
    }

    /// The sum of both; all of `other` comes after all of this.
    fn plus(&self, py: Python<'_>, other: &PretokenCounts) -> PyResult<Self> {
        let sum = call::long(py, None, |_| {
            let mut sum = self.counts.clone();
            sum.add_all(&other.counts, sum.end_place())?;
            Ok(sum)
        })?;
        Ok(PretokenCounts { counts: sum })
    }

    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let items = self.counts.in_order().into_iter();
        PyList::new(
            py,
            items.map(|(pretoken, count)| (PyBytes::new(py, pretoken), count)).collect::<Vec<_>>(),
        )
    }

    fn get(&self, pretoken: &[u8]) -> u64 {
        self.counts.get(pretoken)
    }

    fn total(&self) -> u64 {
        self.counts.total()
    }

    fn __len__(&self) -> usize {
        self.counts.len()
    }
}
