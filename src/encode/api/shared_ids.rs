//! Ids in one block of memory that readers share while more are added to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::error::Result;
use crate::room;

/// Memory for ids, shared by readers. A reader of the first n ids never sees them change: only ids beyond
/// those that anybody has seen are written while there are readers.
pub type IdView = Arc<[AtomicU32]>;

/// Ids that change from some place on, again and again.
#[derive(Debug, Default)]
pub(super) struct SharedIds {
    memory: IdView,
    /// How many ids readers may have seen.
    seen: usize,
}

impl SharedIds {
    /// Makes the memory hold `total` ids: those that it has before `unchanged`, and then `ids`. Returns it.
    pub(super) fn replace(
        &mut self,
        unchanged: usize,
        total: usize,
        ids: impl Iterator<Item = u32>,
    ) -> Result<IdView> {
        let has_room = total <= self.memory.len();
        let is_free = self.seen <= unchanged || Arc::get_mut(&mut self.memory).is_some();
        if unchanged < total && !(has_room && is_free) {
            // A quarter more, so that a text that grows is rarely copied.
            let mut more: Vec<AtomicU32> = room::for_items(total + total / 4 + 1024)?;
            more.extend(self.memory[..unchanged].iter().map(|id| AtomicU32::new(id.load(Relaxed))));
            more.extend(ids.map(AtomicU32::new));
            more.resize_with(more.capacity(), AtomicU32::default);
            (self.memory, self.seen) = (more.into(), total);
        } else {
            self.memory[unchanged..].iter().zip(ids).for_each(|(cell, id)| cell.store(id, Relaxed));
            let is_shared = Arc::get_mut(&mut self.memory).is_none();
            self.seen = if is_shared { self.seen.max(total) } else { total };
        }
        Ok(Arc::clone(&self.memory))
    }
}
