//! A text on its way through a pipeline, with the place in the original that each byte comes from.

use std::ops::Range;

use crate::error::Result;
use crate::normalize::{Aligned, OriginRange, origin_of};
use crate::room;

/// A changed text with the origin of each byte, if these are tracked.
#[derive(Default)]
pub(super) struct Changed {
    pub(super) text: Vec<u8>,
    pub(super) origins: Vec<OriginRange>,
}

/// A text on its way, and where its bytes come from.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) text: &'a [u8],
    /// The origin of each byte, or no origins if they are not tracked; `None` for a part of the original.
    pub(super) origins: Option<&'a [OriginRange]>,
    /// Where the text begins in the original, if it is a part of it.
    pub(super) start: usize,
}

impl<'a> View<'a> {
    pub(super) fn part(&self, range: Range<usize>) -> View<'a> {
        let origins = self.origins.map(|origins| origins.get(range.clone()).unwrap_or_default());
        View { text: &self.text[range.clone()], origins, start: self.start + range.start }
    }

    /// The range of the original that a part which is not empty comes from.
    pub(super) fn origin(&self, range: Range<usize>) -> Range<usize> {
        match self.origins {
            None => self.start + range.start..self.start + range.end,
            Some(origins) => origin_of(origins, range),
        }
    }

    /// Whether the text begins where the original does.
    pub(super) fn is_first(&self) -> bool {
        self.origin(0..1.min(self.text.len())).start == 0
    }

    /// The text with `new` in place of each `old`, a character that `new` stands for; `None` if there is
    /// none.
    pub(super) fn replaced(&self, old: &[u8], new: &[u8], is_tracked: bool) -> Result<Option<Changed>> {
        let (mut changed, mut end) = (Changed::default(), 0);
        for place in memchr::memmem::find_iter(self.text, old) {
            changed.copy(self, end..place, is_tracked)?;
            end = place + old.len();
            let origin = is_tracked.then(|| self.origin(place..end));
            changed.push(new, origin.map(|origin| (origin.start as u32, origin.end as u32)))?;
        }
        if end == 0 {
            return Ok(None);
        }
        changed.copy(self, end..self.text.len(), is_tracked)?;
        Ok(Some(changed))
    }

    /// The text with a mark before it, which has the place of the first character.
    pub(super) fn marked(&self, mark: &[u8], is_tracked: bool) -> Result<Changed> {
        let mut changed = Changed::default();
        changed.push(mark, is_tracked.then(|| self.first_origin()))?;
        changed.copy(self, 0..self.text.len(), is_tracked)?;
        Ok(changed)
    }

    /// The place of the first character.
    fn first_origin(&self) -> OriginRange {
        if let Some(origins) = self.origins {
            return origins.first().copied().unwrap_or_default();
        }
        let valid = self.text[..self.text.len().min(4)].utf8_chunks().next();
        let length = valid.and_then(|chunk| chunk.valid().chars().next()).map_or(1, char::len_utf8);
        (self.start as u32, (self.start + length) as u32)
    }
}

impl Changed {
    /// The text to continue with.
    pub(super) fn view(&self) -> View<'_> {
        View { text: &self.text, origins: Some(&self.origins), start: 0 }
    }

    /// Adds a text all of which comes from one place.
    fn push(&mut self, text: &[u8], origin: Option<OriginRange>) -> Result<()> {
        room::extend(&mut self.text, text)?;
        let Some(origin) = origin else { return Ok(()) };
        room::reserve(&mut self.origins, text.len())?;
        self.origins.extend(text.iter().map(|_| origin));
        Ok(())
    }

    /// Adds normalized text, which begins at byte `base` of the original.
    pub(super) fn add(&mut self, aligned: Aligned, base: usize) -> Result<()> {
        let (text, origins) = aligned.into_parts();
        if self.text.is_empty() {
            self.text = text.into_bytes();
        } else {
            room::extend(&mut self.text, text.as_bytes())?;
        }
        let base = base as u32;
        room::reserve(&mut self.origins, origins.len())?;
        self.origins.extend(origins.into_iter().map(|(start, end)| (base + start, base + end)));
        Ok(())
    }

    /// Adds a part of a text.
    pub(super) fn copy(&mut self, view: &View<'_>, range: Range<usize>, is_tracked: bool) -> Result<()> {
        room::extend(&mut self.text, &view.text[range.clone()])?;
        if !is_tracked {
            return Ok(());
        }
        if let Some(origins) = view.origins {
            return room::extend(&mut self.origins, origins.get(range).unwrap_or_default());
        }
        room::reserve(&mut self.origins, range.len())?;
        let mut at = view.start + range.start;
        for chunk in view.text[range].utf8_chunks() {
            let lengths = chunk.valid().chars().map(char::len_utf8).chain(chunk.invalid().iter().map(|_| 1));
            for length in lengths {
                self.origins.extend((0..length).map(|_| (at as u32, (at + length) as u32)));
                at += length;
            }
        }
        Ok(())
    }
}
