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
}

impl Scratch {
    /// Never inlined: it has room for one on the stack, and every call would look for all of that.
    #[cold]
    #[inline(never)]
    fn boxed(isa: Isa) -> Box<Self> {
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
        })
    }
}

/// Scratches not in use.
///
/// Never waits for its lock: a lock that another thread holds, or held when the process forked, only
/// means that this call makes a scratch of its own.
#[derive(Default)]
pub(super) struct Pool(Mutex<Vec<Box<Scratch>>>);

/// Scratches kept at the most; each holds a cache of some megabytes.
const KEPT: usize = 16;

impl Pool {
    pub(super) fn with<T>(&self, isa: Isa, f: impl FnOnce(&mut Scratch) -> T) -> T {
        let mut scratch = self.try_lock(Vec::pop).flatten().unwrap_or_else(|| Scratch::boxed(isa));
        let result = f(&mut scratch);
        self.try_lock(|kept| {
            if kept.len() < KEPT {
                kept.push(scratch);
            }
        });
        result
    }

    fn try_lock<T>(&self, f: impl FnOnce(&mut Vec<Box<Scratch>>) -> T) -> Option<T> {
        match self.0.try_lock() {
            Ok(mut kept) => Some(f(&mut kept)),
            Err(TryLockError::Poisoned(poisoned)) => Some(f(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}
