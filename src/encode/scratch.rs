//! Working memory of one encoding thread, lent from call to call.

use std::sync::{Mutex, TryLockError};

use super::cache::Cache;
use super::fragments::Fragments;
use super::hot_loop::HotLoop;
use super::lookup::Buffers;
use super::output::StagingBuffer;
use crate::merge::Merger;
use crate::pretokenize::ENDS;
use crate::simd::Isa;

/// What encoding needs beside the text and the vocabulary. Never changes a result.
pub(super) struct Scratch {
    /// A copy of the encoder's cache, to be added to; made once there was text enough to be worth it.
    pub(super) cache: Option<Cache>,
    pub(super) merger: Merger,
    pub(super) buffers: Buffers,
    pub(super) run: HotLoop,
    pub(super) fragments: Fragments,
    pub(super) staged: StagingBuffer,
    pub(super) ends: [usize; ENDS],
    /// Bytes encoded so far.
    pub(super) seen: usize,
    /// Bytes since the control was last looked at.
    pub(super) unchecked: usize,
    /// Whom it was made for.
    worker: usize,
}

impl Scratch {
    /// Never inlined: it has room for one on the stack, and every call would look for all of that.
    #[cold]
    #[inline(never)]
    fn boxed(isa: Isa, worker: usize) -> Box<Self> {
        Box::new(Scratch {
            cache: None,
            merger: Merger::new(isa),
            buffers: Buffers::default(),
            run: HotLoop::default(),
            fragments: Fragments::default(),
            staged: StagingBuffer::default(),
            ends: [0; ENDS],
            seen: 0,
            unchecked: 0,
            worker,
        })
    }
}

/// Scratches not in use.
///
/// Hardly waits for its lock: what another thread holds is free in a moment, and what one held when the process forked
/// never is; then this call makes a scratch of its own.
#[derive(Default)]
pub(super) struct ScratchPool(Mutex<Vec<Box<Scratch>>>);

/// Scratches kept at the most; each holds a cache of some megabytes.
const MAX_IDLE_SCRATCHES: usize = 16;
/// Times that the lock is tried: some microseconds.
const MAX_LOCK_ATTEMPTS: usize = 100;

impl ScratchPool {
    /// Lends one: that which was made for this user, if it is there. Users are numbers of a caller's own, from 0 on; if
    /// one always has the same part of a text that is encoded again, its cache knows that part.
    pub(super) fn with<T>(&self, isa: Isa, worker: usize, f: impl FnOnce(&mut Scratch) -> T) -> T {
        let mut scratch =
            self.try_lock(|kept| take(kept, worker)).flatten().unwrap_or_else(|| Scratch::boxed(isa, worker));
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
    }
}
