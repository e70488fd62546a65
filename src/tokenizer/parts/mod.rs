//! The steps around a model, as a `tokenizer.json` and toksmith's own file say them in JSON.
//!
//! [`steps`] reads them: [`normalizer`], [`pretokenizer`] with [`spaces`], and [`decoder`], whose regular
//! expressions are in [`patterns`]; [`post_processor`] the last one.

mod decoder;
mod metaspace;
mod normalizer;
pub(crate) mod part;
pub(crate) mod patterns;
pub(crate) mod place;
pub(crate) mod post_processor;
mod pretokenizer;
mod renumber;
mod spaces;
pub(crate) mod steps;

pub use patterns::PatternEngines;
pub use post_processor::read_post_processor;
pub use renumber::renumber;
pub use steps::FilePipeline;
