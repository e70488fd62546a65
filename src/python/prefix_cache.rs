//! The ids of the beginnings of texts, kept for texts that begin in the same way.

use std::cell::Cell;

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyList};

use super::tokenizer::Tokenizer;
use super::{arrays, call, ids, text};
use crate::encode::PrefixCache;
use crate::room;
use crate::simd::Isa;

thread_local! {
    /// Memory for the UTF-8 of a call, kept from call to call.
    static UTF8: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The maximum number of bytes of this memory.
const MAX_IDLE_BYTES: usize = 1 << 17;

/// Characters from which on the GIL is released at once: what is known of fewer is found in less than 0.2 ms.
const MAX_UNITS_WITH_GIL: usize = 1 << 18;

/// Encodes texts that begin as earlier ones did, such as the turns of conversations, from the last place on up to which
/// the text is known and can be cut. Gives the ids that the tokenizer gives. Any number of threads may use it at once.
///
/// Args:
///     tokenizer: A `toksmith.Tokenizer`, or what names one.
///     max_bytes: Memory that it takes at most, two to three times the UTF-8 of the text that it remembers. What was
///         not used for long goes first.
///     special: Whether special tokens become their ids.
///
/// Raises:
///     ValueError: `max_bytes` is negative.
#[pyclass(frozen, module = "toksmith", name = "PrefixCache")]
pub(super) struct PyPrefixCache(PrefixCache);

#[pymethods]
impl PyPrefixCache {
    #[new]
    #[pyo3(signature = (tokenizer, max_bytes, *, special=true))]
    fn new(tokenizer: &Bound<'_, PyAny>, max_bytes: i64, special: bool) -> PyResult<Self> {
        let Ok(max_bytes) = usize::try_from(max_bytes) else {
            return Err(PyValueError::new_err(format!("max_bytes is at least 0, not {max_bytes}")));
        };
        let encoder = Tokenizer::of_public(tokenizer, "tokenizer")?.get().encoder().clone();
        Ok(PyPrefixCache(PrefixCache::new(encoder, max_bytes, special)))
    }

    /// Return the ids of a text as a list.
    fn encode<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        call::with_ids(|ids| self.fill(text, ids), |all| ids::to_list(text.py(), all))
    }

    /// Return the ids of a text as an array of `uint32`, shape (n,).
    fn encode_to_numpy<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let mut ids = Vec::new();
        self.fill(text, &mut ids)?;
        arrays::ids(text.py(), ids)
    }

    /// Bytes of memory that it takes at most.
    #[getter]
    fn max_bytes(&self) -> usize {
        self.0.max_bytes()
    }

    /// Bytes of memory that it takes now.
    #[getter]
    fn size_bytes(&self) -> usize {
        self.0.bytes()
    }
}

impl PyPrefixCache {
    /// Appends the ids of a text. What is known takes less time than other threads need to take the GIL and give it back.
    fn fill(&self, text: &Bound<'_, PyAny>, ids: &mut Vec<u32>) -> PyResult<()> {
        let (py, text, cache) = (text.py(), text::of_new(text)?, &self.0);
        let (isa, units) = (Isa::best(), 0..text.len());
        if units.end >= MAX_UNITS_WITH_GIL {
            return call::long(py, None, |control| {
                cache.encode(text.utf8(isa, units, &mut Vec::new())?, ids, control)
            });
        }
        let mut buffer = UTF8.take();
        let known = call::sized(py, 0, |_| {
            room::reserve(ids, units.end / 4)?;
            let utf8 = text.utf8(isa, units, &mut buffer)?;
            Ok((utf8, cache.find(utf8, ids)?))
        });
        let done = known.and_then(|(utf8, known)| {
            let unknown = utf8.len() - known.bytes();
            call::sized(py, unknown, |control| cache.encode_from(known, utf8, ids, control))
        });
        if buffer.capacity() <= MAX_IDLE_BYTES {
            UTF8.set(buffer);
        }
        done
    }
}
