//! A cache that a thread prepares while calls go on without it.
//!
//! A virtual machine whose host takes free memory back takes 3 to 14 ms for the 20 MB of a cache: a call that
//! makes it would take as much longer.

use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;

use super::Cache;

const STACK_BYTES: usize = 1 << 16;

/// An empty cache, whose memory a thread maps.
pub(in crate::encode) struct Preparation(Receiver<Cache>);

impl Preparation {
    /// Begins to prepare a cache of `1 << bits` buckets, of the kind of `from`.
    pub(in crate::encode) fn begin(from: &Cache, bits: u32) -> Self {
        let (isa, id_width) = (from.isa, from.id_width);
        let (sender, receiver) = mpsc::sync_channel(1);
        let prepare = move || {
            if let Some(mut cache) = Cache::unmapped(isa, id_width, bits) {
                cache.map();
                let _ = sender.send(cache); // fails if the scratch is gone
            }
        };
        let _ = thread::Builder::new().stack_size(STACK_BYTES).spawn(prepare);
        Preparation(receiver)
    }

    /// The cache.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`] until it is there, and for ever in a child that was forked meanwhile, which has
    /// no such thread; [`TryRecvError::Disconnected`] if there is no memory, or no thread.
    pub(in crate::encode) fn cache(&self) -> Result<Cache, TryRecvError> {
        self.0.try_recv()
    }

    #[cfg(test)]
    pub(super) fn wait(&self) -> Cache {
        self.0.recv().unwrap()
    }
}

#[cfg(test)]
impl From<Receiver<Cache>> for Preparation {
    fn from(receiver: Receiver<Cache>) -> Self {
        Preparation(receiver)
    }
}
