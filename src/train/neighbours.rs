//! The tokens on one side of the occurrences of the pair that is being merged.

use crate::error::Result;
use crate::room;

/// Room for occurrences that is kept from one merge to the next.
const MAX_IDLE_OCCURRENCES: usize = 1 << 20;

/// One distinct neighbour.
pub(super) struct Neighbour {
    pub(super) token: u32,
    /// Occurrences beside it, each word once.
    pub(super) places: u32,
    /// Occurrences beside it, weighted.
    pub(super) count: u64,
    /// Cells from its start to that of the occurrence, where it stands before it.
    pub(super) back: u32,
    /// The number that the pair which is broken up with it may have.
    pub(super) pair: Option<u32>,
    /// Where its next posting goes.
    pub(super) cursor: usize,
}

/// Sums by neighbour: the index is then asked once for each distinct neighbour, not for each occurrence.
#[derive(Default)]
pub(super) struct Neighbours {
    /// Where in `distinct` a token may stand. Never cleared: an entry holds only if `distinct` agrees.
    slots: Vec<u32>,
    pub(super) distinct: Vec<Neighbour>,
    /// Slot and position of each occurrence, in text order.
    pub(super) occurrences: Vec<(u32, u32)>,
}

impl Neighbours {
    /// Forgets everything, with room for `tokens` ids.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub(super) fn clear(&mut self, tokens: usize) -> Result<()> {
        let more = tokens.saturating_sub(self.slots.len());
        room::reserve(&mut self.slots, more)?;
        self.slots.resize(tokens, 0);
        self.distinct.clear();
        self.occurrences.clear();
        self.occurrences.shrink_to(MAX_IDLE_OCCURRENCES);
        Ok(())
    }

    /// Makes room to note so many more.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub(super) fn make_room(&mut self, more: usize) -> Result<()> {
        room::reserve(&mut self.occurrences, more)?;
        room::reserve(&mut self.distinct, more)
    }

    /// Notes that `token` stands beside the occurrence at `position`. Returns whether it is new.
    #[inline]
    pub(super) fn note(&mut self, token: u32, position: u32, weight: u64) -> bool {
        let slot = self.slots[token as usize];
        match self.distinct.get_mut(slot as usize) {
            Some(neighbour) if neighbour.token == token => {
                neighbour.places += 1;
                neighbour.count += weight;
                self.occurrences.push((slot, position));
                false
            }
            _ => {
                let slot = self.distinct.len() as u32;
                self.slots[token as usize] = slot;
                self.distinct.push(Neighbour {
                    token,
                    places: 1,
                    count: weight,
                    back: 0,
                    pair: None,
                    cursor: 0,
                });
                self.occurrences.push((slot, position));
                true
            }
        }
    }

    /// The sum for `token`.
    pub(super) fn get_mut(&mut self, token: u32) -> Option<&mut Neighbour> {
        let slot = self.slots[token as usize] as usize;
        self.distinct.get_mut(slot).filter(|neighbour| neighbour.token == token)
    }
}
