//! Columns that were made by hand, whole and broken, and arrays that are passed on and read again.

use std::ffi::{CStr, c_void};
use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use super::interface::{ArrowArray, ArrowSchema, Released};
use super::{Array, Column, MAX_NARROW, Values};
use crate::error::Error;

static FREED: AtomicUsize = AtomicUsize::new(0);

/// An array of these buffers; `None` is a null pointer.
fn array(buffers: &[Option<&[u8]>], (offset, length, null_count): (i64, i64, i64)) -> ArrowArray {
    struct PrivateData {
        _memory: Vec<Vec<u8>>,
        pointers: Vec<*const c_void>,
    }
    unsafe extern "C" fn free(array: *mut ArrowArray) {
        // SAFETY: called once, for a structure of `array`.
        unsafe {
            drop(Box::from_raw((*array).private_data.cast::<PrivateData>()));
            (*array).release = None;
        }
        FREED.fetch_add(1, SeqCst);
    }
    let memory: Vec<Vec<u8>> = buffers.iter().map(|bytes| bytes.unwrap_or_default().to_vec()).collect();
    let pointers = memory.iter().zip(buffers);
    let pointers =
        pointers.map(|(buffer, bytes)| if bytes.is_some() { buffer.as_ptr().cast() } else { null() });
    let mut data = Box::new(PrivateData { pointers: pointers.collect(), _memory: memory });
    ArrowArray {
        length,
        null_count,
        offset,
        n_buffers: buffers.len() as i64,
        buffers: data.pointers.as_mut_ptr(),
        release: Some(free),
        private_data: Box::into_raw(data).cast(),
        ..ArrowArray::released()
    }
}

unsafe extern "C" fn nothing_to_free(schema: *mut ArrowSchema) {
    // SAFETY: called with a structure of `column`.
    unsafe { (*schema).release = None }
}

/// A column of a type, with one chunk.
fn column(format: &'static CStr, chunk: ArrowArray) -> Result<Column, Error> {
    let schema =
        ArrowSchema { format: format.as_ptr(), release: Some(nothing_to_free), ..ArrowSchema::released() };
    // SAFETY: the tests below make arrays whose buffers are as long as what is read of them.
    let mut column = unsafe { Column::new(&schema)? };
    column.push(chunk)?;
    Ok(column)
}

fn texts(format: &'static CStr, chunk: ArrowArray) -> Result<Vec<Option<Vec<u8>>>, String> {
    let column = column(format, chunk).map_err(|error| error.to_string())?;
    let output = column.texts().map_err(|error| error.to_string())?;
    let text = |(row, text): (usize, &&[u8])| output.is_valid(row).then(|| text.to_vec());
    Ok(output.texts.iter().enumerate().map(text).collect())
}

