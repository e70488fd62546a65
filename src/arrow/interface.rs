//! The structures of Arrow's C data interface and C stream interface. The owner of a structure releases it by
//! dropping it.
#![allow(unsafe_code)] // calls functions of the library that a structure came from

use std::ffi::{CStr, c_char, c_int, c_void};

/// The type of an array, and of its children.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowSchema {
    /// The type, as the specification spells it; ends with a zero.
    pub format: *const c_char,
    /// The name of a field; may be null.
    pub name: *const c_char,
    /// Metadata as the specification encodes them; may be null.
    pub metadata: *const c_char,
    /// Bits; see [`NULLABLE`].
    pub flags: i64,
    /// How many children there are.
    pub n_children: i64,
    /// The children.
    pub children: *mut *mut ArrowSchema,
    /// The type of the values of a dictionary; null for other types.
    pub dictionary: *mut ArrowSchema,
    /// The function that frees the structure; `None` once the structure was freed, or moved elsewhere.
    pub release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    /// Data of the producer.
    pub private_data: *mut c_void,
}

/// The flag of a type whose values may be null.
pub const NULLABLE: i64 = 2;

/// The values of an array.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArray {
    /// How many values there are.
    pub length: i64,
    /// How many of them are null; -1 if nobody counted.
    pub null_count: i64,
    /// The index of the first value in the buffers.
    pub offset: i64,
    /// How many buffers there are.
    pub n_buffers: i64,
    /// How many children there are.
    pub n_children: i64,
    /// The buffers.
    pub buffers: *mut *const c_void,
    /// The children.
    pub children: *mut *mut ArrowArray,
    /// The values of a dictionary; null for other types.
    pub dictionary: *mut ArrowArray,
    /// The function that frees the structure; `None` once the structure was freed, or moved elsewhere.
    pub release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    /// Data of the producer.
    pub private_data: *mut c_void,
}

/// Arrays of one type, one after the other.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArrayStream {
    /// Writes the type of all arrays to its second argument.
    pub get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    /// Writes the next array to its second argument; a released one at the end.
    pub get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    /// Returns a description of the last error; may return null.
    pub get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    /// The function that frees the structure; `None` once the structure was freed, or moved elsewhere.
    pub release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    /// Data of the producer.
    pub private_data: *mut c_void,
}

/// A structure that was released, or moved elsewhere.
pub trait Released {
    /// A structure in this state.
    fn released() -> Self;
}

macro_rules! released_when_dropped {
    ($($structure:ty),*) => {$(
        impl Released for $structure {
            fn released() -> Self {
                // SAFETY: its fields are numbers, pointers and functions that may be missing, and all of them may be 0.
                unsafe { std::mem::zeroed() }
            }
        }

        impl Drop for $structure {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: it was not released yet, and the producer expects this call exactly once. The function
                    // sets `release` to `None`, or leaves it; nobody looks at it again.
                    unsafe { release(self) }
                }
            }
        }

        // SAFETY: the specification lets any thread use and release a structure, one at a time.
        unsafe impl Send for $structure {}
    )*};
}

released_when_dropped!(ArrowSchema, ArrowArray, ArrowArrayStream);

// SAFETY: through a shared reference a schema and an array are only read, and the specification forbids to change them.
unsafe impl Sync for ArrowSchema {}
// SAFETY: as above.
unsafe impl Sync for ArrowArray {}

/// The error of a stream: its errno and its message.
#[derive(Debug)]
pub struct StreamError {
    /// The errno.
    pub code: i32,
    /// The message of the stream; empty if it has none.
    pub message: String,
}

impl ArrowArrayStream {
    /// The type of all arrays.
    ///
    /// # Safety
    /// The stream follows the specification.
    pub unsafe fn schema(&mut self) -> Result<ArrowSchema, StreamError> {
        let mut schema = ArrowSchema::released();
        // SAFETY: the caller's promise; the function writes a structure, or nothing where it fails.
        let code = self.get_schema.map_or(0, |get| unsafe { get(self, &raw mut schema) });
        self.checked(code).map(|()| schema)
    }

    /// The next array; `None` at the end.
    ///
    /// # Safety
    /// The stream follows the specification.
    pub unsafe fn next(&mut self) -> Result<Option<ArrowArray>, StreamError> {
        let mut array = ArrowArray::released();
        // SAFETY: the caller's promise; the function writes a structure, or nothing where it fails.
        let code = self.get_next.map_or(0, |get| unsafe { get(self, &raw mut array) });
        self.checked(code).map(|()| array.release.is_some().then_some(array))
    }

    fn checked(&mut self, code: i32) -> Result<(), StreamError> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the stream is not released, and the last call failed, as the function asks. What it returns ends
        // with a zero, and stays until the next call.
        let message = self.get_last_error.map_or_else(String::new, |get| unsafe {
            let said = get(self);
            if said.is_null() { String::new() } else { CStr::from_ptr(said).to_string_lossy().into_owned() }
        });
        Err(StreamError { code, message })
    }
}
