//! Places: numbers that give the order of first occurrences.

use super::slot::CountSlot;
use crate::control::Control;
use crate::error::Result;

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

/// Slots that are sorted without a check of the control; sorting them takes some tens of milliseconds.
pub(super) const SORTED_AT_ONCE: usize = 1 << 19;

/// Sorts slots by the place of the first occurrence.
pub(super) fn sort_by_place(slots: &mut [CountSlot], control: &Control) -> Result<()> {
    control.check()?;
    if slots.len() <= SORTED_AT_ONCE {
        slots.sort_unstable_by_key(|slot| slot.first);
        return Ok(());
    }
    let middle = slots.len() / 2;
    slots.select_nth_unstable_by_key(middle, |slot| slot.first);
    let (low, high) = slots.split_at_mut(middle);
    sort_by_place(low, control)?;
    sort_by_place(high, control)
}
