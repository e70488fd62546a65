//! The types of columns that can be read, and the values of one array that another library made.
#![allow(unsafe_code)] // reads the buffers, strings and children that a structure points to

use std::ffi::CStr;

use super::interface::{ArrowArray, ArrowSchema};
use crate::error::{Error, Result};
use crate::room;

/// The bytes of a view.
const VIEW_BYTES: usize = 16;
/// The maximum number of bytes of a text that is stored inside its view, after the length.
const INLINE_BYTES: usize = 12;

/// A buffer of values, which need not be aligned.
#[derive(Clone, Copy)]
pub(super) struct Buffer(pub(super) *const u8);

impl Buffer {
    /// The bytes of a value. Called only for values that exist according to the interface.
    #[inline]
    pub(super) fn get<const BYTES: usize>(self, at: usize) -> [u8; BYTES] {
        // SAFETY: the promise of `Column::new`; `check_buffers` has seen that the buffer is not null, and
        // callers ask for values of the array alone. An array of bytes has no alignment.
        unsafe { self.0.cast::<[u8; BYTES]>().add(at).read() }
    }
}

/// Some values of an array.
pub(super) struct Rows<'a> {
    array: &'a ArrowArray,
    pub(super) first: usize,
    pub(super) len: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn new(array: &'a ArrowArray, first: usize, len: usize) -> Result<Self> {
        // Views are the largest values; and there is one more offset than there are texts.
        let end = first.checked_add(len).and_then(|end| end.checked_add(1)?.checked_mul(VIEW_BYTES));
        match end {
            Some(end) if end <= isize::MAX as usize => Ok(Rows { array, first, len }),
            _ => Err(broken(&format!("offset {first} and length {len} are impossible"))),
        }
    }

    /// A buffer, which may be null.
    pub(super) fn buffer(&self, number: usize) -> *const u8 {
        if self.array.buffers.is_null() || number as i64 >= self.array.n_buffers {
            return std::ptr::null();
        }
        // SAFETY: the promise of `Column::new`: there are `n_buffers` pointers.
        unsafe { self.array.buffers.add(number).read().cast() }
    }

    #[inline]
    pub(super) fn is_null(&self, row: usize) -> bool {
        let bits = self.buffer(0);
        if self.array.null_count == 0 || bits.is_null() {
            return false;
        }
        let [byte] = Buffer(bits).get(row / 8);
        byte >> (row % 8) & 1 == 0
    }

    /// Adds texts that lie between offsets.
    pub(super) fn texts_of_offsets(
        &self,
        offset: impl Fn(Buffer, usize) -> i64,
        output: &mut Texts<'a>,
        rows: usize,
    ) -> Result<()> {
        if self.len == 0 {
            return Ok(());
        }
        let (offsets, bytes) = (Buffer(self.buffer(1)), self.buffer(2));
        let mut start = offset(offsets, self.first);
        if start < 0 {
            return Err(broken(&format!("the first offset is {start}")));
        }
        for row in self.first..self.first + self.len {
            let end = offset(offsets, row + 1);
            if end < start {
                return Err(broken(&format!(
                    "offsets fall from {start} to {end} at value {}",
                    row - self.first
                )));
            }
            if self.is_null(row) {
                output.push_null(rows)?;
            } else {
                output.texts.push(text_at(bytes, start as usize, (end - start) as usize)?);
            }
            start = end;
        }
        Ok(())
    }

    /// Adds texts that views point to.
    pub(super) fn texts_of_views(&self, output: &mut Texts<'a>, rows: usize) -> Result<()> {
        if self.len == 0 {
            return Ok(());
        }
        let views = self.buffer(1);
        for row in self.first..self.first + self.len {
            if self.is_null(row) {
                output.push_null(rows)?;
                continue;
            }
            let at = VIEW_BYTES * row;
            let part = |number: usize| i32::from_ne_bytes(Buffer(views).get(VIEW_BYTES / 4 * row + number));
            let len = usize::try_from(part(0)).map_err(|_| broken("the length of a view is negative"))?;
            output.texts.push(if len <= INLINE_BYTES {
                text_at(views, at + 4, len)?
            } else {
                self.text_of_view(part(2), part(3), len)?
            });
        }
        Ok(())
    }

    /// A text in one of the buffers that views point into.
    fn text_of_view(&self, number: i32, start: i32, len: usize) -> Result<&'a [u8]> {
        let data_buffers = (self.array.n_buffers - 3) as usize;
        let number = usize::try_from(number).ok().filter(|&number| number < data_buffers);
        let number = number.ok_or_else(|| broken("a view points into a buffer that does not exist"))?;
        let lengths = Buffer(self.buffer(2 + data_buffers));
        let bytes = i64::from_ne_bytes(lengths.get(number));
        match usize::try_from(start) {
            Ok(start) if (start + len) as i64 <= bytes => text_at(self.buffer(2 + number), start, len),
            _ => Err(broken(&format!("a view of {len} bytes from {start} on leaves its buffer of {bytes}"))),
        }
    }
}

