//! The Python module `toksmith._core`. Each function extracts its arguments, releases the GIL, calls the core
//! and converts the result; there are no algorithms here.

mod alignment;
mod allocator;
mod arrays;
mod arrow;
mod arrow_counts;
mod byte_stream;
mod call;
mod characters;
mod compiled;
mod continuations;
mod counts;
mod decode_stream;
mod decode_streams;
mod decoder;
mod decoding;
mod dialects;
mod document;
mod documents;
mod encoding;
mod encoding_settings;
mod engines;
mod errors;
mod file;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod formats;
mod guarded;
mod huggingface_encoding;
mod ids;
mod ints;
mod objects;
mod output;
mod permutation;
mod pipeline;
mod post_processor;
mod prefix_cache;
mod pretokenizer;
mod regex;
mod shards;
mod stream;
mod surgery;
mod text;
mod tokenizer;
mod tokenizer_calls;
mod training;
mod vocabulary;

use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::pretokenize::{Named, REGEX_VERSION, UNICODE_VERSION, spellings};

#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    allocator::restore();
    module.add_class::<tokenizer::Tokenizer>()?;
    module.add_class::<compiled::PyCompiledPattern>()?;
    module.add_class::<pretokenizer::PyPretokenizer>()?;
    module.add_function(wrap_pyfunction!(characters::character_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(dialects::check_pattern_size, module)?)?;
    module.add_function(wrap_pyfunction!(dialects::from_fancy_regex, module)?)?;
    module.add_function(wrap_pyfunction!(dialects::from_oniguruma, module)?)?;
    module.add_function(wrap_pyfunction!(dialects::to_oniguruma, module)?)?;
    module.add_function(wrap_pyfunction!(dialects::pattern_steps, module)?)?;
    module.add_class::<byte_stream::PyByteStream>()?;
    module.add_class::<byte_stream::PyRecordStream>()?;
    module.add_function(wrap_pyfunction!(byte_stream::file_format, module)?)?;
    module.add_function(wrap_pyfunction!(byte_stream::check_plain, module)?)?;
    module.add_function(wrap_pyfunction!(byte_stream::check_whole, module)?)?;
    module.add_class::<counts::PyCounting>()?;
    module.add_class::<counts::PyPretokenCounts>()?;
    module.add_class::<counts::PyOversized>()?;
    module.add_class::<arrow::PyArrowColumn>()?;
    module.add_class::<arrow::PyArrowArray>()?;
    module.add_function(wrap_pyfunction!(arrow_counts::count_texts, module)?)?;
    module.add_function(wrap_pyfunction!(arrow_counts::count_counts, module)?)?;
    module.add_function(wrap_pyfunction!(arrow_counts::counts_to_arrow, module)?)?;
    module.add_function(wrap_pyfunction!(arrow_counts::counts_from_arrow, module)?)?;
    module.add_class::<pipeline::PyAddedToken>()?;
    module.add_class::<pipeline::PyPipeline>()?;
    module.add_class::<post_processor::PyPostProcessor>()?;
    module.add_class::<encoding_settings::PyEncodingSettings>()?;
    module.add_class::<huggingface_encoding::PyEncoding>()?;
    module.add_class::<stream::EncodeStream>()?;
    module.add_class::<document::PyDocument>()?;
    module.add_class::<prefix_cache::PyPrefixCache>()?;
    module.add_class::<continuations::PyContinuations>()?;
    module.add_class::<decode_stream::DecodeStreams>()?;
    module.add_class::<decode_stream::DecodeStream>()?;
    module.add_function(wrap_pyfunction!(alignment::align, module)?)?;
    module.add_function(wrap_pyfunction!(alignment::vocab_map, module)?)?;
    module.add_function(wrap_pyfunction!(alignment::retokenization, module)?)?;
    module.add_class::<encoding::PySpecialSet>()?;
    module.add_class::<encoding::Encoding>()?;
    module.add_class::<permutation::PyPermutation>()?;
    module.add_class::<shards::PyShardCounts>()?;
    module.add_class::<shards::PyShardRun>()?;
    module.add_function(wrap_pyfunction!(shards::check_snapshot, module)?)?;
    module.add_function(wrap_pyfunction!(shards::complete_shard, module)?)?;
    module.add_function(wrap_pyfunction!(shards::join_pieces, module)?)?;
    module.add_function(wrap_pyfunction!(shards::npy_header, module)?)?;
    module.add_function(wrap_pyfunction!(shards::llm_c_header, module)?)?;
    module.add_function(wrap_pyfunction!(formats::tokenizer_kind, module)?)?;
    module.add_function(wrap_pyfunction!(formats::tokenizer_lead, module)?)?;
    module.add_function(wrap_pyfunction!(formats::tokenizer_files, module)?)?;
    module.add_function(wrap_pyfunction!(formats::side_files, module)?)?;
    module.add_function(wrap_pyfunction!(formats::tokenizer_class, module)?)?;
    module.add_function(wrap_pyfunction!(formats::tokens_of_ranks, module)?)?;
    module.add_function(wrap_pyfunction!(formats::minbpe_model, module)?)?;
    module.add_class::<file::PyWrittenHashes>()?;
    module.add_function(wrap_pyfunction!(file::checksum, module)?)?;
    module.add_class::<training::Learned>()?;
    module.add_class::<training::LearnedMerge>()?;
    module.add_class::<training::PyRuns>()?;
    module.add_function(wrap_pyfunction!(training::learn_balanced, module)?)?;
    module.add_function(wrap_pyfunction!(training::learn_merges, module)?)?;
    module.add_function(wrap_pyfunction!(training::memory_to_learn, module)?)?;
    module.add_function(wrap_pyfunction!(training::fingerprint, module)?)?;
    module.add_function(wrap_pyfunction!(training::build_tokenizer, module)?)?;
    module.add_function(wrap_pyfunction!(surgery::words_of, module)?)?;
    module.add_function(wrap_pyfunction!(formats::spell, module)?)?;
    module.add_function(wrap_pyfunction!(formats::unspell, module)?)?;
    make_cells(module.py())?;
    module.add("NO_PATTERN", crate::formats::NO_PATTERN)?;
    module.add("COMPILED_PATTERNS", [("kimi", spellings::KIMI)].into_py_dict(module.py())?)?;
    module.add("NAMED_PATTERNS", expressions(module.py())?)?;
    module.add("PATTERN_ALIASES", names_of(module.py(), &spellings::ENCODINGS)?)?;
    module.add("PATTERN_SPELLINGS", names_of(module.py(), &spellings::SPELLINGS)?)?;
    module.add("ONIGURUMA_SPELLINGS", names_of(module.py(), &spellings::IN_ONIGURUMA)?)?;
    module.add("NPY_HEADER_BYTES", crate::shards::NPY_HEADER_BYTES)?;
    module.add("LLM_C_HEADER_BYTES", crate::shards::LLM_C_HEADER_BYTES)?;
    module.add("MAX_LISTED", crate::shards::MAX_LISTED)?;
    module.add("UNICODE_VERSION", UNICODE_VERSION)?;
    module.add("REGEX_VERSION", REGEX_VERSION)
}

/// Fills the cells of PyO3 that calls use. They must not be filled at their first use: a child that is forked
/// while a thread fills a cell would wait for that thread for ever.
fn make_cells(py: Python<'_>) -> PyResult<()> {
    regex::make_names(py);
    1_i128.into_pyobject(py)?.extract::<i128>()?;
    py.detach(|| Python::try_attach(|_| ()));
    Ok(())
}

/// The expressions of the named patterns by their names.
fn expressions(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let expressions = objects::dict(py)?;
    for (name, named) in spellings::NAMES {
        expressions.set_item(name, named.expression())?;
    }
    Ok(expressions)
}

/// The names of the patterns of a table.
fn names_of<'py>(py: Python<'py>, table: &[(&str, Named)]) -> PyResult<Bound<'py, PyDict>> {
    let names = objects::dict(py)?;
    for (text, named) in table {
        names.set_item(text, named.name())?;
    }
    Ok(names)
}
