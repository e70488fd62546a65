//! A column of texts or whole numbers of another library, read in place.
//!
//! The other library made the structures, and they may be wrong. The numbers of buffers, lengths, the order
//! of offsets and the places that views point to are checked. The length of most buffers is not part of the
//! interface: the other library promises that they are as long as the last offset says ([`Column::new`]).
#![allow(unsafe_code)] // looks at the child of a table

use super::interface::{ArrowArray, ArrowSchema};
use super::rows::{Buffer, ColumnType, Layout, Rows, Texts, broken, check_buffers};
use crate::error::{Error, Result};
use crate::room;

/// The types that a column of texts, or of numbers, may have, for messages.
const TEXT_TYPES: &str = "texts are string, large_string, string_view, binary, large_binary or binary_view";
const NUMBER_TYPES: &str = "counts are of a type of whole numbers";

/// A column, in one chunk or more.
#[derive(Debug)]
pub struct Column {
    kind: ColumnType,
    chunks: Vec<ArrowArray>,
    /// The number of values.
    pub len: usize,
}

impl Column {
    /// An empty column of a type. A table of one column stands for that column.
    ///
    /// # Safety
    /// The schema, and all arrays that are given to [`Column::push`], follow Arrow's C data interface: their
    /// pointers lead to what the interface says, buffers are as long as offsets and views say, and nobody
    /// changes them.
    pub unsafe fn new(schema: &ArrowSchema) -> Result<Self> {
        // SAFETY: the caller's promise.
        let kind = unsafe { ColumnType::of(schema)? };
        Ok(Column { kind, chunks: Vec::new(), len: 0 })
    }

    /// Adds an array of the type of the column.
    pub fn push(&mut self, array: ArrowArray) -> Result<()> {
        if array.release.is_none() {
            return Err(broken("it was released already"));
        }
        let len = self.rows(&array).and_then(|rows| {
            check_buffers(self.kind.layout, &rows)?;
            self.len.checked_add(rows.len).ok_or_else(|| broken("too many values"))
        });
        self.len = len.map_err(|error| in_chunk(error, self.chunks.len()))?;
        room::push(&mut self.chunks, array)
    }

    /// The values of an array, or of the one column of a table.
    fn rows<'a>(&self, array: &'a ArrowArray) -> Result<Rows<'a>> {
        let (first, len) = (size(array.offset, "offset")?, size(array.length, "length")?);
        if !self.kind.in_table {
            return Rows::new(array, first, len);
        }
        let table = Rows::new(array, first, len)?;
        if (first..first + len).any(|row| table.is_null(row)) {
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

    /// The texts. A column of numbers is an error.
    pub fn texts(&self) -> Result<Texts<'_>> {
        if let Layout::Integers { .. } | Layout::Other = self.kind.layout {
            return Err(self.refused(TEXT_TYPES));
        }
        let mut output = Texts { texts: room::for_items(self.len)?, valid: None, nulls: 0 };
        for (number, array) in self.chunks.iter().enumerate() {
            let added = self.rows(array).and_then(|rows| self.add_texts(&rows, &mut output));
            added.map_err(|error| in_chunk(error, number))?;
        }
        Ok(output)
    }

    fn refused(&self, wanted: &'static str) -> Error {
        Error::ArrowType { actual: format!("is of type {}", self.kind.name), wanted }
    }

    fn add_texts<'a>(&self, rows: &Rows<'a>, output: &mut Texts<'a>) -> Result<()> {
        match self.kind.layout {
            Layout::Offsets32 => rows.texts_of_offsets(
                |offsets, at| i64::from(i32::from_ne_bytes(offsets.get(at))),
                output,
                self.len,
            ),
            Layout::Offsets64 => {
                rows.texts_of_offsets(|offsets, at| i64::from_ne_bytes(offsets.get(at)), output, self.len)
            }
            Layout::Views => rows.texts_of_views(output, self.len),
            Layout::Null | Layout::Integers { .. } | Layout::Other => {
                (0..rows.len).try_for_each(|_| output.push_null(self.len))
            }
        }
    }

    /// The whole numbers, of which none may be null or negative.
    pub fn numbers(&self) -> Result<Vec<u64>> {
        let Layout::Integers { bytes, signed } = self.kind.layout else {
            return Err(self.refused(NUMBER_TYPES));
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

fn size(number: i64, what: &str) -> Result<usize> {
    usize::try_from(number).map_err(|_| broken(&format!("its {what} is {number}")))
}

/// An error with the number of its chunk.
fn in_chunk(error: Error, number: usize) -> Error {
    match error {
        Error::BrokenArrow(reason) => Error::BrokenArrow(format!("chunk {number}: {reason}")),
        other => other,
    }
}
