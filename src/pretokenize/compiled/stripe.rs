//! Stretches of a text that a bimachine reads at once.

use super::alphabet::Alphabet;
use super::bimachine::{Bimachine, NOTE};
use crate::simd::{BLOCK_BYTES, ROW_BYTES, STEPS, Simd, mapped};

/// The maximum number of characters of a stripe plus 1, for its end.
pub(super) const STRIPE_CHARACTERS: usize = 1 << 11;
/// Characters whose ends are bits of one number.
pub(super) const WORD_BITS: usize = u64::BITS as usize;

/// Characters that are read at once.
#[derive(Clone, Copy, Default)]
pub(super) struct StripeStep {
    /// The number of each character; then the row of the second automaton.
    pub(super) numbers: [u16; STEPS],
    /// What the first automaton noted at each character.
    pub(super) notes: [u8; STEPS],
    /// Where each character begins in the stripe, in bytes, unless all are ASCII.
    starts: [u16; STEPS],
}

/// Steps of a block of ASCII characters.
const BLOCK_STEPS: usize = BLOCK_BYTES / STEPS;

/// A stretch of a text.
#[derive(Default)]
pub(super) struct Stripe {
    /// Where it begins in the text, in bytes.
    pub(super) first: usize,
    /// How many characters it has.
    pub(super) len: usize,
    /// Whether each character is a byte, so that a character is found by its number.
    is_ascii: bool,
    /// As many steps as the longest text so far needed.
    pub(super) steps: Vec<StripeStep>,
    /// A bit for each character, set where a pretoken that was not handed out ends before it.
    pub(super) ends: [u64; STRIPE_CHARACTERS / WORD_BITS],
}

impl Stripe {
    /// Notes the number of each character of `text`, which is shorter than [`STRIPE_CHARACTERS`], and where
    /// it begins.
    #[inline(always)]
    pub(super) fn classify<S: Simd>(
        &mut self,
        simd: S,
        alphabet: &Alphabet,
        machine: &Bimachine,
        text: &[u8],
    ) {
        self.is_ascii = text.is_ascii();
        // Steps for all characters and one more, in whole blocks.
        let steps = (text.len() / BLOCK_BYTES + 1) * BLOCK_STEPS;
        if self.steps.len() < steps {
            self.steps.resize(steps, StripeStep::default());
        }
        if self.is_ascii {
            self.classify_ascii(simd, machine, text);
        } else {
            self.classify_all(alphabet, machine, text);
        }
    }

    #[inline(always)]
    fn classify_ascii<S: Simd>(&mut self, simd: S, machine: &Bimachine, text: &[u8]) {
        self.len = text.len();
        let (blocks, tail) = text.as_chunks::<BLOCK_BYTES>();
        let mut last = [0; BLOCK_BYTES];
        last[..tail.len()].copy_from_slice(tail);
        let (steps, _) = self.steps.as_chunks_mut::<BLOCK_STEPS>();
        for (steps, block) in steps.iter_mut().zip(blocks.iter().chain([&last])) {
            let numbers = simd.entries(block, &machine.of_ascii);
            let (numbers, _) = numbers.as_chunks::<STEPS>();
            for (at, step) in steps.iter_mut().enumerate() {
                step.numbers = mapped(&numbers[at], |number| u16::from(number) * ROW_BYTES as u16);
            }
        }
    }

    #[inline(always)]
    fn classify_all(&mut self, alphabet: &Alphabet, machine: &Bimachine, text: &[u8]) {
        let (mut at, mut character) = (0, 0);
        while at < text.len() {
            let (class, len) = alphabet.decode(text, at);
            let step = &mut self.steps[character / STEPS];
            step.numbers[character % STEPS] = machine.number_of(class);
            step.starts[character % STEPS] = at as u16;
            (at, character) = (at + len, character + 1);
        }
        self.steps[character / STEPS].starts[character % STEPS] = text.len() as u16;
        self.len = character;
    }

    /// Fills the steps after the last character, up to `steps`, with the number that changes no state, and
    /// clears all ends.
    #[inline(always)]
    pub(super) fn pad(&mut self, steps: usize) {
        if self.steps.len() < steps {
            self.steps.resize(steps, StripeStep::default());
        }
        let (full, remainder) = (self.len / STEPS, self.len % STEPS);
        for (number, step) in self.steps[..steps].iter_mut().enumerate().skip(full) {
            step.numbers[if number == full { remainder } else { 0 }..].fill(0);
        }
        self.ends.fill(0);
    }

    /// Replaces the number of each character by the row for it and the character before it, given the notes
    /// of the first automaton. `count` is how many numbers there are, and `before` that of the character
    /// before the stripe.
    #[inline(always)]
    pub(super) fn find_rows(&mut self, steps: usize, count: u16, mut before: u16) {
        for step in &mut self.steps[..steps] {
            let mut noted = step.numbers;
            for (at, number) in noted.iter_mut().enumerate() {
                *number += u16::from(step.notes[at] & NOTE);
            }
            let mut last = [before; STEPS];
            for (at, last) in last.iter_mut().enumerate().skip(1) {
                *last = noted[at - 1];
            }
            before = noted[STEPS - 1];
            for (at, number) in step.numbers.iter_mut().enumerate() {
                *number = last[at] * count + noted[at];
            }
        }
    }

    /// The row for a character and the one before it, once [`Stripe::find_rows`] has found it.
    pub(super) fn row(&self, character: usize) -> u16 {
        self.steps[character / STEPS].numbers[character % STEPS]
    }

    /// Clears the ends after the last character. There a pretoken ends if the text does.
    #[inline(always)]
    pub(super) fn mark_end(&mut self, is_last: bool) {
        let (number, bit) = (self.len / WORD_BITS, self.len % WORD_BITS);
        self.ends[number] &= (1 << bit) - 1;
        self.ends[number + 1..].fill(0);
        if is_last && self.len > 0 {
            self.ends[number] |= 1 << bit;
        }
    }

    /// The number that is added to the index of a character for [`Stripe::to_bytes`]: where the stripe
    /// begins, if the sum is then where the character begins; else 0.
    #[inline(always)]
    pub(super) fn origin(&self) -> usize {
        if self.is_ascii { self.first } else { 0 }
    }

    /// Replaces indices of characters, with [`Stripe::origin`] added, by where the characters begin in the
    /// text, in bytes.
    #[inline(always)]
    pub(super) fn to_bytes(&self, characters: &mut [usize]) {
        if !self.is_ascii {
            for character in characters {
                *character =
                    self.first + usize::from(self.steps[*character / STEPS].starts[*character % STEPS]);
            }
        }
    }
}
