//! A value that is made when it is first asked for, so that a forked child never waits for it.
//!
//! A child of `fork` has a copy of all memory, but only the thread that forked. What another thread of the
//! parent had locked, or was making, stays locked or half made in the child for ever. `std::sync::OnceLock`
//! waits for the thread that makes its value, so in such a child it would wait for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use once_cell::race::OnceBox;

/// How long a thread sleeps between two looks at a value that another thread makes. Chosen without
/// measurement.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// How often a thread looks before it makes the value itself: about ten seconds, chosen without measurement.
/// Only a child with the same process id as its parent (in another namespace) waits that long, or a thread on
/// an overloaded machine.
const MAX_POLLS: usize = 10_000;

/// A cell that is empty until its value is asked for.
///
/// If several threads ask at once, one makes the value and the others of its process wait. Nothing is locked
/// meanwhile: the cell holds the id of the process whose thread makes the value. A child finds the id of its
/// parent there, which is not its own, so the first of its threads that asks makes the value anew.
#[derive(Debug)]
pub(crate) struct Once<T> {
    value: OnceBox<T>,
    /// The id of the process whose thread makes the value; 0 if none does.
    maker: AtomicU32,
}

impl<T> Once<T> {
    pub(crate) const fn new() -> Self {
        Once { value: OnceBox::new(), maker: AtomicU32::new(0) }
    }

    /// The value, if it was made.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// The value, made by `make` if there is none yet. Threads make it one at a time, but it can be made more
    /// than once (by a child process, or by a thread that has waited for [`MAX_POLLS`]), so `make` must
    /// return the same value each time.
    #[inline]
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> T) -> &T {
        match self.value.get() {
            Some(value) => value,
            None => self.make(make),
        }
    }

    #[cold]
    #[inline(never)]
    fn make(&self, make: impl FnOnce() -> T) -> &T {
        let _claim = self.claim();
        // `get_or_init` looks again: another thread may have made the value before it released its claim.
        self.value.get_or_init(|| Box::new(make()))
    }

    /// Waits until no other thread of this process makes the value. `None` if the value is there by then, or
    /// after [`MAX_POLLS`].
    fn claim(&self) -> Option<Claim<'_>> {
        let own = std::process::id();
        for _ in 0..MAX_POLLS {
            let maker = self.maker.load(Ordering::Acquire);
            if maker != own {
                let taken = self.maker.compare_exchange(maker, own, Ordering::AcqRel, Ordering::Relaxed);
                if taken.is_ok() {
                    return Some(Claim(&self.maker));
                }
            } else {
                std::thread::sleep(POLL_INTERVAL);
            }
            if self.value.get().is_some() {
                break;
            }
        }
        None
    }
}

/// Resets the maker when it is dropped, also after a panic.
struct Claim<'o>(&'o AtomicU32);

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Once::new()
    }
}

impl<T> From<T> for Once<T> {
    fn from(value: T) -> Self {
        Once { value: OnceBox::with_value(Box::new(value)), maker: AtomicU32::new(0) }
    }
}

impl<T: Clone> Clone for Once<T> {
    fn clone(&self) -> Self {
        Once { value: self.value.clone(), maker: AtomicU32::new(0) }
    }
}

impl<T> Once<Arc<T>> {
    /// The value itself, if there is one and nobody else holds it.
    pub(crate) fn into_inner(self) -> Option<T> {
        let value = self.value.get().cloned();
        drop(self);
        Arc::into_inner(value?)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    #[test]
    fn a_value_is_made_by_one_of_the_threads_that_ask_for_it() {
        let (once, made, start) = (Once::new(), AtomicUsize::new(0), Barrier::new(8));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    let value = once.get_or_make(|| {
                        std::thread::sleep(Duration::from_millis(20));
                        made.fetch_add(1, Relaxed) + 7
                    });
                    assert_eq!(*value, 7);
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
    }

    #[test]
    fn a_value_that_another_process_makes_is_not_waited_for() {
        let once: Once<u32> = Once::new();
        once.maker.store(std::process::id() ^ 1, Relaxed);
        assert_eq!(*once.get_or_make(|| 5), 5);
        assert_eq!((once.get().copied(), once.maker.into_inner()), (Some(5), 0));
    }

    #[test]
    fn after_a_panic_the_next_thread_makes_the_value() {
        let once: Once<u32> = Once::new();
        let panics = || once.get_or_make(|| std::panic::resume_unwind(Box::new(()))).to_owned();
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        assert_eq!(*once.get_or_make(|| 6), 6);
    }

    #[test]
    fn into_inner_gives_the_value_to_its_only_owner() {
        let once = Once::from(Arc::new(String::from("it")));
        assert_eq!(once.clone().into_inner(), None, "the original has it too");
        assert_eq!(once.into_inner().as_deref(), Some("it"));
        assert_eq!(Once::<Arc<u32>>::new().into_inner(), None);
    }
}
