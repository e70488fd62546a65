//! A text that is being changed, with the range of the original text that each byte comes from.
//!
//! The rules are those of `NormalizedString` in Hugging Face's tokenizers. A change is a list of characters,
//! each with the number of old characters that it replaces; a new character gets the range of the character
//! before it.

use std::ops::Range;

use super::limit::Limit;
use crate::error::Result;
use crate::pretokenize::Matcher;
use crate::room;

/// The range of the original text, in bytes, that a byte comes from.
pub type OriginRange = (u32, u32);

/// The range of the original that a range of changed text comes from; `0..0` if `range` is empty or the
/// origins are not tracked.
pub(crate) fn origin_of(origins: &[OriginRange], range: Range<usize>) -> Range<usize> {
    match origins.get(range) {
        Some([(start, end)]) => *start as usize..*end as usize,
        Some([(start, _), .., (_, end)]) => *start as usize..*end as usize,
        _ => 0..0,
    }
}

/// A text and, if requested, the origin of each of its bytes.
#[derive(Clone, Debug)]
pub struct Aligned {
    text: String,
    places: Option<Vec<OriginRange>>,
}

impl Aligned {
    /// A text whose origins are not tracked.
    pub fn plain(text: &str) -> Result<Self> {
        Ok(Aligned { text: room::text(text)?, places: None })
    }

    /// A text of less than 4 GiB whose origins are tracked.
    pub fn tracked(text: &str) -> Result<Self> {
        let mut places = room::for_items(text.len())?;
        for (start, character) in text.char_indices() {
            let end = start + character.len_utf8();
            places.extend((start..end).map(|_| (start as u32, end as u32)));
        }
        Ok(Aligned { text: room::text(text)?, places: Some(places) })
    }

    /// The current text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text and the origin of each byte; no origins if they are not tracked.
    pub fn into_parts(self) -> (String, Vec<OriginRange>) {
        (self.text, self.places.unwrap_or_default())
    }

    /// Takes the current text out, to be read while [`Aligned::transform`] writes the new one.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// Puts back what [`Aligned::take`] returned, or, where origins are not tracked, another text.
    pub(super) fn put_back(&mut self, text: String) {
        self.text = text;
    }

    /// Whether origins are tracked.
    pub(super) fn is_tracked(&self) -> bool {
        self.places.is_some()
    }

    /// Whether the text is ASCII, and its origins are not tracked.
    pub(super) fn is_plain_ascii(&self) -> bool {
        self.places.is_none() && self.text.is_ascii()
    }

    /// Replaces each byte of a text for which [`Aligned::is_plain_ascii`] holds by another one, or by none.
    pub(super) fn map_ascii(&mut self, map: impl Fn(u8) -> Option<u8>) {
        let mut bytes = self.take().into_bytes();
        bytes.retain_mut(|byte| map(*byte).inspect(|new| *byte = *new).is_some());
        self.text = String::from_utf8(bytes).unwrap_or_default();
    }

    /// Replaces `old`, which [`Aligned::take`] returned, by the characters of `new`. The number of each
    /// character says what it replaces: 0 the next old character, `-n` the next one and `n` more, a positive
    /// number none (the character is inserted). The first `removed` old characters are left out.
    pub(super) fn transform(
        &mut self,
        old: &str,
        new: impl Iterator<Item = (char, isize)>,
        removed: usize,
        limit: Limit,
    ) -> Result<()> {
        room::reserve_text(&mut self.text, old.len())?;
        let Some(places) = &mut self.places else {
            for (character, _) in new {
                limit.push_char(&mut self.text, character)?;
            }
            return Ok(());
        };
        // Inserted bytes at the beginning, which have empty origins, are kept as they are.
        let first = places.iter().take_while(|place| place.0 == place.1).count();
        self.text.push_str(&old[..first]);
        let mut replaced = old[first..].chars().map(char::len_utf8);
        let mut at = first + replaced.by_ref().take(removed).sum::<usize>();
        let mut moved = room::for_items(places.len())?;
        moved.extend_from_slice(&places[..first]);
        for (character, change) in new {
            limit.push_char(&mut self.text, character)?;
            room::reserve(&mut moved, character.len_utf8())?;
            let from = if change > 0 { at.checked_sub(1) } else { Some(at) };
            let place = from.and_then(|from| places.get(from).or(places.last())).copied().unwrap_or((0, 0));
            moved.extend((0..character.len_utf8()).map(|_| place));
            if change <= 0 {
                at += replaced.by_ref().take(1 + change.unsigned_abs()).sum::<usize>();
            }
        }
        *places = moved;
        Ok(())
    }

