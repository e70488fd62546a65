//! Where ids go: a sink that the caller gives, memory for a long text, an array or a file.

mod id_buffer;
mod id_bytes;
mod id_type;
mod located_ids;
mod sink;
mod staged;

pub use id_buffer::recycle;
pub(crate) use id_bytes::put_ids;
pub use id_type::IdType;
pub use located_ids::LocatedIds;
pub use sink::{Sink, Spans};

pub(super) use id_buffer::{memory_for, trimmed};
pub(super) use id_bytes::IdBytes;
pub(super) use sink::CountSink;
pub(super) use staged::{StagedOutput, StagingBuffer};
