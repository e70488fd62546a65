//! Four stripes of a text that are read at once.
//!
//! Each character needs the row that the character before it led to, and looking that up takes the processor some
//! cycles. Stripes of a text have nothing to do with each other, so it looks up several at a time. Each stripe but the
//! first begins at a cut: a place where a pretoken begins whatever stands before it.

use super::automaton::Automaton;
use super::entry::{Entry, START};
use super::symbols::Symbol;
use crate::simd::ENDS;

/// How many stripes are read at once.
pub(super) const LANES: usize = 4;
/// Bytes of a stripe up to which the next cut is searched, at most and at least; within half as many it must be found.
/// Four stripes and their ends fit into the first cache.
const STRIPE_BYTES: usize = 1 << 10;
const MIN_STRIPE_BYTES: usize = 1 << 8;
/// Bytes that are read in vain behind a match before a lane stops: then searches must be watched by
/// [`super::failures::Failures`]. Chosen without measurement: it is longer than nearly all runs of spaces.
pub(super) const WATCHED_BYTES: usize = 256;
/// Places for the symbols of a stripe and for its end.
const PLACES: usize = 2 * STRIPE_BYTES;
/// Places whose marks are bits of one number.
const MARKS: usize = u64::BITS as usize;

/// A stripe that is being read. Places count from its start.
pub(super) struct Lane {
    /// Where the stripe begins in the text.
    first: usize,
    len: usize,
    /// For each byte the symbol of the character that it begins, or the symbol that is passed over; at the end of the
    /// stripe the symbol for the end of a text, since there a pretoken ends as it would there.
    symbols: [Symbol; PLACES],
    row: u32,
    /// A bit for each place, set where a pretoken ends.
    marks: [u64; PLACES / MARKS],
    /// Whether nothing goes on from the place that was read last.
    has_failed: bool,
    /// Whether the stripe is left to a slower search from its last end on.
    is_stopped: bool,
}

impl Default for Lane {
    fn default() -> Self {
        Lane {
            first: 0,
            len: 0,
            symbols: [0; PLACES],
            row: START,
            marks: [0; PLACES / MARKS],
            has_failed: false,
            is_stopped: false,
        }
    }
}

impl Lane {
    fn begin(&mut self, automaton: &Automaton, text: &[u8], first: usize, end: usize) {
        (self.first, self.len) = (first, end - first);
        automaton.classify(&text[first..end], &mut self.symbols[..end - first]);
        self.symbols[self.len] = automaton.end();
        self.marks.fill(0);
        (self.row, self.has_failed, self.is_stopped) = (START, false, false);
    }

    /// Where the pretoken begins that `place` is in.
    fn start(&self, place: usize) -> usize {
        let last = self.marks[..=place / MARKS].iter().rposition(|&marks| marks != 0);
        last.map_or(0, |number| number * MARKS + MARKS - 1 - self.marks[number].leading_zeros() as usize)
    }

    /// Takes a lane that has failed at `place` back to the end of the match that it was in, and from there to `place`
    /// again. Stops it if there is no match, or if much was read in vain.
    fn recover(&mut self, automaton: &Automaton, place: usize) {
        while self.has_failed {
            match self.end_of_match(automaton, self.start(place)) {
                Some(end) => self.go_back(automaton, end, place),
                None => self.stop(automaton, place),
            }
        }
    }

    /// The end of the match that begins at `start` and is found where the lane fails.
    fn end_of_match(&self, automaton: &Automaton, start: usize) -> Option<usize> {
        let (mut row, mut last) = (START, None);
        for (place, &symbol) in self.symbols.iter().enumerate().skip(start) {
            let entry = automaton.entry(row, symbol);
            if entry.has(Entry::MAY_END) {
                last = Some(place);
            }
            if entry.has(Entry::FAILS) {
                return last.filter(|last| place - last <= WATCHED_BYTES);
            }
            row = entry.row();
        }
        None
    }

    /// Ends the current pretoken at `end`, and reads on from there to `until`, where the lane had come to, or to where
    /// it fails again.
    fn go_back(&mut self, automaton: &Automaton, end: usize, until: usize) {
        self.mark(end);
        (self.row, self.has_failed) = (START, false);
        for place in end..=until {
            let entry = automaton.entry(self.row, self.symbols[place]);
            if entry.has(Entry::FAILS) {
                self.has_failed = true;
                return;
            }
            if entry.has(Entry::ENDED_BEFORE) {
                self.mark(place - 1);
            }
            if entry.has(Entry::ENDS) {
                self.mark(place);
            }
            self.row = entry.row();
        }
    }

    fn mark(&mut self, end: usize) {
        self.marks[end / MARKS] |= 1 << (end % MARKS);
    }

    /// Reads nothing more from `place` on.
    fn stop(&mut self, automaton: &Automaton, place: usize) {
        self.symbols[place..].fill(automaton.passed_over());
        (self.row, self.has_failed, self.is_stopped) = (START, false, true);
    }
}

/// Stripes, one behind the other, and what of their ends was not given out yet.
#[derive(Default)]
pub(super) struct Stripes {
    /// Made for the first stripes: most texts are too short for any.
    lanes: Option<Box<[Lane; LANES]>>,
    /// The lane and the number in its marks from which on ends are still to be given out; these are then no longer
    /// marked. All lanes are behind that once nothing is left.
    lane: usize,
    number: usize,
}

