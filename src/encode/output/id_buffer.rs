//! The ids of a long text, gathered in memory that is asked for once, or that an earlier result had.
//!
//! A system hands out large memory in pages, each of which it clears at its first use: of a text of 15 MB that takes as
//! long as a fifth of the encoding. Allocators keep what is given back, but not of such a size. So the last result that was
//! let go is kept for the next one.

use std::ops::RangeInclusive;
use std::sync::Mutex;

use crate::error::Result;
use crate::room;

/// The memory that was let go last. Never waited for: a lock that another thread holds, or held when the process forked,
/// only means that there is none.
static RECYCLED: Mutex<Vec<u32>> = Mutex::new(Vec::new());
/// How many ids there must be room for in what is kept: 4 MB to 64 MB.
const RECYCLED_IDS: RangeInclusive<usize> = 1 << 20..=1 << 24;

/// Takes the memory of ids that nobody needs any more, to be used for those of the next long text. The process keeps 64 MB
/// at the most.
pub fn recycle(mut ids: Vec<u32>) {
    if RECYCLED_IDS.contains(&ids.capacity())
        && let Ok(mut kept) = RECYCLED.try_lock()
    {
        ids.clear();
        std::mem::swap(&mut *kept, &mut ids);
    }
}

/// The memory that is kept, if it is no larger than that of `most` ids.
fn kept(most: usize) -> Vec<u32> {
    match RECYCLED.try_lock() {
        Ok(mut kept) if kept.capacity() <= most => std::mem::take(&mut *kept),
        _ => Vec::new(),
    }
}

/// Room for so many ids, a little over 32 MB, is pages of its own with glibc (`mallopt`, `M_MMAP_THRESHOLD`), which grow by
/// being moved. Less may come from its heap, once as much was given back: to grow there, all ids so far are copied, into
/// fresh memory.
const MOVABLE_IDS: usize = (33 << 20) / size_of::<u32>();
/// The most ids that a character may have: one for each byte.
const MAX_IDS_PER_CHARACTER: usize = 4;

/// Ids that there must be room for to go on.
const MIN_GROWTH_IDS: usize = 1 << 17;

/// Ids of a text so far, and how much of it they are: enough to tell how many there will be.
pub(in crate::encode) struct IdBuffer {
    pub(in crate::encode) ids: Vec<u32>,
    /// How much of the text is done, and how much it is, in any unit.
    done: usize,
    total: usize,
}

impl IdBuffer {
    /// None yet, of a text of so many bytes or characters.
    pub(in crate::encode) fn new(total: usize) -> Self {
        IdBuffer { ids: kept(MAX_IDS_PER_CHARACTER * total), done: 0, total }
    }

    /// So much more of the text is done: its ids were added. Makes room for those of the rest.
    ///
    /// In pages of the usual size: large ones are quicker where the machine has them at hand, and four times slower
    /// where a virtual machine must first be given the memory.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub(in crate::encode) fn done(&mut self, more: usize) -> Result<()> {
        self.done += more;
        let rest = self.total.saturating_sub(self.done);
        let expected = self.ids.len() as f64 / self.done.max(1) as f64 * rest as f64;
        // A twentieth more than at this rate, so that it is seldom asked for again.
        let mut wanted = expected as usize + expected as usize / 20;
        if self.ids.len() + wanted >= *RECYCLED_IDS.start() {
            wanted = wanted.max(MOVABLE_IDS); // what is not needed has no pages yet, and goes back in the end
        }
        if self.ids.capacity() - self.ids.len() < expected as usize {
            // What is expected is too much for some systems: then it is asked for bit by bit.
            return room::reserve_exact(&mut self.ids, wanted + 1024).or_else(|_| {
                let next = (expected as usize).min(MIN_GROWTH_IDS);
                room::reserve_exact(&mut self.ids, next)
            });
        }
        Ok(())
    }

    /// The ids, without much room that was not needed.
    pub(in crate::encode) fn finish(mut self) -> Vec<u32> {
        // Room for an eighth more is left: it has no pages yet, and what goes round should keep its size.
        if self.ids.capacity() - self.ids.len() > self.ids.len() / 8 {
            self.ids.shrink_to_fit();
        }
        self.ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_let_go_is_used_for_a_text_of_its_size_alone() {
        // The only test that lets ids of this size go.
        let count = *RECYCLED_IDS.start() + 5;
        recycle(vec![7; count]);
        assert_eq!(IdBuffer::new(count / MAX_IDS_PER_CHARACTER - 10).ids.capacity(), 0);
        let again = IdBuffer::new(count);
        assert!(again.ids.is_empty() && again.ids.capacity() == count);
        assert_eq!(IdBuffer::new(count).ids.capacity(), 0);
        recycle(Vec::with_capacity(RECYCLED_IDS.end() + 1));
        recycle(Vec::with_capacity(RECYCLED_IDS.start() - 1));
        assert_eq!(IdBuffer::new(usize::MAX / MAX_IDS_PER_CHARACTER).ids.capacity(), 0);
    }

    #[test]
    fn many_ids_have_room_that_can_be_moved_and_few_have_what_they_need() {
        for (total, room) in [(2 << 20, MOVABLE_IDS), (101_000, 105_000)] {
            let mut id_buffer = IdBuffer { ids: vec![1; 1000], done: 0, total };
            id_buffer.done(1000).unwrap();
            assert_eq!(id_buffer.ids.capacity(), 1000 + room + 1024);
            id_buffer.ids.extend([1; 5000]);
            assert_eq!(id_buffer.finish().capacity(), 6000);
        }
    }

    #[test]
    fn room_that_was_not_needed_is_given_back() {
        let mut id_buffer = IdBuffer { ids: Vec::with_capacity(1000), done: 0, total: 10 };
        id_buffer.ids.extend([1; 100]);
        id_buffer.done(10).unwrap();
        assert_eq!(id_buffer.finish().capacity(), 100);
    }
}
