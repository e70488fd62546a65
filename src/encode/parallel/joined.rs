//! Ids that several threads find, joined in the order of what they encode.
#![allow(unsafe_code)] // sets the length of memory that the threads filled

use std::mem::{self, MaybeUninit};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::control::Control;
use crate::encode::output::{IdBuffer, IdType};
use crate::error::Result;
use crate::room;
use crate::workers::{self, BufferPool};

/// Runs `work` on each of the `jobs` on up to `workers` threads, and returns the ids of all of them in the order of the
/// jobs, of which there are rarely more than `capacity`; memory for so many is asked for, and what is not needed is never
/// touched. `work` adds the ids of a job to a list, and returns how many of the `total` bytes or characters they encode.
/// `place` is called for each job in order, with the number of ids before it, the number of its own ids, and what `work`
/// returned beside.
///
/// The threads copy their ids into the result themselves, in any order: one thread that did it for all would be what
/// many threads wait for, because the system clears each page of the result at its first use.
///
/// # Errors
/// The error of the first job for which `work` or `place` failed; [`crate::Error::IdTooWide`].
pub(super) fn joined<T: IdType, J: Send, X: Send>(
    (total, capacity, workers): (usize, usize, usize),
    control: &Control,
    mut jobs: impl Iterator<Item = J> + Send,
    work: impl Fn(usize, J, &mut Vec<u32>) -> Result<(usize, X)> + Sync,
    mut place: impl FnMut(usize, usize, X) -> Result<()> + Send,
) -> Result<Vec<T>> {
    if workers <= 1 && T::IS_WIDE {
        return alone(total, jobs, work, place);
    }
    let mut memory = IdBuffer::<T>::memory(total, capacity);
    let (mut open, mut late) = (memory.spare_capacity_mut(), IdBuffer::<T>::empty(total));
    let (mut count, copied) = (0, AtomicUsize::new(0));
    // Reused by the next jobs: freeing memory and having the system clear it again takes long.
    let spare = BufferPool::default();
    let give_back = |mut ids: Vec<u32>| {
        ids.clear();
        spare.give_back(ids);
    };
    let work = |worker, job| {
        let mut ids = spare.take();
        let (done, extra) = work(worker, job, &mut ids)?;
        Ok((ids, done, extra))
    };
    let copy = |(slot, ids): (&mut [MaybeUninit<T>], Vec<u32>)| {
        T::fill(&ids, slot)?;
        copied.fetch_add(ids.len(), Relaxed);
        give_back(ids);
        Ok(())
    };
    let mut take = |(ids, done, extra): (Vec<u32>, usize, X)| {
        place(count, ids.len(), extra)?;
        count += ids.len();
        if late.ids.is_empty() && ids.len() <= open.len() {
            let slot;
            (slot, open) = mem::take(&mut open).split_at_mut(ids.len());
            late.elsewhere(done);
            return Ok(Some((slot, ids)));
        }
        T::append(&ids, &mut late.ids)?;
        late.done(done)?;
        give_back(ids);
        Ok(None)
    };
    workers::placed(workers, control, || Ok(jobs.next()), work, |part| take(part).map(Vec::from_iter), copy)?;
    let copied = copied.into_inner();
    assert_eq!(copied + late.ids.len(), count);
    // SAFETY: slots were cut from the spare capacity from its start on, without gaps. Each was given to one call of
    // `copy`, which has filled it if it counted it, and as many ids were counted as all slots have.
    unsafe { memory.set_len(copied) };
    if !late.ids.is_empty() {
        room::extend(&mut memory, &late.ids)?;
    }
    Ok(IdBuffer::trimmed(memory))
}

/// [`joined`] on this thread, which adds all ids to the result at once.
fn alone<T: IdType, J, X>(
    total: usize,
    jobs: impl Iterator<Item = J>,
    work: impl Fn(usize, J, &mut Vec<u32>) -> Result<(usize, X)>,
    mut place: impl FnMut(usize, usize, X) -> Result<()>,
) -> Result<Vec<T>> {
    let mut all = IdBuffer::<T>::new(total);
    for job in jobs {
        let Some(ids) = T::as_u32(&mut all.ids) else { break };
        let before = ids.len();
        let (done, extra) = work(0, job, ids)?;
        place(before, ids.len() - before, extra)?;
        all.done(done)?;
    }
    Ok(all.finish())
}
