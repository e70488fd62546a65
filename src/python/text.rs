//! `str` → text for the core, and UTF-8 → `str`, at about the speed of memory.
#![allow(unsafe_code)] // reads the memory of `str` objects, and fills new ones in place

use std::ffi::CStr;
use std::mem::MaybeUninit;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

use super::errors::OrRaise;
use super::objects::{self, Any};
use super::{call, errors};
use toksmith::control::Control;
use toksmith::error::{Error, Result};
use toksmith::pretokenize::Isa;
use toksmith::source::Text;
use toksmith::transcode::{CharRange, CodeUnit, Measure, measure, write_units};
use toksmith::{memory, room};

/// From this number of characters on, a `str` is read in its own form. For a shorter one the interpreter
/// makes its UTF-8, one character at a time, and keeps it as long as the `str` lives; this is fast for a
/// short text and helps the next call.
const MIN_UNITS_IN_PLACE: isize = 1 << 16;
/// The same for a `str` that is used once: the interpreter takes several times as long as [`Text::utf8`].
const MIN_UNITS_OF_NEW: isize = 1 << 8;

/// The text that an argument is.
#[inline]
pub(super) fn checked<'a, 'py>(text: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyString>> {
    text.cast::<PyString>().map_err(|_| no_text(text))
}

/// Runs work on the UTF-8 of a text: without the GIL where that and `more` bytes are long. A long text of
/// wide characters is also converted without it.
pub(super) fn with_utf8<T: Send>(
    text: Any,
    more: usize,
    work: impl FnOnce(&str, &Control) -> Result<T> + Send,
) -> PyResult<T> {
    let text = checked(text)?;
    let Some(units) = units(text, MIN_UNITS_IN_PLACE) else {
        let utf8 = call::text(text)?;
        return call::sized(text.py(), more.saturating_add(utf8.len()), |control| work(utf8, control));
    };
    call::long(text.py(), None, |control| {
        let mut bytes = Vec::new();
        units.write(Isa::best(), 0..units.len(), &mut bytes)?;
        work(simdutf8::basic::from_utf8(&bytes).map_err(|_| Error::BrokenState)?, control)
    })
}

/// Runs work on the UTF-8 of each text of a batch.
pub(super) fn with_many<T: Send>(
    texts: Any,
    work: impl FnOnce(&[&[u8]], &Control) -> Result<T> + Send,
) -> PyResult<T> {
    let py = texts.py();
    let mut numbers = 0..;
    let owners: Vec<PyBackedStr> = objects::extracted(texts, |text| {
        let number = numbers.next().unwrap_or(0);
        let wrong = |_| match text.get_type().name() {
            Ok(kind) => PyTypeError::new_err(format!("text number {number} of the batch is {kind}, not str")),
            Err(error) => error,
        };
        let in_batch = |error: PyErr| match error.is_instance_of::<PyValueError>(py) {
            true => PyValueError::new_err(format!("text number {number} of the batch: {}", error.value(py))),
            false => error,
        };
        call::backed_text(text.cast::<PyString>().map_err(wrong)?).map_err(in_batch)
    })?;
    let texts: Vec<&[u8]> = room::collected(owners.iter().map(|text| text.as_bytes())).or_raise()?;
    let bytes = texts.iter().map(|text| text.len()).sum();
    call::sized(py, bytes, |control| work(&texts, control))
}

#[cold]
fn no_text(value: Any) -> PyErr {
    let hint = if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        "; encode_batch takes a list of texts"
    } else if value.is_instance_of::<PyBytes>() {
        "; Tokenizer.encode takes bytes"
    } else {
        ""
    };
    errors::wrong_type("a text is a str", value, hint)
}

/// The text of a `str`: as UTF-8 if that exists or the text is short, otherwise as characters. A new `str`
/// was just made, and is rarely used again.
#[inline]
pub(super) fn of<'a>(text: Any<'a, '_>, is_new: bool) -> PyResult<Text<'a>> {
    let text = checked(text)?;
    match units(text, if is_new { MIN_UNITS_OF_NEW } else { MIN_UNITS_IN_PLACE }) {
        Some(units) => Ok(units),
        None => Ok(Text::Utf8(call::text(text)?.as_bytes())),
    }
}

