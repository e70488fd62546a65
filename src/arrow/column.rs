//! A column of texts or whole numbers that came from elsewhere, read where it is.
//!
//! The structures come from a stranger. What can be looked at is: numbers of buffers, lengths, the order of offsets,
//! where views point. The length of most buffers is not part of the interface; that they are as long as the last offset
//! says is the stranger's promise ([`Column::new`]).
#![allow(unsafe_code)] // reads the buffers that a structure points to

use std::ffi::CStr;

use super::interface::{ArrowArray, ArrowSchema};
use crate::error::{Error, Result};
use crate::room;

/// How values lie in the buffers of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Nothing but nulls.
    Null,
    /// Offsets of 32 bits, and the bytes of all texts.
    Offsets32,
    /// Offsets of 64 bits, and the bytes of all texts.
    Offsets64,
    /// A view of 16 bytes for each text, and buffers that views point into.
    Views,
    /// Whole numbers of so many bytes; with a sign or without.
    Integers { bytes: usize, signed: bool },
}

/// What texts may be, for messages.
const TEXT_TYPES: &str = "texts are string, large_string, string_view, binary, large_binary or binary_view";
/// Bytes of a view, and how many of them a short text has.
const VIEW_BYTES: usize = 16;
const INLINE_BYTES: usize = 12;

/// A column, in one chunk or more.
#[derive(Debug)]
pub struct Column {
    layout: Layout,
    /// Whether arrays are tables of one column.
    in_table: bool,
    chunks: Vec<ArrowArray>,
    len: usize,
}

/// The texts of a column, and which of them are null.
pub struct Texts<'a> {
    /// The texts; a null one is empty.
    pub texts: Vec<&'a [u8]>,
    /// A bit for each, which is 0 for null; `None` if none is null.
    pub valid: Option<Vec<u8>>,
    /// How many are null.
    pub nulls: usize,
}

impl Texts<'_> {
    /// Whether a text is there, and not null.
    pub fn is_valid(&self, row: usize) -> bool {
        self.valid.as_ref().is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 == 1)
    }

    fn set_null(&mut self, row: usize, rows: usize) -> Result<()> {
        let mut bits = match self.valid.take() {
            Some(bits) => bits,
            None => room::filled(0xff, rows.div_ceil(8))?,
        };
        bits[row / 8] &= !(1 << (row % 8));
        (self.valid, self.nulls) = (Some(bits), self.nulls + 1);
        Ok(())
    }
}

impl Column {
    /// An empty column of a type. A table of one column stands for that column.
    ///
    /// # Safety
    /// The schema, and all arrays that are given to [`Column::push`], follow Arrow's C data interface: their pointers
    /// lead to what the interface says, buffers are as long as offsets and views say, and nobody changes them.
    ///
    /// # Errors
    /// [`Error::ArrowType`]; [`Error::BrokenArrow`].
    pub unsafe fn new(schema: &ArrowSchema) -> Result<Self> {
        // SAFETY: the caller's promise.
        let (layout, in_table) = unsafe {
            match format_of(schema)? {
                b"+s" if schema.n_children == 1 => {
                    let child = schema.children.as_ref().and_then(|child| child.as_ref());
                    (layout_of(child.ok_or_else(|| broken("a table without its column"))?)?, true)
                }
                _ => (layout_of(schema)?, false),
            }
        };
        Ok(Column { layout, in_table, chunks: Vec::new(), len: 0 })
    }

