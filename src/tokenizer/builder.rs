//! The only way to make a tokenizer: of all its parts at once.

use std::sync::Arc;

use super::origin::Origin;
use super::pattern::SourcePattern;
use super::pipeline::Pipeline;
use super::record::Record;
use super::tokenizer::Tokenizer;
use crate::encode::Encoder;
use crate::error::Result;
use crate::vocab::Vocab;

/// What cuts the text for an encoder.
pub(crate) enum Around {
    /// A pattern that cuts all text.
    Pattern(Arc<SourcePattern>),
    /// The steps of a Hugging Face file.
    Pipeline(Box<Pipeline>),
}

impl From<SourcePattern> for Around {
    fn from(pattern: SourcePattern) -> Self {
        Around::Pattern(pattern.into())
    }
}

impl From<Pipeline> for Around {
    fn from(pipeline: Pipeline) -> Self {
        Around::Pipeline(pipeline.into())
    }
}

/// What is known of a tokenizer besides its identity.
#[derive(Default)]
pub(crate) struct Known {
    /// How it was trained.
    pub(crate) record: Option<Record>,
    /// What its folder says besides ids.
    pub(crate) origin: Option<Origin>,
}

impl Tokenizer {
    /// The tokenizer of a vocabulary.
    pub(crate) fn new(vocab: Vocab, around: impl Into<Around>, known: Known) -> Result<Self> {
        let around = around.into();
        let pretokenizer = match &around {
            Around::Pattern(pattern) => pattern.pretokenizer.clone(),
            Around::Pipeline(pipeline) => pipeline.steps().pretokenizer(),
        };
        Self::of_encoder(Encoder::new(vocab, pretokenizer)?.into(), around, known)
    }

    /// The tokenizer of an encoder, with which it shares its tables, and whose pretokenizer is that of the parts around it.
    pub(crate) fn of_encoder(encoder: Arc<Encoder>, around: impl Into<Around>, known: Known) -> Result<Self> {
        let merges = encoder.vocab().merges_by_index().len();
        let (encoder, decoder, pattern, pipeline) = match around.into() {
            Around::Pattern(pattern) => (encoder, None, pattern, None),
            Around::Pipeline(pipeline) => {
                let (encoder, decoder) = pipeline.steps().around(&encoder)?;
                let pattern = pipeline.pattern().clone().into();
                (encoder, Some(decoder.into()), pattern, Some(Arc::from(pipeline)))
            }
        };
        Ok(Tokenizer {
            encoder,
            decoder,
            pattern,
            pipeline,
            record: known.record.map(|record| record.fitted(merges).into()),
            origin: known.origin.map(Arc::new),
            warnings: Vec::new(),
            fingerprint: Arc::default(),
        })
    }
}
