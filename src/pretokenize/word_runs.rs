//! Runs of words: the pretokens of a named pattern, where those that are words after single spaces stay
//! together.
//!
//! A pattern for tokens of several words has [`EXPRESSION`] before a named pattern. Its pretokens end where
//! those of the named pattern do, but for the places inside of a run of words, and these are known by the
//! pretokens next to them. So nothing but a named pattern has to be scanned, and only the places that matter
//! are looked at. Marks are an exception where the named pattern takes them for punctuation: then a run may
//! end inside of one of its pretokens.

use std::cell::Cell;

use super::class::{Class, char_start, class_of, decode_char};
use super::named::Named;
use super::spellings::SPELLINGS;

/// Two words or more with single spaces between them. A word before an apostrophe is left to the pattern
/// after this one.
const EXPRESSION: &str = r" ?[\p{L}\p{M}]+(?: [\p{L}\p{M}]+)+(?![\p{L}\p{M}'’])";

/// The bytes that are looked at together for marks.
const BLOCK: usize = 64;
/// The lowest first byte of a mark: that of U+0300.
const FIRST_MARK_BYTE: u8 = 0xCC;

/// A pattern that keeps runs of words together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordRuns {
    /// The pattern of everything else.
    pub named: Named,
}

/// A text and the ends of all its pretokens by the named pattern.
pub struct NamedPretokens<'t> {
    text: &'t [u8],
    ends: &'t [usize],
    /// Whether contractions belong to the words before them.
    has_suffixes: bool,
    /// The last one that was asked about, so that a long one is not searched for each of its ends.
    cut_word: Cell<Option<CutWord>>,
}

/// A word that the named pattern cuts, as before a capital: the numbers of the first and the last end inside
/// of it.
#[derive(Clone, Copy)]
struct CutWord {
    first: usize,
    last: usize,
    follows_joint: bool,
    precedes_joint: bool,
}

impl WordRuns {
    /// The pattern that an expression in the dialect of `regex` stands for; `None` for other expressions.
    pub fn of(expression: &str) -> Option<Self> {
        let named = expression.strip_prefix(EXPRESSION)?.strip_prefix('|')?;
        Named::of(named, &SPELLINGS).map(|named| WordRuns { named })
    }

    /// What the named pattern distinguishes of a character.
    pub(super) fn kind_of(self, code_point: u32) -> Class {
        let has_case = matches!(self.named, Named::O200k | Named::Tekken);
        match class_of(code_point) {
            Class::Upper | Class::Title if has_case => Class::Upper,
            Class::Lower if has_case => Class::Lower,
            letter if letter.is_letter() => Class::OtherLetter,
            other => other,
        }
    }

    /// A text, and where each of its pretokens by the named pattern ends.
    pub fn over<'t>(self, text: &'t [u8], ends: &'t [usize]) -> NamedPretokens<'t> {
        NamedPretokens { text, ends, has_suffixes: self.named == Named::O200k, cut_word: Cell::default() }
    }

    /// Whether each pretoken of a text ends where one of the named pattern does.
    pub fn keeps_ends_of_named(self, text: &[u8]) -> bool {
        matches!(self.named, Named::O200k | Named::Tekken | Named::Qwen35) || !has_marks(text)
    }
}

