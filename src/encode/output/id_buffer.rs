//! The ids of a long text, in memory that is allocated once or taken from an earlier result.
//!
//! The system clears each page of large memory at its first use: for a text of 15 MB that takes a fifth of the time
//! of encoding. Allocators keep freed memory for the next allocation, but not blocks of this size. So the last large
//! result that was freed is kept here.

use std::ops::RangeInclusive;
use std::sync::Mutex;

use super::destination::IdType;
use crate::error::Result;
use crate::room;

/// The memory of the last result that was given to [`recycle`]. No thread waits for the lock: if another thread holds
/// it, or held it when the process forked, no memory is taken.
static RECYCLED: Mutex<Vec<u32>> = Mutex::new(Vec::new());
/// The capacity, in ids, of memory that is kept: 4 MB to 64 MB.
const RECYCLED_IDS: RangeInclusive<usize> = 1 << 20..=1 << 24;

/// Takes ids that are not needed any more, and keeps their memory for the next long text. The process keeps at most
/// 64 MB.
pub fn recycle(mut ids: Vec<u32>) {
    if RECYCLED_IDS.contains(&ids.capacity())
        && let Ok(mut kept) = RECYCLED.try_lock()
    {
        ids.clear();
        std::mem::swap(&mut *kept, &mut ids);
    }
}

/// The kept memory, if it has a capacity of at most `max_ids` ids.
fn kept(max_ids: usize) -> Vec<u32> {
    match RECYCLED.try_lock() {
        Ok(mut kept) if kept.capacity() <= max_ids => std::mem::take(&mut *kept),
        _ => Vec::new(),
    }
}

/// Ids in a little over 32 MB. From that size on glibc maps pages of its own for an allocation (`mallopt`,
/// `M_MMAP_THRESHOLD`), and grows it by moving the pages. Less may come from its heap, where growing copies all ids
/// so far into fresh memory.
const MOVABLE_IDS: usize = (33 << 20) / size_of::<u32>();
/// The maximum number of ids that a character can become: one for each byte of its UTF-8.
const MAX_IDS_PER_CHARACTER: usize = 4;

/// The number of ids that room is made for at a time, if there is no memory for all that are expected.
const MIN_GROWTH_IDS: usize = 1 << 17;

/// The ids of a text so far, and how much of the text they encode, from which their final number is estimated.
pub(in crate::encode) struct IdBuffer<T = u32> {
    pub(in crate::encode) ids: Vec<T>,
    /// How much of the text is encoded, and how much there is, in any unit.
    done: usize,
    total: usize,
}

impl<T: IdType> IdBuffer<T> {
    /// An empty buffer for a text of `total` bytes or characters, in memory of an earlier result if there is some.
    pub(in crate::encode) fn new(total: usize) -> Self {
        IdBuffer { ids: Self::recycled(total), done: 0, total }
    }

    /// An empty buffer without memory.
    pub(in crate::encode) fn empty(total: usize) -> Self {
        IdBuffer { ids: Vec::new(), done: 0, total }
    }

    fn recycled(total: usize) -> Vec<T> {
        let mut memory = Vec::new();
        if let Some(ids) = T::as_u32(&mut memory) {
            *ids = kept(MAX_IDS_PER_CHARACTER * total);
        }
        memory
    }

    /// Memory for `ids` ids of a text of `total` bytes or characters: untouched, or that of an earlier result, which may
    /// have room for less. Without capacity if the system refuses it.
    pub(in crate::encode) fn memory(total: usize, ids: usize) -> Vec<T> {
        let mut memory = Self::recycled(total);
        if memory.capacity() == 0 {
            memory = room::for_items(ids).unwrap_or_default();
        }
        memory
    }

    /// Notes that `units` bytes or characters of the text are none of this buffer.
    pub(in crate::encode) fn elsewhere(&mut self, units: usize) {
        self.total = self.total.saturating_sub(units);
    }

    /// Notes that the ids of `more` bytes or characters of the text were added, and makes room for those of the rest.
    ///
    /// It does not ask for huge pages. They are faster where the machine has them at hand, but four times slower
    /// where a virtual machine must first be given the memory.
    pub(in crate::encode) fn done(&mut self, more: usize) -> Result<()> {
        self.done += more;
        let remaining = self.total.saturating_sub(self.done);
        let expected = self.ids.len() as f64 / self.done.max(1) as f64 * remaining as f64;
        // A twentieth more than this rate predicts, so that room rarely has to be made again.
        let mut wanted = expected as usize + expected as usize / 20;
        if self.ids.len() + wanted >= *RECYCLED_IDS.start() {
            wanted = wanted.max(MOVABLE_IDS); // what is not needed is never touched, and is freed in the end
        }
        if self.ids.capacity() - self.ids.len() < expected as usize {
            // Some systems refuse that much at once: then room is made step by step.
            return room::reserve_exact(&mut self.ids, wanted + 1024).or_else(|_| {
                let next = (expected as usize).min(MIN_GROWTH_IDS);
                room::reserve_exact(&mut self.ids, next)
            });
        }
        Ok(())
    }

    /// The ids, without most of the capacity that was not needed.
    pub(in crate::encode) fn finish(self) -> Vec<T> {
        Self::trimmed(self.ids)
    }

    /// Ids, without most of the capacity that was not needed.
    pub(in crate::encode) fn trimmed(mut ids: Vec<T>) -> Vec<T> {
        // An eighth of spare capacity may stay: its pages are not touched, and recycled memory should keep its size.
        if ids.capacity() - ids.len() > ids.len() / 8 {
            ids.shrink_to_fit();
        }
        ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_let_go_is_used_for_a_text_of_its_size_alone() {
        // No other test recycles ids of this size.
        let count = *RECYCLED_IDS.start() + 5;
        recycle(vec![7; count]);
        assert_eq!(IdBuffer::<u16>::new(count).ids.capacity(), 0);
        assert_eq!(IdBuffer::<u32>::new(count / MAX_IDS_PER_CHARACTER - 10).ids.capacity(), 0);
        let again = IdBuffer::<u32>::new(count);
        assert!(again.ids.is_empty() && again.ids.capacity() == count);
        assert_eq!(IdBuffer::<u32>::new(count).ids.capacity(), 0);
        recycle(Vec::with_capacity(RECYCLED_IDS.end() + 1));
        recycle(Vec::with_capacity(RECYCLED_IDS.start() - 1));
        assert_eq!(IdBuffer::<u32>::new(usize::MAX / MAX_IDS_PER_CHARACTER).ids.capacity(), 0);
    }

    #[test]
    fn many_ids_have_room_that_can_be_moved_and_few_have_what_they_need() {
        for (total, room) in [(2 << 20, MOVABLE_IDS), (101_000, 105_000)] {
            let mut id_buffer = IdBuffer { ids: vec![1_u32; 1000], done: 0, total };
            id_buffer.done(1000).unwrap();
            assert_eq!(id_buffer.ids.capacity(), 1000 + room + 1024);
            id_buffer.ids.extend([1; 5000]);
            assert_eq!(id_buffer.finish().capacity(), 6000);
        }
    }

    #[test]
    fn room_that_was_not_needed_is_given_back() {
        let mut id_buffer = IdBuffer { ids: Vec::<u32>::with_capacity(1000), done: 0, total: 10 };
        id_buffer.ids.extend([1; 100]);
        id_buffer.done(10).unwrap();
        assert_eq!(id_buffer.finish().capacity(), 100);
    }
}
