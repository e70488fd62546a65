//! Decoded text, written directly into the memory of a `bytes` or of an ASCII `str`.
#![allow(unsafe_code)] // fills objects of the interpreter in place

use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;

use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::ffi::compat::{
    PyBytesWriter, PyBytesWriter_Create, PyBytesWriter_Discard, PyBytesWriter_FinishWithSize,
    PyBytesWriter_GetData,
};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::{call, text};
use crate::decode::{self, Stop};
use crate::error::Error;
use crate::memory;
use crate::vocab::TokenBytes;

/// The name of one of Python's error handlers, which decides what happens to bytes that are not UTF-8.
pub(super) struct Errors(CString);

impl Errors {
    /// The error handler of a name.
    pub(super) fn new(name: &Bound<'_, PyString>) -> PyResult<Self> {
        let name = CString::new(name.to_str()?);
        name.map(Errors).map_err(|_| PyValueError::new_err("embedded null character"))
    }

    /// Whether this is the handler that puts U+FFFD.
    pub(super) fn is_replace(&self) -> bool {
        self.0.as_c_str() == c"replace"
    }
}

/// Bytes of a result that are collected on the stack, so that a short result needs one allocation, of its final size.
const STACK_BYTES: usize = 1 << 10;

/// The memory of a result longer than [`STACK_BYTES`]. Nothing else can reach it.
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
    text: bool,
    /// The bytes of a result that fits here.
    small: [MaybeUninit<u8>; STACK_BYTES],
    large: Large,
    /// The bytes in `large`.
    data: *mut u8,
    /// Bytes that the present memory can hold.
    room: usize,
    len: usize,
    /// Whether all bytes so far are ASCII.
    ascii: bool,
    ids: usize,
}

impl<'py> DecodeBuffer<'py> {
    pub(super) fn new(py: Python<'py>, text: bool) -> Self {
        let small = [const { MaybeUninit::uninit() }; STACK_BYTES];
        let data = std::ptr::null_mut();
        DecodeBuffer {
            py,
            text,
            small,
            large: Large::None,
            data,
            room: STACK_BYTES,
            len: 0,
            ascii: true,
            ids: 0,
        }
    }

    /// Makes room for about as many bytes as `ids` ids have.
    pub(super) fn reserve_for(&mut self, ids: usize) -> PyResult<()> {
        let room = decode::estimate(ids);
        if room > self.room { self.grow(room) } else { Ok(()) }
    }

    /// Decodes the next ids.
    pub(super) fn decode(&mut self, tokens: &TokenBytes, ids: &[u32]) -> PyResult<()> {
        let mut at = 0;
        while at < ids.len() {
            let (py, left, free) = (self.py, &ids[at..], self.free());
            let step = call::detached(py, size_of_val(left), || decode::step(tokens, left, free));
            self.len += step.bytes;
            self.ascii &= step.ascii;
            at += step.ids;
            match step.stop {
                Stop::Done => {}
                Stop::Full { room } => self.grow(self.len + room.max(self.len / 2))?,
                Stop::Unknown => {
                    let index = Some(self.ids + at);
                    return Err(Error::UnknownId { id: i128::from(ids[at]), index }.into());
                }
            }
        }
        self.ids += ids.len();
        Ok(())
    }

    /// Adds an id with other bytes than the vocabulary has for it.
    pub(super) fn push(&mut self, bytes: &[u8]) -> PyResult<()> {
        if self.room - self.len < bytes.len() {
            self.grow(self.len + bytes.len().max(self.len / 2))?;
        }
        for (to, byte) in self.free().iter_mut().zip(bytes) {
            to.write(*byte);
        }
        self.len += bytes.len();
        self.ascii &= bytes.is_ascii();
        self.ids += 1;
        Ok(())
    }

