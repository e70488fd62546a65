//! A text on its way through a pipeline: added tokens, and stretches of text between them that are ready to
//! be cut into pretokens.

use std::ops::Range;

use super::pipeline::Pipeline;
use super::rewrite::{Prefix, Rewrite};
use super::view::{Changed, View};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::normalize::{Aligned, OriginRange, max_bytes_of};
use crate::room;
use crate::special::{Segment, SpecialMatch};
use crate::spelling::META_TEXT;

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
    /// Errors of `f` or of a pattern; [`Error::Invalid`] for a text that grows too long, or of 4 GiB or more
    /// if places are wanted.
    pub(crate) fn for_each_stretch(&self, passage: Passage<'_>, f: OnStretch<'_>) -> Result<()> {
        let passage = self.checked(passage)?;
        let mut walk = Walk { pipeline: self, passage, budget: max_bytes_of(passage.text.len()), f };
        let mut at = 0;
        for (id, range) in self.trusted_tokens(passage)? {
            if !walk.between(at..range.start)? {
                return Ok(());
            }
            at = range.end;
            if !(walk.f)(Stretch::Token { id, text: &passage.text[range.clone()], range })? {
                return Ok(());
            }
        }
        walk.between(at..passage.text.len()).map(drop)
    }

    /// The passage, tracked if a step needs the places.
    fn checked<'a>(&self, passage: Passage<'a>) -> Result<Passage<'a>> {
        let looks_at_places = self.parts.rewrites.iter().any(|rewrite| rewrite.prefix == Prefix::First);
        let needs_places = looks_at_places || matches!(passage.trust, Trust::Inside(_));
        let is_tracked = passage.is_tracked || needs_places;
        if is_tracked && u32::try_from(passage.text.len()).is_err() {
            return Err(Error::Invalid(format!(
                "a text of {} bytes is too long for offsets with a normalizer: at most 4 GiB",
                passage.text.len()
            )));
        }
        Ok(Passage { is_tracked, ..passage })
    }

    /// The special tokens that are looked for as the text stands and lie in ranges that are trusted. Each
    /// range is searched alone, so that text beyond its end cannot make a match longer.
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
                    if let Segment::Special(SpecialMatch { index, range }) = segment
                        && self.verbatim.tokens.is_special(index)
                    {
                        room::push(&mut tokens, (self.verbatim.ids[index], range))?;
                    }
                    Ok(true)
                },
            )?;
        }
        Ok(tokens)
    }
}

/// A text on its way. All methods return whether more is wanted.
struct Walk<'a> {
    pipeline: &'a Pipeline,
    passage: Passage<'a>,
    /// How many bytes normalized text may still have.
    budget: usize,
    f: OnStretch<'a>,
}

