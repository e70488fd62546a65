//! The scanners: from text to the ends of its pretokens, a block at a time.

use std::marker::PhantomData;

use super::bits::Carry;
use super::block::{BlockClasses, SplitChar};
use super::cl100k::Cl100k;
use super::gpt2::Gpt2;
use super::named::{Named, next};
use super::o200k::O200k;
use super::rules::{BlockPosition, NO_FALLBACK, Rules};
use crate::simd::{BLOCK_BYTES, ENDS, Isa, Kernel, Simd};

/// Room for the ends that one block adds: one after each of its bytes, and three more.
const MAX_ENDS_PER_BLOCK: usize = BLOCK_BYTES + 3;

/// The pretokens of a text between special tokens.
///
/// ```
/// use toksmith::pretokenize::{ENDS, Isa, Named, Scanner};
///
/// let mut ends = [0; ENDS];
/// let mut scanner = Scanner::new(Named::Gpt2, Isa::best(), b"two words");
/// let count = scanner.fill(&mut ends);
/// assert_eq!(ends[..count], [3, 9]);
/// assert_eq!(scanner.fill(&mut ends), 0);
/// ```
#[derive(Clone, Debug)]
pub struct Scanner<'t> {
    text: &'t [u8],
    named: Named,
    isa: Isa,
    /// The start of the next block; beyond the text after the last end.
    base: usize,
    /// The last end.
    last: usize,
    carry: Carry,
    split_char: SplitChar,
}

impl<'t> Scanner<'t> {
    /// Starts at the beginning of `text`.
    #[inline]
    pub fn new(named: Named, isa: Isa, text: &'t [u8]) -> Self {
        let mut scanner = Scanner {
            text,
            named,
            isa,
            base: 0,
            last: 0,
            carry: Carry::default(),
            split_char: SplitChar::default(),
        };
        scanner.start_at(0);
        scanner
    }

    /// Writes where the next pretokens end (bytes from the start of the text, ascending; each starts where
    /// the one before ends) and returns how many: 0 only at the end of the text.
    #[inline]
    pub fn fill(&mut self, ends: &mut [usize; ENDS]) -> usize {
        match self.named {
            Named::Gpt2 => self.isa.run(Fill::<Gpt2>::new(self, ends)),
            Named::Cl100k => self.isa.run(Fill::<Cl100k<3, true, false>>::new(self, ends)),
            Named::Cl100kOld => self.isa.run(Fill::<Cl100k<3, false, false>>::new(self, ends)),
            Named::Qwen2 => self.isa.run(Fill::<Cl100k<1, false, false>>::new(self, ends)),
            Named::Nanochat => self.isa.run(Fill::<Cl100k<2, false, false>>::new(self, ends)),
            Named::Qwen35 => self.isa.run(Fill::<Cl100k<1, false, true>>::new(self, ends)),
            Named::O200k => self.isa.run(Fill::<O200k<3, true>>::new(self, ends)),
            Named::Tekken => self.isa.run(Fill::<O200k<1, false>>::new(self, ends)),
        }
    }

    /// Continues as if the text began at `at`, where a pretoken starts. This is right because no pattern
    /// looks behind.
    #[inline(always)]
    fn start_at(&mut self, at: usize) {
        self.base = if at == self.text.len() { at + 1 } else { at };
        self.last = at;
        self.split_char = SplitChar::default();
        self.carry = Carry { clear: 1, ..Carry::default() }; // the end of the pretoken before is already known
    }

    /// From the last end on, finds pretokens with the plain matcher until one ends after `fallback_at`, since
    /// the masks may be wrong there.
    #[cold]
    fn step_over(&mut self, fallback_at: usize, ends: &mut [usize; ENDS], mut count: usize) -> usize {
        let mut at = if count > 0 { ends[count - 1] } else { self.last };
        while at <= fallback_at {
            at = next(self.named, self.text, at);
            ends[count] = at;
            count += 1;
        }
        self.start_at(at);
        count
    }
}

/// [`Scanner::fill`] by the rules of one family.
struct Fill<'a, 't, R> {
    scanner: &'a mut Scanner<'t>,
    ends: &'a mut [usize; ENDS],
    rules: PhantomData<R>,
}

impl<'a, 't, R> Fill<'a, 't, R> {
    #[inline(always)]
    fn new(scanner: &'a mut Scanner<'t>, ends: &'a mut [usize; ENDS]) -> Self {
        Fill { scanner, ends, rules: PhantomData }
    }
}

impl<R: Rules> Kernel for Fill<'_, '_, R> {
    type Out = usize;

    #[inline(always)]
    fn run<L: Simd>(self, simd: L) -> usize {
        let Fill { scanner, ends, .. } = self;
        let Scanner { text, mut base, mut carry, mut split_char, .. } = *scanner;
        let mut count = 0;
        while count <= ENDS - MAX_ENDS_PER_BLOCK && base <= text.len() {
            let tail = &text[base..];
            let bytes = match tail.first_chunk() {
                Some(block) => simd.load(block),
                None => simd.load_padded(tail),
            };
            let block = BlockClasses::new(simd, R::CASE, text, base, bytes, split_char);
            let starts = R::starts(&block, BlockPosition { text, base }, &mut carry);
            if starts.fallback_at != NO_FALLBACK {
                let sure = match starts.fallback_at - base {
                    offset @ 0..BLOCK_BYTES => u64::MAX >> (BLOCK_BYTES - 1 - offset),
                    _ => !0,
                };
                count = simd.add_places(starts.bits & block.valid & sure, base, ends, count);
                count = scanner.step_over(starts.fallback_at, ends, count);
                Scanner { base, carry, split_char, .. } = *scanner;
                continue;
            }
            count = simd.add_places(starts.bits & block.valid, base, ends, count);
            base += BLOCK_BYTES;
            split_char = block.split_char;
            if base >= text.len() {
                ends[count] = text.len();
                count += 1;
                base = text.len() + 1;
            }
        }
        if count > 0 {
            scanner.last = ends[count - 1];
        }
        (scanner.base, scanner.carry, scanner.split_char) = (base, carry, split_char);
        count
    }
}
