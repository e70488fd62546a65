//! Post-processors of `tokenizers`.

use pyo3::prelude::*;

use super::formats::value_of;
use super::huggingface_encoding::{PyEncoding, copied};
use crate::postprocess::{Piece, PostProcessor, Sequence};
use crate::tokenizer::parts::read_post_processor;

/// The text of a piece, its tokens with their ids, and its type id.
type PieceRow = (Option<&'static str>, Vec<(String, u32)>, u32);

/// What puts tokens around the ids of texts.
#[pyclass(frozen, name = "PostProcessor", module = "toksmith._core")]
pub(super) struct PyPostProcessor {
    pub(super) inner: PostProcessor,
}

#[pymethods]
impl PyPostProcessor {
    /// `json` is the `post_processor` of a `tokenizer.json`.
    #[new]
    fn new(json: &str) -> PyResult<Self> {
        Ok(PyPostProcessor { inner: read_post_processor(&value_of(json, "post_processor")?)? })
    }

    /// How many ids are added around one text, or two.
    #[pyo3(signature = (is_pair=false))]
    fn added(&self, is_pair: bool) -> usize {
        self.inner.added(is_pair)
    }

    /// The ids of one text, or two, with those that are added.
    #[pyo3(signature = (first, second=None))]
    fn ids(&self, first: Vec<u32>, second: Option<Vec<u32>>) -> PyResult<Vec<u32>> {
        Ok(self.inner.ids([first].into_iter().chain(second).collect())?)
    }

    /// The ids that are put before and behind a text; None if the text is left out, or repeated.
    fn around(&self) -> PyResult<Option<(Vec<u32>, Vec<u32>)>> {
        Ok(self.inner.around()?)
    }

    /// Whether whitespace at the ends of tokens is left out of their offsets.
    #[getter]
    fn trims_offsets(&self) -> bool {
        self.inner.trims()
    }

    /// The pieces around one text, or around two, of the first step that adds any.
    fn pieces(&self, is_pair: bool) -> Vec<PieceRow> {
        let row = |piece: Piece| {
            let text = piece.sequence.map(|sequence| match sequence {
                Sequence::A => "A",
                Sequence::B => "B",
            });
            (text, piece.tokens.iter().cloned().zip(piece.ids).collect(), piece.type_id)
        };
        self.inner.pieces(is_pair).into_iter().map(row).collect()
    }

    /// One encoding of one or two, which stay as they are.
    fn process(&self, encodings: Vec<Bound<'_, PyAny>>, adds_tokens: bool) -> PyResult<PyEncoding> {
        let encodings = encodings.iter().map(copied).collect::<PyResult<_>>()?;
        Ok(PyEncoding::of(self.inner.process(encodings, adds_tokens)?))
    }
}
