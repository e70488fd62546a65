//! The structures of Arrow's C data interface and C stream interface. The owner of a structure releases it by
//! dropping it.
#![allow(unsafe_code)] // calls functions of the library that a structure came from

use std::ffi::{CStr, c_char, c_int, c_void};

/// The type of an array, and of its children, as the specification has it.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowSchema {
    pub(crate) format: *const c_char,
    pub(crate) name: *const c_char,
    pub(crate) metadata: *const c_char,
    pub(crate) flags: i64,
    pub(crate) n_children: i64,
    pub(crate) children: *mut *mut ArrowSchema,
    pub(crate) dictionary: *mut ArrowSchema,
    /// `None` once the structure was freed, or moved elsewhere.
    pub(crate) release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    pub(crate) private_data: *mut c_void,
}

/// The flag of a type whose values may be null.
pub(crate) const NULLABLE: i64 = 2;

/// The values of an array, as the specification has it.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArray {
    pub(crate) length: i64,
    /// How many values are null; -1 if nobody counted.
    pub(crate) null_count: i64,
    /// The index of the first value in the buffers.
    pub(crate) offset: i64,
    pub(crate) n_buffers: i64,
    pub(crate) n_children: i64,
    pub(crate) buffers: *mut *const c_void,
    pub(crate) children: *mut *mut ArrowArray,
    pub(crate) dictionary: *mut ArrowArray,
    /// `None` once the structure was freed, or moved elsewhere.
    pub(crate) release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    pub(crate) private_data: *mut c_void,
}

/// Arrays of one type, one after the other, as the specification has it.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArrayStream {
    /// Writes the type of all arrays to its second argument.
    pub(crate) get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    /// Writes the next array to its second argument; a released one at the end.
    pub(crate) get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    /// Returns a description of the last error; may return null.
    pub(crate) get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    /// `None` once the structure was freed, or moved elsewhere.
    pub(crate) release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    pub(crate) private_data: *mut c_void,
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
                // SAFETY: its fields are numbers, pointers and functions that may be missing, and all of them
                // may be 0.
                unsafe { std::mem::zeroed() }
            }
        }

        impl Drop for $structure {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: it was not released yet, and the producer expects this call exactly once. The
                    // function sets `release` to `None`, or leaves it; nobody looks at it again.
                    unsafe { release(self) }
                }
            }
        }

        // SAFETY: the specification lets any thread use and release a structure, one at a time.
        unsafe impl Send for $structure {}
    )*};
}

released_when_dropped!(ArrowSchema, ArrowArray, ArrowArrayStream);

// SAFETY: through a shared reference a schema and an array are only read, and the specification forbids to
// change them.
unsafe impl Sync for ArrowSchema {}
// SAFETY: as above.
unsafe impl Sync for ArrowArray {}

impl ArrowArrayStream {
    /// The type of all arrays; an error says why the stream failed.
    ///
    /// # Safety
    /// The stream follows the specification.
    pub unsafe fn schema(&mut self) -> Result<ArrowSchema, String> {
        let mut schema = ArrowSchema::released();
        // SAFETY: the caller's promise; the function writes a structure, or nothing where it fails.
        let code = self.get_schema.map_or(0, |get| unsafe { get(self, &raw mut schema) });
        self.checked(code).map(|()| schema)
    }

    /// The next array; `None` at the end.
    ///
    /// # Safety
    /// The stream follows the specification.
    pub unsafe fn next(&mut self) -> Result<Option<ArrowArray>, String> {
        let mut array = ArrowArray::released();
        // SAFETY: the caller's promise; the function writes a structure, or nothing where it fails.
        let code = self.get_next.map_or(0, |get| unsafe { get(self, &raw mut array) });
        self.checked(code).map(|()| array.release.is_some().then_some(array))
    }

    fn checked(&mut self, code: c_int) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        let said = self.get_last_error.map_or(std::ptr::null(), |get| {
            // SAFETY: the stream is not released, and the last call failed, as the function asks.
            unsafe { get(self) }
        });
        let reason = match said.is_null() {
            true => "it does not say why".into(),
            // SAFETY: what the stream returns ends with a zero, and stays until the next call.
            false => unsafe { CStr::from_ptr(said) }.to_string_lossy(),
        };
        Err(format!("the Arrow stream failed with errno {code}: {reason}"))
    }
}
