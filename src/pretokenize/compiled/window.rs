//! Windows of a text, read by a bimachine: first backwards, then forwards.

use super::alphabet::Alphabet;
use super::automaton::Automaton;
use super::bimachine::Bimachine;
use super::lane::{LANE_CHARACTERS, Lane, WORD_BITS};
use crate::simd::{ENDS, Isa, Kernel, STEPS, Simd};

/// Lanes of a window: a step must wait two or more cycles for the one before it, so that a processor has time for a step
/// of another lane meanwhile.
const LANES: usize = 2;
/// Bytes of a lane behind which its end is searched, at a cut, at most. The first cache holds all lanes.
const LANE_BYTES: usize = LANE_CHARACTERS / 2;

/// A window of a text: lanes that follow each other, and which of their pretokens were not given out yet.
#[derive(Default)]
pub(super) struct Window {
    lanes: [Lane; LANES],
    /// The lane, and the ends in it, to give out next; there are none before them.
    lane: usize,
    next: usize,
}

impl Window {
    /// Bytes of text from which on a window is worth its memory. Chosen without measurement. The tests try all lengths.
    pub(super) const MIN_TEXT: usize = if cfg!(test) { 1 } else { 64 };

    /// Reads the text from `first` on, where a pretoken begins. Each lane ends at a cut, or at the end of the text.
    /// Returns whether there were such ends where they are needed.
    pub(super) fn read(
        &mut self,
        isa: Isa,
        automaton: &Automaton,
        machine: &Bimachine,
        text: &[u8],
        first: usize,
    ) -> bool {
        let Some([middle, end]) = ends_of_lanes(automaton, text, first) else { return false };
        let [one, two] = &mut self.lanes;
        (one.first, two.first) = (first, middle);
        let texts = [&text[first..middle], &text[middle..end]];
        isa.run(Read { lanes: &mut self.lanes, alphabet: automaton.alphabet(), machine, texts });
        (self.lane, self.next) = (0, 0);
        true
    }

    /// Moves as many ends as there is room for behind the first `count`; returns how many there are then.
    pub(super) fn give(&mut self, isa: Isa, ends: &mut [usize; ENDS], count: usize) -> usize {
        if self.lane == LANES { count } else { isa.run(Give { window: self, ends, count }) }
    }
}

/// Where the lanes end that begin at `first`.
fn ends_of_lanes(automaton: &Automaton, text: &[u8], first: usize) -> Option<[usize; LANES]> {
    let rest = text.len() - first;
    let bytes = (rest / LANES).min(LANE_BYTES);
    let cut = |from: usize| automaton.cut_within(text, from + bytes, LANE_BYTES - 1);
    let is_last = rest < LANE_CHARACTERS;
    let middle = match cut(first) {
        Some(middle) => middle,
        None if is_last => return Some([text.len(); LANES]),
        None => return None,
    };
    if text.len() - middle < LANE_CHARACTERS {
        return Some([middle, text.len()]);
    }
    Some([middle, cut(middle)?])
}

/// Reads the lanes of a window.
struct Read<'a> {
    lanes: &'a mut [Lane; LANES],
    alphabet: &'a Alphabet,
    machine: &'a Bimachine,
    texts: [&'a [u8]; LANES],
}

impl Kernel for Read<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Read { lanes, alphabet, machine, texts } = self;
        for (lane, text) in lanes.iter_mut().zip(texts) {
            lane.classify(simd, alphabet, machine, text);
        }
        let steps = lanes.iter().map(|lane| lane.len.div_ceil(STEPS)).max().unwrap_or(0);
        for lane in lanes.iter_mut() {
            lane.pad(steps);
        }
        let mut states = [simd.state(machine.at_end); LANES];
        for step in (0..steps).rev() {
            for (lane, state) in lanes.iter_mut().zip(&mut states) {
                let step = &mut lane.steps[step];
                step.notes = simd.follow_back(&machine.backward, &step.numbers, state);
            }
        }
        // A loop of its own: so it is vectorized, and the next one is not.
        lanes.iter_mut().for_each(|lane| lane.find_rows(steps, machine.numbers));
        let mut states = [simd.state(0); LANES];
        for step in 0..steps {
            for (lane, state) in lanes.iter_mut().zip(&mut states) {
                let ends = simd.follow(&machine.forward, &lane.steps[step].numbers, state);
                lane.ends[step * STEPS / WORD_BITS] |= u64::from(ends) << (step * STEPS % WORD_BITS);
            }
        }
        lanes.iter_mut().for_each(Lane::mark_end);
    }
}

/// Gives out the ends that were found in a window.
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
        while let Some(lane) = window.lanes.get_mut(window.lane) {
            let given = count;
            while let Some(bits) = lane.ends.get_mut(window.next) {
                let base = window.next * WORD_BITS;
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
            lane.to_bytes(&mut ends[given..count]);
            if window.next < lane.ends.len() {
                break;
            }
            (window.lane, window.next) = (window.lane + 1, 0);
        }
        count
    }
}
