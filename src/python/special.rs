//! Which special tokens a call turns into their ids, and which it refuses.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::call;
use super::vocabulary::shown;
use toksmith::control::Control;
use toksmith::error::{Error, Result, show};
use toksmith::{SpecialSet, SpecialTokens};

/// Special tokens for single calls, each with its id, and names that must not be in a text.
#[pyclass(frozen, name = "SpecialSet", module = "toksmith._core")]
pub(super) struct PySpecialSet {
    chosen: SpecialSet,
    refused: Option<SpecialSet>,
}

#[pymethods]
impl PySpecialSet {
    #[new]
    fn new(py: Python<'_>, tokens: Vec<(String, u32)>, refused: Vec<String>) -> PyResult<Self> {
        let tokens = tokens.into_iter().map(|(name, id)| (name.into_bytes(), id)).collect();
        let refused: Vec<_> = refused.into_iter().map(|name| (name.into_bytes(), 0)).collect();
        call::long(py, None, move |_| {
            let refused = if refused.is_empty() { None } else { Some(SpecialSet::new(refused)?) };
            Ok(PySpecialSet { chosen: SpecialSet::new(tokens)?, refused })
        })
    }
}

/// The argument `special`: a bool for all special tokens or none, or a set.
pub(super) enum Special<'py> {
    All(bool),
    Of(Bound<'py, PySpecialSet>),
}

impl<'py> FromPyObject<'_, 'py> for Special<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let wrong = |_| PyTypeError::new_err(format!("special is True or False, not {}", shown(&value)));
        let set = |_| value.cast::<PySpecialSet>().map(|set| Special::Of(set.to_owned())).map_err(wrong);
        value.extract().map(Special::All).or_else(set)
    }
}

impl Special<'_> {
    pub(super) fn tokens(&self) -> SpecialTokens<'_> {
        match self {
            Special::All(all) => (*all).into(),
            Special::Of(set) => (&set.get().chosen).into(),
        }
    }

    /// The names that must not be in a text.
    pub(super) fn refused(&self) -> Option<&SpecialSet> {
        match self {
            Special::All(_) => None,
            Special::Of(set) => set.get().refused.as_ref(),
        }
    }

    /// Refuses a text with one of the names that must not be there.
    pub(super) fn check(&self, text: &Bound<'_, PyString>) -> PyResult<()> {
        let Some(refused) = self.refused() else { return Ok(()) };
        let (py, text) = (text.py(), call::text(text)?.as_bytes());
        call::sized(py, text.len(), |control| check(Some(refused), text, control))
    }
}

/// Refuses a text with one of some names.
pub(super) fn check(refused: Option<&SpecialSet>, text: &[u8], control: &Control) -> Result<()> {
    match refused.map_or(Ok(None), |refused| refused.first_in(text, control))? {
        Some(name) => Err(Error::Invalid(format!("the text has the special token {}", show(name)))),
        None => Ok(()),
    }
}
