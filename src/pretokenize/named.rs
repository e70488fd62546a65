//! The named patterns, each as a plain matcher of one pretoken, with which the scanners are compared.
//!
//! Every character matches some alternative of each pattern, so the pretokens of a text leave nothing out. No
//! pattern looks behind, so a pretoken depends only on the text from its start on.

use super::class::{Class, decode_char};

/// A named pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
    Gpt2,
    /// `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`
    Cl100k,
    /// [`Named::Cl100k`] with `\s*[\r\n]+|\s+(?!\S)|\s+` at its end.
    Cl100kOld,
    /// The pattern of GPT-4o, which distinguishes upper and lower case.
    O200k,
    /// [`Named::Cl100kOld`] with `\p{N}` in place of `\p{N}{1,3}`.
    Qwen2,
    /// [`Named::Cl100kOld`] with `\p{N}{1,2}` in place of `\p{N}{1,3}`.
    Nanochat,
    /// [`Named::Qwen2`] with marks among the letters: `[\p{L}\p{M}]+` and ` ?[^\s\p{L}\p{M}\p{N}]+`.
    Qwen35,
    /// [`Named::O200k`] without contractions, and with `\p{N}` in place of `\p{N}{1,3}`: Mistral's.
    Tekken,
}

impl Named {
    /// All of them.
    pub const ALL: [Named; 8] = [
        Named::Gpt2,
        Named::Cl100k,
        Named::Cl100kOld,
        Named::O200k,
        Named::Qwen2,
        Named::Nanochat,
        Named::Qwen35,
        Named::Tekken,
    ];
}

/// The end of the pretoken that starts at `start`.
///
/// The result is right only if a pretoken does start there: at 0, at the end of another one, or at a cut
/// ([`super::CutRule`]).
///
/// # Panics
/// If `start` is not before the end of `text`.
pub fn next(named: Named, text: &[u8], start: usize) -> usize {
    let end = match named {
        Named::Gpt2 => gpt2(text, start),
        Named::Cl100k | Named::Cl100kOld => cl100k(text, start, 3, Class::is_letter),
        Named::Qwen2 => cl100k(text, start, 1, Class::is_letter),
        Named::Nanochat => cl100k(text, start, 2, Class::is_letter),
        Named::Qwen35 => cl100k(text, start, 1, |class| class.is_letter() || class.is_mark()),
        Named::O200k => o200k(text, start, 3, true),
        Named::Tekken => o200k(text, start, 1, false),
    };
    end.unwrap_or_else(|| match named {
        Named::Gpt2 => spaces(text, start),
        Named::Cl100k => trailing_spaces(text, start).unwrap_or_else(|| lines_or_spaces(text, start)),
        Named::Cl100kOld | Named::O200k | Named::Qwen2 | Named::Nanochat | Named::Qwen35 | Named::Tekken => {
            lines_or_spaces(text, start)
        }
    })
}

fn gpt2(text: &[u8], start: usize) -> Option<usize> {
    let head = start + usize::from(text[start] == b' ');
    contraction(text, start, false)
        .or_else(|| some(text, head, Class::is_letter))
        .or_else(|| some(text, head, Class::is_number))
        .or_else(|| some(text, head, is_other))
}

/// `in_word` says which characters words are made of.
fn cl100k(text: &[u8], start: usize, digits: usize, in_word: fn(Class) -> bool) -> Option<usize> {
    contraction(text, start, true)
        .or_else(|| prefix(text, start).and_then(|head| some(text, head, in_word)))
        .or_else(|| some(text, start, in_word))
        .or_else(|| number(text, start, digits))
        .or_else(|| others(text, start, |class| is_other(class) && !in_word(class), is_newline))
}

/// `suffixes` says whether contractions belong to the words before them.
fn o200k(text: &[u8], start: usize, digits: usize, suffixes: bool) -> Option<usize> {
    let heads = || prefix(text, start).into_iter().chain([start]);
    let word = heads()
        .find_map(|head| word_to_lower(text, head))
        .or_else(|| heads().find_map(|head| capitals(text, head)));
    word.map(|end| if suffixes { contraction(text, end, true).unwrap_or(end) } else { end })
        .or_else(|| number(text, start, digits))
        .or_else(|| others(text, start, is_other, |byte| is_newline(byte) || byte == b'/'))
}

