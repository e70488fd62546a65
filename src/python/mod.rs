//! The Python module `toksmith._core`: extract, release the GIL, call the core, convert. No algorithm.

mod added;
mod arrays;
mod call;
mod counts;
mod encoding;
mod errors;
mod file;
mod ids;
mod ints;
mod normalizer;
mod output;
mod pretokenizer;
mod regex;
mod stream;
mod text;
mod tokenizer;
mod training;

use pyo3::prelude::*;

use crate::pretokenize::{REGEX_VERSION, UNICODE_VERSION};

#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<tokenizer::Tokenizer>()?;
    module.add_class::<pretokenizer::Pretokenizer>()?;
    module.add_class::<counts::Counting>()?;
    module.add_class::<counts::PretokenCounts>()?;
    module.add_class::<added::AddedTokens>()?;
    module.add_class::<normalizer::Normalizer>()?;
    module.add_class::<stream::EncodeStream>()?;
    module.add_class::<encoding::SpecialSet>()?;
    module.add_class::<encoding::Encoding>()?;
    module.add_class::<training::Learned>()?;
    module.add_function(wrap_pyfunction!(training::learn_merges, module)?)?;
    module.add_function(wrap_pyfunction!(training::fingerprint, module)?)?;
    module.add_function(wrap_pyfunction!(training::grown, module)?)?;
    module.add("UNICODE_VERSION", UNICODE_VERSION)?;
    module.add("REGEX_VERSION", REGEX_VERSION)
}
