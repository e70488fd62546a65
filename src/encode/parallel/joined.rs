//! Ids that several threads find, joined in the order of what they encode.
#![allow(unsafe_code)] // sets the length of memory that the threads filled

use std::mem::{self, MaybeUninit};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::control::Control;
use crate::encode::output::{IdType, memory_for, trimmed};
use crate::error::Result;
use crate::room;
use crate::workers::{self, BufferPool};

/// Runs `work` on each of the `jobs` on up to `workers` threads, and returns the ids of all of them in the
/// order of the jobs, of which there are rarely more than `capacity`; memory for so many is asked for, and
/// what is not needed is never touched. `work` adds the ids of a job to a list. `place` is called for each
/// job in order, with the number of ids before it, the number of its own ids, and what `work` returned.
///
/// The threads copy their ids into the result themselves, in any order: one thread that did it for all would
/// be what many threads wait for, because the system clears each page of the result at its first use.
///
/// # Errors
/// The error of the first job for which `work` or `place` failed; [`crate::Error::IdTooWide`].
pub(super) fn joined<T: IdType, J: Send, X: Send>(
    (capacity, workers): (usize, usize),
    control: &Control,
    mut jobs: impl Iterator<Item = J> + Send,
    work: impl Fn(usize, J, &mut Vec<u32>) -> Result<X> + Sync,
    mut place: impl FnMut(usize, usize, X) -> Result<()> + Send,
) -> Result<Vec<T>> {
    let mut memory = memory_for::<T>(capacity);
    if workers <= 1
        && let Some(all) = T::as_u32(&mut memory)
    {
        // On this thread, which adds all ids to the result at once.
        for job in jobs {
            let before = all.len();
            let extra = work(0, job, all)?;
            place(before, all.len() - before, extra)?;
        }
        return Ok(trimmed(memory));
    }
    let (mut open, mut late) = (memory.spare_capacity_mut(), Vec::new());
    let (mut count, copied) = (0, AtomicUsize::new(0));
    // Reused by the next jobs: freeing memory and having the system clear it again takes long.
    let spare = BufferPool::default();
    let give_back = |mut ids: Vec<u32>| {
        ids.clear();
        spare.give_back(ids);
    };
    let work = |worker, job| {
        let mut ids = spare.take();
        let extra = work(worker, job, &mut ids)?;
        Ok((ids, extra))
    };
    let copy = |(slot, ids): (&mut [MaybeUninit<T>], Vec<u32>)| {
        T::fill(&ids, slot)?;
        copied.fetch_add(ids.len(), Relaxed);
        give_back(ids);
        Ok(())
    };
    let mut take = |(ids, extra): (Vec<u32>, X)| {
        place(count, ids.len(), extra)?;
        count += ids.len();
        if late.is_empty() && ids.len() <= open.len() {
            let slot;
            (slot, open) = mem::take(&mut open).split_at_mut(ids.len());
            return Ok(Some((slot, ids)));
        }
        T::append(&ids, &mut late)?;
        give_back(ids);
        Ok(None)
    };
    workers::placed(workers, control, || Ok(jobs.next()), work, |part| take(part).map(Vec::from_iter), copy)?;
    let copied = copied.into_inner();
    assert_eq!(copied + late.len(), count);
    // SAFETY: slots were cut from the spare capacity from its start on, without gaps. Each was given to one
    // call of `copy`, which has filled it if it counted it, and as many ids were counted as all slots have.
    unsafe { memory.set_len(copied) };
    room::extend(&mut memory, &late)?;
    Ok(trimmed(memory))
}
