//! Where a text may be cut, and which pretokens of an unfinished text are final.
//!
//! A position `at` is a *cut* if the pretokens of the text are those of `text[..at]` and then those of
//! `text[at..]`. As no named pattern looks behind, that holds if a pretoken starts at `at` and if the
//! ones before it would be the same were `at` the end of the text. Two rules find such places by a
//! character or two on each side:
//!
//! - A, before whitespace: `\s` at `at`, none before it. Pretokens end there, because no pattern has
//!   whitespace after anything else inside a pretoken. The exception is punctuation, which takes newlines
//!   along in all patterns except GPT-2's, so that under these a newline counts only after a letter or digit.
//!   A pretoken that ends before whitespace also ends there if the text does.
//! - B, after a line, for all patterns except GPT-2's: a newline before `at`, and no whitespace at it. No
//!   pretoken takes a newline along at its front, and pretokens that take newlines at their end (punctuation,
//!   whitespace) stop after the last one; `\s++$` takes the same if the text ends there. Under `o200k`
//!   punctuation also takes slashes along, so there must be none at `at`. In GPT-2's pattern the last
//!   character of such a run of whitespace is separated from the others, unless the text ends there.
//!
//! For a compiled pattern, and for the junctions of a vocabulary of characters, the same kinds of places are
//! looked at, and a table says which are cuts.
//!
//! All this holds under the class tables of older Unicode versions too: `\s` is the same in all of them, and
//! they treat characters that they do not know yet as punctuation. So a character that the tables here call a
//! letter may be punctuation elsewhere, but not the other way round.

use std::sync::Arc;

use super::class::{Class, char_start, decode_char, incomplete_tail};
use super::compiled::Automaton;
use super::junctions::Junctions;
use super::named::Named;

/// How texts of a pattern may be cut.
#[derive(Clone, Debug)]
pub enum CutRule {
    /// Nowhere: without a pattern, or under one that nothing is known about.
    Never,
    /// `gpt2`, `r50k`, `p50k`.
    Gpt2,
    /// `cl100k`, `cl100k_old`, `llama3`, `qwen2`, `nanochat`, `qwen3.5`.
    Cl100k,
    /// `o200k`, `tekken`.
    O200k,
    /// A compiled pattern: next to whitespace, where its table allows a cut.
    Compiled {
        /// The pattern.
        automaton: Arc<Automaton>,
        /// Whether text without a match becomes pieces.
        keeps_unmatched: bool,
    },
    /// Between two characters, one of which is whitespace or ends a line, where the bytes of both allow a
    /// cut.
    Junctions(Arc<Junctions>),
}

impl Named {
    /// The rule that says where texts of the pattern may be cut.
    pub const fn cut_rule(self) -> CutRule {
        match self {
            Named::Gpt2 => CutRule::Gpt2,
            Named::Cl100k | Named::Cl100kOld | Named::Qwen2 | Named::Nanochat | Named::Qwen35 => {
                CutRule::Cl100k
            }
            Named::O200k | Named::Tekken => CutRule::O200k,
        }
    }
}

impl CutRule {
    /// Whether any text may be cut anywhere.
    pub fn is_some(&self) -> bool {
        !matches!(self, CutRule::Never)
    }

    /// Whether `text` may be cut at `at`.
    ///
    /// `text` may be a window of a longer text: with the 3 bytes before `at` and one whole character after
    /// it, the answer is that for the whole text; with less context it may also be `false`. At both ends it
    /// is `false`.
    #[inline]
    pub fn is_cut(&self, text: &[u8], at: usize) -> bool {
        if !self.is_some() || at == 0 || at >= text.len() {
            return false;
        }
        let (before, here) = (text[at - 1], text[at]);
        if let CutRule::Compiled { automaton, keeps_unmatched } = self {
            return (is_ascii_space(here) || is_newline(before))
                && automaton.is_cut(text, at, *keeps_unmatched);
        }
        if let CutRule::Junctions(junctions) = self {
            return (is_ascii_space(here) || is_newline(before)) && junctions.is_cut(before, here);
        }
        if is_ascii_space(here) {
            if is_newline(here) && !matches!(self, CutRule::Gpt2) {
                // A letter or digit beyond ASCII may be unassigned, hence punctuation, in an older Unicode.
                return before.is_ascii_alphanumeric();
            }
            return !is_ascii_space(before) && (before.is_ascii() || !may_end_in_space(&text[..at]));
        }
        match self {
            CutRule::Never | CutRule::Gpt2 | CutRule::Compiled { .. } | CutRule::Junctions(_) => false,
            CutRule::Cl100k => is_newline(before) && !may_begin_space(&text[at..]),
            CutRule::O200k => is_newline(before) && here != b'/' && !may_begin_space(&text[at..]),
        }
    }