/// `'(?:[sdmt]|ll|ve|re)`, or `'(?i:[sdmt]|ll|ve|re)`: then U+017F is an `s` too.
#[inline]
pub(super) fn contraction(text: &[u8], start: usize, fold: bool) -> Option<usize> {
    let [b'\'', tail @ ..] = text.get(start..)? else { return None };
    let case = if fold { 0x20 } else { 0 };
    let letter = |at: usize| {
        tail.get(at).map_or(0, |&byte| if byte.is_ascii_alphabetic() { byte | case } else { byte })
    };
    match (letter(0), letter(1)) {
        (b's' | b'd' | b'm' | b't', _) => Some(start + 2),
        (b'l', b'l') | (b'v' | b'r', b'e') => Some(start + 3),
        (0xC5, 0xBF) if fold => Some(start + 3),
        _ => None,
    }
}

/// The end of a run of one or more characters that `belongs` takes.
fn some(text: &[u8], start: usize, belongs: impl Fn(Class) -> bool) -> Option<usize> {
    let end = run_end(text, start, usize::MAX, belongs);
    (end > start).then_some(end)
}

fn run_end(text: &[u8], mut at: usize, limit: usize, belongs: impl Fn(Class) -> bool) -> usize {
    for _ in 0..limit {
        if at == text.len() {
            break;
        }
        let (class, len) = decode_char(text, at);
        if !belongs(class) {
            break;
        }
        at += len;
    }
    at
}

/// `[^\r\n\p{L}\p{N}]`
fn prefix(text: &[u8], start: usize) -> Option<usize> {
    let (class, len) = decode_char(text, start);
    let taken = !is_newline(text[start]) && !class.is_letter() && !class.is_number();
    taken.then_some(start + len)
}

/// `\p{N}{1,limit}`
fn number(text: &[u8], start: usize, limit: usize) -> Option<usize> {
    let end = run_end(text, start, limit, Class::is_number);
    (end > start).then_some(end)
}

/// A space or none, characters that `belongs` takes, and the bytes that `tail` takes after them.
fn others(
    text: &[u8],
    start: usize,
    belongs: impl Fn(Class) -> bool,
    tail: impl Fn(u8) -> bool,
) -> Option<usize> {
    let head = start + usize::from(text[start] == b' ');
    let end = some(text, head, belongs)?;
    Some(end + text[end..].iter().take_while(|&&byte| tail(byte)).count())
}

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
///
/// The first run goes back to the last place where the second one can begin: after it, or at the last
/// character that both take.
fn word_to_lower(text: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut back) = (start, None);
    while at < text.len() {
        let (class, len) = decode_char(text, at);
        if is_lower(class) {
            back = Some(at);
        }
        if !is_upper(class) {
            break;
        }
        at += len;
    }
    some(text, back?, is_lower)
}

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`
fn capitals(text: &[u8], start: usize) -> Option<usize> {
    let end = some(text, start, is_upper)?;
    Some(run_end(text, end, usize::MAX, is_lower))
}

fn is_upper(class: Class) -> bool {
    matches!(class, Class::Upper | Class::Title | Class::Modifier | Class::OtherLetter | Class::Mark)
}

fn is_lower(class: Class) -> bool {
    matches!(class, Class::Lower | Class::Modifier | Class::OtherLetter | Class::Mark)
}

fn is_other(class: Class) -> bool {
    matches!(class, Class::Other | Class::Mark)
}

fn is_newline(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// `\s+(?!\S)|\s+`: of a run of whitespace all, or all but the last character if something else follows.
fn spaces(text: &[u8], start: usize) -> usize {
    let (mut last, mut at) = (start, start);
    while at < text.len() {
        let (class, len) = decode_char(text, at);
        if !class.is_space() {
            return if last == start { at } else { last };
        }
        last = at;
        at += len;
    }
    at
}

/// `\s++$`
fn trailing_spaces(text: &[u8], start: usize) -> Option<usize> {
    let end = run_end(text, start, usize::MAX, Class::is_space);
    (end == text.len()).then_some(end)
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+`
fn lines_or_spaces(text: &[u8], start: usize) -> usize {
    let end = run_end(text, start, usize::MAX, Class::is_space);
    match text[start..end].iter().rposition(|&byte| is_newline(byte)) {
        Some(newline) => start + newline + 1,
        None => spaces(text, start),
    }
}
