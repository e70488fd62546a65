//! Where a text may be cut, by the classes of the two characters around the place.
//!
//! A place is a cut if every state that can be reached by the character before it ends a pretoken there,
//! given the character after it, and also given the end of the text. Then no match goes across the place, and
//! the pretokens before it are the same as if the text ended there. This holds for all texts, so going
//! through the table once finds all such pairs of characters.

use super::alphabet::Alphabet;
use super::entry::{Entry, START};
use super::symbols::{Symbol, SymbolSet};
use crate::pretokenize::class::char_start;

/// The pairs of classes between which a text may be cut.
pub(super) struct CutPairs {
    /// For each class, the classes of characters before which a text may be cut after it.
    behind: Vec<SymbolSet>,
    /// The classes whose characters are always matched where a match may begin with them.
    matched: SymbolSet,
    /// The same for ASCII characters, each a bit: what may be behind each of them, and which are matched.
    ascii_behind: Vec<u128>,
    ascii_matched: u128,
}

impl CutPairs {
    pub(super) fn new(table: &[Entry], alphabet: &Alphabet) -> Self {
        let symbols = usize::from(alphabet.end()) + 1;
        let row_of = |start: u32| &table[start as usize..start as usize + symbols];
        let classes = || 0..alphabet.end();
        let mut behind = vec![alphabet.characters(); symbols - 1];
        for row in table.chunks(symbols) {
            for class in classes() {
                let Some(reached) = row[usize::from(class)].next().map(row_of) else { continue };
                let ends = |symbol: Symbol| {
                    let entry = reached[usize::from(symbol)];
                    entry.is_match() && entry.next().is_none()
                };
                let safe = if ends(alphabet.end()) {
                    SymbolSet::of(classes().filter(|&symbol| ends(symbol)))
                } else {
                    SymbolSet::EMPTY
                };
                let pairs = &mut behind[usize::from(class)];
                *pairs = pairs.intersection(safe);
            }
        }
        let is_matched = |class: &Symbol| {
            let reached = row_of(START)[usize::from(*class)].next().map(row_of);
            reached.is_some_and(|row| row.iter().all(|entry| entry.is_match()))
        };
        let matched = SymbolSet::of(classes().filter(is_matched));
        let class_of = |byte: u8| alphabet.decode(&[byte], 0).0;
        let ascii = |set: SymbolSet| {
            (0..128).filter(|&byte| set.has(class_of(byte))).fold(0, |bits, byte| bits | 1_u128 << byte)
        };
        let ascii_behind = (0..128).map(|byte| ascii(behind[usize::from(class_of(byte))])).collect();
        CutPairs { behind, matched, ascii_behind, ascii_matched: ascii(matched) }
    }

    /// Whether a match can begin with any character, so that nothing lies between two matches.
    pub(super) fn matches_all(&self, alphabet: &Alphabet) -> bool {
        self.matched == alphabet.characters()
    }

    /// Whether `text` may be cut at `at`; `text` may be a window of a longer text, as in
    /// [`crate::pretokenize::CutRule::is_cut`]. `keeps_unmatched` says whether text without a match becomes
    /// pieces.
    pub(super) fn is_cut(&self, alphabet: &Alphabet, text: &[u8], at: usize, keeps_unmatched: bool) -> bool {
        let (before, here) = (text[at - 1], text[at]);
        if before.is_ascii() && here.is_ascii() {
            let matched = if keeps_unmatched { self.ascii_matched } else { !0 };
            return (self.ascii_behind[usize::from(before)] & matched) >> here & 1 == 1;
        }
        let start = char_start(text, at);
        let (before, _) = alphabet.decode(text, start);
        let (behind, len) = alphabet.decode(text, at);
        // A byte that is not UTF-8 here may be part of a character that the window does not hold whole.
        let is_whole = |start: usize, len: usize| text[start].is_ascii() || len > 1;
        is_whole(start, at - start)
            && is_whole(at, len)
            && self.behind[usize::from(before)].has(behind)
            && (!keeps_unmatched || self.matched.has(behind))
    }
}
