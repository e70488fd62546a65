//! A cache that a thread prepares while calls go on without it.
//!
//! A virtual machine whose host takes free memory back takes 3 to 14 ms for the 20 MB of a cache: a call that
//! makes it would take as much longer.

use std::sync::{Arc, Mutex, TryLockError};
use std::task::Poll;
use std::thread;

use super::cache::Cache;

const STACK_BYTES: usize = 1 << 16;

/// An empty cache, whose memory a thread maps.
///
/// The lock is only tried: a child that is forked meanwhile has no such thread.
pub(super) struct Preparation(Arc<Mutex<Option<Cache>>>);

impl Preparation {
    /// Begins to prepare a cache of `1 << bits` buckets, of the kind of `from`.
    pub(super) fn begin(from: &Cache, bits: u32) -> Self {
        let (isa, id_width) = (from.isa(), from.id_width());
        let made: Arc<Mutex<Option<Cache>>> = Arc::default();
        let kept = Arc::clone(&made);
        let prepare = move || {
            let Some(mut cache) = Cache::unmapped(isa, id_width, bits) else { return };
            cache.map();
            if let Ok(mut kept) = kept.lock() {
                *kept = Some(cache);
            }
        };
        let _ = thread::Builder::new().stack_size(STACK_BYTES).spawn(prepare);
        Preparation(made)
    }

    /// The cache, once it is there; ready without one if there is no memory, or no thread. Never ready in a
    /// child that was forked meanwhile.
    pub(super) fn poll(&self) -> Poll<Option<Cache>> {
        match self.0.try_lock() {
            Ok(mut cache) if cache.is_some() || Arc::strong_count(&self.0) == 1 => Poll::Ready(cache.take()),
            Err(TryLockError::Poisoned(_)) => Poll::Ready(None),
            _ => Poll::Pending,
        }
    }

    /// A preparation by a thread that does not exist, for as long as the other value lives.
    #[cfg(test)]
    pub(super) fn in_a_forked_child() -> (Self, impl Drop) {
        struct Missing(Arc<Mutex<Option<Cache>>>);
        impl Drop for Missing {
            fn drop(&mut self) {
                assert!(self.0.lock().unwrap().is_none());
            }
        }
        let made: Arc<Mutex<Option<Cache>>> = Arc::default();
        (Preparation(Arc::clone(&made)), Missing(made))
    }
}
