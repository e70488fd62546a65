//! The cache of a vocabulary's tokens, used by calls whose scratch has no cache of its own.
//!
//! As long as one call at a time needs it, that call has it alone and adds pretokens to it. So a process with one thread
//! learns from its first text on, without a copy. When two calls need it at once, it is shared, and read-only from then
//! on.
#![allow(unsafe_code)] // moves a box through an atomic pointer

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use once_cell::race::OnceBox;

use super::cache::Cache;

/// How long a call waits for another one that has the cache. It makes its own then, which takes about as long.
const MAX_WAIT: Duration = Duration::from_millis(2);

/// A cache that one call has alone, or that all share.
pub(super) struct Seeds {
    /// Null while a call has the cache, and when it is shared.
    alone: AtomicPtr<Cache>,
    shared: OnceBox<Cache>,
    /// Whether several calls have needed it at once.
    is_wanted: AtomicBool,
}

/// The cache that a call uses.
pub(super) enum Store<'a> {
    /// That of its scratch.
    Own(&'a mut Cache),
    /// The seeds, which no other call has.
    Alone(LentAlone<'a>),
    /// The seeds, which all share.
    Shared(&'a Cache),
}

/// The cache while one call has it; it goes back when this is dropped.
pub(super) struct LentAlone<'a> {
    seeds: &'a Seeds,
    cache: ManuallyDrop<Box<Cache>>,
}

impl Seeds {
    pub(super) fn new(cache: Cache) -> Self {
        let alone = AtomicPtr::new(Box::into_raw(Box::new(cache)));
        Seeds { alone, shared: OnceBox::new(), is_wanted: AtomicBool::new(false) }
    }

    /// The cache; `None` if a call has kept it for [`MAX_WAIT`], or a thread that does not exist since a fork.
    #[inline]
    pub(super) fn lend(&self) -> Option<Store<'_>> {
        if let Some(cache) = self.shared.get() {
            return Some(Store::Shared(cache));
        }
        if self.is_wanted.load(Ordering::Relaxed) {
            return self.share();
        }
        match self.take() {
            Some(cache) => Some(Store::Alone(LentAlone { seeds: self, cache: ManuallyDrop::new(cache) })),
            None => self.share(),
        }
    }

    /// Makes the cache shared: at once if no call has it, else when that call is done. Same result as [`Seeds::lend`].
    #[cold]
    pub(super) fn share(&self) -> Option<Store<'_>> {
        self.is_wanted.store(true, Ordering::Relaxed);
        let start = Instant::now();
        loop {
            if let Some(cache) = self.take() {
                let _ = self.shared.set(cache); // there is no other cache that could be set
            }
            if let Some(cache) = self.shared.get() {
                return Some(Store::Shared(cache));
            }
            if start.elapsed() > MAX_WAIT {
                return None;
            }
            thread::yield_now();
        }
    }

    #[inline]
    fn take(&self) -> Option<Box<Cache>> {
        let alone = self.alone.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: a pointer in `alone` is null or comes from `Box::into_raw`, and only who swaps it out has it. `Acquire`
        // pairs with the `Release` of the call that put it there, so all that it wrote is seen.
        (!alone.is_null()).then(|| unsafe { Box::from_raw(alone) })
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

impl Drop for Seeds {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl Deref for LentAlone<'_> {
    type Target = Cache;

    #[inline(always)]
    fn deref(&self) -> &Cache {
        &self.cache
    }
}

impl DerefMut for LentAlone<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Cache {
        &mut self.cache
    }
}

impl Drop for LentAlone<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the box is not used again.
        let cache = unsafe { ManuallyDrop::take(&mut self.cache) };
        // After a panic the cache may be half written: nobody gets it again.
        if !thread::panicking() {
            self.seeds.alone.store(Box::into_raw(cache), Ordering::Release);
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
                        assert!(!alone.swap(true, Ordering::Relaxed));
                        thread::yield_now();
                        alone.store(false, Ordering::Relaxed);
                    } else {
                        assert!(!alone.load(Ordering::Relaxed));
                    }
                }
            };
            thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(lend))));
            assert!(seeds.lend().is_some());
        }
    }
}
