//! Documents → pretoken counts, in parallel.
//!
//! - `local_counts`: the hot loop. A worker's own small table counts nineteen of twenty pretokens.
//! - `worker`: what is displaced from that table goes to the shared tables, some thousands at a time. The worker's
//!   table grows with the text that it has counted.
//! - `partition`, `log`: the shared tables, by hash: an index and its slots. Each pretoken is in one of them, so
//!   there is nothing to merge in the end.
//! - `spill`: where memory is limited, a full table is written to a temporary file, sorted. Sums of counts, and least
//!   places, do not depend on the order in which they are made, so the result is the same.
//! - `collect`: all tables → `counts`, which are put in the order of first occurrence when that is asked for
//!   (`ordered`, `places`).
//! - `files`, `chunks`, `streams`, `windows`: files of all kinds, cut where no result can change; `batches`:
//!   documents in memory.

mod batches;
mod chunks;
mod collect;
mod counting;
mod counts;
mod file;
mod files;
mod input;
mod local_counts;
mod log;
mod options;
mod ordered;
mod partition;
mod places;
mod slot;
mod spill;
mod streams;
mod windows;
mod worker;

pub use counting::Counting;
pub use counts::{CountedPretoken, PretokenCounts};
pub use input::{DocumentFormat, InputFile};
pub use options::CountOptions;
pub use ordered::Unordered;
