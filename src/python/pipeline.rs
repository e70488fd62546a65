//! The pipeline of a tokenizer from its parts.

use std::collections::HashSet;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::normalizer::PyNormalizer;
use super::pretokenizer::PyPretokenizer;
use crate::pipeline::{AddedToken, Pipeline, PipelineParts, Prefix};
use crate::special::Flags;

/// An added token: its id, its text, and whether it is a single word, strips on the left and on the right, is
/// normalized, and is special.
type TokenRow = (u32, String, bool, bool, bool, bool, bool);

/// The steps of a tokenizer before its pretokenizer.
#[pyclass(frozen, name = "Pipeline", module = "toksmith._core")]
pub(super) struct PyPipeline {
    parts: PipelineParts,
}

#[pymethods]
impl PyPipeline {
    /// `mergeable` are the ids of added tokens that ordinary text can be encoded to, too. `prefix` says which stretches
    /// of normalized text get a space in front (see `Prefix`), `only_prefix` what all steps come to for most texts.
    #[new]
    #[pyo3(signature = (added_tokens, *, mergeable, normalizer=None, splits=None, prefix="", only_prefix=None,
                        spaces_are_plain=false))]
    fn new(
        added_tokens: Vec<TokenRow>,
        mergeable: HashSet<u32>,
        normalizer: Option<&PyNormalizer>,
        splits: Option<&PyPretokenizer>,
        prefix: &str,
        only_prefix: Option<&str>,
        spaces_are_plain: bool,
    ) -> PyResult<Self> {
        let token = |(id, content, single_word, lstrip, rstrip, normalized, special)| AddedToken {
            id,
            content,
            flags: Flags { single_word, lstrip, rstrip, special },
            normalized,
        };
        let parts = PipelineParts {
            added_tokens: added_tokens.into_iter().map(token).collect(),
            mergeable,
            normalizer: normalizer.map_or_else(Default::default, |normalizer| normalizer.inner.clone()),
            splits: splits.map(|splits| splits.inner.clone()),
            prefix: prefix_of(prefix)?,
            only_prefix: only_prefix.map(prefix_of).transpose()?,
            spaces_are_plain,
        };
        Ok(PyPipeline { parts })
    }
}

impl PyPipeline {
    /// The pipeline of the core.
    pub(super) fn made(&self) -> crate::error::Result<Pipeline> {
        Pipeline::new(self.parts.clone())
    }
}

fn prefix_of(name: &str) -> PyResult<Prefix> {
    Prefix::from_name(name).ok_or_else(|| PyValueError::new_err(format!("no prefix has the name {name:?}")))
}
