//! What is known of the tokens of a text, computed when it is first asked for.

use std::sync::Arc;

use once_cell::race::OnceBox;

use super::tokenizer::Tokenizer;
use crate::control::Control;
use crate::error::Result;
use crate::postprocess::{Columns, Run, RunSource, TextColumns};

/// A text with what is known of its tokens.
struct LazyText<T> {
    tokenizer: Tokenizer,
    text: T,
    special: bool,
    /// The number of the word that the whole text is.
    word: Option<u32>,
    columns: OnceBox<Columns>,
}

impl<T: AsRef<str>> LazyText<T> {
    fn computed(&self) -> Result<(Vec<u32>, Columns)> {
        let text = self.text.as_ref();
        let words = self.tokenizer.encoder().encode_words(text, self.special, &Control::none())?;
        let places = words.spans.in_characters(text.as_bytes())?;
        let mut added = words.added.into_iter().peekable();
        let spelled = |(at, &id): (usize, &u32)| match added.next_if(|(index, _)| *index == at) {
            Some((_, text)) => Ok(text),
            None => self.tokenizer.spelled(id),
        };
        let columns = Columns {
            tokens: words.spans.ids.iter().enumerate().map(spelled).collect::<Result<_>>()?,
            spans: places.chunks_exact(2).map(|pair| (pair[0] as usize, pair[1] as usize)).collect(),
            words: words.words.iter().map(|&word| Some(self.word.unwrap_or(word))).collect(),
        };
        Ok((words.spans.ids, columns))
    }
}

impl<T: AsRef<str> + Send + Sync> TextColumns for LazyText<T> {
    fn columns(&self) -> Result<&Columns> {
        self.columns.get_or_try_init(|| self.computed().map(|(_, columns)| Box::new(columns)))
    }
}

impl Tokenizer {
    /// The run of a text with its ids. Where the ids are random, they are made again together with what is
    /// known of them.
    pub fn run_of(
        &self,
        text: impl AsRef<str> + Send + Sync + 'static,
        ids: Vec<u32>,
        special: bool,
        word: Option<usize>,
    ) -> Result<Run> {
        let word = word.map(|word| word as u32);
        let lazy = LazyText { tokenizer: self.clone(), text, special, word, columns: OnceBox::new() };
        if !self.vocab().is_random() {
            return Ok(Run::of_text(ids, RunSource::Text(Arc::new(lazy))));
        }
        let (ids, columns) = lazy.computed()?;
        Ok(Run::of_text(ids, RunSource::Text(Arc::new(columns))))
    }
}
