//! Calls of the interpreter by threads that outlive it.
//!
//! Before Python 3.14 a daemon thread that takes the GIL while the interpreter exits is ended by
//! `pthread_exit`, which unwinds its stack. Frames of Rust cannot be unwound so: the process aborts. PyO3
//! lets the thread hang instead, as Python 3.14 does, but only where Rust itself takes the GIL. The
//! interpreter also takes it back inside any function that may run Python code. The linker leads the calls of
//! those functions, of this crate and of its dependencies, to the ones below (`--wrap`; `build.rs` reads the
//! list). With other C libraries than glibc nothing is unwound.
#![allow(unsafe_code)] // calls the interpreter's C API
#![allow(non_snake_case)] // names of the C API

use std::ffi::{c_char, c_double, c_int, c_long};

use pyo3::ffi;

type Object = *mut ffi::PyObject;
type Size = ffi::Py_ssize_t;

/// Blocks the thread forever when it is dropped.
struct Hang;

impl Drop for Hang {
    fn drop(&mut self) {
        loop {
            std::thread::park();
        }
    }
}

/// Names functions of the C API. LLVM's linker passes over `--wrap` for a name that no object has, and after
/// link-time optimization the wrapper, which has the other name, may be all that is left.
macro_rules! named {
    ($($(#[$attribute:meta])* $name:ident($($type:ty),*) -> $result:ty;)*) => {
        $(
            $(#[$attribute])*
            const _: () = {
                // SAFETY: this is the declaration of the C API.
                unsafe extern "C" {
                    fn $name($(_: $type),*) -> $result;
                }
                #[used]
                static NAMED: unsafe extern "C" fn($($type),*) -> $result = $name;
            };
        )*
    };
}

macro_rules! guarded {
    ($($(#[$attribute:meta])* $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        mod interpreter {
            use super::*;

            // SAFETY: these are the declarations of the C API.
            unsafe extern "C-unwind" {
                $(
                    $(#[$attribute])*
                    #[link_name = concat!("__real_", stringify!($name))]
                    pub(super) fn $name($($argument: $type),*) -> $result;
                )*
            }
        }

        named! { $($(#[$attribute])* $name($($type),*) -> $result;)* }

        $(
            $(#[$attribute])*
            // SAFETY: nothing else has this name, which the linker gives to calls of the function.
            #[unsafe(export_name = concat!("__wrap_", stringify!($name)))]
            unsafe extern "C" fn $name($($argument: $type),*) -> $result {
                // The innermost frame of Rust, so that no other is unwound.
                let guard = Hang;
                // SAFETY: the arguments are those of a call of the function.
                let result = unsafe { interpreter::$name($($argument),*) };
                std::mem::forget(guard);
                result
            }
        )*
    };
}

// What may run Python code: calls, special methods, imports, warnings, codecs, destructors, and allocations
// of containers, which collect garbage. Every supported version of Python exports them.
guarded! {
    PyBuffer_Release(view: *mut ffi::Py_buffer) -> ();
    PyDict_Contains(dict: Object, key: Object) -> c_int;
    PyDict_GetItemWithError(dict: Object, key: Object) -> Object;
    PyDict_New() -> Object;
    PyDict_SetItem(dict: Object, key: Object, value: Object) -> c_int;
    PyErr_CheckSignals() -> c_int;
    PyErr_NormalizeException(kind: *mut Object, value: *mut Object, traceback: *mut Object) -> ();
    PyErr_PrintEx(set_variables: c_int) -> ();
    PyErr_SetObject(kind: Object, value: Object) -> ();
    PyErr_WriteUnraisable(object: Object) -> ();
    PyFloat_AsDouble(object: Object) -> c_double;
    PyImport_Import(name: Object) -> Object;
    PyIter_Next(iterator: Object) -> Object;
    PyList_New(length: Size) -> Object;
    PyLong_AsLong(object: Object) -> c_long;
    PyNumber_Index(object: Object) -> Object;
    PyOS_FSPath(path: Object) -> Object;
    PyObject_Call(callable: Object, arguments: Object, keywords: Object) -> Object;
    PyObject_CallNoArgs(callable: Object) -> Object;
    PyObject_DelItem(object: Object, key: Object) -> c_int;
    PyObject_GetAttr(object: Object, name: Object) -> Object;
    PyObject_GetBuffer(object: Object, view: *mut ffi::Py_buffer, flags: c_int) -> c_int;
    PyObject_GetItem(object: Object, key: Object) -> Object;
    PyObject_GetIter(object: Object) -> Object;
    #[cfg(Py_3_13)]
    PyObject_GetOptionalAttr(object: Object, name: Object, value: *mut Object) -> c_int;
    PyObject_IsTrue(object: Object) -> c_int;
    PyObject_LengthHint(object: Object, default: Size) -> Size;
    PyObject_Repr(object: Object) -> Object;
    PyObject_SetAttr(object: Object, name: Object, value: Object) -> c_int;
    PyObject_SetAttrString(object: Object, name: *const c_char, value: Object) -> c_int;
    PyObject_SetItem(object: Object, key: Object, value: Object) -> c_int;
    PyObject_Size(object: Object) -> Size;
    PyObject_Str(object: Object) -> Object;
    #[cfg(Py_3_11)]
    PyObject_Vectorcall(callable: Object, arguments: *const Object, count: usize, names: Object) -> Object;
    PyObject_VectorcallDict(callable: Object, arguments: *const Object, count: usize, names: Object) -> Object;
    PyObject_VectorcallMethod(name: Object, arguments: *const Object, count: usize, names: Object) -> Object;
    PyTraceBack_Print(traceback: Object, file: Object) -> c_int;
    PyTuple_New(length: Size) -> Object;
    PyUnicode_AsEncodedString(text: Object, encoding: *const c_char, errors: *const c_char) -> Object;
    PyUnicode_DecodeFSDefaultAndSize(bytes: *const c_char, length: Size) -> Object;
    PyUnicode_DecodeUTF8(bytes: *const c_char, length: Size, errors: *const c_char) -> Object;
    PyUnicode_EncodeFSDefault(text: Object) -> Object;
    PyUnicode_FromEncodedObject(bytes: Object, encoding: *const c_char, errors: *const c_char) -> Object;
    _PyObject_MakeTpCall(
        thread: *mut ffi::PyThreadState,
        callable: Object,
        arguments: *const Object,
        count: Size,
        names: Object
    ) -> Object;
    _Py_Dealloc(object: Object) -> ();
}

#[cfg(Py_3_11)]
unsafe extern "C" {
    #[link_name = "__real_PyVectorcall_Function"]
    fn vectorcall_of(callable: Object) -> Option<ffi::vectorcallfunc>;
}

#[cfg(Py_3_11)]
named! { PyVectorcall_Function(Object) -> Option<ffi::vectorcallfunc>; }

/// The function of a callable, which PyO3 calls by its pointer: the guarded call takes its place.
#[cfg(Py_3_11)]
// SAFETY: nothing else has this name, which the linker gives to calls of the function.
#[unsafe(export_name = "__wrap_PyVectorcall_Function")]
unsafe extern "C" fn PyVectorcall_Function(callable: Object) -> Option<ffi::vectorcallfunc> {
    // SAFETY: the argument is that of a call of the function.
    unsafe { vectorcall_of(callable) }.map(|_| PyObject_Vectorcall as ffi::vectorcallfunc)
}
