//! Places: numbers that give the order of first occurrences.

use std::cmp::Ordering;

use super::slot::CountSlot;
use crate::control::Control;
use crate::error::Result;
use crate::room;

/// A range of places that was reserved for a text before its length was known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: u64,
    /// Bytes of text that were counted from `start` on.
    pub(super) len: u64,
}

/// Renumbers places as if the length of each span had been known: each span then begins where the one before
/// it ends. The slots must be sorted by place. Returns the end of the last span.
pub(super) fn number_bytes(slots: &mut [CountSlot], mut spans: Vec<Span>) -> u64 {
    let end = spans.iter().map(|span| span.len).sum();
    spans.sort_unstable_by_key(|span| span.start);
    let mut spans = spans.into_iter().peekable();
    let (mut now, mut base) = (Span { start: 0, len: 0 }, 0);
    for slot in slots {
        while let Some(span) = spans.next_if(|span| span.start <= slot.first) {
            base += now.len;
            now = span;
        }
        slot.first = base + (slot.first - now.start);
    }
    end
}

/// [`number_bytes`] for single places, in any order.
pub(super) struct ByteNumbers {
    /// The start of each span, and the number of bytes in the spans before it.
    starts: Vec<(u64, u64)>,
}

impl ByteNumbers {
    pub(super) fn new(spans: &[Span]) -> Result<Self> {
        let mut spans = room::copied(spans)?;
        spans.sort_unstable_by_key(|span| span.start);
        let mut before = 0;
        let starts = room::collected(spans.iter().map(|span| {
            before += span.len;
            (span.start, before - span.len)
        }))?;
        Ok(ByteNumbers { starts })
    }

    /// The number of a place.
    pub(super) fn of(&self, place: u64) -> u64 {
        let spans = self.starts.partition_point(|&(start, _)| start <= place);
        let (start, before) = if spans == 0 { (0, 0) } else { self.starts[spans - 1] };
        before + (place - start)
    }
}

/// Slots that are sorted without a check of the control; sorting them takes some tens of milliseconds.
pub(super) const SORTED_AT_ONCE: usize = 1 << 19;

/// Sorts slots by the place of the first occurrence.
pub(super) fn sort_by_place(slots: &mut [CountSlot], control: &Control) -> Result<()> {
    sort(slots, &|left, right| left.first.cmp(&right.first), control)
}

/// Sorts slots in an order, in pieces with checks of the control between them.
pub(super) fn sort(
    slots: &mut [CountSlot],
    order: &impl Fn(&CountSlot, &CountSlot) -> Ordering,
    control: &Control,
) -> Result<()> {
    control.check()?;
    if slots.len() <= SORTED_AT_ONCE {
        slots.sort_unstable_by(order);
        return Ok(());
    }
    let middle = slots.len() / 2;
    slots.select_nth_unstable_by(middle, order);
    let (low, high) = slots.split_at_mut(middle);
    sort(low, order, control)?;
    sort(high, order, control)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn single_places_have_the_numbers_of_sorted_ones() {
        let mut random = Random::new(46);
        for _ in 0..200 {
            let (mut spans, mut start) = (Vec::new(), random.below64(3));
            for _ in 0..random.below(6) {
                let len = random.below64(5);
                spans.push(Span { start, len });
                start += len + random.below64(4);
            }
            let mut places: Vec<u64> = Vec::new();
            for span in &spans {
                places.extend(span.start..span.start + span.len);
            }
            spans.reverse(); // any order will do
            let slot = |&first: &u64| CountSlot::of(b"a", 1, first, &mut Vec::new()).unwrap();
            let mut slots: Vec<CountSlot> = places.iter().map(slot).collect();
            number_bytes(&mut slots, spans.clone());
            let numbers = ByteNumbers::new(&spans).unwrap();
            for (place, slot) in places.iter().zip(&slots) {
                assert_eq!(numbers.of(*place), slot.first);
            }
        }
    }
}
