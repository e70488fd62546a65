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
            // All other patterns take three at the most.
            _ if class.is_number() => matches!(named.cut_rule(), CutRule::Gpt2).then_some(RunKind::Numbers),
            // A letter's, or one of the others, by what is before it.
            _ if class.is_mark() && matches!(named.cut_rule(), CutRule::O200k) => Some(RunKind::Marks),
            _ => Some(RunKind::Others),
        }
    }
}

impl Pretokenizer {
    /// The place from which on, up to two characters before the pretoken's end, the rest of the text has a first
    /// pretoken that ends where `range` does, whichever character it begins with. `range` is a pretoken of `text`,
    /// which is UTF-8. `None` where no such place is known.
    ///
    /// For the named patterns, where it ends with a run of one kind that ends there, and is longer than any
    /// contraction: letters, of which the first of a text is taken by no other alternative, and of which all up to the
    /// end of the run follow, whatever their case; numbers in GPT-2's; characters of no class, where another one
    /// follows; marks, where no letter follows; and whitespace, if all of it is: its last newline, or its last character, stays where it is.
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
            let joins = run == RunKind::Marks && class.is_letter();
            joins || class.is_mark() || RunKind::of(class, named) == Some(run)
        };
        match run {
            RunKind::Spaces => (from == range.start).then_some(from),
            _ => (!continues).then_some(from),
        }
    }
}
