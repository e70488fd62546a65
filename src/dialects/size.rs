//! The size of what `regex` would build for a pattern, estimated from its text before it is compiled.
//!
//! `regex` copies a part that is repeated at least n times n times, so a pattern of 30 characters can take
//! gigabytes.

use super::cursor::Cursor;
use crate::error::{Error, Result, show_text};

/// The maximum number of parts of a pattern, each counted as often as `regex` writes it out. A part takes at
/// most 2 KB.
///
/// The largest published patterns have some hundred.
pub const MAX_PARTS: u64 = 50_000;
/// The maximum number of characters of a pattern.
pub const MAX_LENGTH: usize = 50_000;

/// Flags of `regex`.
const VERBOSE: u32 = 0x40;
const VERSION1: u32 = 0x100;
const FULLCASE: u32 = 0x4000;

/// Parts of a range under full case folding, where `regex` adds all sequences that fold into the range.
const RANGE_PARTS: i128 = 200;
/// A larger count is cut to this one.
const COUNT_LIMIT: i128 = 1_000_000_000_000_000;

/// Checks the length and the number of parts of a pattern. Cost: linear in the length, up to [`MAX_LENGTH`].
///
/// # Errors
/// [`crate::Error::Pattern`]: the pattern is too large.
pub fn check(text: &str, flags: u32) -> Result<()> {
    check_length(text)?;
    let count = parts(text, flags);
    if count <= MAX_PARTS {
        return Ok(());
    }
    Err(Error::Pattern(format!(
        "the pattern {} comes to {count} parts, more than {MAX_PARTS}: it is not compiled; a part that is repeated at \
         least n times counts n times",
        show_text(text)
    )))
}

/// Checks that a pattern has at most [`MAX_LENGTH`] characters.
pub(super) fn check_length(text: &str) -> Result<()> {
    let length = text.chars().count();
    if length <= MAX_LENGTH {
        return Ok(());
    }
    Err(Error::Pattern(format!(
        "the pattern {} has {length} characters, more than {MAX_LENGTH}: it is not compiled",
        show_text(text)
    )))
}

/// An upper bound of the parts that `regex` builds for a pattern, at most about 10^15.
///
/// A pattern that `regex` reads by other rules (version 1, verbose, comments, POSIX classes in sets) is not
/// parsed: its bound is the length times the product of all repeat counts.
pub fn parts(text: &str, flags: u32) -> u64 {
    let letter = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let inline: String = text.split("(?").skip(1).flat_map(|rest| rest.chars().take_while(letter)).collect();
    let version1 = flags & VERSION1 != 0 || inline.contains("V1");
    let is_full = version1 || flags & FULLCASE != 0 || inline.contains('f');
    let is_verbose = flags & VERBOSE != 0 || inline.contains('x');
    let weight = if is_full { RANGE_PARTS } else { 1 };
    let is_loose = version1 || is_verbose || text.contains("(?#") || text.contains("[:");
    let text = Cursor::new(text);
    let count = if is_loose { loose(text, weight, is_verbose) } else { close(text, weight) };
    count.max(0) as u64
}

/// The hyphens of a text, each of which may be a range.
fn hyphens(text: &[char]) -> i128 {
    text.iter().filter(|&&character| character == '-').count() as i128
}

/// The first digits of a count.
fn count(digits: impl Iterator<Item = char>) -> Option<i128> {
    digits.take(15).collect::<String>().parse().ok()
}

/// Whether Python has a character as whitespace.
fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\x1c'..='\x1f')
}

/// The bound for any structure: the length times the product of all counts.
fn loose(mut text: Cursor, weight: i128, is_verbose: bool) -> i128 {
    let mut total = (text.text.len() as i128 + (weight - 1) * hyphens(&text.text)).max(1);
    while let Some(at) = text.find('{') {
        text.at = at + 1;
        let digits = text.run(0, |c| c.is_ascii_digit() || is_space(c));
        // In a verbose pattern a comment begins at #, and the digits of the count may continue after it.
        let has_comment = is_verbose && text.peek(digits.chars().count()) == Some('#');
        let least = count(digits.chars().filter(char::is_ascii_digit)).unwrap_or(1);
        let least = if has_comment { COUNT_LIMIT } else { least };
        total = (total * least.max(1)).min(COUNT_LIMIT);
    }
    total
}

/// The parts of a pattern, read as `regex` reads its version 0.
fn close(mut text: Cursor, weight: i128) -> i128 {
    let mut outer: Vec<i128> = Vec::new();
    let (mut total, mut last) = (0, 0);
    while let Some(character) = text.peek(0) {
        if let Some(quantifier) = text.quantifier().filter(|_| character == '{') {
            let before = last;
            let digits = quantifier.text[1..].chars().take_while(char::is_ascii_digit);
            last = (last * count(digits).unwrap_or(1).max(1)).min(COUNT_LIMIT);
            total += last - before;
            text.at += quantifier.text.len();
            continue;
        }
        let start = text.at;
        text.at += 1;
        match character {
            '\\' => {
                text.at = (text.at + 1).min(text.text.len());
                (total, last) = (total + 1, 1);
            }
            '[' => {
                skip_set(&mut text);
                let set = &text.text[start..text.at];
                last = set.len() as i128 - 2 + (weight - 1) * hyphens(set);
                total += last;
            }
            '(' if text.flags_alone() => (total, last) = (total + 1, last.max(1)),
            '(' => {
                outer.push(total);
                (total, last) = (0, 0);
            }
            ')' if !outer.is_empty() => {
                last = total;
                total += outer.pop().unwrap_or(0);
            }
            '*' | '+' | '?' | '|' => (),
            _ => (total, last) = (total + 1, 1),
        }
    }
    (total + outer.iter().sum::<i128>()).min(COUNT_LIMIT)
}

/// Passes over a set, up to its end or that of the pattern.
fn skip_set(text: &mut Cursor) {
    text.take("^");
    let mut is_first = true;
    while let Some(character) = text.peek(0) {
        text.at += 1;
        match character {
            '\\' => text.at = (text.at + 1).min(text.text.len()),
            ']' if !is_first => return,
            _ => (),
        }
        is_first = false;
    }
}

impl Cursor {
    /// Whether the group that was just opened is one of flags alone; passes over it. A quantifier after it
    /// belongs to the part before it.
    fn flags_alone(&mut self) -> bool {
        let letters = self.run(1, |c| c.is_ascii_alphanumeric() || c == '-');
        let is_alone = self.peek(0) == Some('?') && self.peek(1 + letters.len()) == Some(')');
        self.at += if is_alone { 2 + letters.len() } else { 0 };
        is_alone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_as_often_as_they_are_written_out() {
        let patterns = r"a{3}b (?:ab{2}){10} [a-c]x (?i)a a{2,}?|b (?V1)[a-c] []a a{,5} [ a\".split(' ');
        let expected = [4, 40, 4, 2, 3, 209, 1, 1, -1, 2];
        for (text, expected) in patterns.zip(expected) {
            assert_eq!(parts(text, 0), expected.max(0) as u64, "{text}");
        }
        assert!(check("(?:(?:a{1000}){1000}){50}", 0).is_err());
        assert!(check(&"a".repeat(MAX_LENGTH + 1), 0).is_err());
    }
}
