//! Places: numbers that give the order of first occurrences.

use std::cmp::Ordering;

use super::slot::CountSlot;
use crate::control::Control;
use crate::error::Result;

/// A range of places that was reserved for a text before its length was known.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReservedPlaces {
    pub(super) start: u64,
    /// Bytes of text that were counted from `start` on.
    pub(super) len: u64,
}

/// Numbers places as if the length of each span had been known: each span begins where the one before it
/// ends. Without spans, a place is its own number.
#[derive(Debug, Default)]
pub(super) struct ByteNumbers {
    /// The start of each span, and the number of bytes in the spans before it.
    starts: Vec<(u64, u64)>,
}

impl ByteNumbers {
    pub(super) fn new(spans: &[ReservedPlaces]) -> Self {
        let mut starts: Vec<_> = spans.iter().map(|span| (span.start, span.len)).collect();
        starts.sort_unstable();
        let mut end = 0;
        for (_, len) in &mut starts {
            end += *len;
            *len = end - *len;
        }
        ByteNumbers { starts }
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
