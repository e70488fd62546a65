//! Working memory of one encoding thread, lent from call to call.

use std::sync::{Mutex, TryLockError};

use super::cache::Cache;
use super::lookup::Buffers;
use super::output::Staged;
use super::run::Run;
use super::stretches::Stretches;
use crate::merge::Merger;
use crate::pretokenize::ENDS;
use crate::simd::Isa;

/// What encoding needs beside the text and the vocabulary. Never changes a result.
pub(super) struct Scratch {
    /// A copy of the encoder's cache, to be added to; made once there was text enough to be worth it.
    pub(super) cache: Option<Cache>,
    pub(super) merger: Merger,
    pub(super) buffers: Buffers,
    pub(super) run: Run,
    pub(super) stretches: Stretches,
    pub(super) staged: Staged,
    pub(super) ends: [usize; ENDS],
    /// Bytes encoded so far.
    pub(super) seen: usize,
    /// Bytes since the control was last looked at.
    pub(super) unchecked: usize,
    /// Whom it was made for.
    user: usize,
}

impl Scratch {
    /// Never inlined: it has room for one on the stack, and every call would look for all of that.
    #[cold]
    #[inline(never)]
    fn boxed(isa: Isa, user: usize) -> Box<Self> {
        Box::new(Scratch {
            cache: None,
            merger: Merger::new(isa),
            buffers: Buffers::default(),
            run: Run::default(),
            stretches: Stretches::default(),
            staged: Staged::default(),
            ends: [0; ENDS],
            seen: 0,
            unchecked: 0,
            user,
        })
    }
}

/// Scratches not in use.
///
/// Hardly waits for its lock: what another thread holds is free in a moment, and what one held when the process forked
/// never is; then this call makes a scratch of its own.
#[derive(Default)]
pub(super) struct Pool(Mutex<Vec<Box<Scratch>>>);

/// Scratches kept at the most; each holds a cache of some megabytes.
const KEPT: usize = 16;
/// Times that the lock is tried: some microseconds.
const TRIES: usize = 100;

impl Pool {
    /// Lends one: that which was made for this user, if it is there. Users are numbers of a caller's own, from 0 on; if
    /// one always has the same part of a text that is encoded again, its cache knows that part.
    pub(super) fn with<T>(&self, isa: Isa, user: usize, f: impl FnOnce(&mut Scratch) -> T) -> T {
        let mut scratch =
            self.try_lock(|kept| take(kept, user)).flatten().unwrap_or_else(|| Scratch::boxed(isa, user));
        let result = f(&mut scratch);
        self.try_lock(|kept| {
            if kept.len() < KEPT {
                kept.push(scratch);
            }
        });
        result
    }

    fn try_lock<T>(&self, f: impl FnOnce(&mut Vec<Box<Scratch>>) -> T) -> Option<T> {
        for _ in 0..TRIES {
            match self.0.try_lock() {
                Ok(mut kept) => return Some(f(&mut kept)),
                Err(TryLockError::Poisoned(poisoned)) => return Some(f(&mut poisoned.into_inner())),
                Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
            }
        }
        None
    }
}

fn take(kept: &mut Vec<Box<Scratch>>, user: usize) -> Option<Box<Scratch>> {
    match kept.iter().rposition(|scratch| scratch.user == user) {
        Some(at) => Some(kept.swap_remove(at)),
        None => kept.pop(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_gets_what_was_made_for_it_and_others_what_is_there() {
        let (pool, isa) = (Pool::default(), Isa::best());
        let seen = |user| pool.with(isa, user, |scratch| scratch.seen);
        // Three at once, so there are three.
        pool.with(isa, 0, |first| {
            pool.with(isa, 1, |second| {
                pool.with(isa, 2, |third| (first.seen, second.seen, third.seen) = (10, 11, 12));
            });
        });
        for user in [2, 0, 1, 1, 0, 2] {
            assert_eq!(seen(user), 10 + user);
        }
        assert!(seen(7) >= 10 && seen(7) == seen(7), "what no user has comes from another");
    }
}
