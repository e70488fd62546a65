//! The state of a counting, documents in memory, and the result.

use super::collect::collect;
use super::counts::{PretokenCounts, overflow, sum};
use super::options::CountOptions;
use super::partition::SharedCounts;
use super::places::ReservedPlaces;
use super::saved::Oversized;
use super::slot::CountSlot;
use crate::control::{Control, PRETOKENS_PER_CHECK};
use crate::error::Result;
use crate::pretokenize::Pretokenizer;
use crate::special::Specials;
use crate::workers::Lock;

/// Bytes of text for which a worker's table is made if nobody knows how much text will come. The table grows
/// with the text.
pub(super) const UNKNOWN_TEXT_BYTES: u64 = 1 << 20;

/// Finds and counts the pretokens of documents. Special tokens separate documents and are not counted.
pub struct Counting {
    pub(super) specials: Specials,
    pub(super) pretokenizer: Pretokenizer,
    pub(super) options: CountOptions,
    pub(super) shared: SharedCounts,
    pub(super) spans: Lock<Vec<ReservedPlaces>>,
    /// The place that the next document begins at.
    pub(super) place: u64,
    /// The sum of the counts of [`Counting::counts`]; `None` before the first of them.
    rows_total: Option<u64>,
}

impl Counting {
    /// A counting without documents.
    pub fn new(specials: Specials, pretokenizer: Pretokenizer, options: CountOptions) -> Self {
        let shared = SharedCounts::new(options.spill());
        Counting {
            specials,
            pretokenizer,
            options,
            shared,
            spans: Lock::default(),
            place: 0,
            rows_total: None,
        }
    }

    /// Adds pretokens with their counts, which may occur several times; empty ones and counts of 0 are left
    /// out. The result is then sorted by bytes, and must have no documents.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`]; [`crate::Error::Spill`]; [`crate::Error::CountOverflow`] if the sum of
    /// all counts passes 2^63.
    pub fn counts<'a>(
        &mut self,
        rows: impl Iterator<Item = (&'a [u8], u64)>,
        control: &Control,
    ) -> Result<()> {
        let mut total = self.rows_total.unwrap_or(0);
        let mut arena = Vec::new();
        for (number, (pretoken, count)) in rows.enumerate() {
            if number % PRETOKENS_PER_CHECK == 0 {
                control.check()?;
            }
            if pretoken.is_empty() || count == 0 {
                continue;
            }
            total = sum(total, count).ok_or_else(|| overflow(pretoken))?;
            arena.clear();
            let slot = CountSlot::of(pretoken, count, 0).stored(pretoken, &mut arena)?;
            self.shared.add(&slot, &arena)?;
        }
        self.rows_total = Some(total);
        Ok(())
    }

    /// Ends counting and returns the counts.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`]; [`crate::Error::Spill`]; [`crate::Error::TooManyUnique`] if the result
    /// does not fit into the memory limit; [`crate::Error::CountOverflow`].
    pub fn finish(self, control: &Control) -> Result<PretokenCounts> {
        self.outcome(control)?.map_err(|oversized| oversized.error())
    }

    /// [`Counting::finish`] that returns counts which do not fit into the memory limit in their temporary
    /// file.
    pub fn outcome(self, control: &Control) -> Result<std::result::Result<PretokenCounts, Oversized>> {
        let SharedCounts { partitions, spill } = self.shared;
        let partitions = partitions.into_iter().map(Lock::into_inner).collect();
        let (spans, by_bytes) = (self.spans.into_inner(), self.rows_total.is_some());
        collect(partitions, spill, spans, (&self.options, by_bytes), control)
    }

    /// How many times the contents of a partition were written to the temporary file, and its size in bytes.
    #[doc(hidden)]
    pub fn spilled(&self) -> (u64, u64) {
        self.shared.spill.as_ref().map_or((0, 0), |spill| (spill.count(), spill.bytes()))
    }

    /// The number of threads that can count together.
    pub(super) fn workers(&self) -> usize {
        if self.pretokenizer.is_parallel() { self.options.workers.max(1) } else { 1 }
    }
}