    /// Adds an array of the type of the column.
    ///
    /// # Errors
    /// [`Error::BrokenArrow`].
    pub fn push(&mut self, array: ArrowArray) -> Result<()> {
        let len = self.rows(&array).and_then(|rows| {
            check_buffers(self.layout, &rows)?;
            self.len.checked_add(rows.len).ok_or_else(|| broken("too many values"))
        });
        self.len = len.map_err(|error| in_chunk(error, self.chunks.len()))?;
        room::push(&mut self.chunks, array)
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The values of an array, or of the one column of a table.
    fn rows<'a>(&self, array: &'a ArrowArray) -> Result<Rows<'a>> {
        let (first, len) = (size(array.offset, "offset")?, size(array.length, "length")?);
        if !self.in_table {
            return Rows::new(array, first, len);
        }
        if array.null_count > 0 {
            return Err(broken("a row of the table is null"));
        }
        // SAFETY: the promise of `Column::new`.
        let child = unsafe { array.children.as_ref().and_then(|child| child.as_ref()) };
        let child =
            child.filter(|_| array.n_children == 1).ok_or_else(|| broken("a table without its column"))?;
        let rows = Rows::new(child, size(child.offset, "offset")?, size(child.length, "length")?)?;
        match first.checked_add(len) {
            Some(end) if end <= rows.len => Rows::new(child, rows.first + first, len),
            _ => Err(broken("the column of a table is shorter than the table")),
        }
    }

    /// The texts.
    ///
    /// # Errors
    /// [`Error::ArrowType`] for numbers; [`Error::BrokenArrow`]; [`Error::OutOfMemory`].
    pub fn texts(&self) -> Result<Texts<'_>> {
        if let Layout::Integers { .. } = self.layout {
            return Err(Error::ArrowType { found: "is of whole numbers".into(), wanted: TEXT_TYPES });
        }
        let mut found = Texts { texts: room::for_items(self.len)?, valid: None, nulls: 0 };
        for (number, array) in self.chunks.iter().enumerate() {
            let added = self.rows(array).and_then(|rows| self.add_texts(&rows, &mut found));
            added.map_err(|error| in_chunk(error, number))?;
        }
        Ok(found)
    }

    fn add_texts<'a>(&self, rows: &Rows<'a>, found: &mut Texts<'a>) -> Result<()> {
        match self.layout {
            Layout::Offsets32 => rows.texts_of_offsets(
                |offsets, at| i64::from(i32::from_ne_bytes(offsets.get(at))),
                found,
                self.len,
            ),
            Layout::Offsets64 => {
                rows.texts_of_offsets(|offsets, at| i64::from_ne_bytes(offsets.get(at)), found, self.len)
            }
            Layout::Views => rows.texts_of_views(found, self.len),
            Layout::Null | Layout::Integers { .. } => {
                for _ in 0..rows.len {
                    found.set_null(found.texts.len(), self.len)?;
                    found.texts.push(&[]);
                }
                Ok(())
            }
        }
    }

    /// The whole numbers, of which none may be null or negative.
    ///
    /// # Errors
    /// [`Error::ArrowType`] for other values; [`Error::BrokenArrow`]; [`Error::OutOfMemory`].
    pub fn numbers(&self) -> Result<Vec<u64>> {
        let Layout::Integers { bytes, signed } = self.layout else {
            return Err(Error::ArrowType { found: "is not of whole numbers".into(), wanted: "counts are" });
        };
        let mut numbers = room::for_items(self.len)?;
        for array in &self.chunks {
            let rows = self.rows(array)?;
            let values = Buffer(rows.buffer(1));
            for row in rows.first..rows.first + rows.len {
                if rows.is_null(row) {
                    return Err(broken(&format!("number {} is null", numbers.len())));
                }
                let wide = match bytes {
                    1 => i64::from(i8::from_ne_bytes(values.get(row))),
                    2 => i64::from(i16::from_ne_bytes(values.get(row))),
                    4 => i64::from(i32::from_ne_bytes(values.get(row))),
                    _ => i64::from_ne_bytes(values.get(row)),
                };
                if signed && wide < 0 {
                    return Err(broken(&format!("number {} is negative: {wide}", numbers.len())));
                }
                numbers.push(wide as u64 & u64::MAX >> (64 - 8 * bytes));
            }
        }
        Ok(numbers)
    }
}

/// A buffer of values, which need not be aligned.
#[derive(Clone, Copy)]
struct Buffer(*const u8);

impl Buffer {
    /// The bytes of a value. Called for values that the interface says are there.
    #[inline]
    fn get<const BYTES: usize>(self, at: usize) -> [u8; BYTES] {
        // SAFETY: the promise of `Column::new`; `check_buffers` has seen that the buffer is not null, and callers ask
        // for values of the array alone. An array of bytes has no alignment.
        unsafe { self.0.cast::<[u8; BYTES]>().add(at).read() }
    }
}

/// Some values of an array.
struct Rows<'a> {
    array: &'a ArrowArray,
    first: usize,
    len: usize,
}

impl<'a> Rows<'a> {
    fn new(array: &'a ArrowArray, first: usize, len: usize) -> Result<Self> {
        // Views are the largest values; and there is one more offset than there are texts.
        let end = first.checked_add(len).and_then(|end| end.checked_add(1)?.checked_mul(VIEW_BYTES));
        match end {
            Some(end) if end <= isize::MAX as usize => Ok(Rows { array, first, len }),
            _ => Err(broken(&format!("offset {first} and length {len} are impossible"))),
        }
    }

    /// A buffer, which may be null.
    fn buffer(&self, number: usize) -> *const u8 {
        if self.array.buffers.is_null() || number as i64 >= self.array.n_buffers {
            return std::ptr::null();
        }
        // SAFETY: the promise of `Column::new`: there are `n_buffers` pointers.
        unsafe { self.array.buffers.add(number).read().cast() }
    }

    #[inline]
    fn is_null(&self, row: usize) -> bool {
        let bits = self.buffer(0);
        if self.array.null_count == 0 || bits.is_null() {
            return false;
        }
        let [byte] = Buffer(bits).get(row / 8);
        byte >> (row % 8) & 1 == 0
    }

