//! SentencePiece's `.model`: a protocol buffer with pieces, scores and rules.

mod protobuf;
pub(super) mod reader;
pub(super) mod writer;
