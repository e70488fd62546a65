//! The ids of the beginnings of texts, kept for texts that begin in the same way.

use std::cell::Cell;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::arrays::IdArray;
use super::ids::IdList;
use super::objects::{Any, Made};
use super::tokenizer::Tokenizer;
use super::{call, text};
use toksmith::encode::PrefixCache;
use toksmith::pretokenize::Isa;
use toksmith::room;

thread_local! {
    /// Memory for the UTF-8 of a call, kept from call to call.
    static UTF8: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The maximum number of bytes of this memory.
const MAX_IDLE_BYTES: usize = 1 << 17;

/// Characters from which on the GIL is released at once: what is known of fewer is found in less than 0.2 ms.
const MAX_UNITS_WITH_GIL: usize = 1 << 18;

/// Encodes texts that begin as earlier ones did, such as the turns of conversations, from the last place on
/// up to which the text is known and can be cut. Gives the ids that the tokenizer gives. Any number of
/// threads may use it at once.
///
/// Args: tokenizer: A `toksmith.Tokenizer`, or what names one. max_bytes: Memory that it takes at most, two
/// to three times the UTF-8 of the text that it remembers. What was not used for long goes first. special:
/// Whether special tokens become their ids.
///
/// Raises:
///     ValueError: `max_bytes` is negative.
#[pyclass(frozen, module = "toksmith", name = "PrefixCache")]
pub(super) struct PyPrefixCache(PrefixCache);

#[pymethods]
impl PyPrefixCache {
    #[new]
    #[pyo3(signature = (tokenizer, max_bytes, *, special=true))]
    fn new(tokenizer: Any, max_bytes: i64, special: bool) -> PyResult<Self> {
        let Ok(max_bytes) = usize::try_from(max_bytes) else {
            return Err(PyValueError::new_err(format!("max_bytes is at least 0, not {max_bytes}")));
        };
        let encoder = Tokenizer::of_public(tokenizer, "tokenizer")?.get().encoder().clone();
        Ok(PyPrefixCache(PrefixCache::new(encoder, max_bytes, special)))
    }

    /// Return the ids of a text as a list.
    fn encode(&self, text: Any) -> PyResult<Made<IdList>> {
        self.ids_of(text, IdList::memory()).map(IdList).map(Made)
    }

    /// Return the ids of a text as an array of `uint32`, shape (n,).
    fn encode_to_numpy(&self, text: Any) -> PyResult<Made<IdArray>> {
        self.ids_of(text, Vec::new()).map(IdArray).map(Made)
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
    /// The ids of a text, in empty memory. What is known takes less time than other threads need to take the
    /// GIL and give it back.
    fn ids_of(&self, text: Any, mut ids: Vec<u32>) -> PyResult<Vec<u32>> {
        let (py, text, cache) = (text.py(), text::of(text, true)?, &self.0);
        let (isa, units) = (Isa::best(), 0..text.len());
        if units.end >= MAX_UNITS_WITH_GIL {
            return call::long(py, None, |control| {
                cache.encode(text.utf8(isa, units, &mut Vec::new())?, &mut ids, control)?;
                Ok(ids)
            });
        }
        let mut buffer = UTF8.take();
        let known = call::sized(py, 0, |_| {
            room::reserve(&mut ids, units.end / 4)?;
            let utf8 = text.utf8(isa, units, &mut buffer)?;
            Ok((utf8, cache.find(utf8, &mut ids)?))
        });
        let done = known.and_then(|(utf8, known)| {
            let unknown = utf8.len() - known.bytes();
            call::sized(py, unknown, |control| cache.encode_from(known, utf8, &mut ids, control))
        });
        if buffer.capacity() <= MAX_IDLE_BYTES {
            UTF8.set(buffer);
        }
        done.map(|()| ids)
    }
}
