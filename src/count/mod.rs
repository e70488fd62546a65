//! Documents → pretoken counts, in parallel.
//!
//! - `local_counts`: the hot loop. A worker's own small table counts nineteen of twenty pretokens, and never grows.
//! - `worker`: what leaves that table goes, some thousands at a time, to tables that all workers share.
//! - `partition`, `log`: those tables, by hash, an index and its slots. So there is one of each pretoken, and nothing to merge in the end.
//! - `spill`: where memory is limited, a table that is full goes to a temporary file, sorted. Sums of counts, and the
//!   least of places, do not depend on the order they are made in, so the result is the same.
//! - `collect`: all tables → `counts`, in the order of first occurrence once that is asked for (`ordered`).
//! - `files`, `chunks`, `streams`: files of all kinds, cut where no result can change.

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
