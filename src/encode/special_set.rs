//! The special tokens that a call looks for.

use crate::control::Control;
use crate::error::Result;
use crate::pipeline::{Pipeline, Trust};
use crate::special::Specials;

/// Special tokens, each with its id. They need not be in a vocabulary, and two may have the same id.
#[derive(Clone, Debug, Default)]
pub struct SpecialSet {
    pub(super) specials: Specials,
    pub(super) ids: Vec<u32>,
}

impl SpecialSet {
    /// Prepares a list of special tokens.
    ///
    /// # Errors
    /// Same as [`Specials::new`].
    pub fn new(tokens: Vec<(Vec<u8>, u32)>) -> Result<Self> {
        let (names, ids) = tokens.into_iter().unzip();
        Ok(SpecialSet { specials: Specials::new(names)?, ids })
    }

    /// The first of these tokens in a text: the leftmost, of several that start there the longest.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`].
    pub fn first_in(&self, text: &[u8], control: &Control) -> Result<Option<&[u8]>> {
        let first = self.specials.matches(text, 0).next(control)?;
        Ok(first.map(|first| self.specials.tokens()[first.index].as_slice()))
    }
}

/// What the names of special tokens that occur in a text become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// The ids of the special tokens.
    Ids,
    /// The ids of their characters: the names are ordinary text, as in text that users send.
    Text,
}

impl From<Special> for bool {
    fn from(special: Special) -> bool {
        special == Special::Ids
    }
}

impl From<Special> for SpecialTokens<'_> {
    fn from(special: Special) -> Self {
        bool::from(special).into()
    }
}

/// Which special tokens a call turns into their ids, made of [`Special`] or a [`SpecialSet`]. All others are
/// ordinary text.
#[derive(Clone, Copy, Debug)]
pub enum SpecialTokens<'a> {
    /// None: all text is ordinary.
    None,
    /// Those of the encoder's vocabulary.
    OfVocabulary,
    /// Those of a set that the caller chose.
    Chosen(&'a SpecialSet),
}

#[doc(hidden)]
impl From<bool> for SpecialTokens<'_> {
    #[inline]
    fn from(of_vocabulary: bool) -> Self {
        if of_vocabulary { SpecialTokens::OfVocabulary } else { SpecialTokens::None }
    }
}

impl<'a> From<&'a SpecialSet> for SpecialTokens<'a> {
    #[inline]
    fn from(set: &'a SpecialSet) -> Self {
        SpecialTokens::Chosen(set)
    }
}

/// The special tokens that one call looks for, and the id of each: what [`SpecialTokens`] stands for.
#[derive(Clone, Copy)]
pub(crate) struct ActiveSpecials<'a> {
    pub(super) search: &'a Specials,
    pub(super) ids: &'a [u32],
    /// The pipeline that the text goes through.
    pub(super) pipeline: Option<&'a Pipeline>,
    /// Where the pipeline looks for special tokens.
    pub(super) trust: Trust<'a>,
}
