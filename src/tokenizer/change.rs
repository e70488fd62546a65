//! Tokenizers made of another one: with more special tokens, with fewer tokens, or with other ids.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::builder::{Preprocessing, Provenance};
use super::pipeline::Pipeline;
use super::record::Record;
use super::tokenizer::Tokenizer;
use crate::encode::Encoder;
use crate::error::{Error, Result, show, show_text};
use crate::pipeline::AddedToken;
use crate::room;
use crate::vocab::Pruned;

impl Tokenizer {
    /// The tokenizer with more special tokens, at the ids that stand beside their names. All other ids stay.
    /// A name that has its id already changes nothing.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a token has the id, or the text, of a new one; names both. Or if the tokenizer
    /// merges by the names of its tokens, and an id is not above all others.
    pub fn with_special_tokens(&self, special_tokens: &[(&str, u32)]) -> Result<Self> {
        let vocab = self.vocab();
        let known: HashMap<&str, u32> = self.special_tokens().collect();
        let mut more: Vec<(u32, &str)> = special_tokens
            .iter()
            .filter(|(name, id)| known.get(name) != Some(id))
            .map(|(name, id)| (*id, *name))
            .collect();
        more.sort_unstable();
        self.check_new(&more)?;
        if more.is_empty() {
            return Ok(self.clone());
        }
        let rows: Vec<_> = more.iter().map(|(id, name)| (name.as_bytes().to_vec(), *id)).collect();
        let encoder = match self.encoder().with_specials(&rows)? {
            Some(encoder) => encoder,
            None if !vocab.covers_text_exactly() => {
                return Err(Error::Invalid(
                    "a tokenizer that merges by the names of its tokens takes no special tokens at ids of choice".into(),
                ));
            }
            None => {
                let ids: Vec<Option<u32>> = vocab.tokens().iter().map(|(id, _)| Some(id)).collect();
                let rows: Vec<_> = more.iter().map(|(id, name)| (*id, name.as_bytes().to_vec())).collect();
                self.encoder().with_vocab(vocab.relabeled(&ids, &rows)?.0)?
            }
        };
        let tokens = more.iter().map(|(id, name)| AddedToken::special(*id, name)).collect();
        let preprocessing = self.preprocessing(|pipeline| pipeline.with_tokens(tokens))?;
        Self::of_encoder(encoder.into(), preprocessing, self.moved(self.record().cloned(), None))
    }

    /// The pattern, or the changed pipeline.
    fn preprocessing(&self, change: impl FnOnce(&Pipeline) -> Result<Pipeline>) -> Result<Preprocessing> {
        match self.pipeline() {
            Some(pipeline) => Ok(change(pipeline)?.into()),
            None => Ok(Preprocessing::Pattern(Arc::clone(self.pattern()))),
        }
    }

    /// What stays known of a tokenizer with other tokens. `new_ids` are the ids of those that stay; `None` if
    /// all stay as they are.
    pub(super) fn moved(&self, record: Option<Record>, new_ids: Option<&HashMap<u32, u32>>) -> Provenance {
        let added = self.pipeline().into_iter().flat_map(|pipeline| pipeline.added_tokens());
        let names = self.special_tokens().chain(added.map(|token| (&*token.content, token.id)));
        let stays = |ids: &HashMap<u32, u32>, id| ids.get(&id) == Some(&id);
        let new_ids = new_ids.filter(|ids| self.vocab().tokens().iter().any(|(id, _)| !stays(ids, id)));
        let is_gone = |id| new_ids.is_some_and(|ids| !ids.contains_key(&id));
        let gone = names.filter(|(_, id)| is_gone(*id)).map(|(name, _)| name).collect();
        Provenance { record, origin: self.origin().map(|origin| origin.moved(new_ids, &gone)) }
    }

