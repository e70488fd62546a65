//! The types of columns that can be read.
#![allow(unsafe_code)] // reads the strings and children that a schema points to

use std::ffi::CStr;

use super::interface::ArrowSchema;
use crate::error::{Error, Result};

/// How values lie in the buffers of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Nothing but nulls.
    Null,
    /// Offsets of 32 bits, and the bytes of all texts.
    Offsets32,
    /// Offsets of 64 bits, and the bytes of all texts.
    Offsets64,
    /// A view of 16 bytes for each text, and buffers that views point into.
    Views,
    /// Whole numbers of `bytes` bytes, with or without a sign.
    Integers { bytes: usize, signed: bool },
    /// Any other layout, which is never read.
    Other,
}

/// A type that columns may have.
#[derive(Debug)]
pub(super) struct ColumnType {
    pub(super) layout: Layout,
    /// The name of the type, for messages.
    pub(super) name: String,
    /// Whether arrays are tables of one column.
    pub(super) in_table: bool,
}

impl ColumnType {
    /// The type that a schema describes.
    ///
    /// # Safety
    /// The schema follows Arrow's C data interface.
    pub(super) unsafe fn of(schema: &ArrowSchema) -> Result<Self> {
        // SAFETY: the caller's promise.
        let ((layout, name), in_table) = unsafe {
            match format_of(schema)? {
                b"+s" if schema.n_children == 1 => {
                    let child = schema.children.as_ref().and_then(|child| child.as_ref());
                    (layout_of(child.ok_or_else(|| broken("a table without its column"))?)?, true)
                }
                _ => (layout_of(schema)?, false),
            }
        };
        Ok(ColumnType { layout, name, in_table })
    }
}

/// # Safety
/// As in [`ColumnType::of`].
unsafe fn format_of(schema: &ArrowSchema) -> Result<&[u8]> {
    if schema.format.is_null() || schema.release.is_none() {
        return Err(broken("its type was released already"));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { CStr::from_ptr(schema.format) }.to_bytes())
}

/// # Safety
/// As in [`ColumnType::of`].
unsafe fn layout_of(schema: &ArrowSchema) -> Result<(Layout, String)> {
    let refused = |actual: String, wanted| Err(Error::ArrowType { actual, wanted });
    if !schema.dictionary.is_null() {
        return refused("is a dictionary".into(), "cast it to its type of text first");
    }
    // SAFETY: the caller's promise.
    let format = unsafe { format_of(schema)? };
    let integers = |bytes, signed| Layout::Integers { bytes, signed };
    let (layout, name) = match format {
        b"n" => (Layout::Null, "null"),
        b"u" => (Layout::Offsets32, "string"),
        b"z" => (Layout::Offsets32, "binary"),
        b"U" => (Layout::Offsets64, "string"),
        b"Z" => (Layout::Offsets64, "binary"),
        b"vu" => (Layout::Views, "string"),
        b"vz" => (Layout::Views, "binary"),
        b"c" => (integers(1, true), "int"),
        b"s" => (integers(2, true), "int"),
        b"i" => (integers(4, true), "int"),
        b"l" => (integers(8, true), "int"),
        b"C" => (integers(1, false), "uint"),
        b"S" => (integers(2, false), "uint"),
        b"I" => (integers(4, false), "uint"),
        b"L" => (integers(8, false), "uint"),
        b"b" => (Layout::Other, "bool"),
        b"e" | b"f" => (Layout::Other, "float"),
        b"g" => (Layout::Other, "double"),
        b"+l" | b"+L" | b"+vl" | b"+vL" => (Layout::Other, "list"),
        [b'w', ..] => (Layout::Other, "fixed_size_binary"),
        [b'd', ..] => (Layout::Other, "decimal"),
        [b't', ..] => (Layout::Other, "a date or a time"),
        b"+s" => {
            let actual = format!("has {} columns", schema.n_children);
            return refused(actual, "give one, such as table[\"text\"]");
        }
        _ => return Ok((Layout::Other, format!("{:?}", String::from_utf8_lossy(format)))),
    };
    Ok((layout, name.into()))
}

pub(super) fn broken(reason: &str) -> Error {
    Error::BrokenArrow(reason.into())
}
