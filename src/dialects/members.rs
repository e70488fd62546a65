//! Sets such as `[^\s"a-z]`: looking one up in `regex` takes time with each member, so known characters are left out of
//! the look-up.

use super::cursor::{Cursor, control};
use super::tables::Ranges;

pub(super) const CODE_POINTS: u32 = 0x11_0000;
pub(super) const SET_OPERATORS: [&str; 4] = ["--", "&&", "~~", "||"];

/// What stands in a set.
pub(super) struct Members {
    pub(super) is_negated: bool,
    /// The classes as they are written, each once.
    pub(super) classes: Vec<String>,
    pub(super) ranges: Ranges,
}

impl Members {
    /// The members of a set, or none where sets stand inside it or a member is read by other rules.
    pub(super) fn of(source: &str) -> Option<Self> {
        let inside = source.strip_prefix('[')?.strip_suffix(']')?;
        let body = inside.strip_prefix('^').unwrap_or(inside);
        if body.contains('[') || SET_OPERATORS.iter().any(|operator| body.contains(operator)) {
            return None;
        }
        let (mut classes, mut ranges) = (Vec::new(), Ranges::new());
        let mut body = Cursor::new(body);
        while !body.is_end() {
            if let Some(class) = class(&body) {
                body.at += class.chars().count();
                if body.next_is("-") && body.peek(1).is_some() {
                    return None;
                }
                if !classes.contains(&class) {
                    classes.push(class);
                }
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
            ranges.push(first..last + 1);
        }
        Some(Members { is_negated: inside.starts_with('^'), classes, ranges: joined(ranges) })
    }
}

/// The escape of a class that comes next. `regex` reads `\p{` with anything that no property's name has, such as
/// `\p{[L}`, as the letter p and a brace.
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
        ('\\', letter) => match (body.hex(), letter?) {
            (Some((code, len)), _) => (code, len),
            (None, letter) => match control(letter) {
                Some(control) => (control.into(), 2),
                None => ((letter.is_ascii() && !letter.is_ascii_alphanumeric()).then(|| letter.into())?, 2),
            },
        },
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
