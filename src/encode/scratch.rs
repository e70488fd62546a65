//! Working memory of one encoding thread, lent from call to call.

use std::sync::{Mutex, TryLockError};

use super::cache::Cache;
use crate::merge::Merger;

/// What encoding needs beside the text and the vocabulary. Never changes a result.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) cache: Cache,
    pub(super) merger: Merger,
    pub(super) ids: Vec<u32>,
    /// Bytes since the control was last looked at.
    pub(super) unchecked: usize,
}

/// Scratches not in use.
///
/// Never waits for its lock: a lock that another thread holds, or held when the process forked, only
/// means that this call makes a scratch of its own.
#[derive(Default)]
pub(super) struct Pool(Mutex<Vec<Scratch>>);

/// Scratches kept at the most; each holds a cache of about a megabyte.
const KEPT: usize = 16;

impl Pool {
    pub(super) fn with<T>(&self, f: impl FnOnce(&mut Scratch) -> T) -> T {
        let mut scratch = self.try_lock(Vec::pop).flatten().unwrap_or_default();
        let result = f(&mut scratch);
        self.try_lock(|kept| {
            if kept.len() < KEPT {
                kept.push(scratch);
            }
        });
        result
    }

    fn try_lock<T>(&self, f: impl FnOnce(&mut Vec<Scratch>) -> T) -> Option<T> {
        match self.0.try_lock() {
            Ok(mut kept) => Some(f(&mut kept)),
            Err(TryLockError::Poisoned(poisoned)) => Some(f(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}
