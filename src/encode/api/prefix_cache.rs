//! The ids of the beginnings of texts, kept for texts that begin in the same way.
//!
//! A text is cut into chunks, each at the first cut some bytes after the one before, so that texts with the same
//! beginning have the same first chunks. The ids of a chunk depend on its bytes alone. So it does not matter which text
//! it came from, and nothing that is kept can be out of date.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, TryLockError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use xxhash_rust::xxh64::xxh64;

use crate::control::Control;
use crate::encode::encoder::{Encoder, Request};
use crate::error::Result;
use crate::room;

/// Bytes of a chunk at least, where the text allows: of those that a lookup goes by, and of the smaller ones in which
/// the end of a text is kept, and of which the others are made.
const CHUNK_BYTES: [usize; 2] = if cfg!(test) { [32, 8] } else { [1 << 12, 1 << 9] };
/// Parts with a lock each at most, and bytes of each at least.
const MAX_SHARDS: usize = 16;
const MIN_SHARD_BYTES: usize = 1 << 16;
/// What a chunk takes besides its text and ids: its entry, its places in the order of use, and what allocators add.
const ENTRY_BYTES: usize = 192;
/// How often a lock is tried: some microseconds. Then the chunk is encoded: a child of `fork` must not wait for a thread
/// that it does not have.
const MAX_LOCK_ATTEMPTS: usize = 100;

/// Encodes texts of which many begin in the same way, such as the turns of conversations: from the last cut on up to
/// which the text is known. Any number of threads may use it at once.
///
/// Memory: `max_bytes` at most. What was used least recently goes first.
pub struct PrefixCache {
    encoder: Arc<Encoder>,
    special: bool,
    max_bytes: usize,
    shards: Vec<Mutex<Shard>>,
}

#[derive(Default)]
struct Shard {
    entries: HashMap<u64, Entry, FxBuildHasher>,
    /// Keys in the order of use, each with the time of that use. If a key was used later, this use does not count.
    uses: VecDeque<(u64, u64)>,
    time: u64,
    bytes: usize,
}

struct Entry {
    text: Vec<u8>,
    ids: Vec<u32>,
    used: u64,
}

impl Entry {
    fn bytes(&self) -> usize {
        self.text.capacity() + size_of::<u32>() * self.ids.capacity() + ENTRY_BYTES
    }
}

impl PrefixCache {
    /// An empty cache for at most `max_bytes` bytes.
    pub fn new(encoder: Arc<Encoder>, max_bytes: usize, special: bool) -> Self {
        let shards = (max_bytes / MIN_SHARD_BYTES).clamp(1, MAX_SHARDS);
        let shards = (0..shards).map(|_| Mutex::default()).collect();
        PrefixCache { encoder, special, max_bytes, shards }
    }

    /// Bytes of memory that it may take.
    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Bytes of memory that it takes now, but for what other threads are changing.
    pub fn bytes(&self) -> usize {
        self.shards.iter().filter_map(|shard| locked(shard, |shard| shard.bytes)).sum()
    }

    /// Appends the ids of a text, as [`Encoder::encode`] finds them.
    ///
    /// # Errors
    /// Same as [`Encoder::encode`].
    pub fn encode(&self, text: &[u8], ids: &mut Vec<u32>, control: &Control) -> Result<()> {
        self.encode_chunks((text, true), &CHUNK_BYTES, ids, control)
    }

    /// Appends the ids of a text, or of a part of one that does not begin with it, in chunks of the first of some sizes.
    fn encode_chunks(
        &self,
        (text, begins): (&[u8], bool),
        sizes: &[usize],
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let specials = self.encoder.active(self.special.into());
        let Some((&size, smaller)) = sizes.split_first() else {
            let request = Request { text, specials, worker: 0_usize.into(), is_first: begins };
            return self.encoder.answer(request, ids, control);
        };
        for range in self.encoder.chunks(text.into(), specials, size)? {
            let (part, is_first) = (&text[range.clone()], begins && range.start == 0);
            if part.len() < size && !smaller.is_empty() {
                self.encode_chunks((part, is_first), smaller, ids, control)?;
                continue;
            }
            let key = xxh64(part, is_first.into());
            let shard = &self.shards[key as usize % self.shards.len()];
            if locked(shard, |shard| shard.look_up(key, part, ids)).transpose()?.unwrap_or(false) {
                continue;
            }
            let start = ids.len();
            self.encode_chunks((part, is_first), smaller, ids, control)?;
            let entry = Entry { text: room::copied(part)?, ids: room::copied(&ids[start..])?, used: 0 };
            locked(shard, |shard| shard.insert(key, entry, self.max_bytes / self.shards.len()));
        }
        Ok(())
    }
}