    /// Checks that no token has the id of a new special token, or its text.
    fn check_new(&self, more: &[(u32, &str)]) -> Result<()> {
        let added = self.pipeline().into_iter().flat_map(|pipeline| pipeline.added_tokens());
        let added: HashMap<&str, u32> = added.map(|token| (&*token.content, token.id)).collect();
        let mut ids: HashMap<u32, &[u8]> = HashMap::new();
        for &(id, name) in more {
            if let Some(token) = self.token_bytes(id).or_else(|| ids.get(&id).copied()) {
                return Err(Error::Invalid(format!(
                    "special token {}: id {id} is that of {}: choose another id",
                    show_text(name),
                    show(token)
                )));
            }
            let other = added.get(name).copied().or_else(|| self.token_id(name.as_bytes()));
            if let Some(other) = other {
                return Err(Error::Invalid(format!(
                    "special token {}, id {id}: the tokenizer has a token of this text, id {other}",
                    show_text(name)
                )));
            }
            ids.insert(id, name.as_bytes());
        }
        Ok(())
    }

    /// The tokenizer in which more added tokens are special, sharing all tables.
    #[doc(hidden)]
    pub fn with_special(&self, is_special: &dyn Fn(&str) -> bool) -> Result<Self> {
        match self.pipeline() {
            Some(pipeline) => {
                let pipeline = pipeline.with_special(is_special)?;
                Self::of_encoder(Arc::clone(self.encoder()), pipeline, Provenance::default())
            }
            None => Ok(self.clone()),
        }
    }

    /// The tokenizer of some tokens, and of what they need, with the old id of each new one, and the old ids
    /// that were needed. See [`crate::Vocab::pruned`].
    pub fn pruned(&self, keep: &[u32], fixed: &[u32]) -> Result<(Self, Vec<u32>, Vec<u32>)> {
        let Pruned { vocab, old_ids, needed, merges } = self.vocab().pruned(keep, fixed)?;
        let record = self.record().map(|record| record.pruned(merges, 256 + fixed.len() as u32));
        let new_ids = old_ids.iter().copied().zip(0..).collect();
        let encoder = self.encoder().with_vocab(vocab)?.into();
        Ok((self.renumbered(encoder, &new_ids, record)?, old_ids, needed))
    }

    /// The tokenizer of `size` tokens: without its last merges, or ranks. See [`crate::Vocab::shrunk_ids`].
    pub fn shrunk(&self, size: usize) -> Result<Self> {
        let vocab = self.vocab();
        let new_ids = vocab.shrunk_ids(size)?;
        let count = new_ids.iter().flatten().count();
        if count > size {
            let reason = format!("cannot shrink to {size} tokens: without any merge there are still {count}");
            return Err(Error::Invalid(reason));
        }
        let ids = vocab.tokens().iter().zip(&new_ids).filter_map(|((id, _), new)| Some((id, (*new)?)));
        let shrunk = vocab.relabeled(&new_ids, &[])?.0;
        let merges = shrunk.merges_by_index().len();
        let record = self.record().map(|record| record.pruned(0..merges, record.initial_tokens));
        self.renumbered(self.encoder().with_vocab(shrunk)?.into(), &ids.collect(), record)
    }

    /// The tokenizer of some tokens under other ids: pairs of old and new ids.
    #[doc(hidden)]
    pub fn relabeled(&self, ids: &[(u32, u32)]) -> Result<Self> {
        let vocab = self.vocab();
        let mut new_ids = room::filled(None, vocab.tokens().len())?;
        for &(old, new) in ids {
            if let Some(index) = vocab.tokens().index_of(old) {
                new_ids[index as usize] = Some(new);
            }
        }
        let vocab = vocab.relabeled(&new_ids, &[])?.0;
        let encoder = self.encoder().with_vocab(vocab)?.into();
        self.renumbered(encoder, &ids.iter().copied().collect(), self.record().cloned())
    }

    /// The tokenizer of an encoder with other ids.
    fn renumbered(
        &self,
        encoder: Arc<Encoder>,
        new_ids: &HashMap<u32, u32>,
        record: Option<Record>,
    ) -> Result<Self> {
        let preprocessing = self.preprocessing(|pipeline| pipeline.renumbered(new_ids))?;
        Self::of_encoder(encoder, preprocessing, self.moved(record, Some(new_ids)))
    }

    /// The ids of special and other added tokens.
    #[doc(hidden)]
    pub fn added_ids(&self) -> HashSet<u32> {
        let added = self.pipeline().into_iter().flat_map(|pipeline| pipeline.added_tokens());
        self.vocab().special_ids().iter().copied().chain(added.map(|token| token.id)).collect()
    }
}
