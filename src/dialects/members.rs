//! Sets such as `[^\s"a-z]`, member by member: looking one up in `regex` takes time with each, so known
//! characters are left out of the look-up.

use std::ops::Range;

use super::cursor::{Cursor, escaped};
use crate::error::Result;

/// Ranges of code points, in order.
pub type Ranges = Vec<Range<u32>>;

/// The installed `regex` package.
pub trait Tables {
    /// The code points, surrogates included, that a pattern of exactly one character matches.
    ///
    /// # Errors
    /// The error of `regex` for a pattern that it does not read.
    fn matched(&self, source: &str) -> Result<Ranges>;

    /// The places in `among` of the characters that such a pattern matches.
    fn matched_among(&self, source: &str, among: &str) -> Result<Ranges>;
}

pub(super) const CODE_POINTS: u32 = 0x11_0000;
pub(super) const SET_OPERATORS: [&str; 4] = ["--", "&&", "~~", "||"];

/// What stands in a set.
pub(super) enum Member {
    /// A class as it is written.
    Class(String),
    /// The code points of a range, or of one character.
    Range(Range<u32>),
}

/// Whether a set has sets inside, or what version 1 reads as an operation.
pub(super) fn is_nested(source: &str) -> bool {
    source[1..].contains('[') || SET_OPERATORS.iter().any(|operator| source.contains(operator))
}

/// Whether a set without sets inside is negated, and its members in order; none where one is read by other
/// rules.
pub(super) fn members(source: &str) -> Option<(bool, Vec<Member>)> {
    let inside = source.strip_prefix('[')?.strip_suffix(']')?;
    let body = inside.strip_prefix('^').unwrap_or(inside);
    let (mut members, mut body) = (Vec::new(), Cursor::new(body));
    while !body.is_end() {
        if let Some(class) = class(&body) {
            body.at += class.chars().count();
            members.push(Member::Class(class));
            continue;
        }
        let first = code(&mut body)?;
        let mut last = first;
        if body.next_is("-") && body.peek(1).is_some() {
            body.at += 1;
            last = code(&mut body)?;
        }
        if last < first {
            return None;
        }
        members.push(Member::Range(first..last + 1));
    }
    Some((inside.starts_with('^'), members))
}

/// The escape of a class that comes next. `regex` reads `\p{` with anything that no property's name has, such
/// as `\p{[L}`, as the letter p and a brace.
pub(super) fn class(cursor: &Cursor) -> Option<String> {
    let len = match (cursor.peek(0)?, cursor.peek(1)?, cursor.peek(2)) {
        ('\\', 's' | 'S' | 'd' | 'D' | 'w' | 'W' | 'h', _) => 2,
        ('\\', 'p' | 'P', Some('A'..='Z')) => 3,
        ('\\', 'p' | 'P', Some('{')) => {
            let start = 3 + usize::from(cursor.peek(3) == Some('^'));
            let name = cursor.run(start, |c| c.is_ascii_alphanumeric() || "_ =:.&-".contains(c));
            let is_closed = !name.is_empty() && cursor.peek(start + name.len()) == Some('}');
            is_closed.then_some(start + name.len() + 1)?
        }
        _ => return None,
    };
    Some(cursor.next(len))
}

/// Reads a character of a set; none if it is no character.
fn code(body: &mut Cursor) -> Option<u32> {
    let (code, len) = match (body.peek(0)?, body.peek(1)) {
        ('\\', letter) => body.hex().or_else(|| Some((escaped(letter?)?.into(), 2)))?,
        (character, _) => (character.into(), 1),
    };
    body.at += len;
    (code < CODE_POINTS).then_some(code)
}

/// Ranges in order, those that touch as one.
pub(super) fn joined(mut ranges: Ranges) -> Ranges {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Ranges = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The ranges of all other code points.
pub(super) fn opposite(ranges: &Ranges) -> Ranges {
    let starts = std::iter::once(0).chain(ranges.iter().map(|range| range.end));
    let ends = ranges.iter().map(|range| range.start).chain([CODE_POINTS]);
    starts.zip(ends).map(|(start, end)| start..end).filter(|range| range.start < range.end).collect()
}