impl Stripes {
    /// Bytes of text from which on stripes are worth their memory.
    pub(super) const MIN_TEXT: usize = (LANES + 2) * MIN_STRIPE_BYTES;

    /// Lanes from `start` on, to be read and put back; none if there are no cuts where they are needed.
    pub(super) fn begin(
        &mut self,
        automaton: &Automaton,
        text: &[u8],
        start: usize,
    ) -> Option<Box<[Lane; LANES]>> {
        let bytes = ((text.len() - start) / (LANES + 2)).min(STRIPE_BYTES);
        let mut places = [start; LANES + 1];
        for lane in 0..LANES {
            places[lane + 1] = automaton.cut_within(text, places[lane] + bytes, bytes / 2)?;
        }
        let mut lanes = self.lanes.take().unwrap_or_default();
        for (lane, range) in lanes.iter_mut().zip(places.windows(2)) {
            lane.begin(automaton, text, range[0], range[1]);
        }
        // All are read to the end of the longest.
        let longest = lanes.iter().map(|lane| lane.len).max().unwrap_or(0);
        for lane in lanes.iter_mut() {
            lane.symbols[lane.len + 1..=longest].fill(automaton.passed_over());
        }
        Some(lanes)
    }

    /// The lanes after reading. What comes behind a stripe that stopped is not known.
    pub(super) fn put(&mut self, mut lanes: Box<[Lane; LANES]>) {
        let stopped = lanes.iter().position(|lane| lane.is_stopped).unwrap_or(LANES);
        lanes.iter_mut().skip(stopped + 1).for_each(|lane| lane.marks.fill(0));
        self.lanes = Some(lanes);
        (self.lane, self.number) = (0, 0);
    }

    /// Moves as many ends as there is room for behind the first `count`; returns how many there are then.
    pub(super) fn give(&mut self, ends: &mut [usize; ENDS], mut count: usize) -> usize {
        let Some(lanes) = &mut self.lanes else { return count };
        while let Some(lane) = lanes.get_mut(self.lane) {
            while let Some(marks) = lane.marks.get_mut(self.number) {
                let base = lane.first + self.number * MARKS;
                while *marks != 0 {
                    if count == ENDS {
                        return count;
                    }
                    ends[count] = base + marks.trailing_zeros() as usize;
                    count += 1;
                    *marks &= *marks - 1;
                }
                self.number += 1;
            }
            (self.lane, self.number) = (self.lane + 1, 0);
        }
        count
    }
}

/// Reads all lanes to their ends.
pub(super) fn read(automaton: &Automaton, lanes: &mut [Lane; LANES]) {
    let behind = lanes.iter().map(|lane| lane.len + 1).max().unwrap_or(0);
    let mut from = 0;
    while from < behind {
        let until = (from / MARKS + 1) * MARKS;
        let place = read_marks(automaton, lanes, from, until.min(behind));
        for lane in lanes.iter_mut().filter(|lane| lane.has_failed) {
            lane.recover(automaton, place);
        }
        from = place + 1;
    }
}

/// Reads places whose marks are in one number, or less where a lane fails or ends a pretoken behind the place that it
/// has come to. Returns the place that was read last.
#[inline(never)]
fn read_marks(automaton: &Automaton, lanes: &mut [Lane; LANES], from: usize, until: usize) -> usize {
    let [one, two, three, four] = lanes;
    let [first, second, third, fourth] = [&one.symbols, &two.symbols, &three.symbols, &four.symbols];
    // What changes for each character is in variables of its own: the compiler keeps these in registers.
    let (mut row1, mut row2, mut row3, mut row4) = (one.row, two.row, three.row, four.row);
    let (mut marks1, mut marks2, mut marks3, mut marks4) = (0, 0, 0, 0);
    let mut place = from;
    let entries = loop {
        let entry1 = automaton.entry(row1, first[place % PLACES]);
        let entry2 = automaton.entry(row2, second[place % PLACES]);
        let entry3 = automaton.entry(row3, third[place % PLACES]);
        let entry4 = automaton.entry(row4, fourth[place % PLACES]);
        (row1, marks1) = (entry1.row(), entry1.shifted_into(marks1));
        (row2, marks2) = (entry2.row(), entry2.shifted_into(marks2));
        (row3, marks3) = (entry3.row(), entry3.shifted_into(marks3));
        (row4, marks4) = (entry4.row(), entry4.shifted_into(marks4));
        let entries = [entry1, entry2, entry3, entry4];
        if Entry::any_has(entries, Entry::FAILS | Entry::ENDED_BEFORE) || place + 1 == until {
            break entries;
        }
        place += 1;
    };
    let rows = [row1, row2, row3, row4];
    let marks = [marks1, marks2, marks3, marks4];
    for (number, lane) in [one, two, three, four].into_iter().enumerate() {
        lane.row = rows[number];
        // The last mark is in the highest bit.
        lane.marks[place / MARKS] |= marks[number] >> (MARKS - 1 - place % MARKS);
        lane.has_failed = entries[number].has(Entry::FAILS);
        if entries[number].has(Entry::ENDED_BEFORE) {
            lane.mark(place - 1);
        }
    }
    place
}
