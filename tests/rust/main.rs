//! Tests of the core against its slow, obviously right versions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, unreachable_pub)]

mod count;
mod encode;
mod fuzz;
mod layout;
mod oracle;
mod pretokenize;
mod random;
mod scanner;
mod train;
mod vocab;
