//! A text that is being changed, with the place in the original that each byte comes from.
//!
//! The rules are those of `NormalizedString` in Hugging Face's tokenizers: a change is a list of characters, each with
//! what it replaces; a character that is new comes from where the one before it does.

use std::ops::Range;

/// Where in the original a byte comes from.
type Place = (u32, u32);

/// A text, and where its bytes come from if that is wanted.
#[derive(Clone, Debug)]
pub struct Aligned {
    text: String,
    places: Option<Vec<Place>>,
}

impl Aligned {
    /// A text without places.
    pub fn plain(text: &str) -> Self {
        Aligned { text: text.to_owned(), places: None }
    }

    /// A text with places, of less than 4 GiB.
    pub fn tracked(text: &str) -> Self {
        let mut places = Vec::with_capacity(text.len());
        for (start, character) in text.char_indices() {
            let end = start + character.len_utf8();
            places.extend((start..end).map(|_| (start as u32, end as u32)));
        }
        Aligned { text: text.to_owned(), places: Some(places) }
    }

    /// The text as it is now.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text, and the place of each byte; none if they were not wanted.
    pub fn into_parts(self) -> (String, Vec<Place>) {
        (self.text, self.places.unwrap_or_default())
    }

    /// Puts `new` in place of everything. Beside each character stands what it does: 0, it replaces the next one;
    /// above, it is new; `-n`, it replaces the next one and `n` more. The first `removed` characters go.
    pub(super) fn transform(&mut self, new: Vec<(char, isize)>, removed: usize) {
        // What comes from nowhere, at the very beginning, stays out of it.
        let first = self
            .places
            .as_ref()
            .map_or(0, |places| places.iter().take_while(|place| place.0 == place.1).count());
        self.transform_range(first..self.text.len(), new, removed);
    }

    fn transform_range(&mut self, range: Range<usize>, new: Vec<(char, isize)>, removed: usize) {
        let text: String = new.iter().map(|&(character, _)| character).collect();
        if let Some(places) = &mut self.places {
            let mut replaced = self.text[range.clone()].chars().map(char::len_utf8);
            let mut at = range.start + replaced.by_ref().take(removed).sum::<usize>();
            let mut moved = Vec::with_capacity(text.len());
            for (character, change) in new {
                let from = if change > 0 { at.checked_sub(1) } else { Some(at) };
                let place =
                    from.and_then(|from| places.get(from).or(places.last())).copied().unwrap_or((0, 0));
                moved.extend((0..character.len_utf8()).map(|_| place));
                if change <= 0 {
                    at += replaced.by_ref().take(1 + change.unsigned_abs()).sum::<usize>();
                }
            }
            places.splice(range.clone(), moved);
        }
        self.text.replace_range(range, &text);
    }

    /// Puts `text` before the first character, as a part of it; an empty text stays empty.
    pub fn prepend(&mut self, text: &str) {
        let Some(next) = self.text.chars().next() else { return };
        let mut new: Vec<(char, isize)> =
            text.chars().enumerate().map(|(i, character)| (character, isize::from(i != 0))).collect();
        new.push((next, 1));
        self.transform_range(0..next.len_utf8(), new, 0);
    }

    /// Replaces ranges, in order and none of them empty, by `content`, which comes from where their last bytes do.
    pub(super) fn replace(&mut self, ranges: &[Range<usize>], content: &str) {
        let mut text = String::with_capacity(self.text.len());
        let mut places = self.places.as_ref().map(|places| Vec::with_capacity(places.len()));
        let mut end = 0;
        for range in ranges {
            text.push_str(&self.text[end..range.start]);
            text.push_str(content);
            if let (Some(places), Some(old)) = (&mut places, &self.places) {
                places.extend_from_slice(&old[end..range.start]);
                places.extend(content.bytes().map(|_| old[range.end - 1]));
            }
            end = range.end;
        }
        text.push_str(&self.text[end..]);
        if let (Some(places), Some(old)) = (&mut places, &self.places) {
            places.extend_from_slice(&old[end..]);
        }
        (self.text, self.places) = (text, places);
    }

    /// Leaves out characters.
    pub(super) fn filter(&mut self, keep: impl Fn(char) -> bool) {
        let (mut new, mut removed_first, mut removed) = (Vec::<(char, isize)>::new(), 0, 0);
        for character in self.text.chars() {
            if keep(character) {
                match new.last_mut() {
                    Some(last) => last.1 = -removed,
                    None => removed_first = removed.unsigned_abs(),
                }
                new.push((character, 0));
                removed = 0;
            } else {
                removed += 1;
            }
        }
        if let Some(last) = new.last_mut() {
            last.1 = -removed;
        }
        self.transform(new, removed_first);
    }

    /// Puts another character in place of each.
    pub(super) fn map(&mut self, map: impl Fn(char) -> char) {
        let new = self.text.chars().map(|character| (map(character), 0)).collect();
        self.transform(new, 0);
    }

    /// Leaves out whitespace at the ends.
    pub(super) fn strip(&mut self, left: bool, right: bool) {
        let leading = if left { self.text.chars().take_while(|c| c.is_whitespace()).count() } else { 0 };
        let kept = if left { self.text.trim_start() } else { &self.text };
        let kept = if right { kept.trim_end() } else { kept };
        if kept.len() < self.text.len() {
            let new = kept.chars().map(|character| (character, 0)).collect();
            self.transform(new, leading);
        }
    }
}
