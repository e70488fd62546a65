//! Worker threads of one call. They are started and joined in the call; there is no pool that a fork could
//! break.
//!
//! If the system does not start all threads, the call runs with fewer, in the extreme with only the calling
//! thread.

mod background_reader;
mod buffer_pool;
mod lock;
mod ordered_queue;
mod threads;

pub(crate) use background_reader::BackgroundReader;
pub(crate) use buffer_pool::BufferPool;
pub(crate) use lock::Lock;
pub use ordered_queue::{placed, placed_by_caller};
pub use threads::{cores, run, run_here_too};
pub(crate) use threads::{received, start};