impl Shard {
    /// Appends the ids of a chunk if they are known.
    fn look_up(&mut self, key: u64, text: &[u8], ids: &mut Vec<u32>) -> Result<bool> {
        let Some(entry) = self.entries.get_mut(&key).filter(|entry| entry.text == text) else {
            return Ok(false);
        };
        room::extend(ids, &entry.ids)?;
        self.time += 1;
        entry.used = self.time;
        self.note_use(key);
        Ok(true)
    }

    fn insert(&mut self, key: u64, mut entry: Entry, max_bytes: usize) {
        self.remove(key); // another thread may have added it, or another text has the same key
        if entry.bytes() > max_bytes || self.entries.try_reserve(1).is_err() {
            return;
        }
        while self.bytes + entry.bytes() > max_bytes {
            let Some((oldest, used)) = self.uses.pop_front() else { return };
            if self.is_last_use(oldest, used) {
                self.remove(oldest);
            }
        }
        self.time += 1;
        entry.used = self.time;
        self.bytes += entry.bytes();
        self.entries.insert(key, entry);
        self.note_use(key);
    }

    fn remove(&mut self, key: u64) {
        if let Some(entry) = self.entries.remove(&key) {
            self.bytes -= entry.bytes();
        }
    }

    fn is_last_use(&self, key: u64, used: u64) -> bool {
        self.entries.get(&key).is_some_and(|entry| entry.used == used)
    }

    fn note_use(&mut self, key: u64) {
        if self.uses.len() >= 2 * self.entries.len() + 16 {
            let mut uses = std::mem::take(&mut self.uses);
            uses.retain(|&(key, used)| self.is_last_use(key, used));
            self.uses = uses;
        }
        self.uses.push_back((key, self.time));
    }
}

/// Calls `f` with what is behind a lock, unless other threads keep it too long.
fn locked<T>(shard: &Mutex<Shard>, f: impl FnOnce(&mut Shard) -> T) -> Option<T> {
    for _ in 0..MAX_LOCK_ATTEMPTS {
        match shard.try_lock() {
            Ok(mut shard) => return Some(f(&mut shard)),
            Err(TryLockError::Poisoned(poisoned)) => return Some(f(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard_with(keys: &[u64], max_bytes: usize) -> Shard {
        let mut shard = Shard::default();
        for &key in keys {
            let entry = Entry { text: vec![key as u8; 8], ids: vec![key as u32], used: 0 };
            shard.insert(key, entry, max_bytes);
        }
        shard
    }

    #[test]
    fn what_was_used_least_recently_goes_first() {
        let size = 8 + 4 + ENTRY_BYTES;
        let mut shard = shard_with(&[1, 2, 3], 3 * size);
        assert_eq!(shard.bytes, 3 * size);
        let mut ids = Vec::new();
        for _ in 0..100 {
            assert!(shard.look_up(1, &[1; 8], &mut ids).unwrap());
        }
        assert_eq!(ids, [1; 100]);
        assert!(shard.uses.len() < 30);
        shard.insert(4, Entry { text: vec![4; 8], ids: vec![4], used: 0 }, 3 * size);
        let mut has = |key: u64| shard.look_up(key, &[key as u8; 8], &mut Vec::new()).unwrap();
        assert_eq!([1, 2, 3, 4].map(&mut has), [true, false, true, true]);
        assert_eq!(shard.bytes, 3 * size);
    }

    #[test]
    fn another_text_of_the_same_key_is_no_hit() {
        let mut shard = shard_with(&[7], 1000);
        let mut ids = Vec::new();
        assert!(!shard.look_up(7, b"another", &mut ids).unwrap());
        assert!(ids.is_empty());
        let entry = Entry { text: vec![0; 9000], ids: vec![], used: 0 };
        shard.insert(8, entry, 1000);
        assert!(!shard.entries.contains_key(&8), "what is larger than all memory is not kept");
    }
}