impl NamedPretokens<'_> {
    /// Whether the pretoken goes on at end number `at`, since it is inside of a run of words.
    #[inline]
    pub fn joins(&self, at: usize) -> bool {
        if self.is_in_word(at) { self.joins_cut_word(at) } else { self.is_joint(at) }
    }

    /// All of a cut word is in a run that began before it; or else what follows an end at which a run can
    /// begin.
    #[cold]
    fn joins_cut_word(&self, at: usize) -> bool {
        let last = self.cut_word.get().filter(|word| (word.first..=word.last).contains(&at));
        let word = last.unwrap_or_else(|| self.cut_word_at(at));
        self.cut_word.set(Some(word));
        word.follows_joint || word.precedes_joint && self.begins_run(at)
    }

    fn cut_word_at(&self, at: usize) -> CutWord {
        let before = (0..at).rev().find(|&before| !self.is_in_word(before));
        let after = (at + 1..self.ends.len()).find(|&after| !self.is_in_word(after));
        CutWord {
            first: before.map_or(0, |before| before + 1),
            last: after.unwrap_or(self.ends.len()) - 1,
            follows_joint: before.is_some_and(|before| self.is_joint(before)),
            precedes_joint: after.is_some_and(|after| self.is_joint(after)),
        }
    }

    /// Whether a space between two words is at an end, with both in the same run.
    #[inline]
    fn is_joint(&self, at: usize) -> bool {
        let place = self.ends[at];
        self.text.get(place) == Some(&b' ')
            && is_word(self.text, place + 1)
            && ends_word(self.text, place)
            && self.begins_run(at)
            && self.is_before_no_apostrophe(at + 1)
    }

    /// Whether the text goes on in the middle of a word.
    #[inline]
    fn is_in_word(&self, at: usize) -> bool {
        is_word(self.text, self.ends[at]) && ends_word(self.text, self.ends[at]) && !self.has_contraction(at)
    }

    /// Whether a run can begin with pretoken number `at`, which ends in a word: it is nothing but that word.
    #[inline]
    fn begins_run(&self, at: usize) -> bool {
        let start = self.start(at);
        let word = start + usize::from(self.text[start] == b' ');
        is_word(self.text, word) && !self.has_contraction(at)
    }

    /// Whether no apostrophe is after the word that pretoken number `at` begins.
    #[inline]
    fn is_before_no_apostrophe(&self, at: usize) -> bool {
        for at in at..self.ends.len() {
            if self.has_contraction(at) {
                return false;
            }
            if !self.is_in_word(at) {
                let after = &self.text[self.ends[at]..];
                return !after.starts_with(b"'") && !after.starts_with("’".as_bytes());
            }
        }
        true
    }

    /// Whether a pretoken ends in an apostrophe and what belongs to it.
    #[inline]
    fn has_contraction(&self, at: usize) -> bool {
        self.has_suffixes && {
            let pretoken = &self.text[self.start(at)..self.ends[at]];
            pretoken.len() > 2 && pretoken[pretoken.len() - 3..].contains(&b'\'')
        }
    }

    #[inline]
    fn start(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| self.ends[before])
    }
}

/// Whether a letter or a mark begins at `at`.
#[inline(always)]
fn is_word(text: &[u8], at: usize) -> bool {
    match text.get(at) {
        None => false,
        Some(byte) if byte.is_ascii() => byte.is_ascii_alphabetic(),
        Some(_) => is_word_beyond_ascii(text, at),
    }
}

/// Whether a letter or a mark ends at `end`.
#[inline(always)]
fn ends_word(text: &[u8], end: usize) -> bool {
    match text[..end].last() {
        None => false,
        Some(byte) if byte.is_ascii() => byte.is_ascii_alphabetic(),
        Some(_) => is_word_beyond_ascii(text, char_start(text, end)),
    }
}

#[inline(never)]
fn is_word_beyond_ascii(text: &[u8], at: usize) -> bool {
    let (class, _) = decode_char(text, at);
    class.is_letter() || class.is_mark()
}

/// Whether a mark is in the text, or may be.
fn has_marks(text: &[u8]) -> bool {
    text.chunks(BLOCK).enumerate().any(|(number, block)| {
        let may_have = block.iter().fold(0, |max, &byte| byte.max(max)) >= FIRST_MARK_BYTE;
        may_have
            && (0..block.len()).any(|at| block[at] >= FIRST_MARK_BYTE && is_mark(text, BLOCK * number + at))
    })
}

