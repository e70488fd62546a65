//! A `tokenizer.json` that was read, and the vocabulary of its model and its added tokens.

use rustc_hash::FxHashSet;

use super::added::{self, AddedToken};
use super::{model, reader};
use crate::error::{Error, Result};
use crate::vocab::{Additions, BpeModel, BpeOptions, TextSpelling, Vocab};

/// A file that was read.
pub struct TokenizerFile {
    model: BpeModel,
    /// The JSON of all fields besides the model and the added tokens, by name.
    pub parts: Vec<(String, String)>,
    /// The JSON of the fields of the model besides its vocabulary and merges, by name.
    pub options: Vec<(String, String)>,
    /// The added tokens, with the ids that the original gives them.
    pub added: Vec<AddedToken>,
    /// A warning for each id that differs from the one in the file.
    pub warnings: Vec<String>,
}

impl TokenizerFile {
    /// Reads the content of a file. `keep_ids` says that new added tokens have the ids that the file gives them.
    ///
    /// # Errors
    /// [`Error::BrokenPart`] with the place; [`Error::OutOfMemory`].
    pub fn read(data: &[u8], keep_ids: bool) -> Result<Self> {
        let mut raw = reader::read(data)?;
        let model = model::model_of(&mut raw)?;
        let (added, warnings) = added::read(&raw.added, &model, keep_ids)?;
        Ok(TokenizerFile { model, parts: raw.parts, options: raw.options, added, warnings })
    }

    /// The options of the model.
    pub fn model_options(&self) -> &BpeOptions {
        &self.model.options
    }

    /// The number of tokens in the vocabulary of the model.
    pub fn model_size(&self) -> usize {
        self.model.ids.len()
    }

    /// The added tokens that the vocabulary of the model does not have.
    pub fn beside(&self) -> impl Iterator<Item = &AddedToken> {
        self.added.iter().filter(|token| token.place.is_none())
    }

    /// In a byte-level file, the added tokens that ordinary text can become as well.
    pub fn kept(&self) -> impl Iterator<Item = &AddedToken> {
        let needed = self.model.needed();
        let ignores_merges = self.model.options.ignore_merges;
        self.added.iter().filter(move |token| {
            token.place.is_some_and(|place| needed[place as usize] || !token.can_be_special(ignores_merges))
        })
    }

    /// The vocabulary. `texts` are the texts that the added tokens stand for; `seed` is that of the dropout.
    ///
    /// # Errors
    /// The variants of [`Error`] for vocabularies.
    pub fn vocab(&self, spelling: TextSpelling, texts: &[String], seed: Option<u64>) -> Result<Vocab> {
        if texts.len() != self.added.len() {
            return Err(Error::BrokenState);
        }
        let (additions, left_out) = match spelling {
            TextSpelling::Bytes => self.byte_additions(),
            TextSpelling::Characters | TextSpelling::Spaces => {
                (self.character_additions(spelling, texts), Vec::new())
            }
        };
        let made = match spelling {
            TextSpelling::Bytes => self.model.bytes_vocab(&left_out, &additions.specials)?,
            TextSpelling::Characters | TextSpelling::Spaces => {
                self.model.characters_vocab(spelling, &additions)?
            }
        };
        match made {
            Some(vocab) => Ok(vocab),
            None => {
                let mut model = self.model.clone();
                model.options.dropout.seed = seed;
                model.spelled_vocab(spelling, &additions)
            }
        }
    }

    /// The additions to a byte-level model, and the places of the names that are special tokens alone.
    fn byte_additions(&self) -> (Additions, Vec<u32>) {
        let mut additions = Additions::default();
        let kept: FxHashSet<u32> = self.kept().map(|token| token.id).collect();
        let mut left_out = Vec::new();
        for token in self.added.iter().filter(|token| !kept.contains(&token.id)) {
            additions.specials.push((token.content.clone().into_bytes(), Some(token.id)));
            match token.place {
                Some(place) => {
                    left_out.push(place);
                    additions.texts.push((place, token.content.clone()));
                }
                None => additions.beside.push((token.id, token.content.clone())),
            }
        }
        additions.never_whole = self.special_places();
        (additions, left_out)
    }

    /// The additions to a model that merges characters.
    fn character_additions(&self, spelling: TextSpelling, texts: &[String]) -> Additions {
        let needed = self.model.needed();
        let unknown = self.model.options.unknown.as_ref().and_then(|name| self.model.names.find(name));
        let mut additions = Additions::default();
        for (token, text) in self.added.iter().zip(texts) {
            let text = match spelling {
                TextSpelling::Spaces => text.replace('\u{2581}', " "),
                _ => text.clone(),
            };
            additions.specials.push((token.content.clone().into_bytes(), Some(token.id)));
            match token.place {
                None => additions.beside.push((token.id, text)),
                Some(place) => {
                    let is_symbol = token.content.chars().nth(1).is_none() || Some(place) == unknown;
                    if token.is_normalized() && !needed[place as usize] && !is_symbol {
                        additions.texts.push((place, text));
                    }
                }
            }
        }
        additions.never_whole = self.special_places();
        additions
    }

    fn special_places(&self) -> Vec<u32> {
        self.added.iter().filter(|token| token.is_special()).filter_map(|token| token.place).collect()
    }
}
