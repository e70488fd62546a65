//! Classes of characters: characters that no set of a pattern distinguishes are in one class.

use std::collections::HashMap;
use std::ops::Range;

use super::symbols::{MAX_SYMBOLS, Symbol, SymbolSet};
use crate::error::{Error, Result};
use crate::pretokenize::class::code_point_at;

/// One more than the largest code point.
const CODE_POINTS: u32 = 0x11_0000;
/// log2 of the number of code points in a block of the table.
const BLOCK_BITS: u32 = 7;
const BLOCK_LEN: usize = 1 << BLOCK_BITS;
/// Python reads a byte that is not UTF-8 as one of these code points.
const INVALID_BYTES: Range<u32> = 0xDC80..0xDD00;

/// The classes that the sets of a pattern divide the characters into, and the class of each character.
pub struct Alphabet {
    /// For each set, its classes.
    sets: Vec<SymbolSet>,
    /// The number of classes, which is also the symbol for the end of the text.
    end: Symbol,
    /// The classes of ASCII characters.
    of_ascii: [Symbol; 128],
    /// The class of a byte that is not UTF-8.
    invalid: Symbol,
    /// For each block of code points, where its classes begin in `classes`.
    block_starts: Vec<u32>,
    classes: Vec<Symbol>,
}

impl Alphabet {
    /// Divides all characters by sets. Each set is a list of ranges of code points that do not overlap. Also
    /// divides them into ASCII and others, so that the class tells whether a character is one byte long.
    ///
    /// # Errors
    /// There are too many classes, or the sets distinguish bytes that are not UTF-8.
    pub fn new(sets: &[Vec<Range<u32>>]) -> Result<Self> {
        let mut dividing = sets.to_vec();
        dividing.push(std::iter::once(0..128).collect());
        let stretches = stretches(&dividing);
        let mut numbers: HashMap<Vec<bool>, Symbol> = HashMap::new();
        let mut runs: Vec<(Range<u32>, Symbol)> = Vec::with_capacity(stretches.len());
        for (range, members) in stretches {
            let next = numbers.len();
            if next + 3 > MAX_SYMBOLS && !numbers.contains_key(&members) {
                return Err(Error::Pattern("more than 253 classes of characters".into()));
            }
            runs.push((range, *numbers.entry(members).or_insert(next as Symbol)));
        }
        let mut symbols_of = vec![SymbolSet::EMPTY; sets.len()];
        for (members, &class) in &numbers {
            for (set, _) in symbols_of.iter_mut().zip(members).filter(|(_, is_member)| **is_member) {
                *set = set.union(SymbolSet::of([class]));
            }
        }
        let class_of = |code_point: u32| {
            let at = runs.partition_point(|(range, _)| range.end <= code_point);
            runs[at].1
        };
        let invalid = class_of(INVALID_BYTES.start);
        if INVALID_BYTES.clone().any(|code_point| class_of(code_point) != invalid) {
            return Err(Error::Pattern(
                "a set with a part of the bytes that are not UTF-8 (U+DC80 to U+DCFF)".into(),
            ));
        }
        let (block_starts, classes) = table(&runs);
        Ok(Alphabet {
            sets: symbols_of,
            end: numbers.len() as Symbol,
            of_ascii: std::array::from_fn(|byte| class_of(byte as u32)),
            invalid,
            block_starts,
            classes,
        })
    }

    /// The classes of a set, by the number of the set.
    pub fn set(&self, number: usize) -> Option<SymbolSet> {
        self.sets.get(number).copied()
    }

    /// The symbol for the end of a text: the number of classes.
    pub fn end(&self) -> Symbol {
        self.end
    }

    /// All classes, without the end of the text.
    pub fn characters(&self) -> SymbolSet {
        SymbolSet::of(0..self.end)
    }

    /// All classes, and the end of the text.
    pub fn all(&self) -> SymbolSet {
        SymbolSet::of(0..=self.end)
    }

    /// The class of the character at `at`, and its length in bytes. A byte that is not part of valid UTF-8 is
    /// a character of its own.
    ///
    /// # Panics
    /// If `at` is not before the end of `text`.
    #[inline(always)]
    pub fn decode(&self, text: &[u8], at: usize) -> (Symbol, usize) {
        let byte = text[at];
        if byte.is_ascii() {
            (self.of_ascii[usize::from(byte % 128)], 1)
        } else {
            self.decode_beyond_ascii(text, at)
        }
    }

    // Not inlined: the loops that call it need their registers.
    #[inline(never)]
    fn decode_beyond_ascii(&self, text: &[u8], at: usize) -> (Symbol, usize) {
        match code_point_at(text, at) {
            Some((code_point, len)) => (self.class_of(code_point), len),
            None => (self.invalid, 1),
        }
    }

    /// The class of a code point.
    #[inline]
    pub(super) fn class_of(&self, code_point: u32) -> Symbol {
        let start = self.block_starts[(code_point >> BLOCK_BITS) as usize] as usize;
        self.classes[start + code_point as usize % BLOCK_LEN]
    }

    /// Whether all characters of a class are of the same kind.
    pub(super) fn refines<K: Copy + PartialEq>(&self, kind_of: impl Fn(u32) -> K) -> bool {
        let mut kinds = [None; 1 << Symbol::BITS];
        (0..=u32::from(char::MAX)).all(|code_point| {
            let kind = kind_of(code_point);
            *kinds[usize::from(self.class_of(code_point))].get_or_insert(kind) == kind
        })
    }
}

/// All code points in order, in ranges that belong to the same sets: each range with these sets.
fn stretches(sets: &[Vec<Range<u32>>]) -> Vec<(Range<u32>, Vec<bool>)> {
    let mut changes: Vec<(u32, usize)> = Vec::new();
    for (number, set) in sets.iter().enumerate() {
        for range in set.iter().filter(|range| range.start < range.end) {
            changes.extend([(range.start, number), (range.end, number)]);
        }
    }
    changes.sort_unstable();
    let mut members = vec![false; sets.len()];
    let (mut stretches, mut start) = (Vec::new(), 0);
    for (at, number) in changes {
        if at > start {
            stretches.push((start..at, members.clone()));
            start = at;
        }
        members[number] = !members[number];
    }
    if start < CODE_POINTS {
        stretches.push((start..CODE_POINTS, members));
    }
    stretches
}

/// The table of classes: where each block begins, and the classes of all blocks. Equal blocks are stored
/// once.
fn table(runs: &[(Range<u32>, Symbol)]) -> (Vec<u32>, Vec<Symbol>) {
    let mut classes_of_all = Vec::with_capacity(CODE_POINTS as usize);
    for (range, class) in runs {
        classes_of_all.resize(range.end as usize, *class);
    }
    let mut known: HashMap<&[Symbol], u32> = HashMap::new();
    let (mut starts, mut classes) = (Vec::new(), Vec::new());
    for block in classes_of_all.chunks(BLOCK_LEN) {
        let start = *known.entry(block).or_insert_with(|| {
            classes.extend_from_slice(block);
            (classes.len() - block.len()) as u32
        });
        starts.push(start);
    }
    (starts, classes)
}
