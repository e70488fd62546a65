//! Windows of a text, read by a bimachine: first backwards, then forwards.

use super::alphabet::Alphabet;
use super::automaton::Automaton;
use super::bimachine::Bimachine;
use super::stripe::{STRIPE_CHARACTERS, Stripe, WORD_BITS};
use crate::simd::{ENDS, Isa, Kernel, STEPS, Simd};

/// Stripes of a window. A step must wait two or more cycles for the one before it, so that a processor has time for a
/// step of another stripe in between.
const STRIPES: usize = 2;
/// From this many bytes on, a cut for the end of a stripe is searched. All stripes fit into the first-level cache.
const STRIPE_BYTES: usize = STRIPE_CHARACTERS / 2;

/// A window of a text: stripes that follow each other, and which of their pretokens were not handed out yet.
#[derive(Default)]
pub(super) struct Window {
    stripes: [Stripe; STRIPES],
    /// The stripe whose ends are handed out next, and the number of the next word of its ends. No ends are left
    /// before them.
    stripe: usize,
    next: usize,
}

impl Window {
    /// Bytes of text from which on a window is worth its memory. The tests try all lengths.
    pub(super) const MIN_TEXT: usize = if cfg!(test) { 1 } else { 64 };

    /// Reads the text from `first` on, where a pretoken begins. Each stripe ends at a cut, or at the end of the text.
    /// Returns `false` if there was no cut where a stripe has to end.
    pub(super) fn read(
        &mut self,
        isa: Isa,
        automaton: &Automaton,
        machine: &Bimachine,
        text: &[u8],
        first: usize,
    ) -> bool {
        let Some([middle, end]) = ends_of_stripes(automaton, text, first) else { return false };
        let [left, right] = &mut self.stripes;
        (left.first, right.first) = (first, middle);
        let texts = [&text[first..middle], &text[middle..end]];
        isa.run(Read { stripes: &mut self.stripes, alphabet: automaton.alphabet(), machine, texts });
        (self.stripe, self.next) = (0, 0);
        true
    }

    /// Moves as many ends as there is room for after the first `count`; returns how many there are then.
    pub(super) fn give(&mut self, isa: Isa, ends: &mut [usize; ENDS], count: usize) -> usize {
        if self.stripe == STRIPES { count } else { isa.run(Give { window: self, ends, count }) }
    }
}

/// Where the stripes end that begin at `first`.
fn ends_of_stripes(automaton: &Automaton, text: &[u8], first: usize) -> Option<[usize; STRIPES]> {
    let remaining = text.len() - first;
    let bytes = (remaining / STRIPES).min(STRIPE_BYTES);
    let cut = |from: usize| automaton.cut_within(text, from + bytes, STRIPE_BYTES - 1);
    let is_last = remaining < STRIPE_CHARACTERS;
    let middle = match cut(first) {
        Some(middle) => middle,
        None if is_last => return Some([text.len(); STRIPES]),
        None => return None,
    };
    if text.len() - middle < STRIPE_CHARACTERS {
        return Some([middle, text.len()]);
    }
    Some([middle, cut(middle)?])
}

/// Reads the stripes of a window.
struct Read<'a> {
    stripes: &'a mut [Stripe; STRIPES],
    alphabet: &'a Alphabet,
    machine: &'a Bimachine,
    texts: [&'a [u8]; STRIPES],
}

impl Kernel for Read<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Read { stripes, alphabet, machine, texts } = self;
        for (stripe, text) in stripes.iter_mut().zip(texts) {
            stripe.classify(simd, alphabet, machine, text);
        }
        let steps = stripes.iter().map(|stripe| stripe.len.div_ceil(STEPS)).max().unwrap_or(0);
        for stripe in stripes.iter_mut() {
            stripe.pad(steps);
        }
        let mut states = [simd.state(machine.at_end); STRIPES];
        for step in (0..steps).rev() {
            for (stripe, state) in stripes.iter_mut().zip(&mut states) {
                let step = &mut stripe.steps[step];
                step.notes = simd.follow_back(&machine.backward, &step.numbers, state);
            }
        }
        // A loop of its own: so it is vectorized, and the next one is not.
        stripes.iter_mut().for_each(|stripe| stripe.find_rows(steps, machine.numbers));
        let mut states = [simd.state(0); STRIPES];
        for step in 0..steps {
            for (stripe, state) in stripes.iter_mut().zip(&mut states) {
                let ends = simd.follow(&machine.forward, &stripe.steps[step].numbers, state);
                stripe.ends[step * STEPS / WORD_BITS] |= u64::from(ends) << (step * STEPS % WORD_BITS);
            }
        }
        stripes.iter_mut().for_each(Stripe::mark_end);
    }
}

/// Hands out the ends that were found in a window.
struct Give<'a> {
    window: &'a mut Window,
    ends: &'a mut [usize; ENDS],
    count: usize,
}

impl Kernel for Give<'_> {
    type Out = usize;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> usize {
        let Give { window, ends, mut count } = self;
        while let Some(stripe) = window.stripes.get_mut(window.stripe) {
            let (earlier, origin) = (count, stripe.origin());
            while let Some(bits) = stripe.ends.get_mut(window.next) {
                let base = origin + window.next * WORD_BITS;
                if count + WORD_BITS <= ENDS {
                    count = simd.add_places(std::mem::take(bits), base, ends, count);
                }
                while *bits != 0 && count < ENDS {
                    ends[count] = base + bits.trailing_zeros() as usize;
                    count += 1;
                    *bits &= *bits - 1;
                }
                if *bits != 0 {
                    break;
                }
                window.next += 1;
            }
            stripe.to_bytes(&mut ends[earlier..count]);
            if window.next < stripe.ends.len() {
                break;
            }
            (window.stripe, window.next) = (window.stripe + 1, 0);
        }
        count
    }
}