/// The bytes of a text.
#[inline]
fn text_at<'a>(bytes: *const u8, start: usize, len: usize) -> Result<&'a [u8]> {
    if len == 0 {
        return Ok(&[]);
    }
    if bytes.is_null() || start.checked_add(len).is_none_or(|end| end > isize::MAX as usize) {
        return Err(broken("a text without its bytes"));
    }
    // SAFETY: the promise of `Column::new`: the buffer has as many bytes, which nobody changes. They live as
    // long as the array, from which the callers borrow them.
    Ok(unsafe { std::slice::from_raw_parts(bytes.add(start), len) })
}

/// Checks that an array has the buffers that will be read.
pub(super) fn check_buffers(layout: Layout, rows: &Rows<'_>) -> Result<()> {
    let array = rows.array;
    if array.null_count > 0 && layout != Layout::Null && array.n_buffers > 0 && rows.buffer(0).is_null() {
        return Err(broken(&format!("{} values are null, and nothing says which", array.null_count)));
    }
    let (min, max) = match layout {
        Layout::Null | Layout::Other => return Ok(()),
        Layout::Offsets32 | Layout::Offsets64 => (3, 3),
        Layout::Views => (3, i64::from(i32::MAX)),
        Layout::Integers { .. } => (2, 2),
    };
    if !(min..=max).contains(&array.n_buffers) {
        return Err(broken(&format!("it has {} buffers", array.n_buffers)));
    }
    let lengths = array.n_buffers as usize - 1;
    let lacks_lengths = layout == Layout::Views && lengths > 2 && rows.buffer(lengths).is_null();
    if rows.len > 0 && (rows.buffer(1).is_null() || lacks_lengths) {
        return Err(broken("a buffer is missing"));
    }
    Ok(())
}

/// The texts of a column, and which of them are null.
pub struct Texts<'a> {
    /// The texts; a null one is empty.
    pub texts: Vec<&'a [u8]>,
    /// A bit for each text, which is 0 for null; `None` if none is null.
    pub valid: Option<Vec<u8>>,
    /// How many texts are null.
    pub nulls: usize,
}

impl Texts<'_> {
    /// Whether a text is not null.
    pub fn is_valid(&self, row: usize) -> bool {
        self.valid.as_ref().is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 == 1)
    }

    /// Adds a null text to a column of `rows` texts.
    pub(super) fn push_null(&mut self, rows: usize) -> Result<()> {
        let row = self.texts.len();
        let mut bits = match self.valid.take() {
            Some(bits) => bits,
            None => room::filled(0xff, rows.div_ceil(8))?,
        };
        bits[row / 8] &= !(1 << (row % 8));
        (self.valid, self.nulls) = (Some(bits), self.nulls + 1);
        self.texts.push(&[]);
        Ok(())
    }
}

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
