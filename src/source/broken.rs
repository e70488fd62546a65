//! Errors of containers, which pass through readers of bytes.

use std::io::{Error, ErrorKind};

use crate::error;

/// What is wrong in a container, and where.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {reason}")]
pub(super) struct Broken {
    pub(super) place: String,
    pub(super) reason: String,
}

/// What is wrong with a record that is longer than a limit.
pub(crate) fn too_long(max_record_bytes: u64) -> String {
    format!("it is longer than max_record_bytes={max_record_bytes}: raise the limit")
}

/// The error of a place in a container.
pub(super) fn broken(place: &str, reason: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidData, Broken { place: place.to_owned(), reason: reason.into() })
}

/// An error with a place, if it is what is wrong in a container and has none yet.
pub(super) fn placed(place: &str, error: Error) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Broken>()) {
        Some(inner) if inner.place.is_empty() => broken(place, inner.reason.clone()),
        _ => error,
    }
}

/// An error of reading at a place, which comes before the place that the error has. Errors of the system stay
/// as they are, and so do those of a file that is no archive.
pub(super) fn within(place: &str, error: Error) -> Error {
    if place.is_empty() || error.raw_os_error().is_some() || error.kind() == ErrorKind::OutOfMemory {
        return error;
    }
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Broken>()) {
        Some(inner) => broken(&format!("{place}: {}", inner.place), inner.reason.clone()),
        None if error.kind() == ErrorKind::UnexpectedEof => {
            broken(place, "it ends too early: it is truncated")
        }
        None => broken(place, error.to_string()),
    }
}

/// The error of missing memory.
pub(super) fn no_memory(_: error::Error) -> Error {
    ErrorKind::OutOfMemory.into()
}
