//! Windows of a text, read by a bimachine: first backwards, then forwards.

use super::alphabet::Alphabet;
use super::automaton::Automaton;
use super::bimachine::Bimachine;
use super::stripe::{STRIPE_CHARACTERS, Stripe, WORD_BITS};
use crate::simd::{ENDS, Isa, Kernel, STEPS, Simd, mapped};

/// Stripes of a window. A step must wait two or more cycles for the one before it, so that a processor has
/// time for a step of another stripe in between.
const STRIPES: usize = 2;
/// From this many bytes on, a place for the end of a stripe is searched. All stripes fit into the first-level
/// cache.
const STRIPE_BYTES: usize = STRIPE_CHARACTERS / 2;
/// How many places are tried for the end of a stripe, and the bytes between two of them.
const TRIED_ENDS: usize = 8;
const TRIED_EVERY: usize = 16;

/// A window of a text: stripes that follow each other, and which of their pretokens were not handed out yet.
#[derive(Default)]
pub(super) struct Window {
    stripes: [Stripe; STRIPES],
    /// The stripe whose ends are handed out next, and the number of the next word of its ends. No ends are
    /// left before them.
    stripe: usize,
    next: usize,
}

/// A place between two characters, and what the second automaton knows there: its state, and the number of
/// the character before.
#[derive(Clone, Copy)]
pub(super) struct SymbolPlace {
    pub(super) at: usize,
    state: u8,
    before: u16,
}

impl SymbolPlace {
    /// A place where a pretoken begins.
    pub(super) fn start(at: usize) -> Self {
        SymbolPlace { at, state: 0, before: 0 }
    }
}

/// Where a stripe ends, and the state in which the first automaton begins there.
type StripeEnd = (usize, u8);

impl Window {
    /// Bytes of text from which on a window is worth its memory. The tests try all lengths.
    pub(super) const MIN_TEXT: usize = if cfg!(test) { 1 } else { 64 };

    /// Reads the text from a place on, and returns where the window ends: [`Window::read`] can go on there.
    /// `None` if there was no place where a stripe could end.
    pub(super) fn read(
        &mut self,
        isa: Isa,
        automaton: &Automaton,
        machine: &Bimachine,
        text: &[u8],
        place: SymbolPlace,
    ) -> Option<SymbolPlace> {
        let alphabet = &automaton.alphabet;
        let middle = end_of_stripe(alphabet, machine, text, place.at, STRIPES)?;
        let end = end_of_stripe(alphabet, machine, text, middle.0, 1)?;
        let [left, right] = &mut self.stripes;
        (left.first, right.first) = (place.at, middle.0);
        (self.stripe, self.next) = (0, 0);
        let read = Read { stripes: &mut self.stripes, alphabet, machine, text, ends: [middle, end], place };
        Some(isa.run(read))
    }

    /// Moves as many ends as there is room for after the first `count`; returns how many there are then.
    pub(super) fn give(&mut self, isa: Isa, ends: &mut [usize; ENDS], count: usize) -> usize {
        if self.stripe == STRIPES { count } else { isa.run(Give { window: self, ends, count }) }
    }
}

/// Where the first of `stripes` stripes ends, which begins at `first`: at the end of the text, or where the
/// next characters tell the state of the first automaton.
fn end_of_stripe(
    alphabet: &Alphabet,
    machine: &Bimachine,
    text: &[u8],
    first: usize,
    stripes: usize,
) -> Option<StripeEnd> {
    let bytes = (text.len() - first).div_ceil(stripes).min(STRIPE_BYTES);
    (0..TRIED_ENDS).find_map(|number| {
        let from = first + bytes + number * TRIED_EVERY;
        let is_start = |&at: &usize| text[at] & 0xC0 != 0x80;
        let at = (from..text.len().min(from + TRIED_EVERY)).find(is_start);
        match at.filter(|at| text.len() - at >= Window::MIN_TEXT) {
            Some(at) => Some((at, machine.state_before(alphabet, text, at)?)),
            None if text.len() < from + TRIED_EVERY + Window::MIN_TEXT => Some((text.len(), machine.at_end)),
            None => None,
        }
    })
}

/// Reads the stripes of a window.
struct Read<'a> {
    stripes: &'a mut [Stripe; STRIPES],
    alphabet: &'a Alphabet,
    machine: &'a Bimachine,
    text: &'a [u8],
    ends: [StripeEnd; STRIPES],
    place: SymbolPlace,
}

impl Kernel for Read<'_> {
    type Out = SymbolPlace;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> SymbolPlace {
        let Read { stripes, alphabet, machine, text, ends, mut place } = self;
        for (stripe, (end, _)) in stripes.iter_mut().zip(ends) {
            let characters = &text[stripe.first..end];
            stripe.classify(simd, alphabet, machine, characters);
        }
        let steps = stripes.iter().map(|stripe| stripe.len.div_ceil(STEPS)).max().unwrap_or(0);
        for stripe in stripes.iter_mut() {
            stripe.pad(steps);
        }
        let mut states = mapped(&ends, |(_, state)| simd.state(state));
        for step in (0..steps).rev() {
            for (number, state) in states.iter_mut().enumerate() {
                let step = &mut stripes[number].steps[step];
                step.notes = simd.follow_back(&machine.backward, &step.numbers, state);
            }
        }
        let is_start = place.before == 0;
        for (stripe, (state, (end, _))) in stripes.iter_mut().zip(states.iter_mut().zip(ends)) {
            *state = simd.state(place.state);
            // A loop of its own: so it is vectorized, and the next one is not.
            stripe.find_rows(steps, machine.numbers, place.before);
            let (state, before) =
                machine.state_after(stripe.len, |at| stripe.row(at), place.state, place.before);
            place = SymbolPlace { at: end, state, before };
        }
        for step in 0..steps {
            for (number, state) in states.iter_mut().enumerate() {
                let stripe = &mut stripes[number];
                let ends = simd.follow(&machine.forward, &stripe.steps[step].numbers, state);
                stripe.ends[step * STEPS / WORD_BITS] |= u64::from(ends) << (step * STEPS % WORD_BITS);
            }
        }
        stripes[0].ends[0] &= !u64::from(is_start);
        stripes.iter_mut().zip(ends).for_each(|(stripe, (end, _))| stripe.mark_end(end == text.len()));
        place
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
