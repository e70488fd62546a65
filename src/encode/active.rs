//! What a call looks for in a text, and where it may cut it.

use super::encoder::Encoder;
use super::special_set::{ActiveSpecials, SpecialTokens};
use crate::pipeline::Trust;
use crate::source::Cutter;
use crate::special::Specials;

impl Encoder {
    /// The special tokens that a call looks for.
    #[inline]
    pub(crate) fn active<'a>(&'a self, special: SpecialTokens<'a>) -> ActiveSpecials<'a> {
        let (search, ids) = match special {
            SpecialTokens::None => (&self.no_specials, &[][..]),
            SpecialTokens::OfVocabulary => (self.vocab.specials(), self.vocab.special_ids()),
            SpecialTokens::Chosen(set) => (&set.specials, &*set.ids),
        };
        let trust = if matches!(special, SpecialTokens::None) { Trust::None } else { Trust::All };
        ActiveSpecials { search, ids, pipeline: self.pipeline.as_deref(), trust }
    }

    /// Finds places where a text can be cut without a change of its ids. `replace` says whether invalid bytes
    /// are read as U+FFFD.
    pub(crate) fn cutter<'a>(&'a self, special: impl Into<SpecialTokens<'a>>, replace: bool) -> Cutter<'a> {
        self.cutter_of(self.active(special.into()), replace)
    }

    pub(super) fn cutter_of<'a>(&'a self, specials: ActiveSpecials<'a>, replace: bool) -> Cutter<'a> {
        match specials.pipeline {
            Some(pipeline) => pipeline.cutter(&self.pretokenizer, replace),
            None => Cutter::new(specials.search, &self.pretokenizer, replace),
        }
    }

    /// Whether a text goes through steps before the pattern.
    pub fn has_pipeline(&self) -> bool {
        self.pipeline.is_some()
    }

    /// Whether several threads are faster than one.
    pub fn is_parallel(&self) -> bool {
        self.pretokenizer.is_parallel()
            && self.pipeline.as_ref().is_none_or(|pipeline| pipeline.is_parallel())
    }

    /// The special tokens of the vocabulary, or none, to search for.
    pub(super) fn specials(&self, special: bool) -> &Specials {
        if special { self.vocab.specials() } else { &self.no_specials }
    }
}