/// The characters of a `str` of at least `min_units` that has no UTF-8 yet.
#[inline]
fn units<'a>(text: &'a Bound<'_, PyString>, min_units: isize) -> Option<Text<'a>> {
    let object = text.as_ptr();
    // SAFETY: `object` is a `str`, which the interpreter never changes once others can see it, and which
    // lives as long as the result. It has `len` units, of the width that its kind tells. Other than a compact
    // ASCII one it begins with the fields of `PyCompactUnicodeObject`, which change only under the GIL: it is
    // held, or there is none, and another thread may be making the UTF-8.
    unsafe {
        let len = ffi::PyUnicode_GET_LENGTH(object);
        let has_utf8 = ffi::PyUnicode_IS_COMPACT_ASCII(object) != 0
            || !cfg!(Py_GIL_DISABLED) && !(*object.cast::<ffi::PyCompactUnicodeObject>()).utf8.is_null();
        if len < min_units || has_utf8 {
            return None;
        }
        let (data, len) = (ffi::PyUnicode_DATA(object), len as usize);
        match ffi::PyUnicode_KIND(object) {
            ffi::PyUnicode_1BYTE_KIND => Some(Text::Ucs1(std::slice::from_raw_parts(data.cast(), len))),
            ffi::PyUnicode_2BYTE_KIND => Some(Text::Ucs2(std::slice::from_raw_parts(data.cast(), len))),
            ffi::PyUnicode_4BYTE_KIND => Some(Text::Ucs4(std::slice::from_raw_parts(data.cast(), len))),
            _ => None,
        }
    }
}

/// A `str` of bytes. `errors` is the name of the error handler of Python for those that are not UTF-8. The
/// result is that of Python's decoder, which takes three to five times as long, since it widens its result at
/// each wider character.
pub(super) fn decoded<'py>(py: Python<'py>, bytes: &[u8], errors: &CStr) -> PyResult<Bound<'py, PyAny>> {
    let valid = || simdutf8::basic::from_utf8(bytes).ok().map(|text| (text, measure(text)));
    let Some((text, Measure { characters, range })) = call::detached(py, bytes.len(), valid) else {
        let (data, len) = (bytes.as_ptr().cast(), bytes.len() as ffi::Py_ssize_t);
        // SAFETY: `len` bytes are at `data`. The function returns a new reference, or null with an exception
        // set.
        return unsafe {
            Bound::from_owned_ptr_or_err(py, ffi::PyUnicode_DecodeUTF8(data, len, errors.as_ptr()))
        };
    };
    match range {
        CharRange::Ascii => filled::<u8>(py, text, characters, 0x7f),
        CharRange::Latin1 => filled::<u8>(py, text, characters, 0xff),
        CharRange::Basic => filled::<u16>(py, text, characters, 0xffff),
        CharRange::Full => filled::<u32>(py, text, characters, 0x0010_ffff),
    }
}

/// A new `str` of `characters` characters. `highest` is the highest character that a unit can hold, and no
/// character of the text is above it.
fn filled<'py, U: CodeUnit>(
    py: Python<'py>,
    text: &str,
    characters: usize,
    highest: u32,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: PyUnicode_New returns a new string, or null with an exception set. A new string may be written
    // to until it is first used. It has `characters` units of the width for `highest`, which is that of `U`.
    let (made, units) = unsafe {
        let made = ffi::PyUnicode_New(characters as ffi::Py_ssize_t, highest);
        let made = Bound::from_owned_ptr_or_err(py, made)?;
        let units = ffi::PyUnicode_DATA(made.as_ptr()).cast::<MaybeUninit<U>>();
        memory::advise_huge_pages(units.cast(), characters * size_of::<U>());
        (made, std::slice::from_raw_parts_mut(units, characters))
    };
    call::detached(py, text.len(), || write_units(text, units));
    Ok(made)
}