    /// Inserts `text` before the first character, as a part of that character. An empty text stays empty.
    pub(super) fn prepend(&mut self, text: &str, limit: Limit) -> Result<()> {
        let Some(next) = self.text.chars().next() else { return Ok(()) };
        limit.check(self.text.len(), text.len())?;
        room::grow_text(&mut self.text, text.len())?;
        if let Some(places) = &mut self.places {
            // All inserted bytes, and the old first character, get the origin of the old first character.
            let place = places.first().copied().unwrap_or((0, 0));
            room::reserve(places, text.len())?;
            let before = self.text.len().min(next.len_utf8());
            places.splice(0..before, std::iter::repeat_n(place, text.len() + next.len_utf8()));
        }
        self.text.insert_str(0, text);
        Ok(())
    }

    /// Replaces each match of `matcher` by `content`. The matches must be in order and not empty. `content`
    /// gets the origin of the last byte of the match.
    pub(super) fn replace(&mut self, matcher: &Matcher, content: &str, limit: Limit) -> Result<()> {
        let old = self.take();
        let mut text = String::new();
        let mut places = Vec::new();
        let before = self.places.as_deref().unwrap_or_default();
        let mut end = 0;
        matcher.find(old.as_bytes(), &mut |range| {
            if end == 0 {
                room::reserve_text(&mut text, old.len())?;
                room::reserve(&mut places, before.len())?;
            }
            limit.push(&mut text, &old[end..range.start])?;
            limit.push(&mut text, content)?;
            if !before.is_empty() {
                room::reserve(&mut places, range.start - end + content.len())?;
                places.extend_from_slice(&before[end..range.start]);
                places.extend(std::iter::repeat_n(before[range.end - 1], content.len()));
            }
            end = range.end;
            Ok(())
        })?;
        if end == 0 {
            self.text = old;
            return Ok(());
        }
        limit.push(&mut text, &old[end..])?;
        if !before.is_empty() {
            room::reserve(&mut places, old.len() - end)?;
            places.extend_from_slice(&before[end..]);
            self.places = Some(places);
        }
        self.text = text;
        Ok(())
    }

    /// Replaces the text, and the places of its bytes, by what a function makes of them.
    pub(super) fn rewrite(
        &mut self,
        change: impl FnOnce(&str, Option<&[OriginRange]>) -> Result<(String, Vec<OriginRange>)>,
    ) -> Result<()> {
        let old = self.take();
        let (text, places) = change(&old, self.places.as_deref())?;
        self.text = text;
        self.places = self.places.is_some().then_some(places);
        Ok(())
    }

    /// Keeps the characters for which `keep` returns `true`.
    pub(super) fn filter(&mut self, keep: impl Fn(char) -> bool, limit: Limit) -> Result<()> {
        let old = self.take();
        let removed_first = old.chars().take_while(|&character| !keep(character)).count();
        let mut remaining = old.chars().skip(removed_first).peekable();
        let new = std::iter::from_fn(|| {
            let character = remaining.next()?;
            let mut removed = 0;
            while remaining.next_if(|&next| !keep(next)).is_some() {
                removed -= 1;
            }
            Some((character, removed))
        });
        self.transform(&old, new, removed_first, limit)
    }

    /// Replaces each character by another one.
    pub(super) fn map(&mut self, map: impl Fn(char) -> char, limit: Limit) -> Result<()> {
        let old = self.take();
        self.transform(&old, old.chars().map(|character| (map(character), 0)), 0, limit)
    }

    /// Removes whitespace at the chosen ends.
    pub(super) fn strip(&mut self, left: bool, right: bool, limit: Limit) -> Result<()> {
        let start = if left { self.text.len() - self.text.trim_start().len() } else { 0 };
        let end = if right { start + self.text[start..].trim_end().len() } else { self.text.len() };
        if end - start == self.text.len() {
            return Ok(());
        }
        let old = self.take();
        let new = old[start..end].chars().map(|character| (character, 0));
        self.transform(&old, new, old[..start].chars().count(), limit)
    }
}
