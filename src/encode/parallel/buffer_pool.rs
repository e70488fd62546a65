//! Vectors that the threads of a call reuse.

use std::sync::{Mutex, PoisonError};

/// Vectors that are not in use, with their capacity.
pub(super) struct BufferPool<T>(Mutex<Vec<Vec<T>>>);

impl<T> Default for BufferPool<T> {
    fn default() -> Self {
        BufferPool(Mutex::default())
    }
}

impl<T> BufferPool<T> {
    pub(super) fn take(&self) -> Vec<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub(super) fn give_back(&self, vec: Vec<T>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(vec);
    }

    pub(super) fn with<O>(&self, f: impl FnOnce(&mut Vec<T>) -> O) -> O {
        let mut vec = self.take();
        let result = f(&mut vec);
        self.give_back(vec);
        result
    }
}
