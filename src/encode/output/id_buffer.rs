//! Memory for the ids of a long text, allocated once or taken from an earlier result.
//!
//! The system clears each page of large memory at its first use: for a text of 15 MB that takes a fifth of
//! the time of encoding. Allocators keep freed memory for the next allocation, but not blocks of this size.
//! So the last large result that was freed is kept here.

use std::ops::RangeInclusive;
use std::sync::Mutex;

use super::id_type::IdType;
use crate::room;

/// The memory of the last result that was given to [`recycle`]. No thread waits for the lock: if another
/// thread holds it, or held it when the process forked, no memory is taken.
static RECYCLED: Mutex<Vec<u32>> = Mutex::new(Vec::new());
/// The capacity, in ids, of memory that is kept: 4 MB to 64 MB.
const RECYCLED_IDS: RangeInclusive<usize> = 1 << 20..=1 << 24;
/// Memory of an earlier result is used where it has room for at most this many times the ids that are
/// expected.
const MAX_SPARE_FACTOR: usize = 4;

/// Takes ids that are not needed any more, and keeps their memory for the next long text. The process keeps
/// at most 64 MB.
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

/// Memory for `ids` ids: untouched, so that what is not needed takes none, or that of an earlier result,
/// which may have room for less. Without capacity if the system refuses it.
///
/// It does not ask for huge pages. They are faster where the machine has them at hand, but four times slower
/// where a virtual machine must first be given the memory.
pub(in crate::encode) fn memory_for<T: IdType>(ids: usize) -> Vec<T> {
    let mut memory = Vec::new();
    if let Some(wide) = T::as_u32(&mut memory) {
        *wide = kept(MAX_SPARE_FACTOR * ids);
    }
    // Only where as much is left for everything else: a process may be allowed little address space.
    if memory.capacity() == 0 && room::check_available(2 * ids * size_of::<T>()).is_ok() {
        memory = room::for_items(ids).unwrap_or_default();
    }
    memory
}

/// Ids, without most of the capacity that was not needed.
pub(in crate::encode) fn trimmed<T>(mut ids: Vec<T>) -> Vec<T> {
    // An eighth of spare capacity may stay: its pages are not touched, and recycled memory should keep its
    // size.
    if ids.capacity() - ids.len() > ids.len() / 8 {
        ids.shrink_to_fit();
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_let_go_is_used_for_a_text_of_its_size_alone() {
        // No other test recycles ids of this size.
        let count = *RECYCLED_IDS.start() + 5;
        let of_size = |ids: usize| memory_for::<u32>(ids).capacity();
        recycle(vec![7; count]);
        assert_eq!(memory_for::<u16>(count).capacity(), count);
        assert_eq!(of_size(count / MAX_SPARE_FACTOR - 10), count / MAX_SPARE_FACTOR - 10);
        assert_eq!(of_size(count - 10), count, "it is kept, and empty");
        assert_eq!(of_size(count - 10), count - 10, "once");
        recycle(Vec::with_capacity(RECYCLED_IDS.end() + 1));
        recycle(Vec::with_capacity(RECYCLED_IDS.start() - 1));
        assert_eq!(of_size(count - 10), count - 10);
    }
}
