//! The tokens on one side of the occurrences of the pair that is merged.

use crate::error::Result;
use crate::room;

/// Occurrences whose memory is kept from merge to merge.
const MAX_IDLE_OCCURRENCES: usize = 1 << 20;

/// One distinct neighbour, and the sums for it.
pub(super) struct Neighbour {
    pub(super) token: u32,
    /// Occurrences beside it, each counted once for its word.
    pub(super) places: u32,
    /// Occurrences beside it, weighted.
    pub(super) count: u64,
    /// For a neighbour on the left, the cells from its start to that of the occurrence.
    pub(super) back: u32,
    /// The number in the index that the broken-up pair with this neighbour may have.
    pub(super) pair: Option<u32>,
    /// The index in the pool of the next posting of the new pair with this neighbour.
    pub(super) cursor: usize,
}

/// Sums for each distinct neighbour, so that the index is changed once for each of them and not for each
/// occurrence.
#[derive(Default)]
pub(super) struct Neighbours {
    /// For each token, its index in `distinct`. It is never cleared: an entry is valid only if `distinct` has
    /// the token there.
    slots: Vec<u32>,
    /// The distinct neighbours.
    pub(super) distinct: Vec<Neighbour>,
    /// For each occurrence, in the order of the text, the index of its neighbour in `distinct`, and its
    /// position.
    pub(super) occurrences: Vec<(u32, u32)>,
}

impl Neighbours {
    /// Removes all neighbours and makes room for ids below `tokens`.
    pub(super) fn clear(&mut self, tokens: usize) -> Result<()> {
        let more = tokens.saturating_sub(self.slots.len());
        room::reserve(&mut self.slots, more)?;
        self.slots.resize(tokens, 0);
        self.distinct.clear();
        self.occurrences.clear();
        self.occurrences.shrink_to(MAX_IDLE_OCCURRENCES);
        Ok(())
    }

    /// Makes room for `more` occurrences.
    pub(super) fn make_room(&mut self, more: usize) -> Result<()> {
        room::reserve(&mut self.occurrences, more)?;
        room::reserve(&mut self.distinct, more)
    }

    /// Adds the neighbour `token` of the occurrence at `position`. Returns whether the neighbour is new.
    // As a call of its own, which the compiler prefers, it makes the merges of a training 3% slower.
    #[inline(always)]
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

    /// The sums for `token`, if it is a neighbour.
    pub(super) fn get_mut(&mut self, token: u32) -> Option<&mut Neighbour> {
        let slot = self.slots[token as usize] as usize;
        self.distinct.get_mut(slot).filter(|neighbour| neighbour.token == token)
    }
}
