//! An array for other libraries: lists of ids, numbers, or texts. Its buffers are passed on without a copy.
#![allow(unsafe_code)] // the functions that free what was passed on

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use super::interface::{ArrowArray, ArrowSchema, NULLABLE, Released};
use crate::encode::recycle;
use crate::error::{Error, Result};
use crate::room;

/// The maximum number of values that offsets of 32 bits can count.
pub const MAX_NARROW: usize = i32::MAX as usize;

/// The numbers in a buffer: values, or offsets.
#[derive(Debug)]
pub enum Values {
    I32(Vec<i32>),
    I64(Vec<i64>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    /// Bytes of texts.
    Bytes(Vec<u8>),
}

impl Values {
    /// Offsets of 64 bits if they are `wide`, else of 32: where each list or text starts, and where the last
    /// one ends.
    pub fn offsets(starts: Vec<usize>, wide: bool) -> Result<Self> {
        if wide {
            return Ok(Values::I64(room::collected(starts.into_iter().map(|start| start as i64))?));
        }
        if starts.last().is_some_and(|&end| end > MAX_NARROW) {
            return Err(Error::TooManyIds(MAX_NARROW));
        }
        Ok(Values::I32(room::collected(starts.into_iter().map(|start| start as i32))?))
    }

    /// Where they are, how many there are, and their type, as the specification spells it.
    fn buffer(&self) -> (*const c_void, usize, &'static CStr) {
        match self {
            Values::I32(values) => (values.as_ptr().cast(), values.len(), c"i"),
            Values::I64(values) => (values.as_ptr().cast(), values.len(), c"l"),
            Values::U16(values) => (values.as_ptr().cast(), values.len(), c"S"),
            Values::U32(values) => (values.as_ptr().cast(), values.len(), c"I"),
            Values::U64(values) => (values.as_ptr().cast(), values.len(), c"L"),
            Values::Bytes(values) => (values.as_ptr().cast(), values.len(), c"C"),
        }
    }
}

impl Drop for Values {
    fn drop(&mut self) {
        if let Values::U32(ids) = self {
            recycle(std::mem::take(ids));
        }
    }
}

/// An array. Lists of numbers, and texts, have offsets.
#[derive(Debug)]
pub struct Array {
    pub offsets: Option<Values>,
    pub values: Values,
    /// The number of values, or of lists or texts.
    pub len: usize,
    /// A bit for each of them, which is 0 for null; `None` if none is null.
    pub valid: Option<Vec<u8>>,
    /// How many of them are null.
    pub nulls: usize,
}

/// The memory that a structure keeps alive after it was passed on.
struct PrivateData {
    _array: Arc<Array>,
    buffers: [*const c_void; 3],
    children: [*mut ArrowArray; 1],
}

impl Array {
    /// The type, as the specification spells it.
    pub fn format(&self) -> &'static CStr {
        match (&self.offsets, &self.values) {
            (None, values) => values.buffer().2,
            (Some(Values::I64(_)), Values::Bytes(_)) => c"Z",
            (Some(_), Values::Bytes(_)) => c"z",
            (Some(Values::I64(_)), _) => c"+L",
            (Some(_), _) => c"+l",
        }
    }

    /// The type, as a structure to pass on.
    pub fn schema(&self) -> ArrowSchema {
        let has_items = self.offsets.is_some() && !matches!(self.values, Values::Bytes(_));
        schema_of(self.format(), c"", has_items.then(|| schema_of(self.values.buffer().2, c"item", None)))
    }

    /// The values, as a structure to pass on.
    pub fn handed_on(self: &Arc<Self>) -> ArrowArray {
        let valid = self.valid.as_ref().map_or(null(), |bits| bits.as_ptr().cast());
        let (values, count, _) = self.values.buffer();
        let offsets = self.offsets.as_ref().map(|offsets| offsets.buffer().0);
        let (buffers, n_buffers, items) = match (offsets, &self.values) {
            (None, _) => ([valid, values, null()], 2, None),
            (Some(offsets), Values::Bytes(_)) => ([valid, offsets, values], 3, None),
            (Some(offsets), _) => {
                let items = self.structure([null(), values, null()], 2, (count, 0), None);
                ([valid, offsets, null()], 2, Some(items))
            }
        };
        self.structure(buffers, n_buffers, (self.len, self.nulls), items)
    }

    fn structure(
        self: &Arc<Self>,
        buffers: [*const c_void; 3],
        n_buffers: i64,
        (len, nulls): (usize, usize),
        child: Option<ArrowArray>,
    ) -> ArrowArray {
        let n_children = i64::from(child.is_some());
        let child = child.map_or(null_mut(), |child| Box::into_raw(Box::new(child)));
        let data = PrivateData { _array: self.clone(), buffers, children: [child] };
        let data = Box::into_raw(Box::new(data));
        // SAFETY: `data` was made just now, and stays where it is until it is freed.
        let (buffers, children) = unsafe { (&raw mut (*data).buffers, &raw mut (*data).children) };
        ArrowArray {
            length: len as i64,
            null_count: nulls as i64,
            offset: 0,
            n_buffers,
            n_children,
            buffers: buffers.cast(),
            children: if n_children == 0 { null_mut() } else { children.cast() },
            dictionary: null_mut(),
            release: Some(free_array),
            private_data: data.cast(),
        }
    }
}

/// Frees a structure that [`Array::structure`] made. A child that a consumer moved elsewhere has no `release`
/// any more.
unsafe extern "C" fn free_array(array: *mut ArrowArray) {
    // SAFETY: the interface has this called once, for a structure of `Array::structure`, whose boxes nothing
    // else frees.
    unsafe {
        let data = Box::from_raw((*array).private_data.cast::<PrivateData>());
        if !data.children[0].is_null() {
            drop(Box::from_raw(data.children[0]));
        }
        (*array).release = None;
    }
}

fn schema_of(format: &'static CStr, name: &'static CStr, child: Option<ArrowSchema>) -> ArrowSchema {
    let n_children = i64::from(child.is_some());
    let children = match child {
        Some(child) => Box::into_raw(Box::new([Box::into_raw(Box::new(child))])).cast(),
        None => null_mut(),
    };
    ArrowSchema {
        format: format.as_ptr(),
        name: name.as_ptr(),
        flags: NULLABLE,
        n_children,
        children,
        release: Some(free_schema),
        ..ArrowSchema::released()
    }
}

/// Frees a structure that [`schema_of`] made.
unsafe extern "C" fn free_schema(schema: *mut ArrowSchema) {
    // SAFETY: as in `free_array`; with a child, `children` is a box of one pointer to a box.
    unsafe {
        if !(*schema).children.is_null() {
            let [child] = *Box::from_raw((*schema).children.cast::<[*mut ArrowSchema; 1]>());
            drop(Box::from_raw(child));
        }
        (*schema).release = None;
    }
}
