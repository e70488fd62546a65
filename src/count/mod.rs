//! Documents → counts of pretokens, in parallel.
//!
//! - `local_counts`: the hot loop. A small table of the worker counts nineteen of twenty pretokens.
//! - `worker`: brings what that table displaces to the shared tables, some thousands of slots at a time. The
//!   table grows with the text that the worker has counted.
//! - `partition`, `log`: the shared tables, one for each part of all hashes: an index, and the slots. Each
//!   pretoken belongs to one of them, so nothing has to be merged at the end.
//! - `spill`: if memory is limited, a full table is sorted and written to a temporary file. Sums of counts,
//!   and least places, do not depend on the order of their terms, so the result is the same.
//! - `collect`: makes the result, `counts`, from all tables; `saved` if it does not fit into memory. Its
//!   pretokens are sorted when their order is first asked for (`slots`, `places`).
//! - `files`: files of all kinds, in the chunks of [`crate::source`].
//! - `batches`: documents in memory.

mod batches;
mod collect;
mod counting;
mod counts;
mod files;
mod frequencies;
mod local_counts;
mod log;
mod options;
mod partition;
mod places;
mod saved;
mod slot;
mod slots;
mod spill;
mod worker;

pub use crate::source::{DocumentFormat, InputFile};
pub use counting::Counting;
pub(crate) use counts::MAX_COUNT;
pub use counts::{CountedPretoken, PretokenCounts};
pub use frequencies::Frequent;
pub use options::CountOptions;
pub use saved::Oversized;