    /// The `bytes`, or the `str`, for which `errors` decides what happens to bytes that are not UTF-8.
    pub(super) fn finish(mut self, errors: Option<&Errors>) -> PyResult<Bound<'py, PyAny>> {
        let (data, len) = (self.data().cast_const().cast::<c_char>(), self.len as ffi::Py_ssize_t);
        // SAFETY: `len` bytes at `data` are written. Each function returns a new reference, or null with an
        // exception set. The writer and the `str` are given away once, after `self.large` was reset, so that
        // dropping `self` does not free them again.
        unsafe {
            let made = match self.large {
                Large::None if !self.text => ffi::PyBytes_FromStringAndSize(data, len),
                Large::Bytes(writer) => {
                    self.large = Large::None;
                    PyBytesWriter_FinishWithSize(writer, len)
                }
                Large::Text(_) if self.ascii => {
                    self.resize_text(self.len)?;
                    let Large::Text(text) = std::mem::replace(&mut self.large, Large::None) else {
                        return Err(PyErr::fetch(self.py));
                    };
                    text
                }
                Large::None | Large::Text(_) => {
                    let bytes = std::slice::from_raw_parts(data.cast::<u8>(), self.len);
                    if let Some(valid) = text::from_utf8(self.py, bytes) {
                        return valid;
                    }
                    let errors = errors.map_or(c"strict", |errors| &errors.0);
                    ffi::PyUnicode_DecodeUTF8(data, len, errors.as_ptr())
                }
            };
            Bound::from_owned_ptr_or_err(self.py, made)
        }
    }

    /// The start of the present memory.
    fn data(&mut self) -> *mut u8 {
        match self.large {
            Large::None => self.small.as_mut_ptr().cast(),
            Large::Bytes(_) | Large::Text(_) => self.data,
        }
    }

    /// The part of the memory that is not written yet.
    fn free(&mut self) -> &mut [MaybeUninit<u8>] {
        let (data, len, room) = (self.data(), self.len, self.room);
        // SAFETY: `data` points to `room` bytes that nothing else can reach, and `len` is at most `room`.
        unsafe { std::slice::from_raw_parts_mut(data.add(len).cast(), room - len) }
    }

    /// Enlarges the memory to `room` bytes, which must be more than it has.
    fn grow(&mut self, room: usize) -> PyResult<()> {
        match self.large {
            Large::Text(_) => self.resize_text(room),
            Large::None | Large::Bytes(_) => self.move_to_new(room),
        }
    }

    fn resize_text(&mut self, room: usize) -> PyResult<()> {
        let Large::Text(text) = &mut self.large else { return Ok(()) };
        // SAFETY: nothing else has seen the `str`, as PyUnicode_Resize requires. If it fails, an exception is
        // set and the `str` is unchanged.
        unsafe {
            if ffi::PyUnicode_Resize(text, room as ffi::Py_ssize_t) != 0 {
                return Err(PyErr::fetch(self.py));
            }
            self.data = ffi::PyUnicode_DATA(*text).cast();
        }
        self.room = room;
        Ok(())
    }

    /// Moves the bytes into new memory.
    fn move_to_new(&mut self, room: usize) -> PyResult<()> {
        let size = room as ffi::Py_ssize_t;
        let old = self.data();
        // SAFETY: both functions return null with an exception set, or an object with `room` bytes, which is
        // more than the `len` bytes that are copied. The old memory is freed after they are copied.
        unsafe {
            let (large, data) = if self.text {
                let text = ffi::PyUnicode_New(size, 127);
                if text.is_null() {
                    return Err(PyErr::fetch(self.py));
                }
                (Large::Text(text), ffi::PyUnicode_DATA(text).cast())
            } else {
                let writer = PyBytesWriter_Create(size);
                if writer.is_null() {
                    return Err(PyErr::fetch(self.py));
                }
                (Large::Bytes(writer), PyBytesWriter_GetData(writer).cast())
            };
            memory::advise_huge_pages(data, room);
            old.copy_to_nonoverlapping(data, self.len);
            self.free_large();
            (self.large, self.data, self.room) = (large, data, room);
        }
        Ok(())
    }

    fn free_large(&mut self) {
        // SAFETY: `self` owns the only reference to the object, and the GIL is held.
        unsafe {
            match std::mem::replace(&mut self.large, Large::None) {
                Large::None => {}
                Large::Bytes(writer) => PyBytesWriter_Discard(writer),
                Large::Text(text) => ffi::Py_DECREF(text),
            }
        }
    }
}

impl Drop for DecodeBuffer<'_> {
    fn drop(&mut self) {
        self.free_large();
    }
}
