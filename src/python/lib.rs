//! The Python module `toksmith._core`. Each function extracts its arguments, releases the GIL, calls the core
//! and converts the result; there are no algorithms here.

mod alignment;
mod allocator;
mod arrays;
mod arrow;
mod byte_stream;
mod call;
mod counts;
mod decode_stream;
mod document;
mod documents;
mod errors;
mod formats;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod guarded;
mod huggingface_encoding;
mod ids;
mod ints;
mod objects;
mod output;
mod pipeline;
mod prefix_cache;
mod pretokenizer;
mod shards;
mod special;
mod text;
mod tokenizer;
mod training;
mod vocabulary;

use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyTuple};

use toksmith::encode::marks;
use toksmith::pretokenize::{Named, REGEX_VERSION, UNICODE_VERSION, Unmatched, spellings};

#[pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        alignment::{align, vocab_map},
        arrow::{PyArrowArray, PyArrowColumn},
        byte_stream::{PyDocumentStream, check_head, checksum, decompress, file_format},
        counts::{PyCounting, PyOversized, PyPretokenCounts},
        decode_stream::{DecodeStream, DecodeStreams},
        document::PyDocument,
        formats::{
            minbpe_model, side_files, spell, tokenizer_files, tokenizer_kind, tokenizer_lead,
            tokens_of_ranks, unspell,
        },
        huggingface_encoding::{PyEncoding, PyEncodingSettings},
        pipeline::{PyPipeline, PyPostProcessor},
        prefix_cache::PyPrefixCache,
        pretokenizer::{
            PyCompiledPattern, PyPretokenizer, character_classes, check_pattern_size, from_fancy_regex,
            from_oniguruma,
        },
        shards::{PyShardFolder, PyShardRun, llm_c_header, npy_header, pack},
        special::PySpecialSet,
        tokenizer::{EncodeStream, PyContinuations, Tokenizer},
        training::{Learned, build_tokenizer, fingerprint, learn, memory_to_learn, words_of},
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::allocator::restore();
        super::make_cells(module.py())?;
        super::add_names(module)?;
        // The stub has the names.
        module.delattr("__all__")
    }
}

/// Adds the names of patterns.
fn add_names(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("NO_PATTERN", toksmith::formats::NO_PATTERN)?;
    let formats = toksmith::formats::FORMATS;
    module.add("FORMATS", formats.map(|kind| (kind.name, (kind.about, kind.files))).into_py_dict(py)?)?;
    module.add("TIES", PyTuple::new(py, toksmith::tokenizer::TIES)?)?;
    module.add("UNMATCHED", PyTuple::new(py, [Unmatched::Keep, Unmatched::Drop].map(Unmatched::name))?)?;
    module.add(
        "LONG_DOCUMENTS",
        PyTuple::new(py, toksmith::shards::LongDocument::NAMES.map(|(name, _)| name))?,
    )?;
    module.add("SPECIAL_IDS", PyTuple::new(py, toksmith::train::SpecialIds::NAMES.map(|(name, _)| name))?)?;
    module.add("MARKS", marks::NAMES.into_py_dict(py)?)?;
    module.add("META", toksmith::spelling::META)?;
    module.add("COMPILED_PATTERNS", [("kimi", spellings::KIMI)].into_py_dict(py)?)?;
    module.add(
        "NAMED_PATTERNS",
        spellings::NAMES.map(|(name, named)| (name, named.expression())).into_py_dict(py)?,
    )?;
    module.add("PATTERN_ALIASES", names_of(py, &spellings::ENCODINGS)?)?;
    module.add("PATTERN_SPELLINGS", names_of(py, &spellings::SPELLINGS)?)?;
    module.add("ONIGURUMA_SPELLINGS", names_of(py, &spellings::IN_ONIGURUMA)?)?;
    module.add("NPY_HEADER_BYTES", toksmith::shards::NPY_HEADER_BYTES)?;
    module.add("LLM_C_HEADER_BYTES", toksmith::shards::LLM_C_HEADER_BYTES)?;
    module.add("MAX_LISTED", toksmith::shards::MAX_LISTED)?;
    module.add("MAX_RECORD_BYTES", toksmith::source::MAX_RECORD_BYTES)?;
    module.add("NOT_UTF8_ADVICE", toksmith::error::NOT_UTF8_ADVICE)?;
    module.add("SHARD_FORMATS", shards::formats())?;
    module.add("UNICODE_VERSION", UNICODE_VERSION)?;
    module.add("REGEX_VERSION", REGEX_VERSION)
}

/// The names of the patterns of a table.
fn names_of<'py>(py: Python<'py>, table: &[(&str, Named)]) -> PyResult<Bound<'py, PyDict>> {
    table.iter().map(|(text, named)| (*text, named.name())).into_py_dict(py)
}

/// Fills the cells of PyO3 that calls use. They must not be filled at their first use: a child that is forked
/// while a thread fills a cell would wait for that thread for ever.
fn make_cells(py: Python<'_>) -> PyResult<()> {
    1_i128.into_pyobject(py)?.extract::<i128>()?;
    py.detach(|| Python::try_attach(|_| ()));
    Ok(())
}
