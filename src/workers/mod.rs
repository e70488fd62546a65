//! Worker threads for one call: started in it, joined in it, no pool that a fork could break.
//!
//! Where the system starts no more threads, a call goes on with those that it has, the calling thread at the least.

mod background_reader;
mod ordered_queue;
mod threads;

pub(crate) use background_reader::BackgroundReader;
pub use background_reader::read_in_background;
pub use ordered_queue::in_order;
pub(crate) use threads::start;
pub use threads::{cores, run, run_here_too};
