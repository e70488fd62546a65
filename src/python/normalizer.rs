//! The class `Normalizer`: each method makes one call of the core.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyString};

use super::pretokenizer::matcher;
use super::{call, objects};
use crate::normalize::{self, Aligned, NormalizeStep};

/// A list of changes that are made to a text before all other steps.
#[pyclass(frozen, name = "Normalizer", module = "toksmith._core")]
pub(super) struct PyNormalizer {
    pub(super) inner: normalize::Normalizer,
}

#[pymethods]
impl PyNormalizer {
    /// `steps` are tuples of the name and the arguments of a step.
    #[new]
    fn new(steps: Vec<(String, Vec<Bound<'_, PyAny>>)>) -> PyResult<Self> {
        let steps =
            steps.into_iter().map(|(name, arguments)| step(&name, &arguments)).collect::<PyResult<_>>()?;
        Ok(PyNormalizer { inner: normalize::Normalizer(steps) })
    }

    /// The normalized text.
    fn apply<'py>(&self, py: Python<'py>, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        let text = call::text(text)?;
        let changed = call::sized(py, text.len(), |_| {
            let mut changed = Aligned::plain(text)?;
            self.inner.apply(&mut changed, normalize::most_bytes(text.len()))?;
            Ok(changed)
        })?;
        objects::string(py, changed.text())
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