    /// Adds texts that lie between offsets.
    fn texts_of_offsets(
        &self,
        offset: impl Fn(Buffer, usize) -> i64,
        found: &mut Texts<'a>,
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
                found.set_null(found.texts.len(), rows)?;
                found.texts.push(&[]);
            } else {
                found.texts.push(text_at(bytes, start as usize, (end - start) as usize)?);
            }
            start = end;
        }
        Ok(())
    }

    /// Adds texts that views point to.
    fn texts_of_views(&self, found: &mut Texts<'a>, rows: usize) -> Result<()> {
        if self.len == 0 {
            return Ok(());
        }
        let views = self.buffer(1);
        for row in self.first..self.first + self.len {
            if self.is_null(row) {
                found.set_null(found.texts.len(), rows)?;
                found.texts.push(&[]);
                continue;
            }
            let at = VIEW_BYTES * row;
            let part = |number: usize| i32::from_ne_bytes(Buffer(views).get(VIEW_BYTES / 4 * row + number));
            let len = usize::try_from(part(0)).map_err(|_| broken("the length of a view is negative"))?;
            found.texts.push(if len <= INLINE_BYTES {
                text_at(views, at + 4, len)?
            } else {
                self.text_of_view(part(2), part(3), len)?
            });
        }
        Ok(())
    }

    /// A text in one of the buffers behind the views.
    fn text_of_view(&self, number: i32, start: i32, len: usize) -> Result<&'a [u8]> {
        let data_buffers = (self.array.n_buffers - 3) as usize;
        let number = usize::try_from(number).ok().filter(|&number| number < data_buffers);
        let number = number.ok_or_else(|| broken("a view points into a buffer that is not there"))?;
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
    // SAFETY: the promise of `Column::new`: the buffer has as many bytes, which nobody changes. They live as long as the
    // array, from which the callers borrow them.
    Ok(unsafe { std::slice::from_raw_parts(bytes.add(start), len) })
}

/// # Safety
/// As in [`Column::new`].
unsafe fn format_of(schema: &ArrowSchema) -> Result<&[u8]> {
    if schema.format.is_null() || schema.release.is_none() {
        return Err(broken("its type was released already"));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { CStr::from_ptr(schema.format) }.to_bytes())
}

/// # Safety
/// As in [`Column::new`].
unsafe fn layout_of(schema: &ArrowSchema) -> Result<Layout> {
    let refused = |found: String, wanted| Err(Error::ArrowType { found, wanted });
    if !schema.dictionary.is_null() {
        return refused("is a dictionary".into(), "cast it to its type of text first");
    }
    // SAFETY: the caller's promise.
    let format = unsafe { format_of(schema)? };
    Ok(match format {
        b"n" => Layout::Null,
        b"u" | b"z" => Layout::Offsets32,
        b"U" | b"Z" => Layout::Offsets64,
        b"vu" | b"vz" => Layout::Views,
        b"c" | b"s" | b"i" | b"l" => Layout::Integers { bytes: bytes_of(format[0]), signed: true },
        b"C" | b"S" | b"I" | b"L" => Layout::Integers { bytes: bytes_of(format[0]), signed: false },
        b"+s" => {
            return refused(
                format!("has {} columns", schema.n_children),
                "give one, such as table[\"text\"]",
            );
        }
        _ => return refused(format!("is of type {}", type_name(format)), TEXT_TYPES),
    })
}

fn bytes_of(format: u8) -> usize {
    match format.to_ascii_lowercase() {
        b'c' => 1,
        b's' => 2,
        b'i' => 4,
        _ => 8,
    }
}

fn type_name(format: &[u8]) -> String {
    let name = match format {
        b"b" => "bool",
        b"e" => "halffloat",
        b"f" => "float",
        b"g" => "double",
        b"+l" | b"+L" | b"+vl" | b"+vL" => "list",
        b"+m" => "map",
        b"+r" => "run_end_encoded",
        [b'w', ..] => "fixed_size_binary",
        [b'd', ..] => "decimal",
        [b't', ..] => "a date or a time",
        _ => return format!("{:?}", String::from_utf8_lossy(format)),
    };
    name.into()
}

/// Checks that the buffers that are read are there.
fn check_buffers(layout: Layout, rows: &Rows<'_>) -> Result<()> {
    let array = rows.array;
    if array.null_count > 0 && layout != Layout::Null && array.n_buffers > 0 && rows.buffer(0).is_null() {
        return Err(broken(&format!("{} values are null, and nothing says which", array.null_count)));
    }
    let (least, most) = match layout {
        Layout::Null => return Ok(()),
        Layout::Offsets32 | Layout::Offsets64 => (3, 3),
        Layout::Views => (3, i64::from(i32::MAX)),
        Layout::Integers { .. } => (2, 2),
    };
    if !(least..=most).contains(&array.n_buffers) {
        return Err(broken(&format!("it has {} buffers", array.n_buffers)));
    }
    let lengths = array.n_buffers as usize - 1;
    let lacks_lengths = layout == Layout::Views && lengths > 2 && rows.buffer(lengths).is_null();
    if rows.len > 0 && (rows.buffer(1).is_null() || lacks_lengths) {
        return Err(broken("a buffer is not there"));
    }
    Ok(())
}

fn size(number: i64, what: &str) -> Result<usize> {
    usize::try_from(number).map_err(|_| broken(&format!("its {what} is {number}")))
}

fn broken(reason: &str) -> Error {
    Error::BrokenArrow { reason: reason.into() }
}

/// An error with the number of its chunk.
fn in_chunk(error: Error, number: usize) -> Error {
    match error {
        Error::BrokenArrow { reason } => Error::BrokenArrow { reason: format!("chunk {number}: {reason}") },
        other => other,
    }
}