fn is_mark(text: &[u8], at: usize) -> bool {
    decode_char(text, at).0.is_mark()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::{Isa, Pattern, Pretokenizer, Unmatched, next};
    use crate::random::Random;

    /// The end of the run that [`EXPRESSION`] matches at `start`.
    fn run_end(text: &str, start: usize) -> Option<usize> {
        let is_word = |char: char| char != '\'' && char != ' ' && is_word(char.to_string().as_bytes(), 0);
        let word_end = |from: usize| {
            let len: usize = text[from..].chars().take_while(|&char| is_word(char)).map(char::len_utf8).sum();
            (len > 0).then_some(from + len)
        };
        let mut end = word_end(start + usize::from(text[start..].starts_with(' ')))?;
        let mut last = None;
        while text[end..].starts_with(' ')
            && let Some(next) = word_end(end + 1)
        {
            end = next;
            if !text[end..].starts_with(['\'', '’']) {
                last = Some(end);
            }
        }
        last
    }

    fn ends_of_named(named: Named, text: &str) -> Vec<usize> {
        let pattern = Pattern::Named(named, Isa::best());
        let ranges = Pretokenizer { pattern, unmatched: Unmatched::Keep }.ranges(text.as_bytes());
        ranges.unwrap().into_iter().map(|range| range.end).collect()
    }

    fn ends_by_definition(named: Named, text: &str) -> Vec<usize> {
        let (mut ends, mut at) = (Vec::new(), 0);
        while at < text.len() {
            at = run_end(text, at).unwrap_or_else(|| next(named, text.as_bytes(), at));
            ends.push(at);
        }
        ends
    }

    #[test]
    fn runs_end_where_the_expression_says() {
        let pieces = [
            "a", "b", "B", "é", "É", "日", "ʼ", "ǅ", "ſ", "s", "ll", "'s", "'LL", "'", "'", "’", " ", " ",
            " ", " ", "  ", "\t", "\n", "\r\n", "\u{a0}", "\u{2028}", "1", "123", "Ⅷ", ".", ",", "/", "((",
            "--", "😀", "\u{301}", "\u{fe0f}", "ं",
        ];
        let marks = 3;
        let mut random = Random::new(1);
        for round in 0..40_000 {
            let kinds = pieces.len() - if round % 2 == 0 { marks } else { 0 };
            let len = random.below(24);
            let text: String = (0..len).map(|_| pieces[random.below(kinds)]).collect();
            for named in Named::ALL {
                let runs = WordRuns { named };
                if !runs.keeps_ends_of_named(text.as_bytes()) {
                    assert!(round % 2 == 1);
                    continue;
                }
                let ends = ends_of_named(named, &text);
                let pretokens = runs.over(text.as_bytes(), &ends);
                let ends_of_runs: Vec<usize> =
                    (0..ends.len()).filter(|&at| !pretokens.joins(at)).map(|at| ends[at]).collect();
                assert_eq!(ends_of_runs, ends_by_definition(named, &text), "{named:?} {text:?}");
            }
        }
    }

    /// It would take minutes if each end were searched for the ends of its word.
    #[test]
    fn a_long_word_with_many_cuts() {
        let (word, runs) = ("aB".repeat(200_000), WordRuns { named: Named::O200k });
        for (text, is_joined) in
            [(word.clone(), false), (format!("{word} b"), true), (format!("b {word}"), true)]
        {
            let ends = ends_of_named(runs.named, &text);
            let pretokens = runs.over(text.as_bytes(), &ends);
            assert!(ends.len() > 200_000);
            assert!((0..ends.len() - 1).all(|at| pretokens.joins(at) == is_joined));
        }
    }

    #[test]
    fn marks_are_seen_in_all_places() {
        for at in 0..200 {
            for mark in ["\u{300}", "\u{fe0f}", "\u{20d0}", "\u{1d167}"] {
                let mut text = "é日a".repeat(50);
                text.insert_str((0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap(), mark);
                assert!(has_marks(text.as_bytes()));
                assert!(!has_marks(text.replace(mark, "").as_bytes()));
            }
        }
    }

    #[test]
    fn expressions_are_those_of_named_patterns() {
        for named in Named::ALL {
            assert_eq!(
                WordRuns::of(&format!("{EXPRESSION}|{}", named.expression())),
                Some(WordRuns { named })
            );
        }
        assert_eq!(WordRuns::of(Named::Gpt2.expression()), None);
        assert_eq!(WordRuns::of(&format!(r"{EXPRESSION}|\S+|\s+")), None);
    }
}
