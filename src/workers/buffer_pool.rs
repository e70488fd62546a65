//! Vectors that the threads of a call reuse.

use super::lock::Lock;

/// Vectors that are not in use, with their capacity.
pub(crate) struct BufferPool<T> {
    idle: Lock<Vec<Vec<T>>>,
    /// The maximum capacity of a vector that is kept.
    max_capacity: usize,
}

impl<T> Default for BufferPool<T> {
    fn default() -> Self {
        Self::up_to(usize::MAX)
    }
}

impl<T> BufferPool<T> {
    /// A pool that keeps vectors for up to `max_capacity` items, and frees longer ones.
    pub(crate) fn up_to(max_capacity: usize) -> Self {
        BufferPool { idle: Lock::default(), max_capacity }
    }

    pub(crate) fn take(&self) -> Vec<T> {
        self.idle.lock().pop().unwrap_or_default()
    }

    pub(crate) fn give_back(&self, vec: Vec<T>) {
        if vec.capacity() <= self.max_capacity {
            self.idle.lock().push(vec);
        }
    }

    pub(crate) fn with<O>(&self, f: impl FnOnce(&mut Vec<T>) -> O) -> O {
        let mut vec = self.take();
        let result = f(&mut vec);
        self.give_back(vec);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_kept_unless_it_is_too_long() {
        let pool = BufferPool::up_to(10);
        pool.with(|vec| vec.reserve_exact(10));
        assert_eq!(pool.with(|vec: &mut Vec<u8>| vec.capacity()), 10);
        pool.with(|vec| vec.reserve_exact(11));
        assert_eq!(pool.take().capacity(), 0);
    }
}
