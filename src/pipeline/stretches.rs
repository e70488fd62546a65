//! A text on its way through a pipeline: added tokens, and stretches of text between them that are ready to be cut into
//! pretokens.

use std::ops::Range;

use super::pipeline::{META, Pipeline};
use super::prefix::Prefix;
use super::rewrite::Rewrite;
use super::view::{Changed, View};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::normalize::{Aligned, OriginRange, max_bytes_of};
use crate::room;

/// A part of a text that went through a pipeline.
pub(crate) enum Stretch<'a> {
    /// An added token.
    Token {
        /// Its id.
        id: u32,
        /// The range of the original text that it stands for, in bytes.
        range: Range<usize>,
        /// Its text as it was matched, with the whitespace that belongs to it.
        text: &'a [u8],
    },
    /// A part of the text that no step changed.
    Same(Range<usize>),
    /// Text that was changed, with the range of the original that each byte comes from, if these are tracked.
    Changed(&'a [u8], &'a [OriginRange]),
}

/// Where special tokens become their ids.
#[derive(Clone, Copy)]
pub(crate) enum Trust<'a> {
    /// In the whole text.
    All,
    /// Nowhere: they are text.
    None,
    /// Inside these ranges, which ascend.
    Inside(&'a [Range<usize>]),
}

/// How a text goes through a pipeline.
#[derive(Clone, Copy)]
pub(crate) struct Passage<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) trust: Trust<'a>,
    /// Whether the text begins here; otherwise it continues another one.
    pub(crate) is_first: bool,
    /// Whether places in the original are wanted.
    pub(crate) is_tracked: bool,
    pub(crate) control: &'a Control<'a>,
}

