//! Files of tokenizers, as functions: what a file is, and the contents that stand-ins for other libraries
//! read.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::errors::OrRaise;
use super::objects::{Dict, IntoObject, Made};
use toksmith::error::{Error, Result};
use toksmith::formats::{self, Lead, MinbpeFile, RankLines, SideFiles};
use toksmith::spelling;

/// The name of the format of a file or a folder. See `formats::format_of`.
#[pyfunction]
#[pyo3(signature = (path, with_options=false))]
pub(super) fn tokenizer_kind(path: PathBuf, with_options: bool) -> PyResult<&'static str> {
    formats::format_of(&path, with_options).or_raise()
}

/// The path of the file of a path, or of the first one that holds the tokenizer of a folder.
#[pyfunction]
pub(super) fn tokenizer_lead(path: PathBuf) -> PyResult<PathBuf> {
    Ok(match formats::lead(&path, None).or_raise()? {
        Lead::File(file) => file,
        Lead::Pair([vocab, _]) => vocab,
    })
}

#[pyfunction]
pub(super) fn tokenizer_files(path: PathBuf) -> Vec<PathBuf> {
    formats::files_of(&path)
}

/// The JSON of the files beside a `tokenizer.json`, by name, and a warning for each that cannot be read.
#[pyfunction]
pub(super) fn side_files(folder: PathBuf) -> (String, Vec<String>) {
    let (files, warnings) = SideFiles::read(&folder);
    (Value::Object(files.0).to_string(), warnings)
}

#[pyfunction]
pub(super) fn tokens_of_ranks<'py>(py: Python<'py>, file: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let lines = py.detach(|| RankLines::parse(file)).or_raise()?;
    Dict(lines.tokens()).object(py)
}

/// The pattern of a `.model` file of minbpe, ids by the names of its special tokens, and the id that each
/// pair of ids is merged into.
#[pyfunction]
pub(super) fn minbpe_model<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let file = py.detach(|| MinbpeFile::parse(text)).or_raise()?;
    (file.pattern, Dict(file.special_tokens), Dict(file.merges.into_iter().zip(256_u32..))).object(py)
}

#[pyfunction]
pub(super) fn spell(token: &[u8]) -> Made<String> {
    Made(spelling::spelled(token))
}

#[pyfunction]
pub(super) fn unspell(text: &Bound<'_, PyString>) -> Option<Made<Vec<u8>>> {
    text.to_str().ok().and_then(spelling::unspelled).map(Made)
}

/// The value of JSON that is called `name` in an error.
pub(super) fn value_of(json: &str, name: &str) -> Result<Value> {
    serde_json::from_str(json)
        .map_err(|error| Error::BrokenPart(format!("$.{name}"), format!("not JSON: {error}")))
}

/// The value of JSON that this package has written.
pub(super) fn of_json<T: DeserializeOwned>(json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The options that keywords give. Those that are None have their default.
pub(super) fn options_of<T: DeserializeOwned>(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<T> {
    let Some(keywords) = keywords else { return of_json("{}") };
    let options = Dict(keywords.iter().filter(|(_, value)| !value.is_none())).object(keywords.py())?;
    let json = keywords.py().import("json")?.call_method1("dumps", (options,))?;
    of_json(json.extract()?)
}

pub(super) fn json_of(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The object of Python that a value of JSON is.
pub(super) fn object_of<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (Made(value.to_string()),))
}
