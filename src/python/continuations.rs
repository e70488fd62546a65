//! The class `Continuations`: what may come after ids.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyString;

use super::arrays::Array;
use super::objects::{Any, IntoObject, List, Made};
use super::special::Special;
use super::tokenizer::{PairRow, Tokenizer};
use super::{call, errors};
use crate::Boundary;
use crate::encode::Continuations;

/// How many ids to keep, and the ids that may come after them; None for any.
type Healed = (usize, Option<Made<Array<u32>>>);

/// The tokens of a tokenizer as what may come next: for text that is cut off, and for generation under
/// constraints.
///
/// Args: tokenizer: A `toksmith.Tokenizer`, or what names one. Its tokens are sorted once, which takes some
/// ten milliseconds for 100,000.
#[pyclass(frozen, module = "toksmith", name = "Continuations")]
pub(super) struct PyContinuations {
    tokenizer: Py<Tokenizer>,
    inner: Continuations,
}

#[pymethods]
impl PyContinuations {
    #[new]
    fn new(py: Python<'_>, tokenizer: Any) -> PyResult<Self> {
        let tokenizer = Tokenizer::of_public(tokenizer, "tokenizer")?;
        let encoder = &tokenizer.get().encoder();
        let inner = call::long(py, None, |_| Ok(Continuations::new(encoder)))?;
        Ok(PyContinuations { tokenizer, inner })
    }

    fn _of_text<'py>(
        &self,
        text: &Bound<'py, PyString>,
        special: Special<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, text) = (text.py(), call::text(text)?);
        let special = special.tokens();
        let encoded = call::long(py, None, |control| self.inner.of_text(text, special, control))?;
        (&*encoded.stable, List(encoded.completions.iter().map(|ids| &**ids))).object(py)
    }

    /// The pair of a prompt and a completion, with the unstable end of the prompt in the completion.
    fn _encode_pair(
        &self,
        py: Python<'_>,
        prompt: &Bound<'_, PyString>,
        completion: &Bound<'_, PyString>,
        special: bool,
    ) -> PyResult<PairRow> {
        self.tokenizer.get().pair(py, prompt, completion, Boundary::Heal(&self.inner), special)
    }

    /// Return the ordinary tokens whose bytes begin with `prefix`, bytes or a str, as ascending ids:
    /// `uint32`, shape (n,).
    fn prefix_ids(&self, prefix: Any) -> PyResult<Made<Array<u32>>> {
        let ids = match prefix.cast::<PyString>() {
            Ok(text) => self.inner.prefix_ids(call::text(text)?.as_bytes())?,
            Err(_) => match prefix.extract::<PyBackedBytes>() {
                Ok(bytes) => self.inner.prefix_ids(&bytes)?,
                Err(_) => return Err(errors::wrong_type("a prefix is bytes or a str", prefix, "")),
            },
        };
        Ok(Made(Array(ids)))
    }

    /// Return how many of `ids` to keep, and which ids may come next instead of the others.
    ///
    /// A prompt that ends inside a word ends with other tokens than the word has. As many ids are given up as
    /// can begin a longer token; what comes next is one of the tokens that begin with their bytes. A special
    /// token stays, with all before it.
    ///
    /// Returns: How many ids stay, and the tokens that may follow, as `uint32` of shape (n,); None if all ids
    /// stay, and any token may follow.
    ///
    /// Raises:
    ///     KeyError: An id has no token; names the id and its index.
    fn heal(&self, ids: Any) -> PyResult<Healed> {
        let (keep, allowed) = self.inner.heal(&self.tokenizer.get().all_ids(ids)?)?;
        Ok((keep, allowed.map(Array).map(Made)))
    }

    /// Return which ids keep a sequence an encoding.
    ///
    /// Cost: one encoding of the end of the text for each token: 10 to 100 ms.
    ///
    /// Returns: `bool` of shape (max_id + 1,): whether `ids` and this id are what encoding their bytes gives.
    /// Bytes that end inside a character are encoded as `Tokenizer.encode` encodes bytes that are not UTF-8.
    ///
    /// Raises: KeyError: An id has no token; names the id and its index. ValueError: Decoding does more than
    /// to join bytes, or nothing is known of where the last 4,096 bytes can be cut.
    fn next_mask(&self, ids: Any) -> PyResult<Made<Array<bool>>> {
        let tokenizer = self.tokenizer.get();
        if tokenizer.decoder().is_some_and(|decoder| decoder.stripped() != Some(0)) {
            return Err(PyValueError::new_err("the decoder of the tokenizer does more than to join bytes"));
        }
        let all = tokenizer.all_ids(ids)?;
        let run = tokenizer.token_run(&all)?;
        let mask =
            call::long(ids.py(), None, |control| self.inner.next_mask(&all, &run.joined(control)?, control))?;
        Ok(Made(Array(mask)))
    }
}