fn narrow(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

fn wide(numbers: &[i64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

/// A view of a long text.
fn view(len: i32, buffer: i32, start: i32) -> Vec<u8> {
    [narrow(&[len]), b"pref".to_vec(), narrow(&[buffer, start])].concat()
}

fn some(texts: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
    texts.iter().map(|text| Some(text.to_vec())).collect()
}

#[test]
fn broken_offsets_are_errors() {
    for (offsets, reason) in [
        ([3, 1, 3], "offsets fall from 3 to 1 at value 0"),
        ([0, 3, 2], "offsets fall from 3 to 2 at value 1"),
        ([-1, 1, 3], "the first offset is -1"),
        ([0, i32::MIN, 3], "offsets fall from 0 to -2147483648"),
    ] {
        let result = texts(c"u", array(&[None, Some(&narrow(&offsets)), Some(b"abc")], (0, 2, 0)));
        let message = result.unwrap_err();
        assert!(message.starts_with("invalid Arrow array: chunk 0: ") && message.contains(reason));
        let offsets = wide(&offsets.map(i64::from));
        assert!(texts(c"U", array(&[None, Some(&offsets), Some(b"abc")], (0, 2, 0))).is_err());
    }
}

#[test]
fn structures_that_cannot_be_are_errors() {
    let offsets = narrow(&[0, 1]);
    for (buffers, rows, reason) in [
        (vec![None, Some(&offsets[..]), Some(&b"a"[..])], (-1, 1, 0), "its offset is -1"),
        (vec![None, Some(&offsets), Some(b"a")], (0, -1, 0), "its length is -1"),
        (vec![None, Some(&offsets), Some(b"a")], (i64::MAX, i64::MAX, 0), "are impossible"),
        (vec![None, Some(&offsets), Some(b"a")], (0, i64::MAX / 8, 0), "are impossible"),
        (vec![None, Some(&offsets)], (0, 1, 0), "it has 2 buffers"),
        (vec![None, Some(&offsets), Some(b"a"), None], (0, 1, 0), "it has 4 buffers"),
        (vec![None, None, Some(b"a")], (0, 1, 0), "a buffer is missing"),
        (vec![None, Some(&offsets), None], (0, 1, 0), "a text without its bytes"),
        (vec![None, Some(&offsets), Some(b"a")], (0, 1, 1), "nothing says which"),
    ] {
        let message = texts(c"u", array(&buffers, rows)).unwrap_err();
        assert!(message.contains(reason), "{message}");
    }
    let before = FREED.load(SeqCst);
    assert!(column(c"+s", array(&[None], (0, 0, 0))).is_err());
    assert!(FREED.load(SeqCst) > before, "a refused array is freed, too");
}

#[test]
fn views_are_followed_only_into_their_buffers() {
    let data = b"0123456789abcdefghij";
    let short = [narrow(&[3]), b"xyz\0\0\0\0\0\0\0\0\0".to_vec()].concat();
    let made = |long: Vec<u8>, bits: Option<&[u8]>| {
        let views = [short.clone(), long, view(0, 9, 9)].concat();
        let buffers: [Option<&[u8]>; 4] = [bits, Some(&views), Some(data), Some(&wide(&[20]))];
        array(&buffers, (0, 3, -1))
    };
    for format in [c"vu", c"vz"] {
        let actual = texts(format, made(view(13, 0, 7), None)).unwrap();
        assert_eq!(actual, some(&[b"xyz", b"789abcdefghij", b""]));
        for (wrong, reason) in [
            (view(13, 0, 8), "a view of 13 bytes from 8 on leaves its buffer of 20"),
            (view(13, 0, -1), "leaves its buffer"),
            (view(i32::MAX, 0, i32::MAX), "leaves its buffer"),
            (view(13, 1, 0), "a buffer that does not exist"),
            (view(13, -1, 0), "a buffer that does not exist"),
            (view(-13, 0, 0), "the length of a view is negative"),
        ] {
            let message = texts(format, made(wrong.clone(), None)).unwrap_err();
            assert!(message.contains(reason), "{message}");
            // The view of a null text may have any contents.
            assert_eq!(texts(format, made(wrong, Some(&[0b101]))).unwrap()[1], None);
        }
    }
}

#[test]
fn numbers_of_all_widths_are_read() {
    for (format, bytes, expected) in [
        (c"c", vec![1_u8, 127], [1, 127]),
        (c"C", vec![1, 255], [1, 255]),
        (c"s", [1_i16, 300].map(i16::to_ne_bytes).concat(), [1, 300]),
        (c"S", [1_u16, 65_535].map(u16::to_ne_bytes).concat(), [1, 65_535]),
        (c"i", narrow(&[1, i32::MAX]), [1, i32::MAX as u64]),
        (c"I", narrow(&[1, -1]), [1, u64::from(u32::MAX)]),
        (c"l", wide(&[1, i64::MAX]), [1, i64::MAX as u64]),
        (c"L", wide(&[1, -1]), [1, u64::MAX]),
    ] {
        let column = column(format, array(&[None, Some(&bytes)], (0, 2, 0))).unwrap();
        assert_eq!(column.numbers().unwrap(), expected, "{format:?}");
        assert!(matches!(column.texts(), Err(Error::ArrowType { .. })));
    }
}

#[test]
fn a_child_may_be_taken_and_freed_by_itself() {
    let offsets = Some(Values::offsets(vec![0, 2, 3], false).unwrap());
    let made = Arc::new(Array { offsets, values: Values::U32(vec![7, 8, 9]), len: 2, valid: None, nulls: 0 });
    let (schema, array) = (made.schema(), made.handed_on());
    // SAFETY: a list has one child, and the interface lets a consumer move it out.
    let (child_schema, child) = unsafe {
        let child_schema = (*schema.children).replace(ArrowSchema::released());
        (child_schema, (*array.children).replace(ArrowArray::released()))
    };
    drop((schema, array, made));
    // SAFETY: the child is whole.
    let mut column = unsafe { Column::new(&child_schema).unwrap() };
    column.push(child).unwrap();
    assert_eq!(column.numbers().unwrap(), [7, 8, 9]);
}

#[test]
fn offsets_of_32_bits_have_an_end() {
    let max = MAX_NARROW;
    assert!(Values::offsets(vec![0, max], false).is_ok());
    let result = Values::offsets(vec![0, max + 1], false);
    assert!(matches!(result, Err(Error::TooManyIds(limit)) if limit == max));
    assert!(Values::offsets(vec![0, max + 1], true).is_ok());
}
