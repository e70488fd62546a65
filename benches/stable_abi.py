r"""What the stable ABI would cost: the calls of CPython's C API that results are made with, compiled in both ways.

The same source is compiled twice: with the full API, which the extension uses, and with `Py_LIMITED_API` for
Python 3.11. A list of ids is filled in place or item by item, a list of ids is read in place or item by item, and
the text of a `str` is read as it is or as UTF-8 that the interpreter makes. Arrays are made by the same calls in
both. Prints for each the least processor time in microseconds of interleaved runs, and their ratio.

usage: python benches/stable_abi.py
"""

import importlib.util
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from types import ModuleType

SOURCE = r"""
#define PY_SSIZE_T_CLEAN
#ifdef LIMITED
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

static PyObject *ints[1 << 17];

static PyObject *nothing(PyObject *self, PyObject *const *args, Py_ssize_t count) { Py_RETURN_NONE; }

static PyObject *make_list(PyObject *self, PyObject *size) {
    Py_ssize_t len = PyLong_AsSsize_t(size);
    PyObject *list = PyList_New(len);
    for (Py_ssize_t at = 0; at < len; at++) {
        unsigned id = (unsigned)(at * 2654435761u) >> 15;
        if (!ints[id]) ints[id] = PyLong_FromUnsignedLong(id);
        Py_INCREF(ints[id]);
#ifdef LIMITED
        PyList_SetItem(list, at, ints[id]);
#else
        PyList_SET_ITEM(list, at, ints[id]);
#endif
    }
    return list;
}

static PyObject *read_list(PyObject *self, PyObject *list) {
    unsigned long sum = 0;
    for (Py_ssize_t at = 0, len = PyList_Size(list); at < len; at++) {
#ifdef LIMITED
        sum += PyLong_AsUnsignedLong(PyList_GetItem(list, at));
#else
        sum += ((PyLongObject *)PyList_GET_ITEM(list, at))->DIGIT;
#endif
    }
    return PyLong_FromUnsignedLong(sum);
}

static PyObject *read_text(PyObject *self, PyObject *str) {
    Py_ssize_t len;
#ifdef LIMITED
    PyUnicode_AsUTF8AndSize(str, &len);
#else
    len = PyUnicode_GET_LENGTH(str) + *(unsigned char *)PyUnicode_DATA(str);
#endif
    return PyLong_FromSsize_t(len);
}

static PyMethodDef methods[] = {{"call", (PyCFunction)(void *)nothing, METH_FASTCALL, 0},
                                {"make", make_list, METH_O, 0}, {"read", read_list, METH_O, 0},
                                {"text", read_text, METH_O, 0}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, NAME, 0, 0, methods};
PyMODINIT_FUNC INIT(void) { return PyModule_Create(&module); }
"""
DIGIT = "long_value.ob_digit[0]" if sys.version_info >= (3, 12) else "ob_digit[0]"


def build(folder: Path, name: str, *flags: str) -> ModuleType:
    """Compile the source as a module of this name, and import it."""
    source, library = folder / "module.c", folder / f"{name}.so"
    source.write_text(SOURCE)
    defined = [f"-DDIGIT={DIGIT}", f'-DNAME="{name}"', f"-DINIT=PyInit_{name}", *flags]
    include = f"-I{sysconfig.get_path('include')}"
    subprocess.run(["cc", "-O3", "-shared", "-fPIC", include, *defined, str(source), "-o", str(library)], check=True)
    spec = importlib.util.spec_from_file_location(name, library)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seconds(module: ModuleType, function: str, makes: str, calls: int) -> float:
    """Return the processor time of one call with a new argument, which `makes` makes."""
    arguments = [eval(makes) for _ in range(calls)]
    start = time.process_time()
    for argument in arguments:
        getattr(module, function)(argument)
    return (time.process_time() - start) / calls


CASES = [
    ("a call that does nothing", "call", "None", 20_000),
    ("a list of 20 ids made", "make", "20", 20_000),
    ("a list of 100,000 ids made", "make", "100_000", 20),
    ("a list of 20 ids read", "read", "list(range(50_000, 50_020))", 20_000),
    ("a list of 100,000 ids read", "read", "list(range(100_000))", 20),
    ("an ASCII text of 100,000 characters", "text", "'a' * 100_000", 200),
    ("a text of 100,000 Cyrillic characters", "text", "'д' * 100_000", 20),
]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        full, limited = build(Path(folder), "full"), build(Path(folder), "limited", "-DLIMITED")
        for name, *case in CASES:
            runs = [(seconds(full, *case), seconds(limited, *case)) for _ in range(30)]
            least = [1e6 * min(times) for times in zip(*runs, strict=True)]
            print(f"{name:40} {least[0]:10.3f} {least[1]:10.3f}  {least[1] / least[0]:6.2f}")


if __name__ == "__main__":
    main()
