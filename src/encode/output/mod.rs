//! Where ids go: a sink that the caller gives, memory for a long text, an array or a file.

mod destination;
mod id_buffer;
mod id_bytes;
mod sink;
mod staged;

pub use destination::{IdArray, IdDestination, IdFile, IdType};
pub use id_buffer::recycle;
pub use id_bytes::IdBytes;
pub(crate) use id_bytes::put_ids;
pub use sink::{Sink, Spans};

pub(super) use id_buffer::IdBuffer;
pub(super) use sink::CountSink;
pub(super) use staged::{StagedOutput, StagingBuffer};