/// Takes the stretches in order; returns whether it wants more.
pub(crate) type OnStretch<'a> = &'a mut dyn FnMut(Stretch<'_>) -> Result<bool>;

impl Pipeline {
    /// Calls `f` with the stretches of a text.
    ///
    /// # Errors
    /// Errors of `f` or of a pattern; [`Error::NormalizedTooLong`]; [`Error::OffsetsTooLong`] for a text of 4 GiB or
    /// more if places are wanted.
    pub(crate) fn for_each_stretch(&self, passage: Passage<'_>, f: OnStretch<'_>) -> Result<()> {
        let passage = self.checked(passage)?;
        let mut budget = max_bytes_of(passage.text.len());
        let mut at = 0;
        for (id, range) in self.trusted_tokens(passage)? {
            if !self.between(passage, at..range.start, &mut budget, f)? {
                return Ok(());
            }
            at = range.end;
            if !f(Stretch::Token { id, text: &passage.text[range.clone()], range })? {
                return Ok(());
            }
        }
        self.between(passage, at..passage.text.len(), &mut budget, f).map(|_| ())
    }

    /// The passage, tracked if a step needs the places.
    fn checked<'a>(&self, passage: Passage<'a>) -> Result<Passage<'a>> {
        let looks_at_places = self.parts.rewrites.iter().any(|rewrite| rewrite.prefix == Prefix::First);
        let needs_places = looks_at_places || matches!(passage.trust, Trust::Inside(_));
        let is_tracked = passage.is_tracked || needs_places;
        if is_tracked && u32::try_from(passage.text.len()).is_err() {
            return Err(Error::OffsetsTooLong(passage.text.len()));
        }
        Ok(Passage { is_tracked, ..passage })
    }

    /// The special tokens that are looked for as the text stands and lie in ranges that are trusted. Each range is
    /// searched alone, so that text beyond its end cannot make a match longer.
    fn trusted_tokens(&self, passage: Passage<'_>) -> Result<Vec<(u32, Range<usize>)>> {
        let mut tokens = Vec::new();
        let Trust::Inside(ranges) = passage.trust else { return Ok(tokens) };
        for range in ranges {
            self.verbatim.tokens.for_each(
                passage.text,
                range.clone(),
                &|_| true,
                passage.control,
                &mut |segment| {
                    if let Some(index) = segment.token.filter(|&index| self.verbatim.tokens.is_special(index))
                    {
                        room::push(&mut tokens, (self.verbatim.ids[index], segment.range))?;
                    }
                    Ok(true)
                },
            )?;
        }
        Ok(tokens)
    }

    /// Hands on a part of the text whose trusted tokens are known; returns whether more is wanted.
    fn between(
        &self,
        passage: Passage<'_>,
        range: Range<usize>,
        budget: &mut usize,
        f: OnStretch<'_>,
    ) -> Result<bool> {
        if range.is_empty() {
            return Ok(true);
        }
        if self.verbatim.is_empty() {
            return self.normalize(passage, range, budget, f);
        }
        let special = matches!(passage.trust, Trust::All);
        self.verbatim.tokens.for_each(passage.text, range, &|_| special, passage.control, &mut |segment| {
            match segment.token {
                Some(index) => {
                    let Range { start, end } = segment.range;
                    let (id, text) = (self.verbatim.ids[index], &passage.text[start..end]);
                    f(Stretch::Token { id, range: start..end, text })
                }
                None => self.normalize(passage, segment.range, budget, f),
            }
        })
    }

    /// Normalizes a stretch of the original, and passes on the added tokens in it and the text between them.
    fn normalize(
        &self,
        passage: Passage<'_>,
        range: Range<usize>,
        budget: &mut usize,
        f: OnStretch<'_>,
    ) -> Result<bool> {
        let continues = !passage.is_first && range.start == 0;
        let changed = self.normalized_text(passage, range.clone(), continues, *budget)?;
        let view = match &changed {
            Some(changed) => {
                View { text: &changed.text, origins: Some(&changed.origins), start: range.start }
            }
            None => View { text: &passage.text[range.clone()], origins: None, start: range.start },
        };
        *budget = budget.saturating_sub(view.text.len());
        if self.normalized.is_empty() {
            return self.spaces(passage, view, continues, f);
        }
        let accepts = |part: &Range<usize>| match passage.trust {
            Trust::All => true,
            Trust::None => false,
            Trust::Inside(ranges) => {
                let origin = view.origin(part.clone());
                ranges.iter().any(|range| range.start <= origin.start && origin.end <= range.end)
            }
        };
        self.normalized.tokens.for_each(
            view.text,
            0..view.text.len(),
            &accepts,
            passage.control,
            &mut |segment| match segment.token {
                Some(index) => {
                    let range = if passage.is_tracked { view.origin(segment.range.clone()) } else { 0..0 };
                    let (id, text) = (self.normalized.ids[index], &view.text[segment.range]);
                    f(Stretch::Token { id, range, text })
                }
                None => {
                    let continues = continues && segment.range.start == 0;
                    self.spaces(passage, view.part(segment.range), continues, f)
                }
            },
        )
    }

    /// The normalized text of a stretch; `None` if the normalizer leaves it.
    fn normalized_text(
        &self,
        passage: Passage<'_>,
        range: Range<usize>,
        continues: bool,
        budget: usize,
    ) -> Result<Option<Changed>> {
        let normalizer = &self.parts.normalizer;
        if normalizer.0.is_empty() {
            return Ok(None);
        }
        let text = &passage.text[range.clone()];
        if let Ok(text) = std::str::from_utf8(text)
            && normalizer.leaves(text)?
        {
            return Ok(None);
        }
        let mut all = Changed::default();
        let mut at = 0;
        // Bytes that are not UTF-8 are characters that no step changes.
        for chunk in text.utf8_chunks() {
            let mut aligned = if passage.is_tracked {
                Aligned::tracked(chunk.valid())
            } else {
                Aligned::plain(chunk.valid())
            }?;
            normalizer.apply_to(&mut aligned, continues || at > 0, budget.saturating_sub(all.text.len()))?;
            all.add(aligned, range.start + at)?;
            at += chunk.valid().len();
            for byte in chunk.invalid() {
                room::push(&mut all.text, *byte)?;
                if passage.is_tracked {
                    let place = (range.start + at) as u32;
                    room::push(&mut all.origins, (place, place + 1))?;
                }
                at += 1;
            }
        }
        Ok(Some(all))
    }

    /// Puts a plain space for each U+2581, if the vocabulary has these.
    fn spaces(
        &self,
        passage: Passage<'_>,
        view: View<'_>,
        continues: bool,
        f: OnStretch<'_>,
    ) -> Result<bool> {
        let plain = match self.parts.spaces_are_plain {
            true => view.replaced(META.as_bytes(), b" ", passage.is_tracked)?,
            false => None,
        };
        let view = plain.as_ref().map_or(view, Changed::view);
        self.rewrite(passage, view, continues, &self.parts.rewrites, f)
    }

    /// Hands on a stretch after the rewrites.
    fn rewrite(
        &self,
        passage: Passage<'_>,
        view: View<'_>,
        continues: bool,
        rewrites: &[Rewrite],
        f: OnStretch<'_>,
    ) -> Result<bool> {
        if view.text.is_empty() {
            return Ok(true);
        }
        let Some((rewrite, later)) = rewrites.split_first() else {
            return match view.origins {
                Some(origins) => f(Stretch::Changed(view.text, origins)),
                None => f(Stretch::Same(view.start..view.start + view.text.len())),
            };
        };
        let Some(splits) = &rewrite.splits else {
            return self.mark(passage, view, continues, (rewrite, later), f);
        };
        let mut wants_more = true;
        splits.for_each_while(view.text, |piece| {
            wants_more = self.mark(passage, view.part(piece), false, (rewrite, later), f)?;
            Ok(wants_more)
        })?;
        Ok(wants_more)
    }

    /// Replaces the spaces of a piece, which is not empty, and puts a mark in front; then come the later rewrites.
    fn mark(
        &self,
        passage: Passage<'_>,
        view: View<'_>,
        continues: bool,
        (rewrite, later): (&Rewrite, &[Rewrite]),
        f: OnStretch<'_>,
    ) -> Result<bool> {
        let mut mark = [0; 4];
        let mark = rewrite.mark.encode_utf8(&mut mark).as_bytes();
        let replaced = match mark {
            b" " => None,
            _ => view.replaced(b" ", mark, passage.is_tracked)?,
        };
        let view = replaced.as_ref().map_or(view, Changed::view);
        let prefix = if continues { Prefix::None } else { rewrite.prefix };
        if !prefix.is_before(view.text, mark, prefix == Prefix::First && view.is_first()) {
            return self.rewrite(passage, view, continues, later, f);
        }
        let marked = view.marked(mark, passage.is_tracked)?;
        self.rewrite(passage, marked.view(), continues, later, f)
    }
}