impl Walk<'_> {
    /// Hands on a part of the text whose trusted tokens are known.
    fn between(&mut self, range: Range<usize>) -> Result<bool> {
        let (Passage { text, trust, control, .. }, verbatim) = (self.passage, &self.pipeline.verbatim);
        if range.is_empty() {
            return Ok(true);
        }
        if verbatim.is_empty() {
            return self.normalize(range);
        }
        let special = matches!(trust, Trust::All);
        verbatim.tokens.for_each(text, range, &|_| special, control, &mut |segment| match segment {
            Segment::Special(SpecialMatch { index, range }) => {
                let text = &text[range.clone()];
                (self.f)(Stretch::Token { id: verbatim.ids[index], range, text })
            }
            Segment::Text(range) => self.normalize(range),
        })
    }

    /// Normalizes a stretch of the original, and passes on the added tokens in it and the text between them.
    fn normalize(&mut self, range: Range<usize>) -> Result<bool> {
        let (passage, normalized) = (self.passage, &self.pipeline.normalized);
        let continues = !passage.is_first && range.start == 0;
        let changed = self.normalized_text(range.clone(), continues)?;
        let view = match &changed {
            Some(changed) => {
                View { text: &changed.text, origins: Some(&changed.origins), start: range.start }
            }
            None => View { text: &passage.text[range.clone()], origins: None, start: range.start },
        };
        self.budget = self.budget.saturating_sub(view.text.len());
        if normalized.is_empty() {
            return self.spaces(view, continues);
        }
        let accepts = |part: &Range<usize>| match passage.trust {
            Trust::All => true,
            Trust::None => false,
            Trust::Inside(ranges) => {
                let origin = view.origin(part.clone());
                ranges.iter().any(|range| range.start <= origin.start && origin.end <= range.end)
            }
        };
        let whole = 0..view.text.len();
        normalized.tokens.for_each(view.text, whole, &accepts, passage.control, &mut |segment| {
            let token = match segment {
                Segment::Text(range) => {
                    let continues = continues && range.start == 0;
                    return self.spaces(view.part(range), continues);
                }
                Segment::Special(token) => token,
            };
            let range = if passage.is_tracked { view.origin(token.range.clone()) } else { 0..0 };
            let (id, text) = (normalized.ids[token.index], &view.text[token.range]);
            (self.f)(Stretch::Token { id, range, text })
        })
    }

    /// The normalized text of a stretch; `None` if the normalizer leaves it.
    fn normalized_text(&self, range: Range<usize>, continues: bool) -> Result<Option<Changed>> {
        let (passage, normalizer) = (self.passage, &self.pipeline.parts.normalizer);
        if normalizer.0.is_empty() {
            return Ok(None);
        }
        let text = &passage.text[range.clone()];
        if let Ok(text) = std::str::from_utf8(text)
            && normalizer.leaves(text)
        {
            return Ok(None);
        }
        let mut all = Changed::default();
        let mut at = 0;
        // Bytes that are not UTF-8 are characters that no step changes.
        for chunk in text.utf8_chunks() {
            let make = if passage.is_tracked { Aligned::tracked } else { Aligned::plain };
            let mut aligned = make(chunk.valid())?;
            let left = self.budget.saturating_sub(all.text.len());
            normalizer.apply_to(&mut aligned, continues || at > 0, left)?;
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
    fn spaces(&mut self, view: View<'_>, continues: bool) -> Result<bool> {
        let parts = &self.pipeline.parts;
        let plain = match parts.spaces_are_plain {
            true => view.replaced(META_TEXT.as_bytes(), b" ", self.passage.is_tracked)?,
            false => None,
        };
        let view = plain.as_ref().map_or(view, Changed::view);
        self.rewrite(view, continues, &parts.rewrites)
    }

    /// Hands on a stretch after the rewrites.
    fn rewrite(&mut self, view: View<'_>, continues: bool, rewrites: &[Rewrite]) -> Result<bool> {
        if view.text.is_empty() {
            return Ok(true);
        }
        let Some((rewrite, later)) = rewrites.split_first() else {
            return match view.origins {
                Some(origins) => (self.f)(Stretch::Changed(view.text, origins)),
                None => (self.f)(Stretch::Same(view.start..view.start + view.text.len())),
            };
        };
        let Some(splits) = &rewrite.splits else { return self.mark(view, continues, rewrite, later) };
        let mut wants_more = true;
        splits.for_each_while(view.text, |piece| {
            wants_more = self.mark(view.part(piece), false, rewrite, later)?;
            Ok(wants_more)
        })?;
        Ok(wants_more)
    }

    /// Replaces the spaces of a piece, which is not empty, and puts a mark in front; then come the later
    /// rewrites.
    fn mark(
        &mut self,
        view: View<'_>,
        continues: bool,
        rewrite: &Rewrite,
        later: &[Rewrite],
    ) -> Result<bool> {
        let is_tracked = self.passage.is_tracked;
        let mut mark = [0; 4];
        let mark = rewrite.mark.encode_utf8(&mut mark).as_bytes();
        let replaced = match mark {
            b" " => None,
            _ => view.replaced(b" ", mark, is_tracked)?,
        };
        let view = replaced.as_ref().map_or(view, Changed::view);
        let prefix = if continues { Prefix::None } else { rewrite.prefix };
        if !prefix.is_before(view.text, mark, prefix == Prefix::First && view.is_first()) {
            return self.rewrite(view, continues, later);
        }
        let marked = view.marked(mark, is_tracked)?;
        self.rewrite(marked.view(), continues, later)
    }
}
