//! What SentencePiece does to a text before it merges: replacements of a precompiled map, and spaces.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::aligned::{OriginRange, origin_of};
use super::limit::Limit;
use crate::error::Result;
use crate::room;
use crate::spelling::META_TEXT;

/// The maximum number of bytes of a text that a map replaces.
const MAX_KEY: usize = 256;

/// The normalizer of a SentencePiece model.
#[derive(Clone, Debug, Default)]
pub struct SentencePieceRule {
    /// Replacements of characters; none for the rule `identity`.
    pub charsmap: Charsmap,
    /// Texts that stay as they are. None is empty.
    pub symbols: Symbols,
    /// Whether a text gets a space in front, or behind it.
    pub add_dummy_prefix: bool,
    /// Whether spaces at both ends are removed, and several in a row become one.
    pub remove_extra_whitespaces: bool,
    /// Whether a space becomes U+2581.
    pub escape_whitespaces: bool,
    /// Whether the space of `add_dummy_prefix` stands behind the text.
    pub whitespace_as_suffix: bool,
}

/// Texts that are found at the beginning of another one, the longest first.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    texts: HashSet<String>,
    /// The lengths that texts have, the greatest first.
    lengths: Vec<usize>,
}

impl FromIterator<String> for Symbols {
    fn from_iter<T: IntoIterator<Item = String>>(texts: T) -> Self {
        let texts: HashSet<String> = texts.into_iter().collect();
        let lengths: BTreeSet<usize> = texts.iter().map(String::len).collect();
        Symbols { texts, lengths: lengths.into_iter().rev().collect() }
    }
}

impl Symbols {
    /// The length of the longest text that another one begins with.
    fn prefix_of(&self, text: &str) -> Option<usize> {
        let is_symbol = |&&len: &&usize| text.get(..len).is_some_and(|start| self.texts.contains(start));
        self.lengths.iter().find(is_symbol).copied()
    }
}

/// A `precompiled_charsmap`: a double-array trie of texts, and what each is replaced by.
#[derive(Clone, Debug, Default)]
pub struct Charsmap {
    units: Vec<u32>,
    replacements: String,
}

impl Charsmap {
    /// Reads the map; nothing stands for a map without replacements.
    ///
    /// # Errors
    /// The reason why it is malformed.
    pub fn read(data: &[u8]) -> std::result::Result<Self, String> {
        if data.is_empty() {
            return Ok(Charsmap::default());
        }
        let (size, tail) = data.split_first_chunk::<4>().ok_or("shorter than its head")?;
        let size = u32::from_le_bytes(*size) as usize;
        let (trie, texts) = tail.split_at_checked(size).ok_or("shorter than its trie")?;
        let (units, odd) = trie.as_chunks::<4>();
        if units.is_empty() || !odd.is_empty() {
            return Err(format!("a trie of {size} bytes"));
        }
        let texts =
            std::str::from_utf8(texts).map_err(|error| format!("its texts are not UTF-8: {error}"))?;
        Ok(Charsmap {
            units: units.iter().map(|unit| u32::from_le_bytes(*unit)).collect(),
            replacements: texts.to_owned(),
        })
    }

    /// The length of the longest text of the map that `text` begins with, and its replacement.
    fn prefix_of(&self, text: &str) -> Option<(usize, &str)> {
        // The layout is that of the library Darts-clone: a unit has an offset to its children, and the byte
        // that leads to it; a unit with a value follows one whose ninth bit is set.
        let offset = |unit: u32| ((unit >> 10) << ((unit & (1 << 9)) >> 6)) as usize;
        let mut at = offset(*self.units.first()?);
        let mut longest = None;
        for (i, byte) in text.bytes().take(MAX_KEY).enumerate() {
            at ^= usize::from(byte);
            let Some(&unit) = self.units.get(at) else { break };
            if unit & (1 << 31 | 0xFF) != u32::from(byte) {
                break;
            }
            at ^= offset(unit);
            if unit >> 8 & 1 == 1 && text.is_char_boundary(i + 1) {
                let value = self.units.get(at).map(|value| (value & 0x7FFF_FFFF) as usize);
                let replacement = value.and_then(|value| self.replacements.get(value..));
                longest = replacement.map(|text| (i + 1, text)).or(longest);
            }
        }
        let (len, replacement) = longest?;
        Some((len, replacement.split('\0').next().unwrap_or_default()))
    }
}

/// A normalized text while it grows.
struct Output<'a> {
    text: String,
    places: Vec<OriginRange>,
    before: Option<&'a [OriginRange]>,
    limit: Limit,
}

impl Output<'_> {
    fn push(&mut self, text: &str, from: Range<usize>) -> Result<()> {
        self.limit.push(&mut self.text, text)?;
        if let Some(before) = self.before {
            let origin = origin_of(before, from);
            room::reserve(&mut self.places, text.len())?;
            self.places.extend(std::iter::repeat_n((origin.start as u32, origin.end as u32), text.len()));
        }
        Ok(())
    }
}

impl SentencePieceRule {
    /// Whether a text gets a space in front.
    pub(super) fn puts_space_before(&self) -> bool {
        self.add_dummy_prefix && !self.whitespace_as_suffix
    }

    /// What the beginning of a text is replaced by, and its length. The text is not empty.
    fn first<'t>(&'t self, text: &'t str) -> (&'t str, usize) {
        if let Some(len) = self.symbols.prefix_of(text) {
            return (&text[..len], len);
        }
        if let Some((len, replacement)) = self.charsmap.prefix_of(text) {
            return (replacement, len);
        }
        let len = text.chars().next().map_or(0, char::len_utf8);
        (&text[..len], len)
    }

    /// The normalized text, and the origin of each of its bytes; none if `places`, those of `old`, are not
    /// tracked. A text that continues another one keeps a space at its beginning, and gets none.
    pub(super) fn normalized(
        &self,
        old: &str,
        places: Option<&[OriginRange]>,
        continues: bool,
        limit: Limit,
    ) -> Result<(String, Vec<OriginRange>)> {
        let mut out = Output { text: String::new(), places: Vec::new(), before: places, limit };
        room::reserve_text(&mut out.text, old.len())?;
        let space = if self.escape_whitespaces { META_TEXT } else { " " };
        let mut at = 0;
        while self.remove_extra_whitespaces && !continues && at < old.len() {
            let (new, len) = self.first(&old[at..]);
            if new != " " {
                break;
            }
            at += len;
        }
        if at == old.len() {
            return Ok((out.text, out.places));
        }
        if self.puts_space_before() && !continues {
            out.push(space, at..at + old[at..].chars().next().map_or(0, char::len_utf8))?;
        }
        let mut after_space = self.remove_extra_whitespaces && !continues;
        while at < old.len() {
            let (new, len) = self.first(&old[at..]);
            let new = if after_space { new.trim_start_matches(' ') } else { new };
            for part in new.split_inclusive(' ') {
                let (text, has_space) = part.strip_suffix(' ').map_or((part, false), |text| (text, true));
                out.push(text, at..at + len)?;
                if has_space {
                    out.push(space, at..at + len)?;
                }
            }
            if !new.is_empty() {
                after_space = new.ends_with(' ') && self.remove_extra_whitespaces;
            }
            at += len;
        }
        if self.remove_extra_whitespaces {
            let kept = out.text.trim_end_matches(space).len();
            out.text.truncate(kept);
            out.places.truncate(kept);
        }
        if self.add_dummy_prefix && self.whitespace_as_suffix {
            let last = old.chars().next_back().map_or(0, char::len_utf8);
            out.push(space, old.len() - last..old.len())?;
        }
        Ok((out.text, out.places))
    }
}
