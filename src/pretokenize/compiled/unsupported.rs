//! Why a pattern is not compiled.

use std::fmt;

/// Why a pattern is not compiled; a phrase such as "a look behind".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(String);

impl Unsupported {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Unsupported(reason.into())
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
