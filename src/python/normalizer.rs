//! The class `Normalizer`: each method makes one call of the core.

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyString};

use super::pretokenizer::matcher;
use super::{arrays, call, objects, text};
use crate::error::Result;
use crate::normalize::{self, Aligned, NormalizeStep};
use crate::room;

/// A list of changes that are made to a text before all other steps.
#[pyclass(frozen, name = "Normalizer", module = "toksmith._core")]
pub(super) struct PyNormalizer {
    inner: normalize::Normalizer,
}

type Int64Array<'py> = Bound<'py, PyArray1<i64>>;

#[pymethods]
impl PyNormalizer {
    /// `steps` are tuples of the name and the arguments of a step.
    #[new]
    fn new(steps: Vec<(String, Vec<Bound<'_, PyAny>>)>) -> PyResult<Self> {
        let steps =
            steps.into_iter().map(|(name, arguments)| step(&name, &arguments)).collect::<PyResult<_>>()?;
        Ok(PyNormalizer { inner: normalize::Normalizer(steps) })
    }

    /// Whether normalization changes neither the text nor any part of it taken alone.
    fn leaves(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<bool> {
        let text = text::utf8(text)?;
        call::sized(py, text.len(), |_| self.inner.leaves(text))
    }

    /// The most bytes that a text and its parts may have together after normalization.
    #[staticmethod]
    fn most_bytes(text: &Bound<'_, PyAny>) -> PyResult<usize> {
        Ok(normalize::most_bytes(text::utf8(text)?.len()))
    }

    /// The normalized text, which must have at most `most` bytes; by default as many as `most_bytes` says.
    #[pyo3(signature = (text, most = None))]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyString>,
        most: Option<usize>,
    ) -> PyResult<Bound<'py, PyString>> {
        let text = call::text(text)?;
        let changed = call::sized(py, text.len(), |_| self.changed(Aligned::plain(text)?, most))?;
        objects::string(py, changed.text())
    }

    /// The normalized text, and for each of its bytes the start and the end of its origin in the original, in
    /// bytes.
    #[pyo3(signature = (text, most = None))]
    fn apply_tracked<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyString>,
        most: Option<usize>,
    ) -> PyResult<(Bound<'py, PyString>, Int64Array<'py>, Int64Array<'py>)> {
        let text = call::text(text)?;
        if u32::try_from(text.len()).is_err() {
            return Err(PyValueError::new_err("a text of 4 GiB or more cannot be normalized with offsets"));
        }
        let (changed, starts, ends) = call::sized(py, text.len(), |_| {
            let (changed, places) = self.changed(Aligned::tracked(text)?, most)?.into_parts();
            let starts = room::collected(places.iter().map(|place| i64::from(place.0)))?;
            Ok((changed, starts, room::collected(places.iter().map(|place| i64::from(place.1)))?))
        })?;
        Ok((objects::string(py, &changed)?, arrays::array(py, starts)?, arrays::array(py, ends)?))
    }
}

impl PyNormalizer {
    fn changed(&self, mut text: Aligned, most: Option<usize>) -> Result<Aligned> {
        let most = most.unwrap_or_else(|| normalize::most_bytes(text.text().len()));
        self.inner.apply(&mut text, most)?;
        Ok(text)
    }
}

fn step(name: &str, arguments: &[Bound<'_, PyAny>]) -> PyResult<NormalizeStep> {
    Ok(match (name, arguments) {
        ("NFC", []) => NormalizeStep::Nfc,
        ("NFD", []) => NormalizeStep::Nfd,
        ("NFKC", []) => NormalizeStep::Nfkc,
        ("NFKD", []) => NormalizeStep::Nfkd,
        ("Lowercase", []) => NormalizeStep::Lowercase,
        ("StripAccents", []) => NormalizeStep::StripAccents,
        ("Nmt", []) => NormalizeStep::Nmt,
        ("Strip", [left, right]) => NormalizeStep::Strip { left: left.extract()?, right: right.extract()? },
        ("Prepend", [text]) => NormalizeStep::Prepend(text.extract()?),
        ("Replace", [kind, argument, content]) => {
            NormalizeStep::Replace(matcher(&kind.extract::<String>()?, argument)?, content.extract()?)
        }
        _ => return Err(PyValueError::new_err(format!("no step has the name {name:?} and such arguments"))),
    })
}
