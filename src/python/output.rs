//! Decoded text, written directly into the memory of a `bytes` or of an ASCII `str`.
#![allow(unsafe_code)] // fills objects of the interpreter in place

use std::ffi::CStr;
use std::mem::MaybeUninit;

use pyo3::ffi;
use pyo3::ffi::compat::{
    PyBytesWriter, PyBytesWriter_Create, PyBytesWriter_Discard, PyBytesWriter_FinishWithSize,
    PyBytesWriter_GetData,
};
use pyo3::prelude::*;

use super::errors::OrRaise;
use super::objects::IntoObject;
use super::{call, text};
use toksmith::decode::{self, Stop};
use toksmith::error::Error;
use toksmith::memory;
use toksmith::vocab::TokenBytes;

/// Bytes of a result that are collected on the stack, so that a short result needs one allocation, of its
/// final size.
const STACK_BYTES: usize = 1 << 10;

/// The memory of a longer result. Nothing else can reach it.
#[derive(Clone, Copy)]
enum Large {
    None,
    Bytes(*mut PyBytesWriter),
    /// An ASCII `str`. While it grows, it may contain any bytes.
    Text(*mut ffi::PyObject),
}

/// The result of a decoding while it grows.
pub(super) struct DecodeBuffer<'py> {
    py: Python<'py>,
    /// Whether the result is a `str`; otherwise it is a `bytes`.
    is_text: bool,
    /// The bytes of a result that fits here.
    small: [MaybeUninit<u8>; STACK_BYTES],
    large: Large,
    /// Bytes that the present memory can hold.
    room: usize,
    len: usize,
    /// Whether all bytes so far are ASCII.
    is_ascii: bool,
}

impl<'py> DecodeBuffer<'py> {
    pub(super) fn new(py: Python<'py>, is_text: bool) -> Self {
        let small = [const { MaybeUninit::uninit() }; STACK_BYTES];
        let (large, room) = (Large::None, STACK_BYTES);
        DecodeBuffer { py, is_text, small, large, room, len: 0, is_ascii: true }
    }

    /// Decodes ids, without the GIL if they are many.
    pub(super) fn decode(&mut self, tokens: &TokenBytes, ids: &[u32]) -> PyResult<()> {
        let room = decode::estimate(ids.len());
        if room > self.room {
            self.grow(room)?;
        }
        let mut at = 0;
        while at < ids.len() {
            let (py, left, free) = (self.py, &ids[at..], self.free());
            let step = call::detached(py, size_of_val(left), || decode::step(tokens, left, free));
            self.len += step.bytes;
            self.is_ascii &= step.ascii;
            at += step.ids;
            match step.stop {
                Stop::Done => {}
                Stop::Full { room } => self.grow(self.len + room.max(self.len / 2))?,
                Stop::Unknown => {
                    return Err(Error::UnknownId { id: i128::from(ids[at]), index: Some(at) }).or_raise();
                }
            }
        }
        Ok(())
    }

    /// The `bytes`, or the `str`, for which `errors` decides what happens to bytes that are not UTF-8.
    pub(super) fn finish(mut self, errors: Option<&CStr>) -> PyResult<Bound<'py, PyAny>> {
        if let Large::Text(_) = self.large
            && self.is_ascii
        {
            self.grow(self.len)?;
        }
        let made = match self.large {
            // SAFETY: the writer is alive, and has `len` bytes.
            Large::Bytes(writer) => unsafe {
                PyBytesWriter_FinishWithSize(writer, self.len as ffi::Py_ssize_t)
            },
            Large::Text(text) if self.is_ascii => text,
            _ => {
                // SAFETY: `len` bytes at the start of the memory are written.
                let bytes = unsafe { std::slice::from_raw_parts(self.data().cast_const(), self.len) };
                return match errors {
                    Some(errors) => text::decoded(self.py, bytes, errors),
                    None => bytes.object(self.py),
                };
            }
        };
        // The object is given away: dropping `self` does not see it any more.
        self.large = Large::None;
        // SAFETY: `made` is a new reference, or null with an exception set.
        unsafe { Bound::from_owned_ptr_or_err(self.py, made) }
    }

    /// The start of the present memory.
    fn data(&mut self) -> *mut u8 {
        match self.large {
            Large::None => self.small.as_mut_ptr().cast(),
            // SAFETY: the writer is alive.
            Large::Bytes(writer) => unsafe { PyBytesWriter_GetData(writer).cast() },
            // SAFETY: the `str` is alive.
            Large::Text(text) => unsafe { ffi::PyUnicode_DATA(text).cast() },
        }
    }

    /// The part of the memory that is not written yet.
    fn free(&mut self) -> &mut [MaybeUninit<u8>] {
        let (data, len, room) = (self.data(), self.len, self.room);
        // SAFETY: `data` points to `room` bytes that nothing else can reach, and `len` is at most `room`.
        unsafe { std::slice::from_raw_parts_mut(data.add(len).cast(), room - len) }
    }

    /// Changes the size of the memory to `room` bytes: more than it has, or those of a whole text.
    fn grow(&mut self, room: usize) -> PyResult<()> {
        let (size, old) = (room as ffi::Py_ssize_t, self.data());
        // SAFETY: nothing else has seen a `str` that changes its size; if that fails, an exception is set and
        // the `str` is unchanged. New memory is null with an exception set, or has `room` bytes, more than
        // the `len` that are copied before the old memory is freed.
        unsafe {
            let large = match &mut self.large {
                Large::Text(text) => (ffi::PyUnicode_Resize(text, size) == 0).then_some(Large::Text(*text)),
                _ if self.is_text => {
                    Some(ffi::PyUnicode_New(size, 127)).filter(|text| !text.is_null()).map(Large::Text)
                }
                _ => Some(PyBytesWriter_Create(size)).filter(|writer| !writer.is_null()).map(Large::Bytes),
            };
            let large = large.ok_or_else(|| PyErr::fetch(self.py))?;
            let mut old_memory = std::mem::replace(&mut self.large, large);
            if !matches!(old_memory, Large::Text(_)) {
                memory::advise_huge_pages(self.data(), room);
                old.copy_to_nonoverlapping(self.data(), self.len);
                old_memory.free();
            }
        }
        self.room = room;
        Ok(())
    }
}

impl Large {
    /// Frees the memory, which must not be used any more. The GIL must be held.
    unsafe fn free(&mut self) {
        // SAFETY: this owns the only reference to the object.
        unsafe {
            match std::mem::replace(self, Large::None) {
                Large::None => {}
                Large::Bytes(writer) => PyBytesWriter_Discard(writer),
                Large::Text(text) => ffi::Py_DECREF(text),
            }
        }
    }
}

impl Drop for DecodeBuffer<'_> {
    fn drop(&mut self) {
        // SAFETY: `self` has the token of the GIL.
        unsafe { self.large.free() }
    }
}
