//! The only way to make a tokenizer: of all its parts at once. The parts were checked where they were made:
//! [`Vocab::new`], [`SourcePattern`], [`Pipeline::new`].

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
pub enum Preprocessing {
    /// A pattern that cuts all text.
    Pattern(Arc<SourcePattern>),
    /// The steps of a Hugging Face file.
    Pipeline(Box<Pipeline>),
}

impl From<SourcePattern> for Preprocessing {
    fn from(pattern: SourcePattern) -> Self {
        Preprocessing::Pattern(pattern.into())
    }
}

impl From<Pipeline> for Preprocessing {
    fn from(pipeline: Pipeline) -> Self {
        Preprocessing::Pipeline(pipeline.into())
    }
}

/// What is known of a tokenizer besides its identity.
#[derive(Default)]
pub struct Provenance {
    /// How it was trained.
    pub record: Option<Record>,
    /// What its folder says besides ids.
    pub origin: Option<Origin>,
}

impl Tokenizer {
    /// The tokenizer of a vocabulary.
    pub fn new(
        vocab: Vocab,
        preprocessing: impl Into<Preprocessing>,
        provenance: Provenance,
    ) -> Result<Self> {
        let preprocessing = preprocessing.into();
        let pretokenizer = match &preprocessing {
            Preprocessing::Pattern(pattern) => pattern.pretokenizer.clone(),
            Preprocessing::Pipeline(pipeline) => pipeline.steps().pretokenizer(),
        };
        Self::of_encoder(Encoder::new(vocab, pretokenizer)?.into(), preprocessing, provenance)
    }

    /// The tokenizer of an encoder, with which it shares its tables, and whose pretokenizer is that of the
    /// preprocessing.
    pub(crate) fn of_encoder(
        encoder: Arc<Encoder>,
        preprocessing: impl Into<Preprocessing>,
        provenance: Provenance,
    ) -> Result<Self> {
        let merges = encoder.vocab().merges_by_index().len();
        let (encoder, decoder, pattern, pipeline) = match preprocessing.into() {
            Preprocessing::Pattern(pattern) => (encoder, None, pattern, None),
            Preprocessing::Pipeline(pipeline) => {
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
            record: provenance.record.map(|record| record.fitted(merges).into()),
            origin: provenance.origin.map(Arc::new),
            warnings: Vec::new(),
            fingerprint: Arc::default(),
        })
    }
}
