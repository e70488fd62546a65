//! Counts that do not fit into the memory limit. They stay in the temporary file, from which they can be
//! saved.

use std::path::Path;

use super::frequencies::Frequent;
use super::places::{ByteNumbers, ReservedPlaces};
use super::saved::Writer;
use super::spill::{SortedSlots, SpillFile};
use crate::control::Control;
use crate::error::{Error, Result};

/// Counts that are too many for the memory limit, in the temporary file of their counting.
#[derive(Debug)]
pub struct Oversized {
    /// The sections of each partition.
    pub(super) sections: Vec<Vec<SortedSlots>>,
    pub(super) spill: SpillFile,
    pub(super) spans: Vec<ReservedPlaces>,
    /// The distinct pretokens that occur at least so often, for some counts from 1 on.
    pub frequencies: Vec<Frequent>,
    /// The sum of all counts.
    pub total: u64,
    /// Bytes that the pretokens of the result take, and may take.
    pub(super) needed: u64,
    pub(super) room: u64,
}

impl Oversized {
    /// The number of distinct pretokens.
    pub fn unique(&self) -> u64 {
        self.frequencies.first().map_or(0, |all| all.pretokens)
    }

    /// A place after all occurrences.
    pub fn end_place(&self) -> u64 {
        self.spans.iter().map(|span| span.len).sum()
    }

    /// The error of these counts. It names the lowest minimum count with which the result would fit.
    pub fn error(&self) -> Error {
        let fits = |frequent: &&Frequent| frequent.memory <= self.room;
        let offer = self.frequencies.iter().find(fits).filter(|frequent| frequent.pretokens > 0);
        Error::TooManyUnique {
            unique: self.unique(),
            needed: self.needed,
            room: self.room,
            offer: offer.map(|frequent| (frequent.min_count, frequent.pretokens)),
        }
    }

    /// Appends all counts to a file, as [`super::PretokenCounts::append_to`] does, but in any order.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Spill`], [`Error::Interrupted`].
    pub fn append_to(&self, path: &Path, control: &Control) -> Result<()> {
        let numbers = ByteNumbers::new(&self.spans);
        let mut writer = Writer::append_to(path)?;
        for sections in &self.sections {
            self.spill.merge(sections.clone(), control, |slot, arena| {
                writer.push(slot.pretoken(arena), slot.count, numbers.of(slot.first))
            })?;
        }
        writer.end()
    }
}