    /// The first cut of `text` at or after `from`.
    pub fn next_cut(&self, text: &[u8], from: usize) -> Option<usize> {
        if !self.is_some() {
            return None;
        }
        // There is ASCII whitespace at or directly before every cut, so a short loop passes over all other
        // bytes.
        let mut at = from;
        loop {
            let start = at.saturating_sub(1);
            let space = start + text.get(start..)?.iter().position(|&byte| is_ascii_space(byte))?;
            let cut = (space.max(at)..=space + 1).find(|&place| self.is_cut(text, place));
            if cut.is_some() {
                return cut;
            }
            at = space + 2;
        }
    }

    /// How far the pretokens of `buffer` are final, whatever text follows it.
    ///
    /// `buffer` starts where a pretoken does, and may end inside a character. Those of its pretokens that
    /// end at or before the bound are pretokens of every text that begins with `buffer`; 0 if none is.
    pub fn settled_end(&self, buffer: &[u8]) -> usize {
        let whole = &buffer[..buffer.len() - incomplete_tail(buffer)];
        let bound = match self {
            CutRule::Never => return 0,
            CutRule::Compiled { .. } | CutRule::Junctions(_) => 0,
            CutRule::Gpt2 => whole.len().saturating_sub(GPT2_LOOKAHEAD_BYTES).min(self.last_fixed(whole)),
            CutRule::Cl100k | CutRule::O200k => {
                whole.len().saturating_sub(LOOKAHEAD_BYTES).min(self.last_fixed(whole))
            }
        };
        // A cut is final by itself: it counts where a long run of whitespace ends the buffer.
        (bound + 1..whole.len()).rev().find(|&at| self.is_cut(whole, at)).unwrap_or(bound)
    }

    /// The last position of `text` before which no run of characters depends on text that follows.
    fn last_fixed(&self, text: &[u8]) -> usize {
        if matches!(self, CutRule::O200k) {
            // Capitals, marks and caseless letters are one word if a small letter follows them, and otherwise
            // end at the last caseless one: the whole run must be seen.
            let word = run_start(text, |class| class.is_letter() || class.is_mark());
            if word < text.len() {
                return word;
            }
        }
        char_start(text, run_start(text, Class::is_space))
    }
}

/// Whether a cut of any rule could lie inside `token`, where it occurs in a text.
///
/// This checks less than the rules do: each cut stands before an ASCII whitespace byte or after a line end.
pub(crate) fn may_cut_inside(token: &[u8]) -> bool {
    token.windows(2).any(|pair| is_ascii_space(pair[1]) || is_newline(pair[0]))
}

fn is_newline(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Whether the character before the end of `text`, not an ASCII one, is or may be whitespace.
fn may_end_in_space(text: &[u8]) -> bool {
    let (class, len) = decode_char(text, char_start(text, text.len()));
    // The last bytes of a character whose first ones lie before the window; whitespace has at most 3 bytes.
    let cut_short = len == 1 && text.len() < 3;
    class.is_space() || cut_short
}

/// Whether `text` begins with whitespace, or may do so once more text follows.
fn may_begin_space(text: &[u8]) -> bool {
    decode_char(text, 0).0.is_space() || text.len() < 4 && incomplete_tail(text) == text.len()
}

/// The start of the run of characters that `belongs` takes, at the end of `text`.
fn run_start(text: &[u8], belongs: impl Fn(Class) -> bool) -> usize {
    let mut at = text.len();
    while at > 0 {
        let start = char_start(text, at);
        if !belongs(decode_char(text, start).0) {
            break;
        }
        at = start;
    }
    at
}

/// Bytes of whole characters after a pretoken that decide its end under GPT-2's pattern: `'` and `l` may
/// become `'ll`.
const GPT2_LOOKAHEAD_BYTES: usize = 2;

/// Bytes of whole characters after a pretoken that decide its end under all other patterns. O200k's needs 3
/// (a word, then `'ll`), the others a character; the rest is margin.
const LOOKAHEAD_BYTES: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_cut_is_the_first_place_that_is_one() {
        let parts = ["a", " ", "\n", "\r\n", "/", "漢", "\u{a0}", "\t", "é1", "\u{3000}"];
        let mut text = String::new();
        for number in 0..3000_usize {
            // Each part after each other one, in no regular order.
            text += parts[(number * number / 3 + number / 7) % parts.len()];
        }
        let text = text.as_bytes();
        let rules = [("never", CutRule::Never), ("gpt2", CutRule::Gpt2), ("cl100k", CutRule::Cl100k)];
        for (name, rule) in rules.into_iter().chain([("o200k", CutRule::O200k)]) {
            for from in 0..text.len() + 3 {
                let end = text.len().min(from + 100);
                let first = (from..end).find(|&at| rule.is_cut(&text[..end], at));
                assert_eq!(rule.next_cut(&text[..end], from), first, "{name}, from {from}");
                assert!(first.is_none_or(|at| may_cut_inside(&text[at - 1..=at])), "{name}, at {first:?}");
            }
        }
    }
}
