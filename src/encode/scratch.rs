//! Working memory of an encoding thread, lent from call to call.

use std::sync::{Mutex, TryLockError};

use super::fragments::Fragments;
use super::growth::{self, OwnCache};
use super::hot_loop::HotLoop;
use super::lookup::Buffers;
use super::output::StagingBuffer;
use super::superwords;
use crate::merge::Merger;
use crate::pretokenize::ENDS;
use crate::simd::Isa;

/// Who asks for a scratch.
#[derive(Clone, Copy, Default)]
pub(super) struct Worker {
    /// Its number in the call, from 0 on. A worker gets the scratch that it had before, if that is free: when
    /// the same text is encoded again, the scratch's cache then knows this worker's part of it.
    pub(super) number: usize,
    /// About how many bytes of text it encodes in the call, or 0: a cache for a long text is made at full
    /// size at once.
    pub(super) bytes: usize,
}

impl From<usize> for Worker {
    fn from(number: usize) -> Self {
        Worker { number, bytes: 0 }
    }
}

/// Working memory for encoding. What it holds never changes a result.
pub(super) struct Scratch {
    pub(super) cache: OwnCache,
    pub(super) merger: Merger,
    pub(super) buffers: Buffers,
    pub(super) run: HotLoop,
    pub(super) fragments: Fragments,
    pub(super) superwords: superwords::Buffers,
    pub(super) staged: StagingBuffer,
    pub(super) ends: [usize; ENDS],
    /// Bytes of text encoded so far; those of small calls count for less.
    pub(super) seen: usize,
    /// Bytes of text encoded since the last check of the control.
    pub(super) unchecked: usize,
    /// The number of the worker that it was made for.
    worker: usize,
}

impl Scratch {
    /// Never inlined: it builds a scratch on the stack, and a caller would reserve that stack for every call.
    #[cold]
    #[inline(never)]
    fn boxed(isa: Isa, worker: usize) -> Box<Self> {
        Box::new(Scratch {
            cache: OwnCache::default(),
            merger: Merger::new(isa),
            buffers: Buffers::default(),
            run: HotLoop::default(),
            fragments: Fragments::default(),
            superwords: superwords::Buffers::default(),
            staged: StagingBuffer::default(),
            ends: [0; ENDS],
            seen: 0,
            unchecked: 0,
            worker,
        })
    }
}

/// The scratches that no call uses now.
///
/// A call waits some microseconds at most for the lock. A thread that holds the lock releases it in a moment;
/// a lock that was held when the process forked is never released in the child. A call that does not get the
/// lock makes a scratch of its own.
#[derive(Default)]
pub(super) struct ScratchPool(Mutex<Vec<Box<Scratch>>>);

/// The maximum number of scratches that are kept; each holds a cache of some megabytes.
const MAX_IDLE_SCRATCHES: usize = 16;
/// How often the lock is tried: some microseconds.
const MAX_LOCK_ATTEMPTS: usize = 100;

impl ScratchPool {
    /// Calls `f` with a scratch: the one that was made for this worker if it is free, else another, else a
    /// new one.
    pub(super) fn with<T>(
        &self,
        isa: Isa,
        worker: impl Into<Worker>,
        f: impl FnOnce(&mut Scratch) -> T,
    ) -> T {
        let Worker { number, bytes } = worker.into();
        let mut scratch =
            self.try_lock(|kept| take(kept, number)).flatten().unwrap_or_else(|| Scratch::boxed(isa, number));
        scratch.seen = growth::foreseen(scratch.seen, bytes);
        let result = f(&mut scratch);
        self.try_lock(|kept| {
            if kept.len() < MAX_IDLE_SCRATCHES {
                kept.push(scratch);
            }
        });
        result
    }

    fn try_lock<T>(&self, f: impl FnOnce(&mut Vec<Box<Scratch>>) -> T) -> Option<T> {
        for _ in 0..MAX_LOCK_ATTEMPTS {
            match self.0.try_lock() {
                Ok(mut kept) => return Some(f(&mut kept)),
                Err(TryLockError::Poisoned(poisoned)) => return Some(f(&mut poisoned.into_inner())),
                Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
            }
        }
        None
    }
}

fn take(kept: &mut Vec<Box<Scratch>>, worker: usize) -> Option<Box<Scratch>> {
    match kept.iter().rposition(|scratch| scratch.worker == worker) {
        Some(at) => Some(kept.swap_remove(at)),
        None => kept.pop(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_gets_what_was_made_for_it_and_others_what_is_there() {
        let (pool, isa) = (ScratchPool::default(), Isa::best());
        let seen = |worker| pool.with(isa, worker, |scratch| scratch.seen);
        // Three at once, so there are three.
        pool.with(isa, 0, |first| {
            pool.with(isa, 1, |second| {
                pool.with(isa, 2, |third| (first.seen, second.seen, third.seen) = (10, 11, 12));
            });
        });
        for worker in [2, 0, 1, 1, 0, 2] {
            assert_eq!(seen(worker), 10 + worker);
        }
        assert!(seen(7) >= 10 && seen(7) == seen(7), "what no user has comes from another");
        let long = Worker { number: 0, bytes: 1 << 30 };
        assert!(
            pool.with(isa, long, |scratch| scratch.seen) > 1 << 19,
            "its cache is made at full size at once"
        );
    }
}
