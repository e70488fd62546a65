//! Encoders that share the tables of another one.

use std::sync::Arc;

use super::encoder::Encoder;
use super::scratch::ScratchPool;
use crate::error::Result;
use crate::pipeline::Pipeline;
use crate::special::Specials;
use crate::vocab::Vocab;

impl Encoder {
    /// The encoder of the same vocabulary and pattern, with which it shares its tables, after the steps of a
    /// pipeline.
    #[must_use]
    pub fn behind(&self, pipeline: Pipeline) -> Self {
        Encoder { pipeline: Some(Arc::new(pipeline)), ..self.sharing(Arc::clone(&self.vocab)) }
    }

    /// The encoder with more special tokens, whose ids must ascend and be above all others; `None` where they
    /// are not. It shares all tables: those tokens are found before anything is looked up in them.
    ///
    /// Cost: that of [`Vocab::with_specials`].
    pub fn with_specials(&self, more: &[(Vec<u8>, u32)]) -> Result<Option<Self>> {
        Ok(self.vocab.with_specials(more)?.map(|vocab| self.sharing(Arc::new(vocab))))
    }

    /// The same encoder with scratches of its own.
    pub(super) fn with_own_scratches(&self) -> Self {
        Encoder { pipeline: self.pipeline.clone(), ..self.sharing(Arc::clone(&self.vocab)) }
    }

    /// The encoder of another vocabulary with the same pattern, without a pipeline.
    pub fn with_vocab(&self, vocab: Vocab) -> Result<Self> {
        Encoder::new(vocab, self.splitter.clone())
    }

    /// The encoder without a pipeline of a vocabulary that has the same tables.
    fn sharing(&self, vocab: Arc<Vocab>) -> Self {
        Encoder {
            vocab,
            pretokenizer: self.pretokenizer.clone(),
            splitter: self.splitter.clone(),
            pipeline: None,
            no_specials: Specials::default(),
            tables: Arc::clone(&self.tables),
            pool: ScratchPool::default(),
            ..*self
        }
    }
}
