//! The cache of a vocabulary's tokens, used by calls whose scratch has no cache of its own.
//!
//! As long as one call at a time needs it, that call has it alone and adds pretokens to it. So a process with
//! one thread learns from its first text on, without a copy. When two calls need it at once, it is shared,
//! and read-only from then on.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::cache::Cache;

/// How long a call waits for another one that has the cache. It makes its own then, which takes about as
/// long.
const MAX_WAIT: Duration = Duration::from_millis(2);

/// A cache that one call has alone, or that all share.
pub(super) struct Seeds {
    cache: RwLock<Cache>,
    /// Whether several calls have needed it at once: then it is only read.
    is_shared: AtomicBool,
}

/// The cache that a call uses.
pub(super) enum Store<'a> {
    /// That of its scratch.
    Own(&'a mut Cache),
    /// The seeds, which no other call has.
    Alone(RwLockWriteGuard<'a, Cache>),
    /// The seeds, which all share.
    Shared(RwLockReadGuard<'a, Cache>),
}

impl Seeds {
    pub(super) fn new(cache: Cache) -> Self {
        Seeds { cache: RwLock::new(cache), is_shared: AtomicBool::new(false) }
    }

    /// The cache; `None` if a call has kept it for [`MAX_WAIT`], a panic has left it half written, or a
    /// thread had it that does not exist since a fork.
    #[inline]
    pub(super) fn lend(&self) -> Option<Store<'_>> {
        if !self.is_shared.load(Relaxed)
            && let Ok(cache) = self.cache.try_write()
        {
            return Some(Store::Alone(cache));
        }
        self.share()
    }

    /// Shares the cache: at once if no call has it alone, else when that call is done. Same result as
    /// [`Seeds::lend`].
    pub(super) fn share(&self) -> Option<Store<'_>> {
        self.is_shared.store(true, Relaxed);
        let mut start = None;
        loop {
            match self.cache.try_read() {
                Ok(cache) => return Some(Store::Shared(cache)),
                Err(TryLockError::Poisoned(_)) => return None,
                Err(TryLockError::WouldBlock) => {}
            }
            if start.get_or_insert_with(Instant::now).elapsed() > MAX_WAIT {
                return None;
            }
            thread::yield_now();
        }
    }
}

impl Store<'_> {
    #[inline(always)]
    pub(super) fn cache(&self) -> &Cache {
        match self {
            Store::Own(cache) => cache,
            Store::Alone(cache) => cache,
            Store::Shared(cache) => cache,
        }
    }

    /// The cache, if the call may add to it.
    #[inline(always)]
    pub(super) fn writable(&mut self) -> Option<&mut Cache> {
        match self {
            Store::Own(cache) => Some(cache),
            Store::Alone(cache) => Some(cache),
            Store::Shared(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::sync::Barrier;

    use super::*;
    use crate::encode::cache::IdWidth;
    use crate::simd::Isa;

    fn seeds() -> Seeds {
        Seeds::new(Cache::with_bits(Isa::best(), IdWidth::U32, 5))
    }

    fn is_shared(store: Option<&Store<'_>>) -> bool {
        matches!(store, Some(Store::Shared(_)))
    }

    #[test]
    fn one_call_at_a_time_has_the_seeds_alone_until_two_need_them() {
        let seeds = seeds();
        for _ in 0..3 {
            assert!(seeds.lend().is_some_and(|mut store| store.writable().is_some()));
        }
        let alone = seeds.lend();
        assert!(seeds.lend().is_none(), "another call has them");
        drop(alone);
        assert!(is_shared(seeds.lend().as_ref()) && is_shared(seeds.lend().as_ref()));
        assert!(seeds.lend().is_some_and(|mut store| store.writable().is_none()));
    }

    #[test]
    fn seeds_are_shared_at_once_for_several_threads() {
        let seeds = seeds();
        assert!(is_shared(seeds.share().as_ref()));
        assert!(is_shared(seeds.lend().as_ref()) && is_shared(seeds.share().as_ref()));
    }

    #[test]
    fn seeds_that_a_panic_may_have_left_half_written_are_not_lent_again() {
        let seeds = seeds();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _alone = seeds.lend();
            resume_unwind(Box::new("a panic while the call has the seeds"));
        }));
        assert!(panicked.is_err() && seeds.lend().is_none());
    }

    #[test]
    fn no_two_threads_have_the_seeds_alone_and_none_has_them_beside_sharers() {
        for _ in 0..200 {
            let (seeds, start, alone) = (seeds(), Barrier::new(4), AtomicBool::new(false));
            let lend = || {
                start.wait();
                for _ in 0..10 {
                    let Some(mut store) = seeds.lend() else { continue }; // after the full wait, under load
                    if store.writable().is_some() {
                        assert!(!alone.swap(true, Relaxed));
                        thread::yield_now();
                        alone.store(false, Relaxed);
                    } else {
                        assert!(!alone.load(Relaxed));
                    }
                }
            };
            thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(lend))));
            assert!(seeds.lend().is_some());
        }
    }
}
