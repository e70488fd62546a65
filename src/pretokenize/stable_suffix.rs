//! Suffixes of a long pretoken that are pretokens of their own when the text begins with them.

use super::class::{Class, decode_char};
use super::cut::CutRule;
use super::named::Named;
use super::pretokenizer::{Pattern, Pretokenizer};

/// The kind of characters in a run of unlimited length of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunKind {
    Letters,
    Numbers,
    Spaces,
    Others,
    /// Combining marks, in patterns that do not count them among the others.
    Marks,
}

impl RunKind {
    fn of(class: Class, named: Named) -> Option<Self> {
        match class {
            _ if class.is_letter() => Some(RunKind::Letters),
            _ if class.is_mark() && named == Named::Qwen35 => Some(RunKind::Letters),
            _ if class.is_space() => Some(RunKind::Spaces),
            // All other patterns take at most three numbers.
            _ if class.is_number() => matches!(named.cut_rule(), CutRule::Gpt2).then_some(RunKind::Numbers),
            // A mark belongs to a letter or to the other characters, depending on what is before it.
            _ if class.is_mark() && matches!(named.cut_rule(), CutRule::O200k) => Some(RunKind::Marks),
            _ => Some(RunKind::Others),
        }
    }
}

impl Pretokenizer {
    /// A place in a pretoken from which on its suffixes are pretokens: the text from this place on, or from
    /// any later character up to two characters before the pretoken's end, begins with a pretoken that ends
    /// where `range` does. `range` is a pretoken of `text`, which is UTF-8. `None` if no such place is known.
    ///
    /// For the named patterns there is such a place if the pretoken ends with a run of characters of one kind
    /// that does not continue after it and is longer than any contraction. The kinds are:
    ///
    /// - letters: no other alternative takes the first letter of a text, and all letters up to the end of the
    ///   run follow it, whatever their case
    /// - numbers, in GPT-2's pattern
    /// - characters of no class, where another one follows
    /// - marks, where no letter follows
    /// - whitespace, if the whole pretoken is whitespace: its last newline, or its last character, stays
    ///   where it is
    pub(crate) fn stable_suffix(&self, text: &[u8], range: std::ops::Range<usize>) -> Option<usize> {
        let named = match &self.pattern {
            Pattern::Whole => return Some(range.start),
            &Pattern::Named(named, _) => named,
            Pattern::Compiled(_) | Pattern::Junctions(_) | Pattern::Custom(..) => return None,
        };
        let mut from = range.end;
        let mut run = None;
        while from > range.start {
            let start = (range.start..from).rev().find(|&at| text[at] & 0xC0 != 0x80)?;
            let kind = RunKind::of(decode_char(text, start).0, named)?;
            if *run.get_or_insert(kind) != kind {
                break;
            }
            from = start;
        }
        let run = run?;
        let continues = range.end < text.len() && {
            let class = decode_char(text, range.end).0;
            let takes_marks = matches!(named.cut_rule(), CutRule::O200k);
            let joins = run == RunKind::Marks && class.is_letter() || takes_marks && class.is_mark();
            joins || RunKind::of(class, named) == Some(run)
        };
        match run {
            RunKind::Spaces => (from == range.start).then_some(from),
            _ => (!continues).then_some(from),
        }
    }
}
